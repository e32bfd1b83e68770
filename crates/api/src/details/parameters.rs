//! Renders the parameters of an operation, with the operations that return their values, and an example call.

use prospector_text::cut;
use serde_json::{Map, Value, json};

use crate::{
    Api, Operation,
    identifier::find_providers,
    model::Parameter,
    shape::{Fitted, bytes},
};

/// Maximum number of values of a parameter that are all listed.
const MAX_VALUES: usize = 20;

/// A date in example calls.
const DAY: &str = "2024-01-31";

/// A parameter, and the operations that return its value if it is a required identifier.
pub(super) struct ShownParameter<'a> {
    pub(super) parameter: &'a Parameter,
    pub(super) given_by: Vec<&'a str>,
}

impl<'a> ShownParameter<'a> {
    pub(super) fn new(api: &'a Api, operation: &Operation, parameter: &'a Parameter) -> Self {
        ShownParameter { parameter, given_by: find_providers(api, operation, parameter) }
    }

    pub(super) fn of(api: &'a Api, operation: &'a Operation) -> Vec<ShownParameter<'a>> {
        operation.parameters.iter().map(|parameter| ShownParameter::new(api, operation, parameter)).collect()
    }

    pub(super) fn render(&self, words: usize, values: usize) -> Value {
        let mut parameter = self.parameter.clone();
        parameter.description = if words == 0 { String::new() } else { cut::sentences(&parameter.description, words) };
        if parameter.values.len() > values {
            let more = parameter.values.len() - values;
            parameter.values.truncate(values);
            parameter.values.push(json!(format!("… {more} more: part {}", parameter.name)));
        }
        let mut shown = json!(parameter);
        if !self.given_by.is_empty() {
            shown["given_by"] = json!(self.given_by);
        }
        shown
    }
}

/// Renders the parameters with descriptions as long as the space allows; if not even all names fit, required
/// parameters first, then the number of omitted ones.
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

/// Returns an example call with all required arguments, as a plan writes it: `{"operation": "shop.getOrder",
/// "arguments": {"id": 1}}`.
pub(super) fn example(api: &Api, operation: &Operation) -> Value {
    let required = operation.parameters.iter().filter(|one| one.required);
    let arguments: Map<String, Value> = required.map(|one| (one.name.clone(), example_value(one))).collect();
    json!({"operation": api.id_of(operation), "arguments": arguments})
}

/// Returns an example value of a parameter: its default, its first enumerated value, or a value of its type.
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
    fn example_has_arguments_of_each_type() {
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
