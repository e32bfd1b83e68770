//! Parses parameters, request bodies and responses of one operation.

use prospector_text::cut;
use serde_json::Value;

use super::{MAX_REMARK, Reader, is_true, words};
use crate::{
    library::{Node, ReferenceError},
    model::{Field, Location, Parameter, Shape},
    prose,
};

/// Maximum length of a parameter's name in bytes.
const MAX_NAME_BYTES: usize = 120;

/// Maximum number of parameters of a path or an operation.
const MAX_PARAMETERS: usize = 500;

/// An input of an operation: a parameter, or in 2.0 a body or a form field.
#[derive(Clone)]
pub(super) enum Sent<'a> {
    Parameter(Parameter),
    Body(Node<'a>),
    Form { name: String, required: bool, schema: Node<'a> },
}

impl Sent<'_> {
    pub(super) fn is_same(&self, other: &Sent<'_>) -> bool {
        match (self, other) {
            (Sent::Parameter(a), Sent::Parameter(b)) => a.name == b.name && a.location == b.location,
            (Sent::Body(_), Sent::Body(_)) => true,
            (Sent::Form { name: a, .. }, Sent::Form { name: b, .. }) => a == b,
            _ => false,
        }
    }

    pub(super) fn parameter(self) -> Option<Parameter> {
        match self {
            Sent::Parameter(parameter) => Some(parameter),
            _ => None,
        }
    }
}

