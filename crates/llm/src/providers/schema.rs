//! Simplifies tool schemas for providers with limited JSON Schema support.
//!
//! Gemini documents its supported keywords and refuses requests with some others
//! (<https://ai.google.dev/api/generate-content#FIELDS.response_json_schema>): no `const`, no `allOf`, no `not`, and nothing next to a
//! `$ref`. Ollama parses a schema into its own structs, refuses requests in which a property is not an object, and drops unknown fields
//! such as `$ref` (<https://github.com/ollama/ollama/blob/main/api/types.go>). The result uses only what both support.

use serde_json::{Map, Value, json};

/// Keywords that are kept.
const KEPT: [&str; 6] = ["type", "description", "minItems", "maxItems", "minimum", "maximum"];
/// Limit on the nesting of schemas; deeper ones accept anything.
const MAX_DEPTH: usize = 24;
/// Limit on the number of schemas, since references to references multiply.
const MAX_SCHEMAS: usize = 4000;

/// Returns the schema of a tool's arguments with references resolved, and other keywords expressed by the supported ones.
pub(super) fn narrow(schema: &Value) -> Value {
    let mut reader = Reader { root: schema, left: MAX_SCHEMAS };
    let mut narrowed = reader.read(schema, 0, &mut Vec::new());
    narrowed.insert("type".into(), json!("object"));
    narrowed.entry("properties").or_insert_with(|| json!({}));
    Value::Object(narrowed)
}

struct Reader<'a> {
    root: &'a Value,
    left: usize,
}

impl<'a> Reader<'a> {
    /// `within` contains the references that are being resolved.
    fn read(&mut self, schema: &'a Value, depth: usize, within: &mut Vec<&'a str>) -> Map<String, Value> {
        let mut read = Map::new();
        // `true` accepts anything and is empty; `false` accepts nothing.
        let Some(object) = schema.as_object() else { return read };
        if depth >= MAX_DEPTH || self.left == 0 {
            return read;
        }
        self.left -= 1;
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            read = self.resolve(reference, depth, within);
        }
        for keyword in KEPT {
            if let Some(value) = object.get(keyword) {
                read.insert(keyword.into(), value.clone());
            }
        }
        if let Some(values) = values(object) {
            read.insert("enum".into(), values.into());
        }
        if let Some(items) = object.get("items") {
            read.insert("items".into(), self.read(items, depth + 1, within).into());
        }
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            let required = list(object, "required");
            let mut narrowed = Map::new();
            for (name, property) in properties {
                let mut property = self.read(property, depth + 1, within);
                if !required.iter().any(|required| required == name) {
                    without_null(&mut property);
                }
                narrowed.insert(name.clone(), property.into());
            }
            read.insert("properties".into(), narrowed.into());
            let is_there = |name: &&Value| name.as_str().is_some_and(|name| properties.contains_key(name));
            let required: Vec<&Value> = required.iter().filter(is_there).collect();
            if !required.is_empty() {
                read.insert("required".into(), json!(required));
            }
        }
        for part in list(object, "allOf") {
            for (keyword, value) in self.read(part, depth + 1, within) {
                add(&mut read, keyword, value);
            }
        }
        // An array without `items` is refused.
        if read.get("type").is_some_and(|kind| kind == "array") {
            read.entry("items").or_insert_with(|| json!({}));
        }
        // A null variant only expresses that the argument is optional.
        let variants = list(object, "anyOf").iter().chain(list(object, "oneOf"));
        let variants: Vec<&Value> = variants.filter(|variant| variant["type"] != "null").collect();
        if !variants.is_empty() {
            self.choose(&variants, depth, within, &mut read);
        }
        if let Some(default) = object.get("default").filter(|default| !default.is_null()) {
            describe(&mut read, &format!("Default: {default}"));
        }
        read
    }

    fn resolve(&mut self, reference: &'a str, depth: usize, within: &mut Vec<&'a str>) -> Map<String, Value> {
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        match target {
            Some(target) if !within.contains(&reference) => {
                within.push(reference);
                let read = self.read(target, depth + 1, within);
                within.pop();
                read
            }
            // A cycle, or an unknown reference.
            _ => Map::new(),
        }
    }

    /// Merges alternatives: plain values become one list, with their descriptions.
    fn choose(
        &mut self,
        variants: &[&'a Value],
        depth: usize,
        within: &mut Vec<&'a str>,
        read: &mut Map<String, Value>,
    ) {
        let read_variants: Vec<Map<String, Value>> =
            variants.iter().map(|variant| self.read(variant, depth + 1, within)).collect();
        let texts = |variant: &Map<String, Value>| -> Option<Vec<Value>> {
            variant.get("enum")?.as_array().filter(|values| values.iter().all(Value::is_string)).cloned()
        };
        let lists: Option<Vec<Vec<Value>>> = read_variants.iter().map(texts).collect();
        let Some(lists) = lists else {
            match <[Map<String, Value>; 1]>::try_from(read_variants) {
                Ok([only]) => {
                    for (keyword, value) in only {
                        read.entry(keyword).or_insert(value);
                    }
                }
                Err(several) => {
                    read.insert("anyOf".into(), several.into_iter().map(Value::Object).collect());
                }
            }
            return;
        };
        for (variant, values) in read_variants.iter().zip(&lists) {
            if let (Some(said), [value]) = (variant.get("description").and_then(Value::as_str), values.as_slice()) {
                describe(read, &format!("{value}: {said}"));
            }
        }
        read.insert("type".into(), json!("string"));
        read.insert("enum".into(), lists.concat().into());
    }
}

