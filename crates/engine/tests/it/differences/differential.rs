//! Random statements, and mutations of the statements of all corpora: each is validated, and accepted ones run on the engine
//! while its witness observes them.
//!
//! By default, the number of statements per seed is limited so that it takes seconds. To search longer:
//!
//! ```sh
//! PROSPECTOR_DIFFERENTIAL_SECONDS=3600 .ci/services cargo test -p prospector-engine --test it differential -- --include-ignored --nocapture
//! ```
//!
//! The seed is printed; `PROSPECTOR_DIFFERENTIAL_SEED` sets it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::corpus;
use super::grammar::Grammar;
use super::mutation::{mutate, tokens};
use super::random::Random;
use super::subject::{Course, Judged, Kind, Subject};
use super::{mariadb, postgres, sqlite};
use prospector_test_support::server;

/// The number of statements, unless a time is set.
const STATEMENTS: usize = 2_000;

/// The number of statements between two checks of the state, and between two modes of a server.
const BATCH: usize = 250;

/// The number of accepted statements that are kept for mutation.
const KEPT: usize = 2_000;

/// The maximum number of attempts to reduce a finding.
const TRIALS: usize = 300;

/// The first statement of each group of similar findings, with its details.
type Findings = BTreeMap<(Kind, String), String>;

#[derive(Default)]
struct Tally {
    executions: usize,
    through: usize,
    answered: usize,
}

/// The duration and the seed.
struct Plan {
    seconds: Option<u64>,
    seed: u64,
}

impl Plan {
    fn read() -> Plan {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap());
        let seconds = number("PROSPECTOR_DIFFERENTIAL_SECONDS");
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        let seed = number("PROSPECTOR_DIFFERENTIAL_SEED").unwrap_or(if seconds.is_some() { now } else { 1 });
        Plan { seconds, seed }
    }
}

/// Returns the words of a finding without the names and numbers of the statement, to group similar ones.
fn outline(detail: &str) -> String {
    let words =
        detail.split_whitespace().take(8).map(|word| word.split(['"', '\'', '`', '{', '[']).next().unwrap_or(""));
    words.collect::<Vec<_>>().join(" ").chars().filter(|letter| !letter.is_ascii_digit()).take(60).collect()
}

/// Returns the initial statements.
fn read_pool(own: &[String]) -> Vec<String> {
    let mut pool = own.to_vec();
    for text in [
        include_str!("../../corpus/common.sql"),
        include_str!("../../corpus/postgres.sql"),
        include_str!("../../corpus/mysql.sql"),
        include_str!("../../corpus/sqlite.sql"),
        include_str!("../../corpus/harmless.sql"),
    ] {
        let harmless = |line: String| line.split(" --> ").next().unwrap_or_default().to_owned();
        pool.extend(corpus::statements(text).into_iter().map(harmless));
    }
    pool
}

