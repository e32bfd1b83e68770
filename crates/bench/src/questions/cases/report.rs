//! The results of all cases, as text and as data.

use std::fmt::Write as _;

use serde::Serialize;

use super::{coverage::Coverage, file::Case};

/// Maximum number of unused entries shown.
const MAX_SHOWN: usize = 40;

/// The results of all cases with one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The model.
    pub model: String,
    /// The results, in the order of the cases.
    pub results: Vec<CaseResult>,
    /// The coverage of the catalog.
    pub coverage: Coverage,
    /// The total duration.
    pub seconds: f64,
}

/// The result of a case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseResult {
    /// Its name.
    pub name: String,
    /// The question.
    pub question: String,
    /// Its line in the file.
    pub line: u64,
    /// Whether it passed, and whether that was expected.
    pub status: Status,
    /// The reason if it is known to fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// The result of each repetition.
    pub runs: Vec<RunResult>,
}

/// The result of one repetition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunResult {
    /// The expectations that are not met; empty if it passed.
    pub failures: Vec<String>,
    /// Tool calls.
    pub calls: u32,
    /// Input and output tokens.
    pub tokens: u64,
    /// Its duration.
    pub milliseconds: u64,
    /// The verified queries used by the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<String>,
}

/// Whether all repetitions of a case passed, and whether that was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It failed, as expected.
    KnownFailure,
    /// It passed, although it is known to fail.
    Fixed,
}

impl CaseResult {
    pub(crate) fn new(case: &Case, runs: Vec<RunResult>) -> CaseResult {
        let passed = runs.iter().all(|run| run.failures.is_empty());
        let status = match (passed, case.known.is_some()) {
            (true, false) => Status::Passed,
            (false, false) => Status::Failed,
            (false, true) => Status::KnownFailure,
            (true, true) => Status::Fixed,
        };
        let (name, question) = (case.name.clone(), case.question.clone());
        CaseResult { name, question, line: case.line, status, known: case.known.clone(), runs }
    }

    /// Returns the first failure.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.runs.iter().flat_map(|run| &run.failures).next().map(String::as_str)
    }

    fn passes(&self) -> usize {
        self.runs.iter().filter(|run| run.failures.is_empty()).count()
    }
}

impl Report {
    /// Returns the number of cases with this status.
    pub fn count(&self, status: Status) -> usize {
        self.results.iter().filter(|result| result.status == status).count()
    }

    /// Returns whether there are no unexpected failures.
    pub fn is_good(&self) -> bool {
        self.count(Status::Failed) == 0
    }

    /// Renders the report as text: a line per case, totals, and unused entries.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for result in &self.results {
            let word = match result.status {
                Status::Passed => "ok   ",
                Status::Failed => "FAIL ",
                Status::KnownFailure => "known",
                Status::Fixed => "FIXED",
            };
            let first = result.runs.first();
            let _ = write!(text, "{word} {}", result.name);
            if result.runs.len() > 1 {
                let _ = write!(text, " ({} of {})", result.passes(), result.runs.len());
            }
            if let Some(name) = first.and_then(|run| run.verified.first()) {
                let _ = write!(text, " [verified: {name}]");
            }
            text.push('\n');
            for failure in result.runs.iter().find(|run| !run.failures.is_empty()).iter().flat_map(|run| &run.failures)
            {
                let _ = writeln!(text, "        {failure}");
            }
            if let Some(known) = &result.known {
                let _ = match result.status {
                    Status::Fixed => writeln!(text, "        it passes now: remove `known` ({known})"),
                    Status::Passed | Status::Failed | Status::KnownFailure => writeln!(text, "        known: {known}"),
                };
            }
        }
        let tokens: u64 = self.results.iter().flat_map(|result| &result.runs).map(|run| run.tokens).sum();
        let _ = writeln!(
            text,
            "\n{} cases with {}: {} passed, {} failed, {} known to fail ({} fixed); {tokens} tokens, {:.1} s",
            self.results.len(),
            self.model,
            self.count(Status::Passed) + self.count(Status::Fixed),
            self.count(Status::Failed),
            self.count(Status::KnownFailure) + self.count(Status::Fixed),
            self.count(Status::Fixed),
            self.seconds
        );
        let Coverage { tables, documents, verified_queries, .. } = self.coverage;
        let mut uncovered = |what: &str, all: usize, left: &[String]| {
            if all > 0 {
                let shown: Vec<&str> = left.iter().take(MAX_SHOWN).map(String::as_str).collect();
                let more = if left.len() > MAX_SHOWN { ", ..." } else { "" };
                let rest =
                    if left.is_empty() { String::new() } else { format!("; unused: {}{more}", shown.join(", ")) };
                let _ = writeln!(text, "{} of {all} {what} used{rest}", all - left.len());
            }
        };
        uncovered("tables", tables, &self.coverage.untouched_tables);
        uncovered("documents", documents, &self.coverage.untouched_documents);
        uncovered("verified queries", verified_queries, &self.coverage.untouched_verified_queries);
        text
    }
}

/// The results of the same cases with two models.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// With the first.
    pub first: Report,
    /// With the second.
    pub second: Report,
}

impl Comparison {
    /// Renders the differing cases and the totals as text.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let sum = |report: &Report| {
            let runs = || report.results.iter().flat_map(|result| &result.runs);
            let passed = report.count(Status::Passed) + report.count(Status::Fixed);
            let (tokens, calls) = (runs().map(|run| run.tokens).sum::<u64>(), runs().map(|run| run.calls).sum::<u32>());
            format!(
                "{}: {passed} of {} passed, {tokens} tokens, {calls} calls, {:.1} s",
                report.model,
                report.results.len(),
                report.seconds
            )
        };
        for (one, other) in self.first.results.iter().zip(&self.second.results) {
            if one.status != other.status {
                let outcome = |result: &CaseResult| result.failure().unwrap_or("passed").to_owned();
                let _ = writeln!(text, "{}", one.name);
                let _ = writeln!(text, "        {}: {}", self.first.model, outcome(one));
                let _ = writeln!(text, "        {}: {}", self.second.model, outcome(other));
            }
        }
        if text.is_empty() {
            text.push_str("no differences\n");
        }
        let _ = writeln!(text, "\n{}\n{}", sum(&self.first), sum(&self.second));
        text
    }
}
