//! Pending verified queries in the state folder, and their approval.

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
    load::{file_in, list_files, load_file, remove_file},
    model::QueryState,
};

/// The subfolder of the state folder.
const FOLDER: &str = "queries";
/// The maximum number of pending queries.
const MAX_WAITING: usize = 1_000;
/// The maximum number of pending queries per client, so that no client can fill the queue.
const MAX_OF_OWNER: usize = 100;

/// Locked while the pending queries are counted and one is added.
static COUNTING: Mutex<()> = Mutex::new(());

/// The pending queries.
#[derive(Debug, Clone)]
pub struct Proposals {
    folder: PathBuf,
}

impl Proposals {
    /// Opens the proposals in a state folder.
    pub fn of_state(state: &Path) -> Self {
        Proposals { folder: state.join(FOLDER) }
    }

    /// Checks that a name is valid for a query.
    ///
    /// # Errors
    /// If it is not a valid file name.
    pub fn check_name(&self, name: &str) -> Result<(), QueryError> {
        self.file(name).map(drop)
    }

    /// Returns all readable proposals, by name.
    pub fn list(&self) -> Vec<VerifiedQuery> {
        list_files(&self.folder).iter().filter_map(|file| load_file(file).0).collect()
    }

    /// Stores a query until it is approved; a pending one with the same name is replaced.
    ///
    /// # Errors
    /// If the name is invalid, the file cannot be written, or the maximum number of pending queries, in total or of the client, is
    /// reached.
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
                    return Err(QueryError::TooMany { what: "of your queries", most: MAX_OF_OWNER });
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

    /// Proposes the SQL that answered a question of this owner, in the dialect of `database` if it names tables without one, with
    /// the units of its columns.
    ///
    /// # Errors
    /// As [`Proposals::keep`].
    pub fn propose(
        &self,
        name: &str,
        question: &str,
        database: Option<&str>,
        sql: &str,
        units: &[(String, String)],
        owner: &Owner,
    ) -> Result<PathBuf, QueryError> {
        self.keep(&VerifiedQuery {
            name: name.to_owned(),
            question: question.to_owned(),
            synonyms: Vec::new(),
            description: String::new(),
            database: database.map(str::to_owned),
            parameters: Vec::new(),
            units: units.to_vec(),
            sql: sql.to_owned(),
            verified: None,
            proposed_by: (!owner.is_local()).then(|| owner.clone()),
            path: PathBuf::new(),
            state: QueryState::Unchecked,
        })
    }

    /// Returns the pending query with that name.
    ///
    /// # Errors
    /// If it does not exist, or its file is invalid.
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

    /// Writes a pending query to a folder of the catalog, as approved by a person today, and removes the proposal. An existing file is
    /// not overwritten.
    ///
    /// # Errors
    /// If there is no such pending query, it is not valid for the sources of the engine, or it cannot be written.
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
        // It is in the catalog now; a leftover proposal is harmless.
        let _ = std::fs::remove_file(self.file(name)?);
        query.path = path;
        Ok(query)
    }

    /// Removes a pending query; returns whether there was one.
    ///
    /// # Errors
    /// If the name is invalid, or the file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<bool, QueryError> {
        remove_file(self.file(name)?)
    }

    fn file(&self, name: &str) -> Result<PathBuf, QueryError> {
        file_in(&self.folder, name, "sql")
    }
}

#[cfg(test)]
mod tests {
    use prospector_connect::source::SourceKind;

    use super::*;
    use crate::VerifiedQueries;

    fn propose(proposals: &Proposals, name: &str, owner: &Owner) -> Result<PathBuf, QueryError> {
        proposals.propose(name, "How many orders are there?", None, "SELECT COUNT(*) FROM shop.orders", &[], owner)
    }

    #[test]
    fn limits_pending_queries_per_client() {
        let state = tempfile::tempdir().unwrap();
        let proposals = Proposals::of_state(state.path());
        let (ann, ben) = (Owner::new("a", "ann"), Owner::new("b", "ben"));
        for n in 0..MAX_OF_OWNER {
            propose(&proposals, &format!("ann-{n}"), &ann).unwrap();
        }
        let error = propose(&proposals, "one-more", &ann).unwrap_err();
        assert!(matches!(error, QueryError::TooMany { most: MAX_OF_OWNER, .. }), "{error}");
        assert!(error.to_string().contains("of your queries") && error.advice().is_some(), "{error}");
        propose(&proposals, "ann-7", &ann).unwrap();
        propose(&proposals, "of-ben", &ben).unwrap();
        propose(&proposals, "of-nobody", &Owner::local()).unwrap();
        assert_eq!(proposals.find("of-ben").unwrap().proposed_by, Some(ben));
        assert_eq!(proposals.find("of-nobody").unwrap().proposed_by, None);
        assert!(proposals.remove("ann-3").unwrap());
        propose(&proposals, "one-more", &ann).unwrap();
    }

    #[tokio::test]
    async fn an_approved_query_keeps_units_and_warnings_about_cells() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gifts.csv");
        let rows: String = (1..=40).map(|at| format!("{at},{at}.5\n")).collect();
        std::fs::write(&path, format!("id,amount\n{rows}41,unclear\n42,1.5\n")).unwrap();
        let place = prospector_connect::source::Source::files(SourceKind::Csv, vec![path]);
        let connector = prospector_connect::open(&place).unwrap();
        let (tables, _) = connector.describe().await.unwrap();
        let source = prospector_engine::Source { name: "shop".into(), tables, functions: Vec::new(), connector };
        let engine = Engine::new(vec![source]);
        let proposals = Proposals::of_state(folder.path());
        let units = [("gifts".to_owned(), "EUR".to_owned())];
        let sql = "SELECT SUM(amount) AS gifts FROM shop.gifts";
        proposals.propose("gifts", "What are the gifts?", None, sql, &units, &Owner::local()).unwrap();
        let approved = proposals.approve("gifts", "Ada", &folder.path().join("approved"), &engine).await.unwrap();
        let (queries, problems) = VerifiedQueries::load(&[approved.path], &engine).await;
        assert!(problems.is_empty(), "{problems:?}");
        let query = queries.resolve("gifts").unwrap();
        let run = queries.run(query, &serde_json::Map::new(), &engine, 10).await.unwrap();
        assert_eq!(run.outcome.units, units);
        let [warning] = run.warnings.as_slice() else { panic!("{:?}", run.warnings) };
        assert!(warning.message.contains("line 42 'unclear'"), "{}", warning.message);
    }

    #[test]
    fn enforces_the_limit_for_concurrent_proposals() {
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
