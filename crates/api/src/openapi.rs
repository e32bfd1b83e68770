//! Converts OpenAPI 3 and Swagger 2.0 to operations. One parser for both reads the untyped tree: real descriptions
//! mix the versions, and a typed model would reject a whole description for a single error.

mod parts;
mod security;

use std::{borrow::Cow, collections::HashSet, path::PathBuf};

use prospector_core::Problem;
use prospector_text::cut;
use serde_json::Value;

use crate::{
    Api, Operation, credentials,
    document::escape_key,
    library::{Library, Node},
    model::Parameter,
    naming, prose,
    schema::Schemas,
};

/// The methods of a path, in the order in which they are listed.
const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// Maximum length of descriptions in characters: of an API or an operation, and of a parameter.
pub(crate) const MAX_DESCRIPTION: usize = 1_000;
pub(crate) const MAX_REMARK: usize = 200;

/// Maximum length of operation ids and paths in bytes; names are never truncated.
pub(crate) const MAX_ID_BYTES: usize = 160;
const MAX_PATH_BYTES: usize = 400;

/// Maximum number of operations. With references, a small text can describe any number.
pub(crate) const MAX_OPERATIONS: usize = 50_000;

/// Maximum number of parameters of all operations, in addition to one for each value in the documents.
const MORE_PARAMETERS: usize = 200_000;

/// Reads parsed documents as an API without a name; an invalid part is a problem at `place#/pointer`.
pub(crate) fn read(library: &Library, place: &str) -> (Api, Vec<Problem>) {
    let root = library.root();
    let mut reader = Reader {
        library,
        place,
        root: root.value,
        schemas: Schemas::new(library),
        operations: Vec::new(),
        parameters_left: library.nodes().saturating_add(MORE_PARAMETERS),
        problems: Vec::new(),
        warned: HashSet::new(),
    };
    match root.value.get("paths") {
        Some(Value::Object(paths)) => {
            for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("x-")) {
                reader.path(path, Node { value: item, ..root });
            }
        }
        Some(_) => reader.problems.push(Problem::error(format!("{place}#/paths"), "`paths` is not an object")),
        // In 3.1 a description may consist of webhooks, which are not callable.
        None => reader.problems.push(Problem::error(place, "`paths` is missing")),
    }
    let (types, whole) = reader.schemas.types();
    for reason in std::mem::take(&mut reader.schemas.missing) {
        reader.warn_once(place, reason);
    }
    if !whole {
        let reason = "the schemas expand to far more than the text; the last ones are truncated";
        reader.problems.push(Problem::warning(place, reason).advise("look for `allOf` that repeats large schemas"));
    }
    let Reader { mut operations, problems, .. } = reader;
    naming::assign(&mut operations);
    credentials::mark(&mut operations, &credentials::find_declared(root.value));
    let info = |key: &str| root.value.pointer(&format!("/info/{key}")).and_then(Value::as_str).unwrap_or_default();
    let description = cut::sentences(&prose::join(info("title"), info("description")), MAX_DESCRIPTION);
    let files = library.others().map(PathBuf::from).collect();
    (Api { url: server(root.value), description, operations, types, files, ..Api::default() }, problems)
}

/// Returns the URL of the first server, with the defaults of its variables; in 2.0 that of host and base path.
fn server(root: &Value) -> Option<String> {
    let text = |key: &str| root.get(key).and_then(Value::as_str).unwrap_or_default().trim_end_matches('/');
    let Some(server) = root.pointer("/servers/0") else {
        let schemes = root.get("schemes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let scheme = if schemes.is_empty() || schemes.iter().any(|s| s == "https") { "https" } else { "http" };
        return match (text("host"), text("basePath")) {
            ("", "") => None,
            ("", base) => Some(base.to_owned()),
            (host, base) => Some(format!("{scheme}://{host}{base}")),
        };
    };
    let mut url = server.get("url")?.as_str()?.to_owned();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten().take(32) {
        if let Some(default) = variable.get("default").and_then(Value::as_str).filter(|d| d.len() <= MAX_PATH_BYTES) {
            url = url.replace(&format!("{{{name}}}"), default);
        }
        url.truncate(url.floor_char_boundary(4 * MAX_PATH_BYTES));
    }
    Some(url).filter(|url| !url.is_empty() && url != "/")
}

struct Reader<'a> {
    library: &'a Library,
    place: &'a str,
    root: &'a Value,
    schemas: Schemas<'a>,
    operations: Vec<Operation>,
    parameters_left: usize,
    problems: Vec<Problem>,
    warned: HashSet<String>,
}

