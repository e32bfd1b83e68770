//! Delimited files: read once to infer the column types, then for every query. A column has the type of 95 % of its
//! cells; the other cells are null and reported. A last row that is the total of the others is skipped.

mod cell;
mod content;
mod date;
mod decide;
mod header;
mod layout;
mod number;
mod scan;
mod survey;
mod total;

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use prospector_core::Problem;

pub(crate) use content::{Content, unpack_file};
use content::{Encoding, TextFormat};
pub(super) use header::RECORDS_OF_HEADER;
pub(super) use layout::FileLayout;
pub(super) use layout::Stamp;
use survey::{Stop, Survey, survey};

use super::failure::FileError;
use super::narrow::left_out;
use crate::table::ColumnIssue;

/// The survey of a file.
pub(super) struct Examined {
    pub(super) layout: Arc<FileLayout>,
    /// The row count; `None` if another process has read the file.
    pub(super) rows: Option<u64>,
    pub(super) issues: Vec<ColumnIssue>,
}

/// Reads a whole file once; returns also its problems other than those of its cells. `place` is its name in messages.
///
/// # Errors
/// If the file cannot be read, or has no columns.
pub(super) fn examine(
    content: &Content,
    is_strict: bool,
    place: &str,
    stamp: Option<Stamp>,
) -> Result<(Examined, Vec<Problem>), FileError> {
    let mut format = content.format()?;
    let failed = |stop| match stop {
        Stop::Failed(error) => error,
        Stop::NotUtf8 => FileError::unreadable("it has an unknown text encoding"),
    };
    let mut found = match survey(content, &format) {
        Err(Stop::NotUtf8) => {
            format.encoding = Encoding::Windows1252;
            survey(content, &format).map_err(failed)?
        }
        other => other.map_err(failed)?,
    };
    let decide =
        |found: &Survey| decide::decide(&found.names, &found.columns, is_strict, format.delimiter, content.unit());
    let mut decisions = decide(&found);
    let total = if is_strict { None } else { total::find(content, &format, &found, &decisions).map_err(failed)? };
    let (is_skipped, totals) = total.unwrap_or_default();
    if !is_skipped {
        found.add_last();
        decisions = decide(&found);
    }
    let notes = describe_rows(&found, place, &format);
    let types = decisions.iter().map(|decision| decision.cell);
    let columns = found.names.into_iter().zip(types).collect();
    let issues = decisions.into_iter().filter_map(|decision| decision.issue).chain(totals).collect();
    let layout = Arc::new(FileLayout { stamp, format, columns, rows: is_skipped.then_some(found.rows) });
    Ok((Examined { layout, rows: Some(found.rows), issues }, notes))
}

/// Returns a table provider for a surveyed file.
pub(super) fn table(content: Content, layout: Arc<FileLayout>) -> Arc<dyn TableProvider> {
    Arc::new(scan::DelimitedTable::new(content, layout))
}

/// Returns the problems of a file other than those of its cells.
fn describe_rows(found: &Survey, place: &str, format: &TextFormat) -> Vec<Problem> {
    let mut notes = Vec::new();
    if let Some(name) = format.encoding.name() {
        let problem = Problem::warning(place, format!("it is not UTF-8; it was read as {name}"));
        notes.push(problem.advise("save the file as UTF-8"));
    }
    if format.skipped > 0 {
        let reason = format!("its table starts in line {}; the lines above are skipped", found.header_line);
        notes.push(Problem::warning(place, reason));
    }
    if found.width > found.names.len() {
        notes.push(left_out(place, found.width));
    }
    for (lines, what) in [
        (&found.short, "fewer fields than the header; the missing fields are null"),
        (&found.long, "more fields than the header; the extra fields are ignored"),
    ] {
        if lines.count > 0 {
            let rows = if lines.count == 1 { "1 row has".to_owned() } else { format!("{} rows have", lines.count) };
            notes.push(Problem::warning(format!("{place}:{}", lines.first), format!("{rows} {what}")));
        }
    }
    notes
}
