//! The documents of one API: its description and the files that it refers to.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    io,
};

use prospector_core::Problem;
use serde_json::Value;

use crate::document::{self, resolve_pointer};

/// Maximum number and total bytes of the files that a description refers to.
const MAX_FILES: usize = 1_000;
const MAX_BYTES: usize = 64 << 20;

/// Maximum depth of a file below the folder of the API. A server that returns the same text for every path would lead
/// to ever deeper references.
const MAX_FOLDERS: usize = 32;

/// Maximum length of a chain of references.
const MAX_STEPS: usize = 48;

/// Returns the text of a file by its path relative to the folder of the API, with `/` as separator and without `..`,
/// or why it cannot be read.
pub(crate) type Neighbour<'n> = &'n dyn Fn(&str) -> io::Result<String>;

/// Why a reference cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReferenceError {
    #[error("unresolved reference `{0}`")]
    Nowhere(String),
    #[error("unresolved reference `{reference}`: not found in `{file}`")]
    NowhereIn { reference: String, file: String },
    #[error("the reference `{reference}` {reason}")]
    Path { reference: String, reason: &'static str },
    #[error("unresolved reference `{reference}`: cannot read `{file}`: {reason}")]
    File { reference: String, file: String, reason: String },
    #[error("circular reference `{0}`")]
    Circle(String),
}

/// A node in one of the documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    /// Index of the document.
    pub(crate) document: usize,
    /// Value of the node.
    pub(crate) value: &'a Value,
}

struct Document {
    /// Path relative to the folder of the API.
    path: String,
    root: Value,
}

/// All documents of an API; the first one is its description.
pub(crate) struct Library {
    documents: Vec<Document>,
    by_path: HashMap<String, usize>,
    /// Why a referenced file could not be read, by path.
    absent: BTreeMap<String, String>,
    nodes: usize,
}

impl Library {
    /// Loads the description and everything that it refers to. `path` is its location in the folder of the API.
    pub(crate) fn new(root: Value, path: &str, neighbour: Neighbour<'_>) -> (Self, Vec<Problem>) {
        let mut library = Library { documents: Vec::new(), by_path: HashMap::new(), absent: BTreeMap::new(), nodes: 0 };
        let mut problems = Vec::new();
        let mut wanted = VecDeque::new();
        let mut bytes = 0;
        library.add(path.to_owned(), root, &mut wanted);
        while let Some(next) = wanted.pop_front() {
            if library.by_path.contains_key(&next) || library.absent.contains_key(&next) {
                continue;
            }
            let text = if library.documents.len() > MAX_FILES || bytes > MAX_BYTES {
                Err(format!("the API has more than {MAX_FILES} files or {} MB", MAX_BYTES >> 20))
            } else {
                neighbour(&next).map_err(|error| error.to_string())
            };
            let parsed = text.and_then(|text| {
                bytes += text.len();
                let invalid = |problem: Problem| format!("{} ({})", problem.reason, problem.place);
                document::parse(&text, &next).map_err(invalid)
            });
            match parsed {
                Ok((root, more)) => {
                    problems.extend(more);
                    library.add(next, root, &mut wanted);
                }
                Err(reason) => _ = library.absent.insert(next, reason),
            }
        }
        (library, problems)
    }

