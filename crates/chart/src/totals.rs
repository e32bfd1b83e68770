//! Rows that stand for all others together: a bar of the total beside its parts would be the longest, and say nothing.

use std::collections::BTreeMap;

use prospector_text::{identifiers, stem};
use serde_json::Value;

use crate::{column::Column, data::Data, profile::Profile};

/// What such a row is called, alone or before what it counts: `Total`, `All countries`.
const TOTALS: &[&str] = &["all", "total", "totals", "overall", "sum", "altogether"];

/// Categories that can have a total of their own.
const MAX_PASSES: usize = 3;

/// A total that was rounded is as far from the sum of its parts, at most.
const MAX_ERROR: f64 = 0.005;

/// A result without the rows that stand for others.
pub(crate) struct Parts {
    pub(crate) rows: Vec<Vec<Value>>,
    /// What a chart of them says.
    pub(crate) note: String,
}

/// What a label says of its row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    /// That it is a total.
    Total,
    /// That it may be one, or a name: `All Saints`, `9 cyclones` beside nine others. The numbers have to prove it.
    Doubtful,
}

/// The rows without those that stand for others; none where there are no such.
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
    let note = format!("Without {}, which stands for the others together", labels.join(" and "));
    rows.map(|rows| Parts { rows, note })
}

/// The label of the rows that stand for others of one category, and their places.
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

/// What a label says; nothing where it is a name like any other.
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

/// Whether the rows at these places have what the others of their group have together, in the first measure that tells.
fn are_of_others(profile: &Profile<'_>, column: &Column<'_>, places: &[usize], label: Label) -> bool {
    let additive = profile.measures.iter().find(|measure| measure.is_additive());
    let Some(measure) = additive.or(profile.measures.first()) else { return false };
    let beside: Vec<&Column<'_>> =
        profile.categories.iter().chain(&profile.times).filter(|other| other.place != column.place).collect();
    let mut groups: BTreeMap<Vec<&str>, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for (at, number) in measure.numbers().iter().enumerate() {
        let key = beside.iter().map(|other| other.texts[at].as_str()).collect();
        let (totals, parts) = groups.entry(key).or_default();
        let Some(number) = number else { continue };
        if places.contains(&at) { totals.push(*number) } else { parts.push(*number) }
    }
    let told: Vec<bool> = groups
        .values()
        .filter(|(totals, parts)| !totals.is_empty() && parts.len() > 1)
        .map(|(totals, parts)| totals.len() == 1 && is_together(totals[0], parts, measure.is_additive(), label))
        .collect();
    !told.is_empty() && told.into_iter().all(|holds| holds)
}

/// Whether a number can be that of all parts: their sum, or no less than each where some were counted twice or are missing;
/// between the least and the greatest where a sum means nothing.
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
