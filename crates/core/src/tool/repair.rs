//! Repairs the arguments of a call where the intent is unambiguous. Everything else is left for the tool to reject.
//!
//! | the schema requires | the caller passed | becomes |
//! |---|---|---|
//! | an object | a text with that object as JSON | the object |
//! | `{name: ...}` | `{"arguments": {name: ...}}` without an argument of that name | the inner object |
//! | one list of objects as the only required argument | one such object, or the list itself | the list under its name |
//! | a name | one with different case or punctuation, one typo, or a common synonym | the name, with a note |
//! | an enum value | its plural or singular, in any case | the value |
//! | a list | a text with that list as JSON | the list |
//! | a list | one item | a list of that item |
//! | a number, a boolean | a text with that value | the number, the boolean |
//! | a text | a number or a boolean, or a list of one text | the text |
//! | an optional value | null | nothing |

use serde_json::{Map, Value, json};

use super::ToolSpec;
use crate::{
    mark::clean_name,
    name::{is_slip, normalize},
};

/// Names under which models wrap all arguments.
const WRAPPERS: [&str; 6] = ["arguments", "args", "input", "parameters", "params", "properties"];

/// Synonyms of argument names. A name in several groups means an argument of the first one that has any.
const SYNONYMS: [&[&str]; 6] = [
    &["sql", "query", "statement"],
    &["question", "query", "term", "text", "search", "q", "prompt"],
    &["ids", "id", "name", "names", "table", "tables"],
    &["of", "kind", "kinds", "type", "types"],
    &["limit", "max_results", "top_k", "count", "n", "k"],
    &["database", "db", "source"],
];

/// The maximum number of notes on one call.
const MAX_NOTES: usize = 5;

/// Returns the tool name that was unambiguously intended: case, spaces and a prefix such as `functions.` are ignored.
pub fn repair_name<'a>(name: &'a str, specs: &'a [ToolSpec]) -> &'a str {
    if specs.iter().any(|spec| spec.name == name) {
        return name;
    }
    let bare = name.trim().rsplit(['.', ':', '/']).next().unwrap_or_default().trim();
    let mut meant = specs.iter().filter(|spec| !bare.is_empty() && spec.name.eq_ignore_ascii_case(bare));
    match (meant.next(), meant.next()) {
        (Some(spec), None) => &spec.name,
        _ => name,
    }
}

/// Repaired arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Repaired {
    /// The arguments.
    pub arguments: Value,
    /// Notes for the caller on what was interpreted differently, one sentence each.
    pub notes: Vec<String>,
}

/// Returns arguments that match the schema, as far as the intent is unambiguous.
pub fn repair_arguments(arguments: Value, schema: &Value) -> Repaired {
    let mut arguments = match arguments {
        Value::String(text) => match serde_json::from_str::<Value>(&text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
            _ => Value::String(text),
        },
        other => other,
    };
    let has = |name: &str| schema["properties"].get(name).is_some();
    if let Value::Object(fields) = &arguments
        && let Some((name, inner)) = fields.iter().next().filter(|_| fields.len() == 1)
        && WRAPPERS.contains(&name.as_str())
        && !has(name)
    {
        let inner = match inner {
            Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            other => other.clone(),
        };
        if inner.is_object() {
            arguments = inner;
        }
    }
    if let Some((name, items)) = find_only_list(schema) {
        let is_item = |value: &Value| {
            value.as_object().is_some_and(|fields| {
                let properties = items["properties"].as_object();
                let is_known = |key: &String| {
                    properties.is_some_and(|all| all.contains_key(key) || find_meant(key, fields, all).is_some())
                };
                !fields.is_empty() && fields.keys().all(is_known)
            })
        };
        let wrapped = match &arguments {
            Value::Object(_) if is_item(&arguments) && !has_any(&arguments, schema) => Some(json!([arguments])),
            Value::Array(list) if !list.is_empty() && list.iter().all(is_item) => Some(arguments.clone()),
            _ => None,
        };
        if let Some(list) = wrapped {
            let mut fields = Map::new();
            fields.insert(name.to_owned(), list);
            arguments = fields.into();
        }
    }
    let mut notes = Vec::new();
    repair_object(&mut arguments, schema, &mut notes);
    Repaired { arguments, notes }
}

fn has_any(arguments: &Value, schema: &Value) -> bool {
    arguments.as_object().into_iter().flat_map(Map::keys).any(|key| schema["properties"].get(key).is_some())
}

/// Returns the only required argument, if it is a list of objects.
fn find_only_list(schema: &Value) -> Option<(&str, &Value)> {
    let required = schema["required"].as_array().filter(|required| required.len() == 1)?;
    let name = required[0].as_str()?;
    let field = &schema["properties"][name];
    (field["type"] == "array" && field["items"]["type"] == "object").then(|| (name, &field["items"]))
}

