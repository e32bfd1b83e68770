//! Results of earlier turns of a session, for `get_previous_results`.

use prospector_core::tool::finding::{QueryFinding, QueryRows};
use prospector_core::tool::{Part, ToolOutput};
use serde::Serialize;
use serde_json::Value;

/// The result of a query of an earlier turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct EarlierResult {
    /// The turn and the query: `t2.Q1`.
    pub(crate) id: String,
    pub(crate) question: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) title: String,
    pub(crate) sql: String,
    pub(crate) databases: Vec<String>,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Value>>,
    pub(crate) has_more: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) units: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) database: Option<String>,
}

impl ToolOutput for EarlierResult {
    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        let rows = QueryRows {
            databases: &self.databases,
            columns: &self.columns,
            rows: &self.rows,
            units: &self.units,
            has_more: self.has_more,
            warnings: &self.warnings,
        };
        vec![QueryFinding {
            id: &mut self.id,
            question: &self.question,
            title: Some(self.title.as_str()).filter(|title| !title.is_empty()),
            sql: Some(&self.sql),
            database: self.database.as_deref(),
            verified: None,
            rows: Ok(rows),
        }]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![
            ("question", Part::Text(&mut self.question)),
            ("sql", Part::Text(&mut self.sql)),
            ("columns", Part::entries(&mut self.columns)),
            ("rows", Part::entries(&mut self.rows)),
        ]
    }
}
