//! The catalog file: YAML text to plain entries, each wrong one a [`Problem`] with its line.

use std::path::Path;

use prospector_connect::{Server, Source};
use prospector_core::Problem;
use prospector_fetch::{FetchError, Rule};

use super::{
    CatalogError,
    calls::{self, Invoke},
    confluence::{self, Wiki},
    expand::{Environment, environment, url_environment, with_key},
    node::{Fields, Placed},
    services,
};

/// What the catalog file says, with values from the environment filled in.
#[derive(Debug, Default)]
pub(super) struct CatalogFile {
    pub(super) databases: Vec<DatabaseEntry>,
    pub(super) apis: Vec<ApiEntry>,
    pub(super) documents: Vec<DocumentEntry>,
    pub(super) facts: Vec<FactEntry>,
    pub(super) skills: Vec<SkillEntry>,
    pub(super) context_preload: Vec<PreloadEntry>,
    pub(super) fetch: FetchEntry,
    pub(super) web_search: Option<WebSearchEntry>,
}

/// Which hosts may be asked for pages.
#[derive(Debug, Default)]
pub(super) struct FetchEntry {
    pub(super) allow: Vec<Rule>,
    /// Whether a page that nobody named in the catalog may be fetched from any public host.
    pub(super) public: bool,
}

/// What searches the web for facts that nothing in the catalog holds.
pub(super) struct WebSearchEntry {
    /// The search page of a SearXNG server, with values from the environment.
    pub(super) url: String,
    pub(super) token: Option<String>,
}

impl std::fmt::Debug for WebSearchEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebSearchEntry").finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct DatabaseEntry {
    pub(super) line: u64,
    pub(super) name: Option<String>,
    pub(super) kind: Option<String>,
    /// Empty where it is on a server.
    pub(super) path: String,
    pub(super) server: Option<Server>,
    pub(super) service: Option<Source>,
    pub(super) description: String,
    pub(super) descriptions: Option<String>,
    pub(super) tables: Vec<String>,
    /// Functions that queries may call beyond the usual ones.
    pub(super) functions: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct ApiEntry {
    pub(super) line: u64,
    pub(super) name: Option<String>,
    pub(super) kind: Option<String>,
    /// Empty where it is fetched.
    pub(super) path: String,
    /// Where the description is fetched, with values from the environment.
    pub(super) fetched: Option<String>,
    /// As it is written, `${NAME}` and all: it is shown to models, and a value from the environment may be a secret.
    pub(super) url: Option<String>,
    pub(super) description: String,
    pub(super) operations: Vec<String>,
    /// Whether and how it may be called.
    pub(super) invoke: Option<Invoke>,
}

#[derive(Debug)]
pub(super) struct DocumentEntry {
    pub(super) line: u64,
    pub(super) name: Option<String>,
    pub(super) path: Option<String>,
    pub(super) content: Option<String>,
    /// With values from the environment: not to be shown.
    pub(super) url: Option<String>,
    pub(super) wiki: Option<Wiki>,
    pub(super) description: String,
    pub(super) tags: Vec<String>,
}

#[derive(Debug)]
pub(super) struct FactEntry {
    pub(super) term: String,
    pub(super) definition: String,
    pub(super) source: Option<String>,
    pub(super) confidence: f64,
}

#[derive(Debug)]
pub(super) struct SkillEntry {
    pub(super) line: u64,
    pub(super) path: String,
}

#[derive(Debug)]
pub(super) struct PreloadEntry {
    pub(super) line: u64,
    pub(super) pattern: String,
}

const SECTIONS: &[&str] = &["databases", "apis", "documents", "facts", "skills", "context_preload"];
const KEYS: &[&str] = &["databases", "apis", "documents", "facts", "skills", "context_preload", "fetch", "web_search"];

