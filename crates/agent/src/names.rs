//! What exists, as a run and the verification of a plan ask for it.

mod meanings;

use prospector_core::record::ResourceKind;
use prospector_discovery::Catalog;

use crate::meaning::Meanings;

/// What is known to exist. The catalog is one; who brings other tools brings their names.
pub trait Names {
    /// The name as the catalog spells it, if it exists.
    fn resolve(&self, kind: ResourceKind, id: &str) -> Option<String>;

    /// The nearest names that exist.
    fn nearest(&self, kind: ResourceKind, id: &str) -> Vec<String>;

    /// What the things mean, where that is known: then a plan is judged by it too.
    fn meanings(&self) -> Option<&dyn Meanings> {
        None
    }
}

impl Names for Catalog {
    fn resolve(&self, kind: ResourceKind, id: &str) -> Option<String> {
        Catalog::resolve(self, kind, id)
    }

    fn nearest(&self, kind: ResourceKind, id: &str) -> Vec<String> {
        Catalog::nearest(self, kind, id)
    }

    fn meanings(&self) -> Option<&dyn Meanings> {
        Some(self)
    }
}
