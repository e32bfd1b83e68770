//! Sources of API descriptions, and loading them.

use std::{
    io,
    path::{Path, PathBuf},
};

use prospector_core::Problem;
use prospector_core::name::nearest;

use crate::{
    Api, ApiKind, Operation, document, folder, graphql,
    library::{Library, Neighbour},
    mcp, openapi, prose, sdl,
    tool_list::find_tools,
};

/// Maximum number of reported problems per description.
const MAX_PROBLEMS: usize = 100;

/// One API of a catalog.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApiSource {
    /// Name in the catalog.
    pub name: String,
    /// File with the description.
    pub path: PathBuf,
    /// Folder that references may not leave; by default that of the file.
    pub folder: Option<PathBuf>,
    /// Format of the description; by default detected from the file.
    pub kind: Option<ApiKind>,
    /// Base URL; overrides that of the description.
    pub url: Option<String>,
    /// Purpose; overrides that of the description.
    pub description: Option<String>,
    /// Allowed operations, as names or as `METHOD /path`; empty allows all.
    pub allow: Vec<String>,
}

impl ApiSource {
    /// The file extensions of GraphQL schemas, in lower case.
    pub const SCHEMA_EXTENSIONS: &'static [&'static str] = &folder::SCHEMAS;

    /// Returns whether files with an extension, in lower case, may describe an API.
    pub fn is_extension(extension: &str) -> bool {
        folder::SCHEMAS.contains(&extension) || folder::DOCUMENTS.contains(&extension)
    }

    /// Creates a source with a name and a file; everything else is read from the file.
    pub fn new(name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        ApiSource { name: name.into(), path: path.into(), ..ApiSource::default() }
    }

    /// Returns the files in a folder and its subfolders that describe an API, sorted; files with fragments of a
    /// description are excluded. Unreadable folders are problems.
    pub fn files_in(folder: &Path) -> (Vec<PathBuf>, Vec<Problem>) {
        folder::descriptions(folder)
    }

    /// Returns whether a file looks like a complete description, judged by its name and its first bytes.
    pub fn describes(file: &Path) -> bool {
        folder::describes(file)
    }

    /// Loads the file and the files that it refers to. Invalid parts are returned as problems.
    ///
    /// # Errors
    /// The reason, if the file cannot be read or does not describe an API.
    pub fn load(&self) -> Result<(Api, Vec<Problem>), Problem> {
        let text = folder::text(&self.path).map_err(|error| {
            let reason = format!("cannot read the description of API `{}`: {error}", self.name);
            let problem = Problem::error(self.path.display().to_string(), reason);
            problem.advise("correct the path, or remove the API from the catalog")
        })?;
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let home = self.folder.as_deref().unwrap_or(parent);
        // A description outside its folder cannot refer to other files.
        let own = self.path.strip_prefix(home).ok().or(self.path.file_name().map(Path::new)).unwrap_or(&self.path);
        let own = own.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        let (mut api, problems) = self.read_with(&text, &own, &|path| folder::within(home, path))?;
        api.files.iter_mut().for_each(|file| *file = home.join(&file));
        Ok((api, problems))
    }

    /// Parses `text` as the content of the file, which need not exist; references to other files are unresolved.
    ///
    /// # Errors
    /// Like [`ApiSource::load`].
    pub fn read(&self, text: &str) -> Result<(Api, Vec<Problem>), Problem> {
        self.read_with(text, "", &|_| Err(io::Error::other("there are no other files")))
    }

    /// Parses `text` from any origin. `own` is its path relative to the folder or base address that references may
    /// not leave; `neighbour` returns the text of another file by such a path, which never contains `..`.
    /// [`Api::files`] lists the paths that were read.
    ///
    /// # Errors
    /// Like [`ApiSource::load`].
    pub fn read_with(&self, text: &str, own: &str, neighbour: Neighbour<'_>) -> Result<(Api, Vec<Problem>), Problem> {
        let place = if self.path.as_os_str().is_empty() { self.name.clone() } else { self.path.display().to_string() };
        let kind = self.kind.unwrap_or_else(|| self.detect_kind(text));
        let is_json = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
        let (read, mut problems) = if kind == ApiKind::GraphQl && !is_json {
            graphql::read(text, &place)
        } else {
            let (root, mut problems) = document::parse(text, &place)?;
            let kind = if self.kind == Some(ApiKind::Mcp) {
                find_tools(&root).ok_or_else(|| document::not_an_api(&place, "it contains no list of tools"))?;
                ApiKind::Mcp
            } else {
                let (found, warning) = document::dialect(&root, &place)?;
                problems.extend(warning);
                found
            };
            let (read, more) = match kind {
                ApiKind::GraphQl => graphql::read_introspection(&root, &place),
                ApiKind::Mcp => mcp::read(&root, &place, own, neighbour),
                ApiKind::OpenApi => {
                    let (library, more) = Library::new(root, own, neighbour);
                    problems.extend(more);
                    openapi::read(&library, &place)
                }
            };
            problems.extend(more);
            (read, problems)
        };
        let described = self.description.as_deref().filter(|text| !text.trim().is_empty());
        let mut api = Api {
            name: self.name.clone(),
            url: self.url.clone().or(read.url),
            description: described.map_or(read.description, prose::plain),
            ..read
        };
        self.restrict(&mut api, &place, &mut problems);
        if problems.len() > MAX_PROBLEMS {
            let more = problems.len() - MAX_PROBLEMS;
            problems.truncate(MAX_PROBLEMS);
            problems.push(Problem::warning(&place, format!("there are {more} more problems")));
        }
        Ok((api, problems))
    }

    /// Detects the format from the name of the file, or else from the text.
    fn detect_kind(&self, text: &str) -> ApiKind {
        if folder::is_schema(&self.path) {
            return ApiKind::GraphQl;
        }
        if folder::is_document(&self.path) {
            return ApiKind::OpenApi;
        }
        if sdl::begins_a_schema(text) { ApiKind::GraphQl } else { ApiKind::OpenApi }
    }

    /// Removes operations that are not allowed, before they are listed or indexed.
    fn restrict(&self, api: &mut Api, place: &str, problems: &mut Vec<Problem>) {
        if self.allow.is_empty() {
            return;
        }
        for allowed in &self.allow {
            if !api.operations.iter().any(|operation| is_meant(operation, allowed)) {
                let near = nearest(allowed, api.operations.iter().map(|o| o.name.as_str()), 3);
                let mut problem = Problem::warning(place, format!("unknown operation `{allowed}` in `operations`"));
                if !near.is_empty() {
                    problem = problem.advise(format!("did you mean {}?", near.join(", ")));
                }
                problems.push(problem);
            }
        }
        let total = api.operations.len();
        api.operations.retain(|operation| self.allow.iter().any(|allowed| is_meant(operation, allowed)));
        api.withheld = total - api.operations.len();
    }
}

