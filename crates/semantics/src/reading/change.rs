//! Questions that go on from the one before: `and in 2024?`, `the same by month`, `only in Brazil`.

use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_engine::query::aggregate::Grain;
use serde_json::{Value, json};

use super::ReadError;
use super::words::Words;
use crate::query::{MetricQuery, TIME};

/// How such a question begins.
const LEADS: &[&[&str]] = &[
    &["and", "what", "about"],
    &["and", "how", "about"],
    &["what", "about"],
    &["how", "about"],
    &["and", "the", "same"],
    &["the", "same"],
    &["and", "only"],
    &["only"],
    &["and"],
];

/// What is different from the question before.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Change {
    pub(super) period: Option<(String, String)>,
    pub(super) filters: Vec<FilterCondition>,
    pub(super) dimensions: Vec<String>,
    pub(super) grain: Option<Grain>,
}

/// The words of a question that goes on from another, and whether it leaves all others out (`only`).
pub(super) fn begin(question: &str) -> (Words, bool) {
    let mut words = Words::new(question);
    let is_lead = |lead: &&&[&str]| {
        words.list.len() > lead.len() && words.list.iter().zip(**lead).all(|(word, wanted)| word.lower == *wanted)
    };
    let lead = LEADS.iter().find(is_lead).map_or(&[][..], |lead| *lead);
    words.take(0, lead.len());
    (words, lead.contains(&"only"))
}

impl Change {
    /// Makes one change to the question before: another period, another grain, one more dimension, or one value.
    pub(super) fn apply(self, query: &mut MetricQuery, is_only: bool) -> Result<(), ReadError> {
        let Change { period, filters, dimensions, grain } = self;
        let is_ranked = !query.order.is_empty();
        match (period, grain, dimensions.as_slice(), filters.as_slice()) {
            (Some(period), None, [], []) => {
                // After the third quarter of 2024, `2023` may be that quarter or the year.
                let old = query.filters.iter().filter(|filter| filter.column == TIME);
                let old: Vec<&str> = old.filter_map(|filter| filter.value.as_str()).collect();
                if let [from, to] = old.as_slice()
                    && count_months(from, to) < count_months(&period.0, &period.1).min(12)
                {
                    return Err(ReadError::Unclear);
                }
                query.filters.retain(|filter| filter.column != TIME);
                query.filters.extend(during(Some(period)));
            }
            (None, Some(grain), [], []) if !is_ranked && (query.grain.is_some() || query.dimensions.is_empty()) => {
                query.grain = Some(grain);
            }
            (None, None, [dimension], []) if !is_ranked && query.dimensions.is_empty() => {
                query.dimensions.push(dimension.clone());
            }
            (None, None, [], [filter]) => match query.filters.iter_mut().find(|old| old.column == filter.column) {
                Some(old) if is_only => return Err(ReadError::AskedAlready(write(&old.value))),
                Some(old) => *old = filter.clone(),
                None => query.filters.push(filter.clone()),
            },
            _ => return Err(ReadError::Unclear),
        }
        Ok(())
    }
}

/// A period as conditions on the time of each metric.
pub(super) fn during(period: Option<(String, String)>) -> Vec<FilterCondition> {
    let Some((from, to)) = period else { return Vec::new() };
    let condition = |op, day: String| FilterCondition { column: TIME.to_owned(), op, value: json!(day) };
    let begin = (!from.starts_with("0000")).then(|| condition(FilterOp::Gte, from));
    let end = (!to.starts_with("9999")).then(|| condition(FilterOp::Lt, to));
    begin.into_iter().chain(end).collect()
}

/// Adds a condition for a value; another value of the same column is one more that will do.
pub(super) fn add_value(conditions: &mut Vec<FilterCondition>, new: FilterCondition) {
    let same =
        |known: &&mut FilterCondition| known.column == new.column && matches!(known.op, FilterOp::Eq | FilterOp::In);
    match conditions.iter_mut().find(same) {
        Some(known) if known.value != new.value => {
            let mut list = known.value.as_array().cloned().unwrap_or_else(|| vec![known.value.clone()]);
            list.push(new.value);
            (known.op, known.value) = (FilterOp::In, json!(list));
        }
        Some(_) => {}
        None => conditions.push(new),
    }
}

fn count_months(from: &str, to: &str) -> i32 {
    let month = |day: &str| Some(day.get(..4)?.parse::<i32>().ok()? * 12 + day.get(5..7)?.parse::<i32>().ok()?);
    month(to).unwrap_or_default() - month(from).unwrap_or_default()
}

fn write(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
