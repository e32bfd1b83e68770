//! How good the plans are, beside those of the same planner with everything in its prompt: what discovery loses.

use prospector_core::tokens;
use prospector_discovery::Profile;
use serde::Serialize;

use super::{
    agreement::Agreement,
    averages::{Average, mean},
    conversation::Conversation,
    economy::{CachePrice, spent},
    session::Session,
    table::Table,
    tokens::PlanMeans,
};

/// What `planner bench plans` prints.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) model: String,
    pub(crate) planners: Vec<Planner>,
}

/// The measures of one planner on one catalog.
#[derive(Debug, Serialize)]
pub(crate) struct Planner {
    pub(crate) estate: String,
    /// `discovery` or `everything`.
    pub(crate) planner: &'static str,
    /// The tools, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<Profile>,
    pub(crate) questions: usize,
    #[serde(flatten)]
    pub(crate) plan: PlanMeans,
    /// The share of questions whose every needed thing was shown.
    pub(crate) strict_recall: f64,
    /// Tokens of the context.
    pub(crate) context: Average,
    /// Input tokens over all rounds.
    pub(crate) billed: Average,
    pub(crate) rounds: Average,
    pub(crate) each: Vec<Row>,
}

/// One question.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) agreement: Agreement,
    pub(crate) context: usize,
    pub(crate) billed: usize,
    pub(crate) rounds: usize,
}

/// Measures one run by discovery.
pub(crate) fn discovered(session: &Session<'_>, run: &Conversation) -> Row {
    let spent = spent(run, CachePrice::of(&session.info));
    Row {
        id: run.question.id.clone(),
        agreement: Agreement::of(&run.plan, &run.shown, &session.needed(&run.question)),
        context: spent.parts.total(),
        billed: spent.billed,
        rounds: run.rounds.len(),
    }
}

/// Measures one run with everything in the prompt, which is one round.
pub(crate) fn preloaded(session: &Session<'_>, run: &Conversation) -> Row {
    let full = usize::try_from(run.plan.metrics.tokens_full_prompt).unwrap_or(usize::MAX);
    let context = full + tokens::count(&run.question.query);
    let needed = session.needed(&run.question);
    Row {
        id: run.question.id.clone(),
        agreement: Agreement::of(&run.plan, &run.shown, &needed),
        context,
        billed: context,
        rounds: 1,
    }
}

impl Planner {
    /// The measures of these rows; a planner without a profile has everything in its prompt.
    pub(crate) fn of(estate: String, profile: Option<Profile>, each: Vec<Row>) -> Planner {
        let of = |measure: &dyn Fn(&Row) -> f64| Average::of(each.iter().map(measure));
        Planner {
            estate,
            planner: if profile.is_some() { "discovery" } else { "everything" },
            profile,
            questions: each.len(),
            plan: PlanMeans::of(each.iter().map(|row| &row.agreement)),
            strict_recall: mean(each.iter().map(|row| f64::from(u8::from(row.agreement.shown)))),
            context: of(&|row| row.context as f64),
            billed: of(&|row| row.billed as f64),
            rounds: of(&|row| row.rounds as f64),
            each,
        }
    }
}

impl Report {
    /// The report as a table for people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new([
            "estate",
            "planner",
            "tools",
            "n",
            "precision",
            "recall",
            "F1",
            "verified",
            "shown",
            "context",
            "billed",
            "rounds",
        ]);
        for one in &self.planners {
            let PlanMeans { precision, recall, f1, verified } = one.plan;
            let mut row = vec![
                one.estate.clone(),
                one.planner.to_owned(),
                one.profile.map_or("-", Profile::as_str).to_owned(),
                one.questions.to_string(),
            ];
            row.extend([precision, recall, f1, verified, one.strict_recall].map(|value| format!("{value:.3}")));
            row.extend([one.context, one.billed].map(|tokens| format!("{:.0}", tokens.mean)));
            row.push(format!("{:.1}", one.rounds.mean));
            table.row(row);
        }
        format!("{table}\nModel {}; tokens by o200k, means.\n", self.model)
    }
}
