//! Builds GET requests: the path with its arguments filled in.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use prospector_core::tool::ToolError;
use serde_json::{Map, Value};

use super::{check, refuse};
use crate::{Operation, model::Location};

/// All characters but the unreserved ones of RFC 3986, section 2.3, so that an argument cannot change the structure
/// of the URL.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the path of a call with its query string: `/orders/7?limit=2`.
pub(super) fn path(operation: &Operation, arguments: &Map<String, Value>) -> Result<String, ToolError> {
    if operation.method != "GET" {
        let reason = format!("`{}` is a {}; only GET operations can be called", operation.name, operation.method);
        return Err(refuse(reason, "add it to the plan without calling it".into()));
    }
    let of = |location: Location| operation.parameters.iter().filter(move |p| p.location == location);
    for location in [Location::Header, Location::Cookie] {
        if let Some(parameter) = of(location).find(|parameter| parameter.required) {
            let reason = format!("`{}` requires `{}`, which is not part of the URL", operation.name, parameter.name);
            return Err(refuse(
                reason,
                "add it to the plan without calling it, or set `headers` in the catalog".into(),
            ));
        }
    }
    check(operation, of(Location::Path).chain(of(Location::Query)), arguments)?;
    let mut path = operation.path.clone();
    for parameter in of(Location::Path) {
        let value = arguments.get(&parameter.name).or(parameter.default.as_ref()).map(text);
        let value = value.transpose()?.unwrap_or_default();
        // `.` and `..` would change the path.
        if value.is_empty() || value.chars().all(|c| c == '.') {
            let message = format!("`{}` cannot be {value:?} in a path", parameter.name);
            return Err(ToolError::invalid(message, Some("pass its value".into())));
        }
        path = path.replace(&format!("{{{}}}", parameter.name), &percent_encode(&value));
    }
    if path.contains(['{', '}']) {
        let reason = format!("the path `{path}` of `{}` has a placeholder that is not a parameter", operation.name);
        return Err(refuse(reason, "add it to the plan without calling it".into()));
    }
    let mut pairs = Vec::new();
    for parameter in of(Location::Query) {
        match arguments.get(&parameter.name) {
            None | Some(Value::Null) => {}
            // Repeated, which is the default of OpenAPI (`style: form`, `explode: true`).
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
        _ => Err(ToolError::invalid(format!("{value} is not a string, number or boolean"), None)),
    }
}

fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}
