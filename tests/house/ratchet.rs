//! Known violations of the rules: `exceptions.txt` contains the exact count per rule and crate.
//! A higher count is a new violation, a lower one an improvement that the list does not contain yet. Both fail. `UPDATE_EXPECT=1 cargo test
//! --test house` updates the list.

use std::{
    collections::BTreeMap,
    env, fs,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use crate::sources::root;

/// A violation: its crate, and its description with the location.
pub(crate) struct Finding {
    pub(crate) krate: String,
    pub(crate) what: String,
}

/// The number of known violations by rule and crate.
type Exceptions = BTreeMap<(String, String), usize>;

/// Locks the list, since the rules are checked concurrently.
static LIST: Mutex<()> = Mutex::new(());

const HEAD: &str = "\
# Known violations of the rules in main.rs: rule, crate, count. The counts are exact, and should only ever go down.
# `UPDATE_EXPECT=1 cargo test --test house` updates this list; without a line a crate has none.
";

fn path() -> PathBuf {
    root().join("tests/house/exceptions.txt")
}

fn read() -> Exceptions {
    let text = fs::read_to_string(path()).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let parts: Vec<&str> = line.split_whitespace().collect();
            let [rule, krate, count] = parts[..] else { panic!("not `rule crate count`: {line}") };
            ((rule.to_owned(), krate.to_owned()), count.parse().unwrap())
        })
        .collect()
}

fn write(exceptions: &Exceptions) {
    let line = |((rule, krate), count): (&(String, String), &usize)| format!("{rule:<16} {krate:<12} {count}\n");
    fs::write(path(), exceptions.iter().map(line).fold(HEAD.to_owned(), |text, line| text + &line)).unwrap();
}

/// Checks that the violations of a rule are exactly those of the list.
#[track_caller]
pub(crate) fn check(rule: &str, findings: Vec<Finding>) {
    let guard = LIST.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for finding in findings {
        found.entry(finding.krate).or_default().push(finding.what);
    }
    let mut exceptions = read();
    if env::var_os("UPDATE_EXPECT").is_some() {
        exceptions.retain(|(of, _), _| of != rule);
        exceptions.extend(found.iter().map(|(krate, all)| ((rule.to_owned(), krate.clone()), all.len())));
        write(&exceptions);
        return;
    }
    drop(guard);
    let mut wrong = String::new();
    for (krate, all) in &found {
        let known = exceptions.remove(&(rule.to_owned(), krate.clone())).unwrap_or(0);
        if all.len() != known {
            let all = all.join("\n    ");
            wrong +=
                &format!("\n{krate}: {} violations of `{rule}`, {known} are listed\n    {all}", all.lines().count());
        }
    }
    for ((of, krate), known) in exceptions.iter().filter(|((of, _), _)| of == rule) {
        wrong += &format!("\n{krate}: no violation of `{of}`, {known} are listed");
    }
    assert!(
        wrong.is_empty(),
        "{wrong}\n\nFix new violations; if there are fewer now, `UPDATE_EXPECT=1 cargo test --test house` \
         updates tests/house/exceptions.txt."
    );
}