impl<'a> Reader<'a> {
    fn path(&mut self, path: &str, own: Node<'a>) {
        let pointer = format!("{}#/paths/{}", self.place, escape_key(path));
        let item = match self.library.resolve(own) {
            Ok((item, _)) => item,
            Err(error) => return self.problems.push(Problem::error(pointer, error.to_string())),
        };
        if !item.value.is_object() {
            return self.problems.push(Problem::error(pointer, "the path is not an object"));
        }
        if path.len() > MAX_PATH_BYTES {
            let reason = format!("the path is longer than {MAX_PATH_BYTES} bytes");
            return self.problems.push(Problem::error(pointer, reason));
        }
        // The path after the base URL starts with a slash, even if the description omits it.
        let path = if path.starts_with('/') {
            Cow::Borrowed(path)
        } else {
            let reason = format!("the path does not start with `/`; using `/{path}`");
            self.problems.push(Problem::warning(&pointer, reason).advise(format!("write `/{path}`")));
            Cow::Owned(format!("/{path}"))
        };
        let shared = self.parameters(item, &pointer);
        let mut found: Vec<(String, Node<'a>, String)> = Vec::new();
        // Keys next to a `$ref` are read too.
        for node in [Some(item), Some(own).filter(|own| !std::ptr::eq(own.value, item.value))].into_iter().flatten() {
            for method in METHODS {
                if let Some(value) = node.value.get(method) {
                    found.push((method.to_uppercase(), Node { value, ..node }, format!("{pointer}/{method}")));
                }
            }
            let more = node.value.get("additionalOperations").and_then(Value::as_object);
            for (method, value) in more.into_iter().flatten().filter(|(method, _)| method.len() <= 20) {
                let pointer = format!("{pointer}/additionalOperations/{}", escape_key(method));
                found.push((method.to_uppercase(), Node { value, ..node }, pointer));
            }
        }
        for (method, node, pointer) in found {
            if self.operations.len() >= MAX_OPERATIONS {
                let reason = format!("more than {MAX_OPERATIONS} operations; the rest were skipped");
                return self.warn_once(self.place, reason);
            }
            self.operation(method, &path, node, &shared, &pointer);
        }
    }

    fn operation(&mut self, method: String, path: &str, node: Node<'a>, shared: &[parts::Sent<'a>], place: &str) {
        let node = match self.library.resolve(node) {
            Ok((node, _)) if node.value.is_object() => node,
            other => {
                let reason = other.err().map_or("not an object".to_owned(), |error| error.to_string());
                let problem = Problem::error(place, format!("invalid operation: {reason}"));
                return self.problems.push(problem.advise("fix it; the other operations are loaded"));
            }
        };
        let operation = node.value;
        let mut sent = shared.to_vec();
        for own in self.parameters(node, place) {
            // Overrides a parameter of the path with the same name and location.
            match sent.iter_mut().find(|known| known.is_same(&own)) {
                Some(known) => *known = own,
                None => sent.push(own),
            }
        }
        let request_body = self.request_body(node, &sent, place);
        let response_schema = self.response(node, place);
        let mut parameters: Vec<Parameter> = sent.into_iter().filter_map(|sent| sent.parameter()).collect();
        if parameters.len() > self.parameters_left {
            parameters.clear();
            self.warn_once(
                place,
                "too many parameters in total; those of this operation and of later ones are skipped".into(),
            );
        }
        self.parameters_left -= parameters.len();
        let auth = self.auth(operation, place);
        for reason in std::mem::take(&mut self.schemas.missing) {
            self.warn_once(place, reason);
        }
        let mut name = words(operation.get("operationId")).unwrap_or_default();
        if name.len() > MAX_ID_BYTES {
            self.warn(place, "`operationId`", &format!("longer than {MAX_ID_BYTES} bytes"));
            name.clear();
        }
        let said = |key: &str| words(operation.get(key)).unwrap_or_default();
        let tags = operation.get("tags").and_then(Value::as_array).into_iter().flatten();
        let tags = tags.filter_map(|tag| words(Some(tag.get("name").unwrap_or(tag))));
        self.operations.push(Operation {
            name,
            method,
            path: path.to_owned(),
            description: cut::sentences(&prose::join(&said("summary"), &said("description")), MAX_DESCRIPTION),
            tags: tags.map(|tag| cut::sentences(&tag, 80)).collect(),
            deprecated: is_true(operation.get("deprecated")),
            parameters,
            request_body,
            response_schema,
            auth,
            changes_nothing: false,
        });
    }

    fn warn(&mut self, place: &str, part: &str, reason: &str) {
        self.problems.push(Problem::warning(place, format!("skipped {part}: {reason}")));
    }

    /// Reports a problem once, even if every operation has it.
    fn warn_once(&mut self, place: &str, reason: String) {
        if self.warned.insert(reason.clone()) {
            self.problems.push(Problem::warning(place, reason));
        }
    }
}

/// Returns a string, or the text of a number or boolean that YAML made of it.
fn words(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn is_true(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::Bool(true))) || value.and_then(Value::as_str) == Some("true")
}

#[cfg(test)]
mod tests;
