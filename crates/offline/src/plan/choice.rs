//! What a plan uses of what was found.

use super::evidence::{Definition, NamedHit, TableHit};

/// An operation that is called for an identifier.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lookup {
    pub(super) api: String,
    pub(super) operation: String,
    /// What it gives.
    pub(super) parameter: String,
}

/// What the plan uses.
#[derive(Debug, Default, Clone)]
pub(super) struct Choice<'a> {
    pub(super) facts: Vec<&'a Definition>,
    pub(super) tables: Vec<&'a TableHit>,
    /// Operations that give what `operations` are called with.
    pub(super) lookups: Vec<Lookup>,
    pub(super) operations: Vec<&'a NamedHit>,
    pub(super) documents: Vec<&'a NamedHit>,
    pub(super) skills: Vec<&'a NamedHit>,
}

impl Choice<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.facts.is_empty()
            && self.tables.is_empty()
            && self.operations.is_empty()
            && self.documents.is_empty()
            && self.skills.is_empty()
    }
}

/// Whether a join such as `invoices.customer_id = customers.id` is one of this table.
pub(super) fn mentions(join: &str, table: &str) -> bool {
    join.split('=').any(|side| side.trim().rsplit_once('.').is_some_and(|(name, _)| name == table))
}
