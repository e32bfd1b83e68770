//! Finds the descriptions in a folder, and reads the files that they refer to.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use prospector_core::Problem;

use crate::{document, sdl};

/// Maximum size of a file in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Maximum number of files and of folder levels in a search for descriptions.
const MAX_FILES: usize = 20_000;
const MAX_DEPTH: usize = 16;

/// Bytes read to decide whether a file may describe an API.
const HEAD: usize = 64 << 10;

/// The extensions of GraphQL SDL, and of JSON and YAML.
pub(crate) const SCHEMAS: [&str; 4] = ["graphql", "graphqls", "gql", "sdl"];
pub(crate) const DOCUMENTS: [&str; 3] = ["json", "yaml", "yml"];

/// Returns whether a file has an extension of GraphQL SDL.
pub(crate) fn is_schema(path: &Path) -> bool {
    extension(path).is_some_and(|extension| SCHEMAS.contains(&extension.as_str()))
}

/// Returns whether a file has an extension of JSON or YAML.
pub(crate) fn is_document(path: &Path) -> bool {
    extension(path).is_some_and(|extension| DOCUMENTS.contains(&extension.as_str()))
}

fn extension(path: &Path) -> Option<String> {
    path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase)
}

/// Reads a file; invalid UTF-8 is replaced.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::other(format!("the file is larger than {} MB", MAX_FILE_BYTES >> 20)));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a file in a folder. Symbolic links that leave the folder are rejected.
pub(crate) fn within(folder: &Path, path: &str) -> io::Result<String> {
    let home = folder.canonicalize()?;
    let file = home.join(path).canonicalize()?;
    if !file.starts_with(&home) {
        return Err(io::Error::other("symbolic link out of the folder of the API"));
    }
    if !file.is_file() {
        return Err(io::Error::other("not a file"));
    }
    text(&file)
}

/// Returns the files in a folder and its subfolders that describe an API, sorted.
pub(crate) fn descriptions(folder: &Path) -> (Vec<PathBuf>, Vec<Problem>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    let mut open = vec![(folder.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = open.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries.flatten(),
            Err(error) => {
                problems.push(Problem::error(folder.display().to_string(), format!("cannot list the folder: {error}")));
                continue;
            }
        };
        for entry in entries {
            seen += 1;
            // Symbolic links are not followed: their targets may be anywhere.
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < MAX_DEPTH && !entry.file_name().to_string_lossy().starts_with('.') {
                open.push((path, depth + 1));
            } else if kind.is_file() && describes(&path) {
                found.push(path);
            }
        }
        if seen > MAX_FILES {
            let reason = format!("the folder has more than {MAX_FILES} files; the rest were not read");
            problems.push(Problem::warning(folder.display().to_string(), reason).advise("name a smaller folder"));
            break;
        }
    }
    found.sort();
    (found, problems)
}

/// Returns whether a file looks like a complete description, judged by its name and its first bytes.
pub(crate) fn describes(path: &Path) -> bool {
    if !is_schema(path) && !is_document(path) {
        return false;
    }
    let Ok(file) = std::fs::File::open(path) else { return true };
    let mut head = Vec::new();
    if file.take(HEAD as u64).read_to_end(&mut head).is_err() {
        return true;
    }
    let head = String::from_utf8_lossy(&head);
    if is_schema(path) {
        // A schema may be split into many files, of which only some define operations.
        return sdl::begins_a_schema(&head);
    }
    if head.len() < HEAD
        && let Ok((root, _)) = document::parse(&head, "")
    {
        return document::dialect(&root, "").is_ok();
    }
    // Too long to parse here, or invalid: look for the first keys of a description at the start of a line or of the
    // text.
    ["openapi", "swagger", "__schema", "inputSchema"].iter().any(|key| {
        head.match_indices(key).any(|(at, _)| {
            let before = head[..at].trim_end_matches(['"', '\'']);
            let after = head[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
            after.starts_with(':') && (before.is_empty() || before.ends_with(['\n', '{', ',', ' ', '\u{feff}']))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ApiSource;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn distinguishes_descriptions_from_fragments() {
        let long = format!("{{\"info\": \"{}\"}}", "x".repeat(HEAD));
        let folder = folder(&[
            ("a/openapi.yaml", "openapi: 3.0.0\npaths: {}"),
            ("a/parts/pet.yaml", "Pet: {type: object}"),
            ("b/swagger.json", "{\"swagger\": \"2.0\"}"),
            ("b/answer.json", "{\"data\": {\"__schema\": {}}}"),
            ("b/tools.json", "{\"tools\": [{\"name\": \"a\", \"inputSchema\": {}}]}"),
            ("b/broken.yaml", "openapi: 3.0.0\n\tpaths: x"),
            ("b/long.json", &long),
            (".git/openapi.yaml", "openapi: 3.0.0"),
            ("c.graphqls", "type Query { a: Int }"),
            ("readme.md", "openapi: 3.0.0"),
        ]);
        let (found, problems) = ApiSource::files_in(folder.path());
        assert_eq!(problems, []);
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        let expected =
            ["a/openapi.yaml", "b/answer.json", "b/broken.yaml", "b/swagger.json", "b/tools.json", "c.graphqls"];
        assert_eq!(found, expected.map(Path::new));
        assert_eq!(ApiSource::files_in(&folder.path().join("none")).1.len(), 1);
    }

    /// Checks the problems of an API whose response is `reference`.
    fn check(folder: &Path, reference: &str, expected: &[&str]) {
        let text = format!(
            "openapi: 3.0.0\npaths: {{/a: {{get: {{responses: {{'200': {{content: {{application/json: {{schema: {{$ref: '{reference}'}}}}}}}}}}}}}}}}"
        );
        std::fs::write(folder.join("api/main.yaml"), text).unwrap();
        let (api, problems) = ApiSource::new("x", folder.join("api/main.yaml")).load().unwrap();
        assert_eq!(api.operations.len(), 1);
        let problems: Vec<&str> = problems.iter().map(|problem| problem.reason.as_str()).collect();
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (found, expected) in problems.iter().zip(expected) {
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn references_stay_in_the_folder() {
        let folder = folder(&[("api/parts/pet.yaml", "type: integer"), ("secret.yaml", "type: integer")]);
        check(folder.path(), "parts/pet.yaml", &[]);
        check(folder.path(), "../secret.yaml", &["leaves the folder of the API"]);
        check(folder.path(), "parts", &["unresolved reference"]);
        check(folder.path(), "./parts", &["cannot read `parts`: not a file"]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.path().join("secret.yaml"), folder.path().join("api/link.yaml")).unwrap();
            check(folder.path(), "link.yaml", &["symbolic link out of the folder"]);
        }
    }

    #[test]
    fn folder_may_be_an_ancestor_of_the_file() {
        let folder = folder(&[
            ("api/main.yaml", "openapi: 3.0.0\npaths: {/a: {$ref: '../shared/a.yaml'}}"),
            ("shared/a.yaml", "get: {operationId: getA}"),
        ]);
        let mut source = ApiSource::new("x", folder.path().join("api/main.yaml"));
        assert!(source.load().unwrap().0.operations.is_empty());
        source.folder = Some(folder.path().to_owned());
        let (api, problems) = source.load().unwrap();
        assert_eq!((api.operations[0].name.as_str(), problems.len()), ("getA", 0));
        assert_eq!(api.files, [folder.path().join("shared/a.yaml")]);
    }
}
