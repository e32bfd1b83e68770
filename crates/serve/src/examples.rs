//! Example questions derived from the catalog: verified queries, metrics, counts of rows, definitions, and questions asked before.

use std::collections::HashSet;

use prospector_agent::session::KeptSession;
use prospector_connect::table::{Column, ColumnType, Table};
use prospector_discovery::Catalog;
use prospector_schema::Database;
use prospector_text::{identifiers, stem::strip_plural};
use serde::Serialize;

/// Limit on the number of examples.
const MAX_EXAMPLES: usize = 6;
/// Limit per kind. The first kinds take precedence; the others fill what is left.
const MAX_VERIFIED: usize = 3;
const MAX_METRICS: usize = 2;
const MAX_ASKED: usize = 2;
const MAX_TABLES: usize = 4;
const MAX_FACTS: usize = 2;

/// A question, and the entry it is about.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Example {
    question: String,
    /// The query, the metric, the table or the fact; for an earlier question, its conversation.
    about: String,
    kind: ExampleKind,
    /// Who verified the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// The origin of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ExampleKind {
    /// A verified query answers it.
    Query,
    /// The catalog defines a metric for it.
    Metric,
    /// It was asked before.
    Asked,
    /// A table contains the data.
    Table,
    /// The catalog defines the term.
    Fact,
}

impl Example {
    fn new(kind: ExampleKind, question: String, about: &str) -> Self {
        Example { question, about: about.to_owned(), kind, by: None }
    }
}

/// Returns questions that this catalog can answer: verified queries first, then metrics and terms, earlier questions, and the largest
/// tables.
pub(crate) fn find(catalog: &Catalog, asked: &[KeptSession]) -> Vec<Example> {
    let asked = asked.iter().filter(|session| session.question.ends_with('?'));
    let asked = asked.map(|session| Example::new(ExampleKind::Asked, session.question.clone(), &session.name));
    let facts = catalog.facts.records().into_iter().take(MAX_FACTS);
    let meaning = |term: &str| format!("What does \"{term}\" mean here?");
    let facts = facts.map(|fact| Example::new(ExampleKind::Fact, meaning(&fact.name), &fact.name));
    let kinds: [(usize, Vec<Example>); 5] = [
        (MAX_VERIFIED, of_verified(catalog)),
        (MAX_METRICS, of_metrics(catalog)),
        (MAX_ASKED, asked.collect()),
        (MAX_TABLES, of_tables(catalog)),
        (MAX_FACTS, facts.collect()),
    ];
    let mut known: HashSet<Vec<String>> = HashSet::new();
    let mut is_new = move |example: &Example| known.insert(identifiers::words(&example.question));
    let mut examples = Vec::new();
    for (most, kind) in kinds {
        let room = most.min(MAX_EXAMPLES - examples.len());
        examples.extend(kind.into_iter().filter(|example| is_new(example)).take(room));
    }
    examples
}

/// Returns the questions of verified queries, with sample values for their parameters.
fn of_verified(catalog: &Catalog) -> Vec<Example> {
    let queries = catalog.verified.queries().iter().filter_map(|query| {
        let by = query.verified.as_ref()?.by.clone();
        Some(Example { by: Some(by), ..Example::new(ExampleKind::Query, query.example()?, &query.name) })
    });
    queries.collect()
}

/// Returns a question per metric, by month if the metric has a time.
fn of_metrics(catalog: &Catalog) -> Vec<Example> {
    let model = &catalog.metrics;
    let question = |name: &str, is_timed: bool| {
        let name = words(name);
        if is_timed { format!("What was the {name} by month?") } else { format!("What is the {name}?") }
    };
    let metrics = model.metrics().iter().map(|metric| {
        let is_timed = model.measures(metric).iter().any(|measure| model.time(measure).is_some());
        Example::new(ExampleKind::Metric, question(&metric.name, is_timed), &metric.name)
    });
    metrics.collect()
}

/// Returns questions about tables, largest first, alternating between databases.
fn of_tables(catalog: &Catalog) -> Vec<Example> {
    let of_database = |database: &Database| {
        let mut tables: Vec<&Table> =
            database.tables.iter().filter(|table| table.row_count.unwrap_or(0) > 10).collect();
        tables.sort_by_key(|table| std::cmp::Reverse(table.row_count));
        let examples: Vec<Example> =
            tables.into_iter().take(MAX_EXAMPLES).map(|table| about(&database.name, table)).collect();
        examples.into_iter()
    };
    let mut waiting: Vec<_> = catalog.schema.databases().map(of_database).collect();
    let mut examples = Vec::new();
    loop {
        let round: Vec<Example> = waiting.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() || examples.len() >= MAX_EXAMPLES {
            return examples;
        }
        examples.extend(round);
    }
}

/// Returns a question about a table: its rows over time, by the first table that it references, or in total. It has no words that the
/// built-in planner does not know.
fn about(database: &str, table: &Table) -> Example {
    let count = match words(&table.name) {
        name if name.ends_with('s') => format!("How many {name} are there"),
        name => format!("What is the number of {name}"),
    };
    let is_time =
        |column: &Column| matches!(column.column_type, ColumnType::Date | ColumnType::DateText | ColumnType::Timestamp);
    let question = match table.foreign_keys.first() {
        _ if table.columns.iter().any(is_time) => format!("{count} by month?"),
        Some(key) => format!("{count} by {}?", strip_plural(words(&key.table))),
        None => format!("{count}?"),
    };
    Example::new(ExampleKind::Table, question, &format!("{database}.{}", table.name))
}

fn words(name: &str) -> String {
    identifiers::words(name).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_rows_of_a_table_by_its_name() {
        let check = |name: &str, column_type: ColumnType, question: &str| {
            let column = Column { name: "given".into(), column_type, ..Column::default() };
            let table = Table { name: name.into(), columns: vec![column], ..Table::default() };
            assert_eq!(about("crm", &table).question, question);
        };
        check("donors", ColumnType::Date, "How many donors are there by month?");
        check("spenden", ColumnType::Date, "What is the number of spenden by month?");
        check("spenden", ColumnType::Text, "What is the number of spenden?");
    }
}
