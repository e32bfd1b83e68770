//! Tables pinned in a prompt: those named in `context_preload`, or found by its search queries.

use std::sync::Arc;

use prospector_core::{
    Kind,
    mark::clean_name,
    record::{Resource, ResourceKind},
    tokens,
};
use prospector_search::Query;

use super::metadata;
use crate::{
    Catalog,
    catalog::preload::Preload,
    piece::{Piece, Pinned, key},
};

/// Maximum tokens of the pinned tables.
const MAX_TOKENS: usize = 600;

/// Maximum number of names of tables that did not fit.
const MAX_NAMED: usize = 8;

/// Returns the pinned tables that fit, cached until `context_preload` or the schema change.
pub(super) fn tables(catalog: &Catalog, pieces: &[Piece]) -> Arc<Pinned> {
    let preload = &catalog.preload;
    if preload.is_empty() {
        return Arc::default();
    }
    let asked = format!("{preload:?}");
    let schema = pieces.iter().filter(|piece| piece.kind == Kind::Table);
    let parts = schema.flat_map(|piece| [piece.id.as_str(), piece.group.as_str(), piece.text.as_str()]);
    let key = key([asked.as_str()].into_iter().chain(parts));
    catalog.prompts.pinned.get(key, || {
        let mut pinned = Pinned::default();
        let mut room = MAX_TOKENS;
        for piece in choose(catalog, preload, pieces) {
            let size = tokens::estimate(&piece.text);
            if size <= room {
                room -= size;
                pinned.pieces.push(piece);
            } else {
                pinned.left_out.push(piece.id);
            }
        }
        Arc::new(pinned)
    })
}

/// Returns the tables to pin: named ones first, then search results, best first.
fn choose(catalog: &Catalog, preload: &Preload, pieces: &[Piece]) -> Vec<Piece> {
    let mut wanted: Vec<Piece> = Vec::new();
    let mut add = |piece: Piece| {
        if !wanted.iter().any(|known| known.id == piece.id) {
            wanted.push(piece);
        }
    };
    preload.names.iter().flat_map(|name| metadata::tables(catalog, name)).for_each(&mut add);
    let mut found: Vec<(f64, String)> = Vec::new();
    for seed in &preload.seeds {
        metadata::tables(catalog, seed).into_iter().for_each(&mut add);
        let query = Query {
            text: Query::fitting(seed).to_owned(),
            kinds: vec![Kind::Table],
            limit: preload.max_tables,
            ..Query::default()
        };
        let hits = catalog.index.rank(&query).unwrap_or_default();
        found.extend(hits.into_iter().map(|hit| (f64::from(hit.relevance.get()), hit.id)));
    }
    found.retain(|(relevance, _)| *relevance >= preload.threshold);
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let piece_of = |(_, id): (f64, String)| pieces.iter().find(|piece| piece.is(Kind::Table, &id)).cloned();
    found.into_iter().filter_map(piece_of).for_each(&mut add);
    wanted.truncate(preload.max_tables);
    wanted
}

/// Returns the names that the text shows, including tables listed without columns.
pub(super) fn list_revealed(pinned: &Pinned) -> Vec<Resource> {
    let shown = pinned.pieces.iter().flat_map(|piece| piece.reveals.clone());
    shown.chain(list_named(pinned).map(|id| Resource::new(ResourceKind::Table, id.as_str()))).collect()
}

/// Returns the tables listed without columns.
fn list_named(pinned: &Pinned) -> impl Iterator<Item = &String> {
    pinned.left_out.iter().take(MAX_NAMED)
}

/// Renders the pinned tables, and the names of others.
pub(super) fn text(pinned: &Pinned) -> String {
    let mut text = format!("Tables you will probably need:\n{}", metadata::text(&pinned.pieces, 0));
    if !pinned.left_out.is_empty() {
        let named: Vec<String> = list_named(pinned).map(|name| clean_name(name)).collect();
        let more = pinned.left_out.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text.push_str(&format!("Also, without columns to save space: {}{more}.\n", named.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_are_named_without_columns_are_revealed() {
        let names: Vec<String> = (0..MAX_NAMED + 2).map(|n| format!("shop.table_{n}")).collect();
        let orders = Resource::new(ResourceKind::Table, "shop.orders");
        let piece = Piece {
            kind: Kind::Table,
            id: "shop.orders".into(),
            group: "shop".into(),
            text: "shop.orders(id)\n".into(),
            reveals: vec![orders.clone()],
        };
        let pinned = Pinned { pieces: vec![piece], left_out: names.clone() };
        let revealed = list_revealed(&pinned);
        assert_eq!(revealed[0], orders);
        let tables: Vec<&str> = revealed[1..].iter().map(|resource| resource.id.as_str()).collect();
        assert_eq!(tables, names[..MAX_NAMED]);
        let text = text(&pinned);
        assert!(tables.iter().all(|name| text.contains(name)) && text.contains("and 2 more"), "{text}");
    }
}
