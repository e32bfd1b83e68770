//! GraphQL schema language to operations: the fields of the root types.

use std::collections::HashMap;

use graphql_parser::schema::{Definition, Directive, Field, InputValue, Type, TypeDefinition, TypeExtension};
use prospector_core::Problem;
use serde_json::{Map, Value, json};

use crate::{
    Location, Operation, Parameter, naming,
    openapi::{DESCRIPTION, Parts, REMARK},
    prose, sdl,
    shape::{self, MAX_PARTS, cut, cycle, fitted},
};

/// How many levels of objects are shown of an answer, and of what is sent.
const ANSWER_DEPTH: usize = 2;
const INPUT_DEPTH: usize = 3;

/// Reads a schema; a definition that cannot be parsed is a problem at its line.
pub(crate) fn read(text: &str, place: &str) -> (Parts, Vec<Problem>) {
    // The parser cuts indentation off by bytes, and would fail in the middle of a wider white space.
    let text = text.replace(|c: char| c.is_whitespace() && !c.is_ascii(), " ");
    let mut problems = Vec::new();
    let mut definitions = Vec::new();
    for piece in sdl::pieces(&text) {
        if piece.keyword == "directive" {
            continue;
        }
        // The parser knows no `extend schema`; it says what `schema` says, or adds directives only.
        let schema = piece.text.strip_prefix("extend").map(str::trim_start).filter(|rest| rest.starts_with("schema"));
        if schema.is_some_and(|schema| !schema.contains('{')) {
            continue;
        }
        match graphql_parser::parse_schema::<String>(schema.unwrap_or(piece.text)) {
            Ok(document) => definitions.extend(document.into_static().definitions),
            Err(error) => {
                let (line, reason) = syntax_error(&error.to_string());
                let problem = Problem::error(format!("{place}:{}", piece.line + line - 1), reason);
                problems.push(problem.advise("correct the definition; the others are loaded"));
            }
        }
    }
    let types = Types::of(&definitions);
    let mut operations = Vec::new();
    for (method, root) in [("QUERY", types.query), ("MUTATION", types.mutation), ("SUBSCRIPTION", types.subscription)] {
        for field in types.fields.get(root).into_iter().flatten() {
            operations.push(types.operation(method, field));
        }
    }
    if operations.is_empty() {
        let reason = "this is no GraphQL schema with operations: it has no query, mutation or subscription type";
        problems.push(Problem::error(place, reason));
    }
    naming::assign(&mut operations);
    (Parts { url: None, description: String::new(), operations }, problems)
}

/// Line and reason of a message such as `schema parse error: Parse error at 3:5\nUnexpected ..`.
fn syntax_error(message: &str) -> (usize, String) {
    let line = message.split(" at ").nth(1).and_then(|at| at.split(':').next()).and_then(|line| line.parse().ok());
    let words: Vec<&str> = message.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).collect();
    (line.unwrap_or(1), format!("the definition is not valid GraphQL: {}", words.join(", ")))
}

/// The types of a schema by name, extensions merged in.
#[derive(Default)]
struct Types<'d> {
    query: &'d str,
    mutation: &'d str,
    subscription: &'d str,
    /// Of objects and interfaces.
    fields: HashMap<&'d str, Vec<&'d Field<'static, String>>>,
    inputs: HashMap<&'d str, Vec<&'d InputValue<'static, String>>>,
    enums: HashMap<&'d str, Vec<Value>>,
    unions: HashMap<&'d str, Vec<&'d str>>,
}