/// Adds a keyword of a part of a schema: existing values take precedence, but properties are merged.
fn add(read: &mut Map<String, Value>, keyword: String, value: Value) {
    match (read.get_mut(&keyword), value) {
        (None, value) => {
            read.insert(keyword, value);
        }
        (Some(Value::Object(before)), Value::Object(more)) if keyword == "properties" => {
            for (name, property) in more {
                before.entry(name).or_insert(property);
            }
        }
        (Some(Value::Array(before)), Value::Array(more)) if keyword == "required" => {
            let new: Vec<Value> = more.into_iter().filter(|name| !before.contains(name)).collect();
            before.extend(new);
        }
        _ => {}
    }
}

fn list<'a>(object: &'a Map<String, Value>, keyword: &str) -> &'a [Value] {
    object.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the values of `enum` or `const` that a list supports: texts and numbers.
fn values(object: &Map<String, Value>) -> Option<Vec<Value>> {
    let values = match object.get("const") {
        Some(value) => vec![value.clone()],
        None => object.get("enum")?.as_array()?.clone(),
    };
    let values: Vec<Value> = values.into_iter().filter(|value| value.is_string() || value.is_number()).collect();
    (!values.is_empty()).then_some(values)
}

/// Removes null: optional arguments are expressed by `required`.
fn without_null(property: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            property.insert("type".into(), only);
        }
    }
}

