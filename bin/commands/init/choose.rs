//! `planner init --interactive`: the user chooses the sources of the catalog.

use std::io::BufRead;

use prospector_core::Problem;
use prospector_discovery::sources::Finding;

use crate::output;

/// The user's choice for a source.
enum Choice {
    Keep,
    LeaveOut,
    /// Keep this source and the remaining ones.
    KeepRest,
    LeaveOutRest,
}

impl Choice {
    /// Parses a typed line; an empty one is the choice shown in capitals.
    fn parse(line: &str) -> Option<Self> {
        match line.trim().to_lowercase().as_str() {
            "" | "y" | "yes" => Some(Choice::Keep),
            "n" | "no" => Some(Choice::LeaveOut),
            "a" | "all" => Some(Choice::KeepRest),
            "q" | "quit" => Some(Choice::LeaveOutRest),
            _ => None,
        }
    }
}

/// Asks about each source; returns the kept sources, and problems that list the declined ones.
///
/// # Errors
/// If the input ends or cannot be read before every source is answered.
pub(super) fn choose(found: Vec<Finding>, mut input: impl BufRead) -> anyhow::Result<(Vec<Finding>, Vec<Problem>)> {
    let (mut kept, mut declined) = (Vec::new(), Vec::new());
    let mut rest = None;
    for finding in found {
        let is_kept = match rest {
            Some(is_kept) => is_kept,
            None => match ask(&finding, &mut input)? {
                Choice::Keep => true,
                Choice::LeaveOut => false,
                Choice::KeepRest => *rest.insert(true),
                Choice::LeaveOutRest => *rest.insert(false),
            },
        };
        if is_kept {
            kept.push(finding);
        } else {
            declined.push(Problem::warning(finding.address.to_string(), "skipped by choice"));
        }
    }
    Ok((kept, declined))
}

fn ask(finding: &Finding, input: &mut impl BufRead) -> anyhow::Result<Choice> {
    let name = finding.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    output::say(&format!(
        "{}{name}: {}. Keep it? [Y]es, [n]o, keep [a]ll remaining, [q]uit and keep no more",
        finding.section(),
        finding.address
    ));
    loop {
        let mut line = String::new();
        let read = input.read_line(&mut line)?;
        anyhow::ensure!(read > 0, "the input ended before every source was answered; no catalog was written");
        if let Some(choice) = Choice::parse(&line) {
            return Ok(choice);
        }
        output::say("answer y, n, a or q");
    }
}
