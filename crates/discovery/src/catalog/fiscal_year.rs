//! `fiscal_year_starts`: the first month of fiscal years.

use prospector_core::name::nearest;
use prospector_semantics::model::FiscalYear;
use prospector_text::periods::MONTHS;

use super::{
    entry::EntryReader,
    node::{Node, Placed},
};

/// Parses the month; reports a problem if it is invalid.
pub(super) fn read(reader: &mut EntryReader<'_>, entry: Placed) -> Option<FiscalYear> {
    let Node::Text(text) = entry.node else {
        reader.fail(
            entry.line,
            "`fiscal_year_starts` must be a month",
            "write `fiscal_year_starts: april`, for example",
        );
        return None;
    };
    let month = text.trim().to_lowercase();
    match (1..).zip(MONTHS).find(|(_, name)| *name == month) {
        Some((number, _)) => FiscalYear::new(number),
        None => {
            let near = nearest(&month, MONTHS, 1).pop().unwrap_or_else(|| "april".to_owned());
            let reason = format!("`fiscal_year_starts: {text}` is not a month");
            reader.fail(entry.line, reason, format!("write its name, such as `{near}`"));
            None
        }
    }
}
