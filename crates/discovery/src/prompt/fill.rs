//! Fills the prompt of a model without tools up to its context. The entries most relevant to the question are included in full, with texts
//! of documents and bodies and responses of operations; then all entries by their metadata; then further entries in full, as long as there
//! is room.

use std::collections::BTreeSet;

use prospector_core::{Kind, tokens};
use prospector_search::Query;

use super::{metadata, whole};
use crate::{Catalog, piece::Piece};

/// Number of best entries included in full before anything else.
const FIRST: usize = 8;

/// Divisor of the room that one of them may use.
const SHARE: usize = 4;

/// Maximum number of ranked hits, and of entries tried in full.
const MAX_HITS: usize = 500;
const MAX_TRIED: usize = 2_000;

/// Upper bound of the bytes per token, to skip counting long texts.
const MAX_TOKEN_BYTES: usize = 16;

/// The entries that fit.
pub(super) struct Filled {
    pub(super) text: String,
    pub(super) pieces: Vec<Piece>,
    pub(super) left_out: usize,
    /// Whether nothing was omitted or shortened.
    pub(super) is_everything: bool,
}

/// Returns as many entries as fit into `room` tokens.
pub(super) fn fill(catalog: &Catalog, pieces: &[Piece], question: &str, room: usize) -> Filled {
    let ranked = rank(catalog, pieces, question);
    let filler = Filler { catalog, pieces, ranked: &ranked };
    let (mut best, mut estimated) = (None, room);
    // Sizes are estimated individually: repeated with a smaller estimate if the result was too large, or a larger one if it was too small.
    for _ in 0..4 {
        let filled = filler.fill(estimated);
        let size = tokens::count(&filled.text);
        if size > room {
            estimated = estimated * room / size * 9 / 10;
            continue;
        }
        let is_done = filled.is_everything || size >= room * 9 / 10;
        best = Some(filled);
        if is_done {
            break;
        }
        estimated = (estimated * room / size.max(1)).min(estimated * 2) * 97 / 100;
    }
    best.unwrap_or_else(|| filler.fill(0))
}

/// A piece by index, with the best hit in it.
struct Ranked {
    at: usize,
    hit: Option<String>,
}

/// Ranks the pieces by relevance to the question.
fn rank(catalog: &Catalog, pieces: &[Piece], question: &str) -> Vec<Ranked> {
    let query = Query { text: Query::fitting(question).to_owned(), limit: MAX_HITS, ..Query::default() };
    let hits = if question.trim().is_empty() { Vec::new() } else { catalog.index.rank(&query).unwrap_or_default() };
    let place = |piece: &Piece| hits.iter().position(|hit| piece.is(hit.kind, &hit.id)).unwrap_or(usize::MAX);
    let mut order: Vec<(usize, usize)> = pieces.iter().enumerate().map(|(at, piece)| (place(piece), at)).collect();
    order.sort_unstable();
    order.into_iter().map(|(place, at)| Ranked { at, hit: hits.get(place).map(|hit| hit.id.clone()) }).collect()
}

struct Filler<'a> {
    catalog: &'a Catalog,
    pieces: &'a [Piece],
    ranked: &'a [Ranked],
}

impl Filler<'_> {
    fn fill(&self, room: usize) -> Filled {
        let mut shown: Vec<Option<Piece>> = vec![None; self.pieces.len()];
        let mut is_whole = vec![false; self.pieces.len()];
        let (mut used, mut groups) = (0, BTreeSet::new());
        for (place, ranked) in self.ranked.iter().enumerate() {
            let piece = &self.pieces[ranked.at];
            let head = if groups.contains(&piece.group) { 0 } else { tokens::estimate(&piece.group) };
            let left = room.saturating_sub(used + head);
            let whole = (ranked.hit.is_some() && place < FIRST).then(|| self.make_whole(piece, left.min(room / SHARE)));
            let part = || self.show_hit(piece, ranked.hit.as_deref(), left.min(room / SHARE));
            let chosen = match whole.flatten() {
                Some(whole) => {
                    is_whole[ranked.at] = true;
                    Some(whole)
                }
                None if place < FIRST => part().or_else(|| Some(piece.clone())),
                None => Some(piece.clone()),
            };
            if let Some(piece) = chosen.filter(|piece| tokens::estimate(&piece.text) <= left) {
                used += head + tokens::estimate(&piece.text);
                groups.insert(piece.group.clone());
                shown[ranked.at] = Some(piece);
            }
        }
        for ranked in self.ranked.iter().take(MAX_TRIED) {
            let Some(known) = shown[ranked.at].as_ref().filter(|_| !is_whole[ranked.at]) else { continue };
            let left = (room + tokens::estimate(&known.text)).saturating_sub(used);
            if let Some(whole) = self.make_whole(&self.pieces[ranked.at], left) {
                used = used + tokens::estimate(&whole.text) - tokens::estimate(&known.text);
                (is_whole[ranked.at], shown[ranked.at]) = (true, Some(whole));
            }
        }
        self.finish(shown, &is_whole)
    }

    fn finish(&self, shown: Vec<Option<Piece>>, is_whole: &[bool]) -> Filled {
        let has_more = |at: &usize| matches!(self.pieces[*at].kind, Kind::Document | Kind::Operation) && !is_whole[*at];
        let in_short = (0..shown.len()).filter(|at| shown[*at].is_some()).filter(has_more).count();
        let pieces: Vec<Piece> = shown.into_iter().flatten().collect();
        let left_out = self.pieces.len() - pieces.len();
        let mut text = metadata::text(&pieces, left_out);
        if in_short > 0 {
            text.push_str(&format!("{in_short} documents and operations are shown in part.\n"));
        }
        Filled { text, pieces, left_out, is_everything: left_out + in_short == 0 }
    }

    /// Returns the piece in full, if it has at most `most` tokens.
    fn make_whole(&self, piece: &Piece, most: usize) -> Option<Piece> {
        if piece.kind == Kind::Document {
            let document = self.catalog.documents.documents().iter().find(|document| document.name == piece.id)?;
            if document.content.len() / MAX_TOKEN_BYTES > most {
                return None;
            }
        }
        let mut piece = piece.clone();
        whole::complete(self.catalog, &mut piece);
        (tokens::estimate(&piece.text) <= most).then_some(piece)
    }

    /// Returns a document with its headings and the text of the section that was hit.
    fn show_hit(&self, piece: &Piece, hit: Option<&str>, most: usize) -> Option<Piece> {
        let (document, section) = self.catalog.documents.resolve_id(hit.filter(|_| piece.kind == Kind::Document)?)?;
        let mut piece = piece.clone();
        piece.text.push_str(&format!("\n{}", whole::section(document, section?)));
        (tokens::estimate(&piece.text) <= most).then_some(piece)
    }
}