async fn hunt(name: &str, subjects: &mut [(Subject, String)], grammar: &Grammar, own: &[String]) {
    let plan = Plan::read();
    println!("{name}: seed {}", plan.seed);
    let mut random = Random::new(plan.seed);
    let mut pool = read_pool(own);
    let fixed = pool.len();
    let (mut tally, mut findings, mut others) = (Tally::default(), Findings::new(), BTreeMap::<Kind, usize>::new());
    let start = Instant::now();
    let is_over = |tally: &Tally| match plan.seconds {
        Some(seconds) => start.elapsed() > Duration::from_secs(seconds),
        None => tally.executions >= STATEMENTS,
    };
    let mut reported = Instant::now();
    while !is_over(&tally) {
        let place = (tally.executions / BATCH) % subjects.len();
        let (subject, dir) = &mut subjects[place];
        let before = subject.state().await;
        let mut batch = Vec::new();
        for _ in 0..BATCH {
            let sql = next(&mut random, grammar, &pool).replace("@DIR@", dir);
            let judged = subject.judge(&sql).await;
            tally.executions += 1;
            if !matches!(judged.course, Course::Refused(_) | Course::Described) {
                tally.through += 1;
                tally.answered += usize::from(matches!(judged.course, Course::Ran(..)));
                batch.push(sql.clone());
                match pool.len() < fixed + KEPT {
                    true => pool.push(sql.clone()),
                    false => {
                        let place = fixed + random.below(KEPT);
                        pool[place] = sql.clone();
                    }
                }
            }
            let mut found = judged.findings;
            if random.is_one_in(20) {
                found.extend(subject.compare_twin(&sql).await);
            }
            for (kind, detail) in found {
                if !kind.is_fault() {
                    *others.entry(kind).or_default() += 1;
                }
                let key = (kind, outline(&detail));
                if findings.contains_key(&key) || (!kind.is_fault() && others[&kind] > 20) {
                    continue;
                }
                let small = minimise(subject, kind, &sql).await;
                let sent = subject.sent(&small).await;
                println!("{name}: {kind:?}: {small:?}\n    sent {sent:?}\n    {detail}\n    found as {sql:?}");
                findings.insert(key, small);
            }
        }
        let after = subject.state().await;
        if after != before {
            let detail = format!("one of {batch:#?}\n    changed {before}\n    to {after}");
            println!("{name}: {:?}: {detail}", Kind::Change);
            findings.insert((Kind::Change, after), detail);
        }
        if reported.elapsed() > Duration::from_secs(60) {
            reported = Instant::now();
            println!("{name}: {} executions, {} let through", tally.executions, tally.through);
        }
    }
    let faults: Vec<String> = findings
        .iter()
        .filter(|((kind, _), _)| kind.is_fault())
        .map(|((kind, outline), sql)| format!("{kind:?}: {sql:?}\n    {outline}"))
        .collect();
    println!(
        "{name}: seed {}, {} s, {} executions, {} let through, {} answered, {} findings, other findings {others:?}",
        plan.seed,
        start.elapsed().as_secs(),
        tally.executions,
        tally.through,
        tally.answered,
        faults.len()
    );
    assert!(tally.through > tally.executions / 100, "hardly anything is let through");
    assert!(faults.is_empty(), "{name}, seed {}:\n{}", plan.seed, faults.join("\n"));
}

/// Returns the next statement: generated by the grammar or taken from the pool, and usually mutated.
fn next(random: &mut Random, grammar: &Grammar, pool: &[String]) -> String {
    let made = match random.is_one_in(2) {
        true => grammar.statement(random),
        false => pool[random.below(pool.len())].clone(),
    };
    let other = random.below(pool.len());
    match random.below(3) {
        0 => made,
        _ => mutate(random, grammar, &made, &pool[other]),
    }
}

/// Reduces a statement as far as the finding remains the same.
async fn minimise(subject: &mut Subject, kind: Kind, sql: &str) -> String {
    let mut parts = tokens(sql);
    let (mut trials, mut size) = (0, parts.len().div_ceil(2));
    while size > 0 && trials < TRIALS {
        let mut at = 0;
        while at < parts.len() && trials < TRIALS {
            let end = (at + size).min(parts.len());
            let less = [&parts[..at], &parts[end..]].concat();
            trials += 1;
            let is_wrong = |judged: &Judged| judged.findings.iter().any(|(other, _)| *other == kind);
            let text = less.concat();
            let still = match kind {
                Kind::Revealed => subject.compare_twin(&text).await.is_some(),
                _ => is_wrong(&subject.judge(&text).await),
            };
            if still { parts = less } else { at = end }
        }
        size /= 2;
    }
    parts.concat()
}

#[tokio::test]
async fn random_statements_of_sqlite() {
    let mut subjects = [sqlite::subject().await];
    hunt("SQLite", &mut subjects, &Grammar::sqlite(), &corpus::sqlite()).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn random_statements_of_postgres() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let mut subjects = [postgres::subject(&url, "prospector_differential").await];
    hunt("PostgreSQL", &mut subjects, &Grammar::postgres(), &corpus::postgres()).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn random_statements_of_mariadb() {
    let Some(url) = server("PROSPECTOR_TEST_MARIADB") else { return };
    mariadb::prepare(&url).await;
    let mut subjects = Vec::new();
    for (mode, _) in mariadb::MODES {
        subjects.push(mariadb::subject(&url, mode).await);
    }
    hunt("MariaDB", &mut subjects, &Grammar::mysql(), &corpus::mysql()).await;
}
