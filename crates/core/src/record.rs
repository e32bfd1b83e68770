//! Index records ([`Record`]) and search results ([`Hit`]).

mod resource;
mod values;

use serde::{Deserialize, Serialize};

use crate::named_enum;

pub use resource::{Resource, ResourceKind};
pub use values::{ColumnValues, MAX_VALUE_CHARS, MissingLiteral, ParentValues, ValueMatch};

named_enum! {
    /// The kinds of catalog entries.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Kind {
        /// A table, collection or file with columns.
        Table = "table",
        /// An operation of an API.
        Operation = "operation",
        /// A section of a document.
        Document = "document",
        /// A fact: a term and its definition.
        Fact = "fact",
        /// A skill: instructions for a task.
        Skill = "skill",
        /// A metric: a business value and its formula.
        Metric = "metric",
        /// A verified query, found by the questions that it answers.
        Query = "query",
    }
}

impl Kind {
    /// Returns whether entries of this kind are text, as opposed to descriptions of data or operations.
    pub fn is_knowledge(self) -> bool {
        match self {
            Kind::Document | Kind::Fact | Kind::Skill | Kind::Metric => true,
            Kind::Table | Kind::Operation | Kind::Query => false,
        }
    }

    /// Returns the kind with that name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A catalog entry in the index. Each field is indexed separately, since a match in a name scores higher than a match in a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Unique among the records of its kind, and used in plans: `chinook.invoices`, `shop.listOrders`, `business_rules#VIP customers`.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Its database, API or document; for facts the scope; for metrics the entity; empty for skills.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parent: String,
    /// Its name, without the parent.
    pub name: String,
    /// Exact aliases, such as `GET /orders`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// One or two sentences, shown in hits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The names of its parts: columns, parameters. Weighted between name and body.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub members: String,
    /// Other searchable text: descriptions of the parts, the text of a section.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// Ids of records of the same kind that it joins to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<String>,
}

impl Record {
    /// Creates a record with the required fields only.
    pub fn new(kind: Kind, id: impl Into<String>, name: impl Into<String>) -> Self {
        Record {
            id: id.into(),
            kind,
            parent: String::new(),
            name: name.into(),
            aliases: Vec::new(),
            description: String::new(),
            members: String::new(),
            body: String::new(),
            related: Vec::new(),
        }
    }
}

/// The probability that a hit is needed for the question, 0 to 1. It is comparable across kinds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Relevance(f32);

impl Relevance {
    /// An exact name match.
    pub const EXACT: Relevance = Relevance(1.0);

    /// Clamps `value` to 0..=1; NaN becomes 0.
    pub fn new(value: f32) -> Self {
        if value.is_nan() { Relevance(0.0) } else { Relevance(value.clamp(0.0, 1.0)) }
    }

    /// Returns the probability, 0 to 1.
    pub fn get(self) -> f32 {
        self.0
    }
}

impl Serialize for Relevance {
    /// Two digits are significant; more would only cost tokens.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64((f64::from(self.0) * 100.0).round() / 100.0)
    }
}

/// A search result.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The id of the record.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Its database, API or document.
    pub parent: String,
    /// Its name without the parent.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its body, for excerpts.
    pub body: String,
    /// The probability that it is needed.
    pub relevance: Relevance,
    /// The values of its columns that the question names, the most specific first.
    pub values: Vec<ValueMatch>,
}

/// After a hit with at least this relevance, trailing hits below [`MIN_SHOWN`] are dropped.
const MIN_BEST: f32 = 0.3;
const MIN_SHOWN: f32 = 0.015;

/// Less relevant hits are shown by name only.
pub const MIN_DESCRIBED: f32 = 0.06;

/// Drops the irrelevant tail of a list that is sorted by relevance, to save tokens. A list without a relevant hit is unchanged.
pub fn drop_tail<T>(hits: &mut Vec<T>, relevance: impl Fn(&T) -> Relevance) {
    if hits.first().is_some_and(|best| relevance(best).get() >= MIN_BEST) {
        let kept = hits.iter().take_while(|hit| relevance(hit).get() >= MIN_SHOWN).count();
        hits.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mut relevances: Vec<f32>, expected: &[f32]) {
        drop_tail(&mut relevances, |value| Relevance::new(*value));
        assert_eq!(relevances, expected);
    }

    #[test]
    fn drops_the_irrelevant_tail_after_a_relevant_hit() {
        check(vec![0.9, 0.3, 0.02, 0.01, 0.0], &[0.9, 0.3, 0.02]);
        check(vec![0.2, 0.01, 0.0], &[0.2, 0.01, 0.0]);
        check(vec![1.0], &[1.0]);
        check(Vec::new(), &[]);
    }
}
