//! Parses GraphQL SDL.

use graphql_parser::schema::{
    Definition, Directive, EnumValue, Field, InputValue, TypeDefinition, TypeExtension, Value as Literal,
};
use prospector_core::Problem;
use prospector_text::cut;
use serde_json::{Value, json};

use super::{FieldOf, Input, Schema, Type};
use crate::sdl;

/// Reads every definition; one that cannot be parsed is a problem at its line.
pub(super) fn read(text: &str, place: &str) -> (Schema, Vec<Problem>) {
    // The parser removes indentation by bytes, and would panic within a multi-byte white space character.
    let text = text.replace(|c: char| c.is_whitespace() && !c.is_ascii(), " ");
    let mut problems = Vec::new();
    let mut schema = Schema::default();
    for piece in sdl::pieces(&text) {
        if piece.keyword == "directive" {
            continue;
        }
        // The parser does not support `extend schema`, which has the syntax of `schema` or only adds directives.
        let extended = piece.text.strip_prefix("extend").map(str::trim_start).filter(|rest| rest.starts_with("schema"));
        if extended.is_some_and(|schema| !schema.contains('{')) {
            continue;
        }
        match graphql_parser::parse_schema::<String>(extended.unwrap_or(piece.text)) {
            Ok(document) => document.definitions.into_iter().for_each(|definition| schema.add(definition)),
            Err(error) => {
                let (line, reason) = syntax_error(&error.to_string());
                let problem = Problem::error(format!("{place}:{}", piece.line + line - 1), reason);
                problems.push(problem.advise("correct the definition; the other definitions are loaded"));
            }
        }
    }
    (schema, problems)
}

/// Extracts line and reason from a message such as `schema parse error: Parse error at 3:5\nUnexpected ..`.
fn syntax_error(message: &str) -> (usize, String) {
    let line = message.split(" at ").nth(1).and_then(|at| at.split(':').next()).and_then(|line| line.parse().ok());
    let words: Vec<&str> = message.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).collect();
    let reason = if words.is_empty() { message.to_owned() } else { words.join(", ") };
    let reason = cut::sentences(&crate::prose::plain(&reason), 300);
    (line.filter(|line| *line > 0).unwrap_or(1), format!("the definition is not valid GraphQL: {reason}"))
}

impl Schema {
    fn add(&mut self, definition: Definition<'_, String>) {
        match definition {
            Definition::SchemaDefinition(schema) => {
                self.query = schema.query.or(self.query.take());
                self.mutation = schema.mutation.or(self.mutation.take());
                self.subscription = schema.subscription.or(self.subscription.take());
            }
            Definition::TypeDefinition(definition) => match definition {
                TypeDefinition::Object(t) => self.add_type(&t.name, fields(t.fields)),
                TypeDefinition::Interface(t) => self.add_type(&t.name, fields(t.fields)),
                TypeDefinition::InputObject(t) => self.add_type(&t.name, Type::Input(inputs(t.fields))),
                TypeDefinition::Enum(t) => self.add_type(&t.name, values(t.values)),
                TypeDefinition::Union(t) => self.add_type(&t.name, Type::Union(t.types)),
                TypeDefinition::Scalar(_) => {}
            },
            Definition::TypeExtension(extension) => match extension {
                TypeExtension::Object(t) => self.add_type(&t.name, fields(t.fields)),
                TypeExtension::Interface(t) => self.add_type(&t.name, fields(t.fields)),
                TypeExtension::InputObject(t) => self.add_type(&t.name, Type::Input(inputs(t.fields))),
                TypeExtension::Enum(t) => self.add_type(&t.name, values(t.values)),
                TypeExtension::Union(t) => self.add_type(&t.name, Type::Union(t.types)),
                TypeExtension::Scalar(_) => {}
            },
            Definition::DirectiveDefinition(_) => {}
        }
    }
}

fn fields(fields: Vec<Field<'_, String>>) -> Type {
    let read = |field: Field<'_, String>| FieldOf {
        deprecated: deprecation(&field.directives),
        name: field.name,
        description: field.description.unwrap_or_default(),
        arguments: inputs(field.arguments),
        kind: field.field_type.to_string(),
    };
    Type::Fields(fields.into_iter().map(read).map(|field| (field.name.clone(), field)).collect())
}

fn values(values: Vec<EnumValue<'_, String>>) -> Type {
    Type::Enum(values.into_iter().map(|value| Value::String(value.name)).collect())
}

fn inputs(inputs: Vec<InputValue<'_, String>>) -> Vec<Input> {
    let read = |input: InputValue<'_, String>| Input {
        name: input.name,
        description: input.description.unwrap_or_default(),
        kind: input.value_type.to_string(),
        default: input.default_value.as_ref().map(to_json),
    };
    inputs.into_iter().map(read).collect()
}

/// Returns the reason of a `@deprecated` directive, empty if it has none.
fn deprecation(directives: &[Directive<'_, String>]) -> Option<String> {
    let directive = directives.iter().find(|directive| directive.name == "deprecated")?;
    let reason = directive.arguments.iter().find(|(name, _)| name == "reason");
    Some(match reason {
        Some((_, Literal::String(reason))) => reason.clone(),
        _ => String::new(),
    })
}

fn to_json(value: &Literal<'_, String>) -> Value {
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
