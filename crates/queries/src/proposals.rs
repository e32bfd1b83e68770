//! Queries that wait for somebody to check them, in the state folder; and what approval does with one.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use prospector_core::Owner;
use prospector_core::tool::finding::Verification;
use prospector_engine::Engine;
use prospector_state::{create_folder, replace};

use crate::{
    QueryError, VerifiedQuery,
    discovery::check,
    file::render,
    load::{is_name, list_files, load_file},
    model::QueryState,
};

/// The folder of the state folder that holds them.
const FOLDER: &str = "queries";
/// More do not wait at once.
const MAX_WAITING: usize = 1_000;
/// Of one client of a server no more of these wait, so that none takes the place of all.
const MAX_OF_OWNER: usize = 100;

/// Held while it is counted how many wait, and one more is written.
static COUNTING: Mutex<()> = Mutex::new(());

/// The queries that wait.
#[derive(Debug, Clone)]
pub struct Proposals {
    folder: PathBuf,
}

impl Proposals {
    /// Those of a state folder.
    pub fn of_state(state: &Path) -> Self {
        Proposals { folder: state.join(FOLDER) }
    }

    /// That a query can have a name.
    ///
    /// # Errors
    /// A name that no file can have.
    pub fn check_name(&self, name: &str) -> Result<(), QueryError> {
        self.file(name).map(drop)
    }

    /// All that can be read, by name.
    pub fn list(&self) -> Vec<VerifiedQuery> {
        list_files(&self.folder).iter().filter_map(|file| load_file(file).0).collect()
    }

    /// Keeps a query until it is approved; one of that name that waited is replaced.
    ///
    /// # Errors
    /// A name that no file can have, a file that cannot be written, and as many that wait as may, of all or of the client that
    /// proposes it.
    pub fn keep(&self, query: &VerifiedQuery) -> Result<PathBuf, QueryError> {
        let path = self.file(&query.name)?;
        let written = |source| QueryError::File { act: "written", path: path.clone(), source };
        create_folder(&self.folder).map_err(written)?;
        let _counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = list_files(&self.folder);
        if !waiting.contains(&path) {
            if let Some(owner) = &query.proposed_by {
                let of_owner = self.list().iter().filter(|other| other.proposed_by.as_ref() == Some(owner)).count();
                if of_owner >= MAX_OF_OWNER {
                    return Err(QueryError::TooMany { what: "queries of yours", most: MAX_OF_OWNER });
                }
            }
            if waiting.len() >= MAX_WAITING {
                return Err(QueryError::TooMany { what: "queries", most: MAX_WAITING });
            }
        }
        let query = VerifiedQuery { verified: None, ..query.clone() };
        replace(&path, render(&query).as_bytes()).map_err(written)?;
        Ok(path)
    }

    /// Keeps the SQL that answered a question of this owner, in the SQL of a database where it names tables without one.
    ///
    /// # Errors
    /// As [`Proposals::keep`].
    pub fn propose(
        &self,
        name: &str,
        question: &str,
        database: Option<&str>,
        sql: &str,
        owner: &Owner,
    ) -> Result<PathBuf, QueryError> {
        self.keep(&VerifiedQuery {
            name: name.to_owned(),
            question: question.to_owned(),
            synonyms: Vec::new(),
            description: String::new(),
            database: database.map(str::to_owned),
            parameters: Vec::new(),
            sql: sql.to_owned(),
            verified: None,
            proposed_by: (!owner.is_local()).then(|| owner.clone()),
            path: PathBuf::new(),
            state: QueryState::Unchecked,
        })
    }

    /// The query of that name that waits.
    ///
    /// # Errors
    /// Where none does, or its file is broken.
    pub fn find(&self, name: &str) -> Result<VerifiedQuery, QueryError> {
        let path = self.file(name)?;
        if !path.is_file() {
            let waiting = self.list().into_iter().map(|query| query.name).collect();
            return Err(QueryError::Unknown { name: name.to_owned(), waiting });
        }
        let (query, mut problems) = load_file(&path);
        let broken =
            || problems.pop().unwrap_or_else(|| prospector_core::Problem::error(path.display().to_string(), "?"));
        query.ok_or_else(broken).map_err(QueryError::Broken)
    }

