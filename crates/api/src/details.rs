//! One operation as a model is shown it: everything in a few hundred tokens, or one part of it in full.

mod render;

use prospector_core::record::Resource;
use prospector_core::tool::{Cut, Part as Cuttable, Text, ToolError, ToolErrorCode, ToolOutput};
use prospector_text::cut;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    Api, ApiKind, Operation,
    identifier::find_givers,
    model::{Access, Parameter, Shape},
    render::{self as names, operation_resources},
    shape::{self, Fitted, Side, bytes, fit},
};

/// How large the answer may be, in bytes of JSON: by default, which is below 600 tokens, and when more is asked for,
/// which is below the cap on every answer.
const USUAL: usize = 1_740;
const MORE: usize = 11_400;

/// How many levels of objects are shown by default.
const DEFAULT_LEVELS: usize = 5;
/// In GraphQL everything is connected, and the caller chooses the fields.
const DEFAULT_GRAPH_LEVELS: usize = 2;

/// The most levels that can be asked for.
const MAX_LEVELS: usize = 12;

/// The parts that can be asked for.
const PARTS: [&str; 5] = ["parameters", "request_body", "response_schema", "description", "auth"];

/// The longest part that is looked for, in bytes.
const MAX_PART_BYTES: usize = 1_000;

/// What an operation takes and returns.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    auth: Vec<String>,
    /// The part that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// The operations that give its identifiers.
    #[serde(skip)]
    givers: Vec<String>,
}

/// What of an operation is asked for, and how.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PartRequest<'a> {
    /// One part alone.
    pub(crate) part: Option<&'a str>,
    /// How many levels of objects.
    pub(crate) depth: Option<usize>,
    /// How whoever asks can ask for a part.
    pub(crate) words: PartWords,
}

/// How a part is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PartWords {
    /// By an argument: `part=response_schema`.
    #[default]
    Argument,
    /// By an id: `ids: ["shop.getOrder#response_schema"]`.
    Id,
}

impl PartWords {
    /// How to ask for a part of an operation, and for a type that it names.
    fn spell(self, api: &Api, operation: &Operation, part: &str) -> String {
        let spelled = match self {
            PartWords::Argument => format!("part={part}"),
            PartWords::Id => format!("ids: {}", json!([format!("{}#{part}", api.id_of(operation))])),
        };
        match (self, api.types.is_empty()) {
            (_, true) => spelled,
            (PartWords::Argument, false) => spelled + ", or part=NAME for a name after $cut",
            (PartWords::Id, false) => spelled + ", or #NAME for a name after $cut",
        }
    }
}

