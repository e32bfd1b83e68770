//! The parameters by which records of each kind are indexed and ranked.
//!
//! The constants were chosen on public question sets with cross-validation over databases, APIs and questions; they lie
//! on plateaus, and are the same for every catalog.

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_text::sentences;

/// Maximum number of text fields per kind.
pub(crate) const FIELDS: usize = 3;

/// Number of vectors per record: of its whole text, and of its names.
pub(crate) const VECTORS: usize = 2;

/// The parameters of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe {
    /// Boost of each field: the whole text, the name, and a third field that depends on the kind.
    pub(crate) boosts: [f32; FIELDS],
    /// Weight of vector similarity, relative to the best BM25 score.
    pub(crate) dense: f32,
    /// Weight of the vector of names, relative to that of the whole text.
    pub(crate) names: f32,
    /// Weight of the coverage of the question by the members of a parent.
    pub(crate) coverage: f32,
    /// Weight of the similarity of the mean vector of a parent.
    pub(crate) centroid: f32,
    /// Whether a long question is also searched clause by clause.
    pub(crate) clauses: bool,
    /// Whether an operation that needs an id pulls up its lookup.
    pub(crate) lookup: bool,
    /// Number of top records used for query expansion.
    pub(crate) feedback: usize,
}

/// Returns the parameters of a kind.
pub(crate) fn of(kind: Kind) -> Recipe {
    let text = Recipe {
        boosts: [1.0, 0.5, 1.0],
        dense: 0.5,
        names: 0.5,
        coverage: 0.0,
        centroid: 0.0,
        clauses: false,
        lookup: false,
        feedback: 0,
    };
    match kind {
        Kind::Table => Recipe { boosts: [1.0, 0.5, 0.0], dense: 0.7, coverage: 1.25, centroid: 0.75, ..text },
        Kind::Operation => Recipe {
            boosts: [1.0, 1.0, 0.5],
            dense: 0.7,
            coverage: 0.5,
            centroid: 0.5,
            clauses: true,
            lookup: true,
            ..text
        },
        Kind::Document => Recipe { boosts: [1.0, 0.4, 0.0], feedback: 3, ..text },
        Kind::Skill => Recipe { boosts: [1.0, 1.25, 1.0], ..text },
        Kind::Fact | Kind::Metric | Kind::Query => text,
    }
}

/// A text of a field, and its multiplicity.
pub(crate) type Weighed<'a> = (&'a str, usize);

/// Multiplicity of the names of a table and its columns, relative to descriptions.
const NAMED: usize = 4;

/// Returns the texts of the fields of a record.
pub(crate) fn texts(record: &Record) -> [Vec<Weighed<'_>>; FIELDS] {
    let Record { name, parent, description, members, body, .. } = record;
    let route = record.aliases.first().map_or("", String::as_str);
    match record.kind {
        Kind::Table => {
            [vec![(name, NAMED), (parent, 1), (description, 1), (members, NAMED), (body, 1)], once(&[name]), Vec::new()]
        }
        // The first sentence describes the operation: many names are synthetic.
        Kind::Operation => [
            once(&[name, route, description, parent, members, body]),
            once(&[name, sentences::first(description)]),
            once(&[route]),
        ],
        Kind::Document => [once(&[name, members, body]), once(&[name]), Vec::new()],
        Kind::Fact | Kind::Skill | Kind::Metric | Kind::Query => {
            [once(&[name, description, members, body]), once(&[name]), once(&[description])]
        }
    }
}

fn once<'a>(texts: &[&'a str]) -> Vec<Weighed<'a>> {
    texts.iter().map(|text| (*text, 1)).collect()
}

/// Returns the texts to embed: the whole text, and the names.
pub(crate) fn texts_to_embed(record: &Record) -> [String; VECTORS] {
    let Record { name, parent, description, members, body, .. } = record;
    let route = record.aliases.first().map_or("", String::as_str);
    match record.kind {
        Kind::Table => [join(&[name, parent, description, members, body]), join(&[name, parent])],
        Kind::Operation => {
            [join(&[name, route, description, parent, members, body]), join(&[name, route, description])]
        }
        Kind::Document => [join(&[name, members, body]), name.clone()],
        Kind::Fact | Kind::Skill | Kind::Metric | Kind::Query => {
            [join(&[name, description, members, body]), join(&[name, description])]
        }
    }
}

fn join(parts: &[&str]) -> String {
    let present: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    present.join(" . ")
}
