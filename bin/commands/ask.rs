//! `planner ask`: answers a question from data and documents. Prints the answer on a terminal, JSON into a pipe, and progress on standard
//! error.

use std::{collections::BTreeSet, sync::Arc};

use prospector_agent::{
    Limits, Models, Planner, Request,
    ask::{AnswerStatus, Answered, AskOutcome},
    event::Event,
    plan::Ended,
    session::Session,
};
use prospector_core::Owner;
use prospector_core::mark::one_line;
use prospector_discovery::{Catalog, DiscoveryTools, Profile};
use prospector_llm::purpose::Mode;
use tokio_util::sync::CancellationToken;

use super::{
    Opening,
    chart::{self, ChartFile},
    interrupts, models, open,
    plan::Observer,
    queries::{check_name, propose},
    rows::QueryRows,
};
use crate::{
    Exit,
    cli::{AnsweringArgs, AskArgs, ReportFormat},
    markdown::draw_tables,
    output,
    report::{Report, width},
    settings::Settings,
};

/// Answers a question.
pub(crate) async fn ask(args: AskArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let question = args.question.trim();
    if question.is_empty() {
        anyhow::bail!("the question is empty");
    }
    if let Some(name) = &args.save {
        check_name(name, settings)?;
    }
    let chart = args.chart.as_deref().map(ChartFile::parse).transpose()?;
    let models = answering_models(&args.answering, settings)?;
    let cancel = interrupts();
    let planner = tokio::select! {
        opened = open_planner(&args.answering, &models, settings) => opened?,
        () = cancel.cancelled() => anyhow::bail!("interrupted while opening the catalog; the index is unchanged"),
    };
    let mut session = session(args.session.as_deref(), settings).await?;
    let limits = settings.limits(&args.answering.limits, models.limits_of_answers())?;
    let asked = Asker { args: &args.answering, limits, planner: &planner };
    let outcome = asked.answer(question, args.answering.mode, &mut session, &cancel).await;
    print(&outcome.answered, args.format, planner.catalog()).await?;
    if let Some(chart) = chart {
        chart.write(&outcome.answered)?;
    }
    if let Some(failure) = &outcome.failure {
        output::say(&format!("error: {failure}"));
    }
    if let Some(name) = &args.save {
        propose(&outcome.answered, name, settings)?;
    }
    Ok(exit(&outcome.answered))
}

/// Prints an answer: as a text or JSON, or all rows of its last query.
async fn print(answered: &Answered, format: Option<ReportFormat>, catalog: &Catalog) -> anyhow::Result<()> {
    let usual = if output::is_terminal() { ReportFormat::Text } else { ReportFormat::Json };
    match format.unwrap_or(usual) {
        ReportFormat::Json => output::json(answered),
        ReportFormat::Text => output::answer(&write(answered), answered.status, &state(answered)),
        format => {
            if matches!(answered.status, AnswerStatus::Partial | AnswerStatus::Unanswered) {
                output::say_lines(&state(answered));
            }
            let Some(query) = answered.questions.iter().rfind(|query| query.error.is_none()) else {
                output::say_lines(&answered.answer);
                return Ok(());
            };
            let table = QueryRows::of_question(query).complete(&catalog.engine()).await?;
            Report::new(&answered.questions, table)?.in_rows().print(Some(format))
        }
    }
}

/// Formats the answer as text; on a terminal, tables and the chart are drawn.
pub(super) fn write(answered: &Answered) -> String {
    let mut text = match output::is_terminal() {
        true => draw_tables(&answered.answer, width()),
        false => answered.answer.clone(),
    };
    if let Some(drawn) = chart::draw(answered) {
        text.push_str(&format!("\n\n{drawn}"));
    }
    text
}

fn exit(answered: &Answered) -> Exit {
    match answered.status {
        _ if answered.ended == Ended::ProviderFailed => Exit::Provider,
        AnswerStatus::Verified | AnswerStatus::Answered => Exit::Good,
        AnswerStatus::Partial => Exit::Partial,
        AnswerStatus::Unanswered => Exit::NotVerified,
    }
}

/// Formats the status of an answer: how completely the question is answered, the sources, caveats and notes.
pub(super) fn state(answered: &Answered) -> String {
    let checked = answered.questions.iter().filter_map(|query| query.verified.as_ref());
    let by: BTreeSet<&str> = checked.map(|verified| verified.by.as_str()).collect();
    let queries = answered.questions.iter().filter(|query| query.error.is_none()).count();
    let basis = match (answered.status, queries) {
        (AnswerStatus::Verified, _) => format!(" by {}", by.into_iter().collect::<Vec<_>>().join(", ")),
        (AnswerStatus::Unanswered, _) | (_, 0) => String::new(),
        (_, 1) => " from 1 query".to_owned(),
        (_, queries) => format!(" from {queries} queries"),
    };
    let caveats = answered.caveats.iter().map(|caveat| format!("\n  - {}", one_line(caveat)));
    let notes = answered.notes.iter().map(|note| format!("\n  note: {}", one_line(note)));
    format!("{}{basis}{}", answered.status, caveats.chain(notes).collect::<String>())
}

/// Returns the conversation of that name, or one that is not stored.
pub(super) async fn session(name: Option<&str>, settings: &Settings) -> anyhow::Result<Session> {
    let Some(name) = name else { return Ok(Session::unkept()) };
    anyhow::ensure!(!name.trim().is_empty(), "the name of the session is empty");
    Ok(Session::open(&settings.state_folder()?, &Owner::local(), name.trim()).await?)
}

/// Returns the models for research and for writing.
pub(super) fn answering_models(args: &AnsweringArgs, settings: &Settings) -> anyhow::Result<Models> {
    models(settings, args.model.as_deref(), args.summary_model.as_deref())
}

/// Opens the catalog that questions are answered from.
pub(super) async fn open_planner(
    args: &AnsweringArgs,
    models: &Models,
    settings: &Settings,
) -> anyhow::Result<Planner> {
    let (catalog, _) = open(settings, Opening::Use).await?;
    Ok(planner(&Arc::new(catalog), models.clone(), args.profile.into()))
}

/// Creates a planner over a catalog, which answers by queries and by plans that it executes.
pub(super) fn planner(catalog: &Arc<Catalog>, models: Models, profile: Profile) -> Planner {
    let runs = catalog.clone();
    let tools = DiscoveryTools::new(catalog, profile)
        .with_session_tools(move |session| prospector_executor::tools(&runs, session));
    Planner::new(catalog.clone(), models).with_tools(tools)
}

/// What questions are asked with.
pub(super) struct Asker<'a> {
    pub(super) args: &'a AnsweringArgs,
    pub(super) limits: Limits,
    pub(super) planner: &'a Planner,
}

impl Asker<'_> {
    /// Answers a question as the next turn of a session.
    pub(super) async fn answer(
        &self,
        question: &str,
        mode: Option<Mode>,
        session: &mut Session,
        cancel: &CancellationToken,
    ) -> AskOutcome {
        let observer = Observer::new(self.args.progress);
        let observe = |event: Event| match self.args.events {
            true => output::event(&event),
            false => observer.observe(&event),
        };
        let request = Request {
            mode,
            limits: Some(self.limits),
            platform: self.args.platform,
            formatting: self.args.formatting.clone(),
            follow_ups: !self.args.no_follow_ups,
            cancel: cancel.clone(),
            observe: &observe,
            ..Request::new(question)
        };
        self.planner.ask(session, request).await
    }
}
