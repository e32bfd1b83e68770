//! An answer, and what it rests on.

use prospector_chart::{Chart, ChartKind, Choice, Data, Proposal, VegaLite, choose};
use prospector_llm::purpose::Mode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    metrics::{Ended, Metrics},
    plan::PlanFact,
    status::AnswerStatus,
};

/// What an answer was made of, inferred from what the run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Classification {
    /// Queries over data.
    Data,
    /// Facts, documents or skills.
    Knowledge,
    /// Both.
    Mixed,
    /// Neither was looked for: a greeting, a word of thanks, a question about what was said.
    Conversational,
    /// Nothing that a catalog like this could hold, as the answer says.
    OutOfScope,
    /// Neither was found.
    #[default]
    None,
}

impl Classification {
    /// The word for it in JSON and in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Classification::Data => "data",
            Classification::Knowledge => "knowledge",
            Classification::Mixed => "mixed",
            Classification::Conversational => "conversational",
            Classification::OutOfScope => "out_of_scope",
            Classification::None => "none",
        }
    }
}

/// A data question: a query that ran, and what it gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DataQuestion {
    /// Its number: `Q1`.
    pub id: String,
    /// What it asks.
    pub question: String,
    /// What its rows are, in words and with their filters; empty where only the query tells.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The query; the derivation that can be run again with `planner sql`.
    pub sql: String,
    /// The database, where the query names tables without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// The databases that were read.
    pub databases: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The units of columns, by name, where they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<(String, String)>,
    /// The rows as they were shown.
    pub rows: Vec<Vec<Value>>,
    /// Whether there are more.
    pub has_more: bool,
    /// Evidence from the data that the query may not compute what it seems to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Why it failed; then there are no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The verified query that it is, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<VerifiedBy>,
    /// The earlier result that it shows again: `t2.Q1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reused: Option<String>,
}

/// A verified query, and who has checked it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VerifiedBy {
    /// Its name.
    pub query: String,
    /// Who.
    pub by: String,
    /// When, `YYYY-MM-DD`.
    pub on: String,
}

impl DataQuestion {
    /// The chart that shows it, where one does.
    pub fn chart(&self) -> Option<Chart> {
        match choose(&self.data()) {
            Choice::Chart(chart) if self.error.is_none() => Some(*chart),
            Choice::Chart(_) | Choice::Table { .. } => None,
        }
    }

    fn data(&self) -> Data<'_> {
        Data {
            question: &self.question,
            title: &self.title,
            units: &self.units,
            columns: &self.columns,
            rows: &self.rows,
            has_more: self.has_more,
            sources: &self.databases,
        }
    }
}

/// The chart of an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AnswerChart {
    /// The query whose rows it shows: `Q1`.
    pub of: String,
    /// `bar`, `grouped_bar`, `stacked_bar`, `line`, `scatter` or `figure`.
    pub kind: String,
    /// Of a chart that the model proposed, the columns that it named; empty where the rules of charts have chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// What it shows, for whoever does not see it.
    pub description: String,
    /// How it is drawn: a specification of Vega-Lite, version 5, with its data.
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

/// A chart that the model proposes, as it says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProposedChart {
    pub(crate) of: String,
    pub(crate) kind: String,
    pub(crate) columns: Vec<String>,
}

/// A chart that the model proposed, and that is not drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DroppedChart {
    /// The query: `Q1`.
    pub of: String,
    /// As the model named it.
    pub kind: String,
    /// The columns that it named.
    pub columns: Vec<String>,
    /// Why not.
    pub reason: String,
}

/// Turns of a conversation in a few words, as a model wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Condensed {
    /// How many turns, from the first.
    pub turns: u32,
    /// The words.
    pub text: String,
}

/// What a step of a derivation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// What somebody says, with source and confidence.
    #[default]
    Premise,
    /// What a query gave.
    Query,
    /// A sentence of the answer.
    Conclusion,
}

/// A step of the way from what is known to what is said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DerivationStep {
    /// `P1`, `Q1`, `C1`.
    pub id: String,
    /// What it is.
    pub kind: StepKind,
    /// The definition, the question of the query, or the sentence.
    pub text: String,
    /// Where a premise stands, or the SQL of a query.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// How sure a premise is, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The steps that a conclusion rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<String>,
    /// Why a conclusion does not follow from them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A sentence with what it rests on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Claim {
    /// The sentence.
    pub text: String,
    /// The queries that it cites.
    pub references: Vec<String>,
    /// The numbers that are not values of a result themselves, and how they follow from them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<String>,
    /// Why it could not be traced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// What was checked in an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tracing {
    /// Whether every factual sentence could be traced.
    pub ok: bool,
    /// How many references and numbers were checked.
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
    /// How far the question is answered.
    pub status: AnswerStatus,
    /// Of a partial answer, what is missing, untraced, truncated or has a warning: a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// The answer; what could not be traced is marked in it.
    pub answer: String,
    /// Whether the run ended before the model had an answer; then this is what the data showed until then.
    pub best_effort: bool,
    /// What it was made of.
    pub classification: Classification,
    /// The data questions, `Q1` first.
    pub questions: Vec<DataQuestion>,
    /// The chart that shows best what the queries gave; none where a table or a sentence does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart: Option<AnswerChart>,
    /// The charts that the model proposed and that are not drawn; then the rules of charts have chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped_charts: Vec<DroppedChart>,
    /// What it rests on beside data: definitions with source and confidence.
    pub premises: Vec<PlanFact>,
    /// Of an auditable answer, the way to it: its premises, its queries, and the sentences that rest on them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derivation: Vec<DerivationStep>,
    /// What is asked back.
    pub clarifications: Vec<String>,
    /// The model's thoughts, in order.
    pub thinking: Vec<String>,
    /// What was checked in the answer.
    pub tracing: Tracing,
    /// What may be asked next.
    pub follow_ups: Vec<String>,
    /// What the model was told of the first turns of the conversation, where they had become too long to be told whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condensed: Option<Condensed>,
    /// What it cost, summary and follow-ups included.
    pub metrics: Metrics,
    /// Why the run ended.
    pub ended: Ended,
}