/// Repairs the names and values of an object's fields.
fn repair_object(value: &mut Value, schema: &Value, notes: &mut Vec<String>) {
    let (Some(fields), Some(properties)) = (value.as_object_mut(), schema["properties"].as_object()) else { return };
    let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    fields.retain(|name, value| !value.is_null() || required(name) || !properties.contains_key(name));
    let unknown: Vec<String> = fields.keys().filter(|name| !properties.contains_key(*name)).cloned().collect();
    for name in unknown {
        let Some(meant) = find_meant(&name, fields, properties) else { continue };
        if notes.len() < MAX_NOTES {
            notes.push(format!("`{}` was interpreted as `{meant}`", clean_name(&name)));
        }
        if let Some(value) = fields.shift_remove(&name) {
            fields.insert(meant, value);
        }
    }
    for (name, value) in fields.iter_mut() {
        if let Some(schema) = properties.get(name) {
            repair_field(value, schema, notes);
        }
    }
}

/// Returns the only missing argument whose name matches except for case, punctuation or one typo, or else by a synonym.
fn find_meant(name: &str, fields: &Map<String, Value>, properties: &Map<String, Value>) -> Option<String> {
    let free = || properties.keys().filter(|known| !fields.contains_key(*known));
    let lower = name.to_lowercase();
    let is_same = |known: &str| normalize(known) == normalize(name);
    let is_near = |known: &str| is_slip(name, known);
    let near: [&dyn Fn(&str) -> bool; 2] = [&is_same, &is_near];
    let near = near.iter().map(|is_meant| free().filter(|known| is_meant(known)).collect::<Vec<_>>());
    let groups = SYNONYMS.iter().filter(|group| group.contains(&lower.as_str()));
    let synonyms = groups.map(|group| free().filter(|known| group.contains(&known.as_str())).collect());
    match near.chain(synonyms).find(|found| !found.is_empty()).unwrap_or_default().as_slice() {
        [meant] => Some((*meant).clone()),
        _ => None,
    }
}

fn repair_field(value: &mut Value, schema: &Value, notes: &mut Vec<String>) {
    let Some(wanted) = schema["type"].as_str() else { return };
    let parsed = |value: &Value| value.as_str().and_then(|text| serde_json::from_str::<Value>(text.trim()).ok());
    match wanted {
        "array" => {
            if value.is_string()
                && let Some(list @ Value::Array(_)) = parsed(value)
            {
                *value = list;
            } else if !value.is_array() && fits(value, schema["items"]["type"].as_str()) {
                *value = json!([value.take()]);
            }
            for item in value.as_array_mut().into_iter().flatten() {
                repair_field(item, &schema["items"], notes);
            }
        }
        "object" => {
            if let Some(found @ Value::Object(_)) = parsed(value) {
                *value = found;
            }
            repair_object(value, schema, notes);
        }
        "integer" | "number" => {
            let is_wanted = |n: &Value| n.is_i64() || n.is_u64() || (wanted == "number" && n.is_number());
            if let Some(number) = parsed(value).filter(is_wanted) {
                *value = number;
            } else if wanted == "integer"
                && let Some(whole) = value.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 9e15)
                && !value.is_i64()
                && !value.is_u64()
            {
                *value = json!(whole as i64);
            }
        }
        "boolean" => match value.as_str().map(|text| text.trim().to_lowercase()).as_deref() {
            Some("true") => *value = json!(true),
            Some("false") => *value = json!(false),
            _ => {}
        },
        "string" if value.is_number() || value.is_boolean() => *value = json!(value.to_string()),
        "string" => {
            if let Some([only @ Value::String(_)]) = value.as_array().map(Vec::as_slice) {
                *value = only.clone();
            }
            let known = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let bare = |text: &str| text.trim().trim_end_matches('s').to_lowercase();
            let meant = value.as_str().and_then(|given| known.into_iter().find(|known| bare(known) == bare(given)));
            if let Some(meant) = meant {
                *value = json!(meant);
            }
        }
        _ => {}
    }
}

