//! Files as a connector describes them.

use prospector_connect::{Source, open};
use prospector_connect::source::SourceKind;
use prospector_connect::table::Table;

/// The tables of a source of these files, each given by its name and its content; none where it cannot be read.
pub fn tables(kind: SourceKind, files: &[(&str, &[u8])]) -> Vec<Table> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let write = |(name, content): &(&str, &[u8])| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("a temporary file can be written");
        path
    };
    let source = Source::files(kind, files.iter().map(write).collect());
    let connector = open(&source).expect("a source of files opens");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be started");
    runtime.block_on(connector.describe()).map_or_else(|_| Vec::new(), |(tables, _)| tables)
}
