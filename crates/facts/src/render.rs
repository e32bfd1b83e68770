//! Fact to record: exactly what is indexed.

use prospector_core::Kind;
use prospector_core::record::Record;

use crate::model::Fact;

/// The term is the name; the definition is what a hit shows; the scope is the parent.
pub(crate) fn record(fact: &Fact) -> Record {
    Record {
        parent: fact.scope.clone(),
        description: fact.definition.clone(),
        ..Record::new(Kind::Fact, fact.term.clone(), fact.term.clone())
    }
}