fn describe(schema: &mut Map<String, Value>, more: &str) {
    let text = match schema.get("description").and_then(Value::as_str) {
        Some(text) if !text.is_empty() => format!("{text}\n{more}"),
        _ => more.to_owned(),
    };
    schema.insert("description".into(), text.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected` is the converted property.
    #[track_caller]
    fn check(property: Value, expected: Value) {
        let schema = json!({"type": "object", "properties": {"p": property}, "$defs": {
            "Size": {"type": "integer", "description": "in pixels", "format": "uint32"},
            "Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}, "additionalProperties": false},
        }});
        let narrowed = narrow(&schema);
        assert_eq!(narrowed, json!({"type": "object", "properties": {"p": expected}}));
    }

    #[test]
    fn what_all_take_stays() {
        let plain = json!({"type": "array", "description": "d", "items": {"type": "string", "enum": ["a", "b"]}});
        check(plain.clone(), plain);
        let object = json!({"type": "object", "properties": {"$ref": {"type": "string"}}, "required": ["$ref"]});
        check(object.clone(), object);
    }

    #[test]
    fn what_some_refuse_goes() {
        let odd = json!({"type": "string", "title": "T", "pattern": "^a", "examples": ["a"], "not": {"const": "b"},
                         "$comment": "c", "additionalProperties": false});
        check(odd, json!({"type": "string"}));
        check(json!(true), json!({}));
        check(json!({"enum": [true, null, {}]}), json!({}));
        check(json!({"items": true, "type": "array"}), json!({"items": {}, "type": "array"}));
        check(json!({"type": "array"}), json!({"items": {}, "type": "array"}));
        let object = json!({"type": "object", "properties": {"a": {}}, "required": ["a", "b", 1]});
        check(object, json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}));
    }

    #[test]
    fn references_are_resolved_and_circles_end() {
        check(json!({"$ref": "#/$defs/Size"}), json!({"type": "integer", "description": "in pixels"}));
        check(
            json!({"$ref": "#/$defs/Size", "description": "mine"}),
            json!({"type": "integer", "description": "mine"}),
        );
        check(json!({"$ref": "#/$defs/Tree"}), json!({"type": "object", "properties": {"left": {}}}));
        check(json!({"$ref": "https://example.com/x"}), json!({}));
        check(json!({"$ref": "#/$defs/Missing", "description": "d"}), json!({"description": "d"}));
    }

    #[test]
    fn null_is_said_by_leaving_out() {
        check(json!({"type": ["string", "null"]}), json!({"type": "string"}));
        check(
            json!({"anyOf": [{"$ref": "#/$defs/Size"}, {"type": "null"}], "description": "mine"}),
            json!({"type": "integer", "description": "mine"}),
        );
        let required = json!({"type": "object", "properties": {"p": {"type": ["string", "null"]}}, "required": ["p"]});
        assert_eq!(narrow(&required), required, "it cannot be left out");
    }

    #[test]
    fn constants_become_a_list_with_what_is_said_of_each() {
        check(json!({"const": "a"}), json!({"enum": ["a"]}));
        let choice = json!({"description": "Which.", "oneOf": [
            {"const": "a", "type": "string", "description": "the first"}, {"type": "string", "enum": ["b", "c"]}]});
        let expected = json!({"type": "string", "enum": ["a", "b", "c"], "description": "Which.\n\"a\": the first"});
        check(choice, expected);
        let mixed = json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
        check(mixed.clone(), json!({"anyOf": mixed["oneOf"]}));
        check(json!({"type": "integer", "default": 5}), json!({"type": "integer", "description": "Default: 5"}));
        check(
            json!({"allOf": [{"$ref": "#/$defs/Size"}], "description": "mine"}),
            json!({"type": "integer", "description": "mine"}),
        );
        let part = |name: &str| json!({"type": "object", "properties": {name: {}}, "required": [name]});
        check(
            json!({"properties": {"a": {}}, "required": ["a"], "allOf": [part("b"), part("c")]}),
            json!({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["a", "b", "c"]}),
        );
    }

    #[test]
    fn the_arguments_are_an_object_whatever_the_schema_says() {
        let none = json!({"type": "object", "properties": {}});
        for schema in [json!({}), json!(true), json!(null), json!({"type": "string"})] {
            assert_eq!(narrow(&schema), none, "{schema}");
        }
    }

    #[test]
    fn schemas_that_multiply_are_cut() {
        let mut definitions = Map::new();
        for level in 0..20 {
            let reference = json!({"$ref": format!("#/$defs/{}", level + 1)});
            let properties = json!({"a": reference, "b": reference, "c": reference, "d": reference});
            definitions.insert(level.to_string(), json!({"type": "object", "properties": properties}));
        }
        let schema = json!({"properties": {"p": {"$ref": "#/$defs/0"}}, "$defs": definitions});
        assert!(narrow(&schema).to_string().len() < 1 << 20);
    }
}
