//! Runs the planner on one question, and records its requests and the names that it was shown.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use futures::{StreamExt, stream::BoxStream};
use prospector_agent::{
    Request,
    agent_loop::{AgentLoop, Tools},
    plan::{INSTRUCTIONS, Plan},
};
use prospector_core::record::Resource;
use prospector_core::tool::{Answer, ToolError, ToolSpec};
use prospector_discovery::{
    DiscoveryTools,
    prompt::{PromptBuilder, PromptForm},
};
use prospector_llm::{ChatEvent, ChatModel, ChatRequest, LlmError};
use serde_json::Value;

use crate::{
    error::BenchError,
    estate::{Estate, Setup},
    questions::Question,
};

/// A completed run.
pub(crate) struct Run {
    pub(crate) form: PromptForm,
    /// The requests that were answered, in order.
    pub(crate) requests: Vec<ChatRequest>,
    /// The names revealed by the prompt and by tool results.
    pub(crate) shown: BTreeSet<Resource>,
    pub(crate) plan: Plan,
}

/// Plans a question by discovery.
pub(crate) async fn plan(setup: &Setup<'_>, estate: &Estate, question: &Question) -> Result<Run, BenchError> {
    let tools = DiscoveryTools::new(&estate.catalog, setup.profile).without_user();
    let builder = PromptBuilder::new(&estate.catalog, &tools, INSTRUCTIONS).form(setup.prompt);
    let prompt = builder.build(&setup.info, &question.query);
    let tools = ToolRecorder { tools: &tools, shown: Mutex::new(prompt.revealed.iter().cloned().collect()) };
    let model = ModelRecorder { model: setup.model.clone(), requests: Arc::default() };
    let agent = AgentLoop { model: &model, tools: &tools, names: &estate.catalog };
    let outcome = agent.plan(&prompt, &Request::new(&question.query)).await;
    if let Some(failure) = outcome.failure {
        return Err(BenchError::Plan { question: question.id.clone(), failure });
    }
    let requests = std::mem::take(&mut *model.requests.lock().unwrap_or_else(PoisonError::into_inner));
    let shown = tools.shown.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Run { form: prompt.form, requests, shown, plan: outcome.plan })
}

/// A model that records its requests.
struct ModelRecorder {
    model: Arc<dyn ChatModel>,
    requests: Arc<Mutex<Vec<ChatRequest>>>,
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
        let (request, requests) = (request.clone(), self.requests.clone());
        let events = events.inspect(move |event| {
            if let Ok(ChatEvent::Done(_)) = event {
                requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
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
