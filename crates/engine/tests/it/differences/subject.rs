//! One engine under test: a statement is validated, sent and answered, and the engine itself is asked what it would read.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prospector_connect::Connector;
use prospector_connect::rows::{Rows, SqlQuery};
use prospector_engine::{Engine, Failure, FailureCode, Source};

use crate::support::recorder::{Recorder, Request};

/// The content of every hidden place, which must never be shown.
pub(crate) const MARKER: &str = "s3cret";

/// Tables that queries may not read; each contains the marker.
pub(crate) const HIDDEN: &[&str] = &["secret", "keys", "gehälter", "peep", "secret_fts"];

/// Tables that queries may read.
pub(crate) const LISTED: &[&str] = &["people", "notes", "notes_fts"];

/// Pairs of a hidden name and a missing name of the same length.
const TWINS: &[(&str, &str)] = &[
    ("secret", "absent"),
    ("secret_fts", "absent_fts"),
    ("password", "passwort"),
    ("keys", "kexs"),
    ("token", "tokan"),
];

/// The number of examined rows of an answer.
pub(crate) const CAP: usize = 200;

/// The engine's own account of a statement, on a separate connection.
#[async_trait]
pub(crate) trait Witness: Send {
    /// Returns the objections to a text that the guard accepted with the claim that it reads these tables.
    async fn object(&mut self, sent: &str, claimed: &BTreeSet<String>) -> Vec<String>;

    /// Returns everything that no query may change, as a text.
    async fn state(&mut self) -> String;
}

/// The kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// The marker was shown.
    Leak,
    /// The engine reads, calls or lacks permission for something that the guard did not see.
    Read,
    /// The state changed.
    Change,
    /// Not exactly one query was sent.
    Count,
    /// A hidden name is answered differently than a missing one.
    Revealed,
    /// The sent statement is rejected, or rewritten differently, when it is validated again.
    RoundTrip,
    /// The engine answers the original differently than the sent statement.
    Meaning,
    /// The engine accepts the original, but not the sent statement.
    Broken,
    /// The engine denies the original because of what it reads: it was parsed differently, which is harmless as it is not sent.
    Reading,
    /// The columns have other names than those of the original.
    Names,
    /// It is rejected, although the engine answers it to a user who may only read the listed tables.
    Strict,
}

impl Kind {
    /// Returns whether it is a fault, and not only reported.
    pub(crate) fn is_fault(self) -> bool {
        !matches!(self, Kind::Reading | Kind::Names | Kind::Strict)
    }
}

/// The outcome of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Course {
    /// It did not reach the source.
    Refused(Failure),
    /// It was answered from the description of the source.
    Described,
    /// It was sent, and the source failed.
    Failed(String, Failure),
    /// It was sent and answered.
    Ran(String, Rows),
}

/// A statement with its outcome and findings.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) course: Course,
    pub(crate) findings: Vec<(Kind, String)>,
}

/// One engine with its witness.
pub(crate) struct Subject {
    pub(crate) engine: Arc<Engine>,
    recorder: Arc<Recorder>,
    /// Connects to the source as a user who may only read the listed tables.
    reader: Arc<dyn Connector>,
    witness: Box<dyn Witness>,
}

impl Subject {
    /// `connector` has all permissions, `reader` reads the listed tables only.
    pub(crate) async fn new(
        connector: Arc<dyn Connector>,
        described: &dyn Connector,
        reader: Arc<dyn Connector>,
        witness: Box<dyn Witness>,
    ) -> Subject {
        let (mut tables, problems) = described.describe().await.unwrap();
        // A schema with names of the system is reported as excluded from the search path.
        assert!(problems.iter().all(|problem| problem.reason.contains("initcap")), "{problems:?}");
        tables.retain(|table| LISTED.contains(&table.name.as_str()));
        assert!(tables.len() >= 2, "{tables:?}");
        let recorder = Recorder::new(connector);
        let source = Source { name: "shop".into(), tables, functions: Vec::new(), connector: recorder.clone() };
        Subject { engine: Engine::new(vec![source]), recorder, reader, witness }
    }

