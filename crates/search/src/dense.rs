//! Dense retrieval: fits an embedder to each kind, and embeds records and questions.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use prospector_core::Kind;
use prospector_core::record::Record;
use rayon::prelude::*;

use crate::embed::{Embedder, Role};
use crate::{
    SearchError,
    recipe::{self, VECTORS},
    vectors::{Pair, Quantized, normalize},
};

/// Minimum number of records for subtracting the mean; with fewer, the mean is too close to each record.
const MIN_FOR_MEAN: usize = 30;

/// Fitted state for one vector of one kind, stored with the index.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Fit {
    /// The state from [`Embedder::fit`]; empty if the embedder is not fitted.
    pub(crate) state: Vec<u8>,
    /// The mean vector of the records, subtracted from every vector.
    pub(crate) mean: Vec<f32>,
}

/// Fitted state for every vector of every kind.
pub(crate) type Fits = [[Fit; VECTORS]; Kind::ALL.len()];

/// An embedder fitted to each kind.
#[derive(Clone)]
pub(crate) struct Dense {
    embedders: [[Arc<dyn Embedder>; VECTORS]; Kind::ALL.len()],
    pub(crate) fits: Fits,
    /// Cache of embedded texts of the question, for unfitted embedders, whose vectors are the same for every kind.
    /// Valid for one search: see [`Dense::forget`].
    asked: Arc<Mutex<HashMap<String, Vec<f32>>>>,
}

impl Dense {
    /// Fits the embedder to the records and embeds them; vectors are in the order of the records.
    pub(crate) fn learn(
        embedder: &Arc<dyn Embedder>,
        records: &[&Record],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<(Dense, Vec<Pair>), SearchError> {
        let dimensions = embedder.dimensions();
        let mut fits: Fits = Default::default();
        let texts: Vec<[String; VECTORS]> = records.par_iter().map(|record| recipe::texts_to_embed(record)).collect();
        for kind in Kind::ALL {
            for (vector, fit) in fits[kind as usize].iter_mut().enumerate() {
                let of_kind: Vec<&str> = (records.iter().zip(&texts))
                    .filter(|(record, _)| record.kind == kind)
                    .map(|(_, texts)| texts[vector].as_str())
                    .collect();
                fit.mean = vec![0.0; dimensions];
                if !of_kind.is_empty() {
                    fit.state = embedder.fit(&of_kind).unwrap_or_default();
                }
            }
        }
        let mut dense = Dense::restore(embedder, fits);
        let mut pairs = dense.embed_raw(records, &texts, progress)?;
        for kind in Kind::ALL {
            let count = records.iter().filter(|record| record.kind == kind).count();
            if count < MIN_FOR_MEAN {
                continue;
            }
            for (vector, fit) in dense.fits[kind as usize].iter_mut().enumerate() {
                for (_, pair) in records.iter().zip(&pairs).filter(|(record, _)| record.kind == kind) {
                    fit.mean.iter_mut().zip(&pair[vector]).for_each(|(mean, value)| *mean += value / count as f32);
                }
            }
        }
        dense.center_all(records, &mut pairs);
        Ok((dense, pairs))
    }

    /// Restores an embedder from stored state.
    pub(crate) fn restore(embedder: &Arc<dyn Embedder>, fits: Fits) -> Dense {
        let fitted = |fit: &Fit| embedder.with_fit(&fit.state).unwrap_or_else(|| embedder.clone());
        let embedders = std::array::from_fn(|kind| std::array::from_fn(|vector| fitted(&fits[kind][vector])));
        Dense { embedders, fits, asked: Arc::default() }
    }

    /// Clears the cache for a new search.
    pub(crate) fn forget(&self) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.embedders[0][0].dimensions()
    }

    /// Embeds records; the vectors are centred and of length 1.
    pub(crate) fn embed(
        &self,
        records: &[&Record],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Pair>, SearchError> {
        let texts: Vec<[String; VECTORS]> = records.par_iter().map(|record| recipe::texts_to_embed(record)).collect();
        let mut pairs = self.embed_raw(records, &texts, progress)?;
        self.center_all(records, &mut pairs);
        Ok(pairs)
    }

    /// Embeds a question about records of a kind.
    pub(crate) fn query(&self, kind: Kind, text: &str) -> Result<Pair, SearchError> {
        let mut pair: Pair = Default::default();
        for (vector, slot) in pair.iter_mut().enumerate() {
            let fit = &self.fits[kind as usize][vector];
            *slot = self.embed_query(&self.embedders[kind as usize][vector], fit, text)?;
            center(fit, slot);
        }
        Ok(pair)
    }

    fn embed_query(&self, embedder: &Arc<dyn Embedder>, fit: &Fit, text: &str) -> Result<Vec<f32>, SearchError> {
        let known = || self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if fit.state.is_empty()
            && let Some(vector) = known().get(text)
        {
            return Ok(vector.clone());
        }
        let vector = embedder.embed(Role::Query, &[text])?.pop().unwrap_or_default();
        if fit.state.is_empty() {
            known().insert(text.to_owned(), vector.clone());
        }
        Ok(vector)
    }

    fn embed_raw(
        &self,
        records: &[&Record],
        texts: &[[String; VECTORS]],
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Pair>, SearchError> {
        let batches: Result<Vec<Vec<Pair>>, SearchError> = records
            .par_chunks(256)
            .zip(texts.par_chunks(256))
            .map(|(records, texts)| {
                let mut pairs: Vec<Pair> = vec![Default::default(); records.len()];
                for kind in Kind::ALL {
                    let of_kind: Vec<usize> = (0..records.len()).filter(|at| records[*at].kind == kind).collect();
                    if of_kind.is_empty() {
                        continue;
                    }
                    for vector in 0..VECTORS {
                        let batch: Vec<&str> = of_kind.iter().map(|at| texts[*at][vector].as_str()).collect();
                        let vectors = self.embedders[kind as usize][vector].embed(Role::Record, &batch)?;
                        for (at, embedded) in of_kind.iter().zip(vectors) {
                            pairs[*at][vector] = embedded;
                        }
                    }
                }
                progress(records.len());
                Ok(pairs)
            })
            .collect();
        let mut pairs: Vec<Pair> = batches?.into_iter().flatten().collect();
        pairs.iter_mut().flatten().for_each(|vector| normalize(vector));
        Ok(pairs)
    }

    fn center_all(&self, records: &[&Record], pairs: &mut [Pair]) {
        for (record, pair) in records.iter().zip(pairs) {
            for (fit, vector) in self.fits[record.kind as usize].iter().zip(pair) {
                center(fit, vector);
            }
        }
    }
}

fn center(fit: &Fit, vector: &mut [f32]) {
    if vector.iter().all(|value| *value == 0.0) {
        return;
    }
    normalize(vector);
    vector.iter_mut().zip(&fit.mean).for_each(|(value, mean)| *value -= mean);
    normalize(vector);
}

/// The vectors of a question, prepared for the scan.
pub(crate) struct QueryVectors {
    /// The vector of the whole text, unmodified.
    pub(crate) whole: Vec<f32>,
    pub(crate) quantized: [Quantized; VECTORS],
}

impl QueryVectors {
    pub(crate) fn new(pair: Pair) -> Self {
        let quantized = std::array::from_fn(|vector| Quantized::new(&pair[vector]));
        let [whole, _] = pair;
        QueryVectors { whole, quantized }
    }
}
