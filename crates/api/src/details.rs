//! The details of one operation for a model: all of it in a few hundred tokens, or one part in full.

mod parameters;
mod render;

use prospector_core::record::Resource;
use prospector_core::tool::{Cut, Part, Text, ToolError, ToolErrorCode, ToolOutput};
use prospector_text::cut;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    Api, ApiKind, Operation,
    details::parameters::{ShownParameter, list_parameters},
    model::{Access, Parameter, Shape},
    render::{self as names, operation_resources},
    shape::{self, Fitted, Side, bytes, fit},
};

/// Maximum size of the result in bytes of JSON: by default (below 600 tokens), and when a depth or a part is
/// requested (below the limit for every result).
const USUAL: usize = 1_740;
const MORE: usize = 11_400;

/// Levels of objects shown by default.
const DEFAULT_LEVELS: usize = 5;
/// In GraphQL most types are connected and the caller selects the fields, so fewer levels are shown.
const DEFAULT_GRAPH_LEVELS: usize = 2;

/// Maximum number of levels that can be requested.
const MAX_LEVELS: usize = 12;

/// Names of the parts that can be requested.
const PARTS: [&str; 5] = ["parameters", "request_body", "response_schema", "description", "auth"];

/// Maximum length of a part's name in bytes.
const MAX_PART_BYTES: usize = 1_000;

/// The details of one operation.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct OperationDetails {
    api: String,
    operation: String,
    r#type: &'static str,
    method: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<Access>,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_body: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_schema: Option<Value>,
    /// Alternatives for authorisation; the program adds the credentials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    auth: Vec<String>,
    /// An example call.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<Value>,
    /// Name of the requested part.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// States when the operation was last seen, if the server is unavailable.
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
    /// Names of the operations that return the identifiers it requires.
    #[serde(skip)]
    providers: Vec<String>,
}

/// The requested part of an operation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PartRequest<'a> {
    /// Name of a part; `None` for the whole operation.
    pub(crate) part: Option<&'a str>,
    /// Levels of objects.
    pub(crate) depth: Option<usize>,
    /// Syntax that the caller uses to request a part.
    pub(crate) words: PartWords,
}

/// Syntax of a request for a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PartWords {
    /// An argument: `part=response_schema`.
    #[default]
    Argument,
    /// An id: `ids: ["shop.getOrder#response_schema"]`.
    Id,
}

impl PartWords {
    /// Renders requests for the parts: the first in full, the others abbreviated.
    fn spell(self, api: &Api, operation: &Operation, parts: &[String]) -> String {
        let Some((first, others)) = parts.split_first() else { return String::new() };
        let (first, start) = match self {
            PartWords::Argument => (format!("part={first}"), "part="),
            PartWords::Id => (format!("ids: {}", json!([format!("{}#{first}", api.id_of(operation))])), "#"),
        };
        std::iter::once(first)
            .chain(others.iter().map(|part| format!("{start}{part}")))
            .collect::<Vec<_>>()
            .join(", or ")
    }
}

/// Returns the details of an operation, or of the requested part.
///
/// # Errors
/// `not_found` with the closest names if the part does not exist.
pub(crate) fn details(api: &Api, operation: &Operation, asked: PartRequest<'_>) -> Result<OperationDetails, ToolError> {
    let mut details = OperationDetails {
        api: api.name.clone(),
        operation: operation.name.clone(),
        r#type: api.type_of(operation),
        method: operation.method.clone(),
        path: operation.path.clone(),
        access: operation.access(),
        deprecated: operation.deprecated,
        note: api.note().to_owned(),
        ..OperationDetails::default()
    };
    match asked.part.map(str::trim).filter(|part| !part.is_empty()) {
        None => details.whole(api, operation, asked),
        Some(part) => details.one(api, operation, part, asked)?,
    }
    Ok(details)
}

