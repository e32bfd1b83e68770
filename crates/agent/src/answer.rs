//! An answer with its sources.

use std::collections::{BTreeMap, BTreeSet};

use prospector_chart::{Chart, ChartKind, Choice, Data, Proposal, Use, VegaLite, choose};
use prospector_core::{named_enum, tool::finding::RowsWarning};
use prospector_engine::query::Outline;
use prospector_llm::purpose::Mode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    metrics::{Ended, Metrics},
    plan::PlanFact,
    status::AnswerStatus,
};

named_enum! {
    /// The kinds of sources of an answer, inferred from the run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Classification {
        /// Queries over data.
        Data = "data",
        /// Facts, documents or skills.
        Knowledge = "knowledge",
        /// Both.
        Mixed = "mixed",
        /// The run searched for nothing: a greeting, thanks, a question about the conversation.
        Conversational = "conversational",
        /// The answer declares the question out of scope.
        OutOfScope = "out_of_scope",
        /// Neither was found.
        #[default]
        None = "none",
    }
}

/// A query that ran, with its result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DataQuestion {
    /// Its number: `Q1`.
    pub id: String,
    /// What it asks.
    pub question: String,
    /// A description of the rows with their filters; empty where only the query is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The query, which `planner sql` can run again.
    pub sql: String,
    /// The database, where the query names tables without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// The databases that were read.
    pub databases: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The units of columns by name, if known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<(String, String)>,
    /// The returned rows.
    pub rows: Vec<Vec<Value>>,
    /// Whether there are more.
    pub has_more: bool,
    /// Evidence from the data that the query may not compute what it seems to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<RowsWarning>,
    /// The error of a failed query, which has no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The verified query that was run, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<VerifiedBy>,
    /// The earlier result that it repeats: `t2.Q1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reused: Option<String>,
}

/// A verified query and its verification.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VerifiedBy {
    /// The name of the query.
    pub query: String,
    /// Who verified it.
    pub by: String,
    /// The date of verification, `YYYY-MM-DD`.
    pub on: String,
}

impl DataQuestion {
    /// Returns the header of a column in tables: its name, with the declared unit unless the name ends with it.
    pub fn header(&self, at: usize) -> String {
        let Some(name) = self.columns.get(at) else { return String::new() };
        let unit = self.units.iter().find(|(of, _)| of.eq_ignore_ascii_case(name)).map(|(_, unit)| unit.as_str());
        let last = name.rsplit(['_', ' ']).next().unwrap_or_default();
        match unit.filter(|unit| !unit.is_empty() && !unit.eq_ignore_ascii_case(last)) {
            Some(unit) => format!("{name} ({unit})"),
            None => name.clone(),
        }
    }

    /// Returns the chart that fits the result, if one does.
    pub fn chart(&self) -> Option<Chart> {
        match choose(&self.data()) {
            Choice::Chart(chart) if self.error.is_none() => Some(*chart),
            Choice::Chart(_) | Choice::Table { .. } => None,
        }
    }

    /// Returns the result as the input of chart selection, with the uses of columns according to the SQL.
    pub fn data(&self) -> Data<'_> {
        Data {
            title: if self.title.is_empty() { &self.question } else { &self.title },
            columns: &self.columns,
            rows: &self.rows,
            has_more: self.has_more,
            sources: &self.databases,
            units: &self.units,
            uses: self.column_uses(),
        }
    }

    fn column_uses(&self) -> Vec<Option<Use>> {
        if self.sql.is_empty() {
            return Vec::new();
        }
        let outline = Outline::of(&self.sql);
        let of = |column: &String| match outline.function_of(column) {
            _ if outline.is_key(column) => Some(Use::Dimension),
            Some("count" | "sum") => Some(Use::Sum),
            Some(_) => Some(Use::Measure),
            None => (!outline.is_grouped).then_some(Use::Stored),
        };
        self.columns.iter().map(of).collect()
    }
}

/// The chart of an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AnswerChart {
    /// The query whose rows it shows: `Q1`.
    pub of: String,
    /// `bar`, `grouped_bar`, `stacked_bar`, `line`, `scatter` or `figure`.
    pub kind: String,
    /// The columns of a chart that the model proposed; empty for a chart that was selected automatically.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Alternative text.
    pub description: String,
    /// A Vega-Lite specification, version 5, with its data.
    pub vega: VegaLite,
}

impl AnswerChart {
    fn new(of: &str, chart: &Chart) -> Self {
        AnswerChart {
            of: of.to_owned(),
            kind: chart.kind().as_str().to_owned(),
            columns: Vec::new(),
            description: chart.describe(),
            vega: chart.vega(),
        }
    }
}

/// A chart proposed by the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProposedChart {
    pub(crate) of: String,
    pub(crate) kind: String,
    pub(crate) columns: Vec<String>,
}

