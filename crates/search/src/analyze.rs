//! Tokenization: splits identifiers and compounds, stems words, and removes stop words from questions.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use prospector_core::Kind;
use prospector_text::{
    identifiers,
    stem::snowball,
    stop_words::{OF_QUERIES, OF_TABLE_QUERIES},
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::StaticTable;

/// Maximum length of a term; longer ones (base64, hashes) are not indexed.
const MAX_TERM_BYTES: usize = 64;

static COMMON: LazyLock<HashSet<&'static str>> = LazyLock::new(|| OF_QUERIES.iter().copied().collect());
static OF_TABLES: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| OF_QUERIES.iter().chain(OF_TABLE_QUERIES).copied().collect());

/// How a text is tokenized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Compounds are also split: `airportname` also yields `airport` and `name`.
    Identifiers,
    /// Words are kept as written.
    Prose,
}

impl Style {
    /// Returns the style for the texts of a kind.
    pub(crate) fn of(kind: Kind) -> Style {
        if kind == Kind::Document { Style::Prose } else { Style::Identifiers }
    }

    /// Returns its name in tantivy.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Style::Identifiers => "identifiers",
            Style::Prose => "prose",
        }
    }
}

/// Returns the terms of `text`, in order. `InvoiceLine` yields `invoicelin`, `invoic` and `line`.
pub(crate) fn terms(text: &str, style: Style) -> Vec<String> {
    split(text, style, None)
}

/// Returns the distinct terms of a question about records of a kind, without stop words unless there are no other
/// terms.
pub(crate) fn query_terms(text: &str, kind: Kind) -> Vec<String> {
    let mut all = split(text, Style::of(kind), Some(stop_words(kind)));
    if all.is_empty() {
        all = split(text, Style::of(kind), None);
    }
    let mut seen = HashSet::new();
    all.retain(|term| seen.insert(term.clone()));
    all
}

/// Counts the distinct terms of a question that arrives in pieces, consistently with [`query_terms`], in time linear in
/// the pieces.
pub(crate) struct Distinct {
    kind: Kind,
    terms: HashSet<String>,
    /// Including stop words, until another term occurs.
    with_stop_words: HashSet<String>,
}

impl Distinct {
    pub(crate) fn new(kind: Kind) -> Self {
        Distinct { kind, terms: HashSet::new(), with_stop_words: HashSet::new() }
    }

    /// Adds a piece, which is separated from the previous one by white space.
    pub(crate) fn add(&mut self, piece: &str) {
        let style = Style::of(self.kind);
        self.terms.extend(split(piece, style, Some(stop_words(self.kind))));
        if self.terms.is_empty() {
            self.with_stop_words.extend(split(piece, style, None));
        }
    }

    pub(crate) fn len(&self) -> usize {
        if self.terms.is_empty() { self.with_stop_words.len() } else { self.terms.len() }
    }
}

fn stop_words(kind: Kind) -> &'static HashSet<&'static str> {
    if kind == Kind::Table { &OF_TABLES } else { &COMMON }
}

/// Maximum number of words whose terms are cached per thread.
const MAX_REMEMBERED_WORDS: usize = 20_000;

thread_local! {
    static KNOWN: [RefCell<HashMap<String, Vec<String>>>; 2] = Default::default();
}

/// Appends the terms of one word: the parts of a compound, and its stem.
fn push_word(out: &mut Vec<String>, word: String, style: Style) {
    KNOWN.with(|known| {
        let mut known = known[style as usize].borrow_mut();
        if let Some(terms) = known.get(&word) {
            return out.extend_from_slice(terms);
        }
        let first = out.len();
        if style == Style::Identifiers {
            for half in compound(&word).into_iter().flatten().filter(|half| !COMMON.contains(half)) {
                push(out, snowball(half));
            }
        }
        push(out, snowball(&word));
        // Longer tokens, such as hashes, would only evict words from the cache.
        if word.len() <= MAX_TERM_BYTES {
            if known.len() >= MAX_REMEMBERED_WORDS {
                known.clear();
            }
            known.insert(word, out[first..].to_vec());
        }
    });
}

fn split(text: &str, style: Style, stop: Option<&HashSet<&str>>) -> Vec<String> {
    let mut out = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let parts = identifiers::split(word);
        if parts.len() > 1 {
            push(&mut out, word.to_lowercase());
        }
        for part in parts {
            if stop.is_some_and(|stop| stop.contains(part.as_str())) {
                continue;
            }
            push_word(&mut out, part, style);
        }
    }
    out
}

fn push(out: &mut Vec<String>, term: String) {
    if !term.is_empty() && term.len() <= MAX_TERM_BYTES {
        out.push(term);
    }
}

/// Splits a compound that is not in the vocabulary of the shipped table: returns the split with the most common parts,
/// each of at least four letters.
fn compound(word: &str) -> Option<[&str; 2]> {
    if !(8..=40).contains(&word.len()) || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    let rank = |part: &str| StaticTable::rank(part).map(|rank| (f64::from(rank) + 50.0).ln());
    if rank(word).is_some() {
        return None;
    }
    (4..=word.len() - 4)
        .filter_map(|at| {
            let (left, right) = word.split_at(at);
            Some((rank(left)? + rank(right)?, at))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, at)| word.split_at(at).into())
}

/// Adapts [`terms`] to tantivy.
#[derive(Clone)]
pub(crate) struct TermTokenizer(pub(crate) Style);

impl Tokenizer for TermTokenizer {
    type TokenStream<'a> = Terms;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Terms {
        Terms { terms: terms(text, self.0).into_iter(), token: Token::default(), position: 0 }
    }
}

/// Token stream over the terms of one text.
pub(crate) struct Terms {
    terms: std::vec::IntoIter<String>,
    token: Token,
    position: usize,
}

impl TokenStream for Terms {
    fn advance(&mut self) -> bool {
        let Some(text) = self.terms.next() else { return false };
        self.token.text = text;
        self.token.position = self.position;
        self.position += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text, Style::Identifiers), expected);
    }

    #[test]
    fn splits_and_keeps_identifiers() {
        check("InvoiceLine", &["invoiceline", "invoic", "line"]);
        check("invoice_line", &["invoic", "line"]);
        check("INVLN_QTY", &["invln", "qti"]);
        check("HTTPServer2", &["httpserver2", "http", "server", "2"]);
    }

    #[test]
    fn splits_compounds_of_known_words() {
        check("airportname", &["airport", "name", "airportnam"]);
        check("international", &["internat"]);
        assert_eq!(terms("airportname", Style::Prose), ["airportnam"]);
    }

    #[test]
    fn stems_words() {
        check("customers' spending-trends", &["custom", "spend", "trend"]);
        check("größe 名前 é", &["größe", "名前", "é"]);
        check("", &[]);
    }

    #[test]
    fn pieces_yield_the_same_terms() {
        for kind in [Kind::Table, Kind::Operation, Kind::Document] {
            let pieces = ["who", "of the", "the", "average", "InvoiceLine", "lines", "", "customer-id x"];
            let mut distinct = Distinct::new(kind);
            for at in 0..pieces.len() {
                distinct.add(pieces[at]);
                assert_eq!(distinct.len(), query_terms(&pieces[..=at].join(" "), kind).len(), "{kind} {at}");
            }
        }
    }

    #[test]
    fn removes_stop_words_unless_nothing_else_remains() {
        assert_eq!(query_terms("Show me the average of all customers, all customers", Kind::Table), ["custom"]);
        assert_eq!(query_terms("average customers", Kind::Document), ["averag", "custom"]);
        assert_eq!(query_terms("who is who", Kind::Table), ["who", "is"]);
    }
}
