//! Recalibrates relevance for a catalog from its own questions.
//!
//! The number of entries that a question needs varies between catalogs and cannot be derived from the records. From
//! questions with known answers, two parameters are fitted: the log odds of a hit become `slope` times the shipped
//! ones, plus `offset` (Platt, 1999). They are stored with a checksum next to the index; a file that is damaged, or was
//! fitted to other relevance weights, is ignored.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use prospector_core::Kind;
use prospector_core::record::Relevance;
use serde::{Deserialize, Serialize};

use crate::{SearchError, cached_file::CachedFile};

/// File name in the folder of the index.
const NAME: &str = "recalibration.json";

/// Strength of the prior towards the shipped calibration, in hits, for offset and slope. With few questions, little
/// changes.
const PRIOR_OFFSET: f64 = 0.5;
const PRIOR_SLOPE: f64 = 5.0;

/// Minimum slope, which preserves the order of hits.
const MIN_SLOPE: f64 = 0.1;

/// Minimum probability when computing log odds.
const LEAST: f64 = 1e-3;

/// Maximum step size and number of steps of Newton's method.
const MAX_STEP: f64 = 0.5;
const STEPS: usize = 50;

/// A correction of relevance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Recalibration {
    /// Factor of the log odds.
    pub slope: f64,
    /// Offset of the log odds.
    pub offset: f64,
}

impl Recalibration {
    /// No correction.
    const IDENTITY: Recalibration = Recalibration { slope: 1.0, offset: 0.0 };

    /// Fits the correction to hits, each with its relevance and whether it was needed.
    pub fn learn(hits: &[(f64, bool)]) -> Recalibration {
        let mut found = Recalibration::IDENTITY;
        for _ in 0..STEPS {
            // Gradient and Hessian of the log likelihood, including the prior.
            let (mut by_offset, mut by_slope) =
                (-PRIOR_OFFSET * found.offset, -PRIOR_SLOPE * (found.slope - Recalibration::IDENTITY.slope));
            let (mut offsets, mut both, mut slopes) = (PRIOR_OFFSET, 0.0, PRIOR_SLOPE);
            for (relevance, is_right) in hits {
                let odds = log_odds(*relevance);
                let likely = found.correct(*relevance);
                let missed = f64::from(u8::from(*is_right)) - likely;
                let weight = likely * (1.0 - likely);
                by_offset += missed;
                by_slope += missed * odds;
                offsets += weight;
                both += weight * odds;
                slopes += weight * odds * odds;
            }
            let determinant = offsets * slopes - both * both;
            let step = |first: f64, second: f64| ((first - second) / determinant).clamp(-MAX_STEP, MAX_STEP);
            found.offset += step(slopes * by_offset, both * by_slope);
            found.slope = (found.slope + step(offsets * by_slope, both * by_offset)).max(MIN_SLOPE);
        }
        found
    }

    /// Returns the corrected relevance; both are 0 to 1.
    pub fn correct(self, relevance: f64) -> f64 {
        1.0 / (1.0 + (-(self.slope * log_odds(relevance) + self.offset)).exp())
    }

    /// Corrects the relevance of a hit; exact name matches are unchanged.
    pub(crate) fn apply(self, relevance: Relevance) -> Relevance {
        if relevance == Relevance::EXACT {
            return relevance;
        }
        Relevance::new(self.correct(f64::from(relevance.get())) as f32)
    }
}

fn log_odds(share: f64) -> f64 {
    let share = share.clamp(LEAST, 1.0 - LEAST);
    (share / (1.0 - share)).ln()
}

/// The corrections, by kind.
pub(crate) type Corrections = BTreeMap<Kind, Recalibration>;

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// Fingerprint of the relevance weights that they correct.
    weights: String,
    kinds: Corrections,
}

/// The file and its last read content.
pub(crate) struct RecalibrationFile {
    file: CachedFile<Arc<Corrections>>,
    /// Fingerprint of the relevance weights that it corrects.
    weights: String,
}

impl RecalibrationFile {
    /// Creates the file for the index in a folder.
    pub(crate) fn of_index(folder: Option<&Path>, weights: String) -> Self {
        RecalibrationFile { file: CachedFile::new(folder, NAME), weights }
    }

