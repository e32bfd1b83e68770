//! Reported answers in the state folder, for review by the catalog maintainer. Models never see them.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use prospector_core::mark::clean;
use prospector_state::{create_folder, replace};
use serde::{Deserialize, Serialize};

use crate::QueryError;
use crate::load::{file_in, remove_file};

/// The subfolder of the state folder.
const FOLDER: &str = "objections";
/// The maximum number of reports per owner.
const MAX_OF_OWNER: usize = 200;
/// The maximum number of reports.
const MAX_FILES: usize = 5_000;
/// The maximum size of a file.
const MAX_BYTES: u64 = 1024 * 1024;
/// The maximum length of a reason; longer ones are truncated.
const MAX_WHY_CHARS: usize = 1_000;

/// Locked while the reports are counted and one is added.
static COUNTING: Mutex<()> = Mutex::new(());

/// An answer that a user reported as wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Objection {
    /// The name of its file; a valid query name.
    pub name: String,
    /// The question.
    pub question: String,
    /// The reason given by the user; may be empty.
    pub why: String,
    /// The queries that the answer is based on.
    pub queries: Vec<AnswerQuery>,
    /// The id of the reporting user; empty for the local user.
    pub owner: String,
    /// The display name of the reporting user.
    pub by: String,
    /// The day, `YYYY-MM-DD`.
    pub on: String,
}

/// A query that an answer is based on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AnswerQuery {
    /// Its SQL.
    pub sql: String,
    /// The database, if the query names tables without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// The name of the verified query, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<String>,
}

impl Objection {
    /// Returns whether the answer was that of this verified query.
    pub fn is_about(&self, query: &str) -> bool {
        self.queries.iter().any(|one| one.verified.as_deref() == Some(query))
    }
}

/// The reported answers in a state folder.
#[derive(Debug, Clone)]
pub struct Objections {
    folder: PathBuf,
}

impl Objections {
    /// Opens the reports in a state folder.
    pub fn of_state(state: &Path) -> Self {
        Objections { folder: state.join(FOLDER) }
    }

    /// Returns all readable reports, by name.
    pub fn list(&self) -> Vec<Objection> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let is_file = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_file).take(MAX_FILES).collect();
        files.sort();
        files.iter().filter_map(|path| read(path)).collect()
    }

    /// Stores a report with today's date; a long reason is truncated, and invisible characters are removed.
    ///
    /// # Errors
    /// If the name is invalid, the file cannot be written, or the maximum number of reports, in total or of the owner, is reached.
    pub fn keep(&self, objection: Objection) -> Result<Objection, QueryError> {
        let path = self.file(&objection.name)?;
        let written = |source| QueryError::File { act: "written", path: path.clone(), source };
        let _counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = self.list();
        if kept.iter().filter(|other| other.owner == objection.owner).count() >= MAX_OF_OWNER {
            return Err(QueryError::TooMany { what: "of your reported answers", most: MAX_OF_OWNER });
        }
        if kept.len() >= MAX_FILES {
            return Err(QueryError::TooMany { what: "reported answers", most: MAX_FILES });
        }
        let why = clean(&objection.why, MAX_WHY_CHARS);
        let on = chrono::Utc::now().format("%Y-%m-%d").to_string();
        let objection = Objection { why, on, ..objection };
        let text = serde_json::to_vec_pretty(&objection).map_err(|error| written(error.into()))?;
        create_folder(&self.folder).and_then(|()| replace(&path, &text)).map_err(written)?;
        Ok(objection)
    }

    /// Returns the report with that name.
    pub fn find(&self, name: &str) -> Option<Objection> {
        read(&self.file(name).ok()?)
    }

    /// Removes the report with that name; returns whether there was one.
    ///
    /// # Errors
    /// If the name is invalid, or the file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<bool, QueryError> {
        remove_file(self.file(name)?)
    }

    fn file(&self, name: &str) -> Result<PathBuf, QueryError> {
        file_in(&self.folder, name, "json")
    }
}

/// Reads a report; `None` if the file is missing, too large or invalid.
fn read(path: &Path) -> Option<Objection> {
    if path.metadata().ok()?.len() > MAX_BYTES {
        return None;
    }
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str, owner: &str, why: &str) -> Objection {
        let query =
            AnswerQuery { sql: "SELECT 1".into(), verified: Some("order-count".into()), ..AnswerQuery::default() };
        Objection {
            name: name.into(),
            owner: owner.into(),
            why: why.into(),
            queries: vec![query],
            ..Objection::default()
        }
    }

    #[test]
    fn stores_reports_until_removed() {
        let state = tempfile::tempdir().unwrap();
        let objections = Objections::of_state(state.path());
        assert_eq!(objections.list(), []);
        let kept = objections.keep(said("orders-1", "", "two\nlines\u{1b}[31m")).unwrap();
        assert_eq!((kept.why.as_str(), kept.on.len()), ("two lines [31m", 10));
        assert_eq!(objections.find("orders-1"), Some(kept.clone()));
        assert_eq!(objections.list(), std::slice::from_ref(&kept));
        assert!(kept.is_about("order-count") && !kept.is_about("orders"));
        assert!(objections.remove("orders-1").unwrap() && !objections.remove("orders-1").unwrap());
        assert_eq!(objections.list(), []);
    }

    #[test]
    fn rejects_invalid_names_and_limits_reports_per_owner() {
        let state = tempfile::tempdir().unwrap();
        let objections = Objections::of_state(state.path());
        for name in ["../queries/x", "", "A b", "/etc/passwd"] {
            assert!(matches!(objections.keep(said(name, "", "")), Err(QueryError::Name(_))), "{name}");
            assert_eq!(objections.find(name), None);
        }
        for at in 0..MAX_OF_OWNER {
            objections.keep(said(&format!("o-{at}"), "ann", "")).unwrap();
        }
        assert!(objections.keep(said("one-more", "ann", "")).is_err());
        assert!(objections.keep(said("one-more", "ben", &"long ".repeat(1_000))).unwrap().why.chars().count() <= 1_001);
    }
}
