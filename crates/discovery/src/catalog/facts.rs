//! The facts of a catalog, and the store of learned facts.

use std::{path::PathBuf, sync::Arc};

use prospector_facts::{Fact, FactDiscovery, model::Origin};

use super::{
    evidence::CatalogEvidence,
    file_schema::FactEntry,
    section::{Folders, Opening, Section},
};

/// The file of learned facts in the state folder.
pub(super) const STORE: &str = "facts.sqlite";

/// The facts, with the evidence for looking them up.
pub(super) struct Facts {
    pub(super) evidence: CatalogEvidence,
    /// Definitions of metrics.
    pub(super) terms: Vec<Fact>,
}

impl Section for Facts {
    type Entry = FactEntry;
    type Loaded = Arc<FactDiscovery>;

    fn files(_: &[FactEntry], folders: &Folders<'_>) -> Option<Vec<PathBuf>> {
        Some(vec![folders.state.join(STORE)])
    }

    async fn load(self, entries: Vec<FactEntry>, opening: &mut Opening<'_>) -> Self::Loaded {
        let known = entries.into_iter().map(fact).chain(self.terms).collect();
        let store = opening.folders.state.join(STORE);
        let (facts, problems) = FactDiscovery::open(Some(store), known, Some(Arc::new(self.evidence))).await;
        opening.problems.extend(problems);
        Arc::new(facts)
    }
}

fn fact(entry: FactEntry) -> Fact {
    let mut fact = Fact::new(entry.term, entry.definition, Origin::Catalog);
    fact.confidence = entry.confidence.unwrap_or(1.0);
    fact.source = entry.source.unwrap_or_else(|| "catalog".into());
    fact
}