    /// Writes a query that waits into a folder of the catalog, as checked by somebody today, and no longer keeps it. A file
    /// that is there already is not touched.
    ///
    /// # Errors
    /// Where none of that name waits, where it does not fit the sources of the engine, and where it cannot be written.
    pub async fn approve(
        &self,
        name: &str,
        by: &str,
        folder: &Path,
        engine: &Engine,
    ) -> Result<VerifiedQuery, QueryError> {
        let mut query = self.find(name)?;
        let (state, _) = check(&query, engine).await;
        if let QueryState::Stale { reason } = state {
            return Err(QueryError::Stale { query: query.name, reason });
        }
        let on = chrono::Utc::now().format("%Y-%m-%d").to_string();
        query.verified = Some(Verification { by: by.to_owned(), on });
        query.state = state;
        query.proposed_by = None;
        let path = folder.join(format!("{}.sql", query.name));
        let written = |source| QueryError::File { act: "written", path: path.clone(), source };
        std::fs::create_dir_all(folder).map_err(written)?;
        let mut file = match std::fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(QueryError::Exists(path)),
            Err(error) => return Err(written(error)),
        };
        file.write_all(render(&query).as_bytes()).and_then(|()| file.sync_all()).map_err(written)?;
        // It is in the catalog now: that it waits too costs nothing but a line in the list.
        let _ = std::fs::remove_file(self.file(name)?);
        query.path = path;
        Ok(query)
    }

    /// Forgets a query that waits; whether one did.
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
        if is_name(name) { Ok(self.folder.join(format!("{name}.sql"))) } else { Err(QueryError::Name(name.to_owned())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn propose(proposals: &Proposals, name: &str, owner: &Owner) -> Result<PathBuf, QueryError> {
        proposals.propose(name, "How many orders are there?", None, "SELECT COUNT(*) FROM shop.orders", owner)
    }

    #[test]
    fn no_client_takes_the_place_of_all() {
        let state = tempfile::tempdir().unwrap();
        let proposals = Proposals::of_state(state.path());
        let (ann, ben) = (Owner::new("a", "ann"), Owner::new("b", "ben"));
        for n in 0..MAX_OF_OWNER {
            propose(&proposals, &format!("ann-{n}"), &ann).unwrap();
        }
        let error = propose(&proposals, "one-more", &ann).unwrap_err();
        assert!(matches!(error, QueryError::TooMany { most: MAX_OF_OWNER, .. }), "{error}");
        assert!(error.to_string().contains("of yours") && error.advice().is_some(), "{error}");
        propose(&proposals, "ann-7", &ann).unwrap();
        propose(&proposals, "of-ben", &ben).unwrap();
        propose(&proposals, "of-nobody", &Owner::local()).unwrap();
        assert_eq!(proposals.find("of-ben").unwrap().proposed_by, Some(ben));
        assert_eq!(proposals.find("of-nobody").unwrap().proposed_by, None);
        assert!(proposals.remove("ann-3").unwrap());
        propose(&proposals, "one-more", &ann).unwrap();
    }

    #[test]
    fn the_limit_holds_for_clients_that_propose_at_once() {
        let state = tempfile::tempdir().unwrap();
        let proposals = Proposals::of_state(state.path());
        let ann = Owner::new("a", "ann");
        let kept: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let (proposals, ann) = (&proposals, &ann);
                    scope.spawn(move || {
                        (0..40).filter(|n| propose(proposals, &format!("q-{thread}-{n}"), ann).is_ok()).count()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((kept, proposals.list().len()), (MAX_OF_OWNER, MAX_OF_OWNER));
    }
}