impl<'d> Types<'d> {
    fn of(definitions: &'d [Definition<'static, String>]) -> Self {
        let mut types =
            Types { query: "Query", mutation: "Mutation", subscription: "Subscription", ..Types::default() };
        for definition in definitions {
            match definition {
                Definition::SchemaDefinition(schema) => {
                    types.query = schema.query.as_deref().unwrap_or(types.query);
                    types.mutation = schema.mutation.as_deref().unwrap_or(types.mutation);
                    types.subscription = schema.subscription.as_deref().unwrap_or(types.subscription);
                }
                Definition::TypeDefinition(TypeDefinition::Object(t)) => types.add_fields(&t.name, &t.fields),
                Definition::TypeDefinition(TypeDefinition::Interface(t)) => types.add_fields(&t.name, &t.fields),
                Definition::TypeDefinition(TypeDefinition::InputObject(t)) => {
                    types.inputs.entry(&t.name).or_default().extend(&t.fields);
                }
                Definition::TypeDefinition(TypeDefinition::Enum(t)) => {
                    types.enums.entry(&t.name).or_default().extend(t.values.iter().map(|v| json!(v.name)));
                }
                Definition::TypeDefinition(TypeDefinition::Union(t)) => {
                    types.unions.entry(&t.name).or_default().extend(t.types.iter().map(String::as_str));
                }
                Definition::TypeExtension(TypeExtension::Object(t)) => types.add_fields(&t.name, &t.fields),
                Definition::TypeExtension(TypeExtension::Interface(t)) => types.add_fields(&t.name, &t.fields),
                Definition::TypeExtension(TypeExtension::InputObject(t)) => {
                    types.inputs.entry(&t.name).or_default().extend(&t.fields);
                }
                Definition::TypeExtension(TypeExtension::Enum(t)) => {
                    types.enums.entry(&t.name).or_default().extend(t.values.iter().map(|v| json!(v.name)));
                }
                Definition::TypeExtension(TypeExtension::Union(t)) => {
                    types.unions.entry(&t.name).or_default().extend(t.types.iter().map(String::as_str));
                }
                Definition::TypeDefinition(TypeDefinition::Scalar(_))
                | Definition::TypeExtension(TypeExtension::Scalar(_))
                | Definition::DirectiveDefinition(_) => {}
            }
        }
        types
    }

    fn add_fields(&mut self, name: &'d str, fields: &'d [Field<'static, String>]) {
        let known = self.fields.entry(name).or_default();
        for field in fields {
            match known.iter_mut().find(|other| other.name == field.name) {
                Some(other) => *other = field,
                None => known.push(field),
            }
        }
    }

    fn operation(&self, method: &str, field: &'d Field<'static, String>) -> Operation {
        let mut description = prose::plain(field.description.as_deref().unwrap_or_default());
        let deprecated = deprecation(&field.directives);
        if let Some(reason) = deprecated.as_deref().filter(|reason| !reason.is_empty()) {
            description = prose::joined(&description, &format!("Deprecated: {reason}"));
        }
        let sent: Map<String, Value> = field
            .arguments
            .iter()
            .filter(|argument| self.inputs.contains_key(base(&argument.value_type)))
            .map(|argument| {
                let shape = fitted(INPUT_DEPTH, |depth| self.rendering().shape(&argument.value_type, depth));
                (argument.name.to_owned(), shape)
            })
            .collect();
        let answer = fitted(ANSWER_DEPTH, |depth| self.rendering().shape(&field.field_type, depth));
        Operation {
            name: field.name.to_owned(),
            method: method.to_owned(),
            path: field.name.to_owned(),
            description: prose::opening(&description, DESCRIPTION),
            tags: Vec::new(),
            deprecated: deprecated.is_some(),
            parameters: field.arguments.iter().map(|argument| self.parameter(argument)).collect(),
            request_body: (!sent.is_empty()).then_some(Value::Object(sent)),
            response_schema: Some(answer),
            auth: Vec::new(),
        }
    }

    fn parameter(&self, argument: &InputValue<'static, String>) -> Parameter {
        let required = matches!(argument.value_type, Type::NonNullType(_)) && argument.default_value.is_none();
        Parameter {
            name: argument.name.to_owned(),
            location: Location::Argument,
            r#type: argument.value_type.to_string(),
            required,
            description: prose::opening(&prose::plain(argument.description.as_deref().unwrap_or_default()), REMARK),
            values: self.enums.get(base(&argument.value_type)).map(|v| shape::listed(v)).unwrap_or_default(),
            default: argument.default_value.as_ref().map(to_json),
        }
    }

    fn rendering(&self) -> Rendering<'d, '_> {
        Rendering { types: self, chain: Vec::new(), parts: 0 }
    }
}

