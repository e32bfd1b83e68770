//! Token savings and cost of discovery: the tokens per question, compared with a prompt that contains everything, and
//! with an oracle that contains only what is needed.
//!
//! *Everything* is one prompt with the output of the tools for the whole catalog, as compact text: all columns of a
//! table with types, keys and descriptions, the parameters, body and response of an operation, and the text of a
//! document. The *outline* is the planner's own full prompt: one line per operation, the headings of a document. The
//! *oracle* contains only the needed entries, in the form of everything.

pub mod tool_lists;

use prospector_agent::plan::INSTRUCTIONS;
use prospector_core::tokens;
use prospector_discovery::{
    DiscoveryTools, Profile,
    prompt::{PromptBuilder, PromptForm},
};
use prospector_llm::models::ModelInfo;
use serde::Serialize;

use crate::{
    agreement::{Agreement, PlanMeans},
    averages::{Average, mean, round},
    conversation::{self, Conversation},
    cost::{CachePrice, ContextParts, count_run},
    error::BenchError,
    estate::Setup,
    questions::Question,
    session::Session,
    table::Table,
};

/// The output of `planner bench tokens`.
#[derive(Debug, Serialize)]
pub struct Report {
    pub(crate) model: String,
    /// The model whose cache prices are used.
    pub(crate) prices: String,
    pub(crate) estates: Vec<Estate>,
}

/// The model whose prices for cached input are used.
pub struct Prices {
    /// Its name.
    pub model: String,
    /// Its metadata.
    pub info: ModelInfo,
}

/// The results of one catalog with one tool profile.
#[derive(Debug, Serialize)]
pub(crate) struct Estate {
    pub(crate) estate: String,
    pub(crate) profile: Profile,
    pub(crate) questions: usize,
    pub(crate) tokens: Tokens,
    pub(crate) saved: Saved,
    /// Mean context tokens by part.
    pub(crate) parts: PartMeans,
    /// Context tokens relative to the oracle, per question.
    pub(crate) times_oracle: Average,
    /// Ratio of the mean context tokens to the mean tokens of the oracle.
    pub(crate) times_oracle_in_all: f64,
    /// The share of questions for which all needed entries were revealed.
    pub(crate) strict_recall: f64,
    pub(crate) plan: PlanMeans,
    pub(crate) rounds: Average,
    pub(crate) each: Vec<Row>,
}

/// Tokens (o200k).
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tokens {
    pub(crate) everything: Average,
    /// A prompt with everything, of which all but the question is cached.
    pub(crate) everything_cached: Average,
    pub(crate) outline: Average,
    pub(crate) context: Average,
    pub(crate) billed: Average,
    pub(crate) cached: Average,
    pub(crate) oracle: Average,
    pub(crate) output: Average,
    /// Input tokens over all rounds as reported by the provider; an estimate for `offline`.
    pub(crate) reported: Average,
}

/// The share of everything that discovery saves, computed from the means.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Saved {
    pub(crate) context: f64,
    pub(crate) billed: f64,
    /// Both with a cache.
    pub(crate) cached: f64,
    /// Context compared with the outline.
    pub(crate) outline: f64,
}

/// Means of [`ContextParts`].
#[derive(Debug, Default, Serialize)]
pub(crate) struct PartMeans {
    pub(crate) system: f64,
    pub(crate) tools: f64,
    pub(crate) asked: f64,
    pub(crate) calls: f64,
    pub(crate) results: f64,
}

/// The result of one question.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) form: String,
    pub(crate) everything: usize,
    pub(crate) outline: usize,
    pub(crate) oracle: usize,
    pub(crate) context: usize,
    pub(crate) billed: usize,
    pub(crate) cached: f64,
    pub(crate) output: usize,
    pub(crate) reported: u64,
    pub(crate) rounds: usize,
    pub(crate) parts: ContextParts,
    #[serde(flatten)]
    pub(crate) agreement: Agreement,
    #[serde(skip)]
    everything_cached: f64,
}

/// The reference prompts of a catalog.
struct Yardsticks {
    everything: usize,
    outline: usize,
}

impl Yardsticks {
    fn of(session: &Session<'_>) -> Yardsticks {
        let tools = DiscoveryTools::new(session.catalog, session.profile).without_user();
        let builder = PromptBuilder::new(session.catalog, &tools, INSTRUCTIONS);
        let prompt = PromptBuilder::new(session.catalog, &tools, INSTRUCTIONS).form(Some(PromptForm::Minimal));
        let outline = prompt.build(&session.info, "").tokens.full_prompt;
        Yardsticks { everything: builder.tokens_of_everything(), outline }
    }
}

/// Plans every question by discovery and counts tokens; recorded runs are counted instead if given.
///
/// # Errors
/// If a catalog, its questions or the recorded runs cannot be read, if planning fails, or if the runs cannot be
/// written.
pub async fn measure(setup: &Setup<'_>, prices: &Prices) -> Result<Report, BenchError> {
    let price = CachePrice::of(&prices.info);
    let replayed = setup.replay.as_deref().map(conversation::read).transpose()?;
    let model = setup.model_name(replayed.as_deref());
    let mut report = Report { model, prices: prices.model.clone(), estates: Vec::new() };
    let mut recorded = Vec::new();
    for source in &setup.sources {
        let estate = setup.open(source, replayed.as_deref()).await?;
        for profile in setup.profiles(replayed.as_deref()) {
            let session = setup.session(&estate, profile, setup.prompt);
            let yardsticks = Yardsticks::of(&session);
            let runs = session.runs(&estate.questions, replayed.as_deref()).await?;
            let rows = runs.iter().map(|run| row(&session, &yardsticks, price, run)).collect();
            report.estates.push(Estate::of(estate.name.clone(), profile, rows));
            recorded.extend(runs);
        }
    }
    setup.record(&recorded)?;
    Ok(report)
}

