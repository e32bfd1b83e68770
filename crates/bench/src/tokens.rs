//! Token savings of discovery: the tokens per question, compared with a prompt that contains everything.
//!
//! *Everything* is one prompt with the output of the tools for the whole catalog, as compact text: all columns of a
//! table with types, keys and descriptions, the parameters, body and response of an operation, and the text of a
//! document.

pub mod tool_lists;

use prospector_agent::plan::{Ended, INSTRUCTIONS};
use prospector_core::{record::Resource, tokens};
use prospector_discovery::{
    DiscoveryTools, Profile,
    prompt::{PromptBuilder, PromptForm},
};
use prospector_llm::Message;
use serde::Serialize;

use crate::{
    averages::{Average, mean, round},
    cost::count_run,
    error::BenchError,
    estate::{self, Setup},
    questions::Question,
    session::{self, Run},
    table::Table,
};

/// The output of `planner bench tokens`.
#[derive(Debug, Serialize)]
pub struct Report {
    model: String,
    profile: Profile,
    estates: Vec<Estate>,
}

/// The results of one catalog.
#[derive(Debug, Serialize)]
struct Estate {
    estate: String,
    questions: usize,
    /// A prompt with everything.
    everything: Average,
    /// Each distinct token once.
    context: Average,
    /// The input of all rounds.
    billed: Average,
    /// The share of everything that discovery saves: context, and input of all rounds.
    context_saved: f64,
    billed_saved: f64,
    rounds: Average,
    /// The share of questions for which all needed entries were revealed.
    shown: f64,
    /// The share of questions whose plan passes verification.
    verified: f64,
    each: Vec<Row>,
}

/// The result of one question; tokens by o200k.
#[derive(Debug, Serialize)]
struct Row {
    id: String,
    form: PromptForm,
    everything: usize,
    context: usize,
    billed: usize,
    rounds: usize,
    shown: bool,
    verified: bool,
}

/// Plans every question by discovery and counts tokens.
///
/// # Errors
/// If a catalog or its questions cannot be read, or if planning fails.
pub async fn measure(setup: &Setup<'_>) -> Result<Report, BenchError> {
    let mut report = Report { model: setup.model.name().to_owned(), profile: setup.profile, estates: Vec::new() };
    for source in &setup.sources {
        let estate = setup.open(source).await?;
        let tools = DiscoveryTools::new(&estate.catalog, setup.profile).without_user();
        let everything = PromptBuilder::new(&estate.catalog, &tools, INSTRUCTIONS).tokens_of_everything();
        let mut rows = Vec::with_capacity(estate.questions.len());
        for question in &estate.questions {
            let run = session::plan(setup, &estate, question).await?;
            rows.push(Row::of(&estate, question, everything, &run));
        }
        report.estates.push(Estate::of(estate.name, rows));
    }
    Ok(report)
}

impl Row {
    fn of(estate: &estate::Estate, question: &Question, everything: usize, run: &Run) -> Row {
        let spent = count_run(&run.requests);
        // The question as sent to the model, or as written if no model was called.
        let asked = match run.requests.first().and_then(|request| request.messages.first()) {
            Some(Message::User { text }) => text,
            _ => &question.query,
        };
        let kinds = question.kinds(None);
        let is_shown = |name: &String| {
            let target = estate.names.resolve(name, &kinds);
            target.is_some_and(|(kind, id)| run.shown.contains(&Resource::new(kind.into(), id)))
        };
        Row {
            id: question.id.clone(),
            form: run.form,
            everything: everything + tokens::count(asked),
            context: spent.context,
            billed: spent.billed,
            rounds: run.requests.len(),
            shown: question.gold.iter().all(is_shown),
            verified: run.plan.verification.failed.is_empty() && run.plan.ended == Ended::Completed,
        }
    }
}

impl Estate {
    /// Aggregates these rows.
    fn of(estate: String, each: Vec<Row>) -> Estate {
        let of = |measure: fn(&Row) -> usize| Average::of(each.iter().map(|row| measure(row) as f64));
        let share = |measure: fn(&Row) -> bool| mean(each.iter().map(|row| f64::from(u8::from(measure(row)))));
        let (everything, context, billed) = (of(|row| row.everything), of(|row| row.context), of(|row| row.billed));
        let saved = |used: Average| if everything.mean > 0.0 { round(1.0 - used.mean / everything.mean) } else { 0.0 };
        Estate {
            estate,
            questions: each.len(),
            everything,
            context,
            billed,
            context_saved: saved(context),
            billed_saved: saved(billed),
            rounds: of(|row| row.rounds),
            shown: share(|row| row.shown),
            verified: share(|row| row.verified),
            each,
        }
    }
}

impl Report {
    /// Renders the report as a Markdown table of means, with the median of the context.
    pub fn table(&self) -> String {
        let heads = ["estate", "n", "everything", "context", "median", "saved %", "billed", "saved %"];
        let mut table = Table::new(heads.into_iter().chain(["shown", "verified", "rounds"]));
        for estate in &self.estates {
            let whole = |number: f64| format!("{number:.0}");
            let percent = |share: f64| format!("{:.1}", share * 100.0);
            table.row(vec![
                estate.estate.clone(),
                estate.questions.to_string(),
                whole(estate.everything.mean),
                whole(estate.context.mean),
                whole(estate.context.median),
                percent(estate.context_saved),
                whole(estate.billed.mean),
                percent(estate.billed_saved),
                format!("{:.3}", estate.shown),
                format!("{:.3}", estate.verified),
                format!("{:.1}", estate.rounds.mean),
            ]);
        }
        format!("{table}\nModel {}, {} tools; tokens by o200k.\n", self.model, self.profile)
    }
}
