//! `context_preload`: tables worth pinning in a prompt.

use prospector_core::Problem;
use prospector_core::record::ResourceKind;

use super::{
    Catalog,
    entry::EntryReader,
    node::{Node, Placed},
};

#[derive(Debug)]
pub(super) struct PreloadEntry {
    pub(super) line: u64,
    pub(super) pattern: String,
}

/// Reads an entry: the name of a table, or a pattern with `*`.
pub(super) fn read(reader: &mut EntryReader<'_>, at: usize, entry: Placed) -> Option<PreloadEntry> {
    match entry.node {
        Node::Text(pattern) => Some(PreloadEntry { line: entry.line, pattern }),
        _ => {
            let place = format!("{}:{}", reader.file, entry.line);
            let reason = format!("context_preload[{at}] must be the name of a table, or a pattern");
            reader.problems.push(Problem::error(place, reason).advise("write `- database.table`"));
            None
        }
    }
}

/// Warns of a pattern that no table of the catalog matches.
pub(super) fn check(catalog: &Catalog, entry: &PreloadEntry, place: &str) -> Option<Problem> {
    if !catalog.tables_like(&entry.pattern).is_empty() {
        return None;
    }
    let reason = format!("no table matches `{}` of context_preload", entry.pattern);
    let near = catalog.nearest(ResourceKind::Table, &entry.pattern).into_iter().next();
    let advice = near.map_or("take it out".into(), |name| format!("did you mean `{name}`?"));
    Some(Problem::warning(place, reason).advise(advice))
}