impl Answered {
    /// The query that a chart shows best, with it: as the model proposed it, else the last that the answer cites, else the last
    /// that has one.
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

    /// The last query that was written for this answer: none that was shown again, and none that somebody has checked already.
    pub fn last_own_query(&self) -> Option<&DataQuestion> {
        self.questions.iter().rev().find(|query| {
            query.error.is_none() && query.reused.is_none() && query.verified.is_none() && !query.sql.is_empty()
        })
    }

    /// The same with its chart: the first that the model proposed and the rules of charts allow, else what they choose.
    pub(crate) fn with_chart(mut self, proposed: Vec<ProposedChart>) -> Self {
        for ProposedChart { of, kind, columns } in proposed {
            let reason = match self.judge_chart(&of, &kind, &columns) {
                Choice::Chart(chart) if self.chart.is_none() => {
                    self.chart = Some(AnswerChart { columns, ..AnswerChart::new(&of, &chart) });
                    continue;
                }
                Choice::Chart(_) => "another is drawn",
                Choice::Table { reason } => reason,
            };
            self.dropped_charts.push(DroppedChart { of, kind, columns, reason: reason.to_owned() });
        }
        if self.chart.is_none() {
            self.chart = self.find_chart().map(|(question, chart)| AnswerChart::new(&question.id, &chart));
        }
        self
    }

    /// What the rules of charts say of one that is proposed.
    fn judge_chart(&self, of: &str, kind: &str, columns: &[String]) -> Choice {
        let Some(result) = self.find_result(of) else { return Choice::Table { reason: "there is no such result" } };
        let Some(kind) = ChartKind::from_name(kind) else {
            return Choice::Table { reason: "there is no such kind of chart" };
        };
        Proposal { kind, columns: columns.to_vec() }.judge(&result.data())
    }

    /// The query of that number, where it gave rows.
    fn find_result(&self, id: &str) -> Option<&DataQuestion> {
        self.questions.iter().find(|question| question.id == id && question.error.is_none())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// An answer over a year of orders.
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
    fn a_good_proposal_is_drawn() {
        let answered = answered().with_chart(vec![propose("Q1", "bar", &["month", "orders"])]);
        let chart = answered.chart.clone().unwrap();
        assert_eq!((chart.kind.as_str(), chart.columns.len()), ("bar", 2), "the rules would draw two lines");
        assert_eq!(answered.dropped_charts, []);
        // Whoever reads the answer again finds the same chart.
        let read: Answered = serde_json::from_str(&serde_json::to_string(&answered).unwrap()).unwrap();
        assert_eq!(read.find_chart().unwrap().1.describe(), chart.description);
    }

    #[test]
    fn a_bad_proposal_is_dropped_and_the_rules_decide() {
        let check = |proposed: ProposedChart, expected: &str| {
            let answered = answered().with_chart(vec![proposed.clone()]);
            let chart = answered.chart.unwrap();
            assert_eq!((chart.kind.as_str(), chart.columns.len()), ("line", 0), "{proposed:?}");
            let [dropped] = &answered.dropped_charts[..] else { panic!("{proposed:?}") };
            assert_eq!((dropped.reason.as_str(), &dropped.columns), (expected, &proposed.columns));
        };
        check(propose("Q1", "line", &["month", "revenue"]), "the result does not have these columns");
        check(propose("Q1", "pie", &["month", "orders"]), "there is no such kind of chart");
        check(propose("Q2", "bar", &["month", "orders"]), "there is no such result");
        check(propose("Q9", "bar", &["month", "orders"]), "there is no such result");
        check(
            propose("Q1", "stacked bar", &["month", "orders", "returns"]),
            "stacked bars want parts of two categories that may be added up",
        );
    }

    #[test]
    fn of_several_proposals_one_is_drawn() {
        let both = vec![propose("Q1", "line", &["month", "returns"]), propose("Q1", "line", &["month", "orders"])];
        let answered = answered().with_chart(both);
        assert_eq!(answered.chart.unwrap().columns, ["month", "returns"]);
        assert_eq!(answered.dropped_charts[0].reason, "another is drawn");
    }
}
