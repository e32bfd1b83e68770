//! Converts GraphQL schemas to operations: the fields of the root types, from SDL or from the result of an
//! introspection query.

mod introspection;
mod language;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use prospector_core::Problem;
use prospector_text::cut;
use serde_json::Value;

use crate::{
    Api, ApiKind, Operation,
    model::{Field, Location, Parameter, Shape},
    naming,
    openapi::{MAX_DESCRIPTION, MAX_REMARK},
    prose, shape,
};

/// Maximum length of names and types in bytes; longer ones are rejected.
const MAX_NAME_BYTES: usize = 160;

/// A parsed schema.
#[derive(Debug, Default)]
struct Schema {
    description: String,
    query: Option<String>,
    mutation: Option<String>,
    subscription: Option<String>,
    types: IndexMap<String, Type>,
}

/// A type of a schema, with its extensions merged. Types that the schema does not define are treated as scalars.
#[derive(Debug)]
enum Type {
    /// An object or an interface: its fields by name.
    Fields(IndexMap<String, FieldOf>),
    Input(Vec<Input>),
    Enum(Vec<Value>),
    Union(Vec<String>),
}

#[derive(Debug)]
struct FieldOf {
    name: String,
    description: String,
    arguments: Vec<Input>,
    kind: String,
    /// Reason for the deprecation, empty if none is given.
    deprecated: Option<String>,
}

/// An argument, or a field of an input type.
#[derive(Debug)]
struct Input {
    name: String,
    description: String,
    /// The type as written: `[String!]`.
    kind: String,
    default: Option<Value>,
}

/// Reads SDL; a definition that cannot be parsed is a problem at its line.
pub(crate) fn read(text: &str, place: &str) -> (Api, Vec<Problem>) {
    let (schema, problems) = language::read(text, place);
    operations(&schema, place, problems)
}

/// Reads the result of an introspection query; an invalid type is a problem at its pointer.
pub(crate) fn read_introspection(root: &Value, place: &str) -> (Api, Vec<Problem>) {
    let (schema, problems) = introspection::read(root, place);
    operations(&schema, place, problems)
}

fn operations(schema: &Schema, place: &str, mut problems: Vec<Problem>) -> (Api, Vec<Problem>) {
    let mut operations = Vec::new();
    let roots = [
        ("QUERY", &schema.query, "Query"),
        ("MUTATION", &schema.mutation, "Mutation"),
        ("SUBSCRIPTION", &schema.subscription, "Subscription"),
    ];
    for (method, root, usual) in roots {
        let Some(Type::Fields(fields)) = schema.types.get(root.as_deref().unwrap_or(usual)) else { continue };
        for field in fields.values() {
            if field.name.len() > MAX_NAME_BYTES {
                let reason = format!("the name of a {} is longer than {MAX_NAME_BYTES} bytes", method.to_lowercase());
                problems.push(Problem::error(place, reason));
                continue;
            }
            operations.push(schema.operation(method, field));
        }
    }
    if operations.is_empty() {
        let reason = "no operations: the GraphQL schema has no query, mutation or subscription type";
        problems.push(Problem::error(place, reason));
    }
    naming::assign(&mut operations);
    let types = schema.types.iter().map(|(name, kind)| (name.clone(), schema.shape_of(kind))).collect();
    let description = cut::sentences(&prose::plain(&schema.description), MAX_DESCRIPTION);
    let types = without_roots(types, schema);
    (Api { kind: ApiKind::GraphQl, description, operations, types, ..Api::default() }, problems)
}

/// Removes the root types, whose fields are operations.
fn without_roots(mut types: BTreeMap<String, Shape>, schema: &Schema) -> BTreeMap<String, Shape> {
    for (root, usual) in [(&schema.mutation, "Mutation"), (&schema.subscription, "Subscription")] {
        types.remove(root.as_deref().unwrap_or(usual));
    }
    types
}