/// Measures one run.
fn row(session: &Session<'_>, yardsticks: &Yardsticks, price: CachePrice, run: &Conversation) -> Row {
    let question: &Question = &run.question;
    let tools = DiscoveryTools::new(session.catalog, run.profile).without_user();
    let builder = PromptBuilder::new(session.catalog, &tools, INSTRUCTIONS);
    let spent = count_run(run, price);
    // The question as sent to the model, or as written if no model was called.
    let asked = run.rounds.first().and_then(|round| match round.messages.first() {
        Some(prospector_llm::Message::User { text }) => Some(tokens::count(text)),
        _ => None,
    });
    let asked = asked.unwrap_or_else(|| tokens::count(&question.query));
    Row {
        id: question.id.clone(),
        form: run.form.clone(),
        everything: yardsticks.everything + asked,
        outline: yardsticks.outline + asked,
        oracle: builder.tokens_of(&session.least(question)) + asked,
        context: spent.parts.total(),
        billed: spent.billed,
        cached: round(spent.cached),
        output: spent.output,
        reported: run.rounds.iter().map(|round| round.response.usage.input_tokens).sum(),
        rounds: run.rounds.len(),
        parts: spent.parts,
        agreement: Agreement::of(&run.plan, &run.shown, &session.resolve_needed(question)),
        everything_cached: price.one_round(yardsticks.everything, asked),
    }
}

impl Estate {
    /// Aggregates these rows.
    pub(crate) fn of(estate: String, profile: Profile, each: Vec<Row>) -> Estate {
        let of = |measure: &dyn Fn(&Row) -> f64| Average::of(each.iter().map(measure));
        let tokens = Tokens {
            everything: of(&|row| row.everything as f64),
            everything_cached: of(&|row| row.everything_cached),
            outline: of(&|row| row.outline as f64),
            context: of(&|row| row.context as f64),
            billed: of(&|row| row.billed as f64),
            cached: of(&|row| row.cached),
            oracle: of(&|row| row.oracle as f64),
            output: of(&|row| row.output as f64),
            reported: of(&|row| row.reported as f64),
        };
        let part = |measure: &dyn Fn(&ContextParts) -> usize| mean(each.iter().map(|row| measure(&row.parts) as f64));
        Estate {
            estate,
            profile,
            questions: each.len(),
            saved: Saved {
                context: share_saved(tokens.context, tokens.everything),
                billed: share_saved(tokens.billed, tokens.everything),
                cached: share_saved(tokens.cached, tokens.everything_cached),
                outline: share_saved(tokens.context, tokens.outline),
            },
            parts: PartMeans {
                system: part(&|parts| parts.system),
                tools: part(&|parts| parts.tools),
                asked: part(&|parts| parts.asked),
                calls: part(&|parts| parts.calls),
                results: part(&|parts| parts.results),
            },
            times_oracle_in_all: round(tokens.context.mean / tokens.oracle.mean.max(1.0)),
            times_oracle: of(&|row| row.context as f64 / row.oracle.max(1) as f64),
            strict_recall: mean(each.iter().map(|row| f64::from(u8::from(row.agreement.shown)))),
            plan: PlanMeans::of(each.iter().map(|row| &row.agreement)),
            rounds: of(&|row| row.rounds as f64),
            tokens,
            each,
        }
    }
}

fn share_saved(used: Average, of: Average) -> f64 {
    if of.mean > 0.0 { round(1.0 - used.mean / of.mean) } else { 0.0 }
}

impl Report {
    /// Renders the report as Markdown tables of means, with the median of the context.
    pub fn table(&self) -> String {
        let mut table = Table::new([
            "estate",
            "tools",
            "n",
            "everything",
            "outline",
            "context",
            "median",
            "saved %",
            "billed",
            "saved %",
            "cached",
            "saved %",
            "oracle",
            "x oracle",
            "each x",
            "shown",
            "plan F1",
            "verified",
            "rounds",
        ]);
        for estate in &self.estates {
            let Estate { tokens, saved, .. } = estate;
            let whole = |average: Average| format!("{:.0}", average.mean);
            let percent = |share: f64| format!("{:.1}", share * 100.0);
            table.row(vec![
                estate.estate.clone(),
                estate.profile.as_str().to_owned(),
                estate.questions.to_string(),
                whole(tokens.everything),
                whole(tokens.outline),
                whole(tokens.context),
                format!("{:.0}", tokens.context.median),
                percent(saved.context),
                whole(tokens.billed),
                percent(saved.billed),
                whole(tokens.cached),
                percent(saved.cached),
                whole(tokens.oracle),
                format!("{:.2}", estate.times_oracle_in_all),
                format!("{:.2}", estate.times_oracle.mean),
                format!("{:.3}", estate.strict_recall),
                format!("{:.3}", estate.plan.f1),
                format!("{:.3}", estate.plan.verified),
                format!("{:.1}", estate.rounds.mean),
            ]);
        }
        let mut text = table.to_string();
        let mut parts = Table::new(["estate", "tools", "prompt", "definitions", "question", "calls", "results"]);
        for Estate { estate, profile, parts: of, .. } in &self.estates {
            let numbers = [of.system, of.tools, of.asked, of.calls, of.results].map(|mean| format!("{mean:.0}"));
            parts.row([estate.clone(), profile.as_str().to_owned()].into_iter().chain(numbers).collect());
        }
        text += &format!("\nContext by part, means:\n\n{parts}");
        text += &format!("\nModel {}; cache prices of {}; tokens by o200k.\n", self.model, self.prices);
        text
    }
}
