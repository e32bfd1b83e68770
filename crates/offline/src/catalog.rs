//! What there is: the databases with their tables, and the columns of a table.

use prospector_llm::{
    ChatRequest,
    message::{ToolCall, ToolResult},
};
use prospector_text::{identifiers, stem};
use serde_json::{Value, json};

use crate::{
    calls::{Call, TABLE_SCHEMA, hits, items, translate},
    question::beside_catalog,
    tell::{WHO, write},
};

/// So many databases, and tables of each, are listed.
const MAX_LISTED: usize = 20;

/// What is done next for a question about what there is.
pub(crate) enum Next {
    Call(Vec<Call>),
    Say(String),
}

/// `Which tables are there?` and `which columns do invoices have?`; nothing for another question, or where tools are lacking.
pub(crate) fn tell_catalog(
    question: &str,
    request: &ChatRequest,
    results: &[(&ToolCall, &ToolResult)],
) -> Option<Next> {
    let beside = beside_catalog(question)?;
    let next = if beside.is_empty() { list_databases(results) } else { list_columns(&beside, results)? };
    let Next::Call(calls) = next else { return Some(next) };
    let has = |name: &str| request.tools.iter().any(|known| known.name == name);
    let calls: Vec<Call> = translate(calls, request).into_iter().filter(|(name, _)| has(name)).collect();
    (!calls.is_empty()).then_some(Next::Call(calls))
}

/// The databases of the catalog, and the tables of each.
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
    let tell = |(name, (_, tables)): (String, &(&ToolCall, &ToolResult))| {
        format!("- {name}: {}", list_names(tables).collect::<Vec<_>>().join(", "))
    };
    let lines: Vec<String> = list_names(databases).zip(tables).map(tell).collect();
    Next::Say(format!("The databases and their tables:\n\n{}\n\n{WHO}", lines.join("\n")))
}

/// The names of what was listed.
fn list_names(listed: &ToolResult) -> impl Iterator<Item = String> {
    listed.data.iter().flat_map(items).filter_map(|item| item["name"].as_str().map(str::to_owned))
}

/// The columns of the table whose name these words are.
fn list_columns(words: &[String], results: &[(&ToolCall, &ToolResult)]) -> Option<Next> {
    let (database, table) = find_table(words, results)?;
    let is_schema = |call: &ToolCall| ["describe", TABLE_SCHEMA].contains(&call.name.as_str());
    let Some((_, schema)) = results.iter().find(|(call, _)| is_schema(call)) else {
        return Some(Next::Call(vec![(TABLE_SCHEMA, json!({"database": database, "table": table}))]));
    };
    let data = schema.data.as_ref().filter(|_| !schema.is_error)?;
    // `describe` answers for several things at once.
    let described = items(data).next().map_or(data, |item| item.get("answer").unwrap_or(item));
    let tell = |column: &Value| {
        let about = column["description"].as_str().map(|text| format!(": {text}")).unwrap_or_default();
        format!("- {} ({}){about}", write(&column["name"]), write(&column["type"]))
    };
    let lines: Vec<String> = described["columns"].as_array()?.iter().map(tell).collect();
    Some(Next::Say(format!("The columns of {database}.{table}:\n\n{}\n\n{WHO}", lines.join("\n"))))
}

/// The database and the name of the table that was found and is called by these words.
fn find_table(words: &[String], results: &[(&ToolCall, &ToolResult)]) -> Option<(String, String)> {
    let named: Vec<String> = words.iter().map(|word| stem::snowball(word)).collect();
    let place = |hit: &Value| match hit["id"].as_str().and_then(|id| id.split_once('.')) {
        Some((database, table)) => (database.to_owned(), table.to_owned()),
        None => (write(&hit["database"]), write(&hit["table"])),
    };
    let is_named = |(_, table): &(String, String)| {
        identifiers::words(table).iter().map(|word| stem::snowball(word)).eq(named.iter().cloned())
    };
    hits(results, "table").map(place).find(is_named)
}