impl<'a> Reader<'a> {
    /// Reads the parameters of a path or an operation; an invalid parameter does not affect others.
    pub(super) fn parameters(&mut self, node: Node<'a>, place: &str) -> Vec<Sent<'a>> {
        let mut sent = Vec::new();
        match node.value.get("parameters") {
            None | Some(Value::Null) => {}
            Some(Value::Array(items)) => {
                if items.len() > MAX_PARAMETERS {
                    let reason = format!("only the first {MAX_PARAMETERS} of {} are read", items.len());
                    self.warn(&format!("{place}/parameters"), "a part of `parameters`", &reason);
                }
                for (number, value) in items.iter().enumerate().take(MAX_PARAMETERS) {
                    match self.read_sent(Node { value, ..node }) {
                        Ok(one) => sent.push(one),
                        Err(fault) => {
                            let name = value.get("name").and_then(Value::as_str).map(|name| cut::sentences(name, 60));
                            let part = name.map_or("the parameter".to_owned(), |name| format!("parameter `{name}`"));
                            self.warn(&format!("{place}/parameters/{number}"), &part, &fault.to_string());
                        }
                    }
                }
            }
            Some(_) => self.warn(&format!("{place}/parameters"), "`parameters`", "not a list"),
        }
        sent
    }

    fn read_sent(&mut self, node: Node<'a>) -> Result<Sent<'a>, ParameterError> {
        let (node, _) = self.library.resolve(node)?;
        let value = node.value;
        if !value.is_object() {
            return Err(ParameterError::NoObject);
        }
        let within = value.get("in").and_then(Value::as_str).map(str::to_ascii_lowercase);
        // In 2.0 the parameter itself contains the type.
        let content = || choose_media_type(value.get("content")?).and_then(|(_, media)| media.get("schema"));
        let schema = value.get("schema").or_else(content).unwrap_or(value);
        let schema = Node { value: schema, ..node };
        let name = words(value.get("name"));
        let location = match within.as_deref() {
            Some("path") => Location::Path,
            Some("query") => Location::Query,
            Some("header") => Location::Header,
            Some("cookie") => Location::Cookie,
            Some("body") => return Ok(Sent::Body(schema)),
            Some("formdata") => {
                let name = check_name(name)?;
                return Ok(Sent::Form { name, required: is_true(value.get("required")), schema });
            }
            Some("querystring") => return Err(ParameterError::QueryString),
            Some(other) => return Err(ParameterError::Location(cut::sentences(other, 40))),
            None => return Err(ParameterError::NoLocation),
        };
        let (values, default) = self.schemas.values(schema);
        let description = words(value.get("description")).or_else(|| words(schema.value.get("description")));
        Ok(Sent::Parameter(Parameter {
            name: check_name(name)?,
            location,
            r#type: self.schemas.type_name(schema),
            required: is_true(value.get("required")) || location == Location::Path,
            is_credential: false,
            description: cut::sentences(&prose::plain(&description.unwrap_or_default()), MAX_REMARK),
            values,
            default,
        }))
    }

    /// Returns the shape of the request body: `requestBody` in 3, a parameter or the form fields in 2.0.
    pub(super) fn request_body(&mut self, node: Node<'a>, sent: &[Sent<'a>], place: &str) -> Option<Shape> {
        if let Some(value) = node.value.get("requestBody").filter(|body| !body.is_null()) {
            return match self.library.resolve(Node { value, ..node }) {
                Ok((body, reference)) => self.content(body, reference),
                Err(error) => {
                    self.warn(&format!("{place}/requestBody"), "the request body", &error.to_string());
                    None
                }
            };
        }
        let mut fields = Vec::new();
        let mut file = false;
        for one in sent {
            match one {
                Sent::Body(schema) => {
                    let shape = self.schemas.shape(*schema);
                    return Some(self.in_medium(shape, node, "consumes"));
                }
                Sent::Form { name, required, schema } => {
                    let is_file = schema.value.get("type").and_then(Value::as_str) == Some("file");
                    file |= is_file;
                    let shape = if is_file { Shape::Word("file".to_owned()) } else { self.schemas.shape(*schema) };
                    let (name, required) = (name.clone(), *required);
                    fields.push(Field { name, shape, required, read_only: false, write_only: false });
                }
                Sent::Parameter(_) => {}
            }
        }
        if fields.is_empty() {
            return None;
        }
        let medium = if file { "multipart/form-data" } else { "application/x-www-form-urlencoded" };
        let form = Shape::Object { fields, rest: None, besides: Vec::new() };
        Some(Shape::Content(medium.to_owned(), Some(Box::new(form))))
    }

    /// Returns the shape of a successful response: that of the lowest 2xx with a body, or of `default` if there is no
    /// 2xx.
    pub(super) fn response(&mut self, node: Node<'a>, place: &str) -> Option<Shape> {
        let responses = match node.value.get("responses") {
            None | Some(Value::Null) => return None,
            Some(Value::Object(responses)) => responses,
            Some(_) => {
                self.warn(&format!("{place}/responses"), "`responses`", "not an object");
                return None;
            }
        };
        let mut good: Vec<(&String, &'a Value)> =
            responses.iter().filter(|(code, _)| code.starts_with('2') && code.len() == 3).collect();
        good.sort_by_key(|(code, _)| code.to_ascii_uppercase());
        if good.is_empty() {
            good.extend(responses.get_key_value("default"));
        }
        for (code, value) in good {
            let response = match self.library.resolve(Node { value, ..node }) {
                Ok((response, reference)) if response.value.is_object() => (response, reference),
                other => {
                    let reason = other.err().map_or("not an object".to_owned(), |error| error.to_string());
                    self.warn(&format!("{place}/responses/{code}"), "the response", &reason);
                    continue;
                }
            };
            let (response, reference) = response;
            if let Some(value) = response.value.get("schema").filter(|schema| !schema.is_null()) {
                let shape = self.schemas.shared_shape(Node { value, ..response }, reference);
                return Some(self.in_medium(shape, node, "produces"));
            }
            if let Some(shape) = self.content(response, reference) {
                return Some(shape);
            }
        }
        None
    }

    /// Returns the shape of a body in 3, with its media type if that is not JSON.
    fn content(&mut self, body: Node<'a>, reference: Option<&'a str>) -> Option<Shape> {
        let (media_type, media) = choose_media_type(body.value.get("content")?)?;
        let media = self.library.resolve(Node { value: media, ..body }).map_or(body, |(media, _)| media);
        let schema = media.value.get("schema").or_else(|| media.value.get("itemSchema")).filter(|s| !s.is_null());
        let shape = schema.map(|value| self.schemas.shared_shape(Node { value, ..media }, reference));
        Some(match (media_type.contains("json"), shape) {
            (true, Some(shape)) => shape,
            (true, None) => Shape::Word("any".to_owned()),
            (false, shape) => Shape::Content(cut::sentences(media_type, 80), shape.map(Box::new)),
        })
    }

    /// Adds the media type of 2.0, which the operation or the document declares; JSON by default.
    fn in_medium(&self, shape: Shape, node: Node<'a>, key: &str) -> Shape {
        let types = node.value.get(key).or_else(|| self.root.get(key)).and_then(Value::as_array);
        let types: Vec<&str> = types.into_iter().flatten().filter_map(Value::as_str).collect();
        match types.first() {
            Some(first) if !types.iter().any(|t| t.contains("json") || *t == "*/*") => {
                Shape::Content(cut::sentences(first, 80), Some(Box::new(shape)))
            }
            _ => shape,
        }
    }
}

/// Why a parameter is skipped.
#[derive(Debug, thiserror::Error)]
enum ParameterError {
    #[error("not an object")]
    NoObject,
    #[error("`in` is missing")]
    NoLocation,
    #[error("unsupported `in: {0}`")]
    Location(String),
    #[error("unsupported `in: querystring`")]
    QueryString,
    #[error("`name` is missing")]
    NoName,
    #[error("`name` is empty")]
    EmptyName,
    #[error("`name` is longer than {MAX_NAME_BYTES} bytes")]
    LongName,
    #[error(transparent)]
    Reference(#[from] ReferenceError),
}

fn check_name(name: Option<String>) -> Result<String, ParameterError> {
    match name {
        Some(name) if name.trim().is_empty() => Err(ParameterError::EmptyName),
        Some(name) if name.len() > MAX_NAME_BYTES => Err(ParameterError::LongName),
        Some(name) => Ok(name),
        None => Err(ParameterError::NoName),
    }
}

/// Prefers JSON, then forms, then any other media type.
fn choose_media_type(content: &Value) -> Option<(&str, &Value)> {
    let rank = |name: &str| match name {
        _ if name.starts_with("application/json") => 0,
        _ if name.contains("json") => 1,
        _ if name.contains("form") => 2,
        _ => 3,
    };
    let content = content.as_object()?.iter().map(|(name, media)| (name.as_str(), media));
    content.min_by_key(|(name, _)| rank(name))
}
