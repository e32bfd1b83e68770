//! What is indexed of an operation.

use prospector_core::{Kind, Record};
use serde_json::Value;

use crate::{Api, Operation, prose};

/// How long a description is where it is one of many, in characters.
const DESCRIPTION: usize = 300;

/// How long the indexed body is, in bytes.
const BODY: usize = 2_000;

/// The record of an operation: found by its name, its route, its words, its parameters and its fields.
pub(crate) fn record(api: &Api, operation: &Operation) -> Record {
    let route = operation.route();
    let mut record = Record::new(Kind::Operation, api.id_of(operation), &operation.name);
    record.parent.clone_from(&api.name);
    record.aliases = vec![route.clone(), format!("{} {route}", api.name)];
    record.description = described(operation, DESCRIPTION);
    record.body = body(operation);
    record
}

/// The first sentences of the description; they say when an operation is deprecated.
pub(crate) fn described(operation: &Operation, limit: usize) -> String {
    let text = prose::opening(&operation.description, limit);
    match (operation.deprecated, text.as_str()) {
        (false, _) => text,
        (true, "") => "Deprecated.".to_owned(),
        (true, _) => format!("Deprecated. {text}"),
    }
}

fn body(operation: &Operation) -> String {
    let mut words = Words { text: String::new(), full: false };
    if operation.description.chars().count() > DESCRIPTION {
        words.add(&operation.description);
    }
    operation.tags.iter().for_each(|tag| words.add(tag));
    for parameter in &operation.parameters {
        words.add(&format!("{} {}", parameter.name, parameter.description));
    }
    let mut names = Vec::new();
    for shape in [&operation.request_body, &operation.response_schema].into_iter().flatten() {
        field_names(shape, &mut names);
    }
    names.iter().for_each(|name| words.add(name));
    words.text
}

struct Words {
    text: String,
    full: bool,
}

impl Words {
    fn add(&mut self, word: &str) {
        let word = word.trim();
        self.full |= self.text.len() + word.len() >= BODY;
        if !self.full && !word.is_empty() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(word);
        }
    }
}

/// The names of the fields of a shape, each once; keys with `$` are remarks, not names.
fn field_names<'a>(shape: &'a Value, names: &mut Vec<&'a str>) {
    match shape {
        Value::Object(fields) => {
            for (name, value) in fields {
                let variants = matches!(name.as_str(), "$one_of" | "$any_of" | "$body" | "*");
                if !variants && name.starts_with('$') {
                    continue;
                }
                if !variants && !names.contains(&name.as_str()) {
                    names.push(name);
                }
                field_names(value, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| field_names(item, names)),
        _ => {}
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
    fn a_record_holds_every_word_that_may_be_asked_for() {
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
    fn a_record_is_bounded() {
        let words = "Very long words indeed. ".repeat(500);
        let parameters: Vec<String> =
            (0..200).map(|n| format!("{{name: p{n}, in: query, description: {words}, schema: {{}}}}")).collect();
        let record =
            check(&format!("{{/a: {{get: {{description: {words}, parameters: [{}]}}}}}}", parameters.join(",")));
        assert!(record.description.len() <= DESCRIPTION && record.description.len() > DESCRIPTION / 2);
        assert!(record.body.len() <= BODY && record.body.len() > BODY / 2);
    }
}
