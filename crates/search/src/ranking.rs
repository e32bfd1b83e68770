//! The ways to rank, from half of the recipe to all of it, so that what each part is worth can be measured, and the names of what
//! the learned part weighs.

use prospector_core::record::Hit;
use serde::{Deserialize, Serialize};

pub use crate::rank::calibrate::{ANSWERABILITY, NEED};
pub use crate::rank::features::NAMES;
pub use crate::recalibration::Recalibration;

/// What relevance is judged by: for learning its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct RelevanceEvidence {
    /// Whether the shipped transformer has read the best ones.
    pub is_read: bool,
    /// What says whether anything answers the question, in the order of [`ANSWERABILITY`].
    pub answerability: Vec<f32>,
    /// The hits, best first, and what says whether each is needed, in the order of [`NEED`].
    pub hits: Vec<(Hit, Vec<f32>)>,
}

/// How records are put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ranker {
    /// By words alone: BM25.
    Lexical,
    /// By meaning alone: the nearness of the vectors. Finds nothing without an embedder.
    Dense,
    /// By the reciprocal ranks of both (Cormack, Clarke and Büttcher, 2009).
    Rrf,
    /// By everything that is known; what relevance and the floor are calibrated for.
    #[default]
    Full,
}

impl Ranker {
    /// Every ranker, from the simplest on.
    pub const ALL: [Ranker; 4] = [Ranker::Lexical, Ranker::Dense, Ranker::Rrf, Ranker::Full];

    /// Its name on the command line and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Ranker::Lexical => "lexical",
            Ranker::Dense => "dense",
            Ranker::Rrf => "rrf",
            Ranker::Full => "full",
        }
    }
}

impl std::fmt::Display for Ranker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