/// Reads the text of a catalog file.
///
/// # Errors
/// [`CatalogError::Syntax`] when it is not YAML, or no mapping; everything else is a problem of one entry.
pub(super) fn parse(
    path: &Path,
    text: &str,
    lookup: Environment<'_>,
) -> Result<(CatalogFile, Vec<Problem>), CatalogError> {
    let file = path.display().to_string();
    let mut problems = Vec::new();
    let mut catalog = CatalogFile::default();
    let has_content = text.lines().any(|line| !matches!(line.trim(), "" | "---") && !line.trim().starts_with('#'));
    if !has_content {
        return Ok((catalog, problems));
    }
    let root: Placed = serde_saphyr::from_str(text).map_err(|error| CatalogError::Syntax {
        path: path.to_owned(),
        line: error.location().map_or(1, |location| location.line()),
        reason: format!("not valid YAML: {}", in_plain_words(&error.without_snippet().to_string())),
    })?;
    let line = root.line;
    let mut sections = std::collections::HashMap::new();
    let Some(mut top) = Fields::of(&file, "the catalog", root, KEYS, &mut problems) else {
        let reason = problems.pop().map(|problem| problem.reason).unwrap_or_default();
        return Err(CatalogError::Syntax { path: path.to_owned(), line, reason });
    };
    for section in SECTIONS {
        sections.insert(*section, top.list(section));
    }
    let (fetch, web_search) = (top.placed("fetch"), top.placed("web_search"));
    let mut reader = Reader { file: &file, lookup, problems: &mut problems };
    let mut take = |section: &str| sections.remove(section).unwrap_or_default().into_iter().enumerate();
    catalog.databases = take("databases").filter_map(|(at, entry)| reader.database(at, entry)).collect();
    catalog.apis = take("apis").filter_map(|(at, entry)| reader.api(at, entry)).collect();
    catalog.documents = take("documents").filter_map(|(at, entry)| reader.document(at, entry)).collect();
    catalog.facts = take("facts").filter_map(|(at, entry)| reader.fact(at, entry)).collect();
    catalog.skills = take("skills").filter_map(|(at, entry)| reader.skill(at, entry)).collect();
    catalog.context_preload = take("context_preload").filter_map(|(at, entry)| reader.pattern(at, entry)).collect();
    catalog.fetch = fetch.and_then(|entry| reader.fetch(entry)).unwrap_or_default();
    catalog.web_search = web_search.and_then(|entry| reader.web_search(entry));
    Ok((catalog, problems))
}

/// What the YAML parser says, without its place, which is told already, and its advice to programmers.
fn in_plain_words(reason: &str) -> &str {
    let ends = [" at line ", ", set ", "; use "].into_iter().filter_map(|end| reason.find(end));
    &reason[..ends.min().unwrap_or(reason.len())]
}

