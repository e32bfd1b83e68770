//! Parses JSON and YAML, detects the format of a description, and resolves JSON pointers.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use prospector_core::Problem;
use prospector_core::problem::Severity;
use serde_json::Value;

use crate::{ApiKind, tool_list::is_tools};

/// Parses JSON or YAML.
///
/// # Errors
/// The syntax error, at its line if known.
pub(crate) fn parse(text: &str, place: &str) -> Result<(Value, Vec<Problem>), Problem> {
    let text = text.trim_start_matches('\u{feff}');
    if !text.trim_start().starts_with(['{', '[']) {
        return yaml(text, place);
    }
    let not_json = match serde_json::from_str(text) {
        Ok(value) => return Ok((value, Vec::new())),
        Err(error) => syntax_error(format!("{place}:{}", error.line()), "JSON", &error.to_string()),
    };
    // YAML is more lenient; it accepts trailing commas, for example.
    let Ok((value, mut problems)) = yaml(text, place) else { return Err(not_json) };
    let warning = Problem { severity: Severity::Warning, ..not_json };
    problems.push(warning.advise("the text was parsed as YAML; fix the JSON so that it cannot be misread"));
    Ok((value, problems))
}

/// Replaces characters that YAML forbids, with a warning; they would make the whole file invalid.
fn yaml(text: &str, place: &str) -> Result<(Value, Vec<Problem>), Problem> {
    let mut problems = Vec::new();
    let mut text = Cow::Borrowed(text);
    let forbidden = text.chars().filter(|c| is_forbidden(*c)).count();
    if forbidden > 0 {
        let reason = format!("replaced {forbidden} control characters that YAML forbids");
        problems.push(Problem::warning(place, reason).advise("remove them, or write them as escapes in quotes"));
        text = Cow::Owned(text.replace(is_forbidden, "\u{fffd}"));
    }
    let value = with_room(|| serde_saphyr::from_str_with_options(&text, options(text.len())))
        .map_err(|reason| syntax_error(place.to_owned(), "YAML", reason))?
        .map_err(|error| {
            let line = error.location().map(|at| at.line()).filter(|line| *line > 0);
            let place = line.map_or(place.to_owned(), |line| format!("{place}:{line}"));
            syntax_error(place, "YAML", &error.to_string())
        })?;
    Ok((value, problems))
}

fn syntax_error(place: String, format: &str, reason: &str) -> Problem {
    Problem::error(place, format!("invalid {format}: {reason}")).advise("fix the syntax error")
}

/// Parses on a separate thread: the parser is recursive, and its depth limit needs more stack than the caller may
/// have left.
fn with_room<T: Send>(parse: impl FnOnce() -> T + Send) -> Result<T, &'static str> {
    const STACK: usize = 32 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, parse);
        thread.map_err(|_| "cannot start a thread for the parser")?.join().map_err(|_| "the parser failed")
    })
}

/// Returns whether a character is not printable according to YAML 1.2.
fn is_forbidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Options for JSON semantics: `yes` and `no` are strings, duplicate keys are accepted. Each node takes at least one
/// byte of text, so only aliases can make a document larger than its text; the default replay limit bounds them to
/// about a million nodes, and nested anchors fail earlier.
fn options(length: usize) -> serde_saphyr::Options {
    serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
        non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::AsString,
        budget: serde_saphyr::budget! {
            max_events: length.saturating_mul(2).saturating_add(3_000_000),
            max_nodes: length.saturating_add(1_000_000),
            max_depth: 128,
            max_total_scalar_bytes: length.saturating_mul(2).saturating_add(64 << 20),
            max_anchors: 1_000_000,
            max_aliases: 1_000_000,
            max_recorded_anchor_events: (length / 4).saturating_add(50_000),
            enforce_alias_anchor_ratio: false,
        },
    }
}

/// Detects the format of a parsed description; GraphQL is the result of an introspection query. An unknown or missing version is a warning.
///
/// # Errors
/// If the format is unsupported, or the document is not a description.
pub(crate) fn dialect(root: &Value, place: &str) -> Result<(ApiKind, Option<Problem>), Problem> {
    let version = |key: &str| match root.get(key) {
        Some(Value::String(version)) => Some(version.trim().to_owned()),
        // `openapi: 3.0` without quotes is a number in YAML.
        Some(Value::Number(version)) => Some(version.to_string()),
        _ => None,
    };
    let short = |version: &str| version.split('.').take(2).collect::<Vec<_>>().join(".");
    let other = |found: String| {
        let supported = "OpenAPI 3, Swagger 2.0, GraphQL and lists of MCP tools";
        let problem = Problem::error(place, format!("unsupported format {found}; supported: {supported}"));
        Err(problem.advise("convert the file, or remove the API from the catalog"))
    };
    let guess = |reason: String| Ok((ApiKind::OpenApi, Some(Problem::warning(place, reason))));
    if let Some(version) = version("openapi").or_else(|| version("swagger")) {
        return match short(&version).as_str() {
            "2" | "2.0" | "3" | "3.0" | "3.1" | "3.2" => Ok((ApiKind::OpenApi, None)),
            found if found.starts_with("3.") => guess(format!("unknown version OpenAPI {found}; parsed as 3.2")),
            found => other(format!("OpenAPI {found}")),
        };
    }
    if root.get("__schema").is_some() || root.pointer("/data/__schema").is_some() {
        return Ok((ApiKind::GraphQl, None));
    }
    if is_tools(root) {
        return Ok((ApiKind::Mcp, None));
    }
    if let Some(version) = version("asyncapi") {
        return other(format!("AsyncAPI {}", short(&version)));
    }
    if root.get("paths").is_some_and(Value::is_object) {
        return guess("the OpenAPI version is missing; parsed as 3.0".to_owned());
    }
    let reason = if root.is_object() { "the key `openapi` or `swagger` is missing" } else { "it is not an object" };
    Err(not_an_api(place, reason))
}

