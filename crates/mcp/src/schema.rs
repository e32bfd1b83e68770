//! Validation of arguments against a JSON Schema of a server, which is not trusted: references are followed within the schema only, and
//! the work is limited. Keywords that are not known are ignored; the server validates again.
//!
//! The crate `jsonschema` is not used because it limits neither the steps nor the depth of a validation, and adds 15 packages.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

/// Maximum number of schemas applied in one validation.
const MAX_STEPS: usize = 20_000;
/// Maximum depth of values and references.
const MAX_DEPTH: usize = 64;
/// Maximum bytes of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 1 << 20;
/// Patterns that are compiled in one validation.
const MAX_PATTERNS: usize = 100;
/// Values of an enumeration that a message lists.
const MAX_LISTED: usize = 20;

/// The first mismatch between a value and its schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mismatch {
    /// A value does not match.
    #[error("{}", self.describe("the arguments"))]
    Value {
        /// Path of the value, such as `filter.from`.
        path: String,
        /// Description of the mismatch.
        reason: String,
    },
    /// A validation without end, or a schema that is too large.
    #[error("{}", self.describe("the arguments"))]
    Limit,
}

impl Mismatch {
    /// Returns the message; `whole` names a value that does not match as a whole.
    pub(crate) fn describe(&self, whole: &str) -> String {
        match self {
            Mismatch::Value { path, reason } if path.is_empty() => format!("{whole} {reason}"),
            Mismatch::Value { path, reason } => format!("`{path}` {reason}"),
            Mismatch::Limit => "the schema is too deep or too large to validate against".to_owned(),
        }
    }
}

/// Validates a value.
///
/// # Errors
/// [`Mismatch`] for the first mismatch.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), Mismatch> {
    Validator { root: schema, steps: 0, patterns: HashMap::new() }.check(schema, value, "", 0)
}

struct Validator<'a> {
    root: &'a Value,
    steps: usize,
    /// The patterns of the schema that were compiled so far.
    patterns: HashMap<&'a str, Option<Regex>>,
}

impl<'a> Validator<'a> {
    fn check(&mut self, schema: &'a Value, value: &Value, path: &str, depth: usize) -> Result<(), Mismatch> {
        self.steps += 1;
        if self.steps > MAX_STEPS || depth > MAX_DEPTH {
            return Err(Mismatch::Limit);
        }
        let Value::Object(rules) = schema else {
            return if schema == &Value::Bool(false) { Err(mismatch(path, "is not allowed")) } else { Ok(()) };
        };
        if let Some(Value::String(reference)) = rules.get("$ref") {
            // Unresolved and external references are left to the server.
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            if let Some(target) = target {
                self.check(target, value, path, depth + 1)?;
            }
        }
        check_type(rules, value, path)?;
        check_values(rules, value, path)?;
        match value {
            Value::Object(fields) => self.check_object(rules, fields, path, depth)?,
            Value::Array(items) => self.check_array(rules, items, path, depth)?,
            Value::String(text) => self.check_text(rules, text, path)?,
            Value::Number(number) => check_number(rules, number.as_f64().unwrap_or_default(), path)?,
            Value::Null | Value::Bool(_) => {}
        }
        self.check_choices(rules, value, path, depth)
    }

    fn check_object(
        &mut self,
        rules: &'a Map<String, Value>,
        fields: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Result<(), Mismatch> {
        for required in rules.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            if !fields.contains_key(required) {
                return Err(mismatch(&join(path, required), "is required"));
            }
        }
        let known = rules.get("properties").and_then(Value::as_object);
        let patterns = rules.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        let patterns: Vec<_> = match fields.is_empty() {
            true => Vec::new(),
            false => patterns.map(|(pattern, schema)| (self.compile(pattern), schema)).collect(),
        };
        for (key, value) in fields {
            let own = join(path, key);
            let mut is_known = false;
            if let Some(schema) = known.and_then(|known| known.get(key)) {
                is_known = true;
                self.check(schema, value, &own, depth + 1)?;
            }
            for (pattern, schema) in &patterns {
                if pattern.as_ref().is_none_or(|pattern| pattern.is_match(key)) {
                    is_known = true;
                    self.check(schema, value, &own, depth + 1)?;
                }
            }
            match rules.get("additionalProperties") {
                Some(Value::Bool(false)) if !is_known => {
                    let names = known.map(|known| known.keys().map(String::as_str).collect::<Vec<_>>().join(", "));
                    let names = names.filter(|names| !names.is_empty()).unwrap_or_else(|| "none".to_owned());
                    return Err(mismatch(&own, &format!("is unknown; the parameters are {names}")));
                }
                Some(schema) if !is_known => self.check(schema, value, &own, depth + 1)?,
                _ => {}
            }
        }
        check_count(rules, ["minProperties", "maxProperties"], fields.len(), "properties", path)
    }

