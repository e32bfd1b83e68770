//! The planner on one catalog, question by question, with everything recorded.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use futures::{StreamExt, stream::BoxStream};
use prospector_agent::{INSTRUCTIONS, Limits, Mode, Offline, Task, Tools, run};
use prospector_core::{Answer, Kind, Resource, ToolError, ToolSpec};
use prospector_discovery::{Catalog, DiscoveryTools, Profile, Prompt, PromptBuilder, PromptForm};
use prospector_llm::{ChatEvent, ChatModel, ChatRequest, ChatResponse, LlmError, models::ModelInfo};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    conversation::{Conversation, Run},
    gold::{Names, Thing},
    queries::Question,
    seer::Seer,
};

/// A catalog, a model, and how the model is given its tools.
pub(crate) struct Session<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) names: &'a Names,
    pub(crate) chat: Arc<dyn ChatModel>,
    pub(crate) info: ModelInfo,
    pub(crate) profile: Profile,
    /// Forces a form of the prompt.
    pub(crate) form: Option<PromptForm>,
}

impl Session<'_> {
    /// Plans by discovery.
    pub(crate) async fn discover(&self, question: &Question) -> anyhow::Result<Conversation> {
        let tools = DiscoveryTools::new(self.catalog, self.profile);
        let prompt = self.prompt(&tools, question, self.form);
        self.plan(question, &tools, prompt).await
    }

    /// Plans with everything in the prompt. The offline model reads no prompt: it asks tools that hold nothing back.
    pub(crate) async fn preloaded(&self, question: &Question) -> anyhow::Result<Conversation> {
        let tools = DiscoveryTools::new(self.catalog, Profile::Full);
        let mut prompt = self.prompt(&tools, question, Some(PromptForm::Full));
        if self.chat.name() != Offline::NAME {
            return self.plan(question, &tools, prompt).await;
        }
        prompt.system.clear();
        prompt.with_tools = true;
        self.plan(question, &Seer { catalog: self.catalog, tools: &tools }, prompt).await
    }

    fn prompt(&self, tools: &DiscoveryTools, question: &Question, form: Option<PromptForm>) -> Prompt {
        PromptBuilder::new(self.catalog, tools, INSTRUCTIONS).form(form).build(&self.info, &question.query)
    }

    async fn plan(&self, question: &Question, tools: &impl Tools, prompt: Prompt) -> anyhow::Result<Conversation> {
        let watched = Watched { tools, shown: Mutex::new(prompt.revealed.iter().cloned().collect()) };
        let model = Recorder { model: self.chat.clone(), exchanged: Arc::default() };
        let task = Task {
            question: question.query.clone(),
            mode: Mode::of(&question.query),
            system: prompt.system,
            with_tools: prompt.with_tools,
            revealed: prompt.revealed,
            tokens_full_prompt: prompt.tokens.full_prompt as u64,
        };
        let never = CancellationToken::new();
        let outcome = run(&model, &watched, self.catalog, task, Limits::default(), &never, &|_| ()).await;
        if let Some(failure) = outcome.failure {
            anyhow::bail!("{}: {failure}", question.id);
        }
        let run = Run {
            question: question.clone(),
            model: self.chat.name().to_owned(),
            profile: self.profile,
            form: prompt.form,
            shown: watched.shown.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect(),
            plan: outcome.plan,
        };
        let exchanged = model.exchanged.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Conversation::new(run, &exchanged))
    }

    /// What each name of the gold means here; `None` is one that the catalog does not have.
    pub(crate) fn needed(&self, question: &Question) -> Vec<Option<Thing>> {
        let kinds = question.kinds(None);
        question.gold.iter().map(|name| self.names.resolve(name, &kinds)).collect()
    }

    /// The same by kind and id, where a section of a document is that section alone.
    pub(crate) fn least(&self, question: &Question) -> Vec<(Kind, String)> {
        let known = question.gold.iter().zip(self.needed(question)).filter_map(|(name, thing)| Some((name, thing?)));
        known
            .map(|(name, (kind, id))| match kind {
                Kind::Document if name.contains('#') => (kind, name.clone()),
                _ => (kind, id),
            })
            .collect()
    }
}

/// The model, and what was said.
struct Recorder {
    model: Arc<dyn ChatModel>,
    exchanged: Arc<Mutex<Vec<(ChatRequest, ChatResponse)>>>,
}

#[async_trait]
impl ChatModel for Recorder {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn stream(&self, request: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        let events = self.model.stream(request).await?;
        let (request, exchanged) = (request.clone(), self.exchanged.clone());
        let events = events.inspect(move |event| {
            if let Ok(ChatEvent::Done(response)) = event {
                let mut exchanged = exchanged.lock().unwrap_or_else(PoisonError::into_inner);
                exchanged.push((request.clone(), response.clone()));
            }
        });
        Ok(events.boxed())
    }
}

/// The tools, and what they showed.
struct Watched<'a, T> {
    tools: &'a T,
    shown: Mutex<BTreeSet<Resource>>,
}

impl<T: Tools> Tools for Watched<'_, T> {
    fn specs(&self) -> Vec<ToolSpec> {
        self.tools.specs()
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        let answer = self.tools.call(name, arguments).await?;
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).extend(answer.reveals());
        Ok(answer)
    }
}
