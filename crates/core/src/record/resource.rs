//! Resources: the names that tool results reveal and plans may use.

use serde::{Deserialize, Serialize};

/// The kind of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceKind {
    /// `chinook`
    Database,
    /// `chinook.invoices`
    Table,
    /// `chinook.invoices.total`
    Column,
    /// `shop`
    Api,
    /// `shop.listOrders`
    Operation,
    /// `business_rules`
    Document,
    /// `quarterly-report`
    Skill,
    /// `VIP customer`
    Fact,
    /// `net_revenue`
    Metric,
    /// `vip-customers`: a verified query.
    Query,
}

impl ResourceKind {
    /// Every kind.
    pub const ALL: [ResourceKind; 10] = [
        ResourceKind::Database,
        ResourceKind::Table,
        ResourceKind::Column,
        ResourceKind::Api,
        ResourceKind::Operation,
        ResourceKind::Document,
        ResourceKind::Skill,
        ResourceKind::Fact,
        ResourceKind::Metric,
        ResourceKind::Query,
    ];

    /// Returns its name in messages and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ResourceKind::Database => "database",
            ResourceKind::Table => "table",
            ResourceKind::Column => "column",
            ResourceKind::Api => "api",
            ResourceKind::Operation => "operation",
            ResourceKind::Document => "document",
            ResourceKind::Skill => "skill",
            ResourceKind::Fact => "fact",
            ResourceKind::Metric => "metric",
            ResourceKind::Query => "query",
        }
    }
}

impl std::fmt::Display for ResourceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
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