/// Returns whether a name or a `METHOD /path` refers to this operation.
fn is_meant(operation: &Operation, wanted: &str) -> bool {
    operation.name == wanted || operation.is_route(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &str = "openapi: 3.0.0\npaths:\n  /orders/{id}:\n    get: {operationId: getOrder}\n    delete: {operationId: dropOrder}\n";

    fn check(path: &str, text: &str, kind: ApiKind) {
        assert_eq!(ApiSource::new("x", path).detect_kind(text), kind, "{path}: {text}");
    }

    #[test]
    fn detects_kind_from_name_or_text() {
        check("a.graphqls", "", ApiKind::GraphQl);
        check("a.YAML", "type Query { a: Int }", ApiKind::OpenApi);
        check("", "# c\n\"\"\"\nAn order.\n\"\"\"\ntype Order { a: Int }", ApiKind::GraphQl);
        check("a.txt", "\n\"all\"\nschema{query: Q}", ApiKind::GraphQl);
        check("a.txt", ORDERS, ApiKind::OpenApi);
        check("", "{\"type\": \"x\"}", ApiKind::OpenApi);
        check("", "type: object", ApiKind::OpenApi);
    }

    #[test]
    fn catalog_overrides_description() {
        let source = ApiSource {
            url: Some("https://shop.example".into()),
            description: Some(" Our  shop ".into()),
            ..ApiSource::new("shop", "")
        };
        let (api, _) = source.read(ORDERS).unwrap();
        assert_eq!((api.url.as_deref(), api.description.as_str()), (Some("https://shop.example"), "Our shop"));
    }

    #[test]
    fn loads_allowed_operations_and_counts_others() {
        let allowing = |allow: &[&str]| {
            let allow = allow.iter().map(|a| (*a).to_owned()).collect();
            ApiSource { allow, ..ApiSource::new("shop", "f.yaml") }.read(ORDERS).unwrap()
        };
        for allowed in ["getOrder", "get /orders/{order}"] {
            let (api, problems) = allowing(&[allowed]);
            assert_eq!((api.operations.len(), api.withheld, problems.len()), (1, 1, 0));
            assert_eq!(api.operations[0].name, "getOrder");
        }
        let (api, problems) = allowing(&["getOrders"]);
        assert_eq!((api.operations.len(), api.withheld), (0, 2));
        assert_eq!(
            problems[0].to_string(),
            "warning: f.yaml: unknown operation `getOrders` in `operations` (did you mean getOrder?)"
        );
    }

    #[test]
    fn limits_number_of_problems() {
        let paths: String = (0..500).map(|n| format!("  /p{n}: 7\n")).collect();
        let (_, problems) = ApiSource::new("shop", "f").read(&format!("openapi: 3.0.0\npaths:\n{paths}")).unwrap();
        assert_eq!(problems.len(), MAX_PROBLEMS + 1);
        assert_eq!(problems[MAX_PROBLEMS].reason, "there are 400 more problems");
    }

    #[test]
    fn missing_and_binary_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let problem = ApiSource::new("shop", folder.path().join("no.yaml")).load().unwrap_err();
        assert!(problem.reason.starts_with("cannot read the description of API `shop`"), "{problem}");
        let path = folder.path().join("binary.json");
        std::fs::write(&path, [0xff, 0x00, 0x7b, 0xfe]).unwrap();
        assert!(ApiSource::new("shop", path).load().is_err());
    }
}
