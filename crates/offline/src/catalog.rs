//! Questions about the catalog: the databases with their tables, and the columns of a table.

use prospector_llm::{
    ChatRequest,
    message::{ToolCall, ToolResult},
};
use prospector_text::{identifiers, stem};
use serde_json::{Value, json};

use crate::{
    calls::{Call, TABLE_SCHEMA, find_search, items, nearest_items, translate},
    question::find_subject,
    render::{WHO, write},
};

/// Maximum number of listed databases, and of tables of each.
const MAX_LISTED: usize = 20;

/// The next action for a question about the catalog.
pub(crate) enum Next {
    Call(Vec<Call>),
    Say(String),
}

/// Answers `which tables are there?` and `which columns do invoices have?`; `None` for another question, or without the necessary tools.
pub(crate) fn answer_catalog(
    question: &str,
    request: &ChatRequest,
    results: &[(&ToolCall, &ToolResult)],
) -> Option<Next> {
    let subject = find_subject(question)?;
    let next = if subject.is_empty() { list_databases(results) } else { list_columns(&subject, results)? };
    let Next::Call(calls) = next else { return Some(next) };
    let has = |name: &str| request.tools.iter().any(|known| known.name == name);
    let calls: Vec<Call> = translate(calls, request).into_iter().filter(|(name, _)| has(name)).collect();
    (!calls.is_empty()).then_some(Next::Call(calls))
}

/// Lists the databases of the catalog, and the tables of each.
fn list_databases(results: &[(&ToolCall, &ToolResult)]) -> Next {
    let (databases, tables) = match results {
        [] => return Next::Call(vec![("list_databases", json!({}))]),
        [(_, databases)] => {
            let names = list_names(databases).take(MAX_LISTED);
            let list = |name: String| ("list_tables", json!({"database": name, "limit": MAX_LISTED}));
            return Next::Call(names.map(list).collect());
        }
        [(_, databases), tables @ ..] => (databases, tables),
    };
    let line = |(name, (_, tables)): (String, &(&ToolCall, &ToolResult))| {
        format!("- {name}: {}", list_names(tables).collect::<Vec<_>>().join(", "))
    };
    let lines: Vec<String> = list_names(databases).zip(tables).map(line).collect();
    Next::Say(format!("The databases and their tables:\n\n{}\n\n{WHO}", lines.join("\n")))
}

/// Returns the names of listed items.
fn list_names(listed: &ToolResult) -> impl Iterator<Item = String> {
    listed.data.iter().flat_map(items).filter_map(|item| item["name"].as_str().map(str::to_owned))
}

/// Lists the columns of the table with this name.
fn list_columns(words: &[String], results: &[(&ToolCall, &ToolResult)]) -> Option<Next> {
    let (database, table) = find_table(words, results)?;
    let is_schema = |call: &ToolCall| ["describe", TABLE_SCHEMA].contains(&call.name.as_str());
    let Some((_, schema)) = results.iter().find(|(call, _)| is_schema(call)) else {
        return Some(Next::Call(vec![(TABLE_SCHEMA, json!({"database": database, "table": table}))]));
    };
    let data = schema.data.as_ref().filter(|_| !schema.is_error)?;
    // `describe` returns several entries.
    let described = items(data).next().map_or(data, |item| item.get("answer").unwrap_or(item));
    let line = |column: &Value| {
        let about = column["description"].as_str().map(|text| format!(": {text}")).unwrap_or_default();
        format!("- {} ({}){about}", write(&column["name"]), write(&column["type"]))
    };
    let lines: Vec<String> = described["columns"].as_array()?.iter().map(line).collect();
    Some(Next::Say(format!("The columns of {database}.{table}:\n\n{}\n\n{WHO}", lines.join("\n"))))
}

/// Returns the database and the name of the table whose name consists of these words.
fn find_table(words: &[String], results: &[(&ToolCall, &ToolResult)]) -> Option<(String, String)> {
    let named: Vec<String> = words.iter().map(|word| stem::snowball(word)).collect();
    let place = |hit: &Value| match hit["id"].as_str().and_then(|id| id.split_once('.')) {
        Some((database, table)) => (database.to_owned(), table.to_owned()),
        None => (write(&hit["database"]), write(&hit["table"])),
    };
    let is_named = |(_, table): &(String, String)| {
        identifiers::words(table).iter().map(|word| stem::snowball(word)).eq(named.iter().cloned())
    };
    // A table with this name is meant, however weak the hit is.
    find_search(results, "table").into_iter().flat_map(nearest_items).map(place).find(is_named)
}
