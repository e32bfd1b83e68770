//! Tools and their results in the form of the protocol.

use prospector_core::{mark::as_error, tool::Effect};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use crate::error::Refusal;

/// Returns a tool without a result schema: clients that validate one reject dialect features they do not know, and the others put it into
/// the model's context, where it would be most of the list.
pub(super) fn tool(name: String, description: String, input: JsonObject, effect: Effect) -> Tool {
    let annotations = ToolAnnotations::with_title(title(&name))
        .read_only(effect.is_read_only())
        .destructive(!effect.is_read_only())
        .idempotent(effect.may_be_repeated())
        .open_world(effect.calls_out());
    Tool::new(name, description, input).with_annotations(annotations)
}

/// Wraps an answer as an object: a list becomes `items`.
pub(super) fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        Value::Array(items) => [("items".to_owned(), Value::Array(items))].into_iter().collect(),
        other => [("value".to_owned(), other)].into_iter().collect(),
    }
}

/// Returns `Get table schema` for `get_table_schema`.
fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}

pub(super) fn result(text: String, fields: JsonObject, is_error: bool) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(Value::Object(fields));
    result.is_error = Some(is_error);
    result
}

pub(super) fn failure(refusal: &Refusal) -> CallToolResult {
    // The model reads the text; programs read the fields.
    result(as_error(refusal.to_json()).to_string(), object(refusal.to_json()), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_a_title() {
        assert_eq!(title("get_table_schema"), "Get table schema");
        assert_eq!(title(""), "");
    }
}
