//! Questions to begin with, made from what the catalog has: counts by a category, a measure over time, definitions.

use prospector_connect::table::{Column, ColumnType, Table};
use prospector_core::record::ResourceKind;
use prospector_discovery::Catalog;
use prospector_text::identifiers;
use serde::Serialize;

/// So many of data, and of definitions.
const MAX_DATA: usize = 4;
const MAX_FACTS: usize = 2;

/// Words of columns by which people count things.
const CATEGORIES: &[&str] = &[
    "country",
    "city",
    "region",
    "state",
    "channel",
    "status",
    "type",
    "category",
    "segment",
    "plan",
    "method",
    "department",
    "carrier",
    "device",
    "event",
    "rating",
    "reason",
    "genre",
    "currency",
    "format",
    "priority",
    "source",
    "language",
    "team",
];

/// A question, and what it is about.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Example {
    question: String,
    /// The table or the fact.
    about: String,
    kind: ResourceKind,
}

/// Questions that this catalog can answer; the largest tables first, each database in its turn.
pub(crate) fn find(catalog: &Catalog) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut databases: Vec<Vec<Example>> = Vec::new();
    for database in catalog.schema.databases() {
        let mut tables: Vec<&Table> =
            database.tables.iter().filter(|table| table.row_count.unwrap_or(0) > 10).collect();
        tables.sort_by_key(|table| std::cmp::Reverse(table.row_count));
        let of = |table: &&Table| about(&database.name, table);
        databases.push(tables.iter().take(12).filter_map(of).take(MAX_DATA).collect());
    }
    let mut waiting: Vec<_> = databases.into_iter().map(Vec::into_iter).collect();
    while examples.len() < MAX_DATA {
        let round: Vec<Example> = waiting.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            break;
        }
        examples.extend(round);
    }
    examples.truncate(MAX_DATA);
    let facts = catalog.facts.records().into_iter().take(MAX_FACTS);
    examples.extend(facts.map(|fact| Example {
        question: format!("What does \"{}\" mean here?", fact.name),
        about: fact.name,
        kind: ResourceKind::Fact,
    }));
    examples
}

/// A question about a table: its amount over time, or its rows by a category.
fn about(database: &str, table: &Table) -> Option<Example> {
    let things = words(&table.name);
    let find = |is_one: &dyn Fn(&Column) -> bool| table.columns.iter().find(|column| is_one(column));
    let date =
        find(&|column| matches!(column.column_type, ColumnType::Date | ColumnType::DateText | ColumnType::Timestamp));
    let amount = find(&|column| is_amount(column));
    let category = find(&is_category);
    let question = match (date, amount, category) {
        (Some(_), Some(amount), _) => format!("What is the {} of {things} by month?", of_amount(&amount.name)),
        (_, _, Some(category)) if things.ends_with('s') => {
            format!("How many {things} are there by {}?", words(&category.name))
        }
        (_, _, Some(category)) => format!("How many rows of {things} are there by {}?", words(&category.name)),
        _ => return None,
    };
    Some(Example { question, about: format!("{database}.{}", table.name), kind: ResourceKind::Table })
}

fn is_amount(column: &Column) -> bool {
    let is_number = matches!(column.column_type, ColumnType::Integer | ColumnType::Decimal { .. } | ColumnType::Float);
    let words = identifiers::words(&column.name);
    let named = ["total", "amount", "revenue", "spend", "cost", "sales", "sessions", "quantity"];
    is_number && !column.primary_key && words.iter().any(|word| named.contains(&word.as_str()))
}

fn of_amount(name: &str) -> String {
    let said = words(name);
    if said.starts_with("total") { said } else { format!("total {said}") }
}

fn is_category(column: &Column) -> bool {
    let named = identifiers::words(&column.name).last().is_some_and(|word| CATEGORIES.contains(&word.as_str()));
    named && !column.primary_key
}

fn words(name: &str) -> String {
    identifiers::words(name).join(" ")
}
