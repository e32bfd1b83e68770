//! Builds GraphQL queries: one root field, with arguments as variables.

use graphql_parser::query::{Definition, OperationDefinition, Selection, parse_query};
use prospector_core::tool::ToolError;
use serde_json::{Map, Value, json};

use super::{check, refuse};
use crate::{Api, Operation, model::Shape};

/// Maximum length of a selection in bytes; the parser is recursive.
const MAX_SELECTION_BYTES: usize = 4_000;
const MAX_DEPTH: usize = 24;

/// Returns the body of the request.
pub(super) fn body(
    api: &Api,
    operation: &Operation,
    arguments: &Map<String, Value>,
    fields: Option<&str>,
) -> Result<Value, ToolError> {
    if operation.method != "QUERY" {
        let reason =
            format!("`{}` is a {}; only queries can be called", operation.name, operation.method.to_lowercase());
        return Err(refuse(reason, "add it to the plan without calling it".into()));
    }
    check(operation, operation.parameters.iter(), arguments)?;
    let given: Vec<_> = operation.parameters.iter().filter(|p| arguments.contains_key(&p.name)).collect();
    let list = |of: &dyn Fn(&str, &str) -> String| match given.is_empty() {
        true => String::new(),
        false => format!("({})", given.iter().map(|p| of(&p.name, &p.r#type)).collect::<Vec<_>>().join(", ")),
    };
    let variables = list(&|name, kind| format!("${name}: {kind}"));
    let passed = list(&|name, _| format!("{name}: ${name}"));
    let selection = match fields.map(|fields| fields.trim().trim_start_matches('{')) {
        Some(fields) => format!(" {{ {} }}", strip_brace(fields.trim())),
        None => match simple_fields(api, operation.response_schema.as_ref()) {
            Some(names) if names.is_empty() => return Err(no_fields(operation, "pass the fields to select")),
            Some(names) => format!(" {{ {} }}", names.join(" ")),
            None => String::new(),
        },
    };
    let text = format!("query{variables} {{ {}{passed}{selection} }}", operation.path);
    check_one_field(&text, &operation.path).map_err(|error| no_fields(operation, &error.to_string()))?;
    Ok(json!({"query": text, "variables": arguments}))
}

fn no_fields(operation: &Operation, reason: &str) -> ToolError {
    let message = format!("`fields` of `{}`: {reason}", operation.name);
    ToolError::invalid(message, Some("separate names by spaces: id lines { sku }".into()))
}

/// Removes the closing brace of a selection that the caller wrote in braces.
fn strip_brace(fields: &str) -> &str {
    let open = fields.matches('{').count();
    match fields.strip_suffix('}') {
        Some(inner) if fields.matches('}').count() > open => inner.trim_end(),
        _ => fields,
    }
}

/// Why a text is not a selection of fields.
#[derive(Debug, thiserror::Error)]
enum SelectionError {
    #[error("the selection is too long or too deep")]
    TooLarge,
    #[error("{0}")]
    Syntax(String),
    #[error("not a plain selection of fields")]
    More,
}

/// Checks that a text is one query with one root field, so that `fields` cannot inject others.
fn check_one_field(text: &str, field: &str) -> Result<(), SelectionError> {
    let deepest = text.chars().scan(0_usize, |depth, c| {
        match c {
            '{' | '[' | '(' => *depth += 1,
            '}' | ']' | ')' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(*depth)
    });
    if text.len() > MAX_SELECTION_BYTES || deepest.max() > Some(MAX_DEPTH) {
        return Err(SelectionError::TooLarge);
    }
    let document =
        parse_query::<&str>(text).map_err(|error| SelectionError::Syntax(error.to_string().replace('\n', " ")))?;
    let [Definition::Operation(OperationDefinition::Query(query))] = document.definitions.as_slice() else {
        return Err(SelectionError::More);
    };
    match query.selection_set.items.as_slice() {
        [Selection::Field(only)] if only.name == field && only.directives.is_empty() => Ok(()),
        _ => Err(SelectionError::More),
    }
}

/// Returns the fields of a response that have no fields themselves; `None` if the response is a scalar.
fn simple_fields(api: &Api, shape: Option<&Shape>) -> Option<Vec<String>> {
    match resolve_shape(api, shape?)? {
        Shape::Object { fields, .. } => Some(
            fields
                .iter()
                .filter(|field| resolve_shape(api, &field.shape).is_none())
                .map(|field| field.name.clone())
                .collect(),
        ),
        _ => Some(vec!["__typename".to_owned()]),
    }
}

/// Resolves lists and named types; `None` for a scalar.
fn resolve_shape<'a>(api: &'a Api, mut shape: &'a Shape) -> Option<&'a Shape> {
    for _ in 0..16 {
        shape = match shape {
            Shape::List(item) => item,
            Shape::Named(name) => api.types.get(name)?,
            Shape::Word(_) => return None,
            other => return Some(other),
        };
    }
    Some(shape)
}