/// The whole operation, or the part that is asked for.
///
/// # Errors
/// `not_found` with the nearest names, where there is no such part.
pub(crate) fn details(api: &Api, operation: &Operation, asked: PartRequest<'_>) -> Result<OperationDetails, ToolError> {
    let mut details = OperationDetails {
        api: api.name.clone(),
        operation: operation.name.clone(),
        r#type: api.type_of(operation),
        method: operation.method.clone(),
        path: operation.path.clone(),
        access: operation.access(),
        description: String::new(),
        tags: Vec::new(),
        deprecated: operation.deprecated,
        parameters: Vec::new(),
        request_body: None,
        response_schema: None,
        auth: Vec::new(),
        part: None,
        value: None,
        truncated: false,
        next: None,
        givers: Vec::new(),
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
        let mut cut = Vec::new();
        if bytes(&json!(self.auth)) > room / 5 {
            self.auth = self.auth.iter().take(1).map(|line| cut::sentences(line, room / 6)).collect();
            cut.push("auth");
        }
        // What the note on cuts takes at most.
        let left = room.saturating_sub(bytes(&json!(self)) + 300);
        let types = &api.types;
        let parameters = ShownParameter::of(api, operation);
        self.givers = parameters.iter().flat_map(|one| &one.given_by).map(|&name| name.to_owned()).collect();
        // Of what a write answers the key fields: what was made is needed later, the rest of it seldom.
        let writes = operation.access().is_some_and(Access::is_write);
        let deepest_answer = if writes && depth.is_none() { 0 } else { deepest };
        let parts: [Option<Part<'_>>; 3] = [
            (!parameters.is_empty()).then_some(Part::Parameters(&parameters)),
            operation.request_body.as_ref().map(|body| Part::Shape(body, Side::Request, deepest)),
            operation.response_schema.as_ref().map(|body| Part::Shape(body, Side::Response, deepest_answer)),
        ];
        let render = |part: &Part<'_>, room: usize| match part {
            Part::Parameters(parameters) => list_parameters(parameters, room),
            Part::Shape(shape, side, deepest) => fit(types, shape, *side, *deepest, room),
        };
        let whole: Vec<Option<Fitted>> =
            parts.iter().map(|part| part.as_ref().map(|part| render(part, left))).collect();
        let wanted: Vec<usize> = whole.iter().map(|part| part.as_ref().map_or(0, |part| bytes(&part.value))).collect();
        let rooms = shares(&wanted, left);
        let mut fitted =
            parts.iter().zip(whole).zip(wanted.iter().zip(rooms)).map(|((part, whole), (wanted, room))| {
                let part = part.as_ref()?;
                if *wanted <= room { whole } else { Some(render(part, room)) }
            });
        let mut next = |name: &'static str| {
            let part = fitted.next().flatten()?;
            if part.cut {
                cut.push(name);
            }
            Some(part.value)
        };
        if let Some(Value::Array(parameters)) = next("parameters") {
            self.parameters = parameters;
        }
        self.request_body = next("request_body");
        self.response_schema = next("response_schema");
        if cut.is_empty() {
            return;
        }
        self.truncated = true;
        self.next = Some(format!("{} cut short; more: {}", cut.join(", "), words.spell(api, operation, cut[0])));
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
                let body = body.ok_or_else(|| missing(part, &["it is empty: nothing is described".to_owned()]))?;
                fit(&api.types, follow(api, body, path).map_err(|near| missing(part, &near))?, side, deepest, MORE)
            }
            _ => {
                // The name of a type may have dots.
                let type_name = part.match_indices('.').map(|(at, _)| at).chain([part.len()]).rev();
                let found = type_name.filter_map(|end| api.types.get_key_value(&part[..end])).next();
                let Some((name, _)) = found else {
                    let candidates = PARTS.into_iter().chain(api.types.keys().map(String::as_str));
                    return Err(missing(part, &prospector_core::name::nearest(part, candidates, 3)));
                };
                let path = part[name.len()..].trim_start_matches('.');
                let start = Shape::Named(name.clone());
                fit(
                    &api.types,
                    follow(api, &start, path).map_err(|near| missing(part, &near))?,
                    Side::Both,
                    deepest,
                    MORE,
                )
            }
        };
        self.part = Some(part.to_owned());
        self.truncated = shown.cut;
        self.value = Some(shown.value);
        if shown.cut {
            self.next = Some(match head {
                "parameters" => "the names of all are listed".to_owned(),
                _ => format!("more: {}", asked.words.spell(api, operation, &format!("{part}.FIELD"))),
            });
        }
        Ok(())
    }
}

impl ToolOutput for OperationDetails {
    fn reveals(&self) -> Vec<Resource> {
        let givers = self.givers.iter().filter_map(|name| operation_resources(&self.api, name).pop());
        operation_resources(&self.api, &self.operation).into_iter().chain(givers).collect()
    }

    fn parts(&mut self) -> Vec<(&str, Cuttable<'_>)> {
        let mut parts = vec![
            ("description", Cuttable::Text(&mut self.description)),
            ("tags", Cuttable::entries(&mut self.tags)),
            ("parameters", Cuttable::entries(&mut self.parameters)),
            ("auth", Cuttable::entries(&mut self.auth)),
        ];
        let shapes = [
            ("request_body", self.request_body.as_mut()),
            ("response_schema", self.response_schema.as_mut()),
            ("value", self.value.as_mut()),
        ];
        parts.extend(shapes.into_iter().filter_map(|(name, shape)| Some((name, Cuttable::value(shape?)?))));
        parts.extend(self.part.as_mut().map(|part| ("part", Cuttable::Text(part))));
        parts
    }

