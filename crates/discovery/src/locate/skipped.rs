//! What was left out while a folder was looked through, and why: a few names and the number of each reason.

use std::collections::BTreeMap;

use prospector_core::Problem;

/// So many names of a reason are told.
const MAX_NAMES: usize = 5;

/// So many kinds of files are told.
const MAX_KINDS: usize = 8;

/// Why something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// Like something that is read, but it is not.
    Refused {
        /// Why not.
        reason: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
    /// A `.gitignore` leaves it out.
    Ignored,
    /// It holds what others wrote for a program.
    Dependencies,
    /// What it leads to may be anywhere.
    Link,
    /// It is too deep in the folder.
    Deep,
    /// It may not be read.
    Unreadable,
    /// There is too much.
    Many,
    /// Its name begins with a dot.
    Hidden,
}

impl Reason {
    fn explain(self) -> (&'static str, &'static str) {
        match self {
            Reason::Refused { reason, advice } => (reason, advice),
            Reason::Ignored => ("a .gitignore leaves it out", "name it itself to have it"),
            Reason::Dependencies => ("it holds what a program is made with", "name it itself to have it"),
            Reason::Link => ("it is a link", "name what it leads to"),
            Reason::Deep => ("it is too deep in the folder", "name it itself"),
            Reason::Unreadable => ("it cannot be read", "give yourself the right to read it"),
            Reason::Many => ("the folder holds too much", "name smaller folders"),
            Reason::Hidden => ("it is hidden", "name it itself to have it"),
        }
    }
}

/// What was left out.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    reasons: BTreeMap<Reason, (usize, Vec<String>)>,
    /// How many files of other kinds there are, by extension.
    others: BTreeMap<String, usize>,
}

impl Skipped {
    /// Notes one thing.
    pub(super) fn note(&mut self, name: String, reason: Reason) {
        let (count, names) = self.reasons.entry(reason).or_default();
        *count += 1;
        if names.len() < MAX_NAMES {
            names.push(name);
        }
    }

    /// Counts a file of another kind.
    pub(super) fn note_other(&mut self, extension: Option<&str>) {
        let kind =
            extension.map_or("without extension".to_owned(), |extension| format!(".{}", extension.to_lowercase()));
        *self.others.entry(kind).or_default() += 1;
    }

    /// One problem a reason. Nothing of it is wrong: it is told so that nobody misses it.
    pub(super) fn problems(&self, place: &str) -> Vec<Problem> {
        let told = self.reasons.iter().map(|(reason, (count, names))| {
            let (why, advice) = reason.explain();
            let more = count - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Problem::warning(place, format!("left out {}{more}: {why}", names.join(", "))).advise(advice)
        });
        told.chain(self.others(place)).collect()
    }

    fn others(&self, place: &str) -> Option<Problem> {
        let count: usize = self.others.values().sum();
        let mut kinds: Vec<(&String, &usize)> = self.others.iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let kinds: Vec<String> =
            kinds.into_iter().take(MAX_KINDS).map(|(kind, count)| format!("{count} {kind}")).collect();
        let files =
            if count == 1 { "1 file of another kind".to_owned() } else { format!("{count} files of other kinds") };
        (count > 0).then(|| Problem::warning(place, format!("left out {files}: {}", kinds.join(", "))))
    }
}
