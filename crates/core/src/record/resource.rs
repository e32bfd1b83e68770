//! Resources: the names that tool results reveal and plans may use.

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::named_enum;

named_enum! {
    /// The kind of a resource.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ResourceKind {
        /// `chinook`
        Database = "database",
        /// `chinook.invoices`
        Table = "table",
        /// `chinook.invoices.total`
        Column = "column",
        /// `shop`
        Api = "api",
        /// `shop.listOrders`
        Operation = "operation",
        /// `business_rules`
        Document = "document",
        /// `quarterly-report`
        Skill = "skill",
        /// `VIP customer`
        Fact = "fact",
        /// `net_revenue`
        Metric = "metric",
        /// `vip-customers`: a verified query.
        Query = "query",
    }
}

impl From<Kind> for ResourceKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Table => ResourceKind::Table,
            Kind::Operation => ResourceKind::Operation,
            Kind::Document => ResourceKind::Document,
            Kind::Fact => ResourceKind::Fact,
            Kind::Skill => ResourceKind::Skill,
            Kind::Metric => ResourceKind::Metric,
            Kind::Query => ResourceKind::Query,
        }
    }
}

/// A catalog entry by its full name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// Its kind.
    pub kind: ResourceKind,
    /// Its full name, as used in plans.
    pub id: String,
}

impl Resource {
    /// Creates a resource.
    pub fn new(kind: ResourceKind, id: impl Into<String>) -> Self {
        Resource { kind, id: id.into() }
    }
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} `{}`", self.kind, self.id)
    }
}
