//! The schema accepts exactly what the parsers accept.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::catalog::file::parse;

fn schema() -> Value {
    serde_json::from_str(&text()).unwrap()
}

/// Returns whether a schema accepts a value, by the keywords of draft 7 used here; any other fails the test.
fn accepts(root: &Value, schema: &Value, value: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return schema == &Value::Bool(true) };
    let list = |of: &Value| of.as_array().cloned().unwrap_or_default();
    let has = |key: &Value| value.get(key.as_str().unwrap_or_default()).is_some();
    schema.iter().all(|(keyword, of)| match keyword.as_str() {
        "$schema" | "title" | "description" | "definitions" | "default" | "format" => true,
        "$ref" => {
            let pointer = of.as_str().unwrap().trim_start_matches('#');
            accepts(root, root.pointer(pointer).unwrap(), value)
        }
        "type" => {
            let kinds = if of.is_array() { list(of) } else { vec![of.clone()] };
            kinds.iter().any(|kind| match kind.as_str().unwrap() {
                "null" => value.is_null(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_u64() || value.is_i64(),
                "number" => value.is_number(),
                "string" => value.is_string(),
                "array" => value.is_array(),
                "object" => value.is_object(),
                other => panic!("the type {other} is not known"),
            })
        }
        "enum" => list(of).contains(value),
        "const" => of == value,
        "anyOf" => list(of).iter().any(|one| accepts(root, one, value)),
        "allOf" => list(of).iter().all(|one| accepts(root, one, value)),
        "oneOf" => list(of).iter().filter(|one| accepts(root, one, value)).count() == 1,
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| accepts(root, of, item))),
        "minimum" => value.as_f64().is_none_or(|number| number >= of.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|number| number <= of.as_f64().unwrap()),
        "required" => !value.is_object() || list(of).iter().all(has),
        "properties" => of
            .as_object()
            .unwrap()
            .iter()
            .all(|(key, one)| value.get(key).is_none_or(|inner| accepts(root, one, inner))),
        "additionalProperties" => {
            let known = schema.get("properties").and_then(Value::as_object);
            let is_known = |key: &String| known.is_some_and(|known| known.contains_key(key));
            of != &Value::Bool(false) || value.as_object().is_none_or(|object| object.keys().all(is_known))
        }
        "dependencies" => {
            of.as_object().unwrap().iter().all(|(key, needed)| value.get(key).is_none() || list(needed).iter().all(has))
        }
        other => panic!("the keyword {other} is not known"),
    })
}

/// Returns the keys that a parser accepts, from its message about an unknown key.
fn keys_of_reader(yaml: &str) -> BTreeSet<String> {
    let (_, problems) = parse(Path::new("c.yaml"), yaml, &|_| None).unwrap();
    let advice = problems.iter().filter_map(|problem| problem.advice.as_deref());
    let keys = advice.filter_map(|advice| advice.split_once("the keys are ")).map(|(_, keys)| keys).next();
    keys.unwrap_or_else(|| panic!("{yaml}: {problems:?}")).split(", ").map(str::to_owned).collect()
}

