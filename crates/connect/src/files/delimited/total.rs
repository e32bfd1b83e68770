//! Detection of a last row that is the total of the others, by its values: spreadsheets often end with one, and every sum
//! over the table would count each value twice.

use datafusion::arrow::array::Array;

use super::cell::{is_null, trim};
use super::content::{Content, TextFormat};
use super::decide::Decision;
use super::layout::{Builder, CellType};
use super::survey::{LastRow, Stop, Survey};
use crate::table::{ColumnIssue, IssueEffect, IssueExample};

/// Minimum number of parts of a total other than zero; fewer may match by coincidence.
const MIN_PARTS: usize = 3;

/// Maximum relative error of a total of rounded fractions.
const MAX_ERROR: f64 = 0.000_1;

/// Maximum number of rows whose sums are compared with a last row without gaps.
const MAX_ROWS: u64 = 100_000;

/// A cell of the last row, and the sum of the others of its column.
struct Sum {
    column: usize,
    last: f64,
    others: f64,
    /// The number of other cells that are not zero.
    parts: usize,
}

impl Sum {
    fn matches(&self, cell: CellType) -> bool {
        let error = if matches!(cell, CellType::Integer(_)) { 0.5 } else { self.others.abs() * MAX_ERROR };
        (self.last - self.others).abs() <= error
    }

    fn is_total(&self, cell: CellType) -> bool {
        self.last != 0.0 && self.parts >= MIN_PARTS && self.matches(cell)
    }
}

/// Returns the issues of a last row that is the total of the others, and whether it is certain, in which case the row is
/// skipped. `found` and `decisions` describe the other rows.
///
/// It is certain if every number of the row is a sum, and the row lacks a cell, or has one of another type, where all
/// others have one. It is likely if either holds, and the row has a label.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn find(
    content: &Content,
    format: &TextFormat,
    found: &Survey,
    decisions: &[Decision],
) -> Result<Option<(bool, Vec<ColumnIssue>)>, Stop> {
    let Some(last) = &found.last else { return Ok(None) };
    let mut scratch = String::new();
    let number = |at: usize| Some((at, decisions[at].cell.number(last.cell(at), &mut scratch)?));
    let numbers: Vec<(usize, f64)> = (0..decisions.len()).filter_map(number).collect();
    let has_gap = (0..decisions.len()).any(|at| is_gap(found, &decisions[at], at, last));
    let has_label = (0..decisions.len()).any(|at| decisions[at].cell == CellType::Text && !is_null(last.cell(at)));
    let is_candidate = has_gap || has_label && found.rows <= MAX_ROWS;
    if numbers.is_empty() || !is_candidate || found.rows < MIN_PARTS as u64 {
        return Ok(None);
    }
    let sums = add_up(content, format, found.rows, &numbers, decisions)?;
    let totals: Vec<&Sum> = sums.iter().filter(|sum| sum.is_total(decisions[sum.column].cell)).collect();
    let are_all = sums.iter().all(|sum| sum.matches(decisions[sum.column].cell));
    if totals.is_empty() || !has_gap && !are_all {
        return Ok(None);
    }
    let is_certain = has_gap && are_all;
    let (effect, reason) = match is_certain {
        true => (IssueEffect::SkippedTotal, "the last row is the sum of the others and is skipped"),
        false => (IssueEffect::CountedTotal, "the last row looks like the sum of the others and is counted with them"),
    };
    let issue = |sum: &&Sum| ColumnIssue {
        column: found.names[sum.column].clone(),
        effect,
        count: 1,
        values: found.columns[sum.column].count(|_| true) + 1,
        reason: reason.to_owned(),
        unit: content.unit().to_owned(),
        examples: vec![IssueExample { line: last.line, value: last.cell(sum.column).to_owned() }],
    };
    // A skipped row is reported once; a counted one affects each of its columns.
    let reported = if is_certain { 1 } else { totals.len() };
    Ok(Some((is_certain, totals.iter().take(reported).map(issue).collect())))
}

