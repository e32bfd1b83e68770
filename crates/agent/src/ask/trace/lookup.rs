//! Looks up numbers in results: as values of cells, as sums over rows, as row counts.

use std::collections::{BTreeMap, BTreeSet};

use super::{numbers::Written, source::Source};

/// The evidence for a figure.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Support {
    /// The derivation; `None` for a value of a cell.
    pub(super) how: Option<String>,
    /// The value, with its source and its column.
    pub(super) cell: Option<(f64, usize, usize)>,
}

impl Support {
    pub(super) fn with(how: &str) -> Self {
        Support { how: Some(how.to_owned()), cell: None }
    }
}

/// Finds a number in these rows, in any column or in `columns`.
pub(super) fn find_value(
    written: &Written,
    sources: &[Source<'_>],
    source: usize,
    rows: &BTreeSet<usize>,
    columns: Option<&BTreeSet<(usize, usize)>>,
) -> Option<Support> {
    let of = &sources[source];
    for row in rows {
        for at in 0..of.rows[*row].len() {
            let is_other = columns.is_some_and(|columns| {
                !columns.contains(&(source, at)) && columns.iter().any(|(known, _)| *known == source)
            });
            if !is_other && let Some(support) = find_in_cell(written, sources, source, (*row, at)) {
                return Some(support);
            }
        }
    }
    None
}

/// Returns whether any row of a result contains a number.
pub(super) fn is_in_result(written: &Written, sources: &[Source<'_>], source: usize) -> bool {
    find_value(written, sources, source, &sources[source].all_rows(), None).is_some()
}

/// Finds a number in the cell at this row and column.
pub(super) fn find_in_cell(
    written: &Written,
    sources: &[Source<'_>],
    source: usize,
    (row, at): (usize, usize),
) -> Option<Support> {
    let of = &sources[source];
    let cell = of.rows.get(row)?.get(at)?;
    let Some(number) = cell.number else {
        let has = |text: &String| match written.is_literal() {
            true => text.contains(&written.text),
            // The parts of a date are not values.
            false => cell.days.is_none() && contains_number(text, &written.text),
        };
        return cell.text.as_ref().is_some_and(has).then(Support::default);
    };
    let cell = Some((number, source, at));
    match suits(written, of, at) {
        true if written.is_size(number) => Some(Support { how: None, cell }),
        true if written.is_percent && written.is_size(number * 100.0) => {
            Some(Support { how: Some("a fraction as a percentage".into()), cell })
        }
        true | false => None,
    }
}

/// Returns whether a number fits the type of a column: a count is neither money nor a percentage.
fn suits(written: &Written, source: &Source<'_>, column: usize) -> bool {
    let is_count = source.columns.get(column).is_some_and(|column| column.is_count);
    !(is_count && (written.is_money || written.is_percent))
}

/// Returns a count column with the number, where the number is written as money or a percentage.
pub(super) fn find_unsuited(written: &Written, source: &Source<'_>) -> Option<String> {
    let rows = &source.rows;
    (0..source.columns.len())
        .filter(|at| !suits(written, source, *at))
        .find(|at| {
            rows.iter()
                .any(|row| row.get(*at).and_then(|cell| cell.number).is_some_and(|number| written.is_size(number)))
        })
        .map(|at| source.query.columns[at].clone())
}

/// Finds a number as the sum of a column over these rows, or as their count.
pub(super) fn find_sum(
    written: &Written,
    sources: &[Source<'_>],
    allowed: &BTreeMap<usize, BTreeSet<usize>>,
) -> Option<Support> {
    if written.is_percent {
        return None;
    }
    for (source, rows) in allowed {
        let of = &sources[*source];
        for (at, name) in of.query.columns.iter().enumerate() {
            let is_sum = |sum: f64| written.is_size(sum);
            if suits(written, of, at) && of.sum(at, rows).is_some_and(is_sum) {
                let how = format!("the sum of {name} in {}", of.query.id);
                return Some(Support { how: Some(how), cell: of.sum(at, rows).map(|sum| (sum, *source, at)) });
            }
        }
        let is_list = !of.text.is_grouped && !of.query.has_more && rows.len() > 1 && rows.len() < of.rows.len();
        if is_list && !written.is_money && written.is_equal(rows.len() as f64) {
            return Some(Support::with(&format!("the number of rows in {}", of.query.id)));
        }
    }
    None
}

/// Finds a number as the row count of a result, unless it has a single row. The count of a result with more rows is that of its table, which
/// only a sentence before the table states.
pub(super) fn find_row_count(written: &Written, source: &Source<'_>, sentence: &str) -> Option<Support> {
    let rows = source.rows.len();
    let is_value = rows == 1 && source.has_number(0);
    let is_complete = !source.query.has_more || source.is_shown && sentence.trim_end().ends_with([':', '：']);
    let fits = !written.is_percent && !written.is_money && is_complete && !is_value;
    (fits && written.is_equal(rows as f64)).then(Support::default)
}

/// Derives a number from values that the sentence states.
pub(super) fn derive(written: &Written, stated: &[Support], sources: &[Source<'_>]) -> Option<String> {
    let cells: Vec<(f64, usize, usize)> = stated.iter().filter_map(|support| support.cell).collect();
    for (at, (a, source, column)) in cells.iter().enumerate() {
        let total = sources[*source].sum(*column, &sources[*source].all_rows());
        let total = total.filter(|total| *total != 0.0 && !sources[*source].query.has_more);
        if written.is_percent && total.is_some_and(|total| written.is_size(a / total * 100.0)) {
            return Some("the share of a stated value in its column".into());
        }
        for (other, (b, ..)) in cells.iter().enumerate() {
            if at != other && *b != 0.0 && derive_from_pair(written, *a, *b) {
                return Some("calculated from two stated values".into());
            }
        }
    }
    let sum: f64 = cells.iter().map(|(value, ..)| value).sum();
    (cells.len() > 1 && !written.is_percent && written.is_size(sum)).then(|| "the sum of the stated values".into())
}

fn derive_from_pair(written: &Written, a: f64, b: f64) -> bool {
    let ratio = a / b;
    match written.is_percent {
        true => written.is_size(ratio * 100.0) || written.is_size((ratio - 1.0) * 100.0),
        // A whole number is too often a ratio by chance.
        false => written.is_size(a - b) || (!written.is_whole() && written.is_near(ratio)),
    }
}

/// Returns whether a text contains the number as a separate word, with any digit grouping.
fn contains_number(text: &str, number: &str) -> bool {
    let plain = number.replace(',', "");
    [number, plain.as_str()].into_iter().any(|wanted| {
        text.match_indices(wanted).any(|(at, _)| {
            let before = text[..at].chars().next_back().unwrap_or(' ');
            let after = &text[at + wanted.len()..];
            let decimals = after.strip_prefix(['.', ',']).unwrap_or(after);
            let goes_on = decimals.starts_with(|c: char| c.is_ascii_digit());
            !before.is_ascii_alphanumeric() && before != '.' && !goes_on
        })
    })
}
