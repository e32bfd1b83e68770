//! The names that exist, for a run and for the verification of a plan.

use prospector_core::record::ResourceKind;
use prospector_discovery::Catalog;
use prospector_text::periods;

/// The names that are known to exist. The catalog is one implementation; other tools bring their own.
pub trait Names {
    /// Returns the name as the catalog spells it, if it exists.
    fn resolve(&self, kind: ResourceKind, id: &str) -> Option<String>;

    /// Returns the nearest names that exist.
    fn nearest(&self, kind: ResourceKind, id: &str) -> Vec<String>;

    /// Returns the catalog behind the names. Without it, plans are verified by names alone.
    fn catalog(&self) -> Option<&Catalog> {
        None
    }

    /// Returns the current day, in the time zone of the catalog or in UTC.
    fn today(&self) -> String {
        self.catalog().map_or_else(periods::today, |catalog| catalog.metrics.today()).to_string()
    }

    /// Returns whether an operation has side effects, if known.
    fn writes(&self, operation: &str) -> Option<bool> {
        let (_, found) = self.catalog()?.apis.find_operation(operation)?;
        found.access().map(|access| access.is_write())
    }
}

impl Names for Catalog {
    fn resolve(&self, kind: ResourceKind, id: &str) -> Option<String> {
        Catalog::resolve(self, kind, id)
    }

    fn nearest(&self, kind: ResourceKind, id: &str) -> Vec<String> {
        Catalog::nearest(self, kind, id)
    }

    fn catalog(&self) -> Option<&Catalog> {
        Some(self)
    }
}
