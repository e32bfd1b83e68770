//! Charts of rows that a client sends.

use prospector_agent::ask::DataQuestion;
use prospector_chart::{ChartKind, Choice, Data, Proposal, VegaLite, choose};
use prospector_core::{Owner, work::compute};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{error::Refusal, rows::count_cells, server::Server};

/// Limit on the number of rows.
const MAX_ROWS: usize = 10_000;

/// Estimated memory per cell while a chart is chosen, in bytes.
const CELL: usize = 256;
const ROW: usize = 1_024;

/// Default width of a chart, in pixels.
const WIDTH: u32 = 720;

/// A result to draw.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drawn {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    /// The question that the rows answer, used as title if there is no other.
    #[serde(default)]
    question: String,
    /// Title of the chart: what the rows are, including their filters. Derived from the columns if absent.
    #[serde(default)]
    title: String,
    /// The query of the rows, which distinguishes keys, sums and other measures.
    #[serde(default)]
    sql: String,
    /// Units of columns, as pairs of column name and unit.
    #[serde(default)]
    units: Vec<(String, String)>,
    /// Whether more rows exist than are sent.
    #[serde(default)]
    has_more: bool,
    /// Names of the sources of the rows.
    #[serde(default)]
    sources: Vec<String>,
    /// Width in pixels.
    width: Option<u32>,
    /// The chart to draw if it suits the columns; otherwise the rules choose.
    proposal: Option<ProposedChart>,
}

/// A chart that the caller proposes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProposedChart {
    /// Kind of the chart: `bar`, `line`, ...
    kind: String,
    /// Columns: first the category or time axis, then the measures.
    columns: Vec<String>,
}

/// The chart of a result, or the reason why nothing is drawn.
#[derive(Serialize)]
pub(crate) struct Drawing {
    chart: Option<DrawnChart>,
    /// The headline number, if a single number summarises the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Why the proposed chart is not drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<&'static str>,
}

#[derive(Serialize)]
struct DrawnChart {
    kind: String,
    title: String,
    /// The chart as text.
    description: String,
    vega: VegaLite,
    svg: String,
}

impl Drawing {
    /// Returns the chart as text, or why nothing is drawn.
    pub(crate) fn describe(&self) -> &str {
        self.chart.as_ref().map_or_else(|| self.reason.unwrap_or_default(), |chart| &chart.description)
    }
}

impl Drawn {
    /// Estimates the memory that drawing needs, in bytes.
    ///
    /// # Errors
    /// - If there are more rows, columns or cells than can be drawn.
    /// - If a row has more cells than there are columns.
    pub(crate) fn estimate(&self) -> Result<usize, Refusal> {
        if self.rows.len() > MAX_ROWS {
            return Err(Refusal::invalid(format!("there are more than {MAX_ROWS} rows")).advise("aggregate them first"));
        }
        Ok(count_cells(&self.columns, &self.rows)? * CELL + self.rows.len() * ROW)
    }

    /// Draws the chart by the rules for charts. Call [`Drawn::estimate`] first to reject results that are too large.
    pub(crate) fn draw(self) -> Drawing {
        let result = DataQuestion {
            question: self.question,
            title: self.title,
            sql: self.sql,
            databases: self.sources,
            columns: self.columns,
            units: self.units,
            rows: self.rows,
            has_more: self.has_more,
            ..DataQuestion::default()
        };
        let data = result.data();
        let headline = data.headline().map(|found| json!(found));
        let proposed = self.proposal.as_ref().map(|proposal| proposal.judge(&data));
        let (chosen, dropped) = match proposed {
            Some(Choice::Table { reason }) => (choose(&data), Some(reason)),
            Some(drawn @ Choice::Chart(_)) => (drawn, None),
            None => (choose(&data), None),
        };
        match chosen {
            Choice::Chart(chart) => Drawing {
                chart: Some(DrawnChart {
                    kind: chart.kind().as_str().to_owned(),
                    title: chart.title.clone(),
                    description: chart.describe(),
                    vega: chart.vega(),
                    svg: chart.svg(self.width.unwrap_or(WIDTH)),
                }),
                headline,
                reason: None,
                dropped,
            },
            Choice::Table { reason } => Drawing { chart: None, headline, reason: Some(reason), dropped },
        }
    }
}

impl Server {
    /// Draws a chart of rows, with the memory that it needs reserved for the owner.
    ///
    /// # Errors
    /// - Like [`Drawn::estimate`].
    /// - If the memory cannot be reserved.
    pub(crate) async fn draw(&self, owner: &Owner, drawn: Drawn) -> Result<Drawing, Refusal> {
        let _reserved = self.reserve(owner, drawn.estimate()?)?;
        Ok(compute(move || drawn.draw()).await)
    }
}

impl ProposedChart {
    fn judge(&self, data: &Data<'_>) -> Choice {
        match ChartKind::from_name(&self.kind) {
            Some(kind) => Proposal { kind, columns: self.columns.clone() }.judge(data),
            None => Choice::Table { reason: "unknown kind of chart" },
        }
    }
}
