//! Answers that somebody found wrong, and why, in the state folder: for whoever decides about verified queries. No model is
//! told of them.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use prospector_core::mark::clean;
use prospector_state::{create_folder, replace};
use serde::{Deserialize, Serialize};

use crate::{QueryError, load::is_name};

/// The folder of the state folder that holds them.
const FOLDER: &str = "objections";
/// One owner has no more.
const MAX_OF_OWNER: usize = 200;
/// More are neither kept nor read.
const MAX_FILES: usize = 5_000;
/// A longer file holds none.
const MAX_BYTES: u64 = 1024 * 1024;
/// A longer reason is cut.
const MAX_WHY_CHARS: usize = 1_000;

/// Held while it is counted how many there are, and one more is written.
static COUNTING: Mutex<()> = Mutex::new(());

/// An answer that somebody found wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Objection {
    /// Its name, as a query has one: that of its file.
    pub name: String,
    /// What was asked.
    pub question: String,
    /// What is wrong, as whoever asked says it; empty where they did not.
    pub why: String,
    /// The queries that the answer rests on.
    pub queries: Vec<AnswerQuery>,
    /// The id of whoever said it; empty for the user of this machine.
    pub owner: String,
    /// Who said it, for people.
    pub by: String,
    /// The day, `YYYY-MM-DD`.
    pub on: String,
}

/// A query that an answer rests on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AnswerQuery {
    /// Its text.
    pub sql: String,
    /// The database, where the query names tables without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// The name of the verified query that it is, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<String>,
}

impl Objection {
    /// Whether the answer was that of a verified query.
    pub fn is_about(&self, query: &str) -> bool {
        self.queries.iter().any(|one| one.verified.as_deref() == Some(query))
    }
}

/// What was said against answers.
#[derive(Debug, Clone)]
pub struct Objections {
    folder: PathBuf,
}

impl Objections {
    /// Those of a state folder.
    pub fn of_state(state: &Path) -> Self {
        Objections { folder: state.join(FOLDER) }
    }

    /// All that can be read, by name.
    pub fn list(&self) -> Vec<Objection> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let is_file = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_file).take(MAX_FILES).collect();
        files.sort();
        files.iter().filter_map(|path| read(path)).collect()
    }

    /// Keeps what somebody said today; a long reason is cut, and what cannot be seen is taken out of it.
    ///
    /// # Errors
    /// A name that no file can have, a file that cannot be written, and as many as may be kept, of all or of the owner.
    pub fn keep(&self, objection: Objection) -> Result<Objection, QueryError> {
        let path = self.file(&objection.name)?;
        let written = |source| QueryError::File { act: "written", path: path.clone(), source };
        let _counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = self.list();
        if kept.iter().filter(|other| other.owner == objection.owner).count() >= MAX_OF_OWNER {
            return Err(QueryError::TooMany { what: "objections of yours", most: MAX_OF_OWNER });
        }
        if kept.len() >= MAX_FILES {
            return Err(QueryError::TooMany { what: "objections", most: MAX_FILES });
        }
        let why = clean(&objection.why, MAX_WHY_CHARS);
        let on = chrono::Utc::now().format("%Y-%m-%d").to_string();
        let objection = Objection { why, on, ..objection };
        let text = serde_json::to_vec_pretty(&objection).map_err(|error| written(error.into()))?;
        create_folder(&self.folder).and_then(|()| replace(&path, &text)).map_err(written)?;
        Ok(objection)
    }

    /// The one of that name.
    pub fn find(&self, name: &str) -> Option<Objection> {
        read(&self.file(name).ok()?)
    }

    /// Forgets the one of that name; whether there was one.
    ///
    /// # Errors
    /// A name that no file can have, and a file that cannot be removed.
    pub fn remove(&self, name: &str) -> Result<bool, QueryError> {
        let path = self.file(name)?;
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(QueryError::File { act: "removed", path, source }),
        }
    }

    fn file(&self, name: &str) -> Result<PathBuf, QueryError> {
        if is_name(name) {
            Ok(self.folder.join(format!("{name}.json")))
        } else {
            Err(QueryError::Name(name.to_owned()))
        }
    }
}

/// What a file keeps; nothing where it is not there, too long or broken.
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
    fn what_was_said_is_kept_until_it_is_forgotten() {
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
    fn a_name_leads_nowhere_else_and_one_owner_has_so_many() {
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
