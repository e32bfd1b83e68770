//! Parses entries of a catalog file: each field is removed from its mapping, and problems are reported with their line.

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
    let found = environment(written, lookup).map_err(|error| (error.to_string(), "set it, or write the value itself"));
    let found = found.and_then(|url| match url.starts_with("http://") || url.starts_with("https://") {
        true => Ok(url),
        false => Err(("unsupported URL scheme".to_owned(), "write a URL that starts with https:// or http://")),
    });
    found.map_err(|(reason, advice)| fields.fail(line, format!("`{key}`: {reason}"), advice)).ok()
}

/// Returns a text as written.
pub(super) fn plain(fields: &mut Fields<'_>, key: &str) -> Option<String> {
    fields.text(key).map(|(text, _)| text)
}

pub(super) fn require_plain(fields: &mut Fields<'_>, key: &str, what: &str) -> Option<String> {
    let text = plain(fields, key).filter(|text| !text.trim().is_empty());
    if text.is_none() && !fields.has_failed() {
        let line = fields.line();
        fields.fail(line, format!("`{key}` is missing: {what}"), format!("write `{key}: ...`"));
    }
    text
}

/// Returns a text with values from the environment.
pub(super) fn optional(fields: &mut Fields<'_>, key: &str, lookup: Environment<'_>) -> Option<String> {
    let (text, line) = fields.text(key)?;
    match environment(&text, lookup) {
        Ok(text) => Some(text),
        Err(error) => {
            fields.fail(line, format!("`{key}`: {error}"), "set it, or write the value itself");
            None
        }
    }
}

fn require(fields: &mut Fields<'_>, key: &str, what: &str, lookup: Environment<'_>) -> Option<String> {
    let text = optional(fields, key, lookup).filter(|text| !text.trim().is_empty());
    if text.is_none() && !fields.has_failed() {
        let line = fields.line();
        fields.fail(line, format!("`{key}` is missing: {what}"), format!("write `{key}: ...`"));
    }
    text
}

/// Parses a file path. A URL in its place is not repeated in the problem: it may contain a password.
pub(super) fn path(fields: &mut Fields<'_>, what: &str, lookup: Environment<'_>) -> Option<String> {
    let line = fields.line();
    let path = require(fields, "path", what, lookup)?;
    let is_scheme =
        |scheme: &str| scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if path.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme)) {
        fields.fail(line, "`path` is a URL", "write it under `url`, or write the path of a file");
        return None;
    }
    Some(path)
}