    fn check_array(
        &mut self,
        rules: &'a Map<String, Value>,
        items: &[Value],
        path: &str,
        depth: usize,
    ) -> Result<(), Mismatch> {
        let first = rules.get("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (at, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(at).or_else(|| rules.get("items")) {
                self.check(schema, item, &format!("{path}[{at}]"), depth + 1)?;
            }
        }
        let repeats = |at: usize| items[..at].contains(&items[at]);
        if rules.get("uniqueItems") == Some(&Value::Bool(true))
            && items.len() <= MAX_STEPS / 20
            && (1..items.len()).any(repeats)
        {
            return Err(mismatch(path, "contains duplicate items"));
        }
        check_count(rules, ["minItems", "maxItems"], items.len(), "items", path)
    }

    fn check_text(&mut self, rules: &'a Map<String, Value>, text: &str, path: &str) -> Result<(), Mismatch> {
        if let Some(pattern) = rules.get("pattern").and_then(Value::as_str)
            && self.compile(pattern).is_some_and(|compiled| !compiled.is_match(text))
        {
            return Err(mismatch(path, &format!("does not match the pattern {pattern}")));
        }
        check_count(rules, ["minLength", "maxLength"], text.chars().count(), "characters", path)
    }

    /// The compiled pattern, once per validation; `None` where it cannot be compiled, as patterns with look-around cannot.
    fn compile(&mut self, pattern: &'a str) -> Option<Regex> {
        if let Some(known) = self.patterns.get(pattern) {
            return known.clone();
        }
        // A schema with more patterns than this is validated without the rest.
        let is_free = self.patterns.len() < MAX_PATTERNS;
        let compile = || RegexBuilder::new(pattern).size_limit(MAX_PATTERN_BYTES).build().ok();
        let compiled = is_free.then(compile).flatten();
        if is_free {
            self.patterns.insert(pattern, compiled.clone());
        }
        compiled
    }

    /// `allOf`, `anyOf`, `oneOf` and `not`.
    fn check_choices(
        &mut self,
        rules: &'a Map<String, Value>,
        value: &Value,
        path: &str,
        depth: usize,
    ) -> Result<(), Mismatch> {
        let list = |key: &str| rules.get(key).and_then(Value::as_array);
        for schema in list("allOf").into_iter().flatten() {
            self.check(schema, value, path, depth + 1)?;
        }
        for (key, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
            let Some(schemas) = list(key) else { continue };
            let (mut fitting, mut first) = (0, None);
            for schema in schemas {
                match self.check(schema, value, path, depth + 1) {
                    Ok(()) => fitting += 1,
                    Err(Mismatch::Limit) => return Err(Mismatch::Limit),
                    Err(found) => first = first.or(Some(found)),
                }
            }
            match first {
                Some(found) if fitting == 0 && schemas.len() == 1 => return Err(found),
                _ if fitting == 0 && !schemas.is_empty() => {
                    return Err(mismatch(path, "matches none of the alternatives of its schema"));
                }
                _ if fitting > most => return Err(mismatch(path, "matches several alternatives of its schema")),
                _ => {}
            }
        }
        match rules.get("not") {
            Some(schema) if self.check(schema, value, path, depth + 1).is_ok() => {
                Err(mismatch(path, "has a value that its schema excludes"))
            }
            _ => Ok(()),
        }
    }
}

fn check_type(rules: &Map<String, Value>, value: &Value, path: &str) -> Result<(), Mismatch> {
    let wanted: Vec<&str> = match rules.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    let is_whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
    let fits = |name: &&str| match *name {
        "integer" => value.is_number() && is_whole,
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => true,
    };
    if wanted.is_empty() || wanted.iter().any(fits) {
        return Ok(());
    }
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) if is_whole => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    Err(mismatch(path, &format!("must be {}, not {found}", wanted.join(" or "))))
}

/// Checks `enum` and `const`.
fn check_values(rules: &Map<String, Value>, value: &Value, path: &str) -> Result<(), Mismatch> {
    let single = rules.get("const").map(std::slice::from_ref);
    for allowed in rules.get("enum").and_then(Value::as_array).map(Vec::as_slice).into_iter().chain(single) {
        if !allowed.contains(value) {
            let listed: Vec<String> = allowed.iter().take(MAX_LISTED).map(Value::to_string).collect();
            return Err(mismatch(path, &format!("must be one of {}", listed.join(", "))));
        }
    }
    Ok(())
}

