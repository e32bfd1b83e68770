//! Compares the parser with the crate `openapiv3`: both find the same operations with the same methods, paths, ids
//! and parameters.
//!
//! `openapiv3` parses version 3.0 into types and rejects a description for a single error; this crate skips invalid
//! parts. They must agree on descriptions that both accept. `PROSPECTOR_TEST_OPENAPI` may name a folder with more of
//! them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

use openapiv3::{OpenAPI, Parameter, ReferenceOr};
use prospector_api::ApiDiscovery;

/// By method and path: the operation id, and location and name of its parameters.
type Operations = BTreeMap<(String, String), (Option<String>, BTreeSet<(String, String)>)>;

/// Descriptions of features that are easily misread: shared and overridden parameters, references, every method.
const TRICKY: [&str; 2] = [
    r##"
openapi: 3.0.3
info: {title: Shared, version: "1"}
paths:
  /orders/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer}}
      - {name: lang, in: query, schema: {type: string}}
      - $ref: "#/components/parameters/Trace"
    get:
      operationId: getOrder
      parameters:
        - {name: lang, in: query, required: true, schema: {type: string, enum: [en, de]}}
        - {name: lang, in: cookie, schema: {type: string}}
      responses: {default: {description: It}}
    put: {responses: {default: {description: It}}}
    delete: {operationId: removeOrder, deprecated: true, responses: {"204": {description: Gone}}}
components:
  parameters:
    Trace: {name: X-Trace, in: header, schema: {type: string}}
"##,
    r##"
openapi: 3.0.0
info: {title: Methods, version: "1"}
paths:
  /a:
    get: {operationId: a_get, responses: {default: {description: It}}}
    post: {operationId: a_post, responses: {default: {description: It}}}
    put: {operationId: a_put, responses: {default: {description: It}}}
    patch: {operationId: a_patch, responses: {default: {description: It}}}
    delete: {operationId: a_delete, responses: {default: {description: It}}}
    head: {operationId: a_head, responses: {default: {description: It}}}
    options: {operationId: a_options, responses: {default: {description: It}}}
    trace: {operationId: a_trace, responses: {default: {description: It}}}
  /a/{b}/c/{d}:
    get:
      parameters:
        - {name: d, in: path, required: true, schema: {type: string}}
        - {name: b, in: path, required: true, schema: {type: string}}
        - {name: filter, in: query, content: {application/json: {schema: {type: object}}}}
      responses: {default: {description: It}}
"##,
];

/// Parses with `openapiv3`; `None` if it rejects the description.
fn read_by_oracle(text: &str) -> Option<Operations> {
    let tree: serde_json::Value = serde_saphyr::from_str(text).ok()?;
    if !tree["openapi"].as_str().is_some_and(|version| version.starts_with("3.0")) {
        return None;
    }
    let api: OpenAPI = serde_json::from_value(tree).ok()?;
    let shared = api.components.as_ref().map(|components| &components.parameters);
    let resolve = |parameter: &ReferenceOr<Parameter>| match parameter {
        ReferenceOr::Item(parameter) => Some(parameter.clone()),
        ReferenceOr::Reference { reference } => {
            let name = reference.strip_prefix("#/components/parameters/")?;
            shared?.get(name)?.as_item().cloned()
        }
    };
    let named = |parameters: &[ReferenceOr<Parameter>]| -> BTreeSet<(String, String)> {
        let place = |parameter: &Parameter| match parameter {
            Parameter::Query { .. } => "query",
            Parameter::Header { .. } => "header",
            Parameter::Path { .. } => "path",
            Parameter::Cookie { .. } => "cookie",
        };
        let all = parameters.iter().filter_map(resolve);
        all.map(|parameter| (place(&parameter).to_owned(), parameter.parameter_data_ref().name.clone())).collect()
    };
    let mut operations = Operations::new();
    for (path, item) in &api.paths.paths {
        let Some(item) = item.as_item() else { continue };
        for (method, operation) in item.iter() {
            let parameters = &named(&item.parameters) | &named(&operation.parameters);
            operations.insert((method.to_uppercase(), path.clone()), (operation.operation_id.clone(), parameters));
        }
    }
    Some(operations)
}

/// Checks that both parsers agree; returns `false` if the oracle rejects the description.
fn check(place: &str, text: &str) -> bool {
    let Some(expected) = read_by_oracle(text) else { return false };
    let (discovery, problems) = ApiDiscovery::from_text("api", text);
    assert_eq!(discovery.apis().len(), 1, "{place}: {problems:?}");
    let mut found = Operations::new();
    for operation in &discovery.apis()[0].operations {
        let place = |location| serde_json::to_value(location).unwrap().as_str().unwrap().to_owned();
        let parameters = operation.parameters.iter().map(|p| (place(p.location), p.name.clone())).collect();
        let key = (operation.method.clone(), operation.path.clone());
        let id = expected.get(&key).and_then(|(id, _)| id.clone()).map(|_| operation.name.clone());
        found.insert(key, (id, parameters));
    }
    assert_eq!(found, expected, "{place}");
    true
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the JSON and YAML files below a folder.
fn descriptions(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if path.is_dir() {
            found.extend(descriptions(&path));
        } else if ["json", "yaml", "yml"].contains(&extension) {
            found.push(path);
        }
    }
    found
}

#[test]
fn parsers_agree() {
    for text in TRICKY {
        assert!(check("a description of this test", text), "it is valid: {text}");
    }
    let shop = fs::read_to_string(root().join("catalog/apis/shop.openapi.yaml")).unwrap();
    assert!(check("the API of the sample catalog", &shop));
}

#[test]
fn parsers_agree_on_further_descriptions() {
    let mut folders = vec![root().join("fuzz/seeds/openapi")];
    folders.extend(env::var_os("PROSPECTOR_TEST_OPENAPI").map(PathBuf::from));
    let (mut read, mut refused) = (0, 0);
    for path in folders.iter().flat_map(|folder| descriptions(folder)) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        match check(&path.display().to_string(), &text) {
            true => read += 1,
            false => refused += 1,
        }
    }
    println!("{read} descriptions are read alike, {refused} are not valid 3.0");
}
