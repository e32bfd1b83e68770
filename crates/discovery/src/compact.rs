//! The compact profile: six tools that cover the full set by calling it.

mod describe;
mod list;
mod routes;
mod sample;
mod search;
mod terms;

use std::sync::Arc;

use prospector_core::tool::Toolset;

pub use routes::{ROUTES, Route};
pub(crate) use sample::NAME as SAMPLE;
pub(crate) use terms::{ADD as ADD_FACT, RESOLVE as RESOLVE_FACT};

use crate::{Catalog, target::TargetResolver};

/// Returns the six tools over the full set, and those for which the catalog has no entries.
pub(crate) fn toolsets(catalog: &Catalog, targets: &Arc<TargetResolver>) -> (Toolset, Toolset) {
    let mut here = Toolset::new();
    let mut absent = Toolset::new();
    if catalog.is_empty() {
        return (here, absent);
    }
    here = here
        .with_callable(search::NAME, Arc::new(search::Search::new(targets)))
        .with_callable(list::NAME, Arc::new(list::List::new(targets)))
        .with_callable(describe::NAME, Arc::new(describe::Describe::new(targets)))
        .with_callable(terms::RESOLVE, Arc::new(terms::ResolveFact::new(targets)))
        .with_callable(terms::ADD, Arc::new(terms::AddFact::new(targets)));
    let sample = Arc::new(sample::Sample::new(targets));
    if catalog.schema.databases().len() > 0 {
        here = here.with_callable(sample::NAME, sample);
    } else {
        absent = absent.with_callable(sample::NAME, sample);
    }
    (here, absent)
}