fn check_number(rules: &Map<String, Value>, number: f64, path: &str) -> Result<(), Mismatch> {
    let limit = |key: &str| rules.get(key).and_then(Value::as_f64);
    type Accepts = fn(f64, f64) -> bool;
    let limits: [(&str, Accepts, &str); 4] = [
        ("minimum", |number, least| number >= least, "at least"),
        ("maximum", |number, most| number <= most, "at most"),
        ("exclusiveMinimum", |number, least| number > least, "more than"),
        ("exclusiveMaximum", |number, most| number < most, "less than"),
    ];
    for (key, fits, relation) in limits {
        if let Some(limit) = limit(key).filter(|limit| !fits(number, *limit)) {
            return Err(mismatch(path, &format!("must be {relation} {limit}")));
        }
    }
    match limit("multipleOf").filter(|unit| *unit > 0.0) {
        Some(unit) if ((number / unit).round() * unit - number).abs() > 1e-9 * number.abs().max(1.0) => {
            Err(mismatch(path, &format!("must be a multiple of {unit}")))
        }
        _ => Ok(()),
    }
}

fn check_count(
    rules: &Map<String, Value>,
    keys: [&str; 2],
    count: usize,
    what: &str,
    path: &str,
) -> Result<(), Mismatch> {
    let [least, most] = keys.map(|key| rules.get(key).and_then(Value::as_f64));
    match (least, most) {
        (Some(least), _) if (count as f64) < least => Err(mismatch(path, &format!("needs at least {least} {what}"))),
        (_, Some(most)) if (count as f64) > most => Err(mismatch(path, &format!("has more than {most} {what}"))),
        _ => Ok(()),
    }
}

fn mismatch(path: &str, reason: &str) -> Mismatch {
    Mismatch::Value { path: path.to_owned(), reason: reason.to_owned() }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn validates_keywords() {
        let schema = json!({
            "type": "object", "required": ["id"], "additionalProperties": false,
            "properties": {
                "id": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10, "multipleOf": 2},
                "state": {"enum": ["open", "closed"]},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}, "uniqueItems": true, "maxItems": 2},
                "when": {"$ref": "#/$defs/When"},
                "code": {"type": ["string", "null"], "pattern": "^[a-z]+$"},
                "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]}
            },
            "$defs": {"When": {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]}}
        });
        for (value, expected) in [
            (json!({"id": 2, "state": "open", "tags": ["a"], "when": {"from": "x"}, "code": null, "either": 1}), ""),
            (json!({"id": 2.0}), ""),
            (json!({}), "`id` is required"),
            (json!([]), "the arguments must be object, not array"),
            (json!({"id": "2"}), "`id` must be integer, not string"),
            (json!({"id": 0}), "`id` must be at least 1"),
            (json!({"id": 10}), "`id` must be less than 10"),
            (json!({"id": 3}), "`id` must be a multiple of 2"),
            (json!({"id": 2, "x": 1}), "`x` is unknown; the parameters are id, state, tags, when, code, either"),
            (json!({"id": 2, "state": "gone"}), "`state` must be one of \"open\", \"closed\""),
            (json!({"id": 2, "tags": ["abcd"]}), "`tags[0]` has more than 3 characters"),
            (json!({"id": 2, "tags": ["a", "a"]}), "`tags` contains duplicate items"),
            (json!({"id": 2, "tags": ["a", "b", "c"]}), "`tags` has more than 2 items"),
            (json!({"id": 2, "when": {}}), "`when.from` is required"),
            (json!({"id": 2, "code": "A"}), "`code` does not match the pattern ^[a-z]+$"),
            (json!({"id": 2, "either": true}), "`either` matches none of the alternatives of its schema"),
        ] {
            let found = check(&schema, &value).err().map(|mismatch| mismatch.to_string()).unwrap_or_default();
            assert_eq!(found, expected, "{value}");
        }
    }

    #[test]
    fn recursive_references_end() {
        let endless = json!({"$ref": "#"});
        assert_eq!(check(&endless, &json!(1)), Err(Mismatch::Limit));
        let wide = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]});
        assert_eq!(check(&wide, &json!(1)), Err(Mismatch::Limit));
        let tree = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        assert_eq!(check(&tree, &json!({"next": {"next": {}}})), Ok(()));
        assert_eq!(check(&json!({"$ref": "https://evil.example/schema"}), &json!(1)), Ok(()));
        assert_eq!(check(&json!({"pattern": "(?=x)"}), &json!("y")), Ok(()));
    }
}
