//! Catalog coverage of the cases.

use std::collections::BTreeSet;

use prospector_discovery::Catalog;
use serde::Serialize;

use super::judge::Observed;

/// The catalog entries that no case uses, and totals.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Coverage {
    /// Number of tables.
    pub tables: usize,
    /// Unused tables.
    pub untouched_tables: Vec<String>,
    /// Number of documents.
    pub documents: usize,
    /// Unused documents.
    pub untouched_documents: Vec<String>,
    /// Number of verified queries.
    pub verified_queries: usize,
    /// Unused verified queries.
    pub untouched_verified_queries: Vec<String>,
}

impl Coverage {
    /// Computes the coverage of these runs.
    pub(crate) fn of<'a>(catalog: &Catalog, runs: impl Iterator<Item = &'a Observed>) -> Coverage {
        let (mut tables, mut documents, mut verified) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for run in runs {
            tables.extend(run.tables.iter().cloned());
            documents.extend(run.documents.iter().cloned());
            verified.extend(run.verified.iter().cloned());
        }
        let all: Vec<String> = catalog
            .schema
            .databases()
            .flat_map(|database| database.tables.iter().map(|table| format!("{}.{}", database.name, table.name)))
            .collect();
        let left = |all: Vec<String>, touched: &BTreeSet<String>| {
            (all.len(), all.into_iter().filter(|name| !touched.contains(name)).collect::<Vec<String>>())
        };
        let (tables, untouched_tables) = left(all, &tables);
        let all = catalog.documents.documents().iter().map(|document| document.name.clone()).collect();
        let (documents, untouched_documents) = left(all, &documents);
        let all = catalog.verified.queries().iter().map(|query| query.name.clone()).collect();
        let (verified_queries, untouched_verified_queries) = left(all, &verified);
        Coverage {
            tables,
            untouched_tables,
            documents,
            untouched_documents,
            verified_queries,
            untouched_verified_queries,
        }
    }
}
