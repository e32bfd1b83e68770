//! Files skipped in the scan of a folder: for each reason their number and a few names.

use std::collections::BTreeMap;

use prospector_core::Problem;

/// Maximum number of names reported per reason.
const MAX_NAMES: usize = 5;

/// Maximum number of file extensions reported.
const MAX_KINDS: usize = 8;

/// Why a file or folder was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// It resembles a supported file, but cannot be used.
    Refused {
        /// Why it cannot be used.
        reason: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
    /// It is ignored by a `.gitignore`.
    Ignored,
    /// It contains the dependencies or build output of a program.
    Dependencies,
    /// It is a link, which may point anywhere.
    Link,
    /// It is nested too deeply.
    Deep,
    /// It cannot be read.
    Unreadable,
    /// The scan reached its limit.
    Many,
    /// Its name starts with a dot.
    Hidden,
}

impl Reason {
    fn explain(self) -> (&'static str, &'static str) {
        match self {
            Reason::Refused { reason, advice } => (reason, advice),
            Reason::Ignored => ("ignored by .gitignore", "specify it explicitly to include it"),
            Reason::Dependencies => ("dependencies or build output", "specify it explicitly to include it"),
            Reason::Link => ("link", "specify its target"),
            Reason::Deep => ("nested too deeply", "specify it explicitly"),
            Reason::Unreadable => ("unreadable", "grant yourself read permission"),
            Reason::Many => ("too many files", "specify smaller folders"),
            Reason::Hidden => ("hidden", "specify it explicitly to include it"),
        }
    }
}

/// Files and folders skipped in a scan.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    reasons: BTreeMap<Reason, (usize, Vec<String>)>,
    /// Number of files with unsupported types, by extension.
    others: BTreeMap<String, usize>,
}

impl Skipped {
    /// Adds a skipped file or folder.
    pub(super) fn note(&mut self, name: String, reason: Reason) {
        let (count, names) = self.reasons.entry(reason).or_default();
        *count += 1;
        if names.len() < MAX_NAMES {
            names.push(name);
        }
    }

    /// Counts a file with an unsupported type.
    pub(super) fn note_other(&mut self, extension: Option<&str>) {
        let kind =
            extension.map_or("without extension".to_owned(), |extension| format!(".{}", extension.to_lowercase()));
        *self.others.entry(kind).or_default() += 1;
    }

    /// Returns one problem per reason. These are no errors: they are reported so that missing files are noticed.
    pub(super) fn problems(&self, place: &str) -> Vec<Problem> {
        let skipped = self.reasons.iter().map(|(reason, (count, names))| {
            let (why, advice) = reason.explain();
            let more = count - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Problem::warning(place, format!("skipped {}{more}: {why}", names.join(", "))).advise(advice)
        });
        skipped.chain(self.others(place)).collect()
    }

    fn others(&self, place: &str) -> Option<Problem> {
        let count: usize = self.others.values().sum();
        let mut kinds: Vec<(&String, &usize)> = self.others.iter().collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let kinds: Vec<String> =
            kinds.into_iter().take(MAX_KINDS).map(|(kind, count)| format!("{count} {kind}")).collect();
        let files = if count == 1 {
            "1 file of unsupported type".to_owned()
        } else {
            format!("{count} files of unsupported types")
        };
        (count > 0).then(|| Problem::warning(place, format!("skipped {files}: {}", kinds.join(", "))))
    }
}
