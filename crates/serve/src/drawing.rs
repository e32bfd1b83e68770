//! Charts of rows that a client has.

use prospector_chart::{ChartKind, Choice, Data, Proposal, VegaLite, choose};
use prospector_core::{Owner, work::compute};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{error::Refusal, rows::count_cells, server::Server};

/// More rows are not drawn.
const MAX_ROWS: usize = 10_000;

/// What is known of a cell while its chart is chosen, and what is written of a row, in bytes.
const CELL: usize = 256;
const ROW: usize = 1_024;

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
    /// What the rows are, with their filters: the title of the chart. Without it, the columns give one.
    #[serde(default)]
    title: String,
    /// The units of columns, as pairs of a name and a unit.
    #[serde(default)]
    units: Vec<(String, String)>,
    /// Whether there are more rows than these.
    #[serde(default)]
    has_more: bool,
    /// The names of what the rows were read from.
    #[serde(default)]
    sources: Vec<String>,
    /// In pixels.
    width: Option<u32>,
    /// A chart that is drawn where it suits the columns; else the rules choose.
    proposal: Option<ProposedChart>,
}

/// What somebody would draw.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProposedChart {
    /// As a chart has it: `bar`, `line`, ...
    kind: String,
    /// First what tells bars, lines or points apart, then what is measured.
    columns: Vec<String>,
}

/// The chart of a result, or why there is none.
#[derive(Serialize)]
pub(crate) struct Drawing {
    chart: Option<DrawnChart>,
    /// The number that the rows are about, where a single one says the most.
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<ShownHeadline>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Why the chart that was proposed is not drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<&'static str>,
}

#[derive(Serialize)]
struct DrawnChart {
    kind: String,
    title: String,
    /// The chart in words.
    description: String,
    vega: VegaLite,
    svg: String,
}

#[derive(Serialize)]
struct ShownHeadline {
    value: String,
    label: String,
    /// How it changed, or which part is the largest.
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
    /// 1 where it rose, -1 where it fell.
    direction: i8,
}

impl Drawing {
    /// The chart in words, or why there is none.
    pub(crate) fn describe(&self) -> &str {
        self.chart.as_ref().map_or_else(|| self.reason.unwrap_or_default(), |chart| &chart.description)
    }
}

impl Drawn {
    /// The memory that drawing it takes at most.
    ///
    /// # Errors
    /// More rows, columns or cells than are drawn, or a row with more cells than there are columns.
    pub(crate) fn estimate(&self) -> Result<usize, Refusal> {
        if self.rows.len() > MAX_ROWS {
            return Err(Refusal::invalid(format!("there are more than {MAX_ROWS} rows")).advise("aggregate them first"));
        }
        Ok(count_cells(&self.columns, &self.rows)? * CELL + self.rows.len() * ROW)
    }

    /// Draws it as the rules of charts have it. What is too large for it [`Drawn::estimate`] says.
    pub(crate) fn draw(&self) -> Drawing {
        let data = Data {
            question: &self.question,
            title: &self.title,
            units: &self.units,
            columns: &self.columns,
            rows: &self.rows,
            has_more: self.has_more,
            sources: &self.sources,
        };
        let headline = data.headline().map(|found| ShownHeadline {
            value: found.value,
            label: found.label,
            detail: found.detail,
            direction: found.direction,
        });
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
    /// Draws rows for this owner.
    ///
    /// # Errors
    /// As [`Drawn::estimate`], and where there is not enough memory left for it.
    pub(crate) async fn draw(&self, owner: &Owner, drawn: Drawn) -> Result<Drawing, Refusal> {
        let _reserved = self.reserve(owner, drawn.estimate()?)?;
        Ok(compute(move || drawn.draw()).await)
    }
}

impl ProposedChart {
    fn judge(&self, data: &Data<'_>) -> Choice {
        match ChartKind::from_name(&self.kind) {
            Some(kind) => Proposal { kind, columns: self.columns.clone() }.judge(data),
            None => Choice::Table { reason: "there is no such kind of chart" },
        }
    }
}
