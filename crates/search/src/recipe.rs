//! How the records of each kind are indexed and ranked: one visible table.
//!
//! The constants were chosen on public question sets with cross-validation over databases, APIs and questions; they lie on
//! plateaus, and are the same for every catalog.

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_text::sentences;

use crate::analyze::Style;

/// How many text fields a kind has at most.
pub(crate) const FIELDS: usize = 3;

/// How many vectors a record has: of all its text, and of what names it.
pub(crate) const VECTORS: usize = 2;

/// How one kind is ranked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe {
    /// What a match in each field is worth: everything, the name, and a third that depends on the kind.
    pub(crate) boosts: [f32; FIELDS],
    /// What the vectors are worth, beside the best BM25 score.
    pub(crate) dense: f32,
    /// What the vector of the names is worth, beside that of the whole.
    pub(crate) names: f32,
    /// What the database or API as a whole is worth: how much of the question its members cover together.
    pub(crate) coverage: f32,
    /// What the database or API as a whole is worth by meaning: how near the mean of its members is to the question.
    pub(crate) centroid: f32,
    /// Whether a long question is asked clause by clause too.
    pub(crate) clauses: bool,
    /// Whether an operation that needs an id pulls the one that finds it.
    pub(crate) lookup: bool,
    /// How many of the best records join the question for a second pass over the vectors.
    pub(crate) feedback: usize,
}

/// The recipe of a kind.
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

/// A text of a field, and how often it counts there.
pub(crate) type Weighed<'a> = (&'a str, usize);

/// How often the names of a table and of its columns count, beside what is said of them.
const NAMED: usize = 4;

/// The texts of a record's fields.
pub(crate) fn texts(record: &Record) -> [Vec<Weighed<'_>>; FIELDS] {
    let Record { name, parent, description, members, body, .. } = record;
    let route = record.aliases.first().map_or("", String::as_str);
    match record.kind {
        Kind::Table => {
            [vec![(name, NAMED), (parent, 1), (description, 1), (members, NAMED), (body, 1)], once(&[name]), Vec::new()]
        }
        // The first sentence says what it does: the names of many operations are made up.
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

/// The texts that are embedded: all of it, and what names it.
pub(crate) fn embedded(record: &Record) -> [String; VECTORS] {
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

/// The style of a kind's texts.
pub(crate) fn style(kind: Kind) -> Style {
    Style::of(kind)
}
