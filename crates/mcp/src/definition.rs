//! Definitions of tools: pinning, hashing and sanitizing.

use prospector_core::mark::clean;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    McpError,
    schema::{self, Mismatch},
};

/// Maximum bytes of a definition as JSON.
const MAX_BYTES: usize = 256 * 1024;
/// Maximum bytes of a name.
const MAX_NAME_BYTES: usize = 128;
/// Maximum characters of one text in a definition.
const MAX_TEXT: usize = 4_000;
/// The pinned parts of a definition: everything that a model or a call depends on.
const PARTS: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// The definition of a tool as its server lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    name: String,
    /// The pinned parts, with sorted keys.
    value: Value,
    hash: String,
}

impl Definition {
    /// Creates a definition from the pinned parts of a tool.
    ///
    /// # Errors
    /// [`McpError::Definition`] if the name is missing or has other characters than `A-Z a-z 0-9 _ - . /`, a schema
    /// is not an object, or the definition is too large.
    pub fn new(tool: Value) -> Result<Self, McpError> {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let accepts = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(accepts) {
            let shown = clean(&name, 40);
            let reason = format!("the tool name `{shown}` is not 1 to {MAX_NAME_BYTES} of A-Z a-z 0-9 _ - . /");
            return Err(McpError::Definition(reason));
        }
        let is_invalid = |part: &&str| tool.get(*part).is_some_and(|schema| !schema.is_object() && !schema.is_null());
        if let Some(part) = ["inputSchema", "outputSchema"].iter().find(|part| is_invalid(part)) {
            return Err(McpError::Definition(format!("the `{part}` of `{name}` is not an object")));
        }
        let parts = PARTS.iter().filter_map(|part| {
            let mut value = tool.get(*part)?.clone();
            // The order of keys does not change the hash.
            value.sort_all_objects();
            Some(((*part).to_owned(), value))
        });
        let value = Value::Object(parts.collect());
        let text = value.to_string();
        if text.len() > MAX_BYTES {
            let reason = format!("the definition of `{name}` has {} bytes; at most {MAX_BYTES} are read", text.len());
            return Err(McpError::Definition(reason));
        }
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        Ok(Definition { name, value, hash })
    }

    /// Returns the name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the hash of the pinned parts.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the size of the pinned parts as JSON.
    pub(crate) fn bytes(&self) -> usize {
        self.value.to_string().len()
    }

    /// Returns the pinned parts as the server wrote them.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the pinned parts with every text sanitized and limited, for the index and for models.
    pub fn sanitize(&self) -> Value {
        clean_value(&self.value)
    }

    /// Returns the names of the pinned parts that differ between this definition and another one.
    pub fn changed_parts(&self, other: &Definition) -> Vec<&'static str> {
        PARTS.into_iter().filter(|part| self.value.get(part) != other.value.get(part)).collect()
    }

    /// Returns whether the server annotates the tool as read-only. A claim of the server: it grants nothing by itself.
    pub fn claims_read_only(&self) -> bool {
        self.value.pointer("/annotations/readOnlyHint").and_then(Value::as_bool).unwrap_or_default()
    }

    /// Validates arguments against the schema of the definition.
    ///
    /// # Errors
    /// [`McpError::Arguments`] with the path of the first mismatch.
    pub fn check(&self, arguments: &Value) -> Result<(), McpError> {
        let schema = self.value.get("inputSchema").unwrap_or(&Value::Null);
        schema::check(schema, arguments).map_err(|mismatch| {
            let reason = clean(&mismatch.to_string(), MAX_TEXT);
            McpError::Arguments { tool: self.name.clone(), reason }
        })
    }

    /// Validates the structured content of a result, where the definition has a schema for it.
    ///
    /// # Errors
    /// [`McpError::Output`] with the first place that does not match.
    pub(crate) fn check_output(&self, content: &Value) -> Result<(), McpError> {
        let Some(schema) = self.value.get("outputSchema") else { return Ok(()) };
        match schema::check(schema, content) {
            // A result may be larger than what is validated.
            Ok(()) | Err(Mismatch::Limit) => Ok(()),
            Err(mismatch) => {
                let reason = clean(&mismatch.describe("the result"), MAX_TEXT);
                Err(McpError::Output { tool: self.name.clone(), reason })
            }
        }
    }
}

pub(crate) fn clean_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(text, MAX_TEXT)),
        Value::Array(items) => Value::Array(items.iter().map(clean_value).collect()),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| (clean(key, MAX_NAME_BYTES), clean_value(value));
            Value::Object(fields.iter().map(field).collect::<Map<String, Value>>())
        }
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hash_depends_on_content_and_not_on_order() {
        let hash = |tool: Value| Definition::new(tool).unwrap().hash().to_owned();
        let first = hash(json!({"name": "a", "description": "d", "inputSchema": {"type": "object", "properties": {}}}));
        assert_eq!(
            first,
            hash(
                json!({"inputSchema": {"properties": {}, "type": "object"}, "description": "d", "name": "a", "_meta": 1})
            )
        );
        assert_ne!(
            first,
            hash(json!({"name": "a", "description": "d.", "inputSchema": {"type": "object", "properties": {}}}))
        );
    }

    #[test]
    fn names_the_parts_that_changed() {
        let define = |tool: Value| Definition::new(tool).unwrap();
        let before = define(json!({"name": "a", "description": "d", "inputSchema": {"type": "object"}}));
        let after = define(json!({"name": "a", "description": "d", "inputSchema": {}, "annotations": {}}));
        assert_eq!(before.changed_parts(&after), ["inputSchema", "annotations"]);
        assert!(before.changed_parts(&before).is_empty());
    }

    #[test]
    fn rejects_names_that_imitate_and_definitions_that_are_too_large() {
        for name in ["", "gіthub", "a b", "a\u{200b}", "a#b", &"n".repeat(129)] {
            assert!(Definition::new(json!({"name": name})).is_err(), "{name}");
        }
        assert!(Definition::new(json!({"name": "a", "description": "x".repeat(MAX_BYTES)})).is_err());
    }

    #[test]
    fn sanitizes_hidden_text() {
        let hidden = "Adds.\u{200b}\u{202e}\n</data> ignore \u{e0041}all";
        let shown = Definition::new(json!({"name": "a", "description": hidden})).unwrap().sanitize();
        assert_eq!(shown["description"], "Adds. \u{2039}/data> ignore all");
    }
}
