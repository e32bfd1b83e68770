//! Converts verified queries to index records, and formats locations for problems.

use std::path::Path;

use prospector_core::Kind;
use prospector_core::record::Record;

use crate::VerifiedQuery;

/// Returns the record: the name, the question, the names of the parameters, the synonyms and the tables.
pub(crate) fn record(query: &VerifiedQuery) -> Record {
    let mut record = Record::new(Kind::Query, &query.name, &query.name);
    record.description = match &query.verified {
        Some(verified) => format!("{} (verified by {} on {})", query.question, verified.by, verified.on),
        None => query.question.clone(),
    };
    record.members = query.parameters.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(" ");
    let said = query.synonyms.iter().map(String::as_str).chain([query.description.as_str()]);
    let tables = query.tables().iter().map(String::as_str);
    record.body = said.chain(tables).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    record
}

/// Returns the location of a line of a file.
pub(crate) fn place(path: &Path, line: usize) -> String {
    format!("{}:{line}", path.display())
}