    /// Returns the corrections currently on disk.
    ///
    /// # Errors
    /// [`SearchError::Io`] if the file cannot be read.
    pub(crate) fn corrections(&self) -> Result<Arc<Corrections>, SearchError> {
        self.file.get(|content| {
            let Some(content) = content else { return Arc::default() };
            let stored = content.ok().and_then(|content| serde_json::from_slice::<Stored>(content).ok());
            let known = stored.filter(|stored| stored.weights == self.weights);
            if known.is_none() {
                tracing::warn!(path = ?self.file.path(), "the recalibration file is damaged or of another version");
            }
            Arc::new(known.map(|stored| stored.kinds).unwrap_or_default())
        })
    }

    /// Sets or removes the relevance correction of a kind.
    ///
    /// # Errors
    /// [`SearchError::Io`] if it cannot be written; nothing is changed then.
    pub(crate) fn set(&self, kind: Kind, correction: Option<Recalibration>) -> Result<(), SearchError> {
        let mut kinds = (*self.corrections()?).clone();
        match correction {
            Some(correction) => kinds.insert(kind, correction),
            None => kinds.remove(&kind),
        };
        let stored = Stored { weights: self.weights.clone(), kinds };
        // Serializing a struct of numbers does not fail.
        self.file.write(&serde_json::to_vec(&stored).unwrap_or_default())?;
        self.file.set(Arc::new(stored.kinds));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` hits with this relevance, of which this share is correct.
    fn hits(count: usize, relevance: f64, right: f64) -> impl Iterator<Item = (f64, bool)> {
        (0..count).map(move |at| (relevance, (at as f64) < right * count as f64))
    }

    #[test]
    fn fits_the_share_of_correct_hits() {
        let known: Vec<(f64, bool)> = hits(200, 0.2, 0.45).chain(hits(200, 0.6, 0.85)).collect();
        let learned = Recalibration::learn(&known);
        for (relevance, right) in [(0.2, 0.45), (0.6, 0.85)] {
            let corrected = learned.correct(relevance);
            assert!((corrected - right).abs() < 0.03, "{relevance}: {corrected}, {learned:?}");
        }
    }

    #[test]
    fn changes_little_without_evidence() {
        assert_eq!(Recalibration::learn(&[]), Recalibration::IDENTITY);
        let right: Vec<(f64, bool)> = hits(100, 0.2, 0.2).chain(hits(100, 0.6, 0.6)).collect();
        let learned = Recalibration::learn(&right);
        assert!((learned.correct(0.4) - 0.4).abs() < 0.02, "{learned:?}");
        let one = Recalibration::learn(&[(0.5, true)]);
        assert!((0.5..0.75).contains(&one.correct(0.5)), "{one:?}");
    }

    #[test]
    fn preserves_the_order_of_hits() {
        // All hits but the best are correct, which no correction can represent.
        let odd: Vec<(f64, bool)> = hits(300, 0.9, 0.0).chain(hits(300, 0.1, 1.0)).collect();
        let learned = Recalibration::learn(&odd);
        assert!(learned.slope >= MIN_SLOPE && learned.correct(0.2) < learned.correct(0.8), "{learned:?}");
        assert_eq!(learned.apply(Relevance::EXACT), Relevance::EXACT);
    }

    #[test]
    fn shares_corrections_and_ignores_damaged_ones() {
        let folder = tempfile::tempdir().unwrap();
        let open = |weights: &str| RecalibrationFile::of_index(Some(folder.path()), weights.to_owned());
        let ours = open("these");
        assert!(ours.corrections().unwrap().is_empty());
        let learned = Recalibration { slope: 0.8, offset: -0.5 };
        open("these").set(Kind::Table, Some(learned)).unwrap();
        assert_eq!(ours.corrections().unwrap().get(&Kind::Table), Some(&learned));
        ours.set(Kind::Document, Some(learned)).unwrap();
        ours.set(Kind::Table, None).unwrap();
        let kinds: Vec<Kind> = ours.corrections().unwrap().keys().copied().collect();
        assert_eq!(kinds, [Kind::Document]);
        assert!(open("others").corrections().unwrap().is_empty(), "it corrects other weights");
        std::fs::write(folder.path().join(NAME), b"something else").unwrap();
        assert!(ours.corrections().unwrap().is_empty());
    }
}