impl OperationDetails {
    fn whole(&mut self, api: &Api, operation: &Operation, PartRequest { depth, words, .. }: PartRequest<'_>) {
        let room = if depth.is_some() { MORE } else { USUAL };
        let deepest =
            depth.map_or(if api.kind == ApiKind::GraphQl { DEFAULT_GRAPH_LEVELS } else { DEFAULT_LEVELS }, levels);
        self.description = cut::sentences(&operation.description, if depth.is_some() { 1_000 } else { 140 });
        self.tags = operation.tags.iter().take(3).map(|tag| cut::sentences(tag, 40)).collect();
        self.auth = operation.auth.clone();
        self.example = Some(parameters::example(api, operation));
        let mut cut = Vec::new();
        if bytes(&json!(self.auth)) > room / 5 {
            self.auth = self.auth.iter().take(1).map(|line| cut::sentences(line, room / 6)).collect();
            cut.push("auth");
        }
        // Reserves space for `next`.
        let left = room.saturating_sub(bytes(&json!(self)) + 300);
        let types = &api.types;
        let shown = ShownParameter::of(api, operation);
        self.providers = shown.iter().flat_map(|one| &one.given_by).map(|&name| name.to_owned()).collect();
        // Responses to writes are shown with their key fields only: later steps need the id of what was created,
        // rarely the rest.
        let writes = operation.access().is_some_and(Access::is_write);
        let deepest_answer = if writes && depth.is_none() { 0 } else { deepest };
        let mut parts: Vec<(&'static str, Render<'_>)> = Vec::new();
        if !shown.is_empty() {
            parts.push(("parameters", Box::new(|room| list_parameters(&shown, room))));
        }
        if let Some(body) = &operation.request_body {
            parts.push(("request_body", Box::new(move |room| fit(types, body, Side::Request, deepest, room))));
        }
        if let Some(body) = &operation.response_schema {
            let render = move |room| fit(types, body, Side::Response, deepest_answer, room);
            parts.push(("response_schema", Box::new(render)));
        }
        let whole: Vec<Fitted> = parts.iter().map(|(_, render)| render(left)).collect();
        let wanted: Vec<usize> = whole.iter().map(|part| bytes(&part.value)).collect();
        let rooms = wanted.iter().zip(shares(&wanted, left));
        for (((name, render), whole), (wanted, room)) in parts.iter().zip(whole).zip(rooms) {
            let part = if *wanted <= room { whole } else { render(room) };
            if part.cut {
                cut.push(*name);
            }
            match (*name, part.value) {
                ("parameters", Value::Array(parameters)) => self.parameters = parameters,
                ("request_body", body) => self.request_body = Some(body),
                (_, body) => self.response_schema = Some(body),
            }
        }
        if cut.is_empty() {
            return;
        }
        self.truncated = true;
        let more = words.spell(api, operation, &self.list_parts(api, &cut));
        self.next = Some(format!("{} truncated; more: {more}", cut.join(", ")));
    }

