//! Redaction of source locations from errors for clients of a server.

use std::path::{Component, Path};

use prospector_core::mark::redact::Redactor;

use super::{file::CatalogFile, mcp::McpEntry, source::CatalogText};
use crate::paths::is_glob;

/// Returns a redactor for the files, hosts and accounts of a catalog, and its state folder. Absolute paths, URLs and IP addresses are
/// always redacted.
pub(super) fn hide_surroundings(file: &CatalogFile, text: &CatalogText, state: &Path) -> Redactor {
    let mut redactor = Redactor::new().with_log(|message| {
        tracing::warn!(error = message, "this error was redacted for a client");
    });
    for database in &file.databases {
        for remote in
            [database.server.as_ref().map(ToString::to_string), database.service.as_ref().map(ToString::to_string)]
        {
            redactor.hide_url(&remote.unwrap_or_default());
        }
    }
    for url in file.mcp.iter().filter_map(McpEntry::url) {
        redactor.hide_url(url);
    }
    let databases = file.databases.iter().map(|entry| entry.path.as_str());
    let documents = file.documents.iter().filter_map(|entry| entry.path.as_deref());
    let skills = file.skills.iter().map(|entry| entry.path.as_str());
    for written in databases.chain(documents).chain(skills).filter(|written| !written.is_empty()) {
        redactor.hide_path(&fixed_part(&text.base.join(written)));
    }
    for path in [state, text.path.as_path()] {
        redactor.hide_path(&path.to_string_lossy());
    }
    redactor
}

/// Returns a path up to its first wildcard; empty if it starts with one.
fn fixed_part(path: &Path) -> String {
    let is_fixed = |part: &Component<'_>| !is_glob(&part.as_os_str().to_string_lossy());
    let fixed: std::path::PathBuf = path.components().take_while(is_fixed).collect();
    fixed.to_string_lossy().into_owned()
}