struct Rendering<'d, 't> {
    types: &'t Types<'d>,
    /// The types that are open: meeting one again is a cycle.
    chain: Vec<&'d str>,
    parts: usize,
}

impl<'d> Rendering<'d, '_> {
    /// `String!` for a scalar, `{field: type}` for an object, `[..]` around it where it is a list.
    fn shape(&mut self, kind: &'d Type<'static, String>, depth: usize) -> Value {
        self.parts += 1;
        let name = base(kind);
        let types = self.types;
        let inner = if let Some(values) = types.enums.get(name) {
            Value::String(shape::enumeration(values))
        } else if let Some(members) = types.unions.get(name) {
            json!({ "$one_of": members })
        } else if types.fields.contains_key(name) || types.inputs.contains_key(name) {
            if self.chain.contains(&name) {
                cycle(name)
            } else if depth == 0 || self.parts > MAX_PARTS {
                cut(name)
            } else {
                self.chain.push(name);
                let mut fields = Map::new();
                for field in types.fields.get(name).into_iter().flatten() {
                    fields.insert(field.name.to_owned(), self.shape(&field.field_type, depth - 1));
                }
                for field in types.inputs.get(name).into_iter().flatten() {
                    fields.insert(field.name.to_owned(), self.shape(&field.value_type, depth - 1));
                }
                self.chain.pop();
                Value::Object(fields)
            }
        } else {
            return Value::String(kind.to_string());
        };
        (0..lists(kind)).fold(inner, |inner, _| json!([inner]))
    }
}

/// The type inside lists and `!`.
fn base<'d>(kind: &'d Type<'static, String>) -> &'d str {
    match kind {
        Type::NamedType(name) => name,
        Type::ListType(inner) | Type::NonNullType(inner) => base(inner),
    }
}

fn lists(kind: &Type<'static, String>) -> usize {
    match kind {
        Type::NamedType(_) => 0,
        Type::ListType(inner) => 1 + lists(inner),
        Type::NonNullType(inner) => lists(inner),
    }
}