    /// Returns the parts to request for what was truncated: the first truncated part, then the names of truncated
    /// parameters, fields and types.
    fn list_parts(&self, api: &Api, cut: &[&'static str]) -> Vec<String> {
        let mut parts: Vec<String> = cut.iter().take(1).map(|part| (*part).to_owned()).collect();
        if cut.contains(&"parameters") {
            parts.extend(self.parameters.iter().find_map(name_cut_parameter));
        }
        for (part, shape) in [("request_body", &self.request_body), ("response_schema", &self.response_schema)] {
            let Some(shape) = shape.as_ref().filter(|_| cut.contains(&part)) else { continue };
            let found = find_cut(shape, part);
            let by_type = found.iter().find(|(_, remark)| api.types.contains_key(remark)).map(|(_, name)| name.clone());
            parts.extend(by_type.or_else(|| found.into_iter().map(|(path, _)| path).find(|path| path != part)));
        }
        parts.dedup();
        parts
    }

    fn one(&mut self, api: &Api, operation: &Operation, part: &str, asked: PartRequest<'_>) -> Result<(), ToolError> {
        if part.len() > MAX_PART_BYTES {
            return Err(missing(part, &[]));
        }
        let deepest = asked.depth.map_or(MAX_LEVELS, levels);
        let (head, path) = part.split_once('.').unwrap_or((part, ""));
        let shown = match head {
            "parameters" => list_parameters(&ShownParameter::of(api, operation), MORE),
            "description" => Fitted { value: json!(operation.description), cut: false },
            "auth" => Fitted { value: json!(operation.auth), cut: false },
            "request_body" | "response_schema" if !api.types.contains_key(part) => {
                let (body, side) = match head {
                    "request_body" => (operation.request_body.as_ref(), Side::Request),
                    _ => (operation.response_schema.as_ref(), Side::Response),
                };
                let body = body.ok_or_else(|| ToolError::Respond {
                    code: ToolErrorCode::NotFound,
                    message: format!("the description of `{}` has no `{head}`", operation.name),
                    suggestion: None,
                })?;
                fit(&api.types, follow(api, body, path).map_err(|near| missing(part, &near))?, side, deepest, MORE)
            }
            _ if let Some(parameter) = find_parameter(operation, part) => {
                Fitted { value: ShownParameter::new(api, operation, parameter).render(MORE, MORE), cut: false }
            }
            _ => {
                // Names of types may contain dots.
                let type_name = part.match_indices('.').map(|(at, _)| at).chain([part.len()]).rev();
                let found = type_name.filter_map(|end| api.types.get_key_value(&part[..end])).next();
                let Some((name, _)) = found else {
                    let own = operation.parameters.iter().map(|one| one.name.as_str());
                    let candidates = PARTS.into_iter().chain(own).chain(api.types.keys().map(String::as_str));
                    return Err(missing(part, &prospector_core::name::nearest(part, candidates, 3)));
                };
                let path = part[name.len()..].trim_start_matches('.');
                let start = Shape::Named(name.clone());
                let shape = follow(api, &start, path).map_err(|near| missing(part, &near))?;
                fit(&api.types, shape, Side::Both, deepest, MORE)
            }
        };
        self.part = Some(part.to_owned());
        self.truncated = shown.cut;
        self.value = Some(shown.value);
        if shown.cut {
            self.next = Some(match head {
                "parameters" => "the remaining parameters are listed by name".to_owned(),
                _ => format!("more: {}", asked.words.spell(api, operation, &[format!("{part}.FIELD")])),
            });
        }
        Ok(())
    }
}

impl ToolOutput for OperationDetails {
    fn reveals(&self) -> Vec<Resource> {
        let providers = self.providers.iter().filter_map(|name| operation_resources(&self.api, name).pop());
        operation_resources(&self.api, &self.operation).into_iter().chain(providers).collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let mut parts = vec![
            ("description", Part::Text(&mut self.description)),
            ("tags", Part::entries(&mut self.tags)),
            ("parameters", Part::entries(&mut self.parameters)),
            ("auth", Part::entries(&mut self.auth)),
        ];
        let shapes = [
            ("request_body", self.request_body.as_mut()),
            ("response_schema", self.response_schema.as_mut()),
            ("value", self.value.as_mut()),
        ];
        parts.extend(shapes.into_iter().filter_map(|(name, shape)| Some((name, Part::value(shape?)?))));
        parts.extend(self.part.as_mut().map(|part| ("part", Part::Text(part))));
        parts
    }

    fn render(&self, cut: &Cut) -> Text {
        render::details(self, cut).into()
    }
}

/// Renders a part within a number of bytes.
type Render<'a> = Box<dyn Fn(usize) -> Fitted + 'a>;

/// Finds a parameter by name; an exact match takes precedence over one that differs in case.
fn find_parameter<'a>(operation: &'a Operation, name: &str) -> Option<&'a Parameter> {
    let exact = operation.parameters.iter().find(|one| one.name == name);
    exact.or_else(|| operation.parameters.iter().find(|one| one.name.eq_ignore_ascii_case(name)))
}

/// Returns the name of a parameter that is incomplete: one with truncated values, or the first one listed in `$cut`.
fn name_cut_parameter(shown: &Value) -> Option<String> {
    let is_cut = |value: &Value| value.as_str().is_some_and(|text| text.starts_with("… "));
    if shown["enum"].as_array().is_some_and(|values| values.last().is_some_and(is_cut)) {
        return Some(shown["name"].as_str()?.to_owned());
    }
    let (_, names) = shown["$cut"].as_str()?.split_once(": ")?;
    names.split(", ").next().map(str::to_owned)
}

