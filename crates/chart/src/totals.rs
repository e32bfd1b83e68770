//! Removes rows that are totals of others: as bars, they would dwarf their parts.

use std::collections::BTreeMap;

use prospector_text::{identifiers, stem};
use serde_json::Value;

use crate::{column::Column, data::Data, profile::Profile};

/// Labels of totals, alone or before a noun: `Total`, `All countries`.
const TOTALS: &[&str] = &["all", "total", "totals", "overall", "sum", "altogether"];

/// Maximum number of categories with totals.
const MAX_PASSES: usize = 3;

/// Maximum relative error of a rounded total.
const MAX_ERROR: f64 = 0.005;

/// A result without totals.
pub(crate) struct Parts {
    pub(crate) rows: Vec<Vec<Value>>,
    /// The note for a chart.
    pub(crate) note: String,
}

/// The interpretation of a label.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    /// A total.
    Total,
    /// A total or a name: `All Saints`, `9 cyclones` among nine others. The numbers decide.
    Doubtful,
}

/// Returns the rows without totals; `None` if there are no totals.
pub(crate) fn leave_out(data: &Data<'_>) -> Option<Parts> {
    let mut rows: Option<Vec<Vec<Value>>> = None;
    let mut labels: Vec<String> = Vec::new();
    for _ in 0..MAX_PASSES {
        let left = rows.as_deref().unwrap_or(data.rows);
        let Some((label, places)) = find(&Data { rows: left, ..*data }) else { break };
        let is_kept = |at: &usize| !places.contains(at);
        rows = Some((0..left.len()).filter(is_kept).map(|at| left[at].clone()).collect());
        labels.push(format!("“{label}”"));
    }
    let note = format!("Without {}, which is the total of the others", labels.join(" and "));
    rows.map(|rows| Parts { rows, note })
}

/// Returns the label of the totals of one category, and their positions.
fn find(data: &Data<'_>) -> Option<(String, Vec<usize>)> {
    let profile = Profile::new(data);
    profile.categories.iter().find_map(|column| {
        let others = column.distinct.checked_sub(1)?;
        let mut labels = column.texts.iter().filter_map(|text| Some((text, read_label(column, text, others)?)));
        let (text, label) = labels.next()?;
        let is_one = labels.all(|(other, _)| other == text);
        let places: Vec<usize> = (0..column.texts.len()).filter(|at| column.texts[*at] == *text).collect();
        (is_one && are_of_others(&profile, column, &places, label)).then(|| (text.clone(), places))
    })
}

/// Classifies a label; `None` for an ordinary name.
fn read_label(column: &Column<'_>, text: &str, others: usize) -> Option<Label> {
    let words = identifiers::words(text);
    let (first, rest) = words.split_first()?;
    let is_of_column = |word: &String| {
        let stem = stem::snowball(word);
        column.words.iter().any(|known| stem::snowball(known) == stem)
    };
    match first.as_str() {
        "grand" if rest == ["total"] => Some(Label::Total),
        first if TOTALS.contains(&first) && rest.iter().all(is_of_column) => Some(Label::Total),
        first if TOTALS.contains(&first) => Some(Label::Doubtful),
        number if others > 1 && !rest.is_empty() && number.parse() == Ok(others) => Some(Label::Doubtful),
        _ => None,
    }
}

/// Returns whether the rows at these positions match the totals of their group, in the first conclusive measure.
fn are_of_others(profile: &Profile<'_>, column: &Column<'_>, places: &[usize], label: Label) -> bool {
    let additive = profile.measures.iter().find(|measure| measure.is_additive());
    let Some(measure) = additive.or(profile.measures.first()) else { return false };
    let others: Vec<&Column<'_>> =
        profile.categories.iter().chain(&profile.times).filter(|other| other.place != column.place).collect();
    let mut groups: BTreeMap<Vec<&str>, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for (at, number) in measure.numbers().iter().enumerate() {
        let key = others.iter().map(|other| other.texts[at].as_str()).collect();
        let (totals, parts) = groups.entry(key).or_default();
        let Some(number) = number else { continue };
        if places.contains(&at) { totals.push(*number) } else { parts.push(*number) }
    }
    let matches: Vec<bool> = groups
        .values()
        .filter(|(totals, parts)| !totals.is_empty() && parts.len() > 1)
        .map(|(totals, parts)| totals.len() == 1 && is_together(totals[0], parts, measure.is_additive(), label))
        .collect();
    !matches.is_empty() && matches.into_iter().all(|holds| holds)
}

/// Returns whether a number can be the total of all parts: their sum, or at least each part if some overlap or are
/// missing; for non-additive measures, between the minimum and the maximum.
fn is_together(total: f64, parts: &[f64], is_additive: bool, label: Label) -> bool {
    let sum: f64 = parts.iter().sum();
    let least = parts.iter().copied().fold(f64::INFINITY, f64::min);
    let most = parts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_sum = is_additive && (total - sum).abs() <= sum.abs() * MAX_ERROR;
    match label {
        Label::Doubtful => is_sum,
        Label::Total if is_additive => is_sum || (least >= 0.0 && total >= most),
        Label::Total => (least..=most).contains(&total),
    }
}
