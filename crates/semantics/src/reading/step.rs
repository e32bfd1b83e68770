//! What a step of a plan computes: over declared metrics and their dimensions, or over tables and columns.

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::{Group, Measure, Order};
use prospector_core::record::{Resource, ResourceKind};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What a step of a plan computes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct QueryStep {
    /// Declared metrics; conditions, groups and order are over their dimensions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
    /// The tables that it reads, as `database.table`.
    pub tables: Vec<String>,
    /// What is computed of tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Value>")]
    pub compute: Vec<Measure>,
    /// Conditions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Value>")]
    pub filter: Vec<FilterCondition>,
    /// What it is told by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Value>")]
    pub group_by: Vec<Group>,
    /// The order of its rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Value>")]
    pub order: Vec<Order>,
    /// At most so many rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

impl QueryStep {
    /// Its tables and metrics.
    pub(crate) fn resources(&self) -> Vec<Resource> {
        let of = |kind, names: &[String]| names.iter().map(|name| Resource::new(kind, name)).collect::<Vec<_>>();
        let mut all = of(ResourceKind::Table, &self.tables);
        all.extend(of(ResourceKind::Metric, &self.metrics));
        all
    }
}