/// Whether the cell of the last row is empty, or has another type, where all others have a cell of that type.
fn is_gap(found: &Survey, decision: &Decision, at: usize, last: &LastRow) -> bool {
    let cell = last.cell(at);
    if is_null(cell) {
        return found.columns[at].count(|_| true) == found.rows;
    }
    let mut builder = Builder::new(decision.cell);
    builder.push(cell, &mut String::new());
    decision.issue.is_none() && builder.finish().is_null(0)
}

/// Adds up the cells of the first `count` rows, in the columns of the numbers of the last row.
fn add_up(
    content: &Content,
    format: &TextFormat,
    count: u64,
    numbers: &[(usize, f64)],
    decisions: &[Decision],
) -> Result<Vec<Sum>, Stop> {
    let sum = |(column, last): &(usize, f64)| Sum { column: *column, last: *last, others: 0.0, parts: 0 };
    let mut sums: Vec<Sum> = numbers.iter().map(sum).collect();
    let (mut rows, mut row, mut scratch) = (content.rows(format)?, csv::StringRecord::new(), String::new());
    rows.next(&mut row)?;
    for _ in 0..count {
        if !rows.next(&mut row)? {
            break;
        }
        for sum in &mut sums {
            let cell = trim(row.get(sum.column).unwrap_or_default());
            if let Some(value) = decisions[sum.column].cell.number(cell, &mut scratch) {
                sum.others += value;
                sum.parts += usize::from(value != 0.0);
            }
        }
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::super::examine;
    use super::*;

    /// Checks the number of rows of a sheet, and its issues.
    fn check(text: &str, is_strict: bool, rows: u64, issues: &[&str]) {
        let numbers: Vec<u32> = (1..).take(text.lines().count()).collect();
        let content = Content::Sheet { bytes: text.as_bytes().into(), rows: numbers.into() };
        let Ok((examined, _)) = examine(&content, is_strict, "t", None) else { panic!("{text:?}") };
        let found: Vec<String> = examined.issues.iter().map(|issue| format!("{}: {issue}", issue.column)).collect();
        assert_eq!(
            (examined.rows, found),
            (Some(rows), issues.iter().map(|issue| (*issue).to_owned()).collect()),
            "{text}"
        );
    }

    #[test]
    fn skips_a_row_of_sums_that_lacks_cells_of_the_others() {
        let issue = |row: u32, sum: &str| {
            format!("hours: the last row is the sum of the others and is skipped: row {row} '{sum}'")
        };
        let rows = "id,day,hours\n1,2025-01-01,1.5\n2,2025-01-02,2.25\n3,2025-01-03,3\n";
        for last in ["Total,,6.75", ",,6.75", ",Sum,6.75"] {
            check(&format!("{rows}{last}\n"), false, 3, &[&issue(5, "6.75")]);
        }
        check("id,hours,cost\n1,1,5\n2,2,6\n3,3,7\n,6,18\n", false, 3, &[&issue(5, "6")]);
        check(&format!("{rows},,6.75\n"), true, 4, &[]);
    }

    #[test]
    fn reports_a_row_that_may_be_the_sum() {
        let issue = "hours: the last row looks like the sum of the others and is counted with them: row 5";
        check("team,hours\na,1\nb,2\nc,4\nAll,7\n", false, 4, &[&format!("{issue} '7'")]);
        check("id,hours,mean\n1,1,5\n2,2,6\n3,4,7\n,7,6\n", false, 4, &[&format!("{issue} '7'")]);
    }

    #[test]
    fn reports_a_label_in_a_column_of_keys() {
        let rows: String = (1..=30).map(|at| format!("{at},{}\n", at % 7)).collect();
        let issue = "order_id: the column is text, because 1 of 31 values has no digits: row 32 'end'";
        check(&format!("order_id,amount\n{rows}end,5\n"), false, 31, &[issue]);
    }

    #[test]
    fn keeps_a_row_that_is_no_sum() {
        for text in [
            "id,day,hours\n1,2025-01-01,1\n2,2025-01-02,2\n3,2025-01-03,4\n4,,8\n",
            "id,hours\n1,1\n2,2\n3,3\n,\n",
            "team,hours\na,1\nb,2\nAll,3\n",
            "hours\n1\n2\n3\n6\n",
            "team,hours\na,0\nb,0\nc,0\nAll,0\n",
        ] {
            check(text, false, text.lines().count() as u64 - 1, &[]);
        }
    }
}
