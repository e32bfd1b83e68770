//! Stores runs in the state folder, one file each.

use std::path::{Path, PathBuf};

use prospector_core::Owner;
use prospector_state::{
    checksum::{read_json, write_json},
    create_folder,
};

use crate::Run;

/// Limit on the stored runs of an owner; beyond it the oldest are removed.
const MAX_RUNS: usize = 50;

/// The runs of one owner.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// A run could not be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such run.
    #[error("there is no run `{id}`{}", list_known(.known))]
    NotFound {
        /// The requested id.
        id: String,
        /// The latest stored ids.
        known: Vec<String>,
    },
    /// The file is damaged.
    #[error("the run in {} is damaged: {reason}; run the plan again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It cannot be stored.
    #[error("cannot store the run in {}: {obstacle}", path.display())]
    NotKept {
        /// The file.
        path: PathBuf,
        /// What prevents it.
        obstacle: String,
    },
}

fn list_known(ids: &[String]) -> String {
    if ids.is_empty() { ": no runs are stored".to_owned() } else { format!("; the latest are {}", ids.join(", ")) }
}

impl Store {
    /// Opens the store of an owner in a state folder.
    pub fn new(state: &Path, owner: &Owner) -> Self {
        let runs = state.join("runs");
        let folder = if owner.is_local() {
            runs
        } else {
            // Hashed, so that every id is a single path component.
            runs.join(&blake3::hash(owner.id().as_bytes()).to_hex()[..16])
        };
        Store { folder }
    }

    /// Stores a run under its id, assigning one if it has none.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(&self, run: &mut Run) -> Result<(), StoreError> {
        if run.id.is_empty() {
            run.id = self.free_id();
        }
        let path = self.path(&run.id);
        let not_kept = |obstacle: String| StoreError::NotKept { path: path.clone(), obstacle };
        let written = create_folder(&self.folder).and_then(|()| write_json(&path, run));
        written.map_err(|error| not_kept(error.to_string()))?;
        for id in self.ids().into_iter().skip(MAX_RUNS) {
            let _ = std::fs::remove_file(self.path(&id));
        }
        Ok(())
    }

    /// Reads the run of that id; `last` is the latest.
    ///
    /// # Errors
    /// If the run does not exist, or is damaged.
    pub fn read(&self, id: &str) -> Result<Run, StoreError> {
        let ids = self.ids();
        let found = if id == "last" { ids.first() } else { ids.iter().find(|known| *known == id) };
        let not_found = || StoreError::NotFound { id: id.to_owned(), known: ids.iter().take(3).cloned().collect() };
        let path = self.path(found.ok_or_else(not_found)?);
        match read_json(&path) {
            Ok(run) => run.ok_or_else(not_found),
            Err(error) => Err(StoreError::Damaged { path, reason: error.to_string() }),
        }
    }

    /// Returns the ids of the runs, latest first. Other files in the folder are ignored.
    pub fn ids(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let name = |file: std::fs::DirEntry| Some(file.file_name().to_str()?.strip_suffix(".json")?.to_owned());
        let mut ids: Vec<String> = files.filter_map(name).filter(|id| is_id(id)).collect();
        // Ids start with the time.
        ids.sort_by(|a, b| b.cmp(a));
        ids
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// Returns a new id: the time, with a number if several runs start in the same second.
    fn free_id(&self) -> String {
        let now = chrono::Utc::now().format("%Y%m%d-%H%M%S");
        let mut number = 1;
        loop {
            let id = format!("{now}-{number}");
            if !self.path(&id).exists() {
                return id;
            }
            number += 1;
        }
    }
}

/// Returns whether a name is one that [`Store::free_id`] returns: date, time and number.
fn is_id(name: &str) -> bool {
    let parts: Vec<&str> = name.split('-').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts[..], [date, time, _] if date.len() == 8 && time.len() == 6) && parts.iter().all(is_number)
}
