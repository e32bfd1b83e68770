//! Stores workflow conversations on disk: one file per owner and handle, replaced atomically.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use prospector_core::Owner;
use prospector_state::{checksum, create_folder, remove_leftovers, replace};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::TurnRecord;

/// The folder of the local user, whose id is empty.
const LOCAL: &str = "local";

/// Size limit of a stored conversation, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// Limit on the conversations of an owner.
const MAX_KEPT: usize = 100;

/// A stored conversation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct WorkflowRecord {
    /// Name of the workflow.
    pub workflow: String,
    /// The completed turns.
    pub turns: Vec<TurnRecord>,
    /// The user's message that was not answered yet: its turn is running or was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
    /// The findings of the turns, see [`crate::Conversation::findings`].
    #[serde(default)]
    pub found: String,
    /// The report after the last turn; null before the first.
    #[serde(default)]
    pub report: Value,
    /// Whether the workflow has ended.
    #[serde(default)]
    pub is_over: bool,
}

/// A conversation could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The handle is unknown.
    #[error("there is no conversation `{handle}`")]
    Missing {
        /// The handle.
        handle: String,
    },
    /// A file or folder could not be used.
    #[error("cannot {act} {}: {source}", path.display())]
    File {
        /// What was attempted.
        act: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file does not contain a conversation.
    #[error("{} is damaged; remove it", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The conversation exceeds the size limit.
    #[error("the conversation exceeds {} MB", MAX_BYTES >> 20)]
    TooLarge,
    /// The owner has reached the limit, and none of the conversations has ended.
    #[error("the limit of {MAX_KEPT} stored conversations is reached, and all of them are still open")]
    TooMany,
}

/// The conversations of one owner.
#[derive(Debug, Clone)]
pub struct WorkflowStore {
    folder: PathBuf,
}

impl WorkflowStore {
    /// Opens the store of an owner, in a folder for the conversations of all. Folders are created when needed.
    pub fn new(folder: &Path, owner: &Owner) -> Self {
        let name = match owner.id() {
            "" => LOCAL.to_owned(),
            // Encoded so that an id is never a path.
            id => id.bytes().map(|byte| format!("{byte:02x}")).collect(),
        };
        WorkflowStore { folder: folder.join(name) }
    }

    /// Returns the folder for files written by the tools of a conversation.
    pub fn files(&self, handle: &str) -> PathBuf {
        self.folder.join(handle)
    }

    fn path(&self, handle: &str) -> PathBuf {
        self.folder.join(format!("{handle}.json"))
    }

    /// Stores a conversation, replacing the earlier version.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] and [`StoreError::File`]; the earlier version is kept.
    pub fn write(&self, handle: &str, record: &WorkflowRecord) -> Result<(), StoreError> {
        let path = self.path(handle);
        let fail = |act, path: &Path, source| StoreError::File { act, path: path.to_owned(), source };
        create_folder(&self.folder).map_err(|source| fail("make", &self.folder, source))?;
        let bytes = serde_json::to_vec(record).map_err(|error| fail("write", &path, io::Error::other(error)))?;
        if bytes.len() > MAX_BYTES {
            return Err(StoreError::TooLarge);
        }
        remove_leftovers(&self.folder);
        replace(&path, &checksum::seal(&bytes)).map_err(|source| fail("write", &path, source))
    }

    /// Reads the conversation of a handle.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::Damaged`] and [`StoreError::File`].
    pub fn read(&self, handle: &str) -> Result<WorkflowRecord, StoreError> {
        let path = self.path(handle);
        let bytes = fs::read(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::Missing { handle: handle.to_owned() },
            _ => StoreError::File { act: "read", path: path.clone(), source },
        })?;
        let content = checksum::unseal(&bytes).ok();
        content.and_then(|content| serde_json::from_slice(content).ok()).ok_or(StoreError::Damaged { path })
    }

    /// Returns the handles, most recently continued first.
    pub fn handles(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut found: Vec<_> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                Some((entry.metadata().ok()?.modified().ok()?, name.strip_suffix(".json")?.to_owned()))
            })
            .collect();
        found.sort_by(|one, other| other.cmp(one));
        found.into_iter().map(|(_, handle)| handle).collect()
    }

    /// Makes room for another conversation: at the limit, the oldest ended one is removed.
    ///
    /// # Errors
    /// [`StoreError::TooMany`] if none has ended.
    pub fn make_room(&self) -> Result<(), StoreError> {
        let handles = self.handles();
        if handles.len() < MAX_KEPT {
            return Ok(());
        }
        let is_needless = |handle: &&String| self.read(handle).map_or(true, |record| record.is_over);
        let oldest = handles.iter().rev().find(is_needless).ok_or(StoreError::TooMany)?;
        self.remove(oldest)
    }

    /// Removes a conversation with the files of its tools.
    ///
    /// # Errors
    /// [`StoreError::Missing`] and [`StoreError::File`].
    pub fn remove(&self, handle: &str) -> Result<(), StoreError> {
        let (path, files) = (self.path(handle), self.files(handle));
        fs::remove_file(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::Missing { handle: handle.to_owned() },
            _ => StoreError::File { act: "remove", path, source },
        })?;
        match fs::remove_dir_all(&files) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::File { act: "remove", path: files, source })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_its_owners_until_it_is_removed() -> Result<(), StoreError> {
        let folder = std::env::temp_dir().join(format!("prospector-workflows-{}", std::process::id()));
        let (own, other) =
            (WorkflowStore::new(&folder, &Owner::local()), WorkflowStore::new(&folder, &Owner::new("../local", "x")));
        let record = WorkflowRecord { workflow: "w".into(), pending: Some("go".into()), ..Default::default() };
        own.write("workflow_1", &record)?;
        assert_eq!(own.read("workflow_1")?.pending.as_deref(), Some("go"));
        assert!(matches!(other.read("workflow_1"), Err(StoreError::Missing { .. })) && other.handles().is_empty());
        assert_eq!(own.handles(), ["workflow_1"]);
        let path = own.path("workflow_1");
        let mut bytes = fs::read(&path).unwrap_or_default();
        bytes.push(b' ');
        assert!(fs::write(&path, bytes).is_ok());
        assert!(matches!(own.read("workflow_1"), Err(StoreError::Damaged { .. })));
        own.remove("workflow_1")?;
        assert!(matches!(own.remove("workflow_1"), Err(StoreError::Missing { .. })));
        assert!(fs::remove_dir_all(&folder).is_ok());
        Ok(())
    }

    #[test]
    fn the_oldest_that_is_over_makes_room() -> Result<(), StoreError> {
        let folder = std::env::temp_dir().join(format!("prospector-room-{}", std::process::id()));
        let store = WorkflowStore::new(&folder, &Owner::local());
        for at in 0..MAX_KEPT {
            store.write(&format!("workflow_{at}"), &WorkflowRecord::default())?;
        }
        assert!(matches!(store.make_room(), Err(StoreError::TooMany)));
        store.write("workflow_7", &WorkflowRecord { is_over: true, ..Default::default() })?;
        store.make_room()?;
        assert!(store.handles().len() == MAX_KEPT - 1 && store.read("workflow_7").is_err());
        assert!(fs::remove_dir_all(&folder).is_ok());
        Ok(())
    }
}