/// A proposed chart that is not drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DroppedChart {
    /// The query: `Q1`.
    pub of: String,
    /// The proposed kind.
    pub kind: String,
    /// The proposed columns.
    pub columns: Vec<String>,
    /// Why it is not drawn.
    pub reason: String,
}

/// A summary of earlier turns, written by a model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Condensed {
    /// The number of summarised turns, from the first.
    pub turns: u32,
    /// The summary.
    pub text: String,
}

/// The kind of a derivation step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// A definition with source and confidence.
    #[default]
    Premise,
    /// A query with its result.
    Query,
    /// A sentence of the answer.
    Conclusion,
}

/// A step of the derivation of an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DerivationStep {
    /// `P1`, `Q1`, `C1`.
    pub id: String,
    /// The kind of the step.
    pub kind: StepKind,
    /// The definition, the question of the query, or the sentence.
    pub text: String,
    /// The source of a definition, or the SQL of a query.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The confidence of a definition, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The steps that a conclusion is based on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<String>,
    /// Why a conclusion does not follow from them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A sentence with its citations.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Claim {
    /// The sentence.
    pub text: String,
    /// The queries that it cites.
    pub references: Vec<String>,
    /// The columns whose values it states, by query; `*` if they are not certain.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Vec<String>>,
    /// The rows whose values it states, by query, from 0.
    #[serde(skip)]
    pub rows: BTreeMap<String, BTreeSet<usize>>,
    /// The derived numbers, each with its derivation from values of results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<String>,
    /// Why it could not be traced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// The outcome of tracing an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tracing {
    /// Whether every factual sentence could be traced.
    pub ok: bool,
    /// The number of references and numbers checked.
    pub checked: usize,
    /// The factual sentences.
    pub claims: Vec<Claim>,
}

/// What `planner ask` prints.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Answered {
    /// The question.
    pub question: String,
    /// How it was answered.
    pub mode: Mode,
    /// The model that answered it.
    pub model: String,
    /// Whether the question is answered, and how far.
    pub status: AnswerStatus,
    /// What is missing, untraced, truncated or has a warning in a partial answer: one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// Warnings about columns of the cited queries that the answer does not state; they do not change the status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The answer, in which untraced sentences are marked.
    pub answer: String,
    /// Whether the run ended before the model answered; then the answer lists the findings so far.
    pub best_effort: bool,
    /// The kinds of sources used.
    pub classification: Classification,
    /// The queries, `Q1` first.
    pub questions: Vec<DataQuestion>,
    /// The chart of a result; `None` if a table or a sentence is clearer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart: Option<AnswerChart>,
    /// Proposed charts that are not drawn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped_charts: Vec<DroppedChart>,
    /// The definitions used, with source and confidence.
    pub premises: Vec<PlanFact>,
    /// The derivation of an auditable answer: definitions, queries, and the sentences based on them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derivation: Vec<DerivationStep>,
    /// Clarifying questions to the user.
    pub clarifications: Vec<String>,
    /// What the question may mean, if the answer lists it by number: the next question may be a number or a text of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The reasoning notes of the model, in order.
    pub thinking: Vec<String>,
    /// The outcome of tracing.
    pub tracing: Tracing,
    /// Suggested follow-up questions.
    pub follow_ups: Vec<String>,
    /// The summary of earlier turns that no longer fit the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condensed: Option<Condensed>,
    /// Cost and durations, including those of the summary.
    pub metrics: Metrics,
    /// Why the run ended.
    pub ended: Ended,
}

impl Answered {
    /// Returns the chart of the answer with its query: the chart that the model proposed, else that of the last cited query with a chart,
    /// else that of the last query with one.
    pub fn find_chart(&self) -> Option<(&DataQuestion, Chart)> {
        if let Some(AnswerChart { of, kind, columns, .. }) = &self.chart
            && !columns.is_empty()
            && let Choice::Chart(chart) = self.judge_chart(of, kind, columns)
        {
            return Some((self.find_result(of)?, *chart));
        }
        let is_cited =
            |question: &&DataQuestion| self.tracing.claims.iter().any(|one| one.references.contains(&question.id));
        let cited = self.questions.iter().rev().filter(is_cited);
        cited.chain(self.questions.iter().rev()).find_map(|question| Some((question, question.chart()?)))
    }

    /// Returns the last successful query written for this answer; repeated results and verified queries are skipped.
    pub fn last_own_query(&self) -> Option<&DataQuestion> {
        self.questions.iter().rev().find(|query| {
            query.error.is_none() && query.reused.is_none() && query.verified.is_none() && !query.sql.is_empty()
        })
    }

