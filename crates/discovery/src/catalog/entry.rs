//! Parses entries of a catalog file: each field is removed from its mapping, and problems are reported with their line.

use globset::Glob;
use prospector_core::Problem;
use prospector_core::name::is_slip;
use schemars::JsonSchema;

use super::{
    environment::{Environment, environment},
    file_schema,
    node::{Fields, Node, Placed},
};

/// Parses the entries of one catalog file.
pub(super) struct EntryReader<'a> {
    /// The catalog file, for the locations of problems.
    pub(super) file: &'a str,
    /// The lookup of `${NAME}` values.
    pub(super) lookup: Environment<'a>,
    /// The problems of the entries.
    pub(super) problems: &'a mut Vec<Problem>,
}

impl EntryReader<'_> {
    /// Removes misspelt keys of an entry that may be ignored, with a warning each. `harmless` are those of `T` without which an entry
    /// reveals nothing more: any other unknown key may be one that limits what is read, indexed or shown, and the entry is rejected.
    pub(super) fn ignore_misspelt<T: JsonSchema + 'static>(
        &mut self,
        what: &str,
        entry: &mut Placed,
        harmless: &[&str],
    ) {
        let Node::Map(map) = &mut entry.node else { return };
        let keys = file_schema::keys::<T>();
        let meant = |key: &String| -> Option<String> {
            let mut near = keys.iter().filter(|known| is_slip(key, known)).peekable();
            let first = near.peek().filter(|_| !keys.contains(key)).map(|known| (*known).clone())?;
            near.all(|known| harmless.contains(&known.as_str())).then_some(first)
        };
        let slips: Vec<(String, String)> = map.keys().filter_map(|key| Some((key.clone(), meant(key)?))).collect();
        for (key, meant) in slips {
            let line = map.shift_remove(&key).map_or(entry.line, |placed| placed.line);
            let reason = format!("{what} has an unknown key `{key}`, which is ignored");
            let problem = Problem::warning(format!("{}:{line}", self.file), reason);
            self.problems.push(problem.advise(format!("did you mean `{meant}`?")));
        }
    }

    /// Reports an error at a line, and what to write instead.
    pub(super) fn fail(&mut self, line: u64, reason: impl Into<String>, advice: impl Into<String>) {
        self.problems.push(Problem::error(format!("{}:{line}", self.file), reason).advise(advice));
    }

    /// Returns the fields of an entry with the keys of `T`; `None`, with a problem reported, if it is not a mapping.
    pub(super) fn fields<T: JsonSchema + 'static>(
        &mut self,
        what: impl Into<String>,
        entry: Placed,
    ) -> Option<Fields<'_>> {
        Fields::of::<T>(self.file, what, entry, self.problems)
    }
}

/// Parses the URL of something to fetch, with values from the environment.
pub(super) fn address(
    fields: &mut Fields<'_>,
    key: &str,
    written: &str,
    line: u64,
    lookup: Environment<'_>,
) -> Option<String> {
    let url = expand(fields, key, written, line, lookup)?;
    if url.starts_with("http://") || url.starts_with("https://") {
        return Some(url);
    }
    let advice = "write a URL that starts with https:// or http://";
    fields.fail(line, format!("`{key}`: unsupported URL scheme"), advice);
    None
}

/// Expands the variables of a text; reports one that is not set.
pub(super) fn expand(
    fields: &mut Fields<'_>,
    key: &str,
    written: &str,
    line: u64,
    lookup: Environment<'_>,
) -> Option<String> {
    let expanded = environment(written, lookup);
    let advice = "set it, or write the value itself";
    expanded.map_err(|error| fields.fail(line, format!("`{key}`: {error}"), advice)).ok()
}

/// Returns a text as written.
pub(super) fn plain(fields: &mut Fields<'_>, key: &str) -> Option<String> {
    fields.text(key).map(|(text, _)| text)
}

/// Returns a text as written; reports one that is missing or blank.
pub(super) fn require_plain(fields: &mut Fields<'_>, key: &str, what: &str) -> Option<String> {
    let text = plain(fields, key);
    require(fields, key, what, text)
}

/// Returns a text; reports one that is missing or blank.
pub(super) fn require(fields: &mut Fields<'_>, key: &str, what: &str, text: Option<String>) -> Option<String> {
    let text = text.filter(|text| !text.trim().is_empty());
    if text.is_none() && !fields.has_failed() {
        let line = fields.line();
        fields.fail(line, format!("`{key}` is missing: {what}"), format!("write `{key}: ...`"));
    }
    text
}

/// Returns a text with values from the environment.
pub(super) fn optional(fields: &mut Fields<'_>, key: &str, lookup: Environment<'_>) -> Option<String> {
    let (text, line) = fields.text(key)?;
    expand(fields, key, &text, line, lookup)
}

/// Parses a file path. A URL in its place is not repeated in the problem: it may contain a password.
pub(super) fn path(fields: &mut Fields<'_>, what: &str, lookup: Environment<'_>) -> Option<String> {
    let line = fields.line();
    let path = optional(fields, "path", lookup);
    let path = require(fields, "path", what, path)?;
    let is_scheme =
        |scheme: &str| scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if path.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme)) {
        fields.fail(line, "`path` is a URL", "write it under `url`, or write the path of a file");
        return None;
    }
    Some(path)
}

/// An entry with the path of a folder.
#[derive(Debug)]
pub(super) struct FolderEntry {
    pub(super) line: u64,
    pub(super) path: String,
}

impl FolderEntry {
    /// Parses an entry with the keys of `T`.
    pub(super) fn read<T: JsonSchema + 'static>(
        reader: &mut EntryReader<'_>,
        what: String,
        contents: &str,
        entry: Placed,
    ) -> Option<FolderEntry> {
        let lookup = reader.lookup;
        let mut fields = reader.fields::<T>(what, entry)?;
        let path = path(&mut fields, contents, lookup);
        let entry = FolderEntry { line: fields.line(), path: path? };
        (!fields.has_failed()).then_some(entry)
    }
}

/// Parses `headers`, each `Name: value`, with values from the environment. The texts may contain secrets, which are not shown.
pub(super) fn read_headers(fields: &mut Fields<'_>, lookup: Environment<'_>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    for (header, line) in fields.list_texts("headers") {
        let wrong = "invalid `headers`: one is not `Name: value`, or its variable is not set";
        match environment(&header, lookup).ok().as_deref().and_then(|header| header.split_once(':')) {
            Some((name, value)) => headers.push((name.trim().to_owned(), value.trim().to_owned())),
            None => fields.fail(line, wrong, "write `headers: ['Authorization: Bearer ${NAME}']`"),
        }
    }
    headers
}

/// Returns whether a name or a pattern matches the name of an operation or a tool.
pub(super) fn is_match(wanted: &str, name: &str) -> bool {
    let compile = || wanted.contains(['*', '?', '[', '{']).then(|| Glob::new(wanted).ok()).flatten();
    wanted == name || compile().is_some_and(|glob| glob.compile_matcher().is_match(name))
}