/// Reads one entry after the other.
struct Reader<'a> {
    file: &'a str,
    lookup: Environment<'a>,
    problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    fn database(&mut self, at: usize, mut entry: Placed) -> Option<DatabaseEntry> {
        let what = format!("databases[{at}]");
        let bigquery = services::bigquery(self.file, &what, &mut entry, self.lookup, self.problems).ok()?;
        let own = [
            "path",
            "name",
            "type",
            "description",
            "descriptions",
            "tables",
            "functions",
            "url",
            "schemas",
            "bigquery",
        ];
        let keys: Vec<&str> = own.into_iter().chain(services::KEYS).collect();
        let mut fields = Fields::of(self.file, what, entry, &keys, self.problems)?;
        let schemas = fields.texts("schemas");
        let server = server(&mut fields, &schemas, self.lookup);
        let service = bigquery.or(services::elasticsearch(&mut fields, self.lookup));
        if fields.failed() {
            return None;
        }
        let is_remote = server.is_some() || service.is_some();
        let path = match is_remote {
            true => optional(&mut fields, "path", self.lookup).unwrap_or_default(),
            false => path(&mut fields, "the file of the database", self.lookup)?,
        };
        let line = fields.line();
        let functions = fields.texts("functions");
        let is_plain = |name: &String| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'))
        };
        if let Some(wrong) = functions.iter().find(|name| !is_plain(name)) {
            let reason = format!("databases[{at}] allows `{wrong}`, which is no name of a function");
            fields.fail(line, reason, "write `functions: [name, schema.name]`");
        }
        if is_remote && !path.is_empty() || server.is_some() && service.is_some() {
            let reason = format!("databases[{at}] has both `path` and `url`, or another address");
            fields.fail(line, reason, "write one of them");
        } else if server.is_none() && !schemas.is_empty() {
            fields.fail(line, format!("databases[{at}] has `schemas` but no `url`"), "take `schemas` out");
        }
        let entry = DatabaseEntry {
            line,
            name: plain(&mut fields, "name"),
            kind: plain(&mut fields, "type"),
            path,
            server,
            service,
            description: plain(&mut fields, "description").unwrap_or_default(),
            descriptions: optional(&mut fields, "descriptions", self.lookup),
            tables: fields.texts("tables"),
            functions,
        };
        (!fields.failed()).then_some(entry)
    }

    fn api(&mut self, at: usize, entry: Placed) -> Option<ApiEntry> {
        let keys = ["path", "name", "type", "url", "description", "operations", "invoke", "headers"];
        let mut fields = Fields::of(self.file, format!("apis[{at}]"), entry, &keys, self.problems)?;
        let url = fields.text("url");
        let (path, fetched) = match (fields.has("path"), &url) {
            (false, Some((written, line))) => {
                (String::new(), Some(address(&mut fields, "url", written, *line, self.lookup)?))
            }
            _ => (path(&mut fields, "the file that describes the API", self.lookup)?, None),
        };
        let served = url.as_ref().filter(|_| fetched.is_none());
        let invoke = calls::invoke(&mut fields, served, fetched.as_deref(), self.lookup);
        let entry = ApiEntry {
            invoke,
            line: fields.line(),
            name: plain(&mut fields, "name"),
            kind: plain(&mut fields, "type"),
            path,
            fetched,
            url: url.map(|(written, _)| written),
            description: plain(&mut fields, "description").unwrap_or_default(),
            operations: fields.texts("operations"),
        };
        (!fields.failed()).then_some(entry)
    }

    fn document(&mut self, at: usize, entry: Placed) -> Option<DocumentEntry> {
        let keys =
            ["path", "name", "content", "url", "description", "tags", "confluence", "space", "label", "user", "token"];
        let mut fields = Fields::of(self.file, format!("documents[{at}]"), entry, &keys, self.problems)?;
        let entry = DocumentEntry {
            line: fields.line(),
            name: plain(&mut fields, "name"),
            path: fields.has("path").then(|| path(&mut fields, "the file", self.lookup)).flatten(),
            content: plain(&mut fields, "content"),
            url: fields.text("url").and_then(|(text, line)| address(&mut fields, "url", &text, line, self.lookup)),
            wiki: confluence::wiki(&mut fields, self.lookup),
            description: plain(&mut fields, "description").unwrap_or_default(),
            tags: fields.texts("tags"),
        };
        let given = [&entry.path, &entry.content, &entry.url].into_iter().flatten().count();
        if given + usize::from(entry.wiki.is_some()) != 1 && !fields.failed() {
            let line = fields.line();
            let reason = format!("documents[{at}] needs either `path`, `content`, `url` or `confluence`");
            fields.fail(line, reason, "write one of them");
        } else if entry.content.is_some() && entry.name.is_none() {
            let line = fields.line();
            fields.fail(line, format!("documents[{at}] has `content` but no `name`"), "write `name: some_name`");
        }
        (!fields.failed()).then_some(entry)
    }

    fn fact(&mut self, at: usize, entry: Placed) -> Option<FactEntry> {
        let keys = ["term", "definition", "source", "confidence"];
        let mut fields = Fields::of(self.file, format!("facts[{at}]"), entry, &keys, self.problems)?;
        let term = required_plain(&mut fields, "term", "what is defined");
        let definition = required_plain(&mut fields, "definition", "what it means");
        let source = plain(&mut fields, "source");
        let confidence = fields.share("confidence").unwrap_or(1.0);
        let entry = FactEntry { term: term?, definition: definition?, source, confidence };
        (!fields.failed()).then_some(entry)
    }

    fn skill(&mut self, at: usize, entry: Placed) -> Option<SkillEntry> {
        let mut fields = Fields::of(self.file, format!("skills[{at}]"), entry, &["path"], self.problems)?;
        let path = path(&mut fields, "a folder of skills", self.lookup);
        let entry = SkillEntry { line: fields.line(), path: path? };
        (!fields.failed()).then_some(entry)
    }

    fn fetch(&mut self, entry: Placed) -> Option<FetchEntry> {
        let mut fields = Fields::of(self.file, "fetch", entry, &["allow", "public"], self.problems)?;
        let mut allow = Vec::new();
        for host in fields.texts("allow") {
            match environment(&host, self.lookup)
                .and_then(|host| host.parse().map_err(|error: FetchError| error.to_string()))
            {
                Ok(rule) => allow.push(rule),
                Err(reason) => {
                    let line = fields.line();
                    fields.fail(
                        line,
                        format!("`allow` of fetch: {reason}"),
                        "write `allow: [wiki.local, 'host:8080']`",
                    );
                }
            }
        }
        // A wrong entry costs only itself: less is fetched, not more.
        Some(FetchEntry { allow, public: fields.flag("public").unwrap_or_default() })
    }

    fn web_search(&mut self, entry: Placed) -> Option<WebSearchEntry> {
        let mut fields = Fields::of(self.file, "web_search", entry, &["url", "token"], self.problems)?;
        let Some((written, line)) = fields.text("url") else {
            let line = fields.line();
            fields.fail(line, "web_search has no `url`", "write the search page of a SearXNG server");
            return None;
        };
        let url = address(&mut fields, "url", &written, line, self.lookup);
        let token = optional(&mut fields, "token", self.lookup);
        url.filter(|_| !fields.failed()).map(|url| WebSearchEntry { url, token })
    }

    fn pattern(&mut self, at: usize, entry: Placed) -> Option<PreloadEntry> {
        match entry.node {
            super::node::Node::Text(pattern) => Some(PreloadEntry { line: entry.line, pattern }),
            _ => {
                let place = format!("{}:{}", self.file, entry.line);
                let reason = format!("context_preload[{at}] must be the name of a table, or a pattern");
                self.problems.push(Problem::error(place, reason).advise("write `- database.table`"));
                None
            }
        }
    }
}

