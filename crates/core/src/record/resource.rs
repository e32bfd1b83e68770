//! The names that a tool's answer reveals and that a plan may use.

use serde::{Deserialize, Serialize};

/// What a name in a plan can mean.
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
    /// `vip-customers`: a query that somebody has checked.
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

    /// The word for it in messages and JSON.
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

/// A thing of the catalog by its full name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// What it is.
    pub kind: ResourceKind,
    /// Its full name, as a plan writes it.
    pub id: String,
}

impl Resource {
    /// A resource of that kind and name.
    pub fn new(kind: ResourceKind, id: impl Into<String>) -> Self {
        Resource { kind, id: id.into() }
    }
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} `{}`", self.kind, self.id)
    }
}