/// Reports that a text is not a description of an API.
pub(crate) fn not_an_api(place: &str, reason: &str) -> Problem {
    Problem::error(place, format!("not an API description: {reason}")).advise("name a file that describes an API")
}

/// Resolves a JSON pointer, as it follows the `#` of a reference. A bare name refers to a schema.
pub(crate) fn resolve_pointer<'a>(root: &'a Value, pointer: &str) -> Option<&'a Value> {
    let found = root.pointer(pointer).or_else(|| root.pointer(&percent_decode_str(pointer).decode_utf8().ok()?));
    found.or_else(|| {
        if pointer.contains('/') {
            return None;
        }
        let places = ["/components/schemas", "/definitions", "/$defs"];
        places.iter().find_map(|place| root.pointer(place)?.get(pointer))
    })
}

/// Escapes a key for a JSON pointer.
pub(crate) fn escape_key(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: &str) {
        let found = match parse(text, "f").and_then(|(root, _)| dialect(&root, "f")) {
            Ok((dialect, None)) => format!("{dialect:?}"),
            Ok((_, Some(problem))) => problem.to_string(),
            Err(problem) => problem.to_string(),
        };
        assert!(found.starts_with(expected), "{found}");
    }

    #[test]
    fn detects_format_by_version() {
        check("openapi: 3.0.3", "OpenApi");
        check("openapi: 3.0", "OpenApi");
        check("openapi: 3.1.0", "OpenApi");
        check("swagger: 2.0", "OpenApi");
        check("\u{feff}{\"openapi\": \"3.0.0\"}", "OpenApi");
        check("openapi: 3.7.0", "warning: f: unknown version OpenAPI 3.7");
        check("paths: {}", "warning: f: the OpenAPI version is missing");
        check("swagger: '1.2'", "error: f: unsupported format OpenAPI 1.2; supported");
        check("asyncapi: 1.2.0", "error: f: unsupported format AsyncAPI 1.2; supported");
        check("{\"data\": {\"__schema\": {}}}", "GraphQl");
        check("name: x", "error: f: not an API description: the key");
        check("just words", "error: f: not an API description: it is not an object");
        check("", "error: f: not an API description: it is not an object");
    }

    #[test]
    fn syntax_error_has_line() {
        check("openapi: 3.0.0\ninfo:\n\ttitle: x", "error: f:3: invalid YAML:");
        check("{\n\"openapi\": ]", "error: f:2: invalid JSON:");
    }

    #[test]
    fn accepts_json_with_trailing_comma() {
        let (root, problems) = parse("{\"a\": [1, 2,],}", "f").unwrap();
        assert_eq!(root, json!({"a": [1, 2]}));
        assert_eq!(problems[0].severity, Severity::Warning);
    }

    #[test]
    fn yaml_has_json_semantics() {
        let (root, problems) =
            parse("a: no\nb: 1\nc: 2020-01-01\nd: .nan\n200: x\nb: 1.5\ne: \"x\u{8f}\"", "f").unwrap();
        assert_eq!(root, json!({"a": "no", "b": 1.5, "c": "2020-01-01", "d": ".nan", "200": "x", "e": "x\u{fffd}"}));
        assert_eq!(problems.len(), 1);
    }

    #[test]
    fn resolves_escaped_pointers() {
        let root = json!({"paths": {"/a/{b}": {"x": 1}}, "definitions": {"Pet": 2}});
        assert_eq!(resolve_pointer(&root, "/paths/~1a~1{b}/x"), Some(&json!(1)));
        assert_eq!(resolve_pointer(&root, "/paths/~1a~1%7Bb%7D/x"), Some(&json!(1)));
        assert_eq!(resolve_pointer(&root, "Pet"), Some(&json!(2)));
        assert_eq!(resolve_pointer(&root, "/paths/%zz"), None);
        assert_eq!(resolve_pointer(&root, "").map(Value::is_object), Some(true));
    }

    #[test]
    fn rejects_exponential_and_deep_documents() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let before = format!("*a{}, ", level - 1).repeat(10);
            bomb.push_str(&format!("a{level}: &a{level} [{before}]\n"));
        }
        check(&bomb, "error: f:5: invalid YAML:");
        check(&"[".repeat(100_000), "error: f");
        check(&"{\"a\":".repeat(100_000), "error: f");
        check(&format!("openapi: {}", "[".repeat(100_000)), "error: f");
        check(&(0..400).map(|n| format!("{}a:\n", " ".repeat(n))).collect::<String>(), "error: f");
    }
}
