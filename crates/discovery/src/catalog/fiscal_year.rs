//! `fiscal_year_starts`: the first month of fiscal years.

use prospector_core::Problem;
use prospector_core::name::nearest;
use prospector_semantics::model::FiscalYear;
use prospector_text::periods::MONTHS;

use super::{
    entry::EntryReader,
    node::{Node, Placed},
};

/// Parses the month; reports a problem if it is invalid.
pub(super) fn read(reader: &mut EntryReader<'_>, entry: Placed) -> Option<FiscalYear> {
    let place = format!("{}:{}", reader.file, entry.line);
    let mut fail = |reason: String, advice: String| {
        reader.problems.push(Problem::error(place.clone(), reason).advise(advice));
    };
    let Node::Text(text) = entry.node else {
        fail("`fiscal_year_starts` must be a month".into(), "write `fiscal_year_starts: april`, for example".into());
        return None;
    };
    let month = text.trim().to_lowercase();
    match (1..).zip(MONTHS).find(|(_, name)| *name == month) {
        Some((number, _)) => FiscalYear::new(number),
        None => {
            let near = nearest(&month, MONTHS, 1).pop().unwrap_or_else(|| "april".to_owned());
            fail(format!("`fiscal_year_starts: {text}` is not a month"), format!("write its name, such as `{near}`"));
            None
        }
    }
}
