//! Removes rows that are sums of all others: as bars, they would dwarf their parts.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    column::Column,
    data::{Data, Use},
    profile::Profile,
};

/// Maximum number of categories with totals.
const MAX_PASSES: usize = 3;

/// Minimum number of parts of a total; fewer may match by coincidence.
const MIN_PARTS: usize = 3;

/// Maximum relative error of a rounded total.
const MAX_ERROR: f64 = 0.000_1;

/// A result without totals.
pub(crate) struct Parts {
    pub(crate) rows: Vec<Vec<Value>>,
    /// The note for a chart.
    pub(crate) note: String,
}

/// Returns the rows without totals; `None` if there are no totals.
pub(crate) fn leave_out(data: &Data<'_>) -> Option<Parts> {
    let mut rows: Option<Vec<Vec<Value>>> = None;
    let mut labels: Vec<String> = Vec::new();
    for _ in 0..MAX_PASSES {
        let left = rows.as_deref().unwrap_or(data.rows);
        let Some((label, places)) = find(&Data { rows: left, ..data.clone() }) else { break };
        let is_kept = |at: &usize| !places.contains(at);
        rows = Some((0..left.len()).filter(is_kept).map(|at| left[at].clone()).collect());
        labels.push(format!("“{label}”"));
    }
    let note = format!("Without {}, which is the sum of the others", labels.join(" and "));
    rows.map(|rows| Parts { rows, note })
}

/// Returns the label of the totals of one category, and their positions. Totals are first or last.
fn find(data: &Data<'_>) -> Option<(String, Vec<usize>)> {
    let profile = Profile::new(data);
    profile.categories.iter().find_map(|column| {
        let ends = [column.texts.last()?, column.texts.first()?];
        ends.into_iter().find_map(|text| {
            let places: Vec<usize> = (0..column.texts.len()).filter(|at| column.texts[*at] == *text).collect();
            let label = if text.is_empty() { "(none)" } else { text };
            are_sums(&profile, column, &places).then(|| (label.to_owned(), places))
        })
    })
}

/// Returns whether the rows at these positions are the sums of their groups, in all measures that can be added up.
fn are_sums(profile: &Profile<'_>, column: &Column, places: &[usize]) -> bool {
    let others: Vec<&Column> =
        profile.categories.iter().chain(&profile.times).filter(|other| other.place != column.place).collect();
    let mut measures = profile.measures.iter().filter(|measure| measure.usage != Some(Use::Measure)).peekable();
    measures.peek().is_some() && measures.all(|measure| is_sum(measure, &others, places))
}

fn is_sum(measure: &Column, others: &[&Column], places: &[usize]) -> bool {
    let mut groups: BTreeMap<Vec<&str>, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for (at, number) in measure.numbers().iter().enumerate() {
        let key = others.iter().map(|other| other.texts[at].as_str()).collect();
        let (totals, parts) = groups.entry(key).or_default();
        let Some(number) = number else { continue };
        if places.contains(&at) { totals.push(*number) } else { parts.push(*number) }
    }
    let matches = |(totals, parts): &(Vec<f64>, Vec<f64>)| {
        let sum: f64 = parts.iter().sum();
        matches!(totals[..], [total] if total != 0.0 && (total - sum).abs() <= sum.abs() * MAX_ERROR)
    };
    let count: usize = groups.values().map(|(_, parts)| parts.len()).sum();
    count >= MIN_PARTS && groups.values().all(matches)
}
