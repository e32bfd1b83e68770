//! The quality of plans compared with the same planner with everything in its prompt, i.e. the loss due to discovery;
//! and in [`wordings`], which correct and defective plans verification distinguishes.

pub mod wordings;

use prospector_core::tokens;
use prospector_discovery::Profile;
use serde::Serialize;

use crate::{
    agreement::{Agreement, PlanMeans},
    averages::{Average, mean},
    conversation::{self, Conversation},
    cost::{CachePrice, count_run},
    error::BenchError,
    estate::Setup,
    session::Session,
    table::Table,
};

/// The output of `planner bench plans`.
#[derive(Debug, Serialize)]
pub struct Report {
    pub(crate) model: String,
    pub(crate) planners: Vec<Planner>,
}

/// The results of one planner on one catalog.
#[derive(Debug, Serialize)]
pub(crate) struct Planner {
    pub(crate) estate: String,
    /// `discovery` or `everything`.
    pub(crate) planner: &'static str,
    /// The tool profile, if tools are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<Profile>,
    pub(crate) questions: usize,
    #[serde(flatten)]
    pub(crate) plan: PlanMeans,
    /// The share of questions for which all needed entries were revealed.
    pub(crate) strict_recall: f64,
    /// Context tokens.
    pub(crate) context: Average,
    /// Input tokens over all rounds.
    pub(crate) billed: Average,
    pub(crate) rounds: Average,
    pub(crate) each: Vec<Row>,
}

/// The result of one question.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    #[serde(flatten)]
    pub(crate) agreement: Agreement,
    pub(crate) context: usize,
    pub(crate) billed: usize,
    pub(crate) rounds: usize,
}

/// Plans every question by discovery, and with everything in the prompt; recorded runs are measured instead if given.
///
/// # Errors
/// If a catalog, its questions or the recorded runs cannot be read, if planning fails, or if the runs cannot be
/// written.
pub async fn measure(setup: &Setup<'_>) -> Result<Report, BenchError> {
    let replayed = setup.replay.as_deref().map(conversation::read).transpose()?;
    let mut report = Report { model: setup.model_name(replayed.as_deref()), planners: Vec::new() };
    let mut recorded = Vec::new();
    for source in &setup.sources {
        let estate = setup.open(source, replayed.as_deref()).await?;
        for profile in setup.profiles(replayed.as_deref()) {
            let session = setup.session(&estate, profile, setup.prompt);
            let runs = session.runs(&estate.questions, replayed.as_deref()).await?;
            let rows = runs.iter().map(|run| measure_discovery(&session, run)).collect();
            report.planners.push(Planner::of(estate.name.clone(), Some(profile), rows));
            recorded.extend(runs);
        }
        if replayed.is_none() {
            let session = setup.session(&estate, Profile::Full, None);
            let mut rows = Vec::with_capacity(estate.questions.len());
            for question in &estate.questions {
                rows.push(measure_preloaded(&session, &session.plan_preloaded(question).await?));
            }
            report.planners.push(Planner::of(estate.name.clone(), None, rows));
        }
    }
    setup.record(&recorded)?;
    Ok(report)
}

/// Measures one run by discovery.
fn measure_discovery(session: &Session<'_>, run: &Conversation) -> Row {
    let spent = count_run(run, CachePrice::of(&session.info));
    Row {
        id: run.question.id.clone(),
        agreement: Agreement::of(&run.plan, &run.shown, &session.resolve_needed(&run.question)),
        context: spent.parts.total(),
        billed: spent.billed,
        rounds: run.rounds.len(),
    }
}

/// Measures one single-round run with everything in the prompt.
fn measure_preloaded(session: &Session<'_>, run: &Conversation) -> Row {
    let full = usize::try_from(run.plan.metrics.tokens_full_prompt).unwrap_or(usize::MAX);
    let context = full + tokens::count(&run.question.query);
    let needed = session.resolve_needed(&run.question);
    Row {
        id: run.question.id.clone(),
        agreement: Agreement::of(&run.plan, &run.shown, &needed),
        context,
        billed: context,
        rounds: 1,
    }
}

impl Planner {
    /// Aggregates these rows; a planner without a profile has everything in its prompt.
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
    /// Renders the report as a Markdown table.
    pub fn table(&self) -> String {
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