    fn add(&mut self, path: String, root: Value, wanted: &mut VecDeque<String>) {
        let mut open = vec![&root];
        while let Some(value) = open.pop() {
            self.nodes += 1;
            match value {
                Value::Object(parts) => {
                    if let Some(Value::String(reference)) = parts.get("$ref")
                        && let Some((file, _)) = split(reference)
                        && let Ok(file) = join_path(&path, file)
                    {
                        wanted.push_back(file);
                    }
                    open.extend(parts.values());
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        self.by_path.insert(path.clone(), self.documents.len());
        self.documents.push(Document { path, root });
    }

    /// Returns the root of the description.
    pub(crate) fn root(&self) -> Node<'_> {
        Node { document: 0, value: &self.documents[0].root }
    }

    /// Returns the number of values in all documents.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Returns the paths of all files other than the description, relative to its folder.
    pub(crate) fn others(&self) -> impl Iterator<Item = &str> {
        self.documents.iter().skip(1).map(|document| document.path.as_str())
    }

    /// Resolves one reference of a document.
    pub(crate) fn lookup<'a>(&'a self, from: Node<'a>, reference: &str) -> Result<Node<'a>, ReferenceError> {
        let Some((file, pointer)) = split(reference) else {
            let pointer = reference.strip_prefix('#').unwrap_or(reference);
            let found = resolve_pointer(&self.documents[from.document].root, pointer);
            let found = found.map(|value| Node { document: from.document, value });
            return found.ok_or_else(|| ReferenceError::Nowhere(reference.to_owned()));
        };
        let file = join_path(&self.documents[from.document].path, file)
            .map_err(|reason| ReferenceError::Path { reference: reference.to_owned(), reason })?;
        let Some(&document) = self.by_path.get(&file) else {
            let reason = self.absent.get(&file).map_or("it was not loaded", String::as_str);
            let (reference, reason) = (reference.to_owned(), reason.to_owned());
            return Err(ReferenceError::File { reference, file, reason });
        };
        let value = resolve_pointer(&self.documents[document].root, pointer);
        let missing = || ReferenceError::NowhereIn { reference: reference.to_owned(), file };
        Ok(Node { document, value: value.ok_or_else(missing)? })
    }

    /// Resolves a chain of references; returns the target and the last reference.
    pub(crate) fn resolve<'a>(&'a self, mut node: Node<'a>) -> Result<(Node<'a>, Option<&'a str>), ReferenceError> {
        let mut last = None;
        for _ in 0..MAX_STEPS {
            let Some(reference) = node.value.get("$ref").and_then(Value::as_str) else { return Ok((node, last)) };
            node = self.lookup(node, reference)?;
            last = Some(reference);
        }
        Err(ReferenceError::Circle(last.unwrap_or_default().to_owned()))
    }
}

/// Splits a reference to another document into file and pointer.
fn split(reference: &str) -> Option<(&str, &str)> {
    let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
    // `$ref: Pet` names a schema.
    let is_file = !file.is_empty() && (reference.contains('#') || file.contains(['.', '/']));
    is_file.then_some((file, pointer))
}

/// Returns the path of a file that another one refers to, relative to the folder of the API.
fn join_path(from: &str, file: &str) -> Result<String, &'static str> {
    if file.contains("://") || file.starts_with("//") {
        return Err("is a network address, which is not fetched");
    }
    if file.starts_with('/') || file.contains(['\\', '\0', ':']) {
        return Err("is not a relative path");
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop().ok_or("leaves the folder of the API")?,
            part => parts.push(part),
        }
    }
    if parts.len() > MAX_FOLDERS {
        return Err("has too many folders");
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks the target of `reference` in `api/main.yaml`.
    fn check(reference: &str, expected: Result<Value, &str>) {
        let files = |path: &str| match path {
            "parts/pet.yaml" => Ok("Pet: {$ref: '../parts/more.json#/deep'}\nown: {$ref: '#/Pet'}".to_owned()),
            "parts/more.json" => Ok("{\"deep\": 7}".to_owned()),
            "parts/broken.json" => Ok("{".to_owned()),
            _ => Err(io::Error::other("there is no such file")),
        };
        let root = json!({"start": {"$ref": reference}, "here": 1, "circle": {"$ref": "#/circle"}});
        let (library, problems) = Library::new(root, "api/main.yaml", &files);
        assert_eq!(problems, []);
        let start = Node { value: &library.root().value["start"], ..library.root() };
        let found = library.resolve(start).map(|(node, _)| node.value.clone());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(expected)) => assert!(found.to_string().contains(expected), "{found}"),
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn resolves_references_within_and_across_files() {
        check("#/here", Ok(json!(1)));
        check("../parts/pet.yaml#/Pet", Ok(json!(7)));
        check("../parts/pet.yaml#/own", Ok(json!(7)));
        check("./../parts/more.json", Ok(json!({"deep": 7})));
    }

    #[test]
    fn unresolved_reference_has_reason() {
        check("#/gone", Err("unresolved reference `#/gone`"));
        check("../parts/more.json#/x", Err("not found in `parts/more.json`"));
        check("gone.yaml#/x", Err("cannot read `api/gone.yaml`: there is no such file"));
        check("../parts/broken.json", Err("invalid JSON"));
        check("#/circle", Err("circular reference"));
    }

    #[test]
    fn limits_depth_of_folders() {
        let text = json!({"x": {"$ref": "+/definitions/D"}, "y": {"$ref": "fuzz.yaml#/x"}});
        let (library, problems) = Library::new(text.clone(), "fuzz.yaml", &|_| Ok(text.to_string()));
        assert_eq!(problems, []);
        assert!(library.others().count() < 2 * MAX_FOLDERS, "{}", library.others().count());
        let last = Node { document: library.documents.len() - 1, value: &json!({"$ref": "+/definitions/D"}) };
        assert!(library.resolve(last).unwrap_err().to_string().contains("too many folders"));
    }

    #[test]
    fn references_cannot_leave_the_folder() {
        check("../../secret.yaml#/x", Err("leaves the folder of the API"));
        check("/etc/passwd", Err("is not a relative path"));
        check("file:///etc/passwd", Err("is a network address"));
        check("https://example.com/x.yaml", Err("is a network address"));
        check("..\\..\\x.yaml", Err("is not a relative path"));
    }
}
