//! Charts of rows that a client has.

use prospector_chart::{Choice, Data, VegaLite, choose};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Refusal;

/// More rows, and more columns, are not drawn.
const MAX_ROWS: usize = 10_000;

/// How wide a chart is, where it is not said.
const WIDTH: u32 = 720;

/// A result that is to be drawn.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drawn {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    /// What the rows answer.
    #[serde(default)]
    question: String,
    /// Whether there are more rows than these.
    #[serde(default)]
    has_more: bool,
    /// The names of what the rows were read from.
    #[serde(default)]
    sources: Vec<String>,
    /// In pixels.
    width: Option<u32>,
}

/// The chart of a result, or why there is none.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Drawing {
    chart: Option<DrawnChart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct DrawnChart {
    kind: String,
    title: String,
    /// The chart in words.
    description: String,
    #[schemars(with = "serde_json::Map<String, Value>")]
    vega: VegaLite,
    svg: String,
}

impl Drawing {
    /// The chart in words, or why there is none.
    pub(crate) fn describe(&self) -> &str {
        self.chart.as_ref().map_or_else(|| self.reason.unwrap_or_default(), |chart| &chart.description)
    }
}

impl Drawn {
    /// Draws it as the rules of charts have it.
    ///
    /// # Errors
    /// More rows than are drawn.
    pub(crate) fn draw(&self) -> Result<Drawing, Refusal> {
        if self.rows.len() > MAX_ROWS || self.columns.len() > MAX_ROWS {
            return Err(Refusal::invalid(format!("there are more than {MAX_ROWS} rows")).advise("aggregate them first"));
        }
        let data = Data {
            question: &self.question,
            columns: &self.columns,
            rows: &self.rows,
            has_more: self.has_more,
            sources: &self.sources,
            ..Data::default()
        };
        Ok(match choose(&data) {
            Choice::Chart(chart) => Drawing {
                chart: Some(DrawnChart {
                    kind: chart.kind().as_str().to_owned(),
                    title: chart.title.clone(),
                    description: chart.describe(),
                    vega: chart.vega(),
                    svg: chart.svg(self.width.unwrap_or(WIDTH)),
                }),
                reason: None,
            },
            Choice::Table { reason } => Drawing { chart: None, reason: Some(reason) },
        })
    }
}
