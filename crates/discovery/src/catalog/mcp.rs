//! The MCP servers of a catalog: converts their tools to operations.
//!
//! The lists of a server are cached in the state folder: a server is contacted if it has none yet, and by `refresh`. A server that cannot
//! be reached keeps the tools that were last seen. Texts of servers are sanitized and never decide what may be called.

pub(super) mod caller;
mod entry;
mod load;
pub(super) mod offer;
mod plan;
pub(crate) mod review;
mod sign_in;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_api::{Api, ApiDiscovery};

use self::entry::Origin;
pub(super) use self::{
    caller::McpServers,
    entry::{McpEntry, check},
};
use super::section::{Folders, Opening, Section};

/// The folder of the records of servers, in the state folder.
pub(super) const FOLDER: &str = "mcp";

/// Returns the files with the lists of the MCP servers, in the state folder of a catalog. They change when a server is listed, or a changed
/// definition is approved.
///
/// # Errors
/// If the folder cannot be read; it does not exist before a server is listed.
pub fn server_records(state: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(state.join(FOLDER))? {
        // Not the tokens of OAuth, whose renewal changes nothing in the catalog.
        files.extend(Some(entry?.path()).filter(|path| path.extension().is_some_and(|end| end == "json")));
    }
    files.sort();
    Ok(files)
}

/// The MCP servers section, with the APIs whose names are already in use.
pub(super) struct Mcp<'a> {
    pub(super) apis: &'a ApiDiscovery,
    /// The private hosts that may be contacted.
    pub(super) allow: &'a [prospector_fetch::Rule],
}

impl Section for Mcp<'_> {
    type Entry = McpEntry;
    /// The servers, and their tools as one API per server.
    type Loaded = (Arc<McpServers>, Vec<Api>);

    /// Returns the records and the imported configurations; `None` before the first listing.
    fn files(entries: &[McpEntry], folders: &Folders<'_>) -> Option<Vec<PathBuf>> {
        let mut files = Vec::new();
        if entries.is_empty() {
            return Some(files);
        }
        files.extend(server_records(folders.state).ok()?);
        for entry in entries {
            if let Origin::Import { from, .. } = &entry.origin {
                files.extend(from.files(folders.base, folders.home));
            }
        }
        Some(files)
    }

    async fn load(self, entries: Vec<McpEntry>, opening: &mut Opening<'_>) -> Self::Loaded {
        load::load(self, entries, opening).await
    }
}
