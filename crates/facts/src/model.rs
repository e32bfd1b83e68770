//! What is known and what is answered: plain structs.

use prospector_core::Owner;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// The source of a fact whose sayer named none.
pub(crate) const USER: &str = "user";

/// Where a fact comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Somebody said so; wins over everything that is written.
    User,
    /// The catalog lists it.
    Catalog,
    /// It was extracted from a text.
    Extracted,
    /// A metric is declared so; it is listed among the metrics, and not among the facts.
    Metric,
}

impl Origin {
    /// The word for it in JSON and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::User => "user",
            Origin::Catalog => "catalog",
            Origin::Extracted => "extracted",
            Origin::Metric => "metric",
        }
    }

    pub(crate) fn from_name(name: &str) -> Origin {
        [Origin::User, Origin::Catalog].into_iter().find(|o| o.as_str() == name).unwrap_or(Origin::Extracted)
    }
}

/// A term and what it means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// What is defined: `VIP customer`.
    pub term: String,
    /// What it means, in a sentence or two.
    pub definition: String,
    /// Who or what says so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// How sure that is, 0 to 1.
    #[serde(serialize_with = "two_digits", default = "certain")]
    #[schemars(with = "f64")]
    pub confidence: f64,
    /// Why it is held to be so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Where it holds, such as a database or a department; everywhere where empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// When it was written down, RFC 3339.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub recorded_at: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What `source` said when the fact was written down, hashed; empty where the source is nothing that can be read.
    #[serde(skip)]
    pub source_hash: String,
    /// The source says something else by now: the fact may no longer hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Who said it, as people are shown them, where it was somebody else than whoever looks; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said_by: String,
    /// Only whoever said it sees it so far: it waits to be approved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
}

fn certain() -> f64 {
    1.0
}

impl Fact {
    /// A fact with nothing but what every fact has, held to be certain.
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
}

/// What becomes of what somebody says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Keeping {
    /// It holds for everyone at once: there is nobody else, or nobody who would have to agree.
    ForAll,
    /// It is kept apart, for whoever said it, until it is approved: see [`crate::review`].
    Apart,
}

/// Who looks at the facts: what they see, and what becomes of what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Viewer {
    pub(crate) owner: Owner,
    pub(crate) keeping: Keeping,
}

impl Viewer {
    /// The user of this machine.
    pub(crate) fn local() -> Self {
        Viewer { owner: Owner::local(), keeping: Keeping::ForAll }
    }

    /// For whom what they say is kept apart; empty for everyone.
    pub(crate) fn apart(&self) -> &str {
        match self.keeping {
            Keeping::ForAll => "",
            Keeping::Apart => self.owner.id(),
        }
    }

    /// Whether what this owner said is the word of whoever looks. Where nobody else asks, the user of the command line and
    /// the one who asks are one party.
    pub(crate) fn is_own(&self, owner: &Owner) -> bool {
        *owner == self.owner || (self.keeping == Keeping::ForAll && owner.is_local())
    }
}

/// One thing that an answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source {
    /// `document`, `table`, `column`; `user`, `catalog` or `extracted` for a fact, `other_user` for what somebody else said.
    #[serde(rename = "type")]
    pub source_type: String,
    /// Its name: `business_rules#Customers`, `shop.invoices`.
    pub name: String,
    /// What it says, word for word.
    pub excerpt: String,
    /// How sure this source alone makes the answer.
    #[serde(serialize_with = "two_digits")]
    pub confidence: f64,
    /// A fact whose own source has changed since it was written down.
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
    /// The name of what says so.
    pub source: String,
    /// How sure that is.
    #[serde(serialize_with = "two_digits")]
    pub confidence: f64,
}

/// The answer to `resolve_fact`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resolution {
    /// As it was asked.
    pub question: String,
    /// The term that `answer` defines, spelled as its source does; left out where the answer defines none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub term: Option<String>,
    /// The sentence that answers; the candidates, one a line, where sources disagree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// All that the source of `answer` says of the term, where that is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// 0 to 1.
    #[serde(serialize_with = "two_digits")]
    pub confidence: f64,
    /// What the answer rests on, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// What says otherwise, where what a user said won over it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<Source>,
    /// The meaning of a term is asked for and nothing says it, or sources disagree: ask, do not assume.
    pub needs_clarification: bool,
    /// What to clarify.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clarification: Option<String>,
    /// Other terms of the question that are defined, each with all that its source says of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// What is out of date, or could not be looked at or written down on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Resolution {
    /// Whether the meaning of a term is asked for, and nothing says it.
    pub(crate) fn needs_meaning(&self) -> bool {
        self.needs_clarification && self.answer.is_none()
    }
}

/// A question that found no answer yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unresolved {
    /// As it was asked last.
    pub question: String,
    /// How often it was asked.
    pub times: u32,
    /// When it was asked first, RFC 3339.
    pub first_asked: String,
    /// When it was asked last, RFC 3339.
    pub last_asked: String,
}

/// More digits would be noise, and cost tokens.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
pub(crate) fn two_digits<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 100.0).round() / 100.0)
}
