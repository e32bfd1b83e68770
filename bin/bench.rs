//! How well the search finds what questions need, what the plans are worth, and what it all costs in tokens: the measures
//! of `planner bench`, over any catalog.

mod agreement;
mod averages;
pub(crate) mod calibration;
pub(crate) mod chart;
pub(crate) mod conversation;
pub(crate) mod counted;
pub(crate) mod economy;
mod gold;
mod metrics;
pub(crate) mod plans;
pub(crate) mod queries;
pub(crate) mod records;
pub(crate) mod retrieval;
mod seer;
pub(crate) mod session;
pub(crate) mod sql;
mod table;
pub(crate) mod tokens;

use std::collections::BTreeSet;

use prospector_core::{Kind, Record};
use prospector_search::Index;
use serde::Serialize;

pub(crate) use gold::Names;
use queries::Question;

/// At most this many missing names are listed.
const MOST_MISSING: usize = 20;

/// What is searched, and every name in it.
pub(crate) struct Corpus {
    index: Index,
    names: Names,
    records: usize,
}

impl Corpus {
    /// An index over these records.
    pub(crate) fn new(index: Index, records: &[Record]) -> Corpus {
        Corpus { index, names: Names::new(records), records: records.len() }
    }
}

/// The names that questions need and the corpus does not have. They count as not found.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Missing {
    /// How many questions need one.
    questions: usize,
    /// How many names there are.
    names: usize,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    first: Vec<String>,
}

impl Missing {
    fn of(corpus: &Corpus, questions: &[Question], kind: Option<Kind>) -> Missing {
        let mut missing = Missing::default();
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for question in questions {
            let kinds = question.kinds(kind);
            let unknown = question.gold.iter().filter(|name| corpus.names.resolve(name, &kinds).is_none());
            let unknown: Vec<&str> = unknown.map(String::as_str).collect();
            missing.questions += usize::from(!unknown.is_empty());
            names.extend(unknown);
        }
        missing.names = names.len();
        missing.first = names.into_iter().take(MOST_MISSING).map(str::to_owned).collect();
        missing
    }
}

/// Four digits: more would be noise.
fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}
