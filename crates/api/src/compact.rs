//! The text of an operation's details: a line a parameter, and bodies as shapes in one line each.

use prospector_core::compact::{cell, name, quoted, rest, word};
use serde_json::{Map, Value};

/// Deeper shapes are written as JSON.
const MAX_DEPTH: usize = 40;

/// An operation in few lines:
///
/// ```text
/// shop.getOrder GET /orders/{id} rest: One order with its lines
/// path id integer required
/// query fields array of string enum=[lines; total] default=total: What to show.
/// request_body: {sku!: string, note: string}
/// response_schema: {id: integer, lines: [{sku: string}]}
/// ```
///
/// `!` is a field of `$required`; what else the answer says follows, a line a field. `None` for what is no such answer.
pub(crate) fn details(answer: &Value) -> Option<String> {
    let mut fields: Map<String, Value> = answer.as_object()?.clone();
    let mut take = |key: &str| Some(fields.shift_remove(key)?.as_str()?.to_owned());
    let (api, operation) = (take("api")?, take("operation")?);
    let mut text = format!("{}.{}", name(&api), name(&operation));
    let (kind, method, path) = (take("type")?, take("method")?, take("path")?);
    // A query of GraphQL is called by its name.
    if path != operation {
        text.push_str(&format!(" {} {}", word(&method), name(&path)));
    }
    text.push_str(&format!(" {}", word(&kind)));
    if path == operation && !method.eq_ignore_ascii_case(&kind) {
        text.push_str(&format!(" {}", word(&method)));
    }
    if let Some(description) = take("description") {
        text.push_str(&format!(": {}", word(&description)));
    }
    if let Some(Value::Array(parameters)) = fields.shift_remove("parameters") {
        for one in &parameters {
            text.push('\n');
            text.push_str(&parameter(one).unwrap_or_else(|| cell(one)));
        }
    }
    for key in ["request_body", "response_schema", "value"] {
        // Values that are lists of parameters, or words, are left to the general form.
        if fields.get(key).is_some_and(|value| key != "value" || value.is_object()) {
            let value = fields.shift_remove(key)?;
            text.push_str(&format!("\n{key}: "));
            shape(&mut text, &value, 0);
        }
    }
    rest(&mut text, &fields);
    Some(text)
}

fn parameter(value: &Value) -> Option<String> {
    let mut fields = value.as_object()?.clone();
    let mut take = |key: &str| Some(fields.shift_remove(key)?.as_str()?.to_owned());
    let (location, named, kind) = (take("location")?, take("name")?, take("type")?);
    let description = take("description");
    let mut text = format!("{} {} {}", word(&location), name(&named), word(&kind));
    if fields.get("required") == Some(&Value::Bool(true)) {
        fields.shift_remove("required");
        text.push_str(" required");
    }
    for (key, value) in fields {
        text.push_str(&format!(" {}={}", name(&key), cell(&value)));
    }
    if let Some(description) = description {
        text.push_str(&format!(": {}", word(&description)));
    }
    Some(text)
}

/// A shape as it is written for people; a text that could be taken for structure is quoted.
fn shape(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::String(one) => text.push_str(&bare(one, &[':', '(', ')'])),
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => text.push_str(&cell(value)),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                shape(text, item, depth + 1);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let required = fields.get("$required").and_then(Value::as_array);
            let is_required = |key: &str| required.is_some_and(|names| names.iter().any(|name| name == key));
            // A name that is no field, for what was cut, stays where it is said.
            let all_shown = required.is_some_and(|names| {
                names.iter().all(|name| name.as_str().is_some_and(|name| fields.contains_key(name)))
            });
            text.push('{');
            let mut first = true;
            for (key, value) in fields.iter().filter(|(key, _)| !all_shown || *key != "$required") {
                text.push_str(if first { "" } else { ", " });
                first = false;
                text.push_str(&bare(key, &[]));
                text.push_str(if all_shown && is_required(key) { "!: " } else { ": " });
                shape(text, value, depth + 1);
            }
            text.push('}');
        }
        other => text.push_str(&other.to_string()),
    }
}

/// A text as it is where it has letters, spaces and what else cannot be taken for structure, and these.
fn bare(text: &str, also: &[char]) -> String {
    let plain = |c: char| {
        c.is_alphanumeric() || also.contains(&c) || matches!(c, ' ' | '_' | '-' | '.' | '/' | '$' | '|' | '*' | '…')
    };
    let is_scalar = matches!(text, "null" | "true" | "false") || text.parse::<f64>().is_ok();
    let is_plain = !text.is_empty() && text.trim() == text && text.chars().all(plain);
    if is_plain && !is_scalar { text.to_owned() } else { quoted(text) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_operation_is_a_line_for_each_parameter_and_body() {
        let answer = json!({
            "api": "my shop", "operation": "getOrder", "type": "rest", "method": "GET", "path": "/orders/{id}",
            "description": "One order.\nWith lines.",
            "parameters": [
                {"name": "id", "location": "path", "type": "integer", "required": true},
                {"name": "sort by", "location": "query", "type": "string", "enum": ["a", "b;c"], "default": "a",
                 "description": "How: by what."},
                {"$cut": "3 more: x, y, z"}
            ],
            "request_body": {"$required": ["sku"], "sku": "string", "note, or": "enum: a | b"},
            "response_schema": {"$required": "all", "id": "integer", "lines": [{"sku": "a} b", "$cut": "2 more fields"}]},
            "auth": ["key"], "truncated": true
        });
        assert_eq!(
            details(&answer).unwrap_or_default(),
            "\"my shop\".getOrder GET /orders/{id} rest: \"One order.\\nWith lines.\"\n\
             path id integer required\n\
             query \"sort by\" string enum=[a; \"b;c\"] default=a: How: by what.\n\
             ={\"$cut\":\"3 more: x, y, z\"}\n\
             request_body: {sku!: string, \"note, or\": enum: a | b}\n\
             response_schema: {$required: all, id: integer, lines: [{sku: \"a} b\", $cut: 2 more fields}]}\n\
             auth: [key]\ntruncated: true"
        );
    }

    #[test]
    fn a_query_is_called_by_its_name_and_a_part_stands_alone() {
        let answer = json!({"api": "people", "operation": "user", "type": "query", "method": "QUERY", "path": "user",
                            "part": "response_schema", "value": {"$required": ["gone"], "id": "ID"}});
        assert_eq!(
            details(&answer).unwrap_or_default(),
            "people.user query\nvalue: {$required: [gone], id: ID}\npart: response_schema"
        );
        assert_eq!(details(&json!([])), None);
    }
}
