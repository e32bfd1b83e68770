//! What is indexed ([`Record`]) and what a search finds ([`Hit`]).

mod resource;
mod values;

use serde::{Deserialize, Serialize};

pub use resource::{Resource, ResourceKind};
pub use values::{ColumnValues, MAX_VALUE_CHARS, MissingLiteral, ParentValues, ValueMatch};

/// The kinds of thing that can be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A table, collection or file with columns.
    Table,
    /// An operation of an API.
    Operation,
    /// A section of a document.
    Document,
    /// A known fact: a term and its definition.
    Fact,
    /// A skill: instructions for a task.
    Skill,
    /// A metric: a figure and how it is computed.
    Metric,
    /// A query that somebody has checked, found by the questions that it answers.
    Query,
}

impl Kind {
    /// Every kind, in the order in which kinds are listed anywhere.
    pub const ALL: [Kind; 7] =
        [Kind::Table, Kind::Operation, Kind::Document, Kind::Fact, Kind::Skill, Kind::Metric, Kind::Query];

    /// The name used in JSON, on the command line and in the index.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Table => "table",
            Kind::Operation => "operation",
            Kind::Document => "document",
            Kind::Fact => "fact",
            Kind::Skill => "skill",
            Kind::Metric => "metric",
            Kind::Query => "query",
        }
    }

    /// Whether an entry is text that states something, and not data or an operation that it describes.
    pub fn is_knowledge(self) -> bool {
        match self {
            Kind::Document | Kind::Fact | Kind::Skill | Kind::Metric => true,
            Kind::Table | Kind::Operation | Kind::Query => false,
        }
    }

    /// The kind with that name, if there is one.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing as it is indexed. Each field is a field of its own in the index, because a match in a name is worth more
/// than a match in a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Unique among the records of its kind; what a plan names. `chinook.invoices`, `shop.listOrders`,
    /// `business_rules#VIP customers`.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// The database, API or document that it belongs to; the scope for facts; the entity of a metric; empty for skills.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parent: String,
    /// Its own name, without the parent.
    pub name: String,
    /// Other names that mean exactly this record, such as `GET /orders`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// One or two sentences; what a hit shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The names of its parts: columns, parameters. Worth more than the body, less than the name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub members: String,
    /// Everything else worth matching: what the parts mean, the text of a section.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// Ids of records of the same kind that it joins to, over a key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<String>,
}

impl Record {
    /// A record with nothing but what every record has.
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

/// How likely a hit is to be needed for the question: 0 (not at all) to 1 (certainly). It means the same for every
/// kind.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Relevance(f32);

impl Relevance {
    /// Certain: an exact name.
    pub const EXACT: Relevance = Relevance(1.0);

    /// Clamps `value` to 0..=1; what is not a number becomes 0.
    pub fn new(value: f32) -> Self {
        if value.is_nan() { Relevance(0.0) } else { Relevance(value.clamp(0.0, 1.0)) }
    }

    /// The number, 0 to 1.
    pub fn get(self) -> f32 {
        self.0
    }
}

impl Serialize for Relevance {
    /// Two digits: more would be noise, and costs tokens.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64((f64::from(self.0) * 100.0).round() / 100.0)
    }
}

/// One thing found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The id of the record.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// The database, API or document that it belongs to.
    pub parent: String,
    /// Its name without the parent.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its body, for excerpts.
    pub body: String,
    /// How likely it is to be needed.
    pub relevance: Relevance,
    /// The values of its columns that the question names, the most telling first.
    pub values: Vec<ValueMatch>,
}

/// Behind a hit that is at least so likely, those at the end that are less likely than [`MIN_SHOWN`] are not shown.
const MIN_BEST: f32 = 0.3;
const MIN_SHOWN: f32 = 0.015;

/// What is less likely is shown by its name alone.
pub const MIN_DESCRIBED: f32 = 0.06;

/// Leaves out the tail of a list, best first, that nobody would read behind its head: each line costs tokens, and none of
/// them is likely to be needed. The tail of a list without a likely hit stays.
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
    fn the_unlikely_end_of_a_list_is_dropped_behind_a_likely_hit() {
        check(vec![0.9, 0.3, 0.02, 0.01, 0.0], &[0.9, 0.3, 0.02]);
        check(vec![0.2, 0.01, 0.0], &[0.2, 0.01, 0.0]);
        check(vec![1.0], &[1.0]);
        check(Vec::new(), &[]);
    }
}
