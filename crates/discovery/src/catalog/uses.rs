//! Adds the metrics and verified queries that read a table to its record, so that a search for `sales` finds the table that `sales`
//! aggregates.

use std::collections::HashMap;

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_queries::VerifiedQueries;
use prospector_semantics::SemanticModel;

/// Maximum number of names and questions added to a record.
const MAX_USES: usize = 40;

/// Adds the names of metrics and the questions of verified queries to the records of the tables they read.
pub(super) fn add_uses(records: &mut [Record], metrics: &SemanticModel, verified: &VerifiedQueries) {
    let mut measures: HashMap<String, Vec<String>> = HashMap::new();
    let mut questions: HashMap<String, Vec<String>> = HashMap::new();
    for metric in metrics.metrics() {
        for table in metrics.tables(metric) {
            let names = std::iter::once(metric.name.replace('_', " ")).chain(metric.synonyms.iter().cloned());
            measures.entry(table).or_default().extend(names);
        }
    }
    for query in verified.queries() {
        for table in query.tables() {
            questions.entry(table.clone()).or_default().extend(query.phrasings().map(str::to_owned));
        }
    }
    for record in records.iter_mut().filter(|record| record.kind == Kind::Table) {
        append(&mut record.members, ' ', measures.remove(&record.id));
        append(&mut record.body, '\n', questions.remove(&record.id));
    }
}

fn append(field: &mut String, separator: char, uses: Option<Vec<String>>) {
    for text in uses.into_iter().flatten().take(MAX_USES) {
        field.push(separator);
        field.push_str(&text);
    }
}
