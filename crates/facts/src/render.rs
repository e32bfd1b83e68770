//! Converts facts to index records.

use prospector_core::Kind;
use prospector_core::record::Record;

use crate::model::Fact;

/// Returns the record of a fact: the term is the name, the definition the description, the scope the parent.
pub(crate) fn record(fact: &Fact) -> Record {
    Record {
        parent: fact.scope.clone(),
        description: fact.definition.clone(),
        ..Record::new(Kind::Fact, fact.term.clone(), fact.term.clone())
    }
}
