//! Statements that two parsers may read differently: each is rejected, or reads what the guard determined, according to the
//! engine itself.

mod corpus;
mod differential;
mod fields;
mod grammar;
mod mariadb;
mod mutation;
mod postgres;
mod random;
mod sqlite;
mod subject;

use std::collections::BTreeMap;

use futures::future::join_all;
use prospector_test_support::server;
use subject::{Course, Kind, LISTED, MARKER, Subject};

/// The minimum number of statements per engine.
const MIN_STATEMENTS: usize = 500;

/// If set, also reports which rejected statements the engine would answer to a user who may only read the listed tables. That
/// takes minutes.
const NEEDLESS: &str = "PROSPECTOR_DIFFERENTIAL_NEEDLESS";

/// The number of PostgreSQL databases among which its statements are divided.
const PARTS: usize = 4;

/// How thoroughly each statement is examined.
#[derive(Clone, Copy, PartialEq)]
enum Depth {
    /// The tables it reads, and what its answer reveals about hidden names.
    Whole,
    /// The tables it reads.
    Reads,
}

/// Runs every statement.
///
/// # Errors
/// The findings, the most severe kind first.
async fn check(
    name: &str,
    subject: &mut Subject,
    statements: &[String],
    dir: &str,
    depth: Depth,
) -> Result<(), String> {
    let (mut counts, mut faults, mut others) = (BTreeMap::<&str, usize>::new(), Vec::new(), Vec::new());
    let tells_needless_refusals = std::env::var_os(NEEDLESS).is_some();
    let mut state = subject.state().await;
    for sql in statements {
        let sql = &sql.replace("@DIR@", dir);
        let judged = subject.judge(sql).await;
        let (course, sent) = match &judged.course {
            Course::Refused(_) => ("refused", ""),
            Course::Described => ("described", ""),
            Course::Failed(sent, _) => ("failed", sent.as_str()),
            Course::Ran(sent, _) => ("ran", sent.as_str()),
        };
        *counts.entry(course).or_default() += 1;
        let mut findings = judged.findings;
        if depth == Depth::Whole {
            findings.extend(subject.compare_twin(sql).await);
            findings.extend(run_anywhere(subject, sql).await);
            if tells_needless_refusals
                && let Course::Refused(failure) = &judged.course
                && subject.is_answered_to_reader(sql).await
            {
                findings.push((Kind::Strict, failure.to_string()));
            }
        }
        let now = subject.state().await;
        if now != state {
            findings.push((Kind::Change, format!("{now}\n    was {state}")));
            state = now;
        }
        for (kind, detail) in findings {
            let line = format!("{kind:?}: {sql:?}\n    sent {sent:?}\n    {detail}");
            if kind.is_fault() { faults.push((kind, line)) } else { others.push(line) }
        }
    }
    faults.sort();
    println!("{name}: {} statements, {counts:?}, {} faults, {} others", statements.len(), faults.len(), others.len());
    let lines: Vec<String> = faults.into_iter().map(|(_, line)| line).collect();
    for line in others.iter().chain(&lines) {
        println!("{line}");
    }
    match lines.is_empty() {
        true => Ok(()),
        false => Err(format!("{name}: {} of {}:\n{}", lines.len(), statements.len(), lines.join("\n"))),
    }
}

/// Runs a statement without the name of its database, so that other dialects may be tried, and returns a finding.
async fn run_anywhere(subject: &Subject, sql: &str) -> Option<(Kind, String)> {
    let done = subject.engine.run(sql, None, subject::CAP).await;
    let shown = format!("without a database: {done:?}");
    if shown.contains(MARKER) && !sql.contains(MARKER) {
        return Some((Kind::Leak, shown));
    }
    let tables = done.ok()?.tables;
    let is_listed = |table: &String| LISTED.iter().any(|name| table.ends_with(&format!(".{name}")));
    (!tables.iter().all(is_listed)).then(|| (Kind::Read, format!("without a database it reads {tables:?}")))
}

/// An engine with the folder in which it may write, and its statements.
struct Check {
    name: String,
    subject: (Subject, String),
    statements: Vec<String>,
    depth: Depth,
}

impl Check {
    async fn run(self) -> Result<(), String> {
        let (mut subject, dir) = self.subject;
        check(&self.name, &mut subject, &self.statements, &dir, self.depth).await
    }
}

/// Runs several checks concurrently, since most of the time passes in the servers.
async fn check_all(checks: Vec<Check>) {
    let running = checks.into_iter().map(|check| async move { check.run().await.err() });
    let faults: Vec<String> = join_all(running).await.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Checks the number of statements of an engine.
fn enough(statements: Vec<String>) -> Vec<String> {
    assert!(statements.len() >= MIN_STATEMENTS, "{} statements", statements.len());
    statements
}

#[tokio::test]
async fn sqlite_reads_the_claimed_tables() {
    let statements = enough(corpus::sqlite());
    let subject = sqlite::subject().await;
    check_all(vec![Check { name: "SQLite".into(), subject, statements, depth: Depth::Whole }]).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn postgres_reads_the_claimed_tables() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let statements = enough(corpus::postgres());
    let mut checks = Vec::new();
    for part in 0..PARTS {
        let subject = postgres::subject(&url, &format!("prospector_differences_{part}")).await;
        let statements = statements.iter().skip(part).step_by(PARTS).cloned().collect();
        checks.push(Check { name: format!("PostgreSQL, part {part}"), subject, statements, depth: Depth::Whole });
    }
    check_all(checks).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn mariadb_reads_the_claimed_tables_in_every_mode() {
    let Some(url) = server("PROSPECTOR_TEST_MARIADB") else { return };
    mariadb::prepare(&url).await;
    let statements = enough(corpus::mysql());
    let mut checks = Vec::new();
    for (mode, _) in mariadb::MODES {
        let depth = if *mode == "plain" { Depth::Whole } else { Depth::Reads };
        let subject = mariadb::subject(&url, mode).await;
        checks.push(Check { name: format!("MariaDB, {mode}"), subject, statements: statements.clone(), depth });
    }
    check_all(checks).await;
}
