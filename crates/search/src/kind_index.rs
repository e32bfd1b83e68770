//! The records of one kind in memory: position, parent and vectors.

use std::sync::OnceLock;

use prospector_core::Kind;
use rayon::prelude::*;
use tantivy::DocAddress;

use crate::{
    lexical::Stored,
    vectors::{Quantized, Vectors, normalize},
};

/// The records of one kind.
pub(crate) struct KindIndex {
    pub(crate) docs: Vec<Doc>,
    /// Position by segment and document; `u32::MAX` for other records.
    places: Vec<Vec<u32>>,
    pub(crate) parents: Vec<Parent>,
    centroids: OnceLock<Vec<f32>>,
}

/// The in-memory data of a record.
pub(crate) struct Doc {
    pub(crate) address: DocAddress,
    pub(crate) parent: u32,
    slot: u32,
}

/// A database, an API or a document.
pub(crate) struct Parent {
    pub(crate) name: String,
    pub(crate) members: Vec<u32>,
}

impl KindIndex {
    /// Collects the records of a kind, by position and parent.
    pub(crate) fn new(kind: Kind, stored: &Stored, segments: usize) -> Self {
        let mut kind_index = KindIndex {
            docs: Vec::new(),
            places: vec![Vec::new(); segments],
            parents: Vec::new(),
            centroids: OnceLock::new(),
        };
        let mut ordinals: Vec<Option<u32>> = vec![None; stored.parents.len()];
        for doc in stored.docs.iter().filter(|doc| doc.kind == kind) {
            let place = kind_index.docs.len() as u32;
            let parent = *ordinals[doc.parent].get_or_insert_with(|| {
                kind_index.parents.push(Parent { name: stored.parents[doc.parent].clone(), members: Vec::new() });
                kind_index.parents.len() as u32 - 1
            });
            kind_index.parents[parent as usize].members.push(place);
            let places = &mut kind_index.places[doc.address.segment_ord as usize];
            let doc_id = doc.address.doc_id as usize;
            if places.len() <= doc_id {
                places.resize(doc_id + 1, u32::MAX);
            }
            places[doc_id] = place;
            kind_index.docs.push(Doc { address: doc.address, parent, slot: doc.slot });
        }
        kind_index
    }

    /// Returns the position of a record; `None` if it is deleted or of another kind.
    pub(crate) fn place(&self, address: DocAddress) -> Option<usize> {
        let place = *self.places.get(address.segment_ord as usize)?.get(address.doc_id as usize)?;
        (place != u32::MAX).then_some(place as usize)
    }

    /// Returns the parent with this name.
    pub(crate) fn parent(&self, name: &str) -> Option<u32> {
        self.parents.iter().position(|parent| parent.name == name).map(|at| at as u32)
    }

    /// Returns the positions of the records of a parent, or of all.
    pub(crate) fn members(&self, parent: Option<u32>) -> Vec<usize> {
        match parent {
            Some(parent) => self.parents[parent as usize].members.iter().map(|place| *place as usize).collect(),
            None => (0..self.docs.len()).collect(),
        }
    }

    /// Returns the similarity of one vector of a record to the question.
    pub(crate) fn similarity(&self, vectors: &Vectors, query: &Quantized, place: usize, vector: usize) -> f32 {
        let slot = self.docs[place].slot;
        if slot == u32::MAX { 0.0 } else { vectors.similarity(query, vector, slot) }
    }

    /// Returns the vector of the whole text of a record.
    pub(crate) fn vector(&self, vectors: &Vectors, place: usize) -> Vec<f32> {
        let slot = self.docs[place].slot;
        if slot == u32::MAX { Vec::new() } else { vectors.vector(0, slot) }
    }

    /// Returns the similarity of the question to the centroid of each parent, relative to the centroid of all. Cached
    /// centroids.
    pub(crate) fn centroids(&self, vectors: &Vectors, dimensions: usize, query: &[f32]) -> Vec<f32> {
        let all = self.centroids.get_or_init(|| {
            let mut all = vec![0.0_f32; self.parents.len() * dimensions];
            self.parents.par_iter().zip(all.par_chunks_mut(dimensions.max(1))).for_each(|(parent, centre)| {
                for place in &parent.members {
                    let vector = self.vector(vectors, *place as usize);
                    centre.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
                }
                let count = parent.members.len().max(1) as f32;
                centre.iter_mut().for_each(|sum| *sum /= count);
            });
            let count = self.parents.len().max(1) as f32;
            let mut mean = vec![0.0_f32; dimensions];
            for centre in all.chunks(dimensions.max(1)) {
                mean.iter_mut().zip(centre).for_each(|(mean, value)| *mean += value / count);
            }
            for centre in all.chunks_mut(dimensions.max(1)) {
                // A single parent cannot be compared with others.
                if count > 1.0 {
                    centre.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
                }
                normalize(centre);
            }
            all
        });
        all.chunks(dimensions.max(1)).map(|centre| centre.iter().zip(query).map(|(a, b)| a * b).sum()).collect()
    }
}
