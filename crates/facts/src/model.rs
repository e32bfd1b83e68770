//! Data types of facts and resolutions.

use prospector_core::{Kind, Owner, named_enum, record::Record};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// The default source of a fact from a user.
pub(crate) const USER: &str = "user";

named_enum! {
    /// The origin of a fact.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Origin {
        /// Stated by a user; takes precedence over written sources.
        User = "user",
        /// Defined in the catalog.
        Catalog = "catalog",
        /// Extracted from a text.
        Extracted = "extracted",
        /// A declared metric; listed among the metrics, not among the facts.
        Metric = "metric",
    }
}

impl Origin {
    pub(crate) fn from_name(name: &str) -> Origin {
        [Origin::User, Origin::Catalog].into_iter().find(|o| o.as_str() == name).unwrap_or(Origin::Extracted)
    }
}

/// A term and its definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// The defined term: `VIP customer`.
    pub term: String,
    /// Its definition, in a sentence or two.
    pub definition: String,
    /// The author or source.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Confidence, 0 to 1.
    #[serde(serialize_with = "two_digits", default = "certain")]
    #[schemars(with = "f64")]
    pub confidence: f64,
    /// Why it holds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Where it applies, such as a database or a department; everywhere if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// When it was recorded, RFC 3339.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub recorded_at: String,
    /// Its origin.
    pub origin: Origin,
    /// Hash of the text of `source` when the fact was recorded; empty if the source has no text.
    #[serde(skip)]
    pub source_hash: String,
    /// Whether the source has changed since: the fact may be outdated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Display name of the author if it is not the viewer; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said_by: String,
    /// Whether the fact is visible only to its author until approved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
}

fn certain() -> f64 {
    1.0
}

impl Fact {
    /// Creates a fact with confidence 1 and without optional fields.
    pub fn new(term: impl Into<String>, definition: impl Into<String>, origin: Origin) -> Self {
        Fact {
            term: term.into(),
            definition: definition.into(),
            source: String::new(),
            confidence: certain(),
            reasoning: String::new(),
            scope: String::new(),
            recorded_at: String::new(),
            origin,
            source_hash: String::new(),
            stale: false,
            said_by: String::new(),
            pending: false,
        }
    }

    /// Returns the record to index: the term is the name, the definition the description, the scope the parent.
    pub(crate) fn record(&self) -> Record {
        Record {
            parent: self.scope.clone(),
            description: self.definition.clone(),
            ..Record::new(Kind::Fact, self.term.clone(), self.term.clone())
        }
    }
}

/// The visibility of new facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Keeping {
    /// Visible to all owners at once: no approval is needed.
    ForAll,
    /// Private to its author until approved: see [`crate::review`].
    Apart,
}

/// The viewer of facts, which determines what is visible and how new facts are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Viewer {
    pub(crate) owner: Owner,
    pub(crate) keeping: Keeping,
}

impl Viewer {
    /// Returns the local user.
    pub(crate) fn local() -> Self {
        Viewer { owner: Owner::local(), keeping: Keeping::ForAll }
    }

    /// Returns the id of the owner to whom new facts are private; empty if they are shared.
    pub(crate) fn apart(&self) -> &str {
        match self.keeping {
            Keeping::ForAll => "",
            Keeping::Apart => self.owner.id(),
        }
    }

    /// Returns whether facts of this owner count as the viewer's own. With shared facts, the local command-line user
    /// counts as the viewer.
    pub(crate) fn is_own(&self, owner: &Owner) -> bool {
        *owner == self.owner || (self.keeping == Keeping::ForAll && owner.is_local())
    }
}

/// A source of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source {
    /// `document`, `table`, `column`; `user`, `catalog` or `extracted` for a fact, `other_user` for a fact of another
    /// user.
    #[serde(rename = "type")]
    pub source_type: String,
    /// Its name: `business_rules#Customers`, `shop.invoices`.
    pub name: String,
    /// The verbatim text.
    pub excerpt: String,
    /// Confidence of the answer from this source alone.
    #[serde(serialize_with = "two_digits")]
    pub confidence: f64,
    /// Whether the source of this fact has changed since it was recorded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

/// Another term of the question that has a definition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Related {
    /// The term.
    pub term: String,
    /// Its definition.
    pub definition: String,
    /// The name of its source.
    pub source: String,
    /// Its confidence.
    #[serde(serialize_with = "two_digits")]
    pub confidence: f64,
}

/// The result of `resolve_fact`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Resolution {
    /// The question as asked; omitted if the caller knows it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// The term that `answer` defines, spelled as in its source; absent if it defines none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub term: Option<String>,
    /// The answering sentence, or the candidates, one per line, if sources disagree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The full definition in the source of `answer`, if longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// Confidence, 0 to 1; 0 and omitted without an answer.
    #[serde(serialize_with = "two_digits", skip_serializing_if = "is_zero")]
    pub confidence: f64,
    /// Sources of the answer, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Contradicting sources that a user's statement overrides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<Source>,
    /// Whether a clarification is needed: an undefined term is asked for, or sources disagree.
    pub needs_clarification: bool,
    /// The clarification question or hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clarification: Option<String>,
    /// Other defined terms of the question, with their full definitions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// Warnings: outdated sources, failed lookups or writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether the question asks for nothing but the meaning of the term.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_whole: bool,
}

impl Resolution {
    /// Returns whether an undefined term is asked for.
    pub(crate) fn needs_meaning(&self) -> bool {
        self.needs_clarification && self.answer.is_none()
    }
}

/// A question without an answer so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unresolved {
    /// The most recent wording.
    pub question: String,
    /// Number of times it was asked.
    pub times: u32,
    /// When it was first asked, RFC 3339.
    pub first_asked: String,
    /// When it was last asked, RFC 3339.
    pub last_asked: String,
}

/// Rounds to two digits, to save tokens.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
pub(crate) fn two_digits<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 100.0).round() / 100.0)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
pub(crate) fn is_zero(value: &f64) -> bool {
    *value == 0.0
}
