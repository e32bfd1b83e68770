//! Index records of operations, and the resources that results reveal.

use std::collections::{HashSet, VecDeque};

use indexmap::IndexSet;
use prospector_core::Kind;
use prospector_core::record::{Record, Resource, ResourceKind};

use prospector_text::cut;

use crate::{Api, Operation, model::Shape, shape};

/// Maximum length of a description in a list, in characters.
const MAX_DESCRIPTION: usize = 300;

/// Maximum length of the indexed body in bytes.
const MAX_BODY: usize = 2_000;

/// Returns the index record of an operation: name, route, description, parameters and fields.
pub(crate) fn record(api: &Api, operation: &Operation) -> Record {
    let route = operation.route();
    let mut record = Record::new(Kind::Operation, api.id_of(operation), &operation.name);
    record.parent.clone_from(&api.name);
    record.aliases = vec![route.clone(), format!("{} {route}", api.name)];
    record.description = describe(operation, MAX_DESCRIPTION);
    record.body = body(api, operation);
    record
}

/// Returns an API as a revealed resource.
pub(crate) fn api_resource(name: &str) -> Resource {
    Resource::new(ResourceKind::Api, name)
}

/// Returns an API and one of its operations as revealed resources.
pub(crate) fn operation_resources(api: &str, operation: &str) -> Vec<Resource> {
    vec![api_resource(api), Resource::new(ResourceKind::Operation, format!("{api}.{operation}"))]
}

/// Returns the first sentences of the description, marked if the operation is deprecated.
pub(crate) fn describe(operation: &Operation, limit: usize) -> String {
    let text = cut::sentences(&operation.description, limit);
    match (operation.deprecated, text.as_str()) {
        (false, _) => text,
        (true, "") => "Deprecated.".to_owned(),
        (true, _) => format!("Deprecated. {text}"),
    }
}

fn body(api: &Api, operation: &Operation) -> String {
    let mut words = Words { text: String::new(), full: false };
    if operation.description.chars().count() > MAX_DESCRIPTION {
        words.add(&operation.description);
    }
    operation.tags.iter().for_each(|tag| words.add(tag));
    for parameter in &operation.parameters {
        words.add(&format!("{} {}", parameter.name, parameter.description));
    }
    let shapes = [&operation.request_body, &operation.response_schema].into_iter().flatten();
    field_names(api, shapes.collect()).into_iter().for_each(|name| words.add(name));
    words.text
}

struct Words {
    text: String,
    full: bool,
}

impl Words {
    fn add(&mut self, word: &str) {
        let word = word.trim();
        self.full |= self.text.len() + word.len() >= MAX_BODY;
        if !self.full && !word.is_empty() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(word);
        }
    }
}

/// Returns the names of the fields of shapes without duplicates, outermost first.
fn field_names<'a>(api: &'a Api, mut open: VecDeque<&'a Shape>) -> IndexSet<&'a str> {
    /// Maximum numbers of names that fit into a body, and of visited shapes.
    const MAX_NAMES: usize = MAX_BODY / 4;
    const MAX_SHAPES: usize = 2_000;
    let mut names = IndexSet::new();
    let mut entered = HashSet::new();
    for _ in 0..MAX_SHAPES {
        let Some(next) = open.pop_front() else { break };
        match next {
            Shape::Named(name) => {
                if let Some((_, shape)) = shape::find_type(&api.types, name).filter(|(name, _)| entered.insert(*name)) {
                    open.push_back(shape);
                }
            }
            Shape::List(inner) | Shape::Content(_, Some(inner)) => open.push_front(inner),
            Shape::Object { fields, rest, besides } => {
                for field in fields.iter().take(MAX_NAMES) {
                    names.insert(bare(&field.name));
                    open.push_back(&field.shape);
                }
                open.extend(rest.as_deref());
                open.extend(besides);
            }
            Shape::OneOf(variants) | Shape::AnyOf(variants) => open.extend(variants.iter().take(MAX_NAMES)),
            _ => {}
        }
        if names.len() >= MAX_NAMES {
            break;
        }
    }
    names
}

/// Returns the name of a field without its GraphQL arguments.
pub(crate) fn bare(name: &str) -> &str {
    match name.split_once('(') {
        Some((bare, _)) if !bare.is_empty() && name.ends_with(')') => bare,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ApiDiscovery;

    fn check(yaml: &str) -> Record {
        let (discovery, problems) = ApiDiscovery::from_text("shop", &format!("openapi: 3.0.0\npaths: {yaml}"));
        assert_eq!(problems, []);
        discovery.records().remove(0)
    }

    #[test]
    fn record_contains_all_searchable_words() {
        let record = check(
            "{'/orders/{id}/lines': {post: {operationId: addLine, summary: Adds a line, tags: [Lines], deprecated: true,
               parameters: [{name: id, in: path, description: The order, schema: {type: integer}}],
               requestBody: {content: {application/json: {schema: {required: [sku], properties: {sku: {type: string}}}}}},
               responses: {'200': {description: ok, content: {application/json: {schema: {oneOf: [
                  {properties: {total: {type: number}}}, {properties: {parts: {additionalProperties: {properties: {mass: {}}}}}}]}}}}}}}}",
        );
        assert_eq!(
            serde_json::to_value(&record).unwrap(),
            json!({
                "id": "shop.addLine", "kind": "operation", "parent": "shop", "name": "addLine",
                "aliases": ["POST /orders/{id}/lines", "shop POST /orders/{id}/lines"],
                "description": "Deprecated. Adds a line",
                "body": "Lines\nid The order\nsku\ntotal\nparts\nmass"
            })
        );
    }

    #[test]
    fn record_has_limited_size() {
        let words = "Very long words indeed. ".repeat(500);
        let parameters: Vec<String> =
            (0..200).map(|n| format!("{{name: p{n}, in: query, description: {words}, schema: {{}}}}")).collect();
        let record =
            check(&format!("{{/a: {{get: {{description: {words}, parameters: [{}]}}}}}}", parameters.join(",")));
        assert!(record.description.len() <= MAX_DESCRIPTION && record.description.len() > MAX_DESCRIPTION / 2);
        assert!(record.body.len() <= MAX_BODY && record.body.len() > MAX_BODY / 2);
    }
}