    fn render(&self, cut: &Cut) -> Text {
        render::details(self, cut).into()
    }
}

enum Part<'a> {
    Parameters(&'a [ShownParameter<'a>]),
    /// With the most levels of objects that are shown of it.
    Shape(&'a Shape, Side, usize),
}

/// A parameter, and the operations that give its value where it must be passed and identifies something.
struct ShownParameter<'a> {
    parameter: &'a Parameter,
    given_by: Vec<&'a str>,
}

impl<'a> ShownParameter<'a> {
    fn of(api: &'a Api, operation: &'a Operation) -> Vec<ShownParameter<'a>> {
        let shown = |parameter| ShownParameter { parameter, given_by: find_givers(api, operation, parameter) };
        operation.parameters.iter().map(shown).collect()
    }

    fn render(&self, words: usize, values: usize) -> Value {
        let mut told = self.parameter.clone();
        told.description = if words == 0 { String::new() } else { cut::sentences(&told.description, words) };
        if told.values.len() > values {
            let more = told.values.len() - values;
            told.values.truncate(values);
            told.values.push(json!(format!("… {more} more")));
        }
        if values == 0 {
            told.values.clear();
        }
        let mut told = json!(told);
        if !self.given_by.is_empty() {
            told["given_by"] = json!(self.given_by);
        }
        told
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

/// Divides the room: who wants less than an equal share leaves the rest of it to the others.
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

/// The parameters, with as many words on each as there is room for; where even their bare names are too many, those
/// that must be passed first, then how many there are besides.
fn list_parameters(parameters: &[ShownParameter<'_>], room: usize) -> Fitted {
    for (words, values) in [(200, 17), (80, 17), (40, 6), (0, 3)] {
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
        let value = shown.render(0, 0);
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

/// What stands at a path such as `items.owner` within a shape; names and lists are gone through. The error has the
/// names that there are instead.
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
            Shape::Object { fields, rest, besides } => {
                let own =
                    fields.iter().filter_map(|field| Some((after(names::bare(&field.name), path)?, &field.shape)));
                let rest = rest.iter().filter_map(|rest| Some((after("*", path)?, &**rest)));
                let found = own.chain(rest).min_by_key(|(left, _)| left.len());
                match (found, besides.first()) {
                    (Some((left, inner)), _) => {
                        path = left;
                        inner
                    }
                    (None, Some(besides)) => besides,
                    (None, None) => {
                        let names = fields.iter().map(|field| field.name.as_str());
                        return Err(prospector_core::name::nearest(path, names, 3));
                    }
                }
            }
            Shape::OneOf(variants) | Shape::AnyOf(variants) => {
                // The first variant that has such a field.
                let found = variants.iter().find_map(|variant| within(api, variant, path));
                let (left, inner) = found.ok_or_else(Vec::new)?;
                path = left;
                inner
            }
            _ => return Err(Vec::new()),
        };
    }
    Err(Vec::new())
}

/// The field of an object that a path begins with, and the rest of the path.
fn within<'a, 'p>(api: &'a Api, shape: &'a Shape, path: &'p str) -> Option<(&'p str, &'a Shape)> {
    let shape = match shape {
        Shape::Named(name) => shape::find_type(&api.types, name)?.1,
        other => other,
    };
    let Shape::Object { fields, .. } = shape else { return None };
    let found = fields.iter().filter_map(|field| Some((after(names::bare(&field.name), path)?, &field.shape)));
    found.min_by_key(|(left, _)| left.len())
}

/// The rest of a path after its first part, if that is this name.
fn after<'p>(name: &str, path: &'p str) -> Option<&'p str> {
    match path.strip_prefix(name)? {
        "" => Some(""),
        rest => rest.strip_prefix('.'),
    }
}

#[cfg(test)]
mod tests;
