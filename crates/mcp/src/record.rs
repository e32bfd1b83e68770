//! The stored record of a server: its last lists, and the pinned definitions of its tools.
//!
//! A definition is pinned when it is first listed. If it changes, it is quarantined: the tool is not usable until the
//! change is approved. A tool that disappears stays pinned, so that removing and adding it again does not reset the
//! pin.

use std::{
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use chrono::{DateTime, SecondsFormat, Utc};
use prospector_state::{
    checksum::{SealedError, read_json, write_json},
    create_folder,
};
use serde::{Deserialize, Serialize};

use crate::{
    Definition, McpError,
    connection::Lifecycle,
    listing::{Listing, Prompt, Resource},
    spec::Reach,
};

/// Maximum number of pinned tools of one server.
const MAX_PINNED: usize = 4_000;

/// The stored record of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the server in the catalog.
    server: String,
    /// Fingerprint of the command or URL that was listed.
    reach: String,
    protocol: String,
    pub(crate) lifecycle: Lifecycle,
    /// When it was last listed, in seconds since 1970.
    seen: Option<u64>,
    failure: Option<Failure>,
    tools: Vec<PinnedTool>,
    /// Its resources and templates.
    pub resources: Vec<Resource>,
    /// Its prompts.
    pub prompts: Vec<Prompt>,
    /// Entries rejected by the last listing, with reasons.
    pub problems: Vec<String>,
}

/// Why the last listing failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Failure {
    at: u64,
    /// Fingerprint of the command or URL that failed.
    #[serde(default)]
    reach: String,
    reason: String,
    advice: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PinnedTool {
    /// The approved definition, or the first one listed.
    pinned: Definition,
    /// The currently listed definition, if it differs.
    changed: Option<Definition>,
    /// Whether the last listing contained it.
    is_listed: bool,
}

/// Why a record could not be read. The approved definitions are unknown then.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {source}", .path.display())]
pub struct RecordError {
    /// The file.
    pub path: PathBuf,
    /// The cause.
    pub source: SealedError,
}

impl Record {
    /// Returns the path of a server's record in a folder.
    pub fn file(folder: &Path, server: &str) -> PathBuf {
        folder.join(format!("{}.json", server.to_ascii_lowercase()))
    }

    /// Reads the record of a server; returns an empty one if the file does not exist.
    ///
    /// # Errors
    /// [`RecordError`] if the file cannot be read or is damaged.
    pub fn read(folder: &Path, server: &str) -> Result<Record, RecordError> {
        let path = Record::file(folder, server);
        match read_json(&path) {
            Ok(Some(record)) => Ok(record),
            Ok(None) => Ok(Record { server: server.to_owned(), ..Record::default() }),
            Err(source) => Err(RecordError { path, source }),
        }
    }