impl Schema {
    fn operation(&self, method: &str, field: &FieldOf) -> Operation {
        let mut description = prose::plain(&field.description);
        if let Some(reason) = field.deprecated.as_deref().filter(|reason| !reason.is_empty()) {
            description = prose::join(&description, &format!("Deprecated: {reason}"));
        }
        let sent: Vec<Field> = field
            .arguments
            .iter()
            .filter(|argument| matches!(self.types.get(base(&argument.kind)), Some(Type::Input(_))))
            .map(|argument| self.field(&argument.name, argument))
            .collect();
        Operation {
            name: field.name.clone(),
            method: method.to_owned(),
            path: field.name.clone(),
            description: cut::sentences(&description, MAX_DESCRIPTION),
            deprecated: field.deprecated.is_some(),
            parameters: field.arguments.iter().map(|argument| self.parameter(argument)).collect(),
            request_body: (!sent.is_empty()).then(|| Shape::Object { fields: sent, rest: None, besides: Vec::new() }),
            response_schema: Some(self.shape(&field.kind)),
            ..Operation::default()
        }
    }

    fn parameter(&self, argument: &Input) -> Parameter {
        let values: Vec<Value> = match self.types.get(base(&argument.kind)) {
            Some(Type::Enum(values)) => shape::keep_values(values),
            _ => Vec::new(),
        };
        Parameter {
            name: argument.name.clone(),
            location: Location::Argument,
            r#type: cut::sentences(&argument.kind, MAX_NAME_BYTES),
            required: is_required(argument),
            is_credential: false,
            description: cut::sentences(&prose::plain(&argument.description), MAX_REMARK),
            values,
            default: argument.default.clone().filter(shape::is_short),
        }
    }

    fn field(&self, name: &str, input: &Input) -> Field {
        let shape = self.shape(&input.kind);
        Field { name: name.to_owned(), shape, required: is_required(input), read_only: false, write_only: false }
    }

    /// Returns the shape of a type: scalars as written, other types by name, both in their lists.
    fn shape(&self, kind: &str) -> Shape {
        let name = base(kind);
        if !self.types.contains_key(name) {
            return Shape::Word(kind.to_owned());
        }
        let lists = kind.bytes().filter(|byte| *byte == b'[').count();
        (0..lists).fold(Shape::Named(name.to_owned()), |inner, _| Shape::List(Box::new(inner)))
    }

    fn shape_of(&self, kind: &Type) -> Shape {
        let fields = match kind {
            Type::Enum(values) => return Shape::Word(shape::enumeration(values)),
            Type::Union(members) => return Shape::OneOf(members.iter().map(|m| Shape::Named(m.clone())).collect()),
            Type::Input(inputs) => inputs.iter().map(|input| self.field(&input.name, input)).collect(),
            Type::Fields(fields) => fields.values().map(|field| self.answer(field)).collect(),
        };
        Shape::Object { fields, rest: None, besides: Vec::new() }
    }

    /// Returns a field of a result, with its required arguments.
    fn answer(&self, field: &FieldOf) -> Field {
        let needed: Vec<String> =
            field.arguments.iter().filter(|a| is_required(a)).map(|a| format!("{}: {}", a.name, a.kind)).collect();
        let name = match needed.is_empty() {
            true => field.name.clone(),
            false => format!("{}({})", field.name, needed.join(", ")),
        };
        Field { name, shape: self.shape(&field.kind), required: false, read_only: false, write_only: false }
    }

    /// Adds a type, or extends one of the same kind; of several fields with the same name the last is used.
    fn add_type(&mut self, name: &str, more: Type) {
        let Some(known) = self.types.get_mut(name) else {
            self.types.insert(name.to_owned(), more);
            return;
        };
        match (known, more) {
            (Type::Fields(known), Type::Fields(more)) => known.extend(more),
            (Type::Input(known), Type::Input(more)) => known.extend(more),
            (Type::Enum(known), Type::Enum(more)) => known.extend(more),
            (Type::Union(known), Type::Union(more)) => known.extend(more),
            _ => {}
        }
    }
}

fn is_required(input: &Input) -> bool {
    input.kind.ends_with('!') && input.default.is_none()
}

/// Returns the type without lists and `!`.
fn base(kind: &str) -> &str {
    kind.trim_matches(['[', ']', '!'])
}

#[cfg(test)]
mod tests;
