//! Rankers for evaluation, and the names of the features.

use prospector_core::{named_enum, record::Hit};
use serde::{Deserialize, Serialize};

pub use crate::rank::calibrate::{ANSWERABILITY, NEED};
pub use crate::rank::features::NAMES;
pub use crate::recalibration::Recalibration;

/// The relevance features of a result list, for fitting weights.
#[derive(Debug, Clone, PartialEq)]
pub struct RelevanceEvidence {
    /// Features of the answerability of the question, in the order of [`ANSWERABILITY`].
    pub answerability: Vec<f32>,
    /// The hits, best first, with their features in the order of [`NEED`].
    pub hits: Vec<(Hit, Vec<f32>)>,
}

named_enum! {
    /// A ranking method.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Ranker {
        /// Lexical only: BM25.
        Lexical = "lexical",
        /// Dense only: vector similarity. Finds nothing without an embedder.
        Dense = "dense",
        /// Reciprocal rank fusion of both (Cormack, Clarke and Büttcher, 2009).
        Rrf = "rrf",
        /// All features; relevance and the threshold are calibrated for this one.
        #[default]
        Full = "full",
    }
}
