//! The parameters of an operation as they are shown: with what gives their values, as far as there is room, and in a call.

use prospector_text::cut;
use serde_json::{Map, Value, json};

use crate::{
    Api, Operation,
    identifier::find_givers,
    model::Parameter,
    shape::{Fitted, bytes},
};

/// All values of a parameter are listed if it has at most this many.
const MAX_VALUES: usize = 20;

/// A day, in a call that shows how one is written.
const DAY: &str = "2024-01-31";

/// A parameter, and the operations that give its value where it must be passed and identifies something.
pub(super) struct ShownParameter<'a> {
    pub(super) parameter: &'a Parameter,
    pub(super) given_by: Vec<&'a str>,
}

impl<'a> ShownParameter<'a> {
    pub(super) fn of(api: &'a Api, operation: &'a Operation) -> Vec<ShownParameter<'a>> {
        let shown = |parameter| ShownParameter { parameter, given_by: find_givers(api, operation, parameter) };
        operation.parameters.iter().map(shown).collect()
    }

    pub(super) fn render(&self, words: usize, values: usize) -> Value {
        let mut told = self.parameter.clone();
        told.description = if words == 0 { String::new() } else { cut::sentences(&told.description, words) };
        if told.values.len() > values {
            let more = told.values.len() - values;
            told.values.truncate(values);
            told.values.push(json!(format!("… {more} more: part {}", told.name)));
        }
        let mut told = json!(told);
        if !self.given_by.is_empty() {
            told["given_by"] = json!(self.given_by);
        }
        told
    }
}

/// The parameters, with as many words on each as there is room for; where even their bare names are too many, those
/// that must be passed first, then how many there are besides.
pub(super) fn list_parameters(parameters: &[ShownParameter<'_>], room: usize) -> Fitted {
    for (words, values) in [(200, MAX_VALUES), (80, MAX_VALUES), (40, 6), (0, 3)] {
        let value: Value = parameters.iter().map(|shown| shown.render(words, values)).collect();
        if bytes(&value) <= room {
            let cut = parameters.iter().any(|shown| {
                shown.parameter.description.chars().count() > words || shown.parameter.values.len() > values
            });
            return Fitted { value, cut };
        }
    }
    let mut order: Vec<&ShownParameter<'_>> = parameters.iter().collect();
    order.sort_by_key(|shown| !shown.parameter.required);
    let mut kept = Vec::new();
    let mut used = 48;
    for shown in &order {
        let value = shown.render(0, 3);
        used += bytes(&value) + 1;
        if used > room {
            break;
        }
        kept.push(value);
    }
    let left: Vec<&str> = order.iter().skip(kept.len()).map(|shown| shown.parameter.name.as_str()).collect();
    let mut remark = format!("{} more", left.len());
    let used = bytes(&Value::Array(kept.clone())) + 24;
    let mut names = String::new();
    for name in &left {
        if used + names.len() + name.len() + 2 > room {
            break;
        }
        names.push_str(if names.is_empty() { ": " } else { ", " });
        names.push_str(name);
    }
    remark.push_str(&names);
    kept.push(json!({ "$cut": remark }));
    Fitted { value: Value::Array(kept), cut: true }
}

/// A call with everything that has to be passed, as a plan writes it: `{"operation": "shop.getOrder", "arguments": {"id": 1}}`.
pub(super) fn example(api: &Api, operation: &Operation) -> Value {
    let required = operation.parameters.iter().filter(|one| one.required);
    let arguments: Map<String, Value> = required.map(|one| (one.name.clone(), example_value(one))).collect();
    json!({"operation": api.id_of(operation), "arguments": arguments})
}

/// A value that a parameter takes: what it is without one, the first that is listed, or one of its type.
fn example_value(parameter: &Parameter) -> Value {
    let listed = parameter.default.as_ref().or(parameter.values.first()).cloned();
    let kind = parameter.r#type.to_lowercase();
    let is_list = kind.starts_with("array") || kind.starts_with('[');
    let value = listed.unwrap_or_else(|| match () {
        () if kind.contains("int") => json!(1),
        () if kind.contains("number") || kind.contains("float") => json!(1.5),
        () if kind.contains("bool") => json!(true),
        () if kind.contains("date") => json!(DAY),
        () => json!("..."),
    });
    if is_list && !value.is_array() { json!([value]) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ApiSource;

    #[test]
    fn a_call_shows_how_arguments_are_written() {
        let text = "openapi: 3.0.0\npaths:\n  /orders/{id}:\n    get:\n      operationId: getOrder\n      responses: {'200': {description: x}}\n      \
                    parameters:\n      - {name: id, in: path, required: true, schema: {type: integer}}\n      \
                    - {name: day, in: query, required: true, schema: {type: string, format: date}}\n      \
                    - {name: fields, in: query, required: true, schema: {type: array, items: {type: string, enum: [lines, total]}}}\n      \
                    - {name: api_key, in: query, required: true, schema: {type: string}}\n      \
                    - {name: page, in: query, schema: {type: integer}}\n";
        let (api, problems) = ApiSource::new("shop", "").read(text).unwrap();
        assert_eq!(problems, []);
        let arguments = json!({"id": 1, "day": DAY, "fields": ["lines"]});
        let expected = json!({"operation": "shop.getOrder", "arguments": arguments});
        assert_eq!(example(&api, &api.operations[0]), expected);
    }
}
