//! Entries in full as compact text: the baseline for discovery, with everything that the tools would return, in as few words as possible.

use std::collections::BTreeSet;

use prospector_api::{
    Api, Operation,
    model::{Parameter, Shape},
};
use prospector_core::Kind;
use prospector_documents::{Document, model::Section};
use serde_json::Value;

use super::metadata::operation_head;
use crate::{Catalog, piece::Piece};

/// Returns all entries in full: operations with parameters, bodies and responses, documents with their text. For tables, facts and skills,
/// the metadata is complete.
pub(super) fn pieces(catalog: &Catalog) -> Vec<Piece> {
    let mut pieces = super::metadata::pieces(catalog);
    for piece in &mut pieces {
        // The types of an API are listed once, above its operations.
        if let Some((api, operation)) = operation(catalog, piece) {
            for (name, shape) in &api.types {
                piece.group.push_str(&type_line(name, shape));
            }
            piece.text = whole_operation(operation);
        } else {
            complete(catalog, piece);
        }
    }
    pieces
}

/// Completes a single piece: an operation includes the types that it uses.
pub(super) fn complete(catalog: &Catalog, piece: &mut Piece) {
    if let Some((api, operation)) = operation(catalog, piece) {
        piece.text = whole_operation(operation);
        for name in needed_types(api, operation) {
            piece.text.push_str(&type_line(name, &api.types[name]));
        }
    } else if piece.kind == Kind::Document {
        let document = catalog.documents.documents().iter().find(|document| document.name == piece.id);
        if let Some(document) = document {
            piece.text = format!("  {}\n{}", document.name, document.content.trim());
        }
    }
}

/// Renders a single section.
pub(super) fn section(document: &Document, section: &Section) -> String {
    format!("  {} > {}\n{}", document.name, section.full_name(), section.text.trim())
}

fn operation<'a>(catalog: &'a Catalog, piece: &Piece) -> Option<(&'a Api, &'a Operation)> {
    (piece.kind == Kind::Operation).then(|| catalog.apis.find_operation(&piece.id)).flatten()
}

fn whole_operation(operation: &Operation) -> String {
    let mut text = operation_head(operation);
    for parameter in &operation.parameters {
        text.push_str(&format!("\n    {}", whole_parameter(parameter)));
    }
    for (what, shape) in [("body", &operation.request_body), ("answer", &operation.response_schema)] {
        if let Some(shape) = shape {
            text.push_str(&format!("\n    {what} {}", render_shape(shape)));
        }
    }
    if !operation.auth.is_empty() {
        text.push_str(&format!("\n    auth {}", operation.auth.join(", ")));
    }
    text
}

fn type_line(name: &str, shape: &Shape) -> String {
    format!("\n  {name} = {}", render_shape(shape))
}

/// Returns the types that an operation uses, directly or indirectly.
fn needed_types<'a>(api: &'a Api, operation: &Operation) -> BTreeSet<&'a str> {
    let mut needed = BTreeSet::new();
    let mut open: Vec<&Shape> = operation.request_body.iter().chain(&operation.response_schema).collect();
    while let Some(shape) = open.pop() {
        match shape {
            Shape::Named(name) => {
                if let Some((name, shape)) = api.types.get_key_value(name)
                    && needed.insert(name.as_str())
                {
                    open.push(shape);
                }
            }
            Shape::List(inner) | Shape::Content(_, Some(inner)) => open.push(inner),
            Shape::Object { fields, rest, besides } => {
                open.extend(fields.iter().map(|field| &field.shape).chain(rest.as_deref()).chain(besides));
            }
            Shape::OneOf(shapes) | Shape::AnyOf(shapes) => open.extend(shapes),
            Shape::Word(_) | Shape::Content(_, None) | Shape::Cycle(_) | Shape::Cut(_) | Shape::Unresolved(_) => {}
        }
    }
    needed
}

/// Renders a shape compactly: `{id!: integer, lines: [Line]}`, where `!` is required. Types are referred to by name.
fn render_shape(shape: &Shape) -> String {
    let all = |shapes: &[Shape], between: &str| shapes.iter().map(render_shape).collect::<Vec<_>>().join(between);
    match shape {
        Shape::Word(word) => word.clone(),
        Shape::Named(name) | Shape::Cycle(name) => name.clone(),
        Shape::List(inner) => format!("[{}]", render_shape(inner)),
        Shape::OneOf(shapes) | Shape::AnyOf(shapes) => all(shapes, " | "),
        Shape::Content(media, inner) => {
            inner.as_deref().map_or(media.clone(), |inner| format!("{media} {}", render_shape(inner)))
        }
        Shape::Cut(_) | Shape::Unresolved(_) => "...".into(),
        Shape::Object { fields, rest, besides } => {
            let mut parts: Vec<String> = (fields.iter())
                .map(|field| {
                    format!("{}{}: {}", field.name, if field.required { "!" } else { "" }, render_shape(&field.shape))
                })
                .collect();
            parts.extend(rest.as_deref().map(|rest| format!("*: {}", render_shape(rest))));
            parts.extend(besides.iter().map(render_shape));
            format!("{{{}}}", parts.join(", "))
        }
    }
}

fn whole_parameter(parameter: &Parameter) -> String {
    let mut text = format!("{} {}", parameter.name, parameter.r#type);
    if !parameter.values.is_empty() {
        text.push_str(&format!(" {}", terse(&Value::Array(parameter.values.clone()))));
    }
    if let Some(default) = &parameter.default {
        text.push_str(&format!(" = {}", terse(default)));
    }
    if !parameter.description.is_empty() {
        text.push_str(&format!(": {}", parameter.description));
    }
    text
}

/// Renders JSON without quotes and spaces.
fn terse(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(terse).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}:{}", terse(value))).collect();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn renders_json_tersely() {
        let text = terse(&json!({"id": "integer", "tags": ["string"], "n": 3, "of": {"x": null}}));
        assert_eq!(text, "{id:integer,tags:[string],n:3,of:{x:null}}");
    }

    #[test]
    fn renders_shapes_compactly() {
        let word = |word: &str| Shape::Word(word.into());
        let field = |name: &str, shape: Shape, required: bool| prospector_api::model::Field {
            name: name.into(),
            shape,
            required,
            read_only: false,
            write_only: false,
        };
        let lines = Shape::List(Box::new(Shape::Named("Line".into())));
        let fields = vec![field("id", word("integer"), true), field("lines", lines, false)];
        let shape = Shape::Object { fields, rest: None, besides: Vec::new() };
        assert_eq!(render_shape(&shape), "{id!: integer, lines: [Line]}");
        assert_eq!(render_shape(&Shape::OneOf(vec![word("string"), shape])), "string | {id!: integer, lines: [Line]}");
    }
}
