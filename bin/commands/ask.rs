//! `planner ask`: a question answered from data and documents. JSON on standard output, as everywhere; `--format text`
//! prints the answer alone. What happens meanwhile is told on standard error.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use prospector_agent::{
    Limits, Mode, Task,
    ask::{ASK_INSTRUCTIONS, Answered, Ask, AskOutcome},
    event::Event,
    plan::Ended,
    session::Session,
};
use prospector_core::Owner;
use prospector_discovery::{Catalog, DiscoveryTools, PromptBuilder};
use prospector_llm::{ChatModel, models::ModelInfo};
use tokio_util::sync::CancellationToken;

use super::{
    Opening, capabilities, model, open,
    plan::{interrupts, tell},
};
use crate::{
    Exit,
    cli::{AnsweringArgs, AskArgs, FormatName},
    output,
    settings::Settings,
};

/// Answers a question.
pub(crate) async fn ask(args: AskArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let question = args.question.trim();
    if question.is_empty() {
        anyhow::bail!("the question is empty");
    }
    let models = Models::new(&args.answering, settings)?;
    let cancel = interrupts();
    let estate = tokio::select! {
        opened = Estate::open(&args.answering, settings) => opened?,
        () = cancel.cancelled() => anyhow::bail!("interrupted while the catalog was opened; the index is as it was"),
    };
    let mut session = session(args.session.as_deref(), settings).await?;
    let asked = Asked { args: &args.answering, models: &models, estate: &estate };
    let outcome = asked.answer(question, args.answering.mode, &mut session, &cancel).await;
    match args.format {
        FormatName::Json => output::json(&outcome.answered)?,
        FormatName::Text => output::text(&outcome.answered.answer)?,
    }
    if let Some(failure) = &outcome.failure {
        output::say(&format!("error: {failure}"));
    }
    Ok(exit(&outcome.answered))
}

fn exit(answered: &Answered) -> Exit {
    match answered.ended {
        Ended::ProviderFailed => Exit::Provider,
        Ended::Completed if answered.tracing.ok => Exit::Good,
        _ => Exit::NotVerified,
    }
}

/// The conversation of that name, or one that is not kept.
pub(super) async fn session(name: Option<&str>, settings: &Settings) -> anyhow::Result<Session> {
    let Some(name) = name else { return Ok(Session::unkept()) };
    anyhow::ensure!(!name.trim().is_empty(), "the name of the session is empty");
    Ok(Session::open(&state(settings)?, &Owner::local(), name.trim()).await?)
}

/// The folder of the state.
pub(super) fn state(settings: &Settings) -> anyhow::Result<PathBuf> {
    if let Some(state) = &settings.state {
        return Ok(state.clone());
    }
    Ok(settings.catalog()?.parent().unwrap_or(Path::new("")).join(".prospector"))
}

/// Who finds out, and who writes.
pub(super) struct Models {
    chat: Arc<dyn ChatModel>,
    summary: Option<Arc<dyn ChatModel>>,
    info: ModelInfo,
}

impl Models {
    pub(super) fn new(args: &AnsweringArgs, settings: &Settings) -> anyhow::Result<Models> {
        let name = settings.model(args.model.as_deref());
        let info = capabilities(settings, &name)?;
        let summary = args.summary_model.as_deref().map(|name| model(settings, name)).transpose()?;
        Ok(Models { chat: model(settings, &name)?, summary, info })
    }
}

/// A catalog, and the tools over it.
pub(super) struct Estate {
    pub(super) catalog: Catalog,
    pub(super) tools: DiscoveryTools,
}

impl Estate {
    pub(super) async fn open(args: &AnsweringArgs, settings: &Settings) -> anyhow::Result<Estate> {
        let (catalog, _) = open(settings, Opening::Use).await?;
        let tools = DiscoveryTools::new(&catalog, args.profile.into()).with_engine(&catalog.engine());
        Ok(Estate { catalog, tools })
    }
}

/// What one question is asked of.
pub(super) struct Asked<'a> {
    pub(super) args: &'a AnsweringArgs,
    pub(super) models: &'a Models,
    pub(super) estate: &'a Estate,
}

impl Asked<'_> {
    /// Answers a question as the next turn of a session.
    pub(super) async fn answer(
        &self,
        question: &str,
        mode: Option<Mode>,
        session: &mut Session,
        cancel: &CancellationToken,
    ) -> AskOutcome {
        let Estate { catalog, tools } = self.estate;
        super::read_with(catalog, &self.models.chat);
        let prompt = PromptBuilder::new(catalog, tools, ASK_INSTRUCTIONS).build(&self.models.info, question);
        let task = Task {
            question: question.to_owned(),
            mode: mode.unwrap_or_else(|| session.mode(question)),
            system: prompt.system,
            with_tools: prompt.with_tools,
            revealed: prompt.revealed,
            tokens_full_prompt: prompt.tokens.full_prompt as u64,
        };
        let ask = Ask {
            model: self.models.chat.as_ref(),
            summary: self.models.summary.as_deref(),
            limits: Limits {
                rounds: self.args.max_rounds,
                calls: self.args.max_calls,
                run_time: Duration::from_secs(u64::from(self.args.max_seconds)),
                context_tokens: Limits::context_of(self.models.info.context),
                ..Limits::default()
            },
            platform: self.args.platform,
            follow_ups: !self.args.no_follow_ups,
        };
        let (events, talkative) = (self.args.events, !self.args.quiet && output::is_watched());
        let observe = move |event: Event| {
            if events {
                output::event(&event);
            } else if talkative {
                tell(&event);
            }
        };
        ask.answer(tools, catalog, task, session, cancel, &observe).await
    }
}
