//! A GET: its path with the arguments in place.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use prospector_core::tool::ToolError;
use serde_json::{Map, Value};

use super::{check, refuse};
use crate::{Operation, model::Location};

/// Everything but the unreserved signs of RFC 3986, section 2.3: an argument never becomes part of the structure.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The path of a call with its query, `/orders/7?limit=2`.
pub(super) fn path(operation: &Operation, arguments: &Map<String, Value>) -> Result<String, ToolError> {
    if operation.method != "GET" {
        let reason = format!("`{}` is a {}; only GET operations are called", operation.name, operation.method);
        return Err(refuse(reason, "name it in the plan instead".into()));
    }
    let of = |location: Location| operation.parameters.iter().filter(move |p| p.location == location);
    for location in [Location::Header, Location::Cookie] {
        if let Some(parameter) = of(location).find(|parameter| parameter.required) {
            let reason = format!("`{}` needs `{}` outside of its URL", operation.name, parameter.name);
            return Err(refuse(
                reason,
                "name it in the plan instead; the catalog can give `headers` of its own".into(),
            ));
        }
    }
    check(operation, of(Location::Path).chain(of(Location::Query)), arguments)?;
    let mut path = operation.path.clone();
    for parameter in of(Location::Path) {
        let value = arguments.get(&parameter.name).or(parameter.default.as_ref()).map(text);
        let value = value.transpose()?.unwrap_or_default();
        // A segment of dots would lead elsewhere.
        if value.is_empty() || value.chars().all(|c| c == '.') {
            let message = format!("`{}` cannot be {value:?} in a path", parameter.name);
            return Err(ToolError::invalid(message, Some("give its value".into())));
        }
        path = path.replace(&format!("{{{}}}", parameter.name), &percent_encode(&value));
    }
    if path.contains(['{', '}']) {
        let reason = format!("the path `{path}` of `{}` has a part that it does not describe", operation.name);
        return Err(refuse(reason, "name it in the plan instead".into()));
    }
    let mut pairs = Vec::new();
    for parameter in of(Location::Query) {
        match arguments.get(&parameter.name) {
            None | Some(Value::Null) => {}
            // Repeated, as OpenAPI has it where nothing else is said (`style: form`, `explode: true`).
            Some(Value::Array(items)) => {
                for item in items {
                    pairs.push((&parameter.name, text(item)?));
                }
            }
            Some(value) => pairs.push((&parameter.name, text(value)?)),
        }
    }
    for (n, (name, value)) in pairs.iter().enumerate() {
        path.push(if n == 0 && !operation.path.contains('?') { '?' } else { '&' });
        path.push_str(&format!("{}={}", percent_encode(name), percent_encode(value)));
    }
    Ok(path)
}

fn text(value: &Value) -> Result<String, ToolError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(ToolError::invalid(format!("{value} is no text, number or truth value"), None)),
    }
}

fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}