/// The server of a `url`, which is shown nowhere as it is written: it may hold a password.
fn server(fields: &mut Fields<'_>, schemas: &[String], lookup: Environment<'_>) -> Option<Server> {
    let (text, line) = fields.text("url")?;
    let server = url_environment(&text, lookup)
        .map_err(|reason| (reason, "set it, or write the value itself"))
        .and_then(|url| {
            Server::new(&with_key(url, lookup), schemas).map_err(|error| {
                (error.to_string(), "write postgres://, mysql:// or mongodb://user:${NAME}@host/database")
            })
        });
    let server = server.map_err(|(reason, advice)| fields.fail(line, format!("`url`: {reason}"), advice)).ok()?;
    if !server.ignored_parameters().is_empty() {
        // The names alone: a value may be a secret.
        let names = server.ignored_parameters().join("`, `");
        fields.warn(line, format!("`url`: the parameters `{names}` mean nothing here"), "take them out of the URL");
    }
    Some(server)
}

/// The URL of something to fetch, with values from the environment.
pub(super) fn address(
    fields: &mut Fields<'_>,
    key: &str,
    written: &str,
    line: u64,
    lookup: Environment<'_>,
) -> Option<String> {
    let found = environment(written, lookup).map_err(|reason| (reason, "set it, or write the value itself"));
    let found = found.and_then(|url| match url.starts_with("http://") || url.starts_with("https://") {
        true => Ok(url),
        false => Err(("it is not fetched".to_owned(), "write a URL that begins with https:// or http://")),
    });
    found.map_err(|(reason, advice)| fields.fail(line, format!("`{key}`: {reason}"), advice)).ok()
}

/// A text as it is written.
fn plain(fields: &mut Fields<'_>, key: &str) -> Option<String> {
    fields.text(key).map(|(text, _)| text)
}

fn required_plain(fields: &mut Fields<'_>, key: &str, what: &str) -> Option<String> {
    let text = plain(fields, key).filter(|text| !text.trim().is_empty());
    if text.is_none() && !fields.failed() {
        let line = fields.line();
        fields.fail(line, format!("`{key}` is missing: {what}"), format!("write `{key}: ...`"));
    }
    text
}

/// A text with values from the environment.
pub(super) fn optional(fields: &mut Fields<'_>, key: &str, lookup: Environment<'_>) -> Option<String> {
    let (text, line) = fields.text(key)?;
    match environment(&text, lookup) {
        Ok(text) => Some(text),
        Err(reason) => {
            fields.fail(line, format!("`{key}`: {reason}"), "set it, or write the value itself");
            None
        }
    }
}

fn required(fields: &mut Fields<'_>, key: &str, what: &str, lookup: Environment<'_>) -> Option<String> {
    let text = optional(fields, key, lookup).filter(|text| !text.trim().is_empty());
    if text.is_none() && !fields.failed() {
        let line = fields.line();
        fields.fail(line, format!("`{key}` is missing: {what}"), format!("write `{key}: ...`"));
    }
    text
}

/// A path in the file system. An address in its place is not repeated: it may hold a password.
fn path(fields: &mut Fields<'_>, what: &str, lookup: Environment<'_>) -> Option<String> {
    let line = fields.line();
    let path = required(fields, "path", what, lookup)?;
    let is_scheme =
        |scheme: &str| scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if path.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme)) {
        fields.fail(line, "`path` is an address and no path", "write it under `url`, or write the path of a file");
        return None;
    }
    Some(path)
}

#[cfg(test)]
mod tests;