/// Returns the path and the `$cut` annotation of each truncated part of a shape.
fn find_cut(shape: &Value, path: &str) -> Vec<(String, String)> {
    match shape {
        Value::Object(fields) => {
            let own = fields.get("$cut").and_then(Value::as_str).map(|remark| {
                // For omitted fields, the path of the first one.
                let named = remark.split_once(" more fields: ").and_then(|(_, names)| names.split(", ").next());
                (named.map_or_else(|| path.to_owned(), |name| format!("{path}.{name}")), remark.to_owned())
            });
            let inner = fields.iter().filter(|(name, _)| !name.starts_with('$'));
            own.into_iter().chain(inner.flat_map(|(name, value)| find_cut(value, &format!("{path}.{name}")))).collect()
        }
        Value::Array(items) => items.iter().flat_map(|item| find_cut(item, path)).collect(),
        _ => Vec::new(),
    }
}

fn levels(depth: usize) -> usize {
    depth.clamp(1, MAX_LEVELS)
}

fn missing(part: &str, near: &[String]) -> ToolError {
    ToolError::Respond {
        code: ToolErrorCode::NotFound,
        message: format!("there is no part `{}`", cut::sentences(part, 80)),
        suggestion: (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", "))),
    }
}

/// Divides the space equally; what a part does not need is divided among the others.
fn shares(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut shares = vec![0; wanted.len()];
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|at| wanted[*at]);
    let mut left = room;
    for (done, at) in order.into_iter().enumerate() {
        shares[at] = wanted[at].min(left / (wanted.len() - done));
        left -= shares[at];
    }
    shares
}

/// Returns the shape at a path such as `items.owner`, resolving named types and lists. The error contains the closest
/// field names.
fn follow<'a>(api: &'a Api, mut shape: &'a Shape, path: &str) -> Result<&'a Shape, Vec<String>> {
    let mut path = path;
    for _ in 0..10_000 {
        shape = match shape {
            Shape::Named(name) => shape::find_type(&api.types, name).ok_or_else(Vec::new)?.1,
            _ if path.is_empty() => return Ok(shape),
            Shape::List(item) => {
                path = path.strip_prefix("[].").unwrap_or(path);
                item
            }
            Shape::Content(_, Some(body)) => body,
            Shape::Object { fields, besides, .. } => match (field_at(shape, path), besides.first()) {
                (Some((left, inner)), _) => {
                    path = left;
                    inner
                }
                (None, Some(besides)) => besides,
                (None, None) => {
                    let names = fields.iter().map(|field| field.name.as_str());
                    return Err(prospector_core::name::nearest(path, names, 3));
                }
            },
            Shape::OneOf(variants) | Shape::AnyOf(variants) => {
                // The first variant with this field.
                let found = variants.iter().find_map(|variant| match variant {
                    Shape::Named(name) => field_at(shape::find_type(&api.types, name)?.1, path),
                    other => field_at(other, path),
                });
                let (left, inner) = found.ok_or_else(Vec::new)?;
                path = left;
                inner
            }
            _ => return Err(Vec::new()),
        };
    }
    Err(Vec::new())
}

/// Returns the field of an object that a path starts with, and the rest of the path.
fn field_at<'a, 'p>(shape: &'a Shape, path: &'p str) -> Option<(&'p str, &'a Shape)> {
    let Shape::Object { fields, rest, .. } = shape else { return None };
    let own = fields.iter().filter_map(|field| Some((after(names::bare(&field.name), path)?, &field.shape)));
    let rest = rest.iter().filter_map(|rest| Some((after("*", path)?, &**rest)));
    own.chain(rest).min_by_key(|(left, _)| left.len())
}

/// Returns the rest of a path after its first segment if that segment is `name`.
fn after<'p>(name: &str, path: &'p str) -> Option<&'p str> {
    match path.strip_prefix(name)? {
        "" => Some(""),
        rest => rest.strip_prefix('.'),
    }
}

#[cfg(test)]
mod tests;
