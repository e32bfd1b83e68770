//! What is searched, and the names in it that questions can ask for.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_discovery::Catalog;
use prospector_search::Index;
use prospector_search::embed::Embedder;
use serde::Serialize;

use crate::{error::BenchError, questions::Question, records, targets::TargetNames};

/// How many missing names are listed.
const MAX_MISSING: usize = 20;

/// An index, and every name in it.
pub struct Corpus {
    pub(crate) index: Index,
    pub(crate) names: TargetNames,
    pub(crate) records: usize,
}

impl Corpus {
    /// An index with the records that it was made of.
    pub fn new(index: Index, records: &[Record]) -> Corpus {
        Corpus { index, names: TargetNames::new(records), records: records.len() }
    }

    /// The records of a file, one JSON object a line, in an index in memory: tables, operations, skills, or records as they
    /// are indexed.
    ///
    /// # Errors
    /// When the file cannot be read, for its first line that is no record, and when the index cannot be made.
    pub fn from_file(path: &Path, embedder: Option<Arc<dyn Embedder>>) -> Result<Corpus, BenchError> {
        let records = records::read(path)?;
        let index = Index::in_memory(records.clone(), embedder)?;
        Ok(Corpus::new(index, &records))
    }

    /// A catalog and its own index.
    pub fn from_catalog(catalog: &Catalog) -> Corpus {
        Corpus::new(catalog.index.clone(), &catalog_records(catalog))
    }

    /// Has the shipped transformer read all records, where it can.
    ///
    /// # Errors
    /// When the index is damaged or cannot be written.
    pub fn deepen(self) -> Result<Corpus, BenchError> {
        self.index.deepen(&|_, _| ())?;
        Ok(self)
    }
}

/// Everything that the index of a catalog holds.
pub(crate) fn catalog_records(catalog: &Catalog) -> Vec<Record> {
    let mut records = catalog.schema.records();
    records.extend(catalog.apis.records());
    records.extend(catalog.documents.records());
    records.extend(catalog.facts.records());
    records.extend(catalog.skills.records());
    records
}

/// The names that questions need and the corpus does not have. They count as not found.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Missing {
    /// How many questions need one.
    pub(crate) questions: usize,
    /// How many names there are.
    pub(crate) names: usize,
    /// The first of them.
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
