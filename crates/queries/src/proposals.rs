//! Queries that wait for somebody to check them, in the state folder; and what approval does with one.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

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
const MAX_WAITING: usize = 500;

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
    /// A name that no file can have, or a file that cannot be written.
    pub fn keep(&self, query: &VerifiedQuery) -> Result<PathBuf, QueryError> {
        let path = self.file(&query.name)?;
        let written = |source| QueryError::File { act: "written", path: path.clone(), source };
        create_folder(&self.folder).map_err(written)?;
        let waiting = list_files(&self.folder);
        if waiting.len() >= MAX_WAITING && !waiting.contains(&path) {
            return Err(written(std::io::Error::other(format!("{MAX_WAITING} queries wait already"))));
        }
        let query = VerifiedQuery { verified: None, ..query.clone() };
        replace(&path, render(&query).as_bytes()).map_err(written)?;
        Ok(path)
    }

    /// Keeps the SQL that answered a question, in the SQL of a database where it names tables without one.
    ///
    /// # Errors
    /// As [`Proposals::keep`].
    pub fn propose(
        &self,
        name: &str,
        question: &str,
        database: Option<&str>,
        sql: &str,
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