    /// Returns what would be sent for a statement; nothing for one that the engine answers itself.
    pub(crate) async fn sent(&self, sql: &str) -> Result<String, Failure> {
        self.recorder.taken();
        self.engine.validate(sql, Some("shop")).await?;
        match self.recorder.taken().as_slice() {
            [] => Ok(String::new()),
            [Request::Query(sent)] => Ok(sent.clone()),
            other => panic!("{sql:?} sends {other:?}"),
        }
    }

    /// Returns everything that no query may change.
    pub(crate) async fn state(&mut self) -> String {
        self.witness.state().await
    }

    /// Sends a statement, and asks the engine about the sent statement.
    pub(crate) async fn judge(&mut self, sql: &str) -> Judged {
        let mut findings = Vec::new();
        self.recorder.taken();
        let done = self.engine.run(sql, Some("shop"), CAP).await;
        let requests = self.recorder.taken();
        let (sent, is_one) = match requests.as_slice() {
            [] => {
                let shown = format!("{done:?}");
                if shows_marker(sql, &shown) {
                    findings.push((Kind::Leak, shown.clone()));
                }
                let course = match done {
                    Err(failure) => Course::Refused(failure),
                    Ok(outcome) => {
                        assert_eq!(outcome.databases, ["information_schema"], "nothing was asked: {shown}");
                        Course::Described
                    }
                };
                return Judged { course, findings };
            }
            [Request::Query(sent)] => (sent.clone(), true),
            [Request::Query(sent), ..] => (sent.clone(), false),
            [Request::Rows { table, .. }, ..] => (table.clone(), false),
        };
        if !is_one {
            findings.push((Kind::Count, format!("{requests:?}")));
        }
        let mut claimed: BTreeSet<String> = LISTED.iter().map(|name| (*name).to_owned()).collect();
        if let Ok(outcome) = &done {
            claimed = outcome.tables.iter().map(|name| name.trim_start_matches("shop.").to_owned()).collect();
        }
        let shown = match &done {
            Ok(outcome) => format!("{:?}", outcome.rows),
            Err(failure) => format!("{failure:?}"),
        };
        if shows_marker(sql, &shown) {
            findings.push((Kind::Leak, shown));
        }
        for objection in self.witness.object(&sent, &claimed).await {
            findings.push((Kind::Read, objection));
        }
        findings.extend(self.compare(sql, &sent).await);
        let course = match done {
            Ok(outcome) => Course::Ran(sent, outcome.rows),
            Err(failure) => Course::Failed(sent, failure),
        };
        Judged { course, findings }
    }

    /// Validates the sent statement again, and compares the engine's answers to it and to the original.
    async fn compare(&self, sql: &str, sent: &str) -> Vec<(Kind, String)> {
        let mut findings = Vec::new();
        match self.sent(sent).await {
            Ok(again) if again == sent => {}
            Ok(again) => findings.push((Kind::RoundTrip, again)),
            Err(failure) => findings.push((Kind::RoundTrip, failure.to_string())),
        }
        if sql == sent || is_unsteady(sql) {
            return findings;
        }
        let original =
            match self.reader.query(&SqlQuery { sql, tables: LISTED, fields: None, functions: &[] }, CAP).await {
                Ok(original) => original,
                Err(error) if is_denial(&error.to_string()) => {
                    findings.push((Kind::Reading, error.to_string()));
                    return findings;
                }
                Err(_) => return findings,
            };
        match self.reader.query(&SqlQuery { sql: sent, tables: LISTED, fields: None, functions: &[] }, CAP).await {
            Ok(answer) => {
                let is_other = match takes_a_part(sql) {
                    true => answer.rows.len() != original.rows.len(),
                    false => sorted(&answer) != sorted(&original),
                };
                if is_other {
                    findings.push((Kind::Meaning, format!("{:?}, not {:?}", answer.rows, original.rows)));
                } else if answer.columns != original.columns {
                    findings.push((Kind::Names, format!("{:?}, not {:?}", answer.columns, original.columns)));
                }
            }
            Err(error) => findings.push((Kind::Broken, error.to_string())),
        }
        findings
    }

    /// Compares the answers to a statement with hidden names and to one with missing names.
    pub(crate) async fn compare_twin(&mut self, sql: &str) -> Option<(Kind, String)> {
        let twin = replace_names(sql, with_case_of);
        if twin == sql {
            return None;
        }
        let (of_hidden, of_absent) = (self.answer(sql).await, self.answer(&twin).await);
        (of_hidden != of_absent).then(|| (Kind::Revealed, format!("{of_hidden:?}, but for {twin:?} {of_absent:?}")))
    }