#[test]
fn the_schema_has_the_keys_of_the_parsers() {
    let schema = schema();
    let check = |yaml: &str, pointer: &str| {
        let properties = schema.pointer(pointer).and_then(Value::as_object).unwrap_or_else(|| panic!("{pointer}"));
        let keys: BTreeSet<String> = properties.keys().cloned().collect();
        assert_eq!(keys, keys_of_reader(yaml), "{pointer}");
    };
    let definition = |name: &str| format!("/definitions/{name}/properties");
    check("zzz: 1", "/properties");
    check("databases: [{zzz: 1}]", &definition("DatabaseEntry"));
    check("databases: [{bigquery: {zzz: 1}}]", &definition("BigqueryEntry"));
    check("databases: [{path: a.csv, values: {zzz: 1}}]", &definition("ValuesSettings"));
    check("apis: [{zzz: 1}]", &definition("ApiEntry"));
    check("documents: [{zzz: 1}]", &definition("DocumentEntry"));
    check("facts: [{zzz: 1}]", &definition("FactEntry"));
    check("skills: [{zzz: 1}]", &definition("FolderEntry"));
    check("entities: [{zzz: 1}]", &definition("EntityEntry"));
    check("joins: [{zzz: 1}]", &definition("JoinEntry"));
    check("dimensions: [{zzz: 1}]", &definition("DimensionEntry"));
    check("metrics: [{zzz: 1}]", &definition("MetricEntry"));
    check("segments: [{zzz: 1}]", &definition("SegmentEntry"));
    check("verified_queries: [{zzz: 1}]", &definition("FolderEntry"));
    check("context_preload: {zzz: 1}", &definition("PreloadSettings"));
    check("fetch: {zzz: 1}", &definition("FetchEntry"));
    check("web_search: {zzz: 1}", &definition("WebSearchEntry"));
}

#[test]
fn the_schema_lists_all_types() {
    let names = |name: &str| -> BTreeSet<String> {
        let schema = schema();
        let named = schema["definitions"][name]["properties"]["type"]["enum"].as_array().cloned().unwrap_or_default();
        named.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let kinds = prospector_connect::source::SourceKind::ALL.iter().map(|kind| kind.as_str().to_owned());
    assert_eq!(names("DatabaseEntry"), kinds.collect());
    let kinds = prospector_api::ApiKind::ALL.iter().map(|kind| kind.as_str().to_owned());
    assert_eq!(names("ApiEntry"), kinds.collect());
}

#[test]
fn accepts_the_sample_and_rejects_mistakes() {
    let root = schema();
    let is_valid = |yaml: &str| {
        let value: Value = serde_saphyr::from_str(yaml).unwrap();
        accepts(&root, &root, &value)
    };
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/catalog.yaml");
    assert!(is_valid(&std::fs::read_to_string(sample).unwrap()));
    assert!(is_valid("databases:\napis: []\nqueries: true\ninstructions: Be brief.\n"));
    for mistake in [
        "databses: []",
        "databases: {path: a.csv}",
        "databases: [{pth: a.csv}]",
        "databases: [{name: a}]",
        "databases: [{path: a.csv, url: 'postgres://db/a'}]",
        "databases: [{path: a.csv, schemas: [public]}]",
        "databases: [{path: a.csv, tables: orders}]",
        "databases: [{path: a.csv, type: exel}]",
        "databases: [{path: a.csv, token: x}]",
        "databases: [{elasticsearch: 'https://x', user: ada}]",
        "databases: [{path: a.csv, values: {max_per_column: 0}}]",
        "databases: [{bigquery: {project: a}}]",
        "databases: [{bigquery: {token: a}}]",
        "apis: [{name: shop}]",
        "apis: [{path: a.yaml, type: soap}]",
        "apis: [{path: a.yaml, headers: ['A: b']}]",
        "apis: [{path: a.yaml, invoke: sometimes}]",
        "apis: [{path: a.yaml, reads: search}]",
        "documents: [{name: a}]",
        "documents: [{content: a text}]",
        "documents: [{path: a.md, url: 'https://x'}]",
        "documents: [{path: a.md, space: OPS}]",
        "facts: [{term: whale}]",
        "facts: [{term: x, definition: y, confidence: 2}]",
        "facts: [{term: x, definition: false}]",
        "skills: [skills]",
        "segments: [{name: a, entity: b}]",
        "segments: [{name: a, entity: b, filter: 'x = 1', query: q}]",
        "segments: [{name: a, entity: b, filter: 'x = 1', where: 'y = 1'}]",
        "context_preload: {seed_patterns: orders}",
        "queries: sometimes",
        "fetch: {alow: []}",
        "web_search: {token: x}",
    ] {
        assert!(!is_valid(mistake), "{mistake}");
    }
}
