//! Runs the planner on one catalog, question by question, and records everything.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use futures::{StreamExt, stream::BoxStream};
use prospector_agent::{
    Request,
    agent_loop::{AgentLoop, Tools},
    plan::INSTRUCTIONS,
};
use prospector_core::Kind;
use prospector_core::record::Resource;
use prospector_core::tool::{Answer, ToolError, ToolSpec};
use prospector_discovery::{
    Catalog, DiscoveryTools, Profile,
    prompt::{Prompt, PromptBuilder, PromptForm},
};
use prospector_llm::{ChatEvent, ChatModel, ChatRequest, ChatResponse, LlmError, models::ModelInfo};
use serde_json::Value;

use crate::{
    conversation::{Conversation, Run},
    error::BenchError,
    questions::Question,
    targets::{Target, TargetNames},
};

/// A catalog, a model, and its tool profile.
pub(crate) struct Session<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) names: &'a TargetNames,
    pub(crate) chat: Arc<dyn ChatModel>,
    pub(crate) info: ModelInfo,
    pub(crate) profile: Profile,
    /// Overrides the form of the prompt.
    pub(crate) form: Option<PromptForm>,
}

impl Session<'_> {
    /// Returns the runs of these questions: the recorded ones of this profile, otherwise new ones by discovery.
    pub(crate) async fn runs(
        &self,
        questions: &[Question],
        replayed: Option<&[Conversation]>,
    ) -> Result<Vec<Conversation>, BenchError> {
        if let Some(runs) = replayed {
            return Ok(runs.iter().filter(|run| run.profile == self.profile).cloned().collect());
        }
        let mut runs = Vec::with_capacity(questions.len());
        for question in questions {
            runs.push(self.discover(question).await?);
        }
        Ok(runs)
    }

    /// Plans by discovery.
    pub(crate) async fn discover(&self, question: &Question) -> Result<Conversation, BenchError> {
        let tools = DiscoveryTools::new(self.catalog, self.profile).without_user();
        let builder = PromptBuilder::new(self.catalog, &tools, INSTRUCTIONS).form(self.form);
        self.plan(question, &tools, builder.build(&self.info, &question.query)).await
    }

    async fn plan(&self, question: &Question, tools: &impl Tools, prompt: Prompt) -> Result<Conversation, BenchError> {
        let recorded = ToolRecorder { tools, shown: Mutex::new(prompt.revealed.iter().cloned().collect()) };
        let model = ModelRecorder { model: self.chat.clone(), exchanged: Arc::default() };
        let agent = AgentLoop { model: &model, tools: &recorded, names: self.catalog };
        let outcome = agent.plan(&prompt, &Request::new(&question.query)).await;
        if let Some(failure) = outcome.failure {
            return Err(BenchError::Plan { question: question.id.clone(), failure });
        }
        let run = Run {
            question: question.clone(),
            model: self.chat.name().to_owned(),
            profile: self.profile,
            form: prompt.form,
            shown: recorded.shown.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect(),
            plan: outcome.plan,
        };
        let exchanged = model.exchanged.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Conversation::new(run, &exchanged))
    }

    /// Resolves the needed names; `None` is one that the catalog does not contain.
    pub(crate) fn resolve_needed(&self, question: &Question) -> Vec<Option<Target>> {
        let kinds = question.kinds(None);
        question.gold.iter().map(|name| self.names.resolve(name, &kinds)).collect()
    }

    /// Resolves them to kind and id; a document section stays a section.
    pub(crate) fn least(&self, question: &Question) -> Vec<(Kind, String)> {
        let known =
            question.gold.iter().zip(self.resolve_needed(question)).filter_map(|(name, thing)| Some((name, thing?)));
        known
            .map(|(name, (kind, id))| match kind {
                Kind::Document if name.contains('#') => (kind, name.clone()),
                _ => (kind, id),
            })
            .collect()
    }
}

/// A model that records its messages.
struct ModelRecorder {
    model: Arc<dyn ChatModel>,
    exchanged: Arc<Mutex<Vec<(ChatRequest, ChatResponse)>>>,
}

#[async_trait]
impl ChatModel for ModelRecorder {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reads_data(&self) -> bool {
        self.model.reads_data()
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

/// Tools that record the names they reveal.
struct ToolRecorder<'a, T> {
    tools: &'a T,
    shown: Mutex<BTreeSet<Resource>>,
}

impl<T: Tools> Tools for ToolRecorder<'_, T> {
    fn specs(&self) -> Vec<ToolSpec> {
        self.tools.specs()
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        let answer = self.tools.call(name, arguments).await?;
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).extend(answer.reveals());
        Ok(answer)
    }
}
