//! Parses entries of a catalog file: each field is removed from its mapping, and problems are reported with their line.

use prospector_core::Problem;
use schemars::JsonSchema;

use super::{
    environment::{Environment, environment},
    node::{Fields, Placed},
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