fn fits(value: &Value, wanted: Option<&str>) -> bool {
    match wanted {
        Some("string") => value.is_string(),
        Some("object") => value.is_object(),
        Some("integer" | "number") => value.is_number(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> ToolSpec {
        let query = json!({"type": "object", "properties": {"sql": {"type": "string"}, "cap": {"type": "integer"}},
                           "required": ["sql"]});
        ToolSpec {
            name: "execute_sql".into(),
            description: String::new(),
            input_schema: json!({"type": "object", "required": ["queries"], "properties": {
                "queries": {"type": "array", "items": query}, "names": {"type": "array", "items": {"type": "string"}},
                "limit": {"type": "integer"}, "all": {"type": "boolean"}}}),
        }
    }

    fn check(given: Value, expected: Value) {
        let repaired = repair_arguments(given.clone(), &spec().input_schema);
        assert_eq!((repaired.arguments, repaired.notes.len()), (expected, 0), "{given}");
    }

    #[test]
    fn repairs_unambiguous_names_with_a_note() {
        let check = |given: Value, expected: Value, note: &str| {
            let repaired = repair_arguments(given.clone(), &spec().input_schema);
            assert_eq!((repaired.arguments, repaired.notes), (expected, vec![note.to_owned()]), "{given}");
        };
        check(json!({"quries": []}), json!({"queries": []}), "`quries` was interpreted as `queries`");
        check(
            json!({"queries": [], "Limit": "5"}),
            json!({"queries": [], "limit": 5}),
            "`Limit` was interpreted as `limit`",
        );
        check(
            json!({"queries": [{"sql": "", "CAP": 2}]}),
            json!({"queries": [{"sql": "", "cap": 2}]}),
            "`CAP` was interpreted as `cap`",
        );
        // A note is not repeated for each item.
        let many: Vec<Value> = (0..1_000).map(|_| json!({"SQL": ""})).collect();
        assert_eq!(repair_arguments(json!({"queries": many}), &spec().input_schema).notes.len(), MAX_NOTES);
    }

    #[test]
    fn accepts_synonyms_and_plurals() {
        let check = |given: Value, schema: &Value, expected: Value| {
            assert_eq!(repair_arguments(given.clone(), schema).arguments, expected, "{given}");
        };
        let whole = json!({"queries": [{"sql": "SELECT 1"}]});
        check(json!({"query": "SELECT 1"}), &spec().input_schema, whole.clone());
        check(json!({"queries": [{"statement": "SELECT 1"}]}), &spec().input_schema, whole);
        let search = json!({"type": "object", "required": ["query"], "properties": {"query": {"type": "string"},
            "kinds": {"type": "array", "items": {"type": "string", "enum": ["table", "query"]}}}});
        let found = json!({"query": "a", "kinds": ["table", "query"]});
        check(json!({"question": "a", "types": ["Tables", "query"]}), &search, found.clone());
        check(json!({"q": "a", "kind": ["tables", "query"]}), &search, found);
        let asked = json!({"type": "object", "required": ["queries"], "properties": {"queries": {"type": "array", "items":
            {"type": "object", "properties": {"question": {"type": "string"}, "sql": {"type": "string"}}}}}});
        check(json!({"query": "SELECT 1"}), &asked, json!({"queries": [{"sql": "SELECT 1"}]}));
        let listed = json!({"type": "object", "properties": {"of": {"type": "string"}}});
        check(json!({"kinds": ["tables"]}), &listed, json!({"of": "tables"}));
        // An ambiguous name is not repaired.
        let both = json!({"type": "object", "properties": {"term": {"type": "string"}, "text": {"type": "string"}}});
        check(json!({"query": "a"}), &both, json!({"query": "a"}));
    }

    #[test]
    fn repairs_unambiguous_values() {
        let whole = json!({"queries": [{"sql": "SELECT 1"}]});
        check(whole.clone(), whole.clone());
        check(json!(whole.to_string()), whole.clone());
        check(json!({"queries": "[{\"sql\": \"SELECT 1\"}]"}), whole.clone());
        check(json!({"queries": {"sql": "SELECT 1"}}), whole.clone());
        check(json!({"sql": "SELECT 1"}), whole.clone());
        check(json!([{"sql": "SELECT 1"}]), whole.clone());
        check(json!({"arguments": {"queries": [{"sql": "SELECT 1"}]}}), whole.clone());
        check(json!({"input": whole.to_string()}), whole.clone());
        check(json!({"queries": [], "limit": "5", "all": "True"}), json!({"queries": [], "limit": 5, "all": true}));
        check(json!({"queries": [], "names": "a", "limit": 5.0}), json!({"queries": [], "names": ["a"], "limit": 5}));
        check(json!({"queries": [{"sql": 1, "cap": "2"}]}), json!({"queries": [{"sql": "1", "cap": 2}]}));
        check(json!({"queries": [], "limit": null}), json!({"queries": []}));
    }

    #[test]
    fn leaves_ambiguous_values() {
        for given in [
            json!("no JSON"),
            json!(7),
            json!({}),
            json!({"inquiries": []}),
            json!({"queries": [], "quries": []}),
            json!({"queries": [], "al": true}),
            json!({"queries": "SELECT 1"}),
            json!({"queries": [], "limit": "many"}),
            json!({"queries": [], "limit": "1.5"}),
            json!({"sql": "SELECT 1", "other": 1}),
        ] {
            check(given.clone(), given);
        }
    }

    #[test]
    fn repairs_tool_names() {
        let specs = [spec()];
        for given in ["execute_sql", "Execute_SQL", " execute_sql ", "functions.execute_sql"] {
            assert_eq!(repair_name(given, &specs), "execute_sql", "{given}");
        }
        for given in ["", "execute", "functions."] {
            assert_eq!(repair_name(given, &specs), given);
        }
    }
}
