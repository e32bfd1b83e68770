//! Parses the result of a GraphQL introspection query, as the section on introspection of the GraphQL specification
//! (October 2021) defines it: `{"data": {"__schema": ..}}`, or `{"__schema": ..}`.

use indexmap::IndexMap;
use prospector_core::Problem;
use serde_json::{Value, json};

use super::{FieldOf, Input, Schema, Type};

/// Maximum nesting of lists and non-null types.
const MAX_DEPTH: usize = 16;

/// Reads every type; an invalid type is a problem at its pointer and does not affect others.
pub(super) fn read(root: &Value, place: &str) -> (Schema, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut schema = Schema::default();
    let (start, pointer) = match root.pointer("/data/__schema") {
        Some(schema) => (schema, "/data/__schema"),
        None => (&root["__schema"], "/__schema"),
    };
    let name_of = |key: &str| start[key]["name"].as_str().map(str::to_owned);
    schema.description = text(start, "description");
    schema.query = name_of("queryType");
    // `null` means that the schema has no mutations, even if it has an object type `Mutation`.
    let none = || Some(String::new());
    schema.mutation = name_of("mutationType").or_else(none);
    schema.subscription = name_of("subscriptionType").or_else(none);
    let Some(types) = start["types"].as_array() else {
        problems.push(Problem::error(format!("{place}#{pointer}/types"), "`types` is not a list"));
        return (schema, problems);
    };
    for (number, described) in types.iter().enumerate() {
        let Some(name) = described["name"].as_str() else {
            problems.push(Problem::error(format!("{place}#{pointer}/types/{number}"), "the type has no name"));
            continue;
        };
        if name.starts_with("__") {
            continue;
        }
        let mut reader = Reader { place: format!("{place}#{pointer}/types/{number}"), problems: &mut problems };
        let read = match described["kind"].as_str() {
            Some("OBJECT" | "INTERFACE") => Type::Fields(reader.fields(&described["fields"])),
            Some("INPUT_OBJECT") => Type::Input(reader.inputs(&described["inputFields"], "inputFields")),
            Some("ENUM") => Type::Enum(names(&described["enumValues"]).map(Value::from).collect()),
            Some("UNION") => Type::Union(names(&described["possibleTypes"]).map(str::to_owned).collect()),
            Some("SCALAR") => continue,
            _ => {
                reader.problem(format!("unknown kind of type `{name}`"));
                continue;
            }
        };
        schema.add_type(name, read);
    }
    (schema, problems)
}

struct Reader<'p> {
    place: String,
    problems: &'p mut Vec<Problem>,
}

impl Reader<'_> {
    fn problem(&mut self, reason: String) {
        self.problems.push(Problem::error(&self.place, reason).advise("the other types are loaded"));
    }

    fn fields(&mut self, list: &Value) -> IndexMap<String, FieldOf> {
        let mut fields = IndexMap::new();
        for (number, field) in items(list).enumerate() {
            let (Some(name), Some(kind)) = (field["name"].as_str(), kind(&field["type"])) else {
                self.problem(format!("field {number} has no name or no type"));
                continue;
            };
            let read = FieldOf {
                name: name.to_owned(),
                description: text(field, "description"),
                arguments: self.inputs(&field["args"], "args"),
                kind,
                deprecated: (field["isDeprecated"] == json!(true)).then(|| text(field, "deprecationReason")),
            };
            fields.insert(name.to_owned(), read);
        }
        fields
    }

    fn inputs(&mut self, list: &Value, what: &str) -> Vec<Input> {
        let mut inputs = Vec::new();
        for (number, input) in items(list).enumerate() {
            let (Some(name), Some(kind)) = (input["name"].as_str(), kind(&input["type"])) else {
                self.problem(format!("entry {number} of `{what}` has no name or no type"));
                continue;
            };
            let default = input["defaultValue"].as_str().map(literal);
            inputs.push(Input { name: name.to_owned(), description: text(input, "description"), kind, default });
        }
        inputs
    }
}

/// Renders `{"kind": "NON_NULL", "ofType": {"name": "ID"}}` as `ID!`.
fn kind(described: &Value) -> Option<String> {
    let (mut before, mut after) = (String::new(), String::new());
    let mut described = described;
    for _ in 0..MAX_DEPTH {
        match described["kind"].as_str() {
            Some("NON_NULL") => after.insert(0, '!'),
            Some("LIST") => {
                before.push('[');
                after.insert(0, ']');
            }
            _ => return Some(format!("{before}{}{after}", described["name"].as_str()?)),
        }
        described = &described["ofType"];
    }
    None
}

/// Parses the default, which is written in SDL; anything but a number, boolean or string is kept as text.
fn literal(written: &str) -> Value {
    match serde_json::from_str(written) {
        Ok(value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_))) => value,
        _ => json!(written),
    }
}

fn names(list: &Value) -> impl Iterator<Item = &str> {
    items(list).filter_map(|item| item["name"].as_str())
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
