//! Parses entries of a catalog file into the types of [`file_schema`], which describe their keys: problems are reported with their line.

use globset::Glob;
use indexmap::IndexMap;
use prospector_core::Problem;
use prospector_core::name::{is_slip, nearest};
use prospector_core::problem::Severity;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    environment::{Environment, environment},
    file_schema::{self, FolderEntry},
    node::{Node, Placed},
    value::{accepts_mapping, convert, describe, mapping_of},
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
        let schema = file_schema::schema_of::<T>();
        let keys = file_schema::properties(&schema);
        let meant = |key: &String| -> Option<String> {
            let mut near = keys.keys().filter(|known| is_slip(key, known)).peekable();
            let first = near.peek().filter(|_| !keys.contains_key(key)).map(|known| (*known).clone())?;
            near.all(|known| harmless.contains(&known.as_str())).then_some(first)
        };
        let slips: Vec<(String, String)> = map.keys().filter_map(|key| Some((key.clone(), meant(key)?))).collect();
        for (key, meant) in slips {
            let line = map.shift_remove(&key).map_or(entry.line, |placed| placed.line);
            let reason = format!("{what} has an unknown key `{key}`, which is ignored");
            self.warn(line, reason, format!("did you mean `{meant}`?"));
        }
    }

    /// Reports an error at a line, and what to write instead.
    pub(super) fn fail(&mut self, line: u64, reason: impl Into<String>, advice: impl Into<String>) {
        self.problems.push(Problem::error(format!("{}:{line}", self.file), reason).advise(advice));
    }

    /// Reports a warning at a line, and what to write instead.
    fn warn(&mut self, line: u64, reason: impl Into<String>, advice: impl Into<String>) {
        self.problems.push(Problem::warning(format!("{}:{line}", self.file), reason).advise(advice));
    }

    /// Parses an entry, and checks it with `check`. Returns `None` if it has an error, which is reported.
    pub(super) fn read<W: DeserializeOwned + JsonSchema + 'static, T>(
        &mut self,
        what: String,
        entry: Placed,
        check: fn(&mut Fields<'_>, W) -> Option<T>,
    ) -> Option<T> {
        let (written, mut fields) = self.parse(what, entry)?;
        let checked = check(&mut fields, written)?;
        (!fields.has_failed()).then_some(checked)
    }

    /// Parses an entry. Reports unknown keys, missing keys, and values that the schema of `W` does not accept, which are skipped. Returns
    /// `None` if the entry is not a mapping, or the rest is incomplete.
    pub(super) fn parse<W: DeserializeOwned + JsonSchema + 'static>(
        &mut self,
        what: String,
        entry: Placed,
    ) -> Option<(W, Fields<'_>)> {
        let before = self.problems.len();
        let value = self.mapping(&what, &entry, &file_schema::schema_of::<W>())?;
        let reader = EntryReader { file: self.file, lookup: self.lookup, problems: self.problems };
        let mut fields = Fields { reader, what, before, entry };
        match serde_json::from_value(value) {
            Ok(written) => Some((written, fields)),
            Err(_) if fields.has_failed() => None,
            Err(error) => {
                fields.fail(fields.line(), format!("{} is invalid: {error}", fields.what), "correct or remove it");
                None
            }
        }
    }

    /// Converts a mapping to JSON, without the keys that are unknown or invalid, which are reported.
    fn mapping(&mut self, what: &str, placed: &Placed, schema: &Value) -> Option<Value> {
        let before = self.problems.len();
        let keys = file_schema::properties(schema);
        let Node::Map(map) = &placed.node else {
            let reason = format!("{what} must be a mapping, not {}", placed.node.describe_kind());
            let first = keys.keys().next().map_or("name", String::as_str);
            self.fail(placed.line, reason, format!("write `{first}: ...`"));
            return None;
        };
        self.report_unknown(what, map, keys);
        let mut found = Map::new();
        for (key, value) in map {
            let value = keys.get(key).and_then(|schema| self.value(what, key, value, schema));
            found.extend(value.map(|value| (key.clone(), value)));
        }
        let is_given = |key: &str| match found.get(key) {
            Some(Value::String(text)) => !text.trim().is_empty(),
            value => value.is_some(),
        };
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let missing = required.filter_map(Value::as_str).find(|&key| !is_given(key));
        if let Some(key) = missing.filter(|_| self.problems.len() == before) {
            let about = keys.get(key).and_then(|schema| schema.get("description")).and_then(Value::as_str);
            let mut about = about.unwrap_or_default().trim_end_matches('.').to_owned();
            if let Some(first) = about.get_mut(..1) {
                first.make_ascii_lowercase();
            }
            self.fail(placed.line, format!("`{key}` is missing: {about}"), format!("write `{key}: ...`"));
        }
        Some(Value::Object(found))
    }

    /// Reports the unknown keys of a mapping.
    pub(super) fn report_unknown(&mut self, what: &str, map: &IndexMap<String, Placed>, keys: &Map<String, Value>) {
        for (key, value) in map.iter().filter(|(key, _)| !keys.contains_key(*key)) {
            let near = suggest(key, keys.keys().map(String::as_str));
            let known = keys.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let reason = format!("{what} has an unknown key `{key}`");
            self.fail(value.line, reason, format!("{near}the keys are {known}"));
        }
    }

    /// Converts the value of a key to JSON; `None`, with a problem reported, if the schema does not accept it.
    pub(super) fn value(&mut self, what: &str, key: &str, placed: &Placed, schema: &Value) -> Option<Value> {
        let value = convert(&placed.node, schema);
        if value.is_some() {
            return value;
        }
        let name = format!("`{key}` of {what}");
        if let Some(inner) = mapping_of(schema) {
            return self.mapping(&name, placed, inner);
        }
        let (accepted, advice) = describe(key, &placed.node, schema);
        let found = if accepts_mapping(schema) { placed.node.describe_kind() } else { placed.node.describe() };
        self.fail(placed.line, format!("{name} must be {accepted}, not {found}"), advice);
        None
    }
}