    /// Returns whether the engine itself answers a statement to a user who may only read the listed tables.
    pub(crate) async fn is_answered_to_reader(&self, sql: &str) -> bool {
        let begins = ["SELECT", "WITH", "VALUES", "(", "TABLE"];
        let start = sql.trim_start().to_ascii_uppercase();
        if !begins.iter().any(|word| start.starts_with(word)) {
            return false;
        }
        // Some are endless.
        let query = SqlQuery { sql, tables: LISTED, fields: None, functions: &[] };
        let asked = tokio::time::timeout(Duration::from_secs(3), self.reader.query(&query, CAP));
        asked.await.is_ok_and(|done| done.is_ok())
    }

    /// Returns the number of columns and rows of an answer, or its failure without the parts in which hidden and missing names
    /// differ.
    async fn answer(&self, sql: &str) -> Result<(usize, usize), (FailureCode, String, String)> {
        let blank = |text: &str| replace_names(text, |_, _| "_".to_owned());
        match self.engine.run(sql, Some("shop"), CAP).await {
            Ok(outcome) => Ok((outcome.rows.columns.len(), outcome.rows.rows.len())),
            Err(failure) => {
                let advice = failure.suggestion.unwrap_or_default();
                // The suggested names depend on the name that was written.
                let advice = advice.split("did you mean").next().unwrap_or_default();
                Err((failure.code, blank(&failure.message), blank(advice)))
            }
        }
    }
}

/// Applies the case of a word to another of its length, and keeps letters that fold to the same, such as the Kelvin sign and
/// `k`.
fn with_case_of(other: &str, word: &str) -> String {
    let alike = |(letter, other): (char, char)| match other {
        _ if other.to_lowercase().eq(letter.to_lowercase()) => other,
        _ if other.is_uppercase() => letter.to_ascii_uppercase(),
        _ => letter,
    };
    word.chars().zip(other.chars()).map(alike).collect()
}

/// Replaces every name of [`TWINS`], hidden or missing, by the result of `other`, which gets the word and the missing name.
fn replace_names(text: &str, other: impl Fn(&str, &str) -> String) -> String {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let first = rest.find(is_word).unwrap_or(rest.len());
        let (between, after) = rest.split_at(first);
        let (word, after) = after.split_at(after.find(|letter| !is_word(letter)).unwrap_or(after.len()));
        let lower = word.to_lowercase();
        let twin = TWINS.iter().find(|(hidden, absent)| lower == *hidden || lower == *absent);
        made += between;
        made += &twin.map_or_else(|| word.to_owned(), |(_, absent)| other(word, absent));
        rest = after;
    }
    made
}

/// Returns whether a text contains the marker although the statement does not.
fn shows_marker(sql: &str, text: &str) -> bool {
    !sql.contains(MARKER) && text.contains(MARKER)
}

/// Returns whether an engine's reason is a lack of permission.
pub(crate) fn is_denial(reason: &str) -> bool {
    let lower = reason.to_lowercase();
    ["denied", "not authorized", "must be superuser", "prohibited"].iter().any(|word| lower.contains(word))
}

/// Returns whether two runs of a statement may differ.
fn is_unsteady(sql: &str) -> bool {
    let lower = sql.to_lowercase();
    let words = ["rand", "now", "uuid", "current", "localtime", "clock", "timeofday", "sysdate", "utc_", "curdate"];
    let more = ["curtime", "timestamp", "sample", "xmin", "ctid", "version", "user", "connection", "date(", "time("];
    words.iter().chain(&more).any(|word| lower.contains(word))
}

/// Returns whether an answer may be any subset of the rows, because nothing orders them.
fn takes_a_part(sql: &str) -> bool {
    let lower = sql.to_lowercase();
    ["limit", "fetch", "offset", "distinct on"].iter().any(|word| lower.contains(word))
}

fn sorted(rows: &Rows) -> Vec<String> {
    let mut rows: Vec<String> = rows.rows.iter().map(|row| format!("{row:?}")).collect();
    rows.sort();
    rows
}
