//! Words of a question that may be values, looked for among the values of columns.

use serde_json::{Value, json};

use super::{
    intent,
    turn_state::{Table, TurnState},
};

/// So many columns are asked for a value.
const MAX_SAMPLED_COLUMNS: usize = 5;

/// Looks for words among the values of columns that hold names.
pub(super) fn search_values(known: &TurnState, database: &str, words: &[String]) -> Vec<(&'static str, Value)> {
    let own = |database: &str, table: &str| known.hits.iter().position(|hit| hit.1 == table && hit.0 == database);
    // A table that a hit refers to comes as soon as that hit.
    let hit = |table: &Table| {
        let refers = |other: &&Table| {
            let mut targets = other.columns.iter().filter_map(|column| column.refers.as_ref());
            other.database == table.database && targets.any(|(target, _)| *target == table.name)
        };
        let referring = known.tables.iter().filter(refers).filter_map(|other| own(&other.database, &other.name));
        own(&table.database, &table.name).into_iter().chain(referring).min().unwrap_or(usize::MAX)
    };
    let mut columns: Vec<(usize, usize, &Table, &str)> = Vec::new();
    for table in known.tables.iter().filter(|table| table.database == database) {
        for column in table.columns.iter().filter(|column| column.is_text()) {
            let last = column.names[0].last().map(String::as_str).unwrap_or_default();
            let is_name = ["name", "title", "city", "country", "code", "channel"].iter().position(|word| *word == last);
            columns.push((is_name.unwrap_or(9), hit(table), table, &column.name));
        }
    }
    columns.sort_by_key(|(name, hit, ..)| (*name, *hit));
    let words = words.iter().filter(|word| intent::is_value(word)).take(2);
    let mut calls = Vec::new();
    for word in words {
        for (_, _, table, column) in columns.iter().take(MAX_SAMPLED_COLUMNS) {
            calls.push((
                "get_sample_values",
                json!({"database": table.database, "table": table.name, "column": column, "contains": word, "limit": 5}),
            ));
        }
    }
    calls
}