    /// Writes the record atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        create_folder(folder)?;
        write_json(&Record::file(folder, &self.server), self)
    }

    /// Returns whether the lists are those of this command or URL.
    pub fn is_of(&self, reach: &Reach) -> bool {
        self.reach == reach.fingerprint()
    }

    /// Merges the current lists of a server: new tools are pinned, changed ones are quarantined.
    pub(crate) fn merge(&mut self, listing: Listing, reach: &Reach) {
        self.reach = reach.fingerprint();
        self.seen = Some(now());
        self.failure = None;
        self.protocol = listing.protocol;
        self.resources = listing.resources;
        self.prompts = listing.prompts;
        self.problems = listing.problems;
        self.tools.iter_mut().for_each(|tool| tool.is_listed = false);
        for tool in listing.tools {
            let has_room = self.tools.len() < MAX_PINNED;
            match self.tools.iter_mut().find(|known| known.pinned.name() == tool.name()) {
                Some(known) => {
                    known.is_listed = true;
                    known.changed = (known.pinned.hash() != tool.hash()).then_some(tool);
                }
                None if has_room => {
                    self.tools.push(PinnedTool { pinned: tool, changed: None, is_listed: true });
                }
                None => self.problems.push(format!("`{}`: at most {MAX_PINNED} tools are pinned", tool.name())),
            }
        }
    }

    /// Returns whether the record equals `before` except for the time of the listing, and is less than an hour newer.
    pub(crate) fn repeats(&self, before: &Record) -> bool {
        let is_recent = before.seen.zip(self.seen).is_some_and(|(then, now)| now.saturating_sub(then) < 3_600);
        is_recent && Record { seen: before.seen, ..self.clone() } == *before
    }

    /// Records that the server could not be listed; the previous lists are kept.
    pub(crate) fn fail(&mut self, error: &McpError, reach: &Reach) {
        let reason = error.to_string();
        self.failure = Some(Failure { at: now(), reach: reach.fingerprint(), reason, advice: error.advice() });
        if self.seen.is_none() {
            self.reach = reach.fingerprint();
        }
    }

    /// Returns why the last listing failed, and how to fix it.
    pub fn failure(&self) -> Option<(&str, &str)> {
        self.failure.as_ref().map(|failure| (failure.reason.as_str(), failure.advice.as_str()))
    }

    /// Returns whether this command or URL failed within this many seconds.
    pub fn failed_within(&self, seconds: u64, reach: &Reach) -> bool {
        let is_of = |failure: &&Failure| failure.reach == reach.fingerprint();
        self.failure.as_ref().filter(is_of).is_some_and(|failure| now().saturating_sub(failure.at) < seconds)
    }

    /// Returns when the server was last listed (RFC 3339).
    pub fn last_seen(&self) -> Option<String> {
        let time = DateTime::<Utc>::from_timestamp(i64::try_from(self.seen?).ok()?, 0)?;
        Some(time.to_rfc3339_opts(SecondsFormat::Secs, true))
    }

    /// Returns the protocol version of the last session; empty without one.
    pub fn protocol(&self) -> &str {
        &self.protocol
    }

    /// Returns the usable tools: listed, with an approved definition.
    pub fn tools(&self) -> impl Iterator<Item = &Definition> {
        self.tools.iter().filter(|tool| tool.is_listed && tool.changed.is_none()).map(|tool| &tool.pinned)
    }

    /// Returns the quarantined tools: the approved and the current definition.
    pub fn changes(&self) -> impl Iterator<Item = (&Definition, &Definition)> {
        self.tools.iter().filter_map(|tool| Some((&tool.pinned, tool.changed.as_ref()?)))
    }

    /// Approves the change of a tool if it has this hash; returns whether it was approved.
    pub fn approve(&mut self, tool: &str, hash: &str) -> bool {
        let changed = self.tools.iter_mut().find(|known| known.pinned.name() == tool);
        let Some(known) = changed.filter(|known| known.changed.as_ref().is_some_and(|now| now.hash() == hash)) else {
            return false;
        };
        if let Some(now) = known.changed.take() {
            known.pinned = now;
        }
        true
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listing(tools: &[(&str, &str)]) -> Listing {
        let tool = |(name, description): &(&str, &str)| {
            Definition::new(json!({"name": name, "description": description, "inputSchema": {}})).unwrap()
        };
        Listing { tools: tools.iter().map(tool).collect(), ..Listing::default() }
    }

    fn reach() -> Reach {
        let url = "http://127.0.0.1:1/mcp".to_owned();
        Reach::Url { url, headers: Default::default(), policy: Default::default(), oauth: None }
    }

    fn usable(record: &Record) -> Vec<String> {
        record.tools().map(|tool| format!("{} {}", tool.name(), tool.value()["description"])).collect()
    }

    #[test]
    fn quarantines_a_changed_definition_until_it_is_approved() {
        let mut record = Record::default();
        record.merge(listing(&[("a", "first"), ("b", "first")]), &reach());
        assert_eq!(usable(&record), ["a \"first\"", "b \"first\""]);
        record.merge(listing(&[("a", "second"), ("b", "first")]), &reach());
        assert_eq!(usable(&record), ["b \"first\""]);
        let hash = record.changes().next().unwrap().1.hash().to_owned();
        assert!(!record.approve("a", "another hash") && !record.approve("b", &hash));
        assert!(record.approve("a", &hash));
        assert_eq!(usable(&record), ["a \"second\"", "b \"first\""]);
    }

    #[test]
    fn removing_a_tool_does_not_reset_its_pin() {
        let mut record = Record::default();
        record.merge(listing(&[("a", "first")]), &reach());
        record.merge(listing(&[]), &reach());
        assert!(usable(&record).is_empty());
        record.merge(listing(&[("a", "second")]), &reach());
        assert!(usable(&record).is_empty() && record.changes().count() == 1);
        record.merge(listing(&[("a", "first")]), &reach());
        assert_eq!(usable(&record), ["a \"first\""]);
    }

    #[test]
    fn a_failure_delays_only_its_own_url() {
        let (before, mut record) = (reach(), Record::default());
        let mut changed = before.clone();
        if let Reach::Url { url, .. } = &mut changed {
            url.push_str("/new");
        }
        record.merge(listing(&[]), &before);
        record.fail(&McpError::Closed { said: String::new() }, &changed);
        assert!(record.failed_within(60, &changed) && !record.failed_within(60, &before));
        assert!(record.is_of(&before), "its lists are those of the URL before");
    }

    #[test]
    fn a_damaged_record_is_an_error_and_not_a_new_start() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::read(folder.path(), "Time").unwrap();
        record.merge(listing(&[("a", "first")]), &reach());
        record.write(folder.path()).unwrap();
        assert_eq!(Record::read(folder.path(), "Time").unwrap(), record);
        let file = Record::file(folder.path(), "Time");
        let damaged = std::fs::read_to_string(&file).unwrap().replace("first", "other");
        std::fs::write(&file, damaged).unwrap();
        assert!(matches!(
            Record::read(folder.path(), "Time"),
            Err(RecordError { source: SealedError::Damaged(_), .. })
        ));
    }
}
