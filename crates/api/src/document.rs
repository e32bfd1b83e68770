//! Text to a tree: JSON and YAML, which description it is, and the references inside it.

use std::borrow::Cow;

use prospector_core::{Problem, Severity};
use serde_json::Value;

use crate::ApiError;

/// Parses JSON or YAML.
pub(crate) fn parse(text: &str, place: &str) -> Result<(Value, Vec<Problem>), ApiError> {
    let text = text.trim_start_matches('\u{feff}');
    if !text.trim_start().starts_with(['{', '[']) {
        return yaml(text, place);
    }
    let not_json = match serde_json::from_str(text) {
        Ok(value) => return Ok((value, Vec::new())),
        Err(error) => {
            ApiError::Parse { place: format!("{place}:{}", error.line()), format: "JSON", reason: error.to_string() }
        }
    };
    // YAML is more lenient, for instance with a comma at the end of a list.
    let Ok((value, mut problems)) = yaml(text, place) else { return Err(not_json) };
    let warning = Problem { severity: Severity::Warning, ..Problem::from(not_json) };
    problems.push(warning.advise("it was read as YAML; correct it, to be sure that it is read as it is meant"));
    Ok((value, problems))
}

/// Characters that YAML forbids are replaced and said, for they would cost the whole file.
fn yaml(text: &str, place: &str) -> Result<(Value, Vec<Problem>), ApiError> {
    let mut problems = Vec::new();
    let mut text = Cow::Borrowed(text);
    let forbidden = text.chars().filter(|c| is_forbidden(*c)).count();
    if forbidden > 0 {
        let reason = format!("{forbidden} control characters that YAML forbids were replaced");
        problems.push(Problem::warning(place, reason).advise("remove them, or write them as escapes in quotes"));
        text = Cow::Owned(text.replace(is_forbidden, "\u{fffd}"));
    }
    let value = serde_saphyr::from_str_with_options(&text, options()).map_err(|error| ApiError::Parse {
        place: match error.location() {
            Some(at) if at.line() > 0 => format!("{place}:{}", at.line()),
            _ => place.to_owned(),
        },
        format: "YAML",
        reason: error.to_string(),
    })?;
    Ok((value, problems))
}

/// Not printable in the sense of YAML 1.2.
fn is_forbidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// As JSON has it: `yes` and `no` are text, a repeated key is no reason to refuse the file, and what is no number is
/// text. The limits hold for files of some hundred megabytes and still stop one that unfolds without end.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
        non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::AsString,
        budget: serde_saphyr::budget! {
            max_events: 50_000_000,
            max_nodes: 25_000_000,
            max_depth: 128,
            max_total_scalar_bytes: 1 << 30,
            max_anchors: 1_000_000,
            max_aliases: 1_000_000,
            enforce_alias_anchor_ratio: false,
        },
    }
}

/// The descriptions that can be told apart. A further version gets a reader of its own here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// OpenAPI 3.0.x.
    OpenApi30,
}

/// Which description this is, or why it is none that can be read.
pub(crate) fn dialect(root: &Value, place: &str) -> Result<Dialect, ApiError> {
    let version = |key: &str| match root.get(key) {
        Some(Value::String(version)) => Some(version.clone()),
        // `openapi: 3.0` without quotes is a number in YAML.
        Some(Value::Number(version)) => Some(version.to_string()),
        _ => None,
    };
    let short = |version: &str| version.split('.').take(2).collect::<Vec<_>>().join(".");
    let other = |found: String, read: &'static str| Err(ApiError::Version { place: place.to_owned(), found, read });
    if let Some(version) = version("openapi") {
        return match short(&version).as_str() {
            "3.0" | "3" => Ok(Dialect::OpenApi30),
            found => other(format!("OpenAPI {found}"), "3.0"),
        };
    }
    if let Some(version) = version("swagger") {
        return other(format!("OpenAPI {} (Swagger)", short(&version)), "3.0");
    }
    if let Some(version) = version("asyncapi") {
        return other(format!("AsyncAPI {}", short(&version)), "OpenAPI 3.0");
    }
    if root.get("__schema").is_some() || root.pointer("/data/__schema").is_some() {
        return other("a GraphQL introspection result".to_owned(), "GraphQL schema language");
    }
    let reason = if root.is_object() { "it does not say `openapi: 3.0`" } else { "it is no object" };
    Err(ApiError::NotAnApi { place: place.to_owned(), reason })
}

/// What a reference within the document points to.
pub(crate) fn lookup<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer).or_else(|| root.pointer(&percent_decoded(pointer)?))
}

/// Why [`lookup`] found nothing.
pub(crate) fn unresolved(reference: &str) -> String {
    if reference.starts_with('#') {
        format!("the reference `{reference}` leads nowhere")
    } else {
        format!("the reference `{reference}` leads out of the file, where nothing is read")
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A key as a part of a JSON pointer.
pub(crate) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: &str) {
        let found = match parse(text, "f").and_then(|(root, _)| dialect(&root, "f")) {
            Ok(dialect) => format!("{dialect:?}"),
            Err(error) => Problem::from(error).to_string(),
        };
        assert!(found.starts_with(expected), "{found}");
    }

    #[test]
    fn the_version_decides() {
        check("openapi: 3.0.3", "OpenApi30");
        check("openapi: 3.0", "OpenApi30");
        check("\u{feff}{\"openapi\": \"3.0.0\"}", "OpenApi30");
        check("openapi: 3.1.0", "error: f: this is OpenAPI 3.1; only 3.0 is read");
        check("swagger: '2.0'", "error: f: this is OpenAPI 2.0 (Swagger); only 3.0 is read");
        check("asyncapi: 1.2.0", "error: f: this is AsyncAPI 1.2; only OpenAPI 3.0 is read");
        check("{\"data\": {\"__schema\": {}}}", "error: f: this is a GraphQL introspection result; only");
        check("name: x", "error: f: this is no API description: it does not say");
        check("just words", "error: f: this is no API description: it is no object");
        check("", "error: f: this is no API description: it is no object");
    }

    #[test]
    fn a_syntax_error_has_its_line() {
        check("openapi: 3.0.0\ninfo:\n\ttitle: x", "error: f:3: cannot parse it as YAML:");
        check("{\n\"openapi\": ]", "error: f:2: cannot parse it as JSON:");
    }

    #[test]
    fn json_with_a_comma_too_many_is_read_all_the_same() {
        let (root, problems) = parse("{\"a\": [1, 2,],}", "f").unwrap();
        assert_eq!(root, json!({"a": [1, 2]}));
        assert_eq!(problems[0].severity, Severity::Warning);
    }

    #[test]
    fn yaml_is_read_as_json_would_have_it() {
        let (root, problems) =
            parse("a: no\nb: 1\nc: 2020-01-01\nd: .nan\n200: x\nb: 1.5\ne: \"x\u{8f}\"", "f").unwrap();
        assert_eq!(root, json!({"a": "no", "b": 1.5, "c": "2020-01-01", "d": ".nan", "200": "x", "e": "x\u{fffd}"}));
        assert_eq!(problems.len(), 1);
    }

    #[test]
    fn references_are_followed_through_escapes() {
        let root = json!({"paths": {"/a/{b}": {"x": 1}}});
        assert_eq!(lookup(&root, "#/paths/~1a~1{b}/x"), Some(&json!(1)));
        assert_eq!(lookup(&root, "#/paths/~1a~1%7Bb%7D/x"), Some(&json!(1)));
        assert_eq!(lookup(&root, "other.yaml#/x"), None);
        assert_eq!(lookup(&root, "#/paths/%zz"), None);
    }
}
