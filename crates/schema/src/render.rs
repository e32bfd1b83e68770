//! Rendering of a table for the index and for hits.

use std::collections::BTreeSet;

use prospector_connect::table::Table;
use prospector_core::Kind;
use prospector_core::record::Record;

use crate::Database;
use crate::families::{Families, TableFamily};
use crate::joins::JoinGraph;
use crate::relevant_columns::matching_columns;
use prospector_text::cut;

/// Maximum number of characters of a description in a list or a hit.
pub(crate) const SHOWN: usize = 200;

/// A description shorter than this leaves room for column names.
const SHORT: usize = 80;

/// Returns the record of a table. Column types are not indexed, because they say nothing about the content.
pub(crate) fn record(database: &Database, at: usize, joins: &JoinGraph, families: &Families) -> Record {
    let table = &database.tables[at];
    let family = families.family(at);
    let id = |table: &Table| format!("{}.{}", database.name, table.name);
    let related: BTreeSet<usize> =
        joins.find_related(at).into_iter().map(|other| families.representative(other)).collect();
    Record {
        parent: database.name.clone(),
        aliases: family.map_or_else(|| vec![table.name.clone()], |family| family.members.clone()),
        description: summarize(table, family, "").text,
        members: table.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(" "),
        body: body(database, table),
        related: related.into_iter().map(|other| id(&database.tables[other])).collect(),
        ..Record::new(Kind::Table, id(table), table.name.clone())
    }
}

/// Returns the description of a table that represents a family.
pub(crate) fn describe_family(family: &TableFamily, description: &str) -> String {
    if description.is_empty() { family.to_string() } else { format!("{family}; {description}") }
}

/// Returns the summary of a table for a hit, including its family.
pub(crate) fn summarize(table: &Table, family: Option<&TableFamily>, question: &str) -> Brief {
    let brief = brief(table, question);
    let text = family.map_or_else(|| brief.text.clone(), |family| describe_family(family, &brief.text));
    Brief { text, ..brief }
}

/// The summary of a table for a hit.
pub struct Brief {
    /// Its description, and column names if there is room.
    pub text: String,
    /// The named columns.
    pub columns: Vec<String>,
}

/// Returns the summary of a table. If there is no room for all columns, those that match the question are named, in table
/// order.
pub(crate) fn brief(table: &Table, question: &str) -> Brief {
    let description = cut::line(&table.description, SHOWN);
    if description.chars().count() >= SHORT || table.columns.is_empty() {
        return Brief { text: description, columns: Vec::new() };
    }
    let start = if description.is_empty() { "columns".to_owned() } else { format!("{description}; columns") };
    let columns = fitting_columns(table, question, start.chars().count());
    let is_whole = columns.len() == table.columns.len();
    let text = match (columns.is_empty(), is_whole) {
        (true, _) => format!("{start}…"),
        (false, true) => format!("{start} {}", columns.join(", ")),
        (false, false) => format!("{start} {}, …", columns.join(", ")),
    };
    Brief { text, columns }
}

/// Returns the columns whose names fit after `start` characters, in table order.
fn fitting_columns(table: &Table, question: &str, start: usize) -> Vec<String> {
    let take = |places: Vec<usize>| -> Vec<usize> {
        let mut length = start + 2;
        let fits = |at: &usize| {
            length += 2 + table.columns[*at].name.chars().count();
            length <= SHOWN
        };
        places.into_iter().take_while(fits).collect()
    };
    let mut chosen = take((0..table.columns.len()).collect());
    if chosen.len() < table.columns.len() {
        let mut places = matching_columns(table, question);
        places.extend((0..table.columns.len()).filter(|at| !places.contains(at)).collect::<Vec<_>>());
        chosen = take(places);
        chosen.sort_unstable();
    }
    chosen.into_iter().map(|at| table.columns[at].name.clone()).collect()
}

/// Returns the full description if [`brief`] truncates it, the column descriptions, and the database description.
fn body(database: &Database, table: &Table) -> String {
    let long = Some(table.description.as_str()).filter(|text| text.chars().count() > SHOWN);
    let columns = table.columns.iter().map(|column| column.description.as_str());
    let lines = long.into_iter().chain(columns).chain([database.description.as_str()]);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use prospector_connect::source::SourceKind;

    use super::*;
    use crate::testing::{shop, table};

    fn check(description: &str, columns: &[&str], expected: &str) {
        let mut table = table("t", columns);
        table.description = description.into();
        assert_eq!(brief(&table, "").text, expected);
    }

    #[test]
    fn hits_have_a_summary_of_limited_length() {
        check("", &["id*", "name"], "columns id, name");
        check("People", &["id*", "name"], "People; columns id, name");
        check("", &[], "");
        let long = "word ".repeat(17);
        check(&long, &["id*"], long.trim_end());
        let columns: Vec<String> = (0..100).map(|n| format!("column_{n}")).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut wide = table("t", &columns);
        let text = brief(&wide, "").text;
        assert!(text.starts_with("columns column_0, column_1, "), "{text}");
        assert!(text.ends_with(", …") && text.chars().count() <= SHOWN, "{text}");
        wide.columns[90].name = "shipped_on".into();
        let asked = brief(&wide, "When were they shipped?");
        assert_eq!(asked.columns.last().map(String::as_str), Some("shipped_on"));
        assert!(asked.columns.len() > 5 && asked.text.chars().count() <= SHOWN, "{}", asked.text);
        check("", &["x".repeat(300).as_str()], "columns…");
    }

    #[test]
    fn indexes_tables_with_columns_and_context() {
        let mut database =
            Database { description: "A web shop".into(), tables: shop(), ..Database::new("shop", SourceKind::Sqlite) };
        database.tables[1].columns[1].description = "who bought".into();
        let graph = JoinGraph::new(&database.tables, &Families::default());
        let record_of = |database: &Database| record(database, 1, &graph, &Families::default());
        let record = record_of(&database);
        assert_eq!(record.id, "shop.invoices");
        assert_eq!(record.parent, "shop");
        assert_eq!(record.aliases, ["invoices"]);
        assert_eq!(record.related, ["shop.customers", "shop.lines"]);
        assert_eq!(record.description, "columns id, customer_id, total, status");
        assert_eq!(record.members, "id customer_id total status");
        assert_eq!(record.body, "who bought\nA web shop");

        database.tables[1].description = "One row for each purchase. ".repeat(4);
        let record = record_of(&database);
        assert_eq!(record.description, database.tables[1].description.trim_end());
        assert_eq!(record.body, "who bought\nA web shop");

        database.tables[1].description = "One row for each purchase. ".repeat(8);
        let record = record_of(&database);
        assert!(record.description.ends_with('…'), "{}", record.description);
        assert_eq!(record.body, format!("{}\nwho bought\nA web shop", database.tables[1].description));
    }
}
