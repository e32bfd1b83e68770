//! What a source says of a failed query, as advice.

use prospector_connect::{ConnectError, Table};
use prospector_core::nearest;

use crate::Failure;

/// The failure, from the error of a connector.
pub(crate) fn of_source(error: &ConnectError, tables: &[&Table]) -> Failure {
    match error {
        ConnectError::Connect { .. } => {
            Failure::new("unavailable", error.to_string()).advise("try again later; the server cannot be reached")
        }
        ConnectError::Unsupported { .. } | ConnectError::NoData { .. } => {
            Failure::new("unavailable", error.to_string()).advise("there are no rows to be had here")
        }
        ConnectError::TooLarge { column, .. } => {
            let advice = match column {
                Some(column) => {
                    format!("select a part of it, such as left({column}, 1000) or substr({column}, 1, 1000)")
                }
                None => "select fewer columns, add a WHERE, or ask for fewer rows with LIMIT".to_owned(),
            };
            Failure::new("too_large", error.to_string()).advise(advice)
        }
        ConnectError::Read { reason, .. } | ConnectError::Open { reason, .. } => explained(reason, tables),
        ConnectError::Condition { .. } | ConnectError::Relayed { .. } => explained(&error.to_string(), tables),
    }
}

/// The failure, from what was said.
pub(crate) fn explained(reason: &str, tables: &[&Table]) -> Failure {
    let lower = reason.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let first = reason.lines().next().unwrap_or_default();
    let first: String = first.chars().take(400).collect();
    if has(&["took too long", "statement timeout", "execution time exceeded", "timed out"]) {
        return Failure::new("timeout", format!("the query took too long and was stopped: {first}"))
            .advise("add a WHERE, read fewer tables, or aggregate less at once");
    }
    let gone = [
        "terminating connection",
        "server closed the connection",
        "connection reset",
        "connection refused",
        "broken pipe",
        "unexpected end of file",
        "expected to read",
        "lost connection",
        "connection was killed",
        "server has gone away",
        "shutting down",
        "shutdown",
    ];
    if has(&gone) {
        return Failure::new("unavailable", format!("the server went away: {first}"))
            .advise("run the query again; where that fails too, try later");
    }
    if has(&["too large: "]) {
        return Failure::new("too_large", first)
            .advise("add a condition on that table (=, <, >, BETWEEN, IN with a value), or query its database alone");
    }
    if has(&["resources exhausted", "out of memory", "memory limit"]) {
        return Failure::new("memory", first).advise("add a WHERE or aggregate before the join");
    }
    let column =
        ["unknown column '", "no such column: ", "no field named ", "column \"", "column ", "it has no column "];
    let is_column = has(&["unknown column", "no such column", "no field named", "it has no column"])
        || lower.contains("column") && lower.contains("does not exist");
    if is_column && let Some(name) = column.iter().find_map(|marker| after(reason, marker)) {
        let last = name.rsplit('.').next().unwrap_or(&name).to_owned();
        let names: Vec<String> = tables
            .iter()
            .flat_map(|table| table.columns.iter().map(move |column| format!("{}.{}", table.name, column.name)))
            .collect();
        let bare: Vec<&str> = names.iter().filter_map(|name| name.rsplit('.').next()).collect();
        let near = nearest(&last, bare.iter().copied(), 3);
        let mut shown: Vec<String> = near
            .iter()
            .filter_map(|near| names.iter().find(|name| name.rsplit('.').next() == Some(near)))
            .cloned()
            .collect();
        shown.dedup();
        let failure = Failure::new("unknown_column", first);
        return match shown.as_slice() {
            [] => failure.advise("look the columns up with get_table_schema"),
            shown => failure.advise(format!(
                "did you mean {}? names with capitals may need quotes",
                shown.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            )),
        };
    }
    if has(&["no such function", "invalid function", "table function '"])
        || lower.contains("function") && lower.contains("does not exist")
    {
        return Failure::new("unknown_function", first)
            .advise("use a function of the source's own SQL, with arguments of its types");
    }
    if has(&["no such table", "doesn't exist", "relation "]) && has(&["exist", "no such table"]) {
        return Failure::new("unknown_table", first)
            .advise("the source may have changed since it was described; refresh the catalog");
    }
    let mismatch = [
        "operator does not exist",
        "invalid input syntax",
        "cannot cast",
        "coerce",
        "mismatch",
        "cannot infer common",
        "could not convert",
        "incompatible",
        "cannot be matched",
        "cannot cast string",
        "no function matches",
    ];
    if has(&mismatch) {
        return Failure::new("type_mismatch", first).advise("compare like with like: CAST(column AS type) on one side");
    }
    if has(&["syntax error", "error in your sql syntax"]) {
        return Failure::new("syntax", first).advise("write it in the SQL of the source");
    }
    if has(&["not authorized", "read-only", "read only", "permission denied", "command denied"]) {
        return Failure::new("refused", first).advise("only reading is allowed here");
    }
    Failure::new("failed", first)
}

/// The name that follows the marker, without quotes.
fn after(text: &str, marker: &str) -> Option<String> {
    let at = text.to_lowercase().find(marker)? + marker.len();
    let rest = text.get(at..)?.trim_start_matches(['"', '\'', '`']);
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '\'' | ',' | ';' | '(')).unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches('.').replace(['"', '`'], "");
    (!name.is_empty()).then_some(name)
}
