//! The searched records, and the names that questions can refer to.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_discovery::Catalog;
use prospector_search::Index;
use prospector_search::embed::Embedder;
use serde::Serialize;

use crate::{error::BenchError, questions::Question, records, targets::TargetNames};

/// Maximum number of missing names listed.
const MAX_MISSING: usize = 20;

/// An index with all its names.
pub struct Corpus {
    pub(crate) index: Index,
    pub(crate) names: TargetNames,
    pub(crate) records: usize,
}

impl Corpus {
    /// Creates a corpus from an index and its records.
    pub fn new(index: Index, records: &[Record]) -> Corpus {
        Corpus { index, names: TargetNames::new(records), records: records.len() }
    }

    /// Indexes the records of a file in memory, one JSON object per line: tables, operations, skills, or index records.
    ///
    /// # Errors
    /// If the file cannot be read or contains an invalid line, or if indexing fails.
    pub fn from_file(path: &Path, embedder: Option<Arc<dyn Embedder>>) -> Result<Corpus, BenchError> {
        let records = records::read(path)?;
        let index = Index::in_memory(records.clone(), embedder)?;
        Ok(Corpus::new(index, &records))
    }

    /// Creates a corpus from a catalog and its index.
    pub fn from_catalog(catalog: &Catalog) -> Corpus {
        Corpus::new(catalog.index.clone(), &catalog.records())
    }
}

/// Needed names that the corpus does not contain. They count as not found.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Missing {
    /// Number of questions affected.
    pub(crate) questions: usize,
    /// Number of names.
    pub(crate) names: usize,
    /// The first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    first: Vec<String>,
}

impl Missing {
    pub(crate) fn of(corpus: &Corpus, questions: &[Question], kind: Option<Kind>) -> Missing {
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
        missing.first = names.into_iter().take(MAX_MISSING).map(str::to_owned).collect();
        missing
    }
}