    /// Sets the chart: the first valid proposal, else the automatic selection.
    pub(crate) fn with_chart(mut self, proposed: Vec<ProposedChart>) -> Self {
        for ProposedChart { of, kind, columns } in proposed {
            let reason = match self.judge_chart(&of, &kind, &columns) {
                Choice::Chart(chart) if self.chart.is_none() => {
                    self.chart = Some(AnswerChart { columns, ..AnswerChart::new(&of, &chart) });
                    continue;
                }
                Choice::Chart(_) => "another chart is drawn",
                Choice::Table { reason } => reason,
            };
            self.dropped_charts.push(DroppedChart { of, kind, columns, reason: reason.to_owned() });
        }
        if self.chart.is_none() {
            self.chart = self.find_chart().map(|(question, chart)| AnswerChart::new(&question.id, &chart));
        }
        self
    }

    /// Validates a proposed chart.
    fn judge_chart(&self, of: &str, kind: &str, columns: &[String]) -> Choice {
        let Some(result) = self.find_result(of) else { return Choice::Table { reason: "unknown result" } };
        let Some(kind) = ChartKind::from_name(kind) else {
            return Choice::Table { reason: "unknown chart kind" };
        };
        Proposal { kind, columns: columns.to_vec() }.judge(&result.data())
    }

    /// Returns the successful query with this number.
    fn find_result(&self, id: &str) -> Option<&DataQuestion> {
        self.questions.iter().find(|question| question.id == id && question.error.is_none())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns an answer with a year of orders.
    fn answered() -> Answered {
        let months = (1..=12).map(|at| vec![json!(format!("2025-{at:02}")), json!(100 + at), json!(90 - at)]);
        let result = DataQuestion {
            id: "Q1".into(),
            columns: ["month", "orders", "returns"].map(str::to_owned).to_vec(),
            rows: months.collect(),
            ..DataQuestion::default()
        };
        let failed = DataQuestion { id: "Q2".into(), error: Some("no".into()), ..DataQuestion::default() };
        Answered { questions: vec![result, failed], ..Answered::default() }
    }

    fn propose(of: &str, kind: &str, columns: &[&str]) -> ProposedChart {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        ProposedChart { of: of.into(), kind: kind.into(), columns }
    }

    #[test]
    fn draws_valid_proposal() {
        let answered = answered().with_chart(vec![propose("Q1", "bar", &["month", "orders"])]);
        let chart = answered.chart.clone().unwrap();
        assert_eq!((chart.kind.as_str(), chart.columns.len()), ("bar", 2), "automatic selection would draw two lines");
        assert_eq!(answered.dropped_charts, []);
        // A deserialized answer has the same chart.
        let read: Answered = serde_json::from_str(&serde_json::to_string(&answered).unwrap()).unwrap();
        assert_eq!(read.find_chart().unwrap().1.describe(), chart.description);
    }

    #[test]
    fn drops_invalid_proposal_and_selects_chart() {
        let check = |proposed: ProposedChart, expected: &str| {
            let answered = answered().with_chart(vec![proposed.clone()]);
            let chart = answered.chart.unwrap();
            assert_eq!((chart.kind.as_str(), chart.columns.len()), ("line", 0), "{proposed:?}");
            let [dropped] = &answered.dropped_charts[..] else { panic!("{proposed:?}") };
            assert_eq!((dropped.reason.as_str(), &dropped.columns), (expected, &proposed.columns));
        };
        check(propose("Q1", "line", &["month", "revenue"]), "the result does not have these columns");
        check(propose("Q1", "pie", &["month", "orders"]), "unknown chart kind");
        check(propose("Q2", "bar", &["month", "orders"]), "unknown result");
        check(propose("Q9", "bar", &["month", "orders"]), "unknown result");
        check(
            propose("Q1", "stacked bar", &["month", "orders", "returns"]),
            "stacked bars need two categories and an additive measure",
        );
    }

    #[test]
    fn reads_uses_of_columns_from_sql() {
        let uses = |sql: &str, columns: &[&str]| {
            let columns = columns.iter().map(|&name| name.to_owned()).collect();
            DataQuestion { sql: sql.into(), columns, ..DataQuestion::default() }.data().uses
        };
        let grouped = "SELECT hour(at) AS hour, COUNT(*) AS orders, ROUND(AVG(total), 2) AS mean, SUM(a) / SUM(b) AS share \
                       FROM t GROUP BY 1";
        assert_eq!(
            uses(grouped, &["hour", "orders", "mean", "share"]),
            [Some(Use::Dimension), Some(Use::Sum), Some(Use::Measure), None]
        );
        assert_eq!(uses("SELECT name, phone FROM t", &["name", "phone"]), [Some(Use::Stored); 2]);
        assert_eq!(uses("", &["name"]), []);
    }

    #[test]
    fn draws_first_of_several_proposals() {
        let both = vec![propose("Q1", "line", &["month", "returns"]), propose("Q1", "line", &["month", "orders"])];
        let answered = answered().with_chart(both);
        assert_eq!(answered.chart.unwrap().columns, ["month", "returns"]);
        assert_eq!(answered.dropped_charts[0].reason, "another chart is drawn");
    }
}