/// The reason of a `@deprecated` directive, empty where it gives none.
fn deprecation(directives: &[Directive<'static, String>]) -> Option<String> {
    let directive = directives.iter().find(|directive| directive.name == "deprecated")?;
    let reason = directive.arguments.iter().find(|(name, _)| name == "reason");
    Some(match reason {
        Some((_, graphql_parser::schema::Value::String(reason))) => reason.clone(),
        _ => String::new(),
    })
}

fn to_json(value: &graphql_parser::schema::Value<'static, String>) -> Value {
    use graphql_parser::schema::Value as Literal;
    match value {
        Literal::Variable(name) | Literal::Enum(name) => json!(name),
        Literal::Int(number) => json!(number.as_i64()),
        Literal::Float(number) => json!(number),
        Literal::String(text) => json!(text),
        Literal::Boolean(flag) => json!(flag),
        Literal::Null => Value::Null,
        Literal::List(items) => items.iter().map(to_json).collect(),
        Literal::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), to_json(value))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sdl: &str, expected: Value, problems_expected: &[&str]) {
        let (parts, problems) = read(sdl, "f");
        let found: Vec<String> = problems.iter().map(|p| format!("{}: {}", p.place, p.reason)).collect();
        assert_eq!(found, problems_expected);
        let mut json = serde_json::to_value(&parts.operations).unwrap();
        for operation in json.as_array_mut().unwrap() {
            let fields = operation.as_object_mut().unwrap();
            assert_eq!(fields.get("name"), fields.get("path"));
            fields.remove("path");
        }
        assert_eq!(json, expected);
    }

    #[test]
    fn fields_of_the_root_types_are_operations() {
        check(
            r#"
schema { query: Root }
extend schema @link(url: "https://example.com") { mutation: Changes }
extend schema @only(directives: true)
directive @wrong on NOWHERE
enum State { OPEN CLOSED }
input Wanted { state: State = OPEN, text: [String!] }
type Root {
  """
  One order.
  With its lines.
  """
  order(id: ID!, states: [State!] = [OPEN], first: Int! = 10, deep: Float = 1.5): Order
}
type Query { unused: Int }
type Changes { add(wanted: Wanted!): Int! }
extend type Root { old: Order @deprecated(reason: "Use order.") }
type Order { id: ID!, state: State!, lines: [Line!]!, names: [String!]! }
interface Line { order: Order!, product: Product, kind: Kind }
type Product { maker: Maker }
type Maker { id: ID }
union Kind = Order | Product
"#,
            json!([
                {"name": "order", "method": "QUERY", "description": "One order. With its lines.",
                 "parameters": [
                    {"name": "id", "location": "argument", "type": "ID!", "required": true},
                    {"name": "states", "location": "argument", "type": "[State!]", "enum": ["OPEN", "CLOSED"],
                     "default": ["OPEN"]},
                    {"name": "first", "location": "argument", "type": "Int!", "default": 10},
                    {"name": "deep", "location": "argument", "type": "Float", "default": 1.5}],
                 "response_schema": {"id": "ID!", "state": "enum: OPEN | CLOSED", "names": "[String!]!",
                    "lines": [{"order": {"$cycle": "Order"}, "product": {"$cut": "Product"},
                               "kind": {"$one_of": ["Order", "Product"]}}]}},
                {"name": "old", "method": "QUERY", "description": "Deprecated: Use order.", "deprecated": true,
                 "response_schema": {"id": "ID!", "state": "enum: OPEN | CLOSED", "names": "[String!]!",
                    "lines": [{"order": {"$cycle": "Order"}, "product": {"$cut": "Product"},
                               "kind": {"$one_of": ["Order", "Product"]}}]}},
                {"name": "add", "method": "MUTATION",
                 "parameters": [{"name": "wanted", "location": "argument", "type": "Wanted!", "required": true}],
                 "request_body": {"wanted": {"state": "enum: OPEN | CLOSED", "text": "[String!]"}},
                 "response_schema": "Int!"}
            ]),
            &[],
        );
    }

    #[test]
    fn a_broken_definition_costs_only_itself() {
        check(
            "type Query {\n  good: Int\n}\n\ntype Broken {\n  a: \n}\ntype Mutation { do: Int }",
            json!([
                {"name": "good", "method": "QUERY", "response_schema": "Int"},
                {"name": "do", "method": "MUTATION", "response_schema": "Int"}
            ]),
            &["f:7: the definition is not valid GraphQL: Unexpected `}[Punctuator]`, Expected Name or ["],
        );
    }

    #[test]
    fn text_without_operations_is_said_to_be_none() {
        let none = "f: this is no GraphQL schema with operations: it has no query, mutation or subscription type";
        check("type A { a: Int }", json!([]), &[none]);
        check("", json!([]), &[none]);
    }

    #[test]
    fn wide_white_space_in_a_description_is_no_reason_to_fail() {
        check(
            "type Query {\n  \"\"\"\n  One\n\u{3000}two\n  \"\"\"\n  a: Int\n}",
            json!([{"name": "a", "method": "QUERY", "description": "One two", "response_schema": "Int"}]),
            &[],
        );
    }

    #[test]
    fn a_field_of_two_roots_has_two_names() {
        let (parts, _) = read("type Query { user: Int }\ntype Subscription { user: Int }", "f");
        let names: Vec<&str> = parts.operations.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names, ["query_user", "subscription_user"]);
    }
}
