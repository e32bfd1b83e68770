//! `context_preload`: tables to pin in prompts, by name or by search.

use prospector_core::Problem;
use prospector_core::record::ResourceKind;

use super::{
    Catalog,
    entry::EntryReader,
    file_schema::PreloadSettings,
    node::{Node, Placed},
};

/// Defaults of a mapping.
const THRESHOLD: f64 = 0.3;
const MAX_TABLES: usize = 50;

/// Which tables are pinned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Preload {
    /// Names of tables, or patterns with `*`.
    pub(crate) names: Vec<String>,
    /// Search queries whose results are pinned.
    pub(crate) seeds: Vec<String>,
    /// Minimum relevance of search results.
    pub(crate) threshold: f64,
    /// Maximum number of tables.
    pub(crate) max_tables: usize,
}

impl Default for Preload {
    fn default() -> Self {
        Preload { names: Vec::new(), seeds: Vec::new(), threshold: THRESHOLD, max_tables: MAX_TABLES }
    }
}

impl Preload {
    /// Returns whether nothing is pinned.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.seeds.is_empty()
    }
}

/// The entry `context_preload`.
#[derive(Debug, Default)]
pub(super) struct PreloadEntry {
    pub(super) preload: Preload,
    /// The lines of `preload.names`.
    pub(super) lines: Vec<u64>,
}

/// Parses a list of names and patterns, or a mapping with search queries.
pub(super) fn read(reader: &mut EntryReader<'_>, entry: Placed) -> PreloadEntry {
    let mut read = PreloadEntry::default();
    match entry.node {
        Node::Null => {}
        Node::List(items) => {
            for (at, item) in items.into_iter().enumerate() {
                match item.node {
                    Node::Text(name) => {
                        read.preload.names.push(name);
                        read.lines.push(item.line);
                    }
                    _ => {
                        let reason = format!("context_preload[{at}] must be the name of a table, or a pattern");
                        reader.fail(item.line, reason, "write `- database.table`");
                    }
                }
            }
        }
        _ => {
            if let Some((settings, _)) = reader.parse::<PreloadSettings>("context_preload".into(), entry) {
                read.preload.seeds = settings.seed_patterns.unwrap_or_default();
                read.preload.threshold = settings.similarity_threshold.unwrap_or(THRESHOLD);
                read.preload.max_tables = settings.max_tables.unwrap_or(MAX_TABLES);
            }
        }
    }
    read
}

/// Warns about each name or pattern that matches no table.
pub(super) fn check(catalog: &Catalog, entry: &PreloadEntry, place: impl Fn(u64) -> String) -> Vec<Problem> {
    let unknown = |name: &&String| catalog.tables_like(name).is_empty();
    let named = entry.preload.names.iter().zip(&entry.lines).filter(|(name, _)| unknown(name));
    let problem = |(name, line): (&String, &u64)| {
        let reason = format!("no table matches `{name}` of context_preload");
        let near = catalog.nearest(ResourceKind::Table, name).into_iter().next();
        let advice = near.map_or("remove it".into(), |name| format!("did you mean `{name}`?"));
        Problem::warning(place(*line), reason).advise(advice)
    };
    named.map(problem).collect()
}