/// A parsed entry whose values are being checked: reports problems at the lines of its keys.
pub(super) struct Fields<'a> {
    pub(super) reader: EntryReader<'a>,
    /// The name of the entry in messages: `databases[2]`.
    pub(super) what: String,
    /// Number of problems before it was parsed.
    before: usize,
    entry: Placed,
}

impl Fields<'_> {
    /// Reports an error and what to write instead.
    pub(super) fn fail(&mut self, line: u64, reason: impl Into<String>, advice: impl Into<String>) {
        self.reader.fail(line, reason, advice);
    }

    /// Reports a missing value, unless the entry has an error, which may be the reason that it is missing.
    pub(super) fn fail_missing(&mut self, line: u64, reason: impl Into<String>, advice: impl Into<String>) {
        if !self.has_failed() {
            self.fail(line, reason, advice);
        }
    }

    /// Reports a warning and what to write instead.
    pub(super) fn warn(&mut self, line: u64, reason: impl Into<String>, advice: impl Into<String>) {
        self.reader.warn(line, reason, advice);
    }

    /// Returns whether the entry has an error.
    pub(super) fn has_failed(&self) -> bool {
        self.reader.problems[self.before..].iter().any(|problem| problem.severity == Severity::Error)
    }

    /// Returns the line of the entry.
    pub(super) fn line(&self) -> u64 {
        self.entry.line
    }

    /// Returns the location of the entry.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.reader.file, self.entry.line)
    }

    /// Returns the value of a key as written.
    fn get(&self, key: &str) -> Option<&Placed> {
        let Node::Map(map) = &self.entry.node else { return None };
        map.get(key)
    }

    /// Returns the fields of a mapping in the entry.
    pub(super) fn inner(&mut self, key: &str) -> Fields<'_> {
        let entry = self.get(key).cloned().unwrap_or(Placed { line: self.line(), node: Node::Null });
        let EntryReader { file, lookup, .. } = self.reader;
        let what = format!("`{key}` of {}", self.what);
        Fields {
            reader: EntryReader { file, lookup, problems: self.reader.problems },
            what,
            before: self.before,
            entry,
        }
    }

    /// Returns whether a key exists.
    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns the line of a key; that of the entry if it is missing.
    pub(super) fn line_of(&self, key: &str) -> u64 {
        self.get(key).map_or(self.entry.line, |placed| placed.line)
    }

    /// Returns the texts of a list, each with its line.
    pub(super) fn with_lines(&self, key: &str, texts: Option<Vec<String>>) -> Vec<(String, u64)> {
        let items = match self.get(key).map(|placed| &placed.node) {
            Some(Node::List(items)) => items.as_slice(),
            _ => &[],
        };
        texts.unwrap_or_default().into_iter().zip(items.iter().map(|item| item.line)).collect()
    }

    /// Checks a word of a closed set, and returns its meaning.
    pub(super) fn word<T>(
        &mut self,
        key: &str,
        word: Option<String>,
        what: &str,
        words: &[&str],
        find: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let word = word?;
        let found = find(&word);
        if found.is_none() {
            let advice = format!("{}write one of {}", suggest(&word, words.iter().copied()), words.join(", "));
            self.fail(self.line_of(key), format!("unknown {what} `{word}`"), advice);
        }
        found
    }

    /// Expands the variables of a text; reports one that is not set.
    pub(super) fn expand(&mut self, key: &str, written: Option<String>) -> Option<String> {
        let expanded = environment(&written?, self.reader.lookup);
        let advice = "set it, or write the value itself";
        expanded.map_err(|error| self.fail(self.line_of(key), format!("`{key}`: {error}"), advice)).ok()
    }

    /// Parses the URL of something to fetch, with values from the environment.
    pub(super) fn address(&mut self, key: &str, written: Option<String>) -> Option<String> {
        let url = self.expand(key, written)?;
        if url.starts_with("http://") || url.starts_with("https://") {
            return Some(url);
        }
        let advice = "write a URL that starts with https:// or http://";
        self.fail(self.line_of(key), format!("`{key}`: unsupported URL scheme"), advice);
        None
    }

    /// Returns a text; reports one that is missing or blank.
    pub(super) fn require(&mut self, key: &str, what: &str, text: Option<String>) -> Option<String> {
        let text = text.filter(|text| !text.trim().is_empty());
        if text.is_none() {
            self.fail_missing(self.line(), format!("`{key}` is missing: {what}"), format!("write `{key}: ...`"));
        }
        text
    }

    /// Returns the optional name of the entry; reports a blank one.
    pub(super) fn name(&mut self, written: Option<String>) -> Option<String> {
        let name = written?;
        if name.trim().is_empty() {
            self.fail(self.line_of("name"), format!("`name` of {} is empty", self.what), "write a name, or remove it");
            return None;
        }
        Some(name)
    }

    /// Parses the file path in `path`. A URL in its place is not repeated in the problem: it may contain a password.
    pub(super) fn path(&mut self, what: &str, written: Option<String>) -> Option<String> {
        let path = self.expand("path", written);
        let path = self.require("path", what, path)?;
        let is_scheme =
            |scheme: &str| scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
        if path.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme)) {
            self.fail(self.line(), "`path` is a URL", "write it under `url`, or write the path of a file");
            return None;
        }
        Some(path)
    }

    /// Parses `headers`, each `Name: value`, with values from the environment. The texts may contain secrets, which are not shown.
    pub(super) fn headers(&mut self, written: Option<Vec<String>>) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        for (header, line) in self.with_lines("headers", written) {
            let wrong = "invalid `headers`: one is not `Name: value`, or its variable is not set";
            match environment(&header, self.reader.lookup).ok().as_deref().and_then(|header| header.split_once(':')) {
                Some((name, value)) => headers.push((name.trim().to_owned(), value.trim().to_owned())),
                None => self.fail(line, wrong, "write `headers: ['Authorization: Bearer ${NAME}']`"),
            }
        }
        headers
    }
}

/// Checks an entry with the path of a folder.
pub(super) fn check_folder(fields: &mut Fields<'_>, written: FolderEntry) -> Option<FolderEntry> {
    Some(FolderEntry { line: fields.line(), path: fields.path("a folder", Some(written.path))? })
}

/// Suggests the word that may be meant, if one is similar.
fn suggest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = nearest(word, known, 1).pop();
    near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default()
}

/// Returns whether a name or a pattern matches the name of an operation or a tool.
pub(super) fn is_match(wanted: &str, name: &str) -> bool {
    let compile = || wanted.contains(['*', '?', '[', '{']).then(|| Glob::new(wanted).ok()).flatten();
    wanted == name || compile().is_some_and(|glob| glob.compile_matcher().is_match(name))
}
