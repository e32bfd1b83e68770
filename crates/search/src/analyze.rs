//! Text to terms: identifiers are split and kept whole, run-together words are taken apart, words are stemmed, and
//! questions lose their stop words.

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

use crate::static_table;

/// Longer terms are not words: base64, hashes. They are left out of the index.
const MAX_TERM_BYTES: usize = 64;

static COMMON: LazyLock<HashSet<&'static str>> = LazyLock::new(|| OF_QUERIES.iter().copied().collect());
static OF_TABLES: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| OF_QUERIES.iter().chain(OF_TABLE_QUERIES).copied().collect());

/// Stems of words for spans of time and what happens over them.
const SPANS_OF_TIME: &[&str] = &[
    "annual",
    "daili",
    "day",
    "hour",
    "month",
    "period",
    "quarter",
    "recent",
    "today",
    "tomorrow",
    "trend",
    "week",
    "weekend",
    "year",
    "yearli",
    "yesterday",
];

/// Whether a term of a question is about when, not what.
pub(crate) fn is_span_of_time(term: &str) -> bool {
    let stem = term.strip_suffix("li").unwrap_or(term);
    SPANS_OF_TIME.iter().any(|span| *span == term || *span == stem)
}

/// How text is taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Run-together words count as two: `airportname` is `airport` and `name` too.
    Identifiers,
    /// Words are as they are written.
    Prose,
}

impl Style {
    /// The style for the texts of a kind.
    pub(crate) fn of(kind: Kind) -> Style {
        if kind == Kind::Document { Style::Prose } else { Style::Identifiers }
    }

    /// The name under which tantivy knows it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Style::Identifiers => "identifiers",
            Style::Prose => "prose",
        }
    }
}

/// The terms of `text`, in order. `InvoiceLine` gives `invoicelin`, `invoic` and `line`.
pub(crate) fn terms(text: &str, style: Style) -> Vec<String> {
    split(text, style, None)
}

/// The terms of a question about things of a kind, each only once, without stop words; with them, where it has nothing
/// else.
pub(crate) fn query_terms(text: &str, kind: Kind) -> Vec<String> {
    let mut all = split(text, Style::of(kind), Some(stop_words(kind)));
    if all.is_empty() {
        all = split(text, Style::of(kind), None);
    }
    let mut seen = HashSet::new();
    all.retain(|term| seen.insert(term.clone()));
    all
}

/// The distinct terms of a question that comes piece by piece: as many as [`query_terms`] gives for the pieces together, in
/// time that grows with the pieces alone.
pub(crate) struct Distinct {
    kind: Kind,
    terms: HashSet<String>,
    /// With stop words, as long as there is nothing else.
    with_stop_words: HashSet<String>,
}

impl Distinct {
    pub(crate) fn new(kind: Kind) -> Self {
        Distinct { kind, terms: HashSet::new(), with_stop_words: HashSet::new() }
    }

    /// Adds a piece, which is apart from the one before by white space.
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

/// How many words each thread remembers the terms of: texts about data repeat themselves.
const MAX_REMEMBERED_WORDS: usize = 20_000;

thread_local! {
    static KNOWN: [RefCell<HashMap<String, Vec<String>>>; 2] = Default::default();
}

/// Appends the terms of one word: the halves of a run-together one, and its stem.
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
        // A word that is none, such as a hash, would only push out others.
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

/// The two words of a run-together one, for a word that the vocabulary of the shipped table does not know: the split
/// whose halves are the most common, each of four letters or more.
fn compound(word: &str) -> Option<[&str; 2]> {
    if !(8..=40).contains(&word.len()) || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    let rank = |part: &str| static_table::word_rank(part).map(|rank| (f64::from(rank) + 50.0).ln());
    if rank(word).is_some() {
        return None;
    }
    (4..=word.len() - 4)
        .filter_map(|at| {
            let (left, right) = word.split_at(at);
            Some((rank(left)? + rank(right)?, at))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, at)| {
            let (left, right) = word.split_at(at);
            [left, right]
        })
}

/// [`terms`] as tantivy calls it.
#[derive(Clone)]
pub(crate) struct TermTokenizer(pub(crate) Style);

impl Tokenizer for TermTokenizer {
    type TokenStream<'a> = Terms;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Terms {
        Terms { terms: terms(text, self.0).into_iter(), token: Token::default(), position: 0 }
    }
}

/// The stream over the terms of one text.
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
    fn identifiers_are_split_and_kept_whole() {
        check("InvoiceLine", &["invoiceline", "invoic", "line"]);
        check("invoice_line", &["invoic", "line"]);
        check("INVLN_QTY", &["invln", "qti"]);
        check("HTTPServer2", &["httpserver2", "http", "server", "2"]);
    }

    #[test]
    fn run_together_words_are_taken_apart_where_the_vocabulary_knows_the_halves() {
        check("airportname", &["airport", "name", "airportnam"]);
        check("international", &["internat"]);
        assert_eq!(terms("airportname", Style::Prose), ["airportnam"]);
    }

    #[test]
    fn words_are_stemmed_and_anything_else_separates() {
        check("customers' spending-trends", &["custom", "spend", "trend"]);
        check("größe 名前 é", &["größe", "名前", "é"]);
        check("", &[]);
    }

    #[test]
    fn the_terms_of_pieces_are_those_of_the_whole() {
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
    fn questions_lose_their_stop_words_unless_they_have_nothing_else() {
        assert_eq!(query_terms("Show me the average of all customers, all customers", Kind::Table), ["custom"]);
        assert_eq!(query_terms("average customers", Kind::Document), ["averag", "custom"]);
        assert_eq!(query_terms("who is who", Kind::Table), ["who", "is"]);
    }
}
