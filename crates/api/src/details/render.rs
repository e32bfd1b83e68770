//! Text form of an operation's details: one line per parameter, and one per body.

use prospector_core::tool::Cut;
use prospector_core::tool::compact::{cell, name, quote, rest, word};
use serde_json::Value;

use super::OperationDetails;
use crate::model::Access;

/// Deeper shapes are rendered as JSON.
const MAX_DEPTH: usize = 40;

/// Renders the details in a few lines:
///
/// ```text
/// shop.getOrder GET /orders/{id}: One order with its lines
/// path id integer required given_by=[listOrders]
/// query fields array of string enum=[lines; total] default=total: What to show.
/// query key string given by the program
/// call: {"operation":"shop.getOrder","arguments":{"id":1}}
/// request_body: {sku!: string, note: string}
/// response_schema: {id: integer, lines: [{sku: string}]}
/// ```
///
/// `!` marks required fields. Access (`reads`, `writes`) follows the method if the method leaves it open. Remaining
/// fields follow, one per line.
pub(super) fn details(details: &OperationDetails, cut: &Cut) -> String {
    let OperationDetails { api, operation, r#type: kind, method, path, access, .. } = details;
    let mut text = format!("{}.{}", name(api), name(operation));
    // A GraphQL query has no path.
    if path != operation {
        text.push_str(&format!(" {} {}", word(method), name(path)));
    }
    if *kind != "rest" {
        text.push_str(&format!(" {}", word(kind)));
    }
    if path == operation && !method.eq_ignore_ascii_case(kind) {
        text.push_str(&format!(" {}", word(method)));
    }
    let is_implied = matches!(method.as_str(), "GET" | "HEAD" | "PUT" | "PATCH" | "DELETE") && *kind == "rest";
    text.push_str(match access.filter(|_| !is_implied) {
        Some(Access::Reads) => " reads",
        Some(Access::Writes) => " writes",
        None => "",
    });
    if !details.description.is_empty() {
        text.push_str(&format!(": {}", word(&details.description)));
    }
    for one in &details.parameters {
        text.push('\n');
        text.push_str(&parameter(one).unwrap_or_else(|| cell(one)));
    }
    if let Some(example) = &details.example {
        // As JSON, so that text of the description cannot close a delimiter.
        text.push_str(&format!("\ncall: {}", cell(example).trim_start_matches('=')));
    }
    // Other values (lists of parameters, text) are rendered as remaining fields.
    let object = details.value.as_ref().filter(|value| value.is_object());
    let bodies =
        [("request_body", details.request_body.as_ref()), ("response_schema", details.response_schema.as_ref())];
    for (key, value) in bodies.into_iter().chain([("value", object)]) {
        if let Some(value) = value {
            text.push_str(&format!("\n{key}: "));
            shape(&mut text, value, 0);
        }
    }
    if let Value::Object(fields) = cut.json(details) {
        let remaining = fields.into_iter().filter_map(|(key, value)| match key.as_str() {
            "api" | "operation" | "type" | "method" | "path" | "access" | "description" | "parameters" | "example"
            | "request_body" | "response_schema" => None,
            "value" if object.is_some() => None,
            "auth" => Some(("auth_given_by_program".to_owned(), value)),
            _ => Some((key, value)),
        });
        rest(&mut text, &remaining.collect());
    }
    text
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
    if fields.shift_remove("credential").is_some() {
        text.push_str(" given by the program");
    }
    for (key, value) in fields {
        text.push_str(&format!(" {}={}", name(&key), cell(&value)));
    }
    if let Some(description) = description {
        text.push_str(&format!(": {}", word(&description)));
    }
    Some(text)
}

/// Renders a shape; names and types with structural characters are quoted.
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
            // If `$required` names a field that was truncated, it is rendered as it is.
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

/// Returns text unquoted if it contains only letters, digits, spaces, some punctuation and the characters in `also`.
fn bare(text: &str, also: &[char]) -> String {
    let plain = |c: char| {
        c.is_alphanumeric() || also.contains(&c) || matches!(c, ' ' | '_' | '-' | '.' | '/' | '$' | '|' | '*' | '…')
    };
    let is_scalar = matches!(text, "null" | "true" | "false") || text.parse::<f64>().is_ok();
    let is_plain = !text.is_empty() && text.trim() == text && text.chars().all(plain);
    if is_plain && !is_scalar { text.to_owned() } else { quote(text) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Details with the required fields only.
    fn bare_details(api: &str, operation: &str, kind: &'static str, method: &str, path: &str) -> OperationDetails {
        OperationDetails {
            api: api.into(),
            operation: operation.into(),
            r#type: kind,
            method: method.into(),
            path: path.into(),
            access: Some(Access::Reads),
            description: String::new(),
            tags: Vec::new(),
            deprecated: false,
            parameters: Vec::new(),
            request_body: None,
            response_schema: None,
            auth: Vec::new(),
            example: None,
            part: None,
            value: None,
            truncated: false,
            next: None,
            note: String::new(),
            providers: Vec::new(),
        }
    }

    #[test]
    fn renders_one_line_per_parameter_and_body() {
        let answer = OperationDetails {
            description: "One order.\nWith lines.".into(),
            parameters: vec![
                json!({"name": "id", "location": "path", "type": "integer", "required": true}),
                json!({"name": "sort by", "location": "query", "type": "string", "enum": ["a", "b;c"], "default": "a",
                       "description": "How: by what."}),
                json!({"name": "key", "location": "query", "type": "string", "credential": true}),
                json!({"$cut": "3 more: x, y, z"}),
            ],
            example: Some(json!({"operation": "my shop.getOrder", "arguments": {"id": 1}})),
            request_body: Some(json!({"$required": ["sku"], "sku": "string", "note, or": "enum: a | b"})),
            response_schema: Some(
                json!({"$required": "all", "id": "integer", "lines": [{"sku": "a} b", "$cut": "2 more fields"}]}),
            ),
            auth: vec!["key".into()],
            truncated: true,
            ..bare_details("my shop", "getOrder", "rest", "GET", "/orders/{id}")
        };
        assert_eq!(
            details(&answer, &Cut::default()),
            "\"my shop\".getOrder GET /orders/{id}: \"One order.\\nWith lines.\"\n\
             path id integer required\n\
             query \"sort by\" string enum=[a; \"b;c\"] default=a: How: by what.\n\
             query key string given by the program\n\
             ={\"$cut\":\"3 more: x, y, z\"}\n\
             call: {\"operation\":\"my shop.getOrder\",\"arguments\":{\"id\":1}}\n\
             request_body: {sku!: string, \"note, or\": enum: a | b}\n\
             response_schema: {$required: all, id: integer, lines: [{sku: \"a} b\", $cut: 2 more fields}]}\n\
             auth_given_by_program: [key]\ntruncated: true"
        );
    }

    #[test]
    fn renders_queries_by_name_and_single_parts() {
        let answer = OperationDetails {
            part: Some("response_schema".into()),
            value: Some(json!({"$required": ["gone"], "id": "ID"})),
            ..bare_details("people", "user", "query", "QUERY", "user")
        };
        assert_eq!(
            details(&answer, &Cut::default()),
            "people.user query reads\nvalue: {$required: [gone], id: ID}\npart: response_schema"
        );
    }
}
