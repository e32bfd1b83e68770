//! The entry point: plans and answers questions with a catalog and a model.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use prospector_core::{record::MIN_DESCRIBED, work::compute};
use prospector_discovery::{
    Catalog, DiscoveryTools, Profile,
    prompt::{Instructions, Prompt, PromptBuilder},
};
use prospector_llm::{
    ChatModel,
    models::{ModelInfo, capability},
};

use crate::{
    Limits, Request,
    agent_loop::AgentLoop,
    ask::{ASK_INSTRUCTIONS, AskOutcome, MAX_EXAMPLES, render_examples},
    extraction::extract_facts_with,
    plan::{INSTRUCTIONS, PlanOutcome},
    session::Session,
    status::AnswerStatus,
};

/// The models that plan and answer.
#[derive(Clone)]
pub struct Models {
    /// The model that plans, calls tools and answers.
    pub chat: Arc<dyn ChatModel>,
    /// The model that writes the final answer and the follow-up questions; without one, `chat` does.
    pub summary: Option<Arc<dyn ChatModel>>,
    /// The capabilities of `chat`.
    pub info: ModelInfo,
}

impl Models {
    /// One model for planning, answering and summaries.
    pub fn new(chat: Arc<dyn ChatModel>, info: ModelInfo) -> Self {
        Models { chat, summary: None, info }
    }

    /// Returns the default limits of a plan, with the context of the model.
    pub fn limits(&self) -> Limits {
        Limits::default().of_context(self.info.context)
    }

    /// Returns the default limits of an answer, with the context of the model.
    pub fn limits_of_answers(&self) -> Limits {
        Limits::of_answers().of_context(self.info.context)
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let summary = self.summary.as_ref().map(|summary| summary.name());
        f.debug_struct("Models").field("chat", &self.chat.name()).field("summary", &summary).finish_non_exhaustive()
    }
}

impl<M: ChatModel + 'static> From<Arc<M>> for Models {
    fn from(chat: Arc<M>) -> Self {
        Models::from(chat as Arc<dyn ChatModel>)
    }
}

impl From<Arc<dyn ChatModel>> for Models {
    fn from(chat: Arc<dyn ChatModel>) -> Self {
        let info = *capability(chat.name());
        Models::new(chat, info)
    }
}

/// Plans and answers questions over one catalog.
pub struct Planner {
    catalog: Arc<Catalog>,
    models: Models,
    profile: Profile,
    tools: OnceLock<DiscoveryTools>,
    /// The tools for planning.
    plan_tools: OnceLock<DiscoveryTools>,
    /// The tools for answering, including those that run queries.
    query_tools: OnceLock<DiscoveryTools>,
}

impl Planner {
    /// Returns a planner with the tools of the default profile. A language model also extracts facts from texts.
    pub fn new(catalog: impl Into<Arc<Catalog>>, models: impl Into<Models>) -> Self {
        let (catalog, models) = (catalog.into(), models.into());
        extract_facts_with(&catalog, &models.chat);
        let (tools, plan_tools, query_tools) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Planner { catalog, models, profile: Profile::DEFAULT, tools, plan_tools, query_tools }
    }

    /// Sets other models; facts are still extracted by the initial model.
    pub fn with_models(self, models: Models) -> Self {
        let (plan_tools, query_tools) = (OnceLock::new(), OnceLock::new());
        Planner { models, plan_tools, query_tools, ..self }
    }

    /// Sets the tool profile.
    pub fn with_profile(self, profile: Profile) -> Self {
        let (tools, plan_tools, query_tools) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Planner { profile, tools, plan_tools, query_tools, ..self }
    }

    /// Sets tools of the catalog that are already built.
    pub fn with_tools(self, tools: DiscoveryTools) -> Self {
        let (plan_tools, query_tools) = (OnceLock::new(), OnceLock::new());
        Planner { tools: OnceLock::from(tools), plan_tools, query_tools, ..self }
    }

    /// The catalog.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The tools of the catalog.
    pub fn tools(&self) -> &DiscoveryTools {
        self.tools.get_or_init(|| DiscoveryTools::new(&self.catalog, self.profile))
    }

    /// Returns the tools for planning, which do not involve the user.
    fn plan_tools(&self) -> &DiscoveryTools {
        self.plan_tools.get_or_init(|| {
            let tools = self.tools().clone().without_user();
            if self.models.chat.reads_data() { tools.with_reading(&self.catalog.engine()) } else { tools }
        })
    }

    /// Returns the tools for answering. Their queries share one engine session, which lives as long as the planner.
    fn query_tools(&self) -> &DiscoveryTools {
        self.query_tools.get_or_init(|| {
            let tools = self.tools().clone().with_queries(&self.catalog.engine());
            if self.models.chat.reads_data() { tools } else { tools.for_language_model() }
        })
    }

    /// Plans a question. The run always ends within the limits of the request, with a reason.
    pub async fn plan<'a>(&self, request: impl Into<Request<'a>>) -> PlanOutcome {
        let request = complete(request.into(), || self.models.limits());
        let prompt = self.build_prompt(self.plan_tools(), INSTRUCTIONS, &request).await;
        let mut outcome = self.agent(self.plan_tools()).plan(&prompt, &request).await;
        // What the question asks for may be in an entry that is not loaded.
        if outcome.plan.plan.steps.is_empty() {
            outcome.plan.clarifications.extend(self.catalog.describe_errors());
        }
        outcome
    }

    /// Answers a question as the next turn of a session, which stores it.
    pub async fn ask<'a>(&self, session: &mut Session, request: impl Into<Request<'a>>) -> AskOutcome {
        let request = complete(request.into(), || self.models.limits_of_answers());
        let prompt = self.build_prompt(self.query_tools(), ASK_INSTRUCTIONS, &request).await;
        let examples = match &request.examples {
            Some(examples) => Some(examples.clone()),
            None => self.examples(&request.question).await,
        };
        let request = Request { examples, ..request };
        let agent = self.agent(self.query_tools());
        let mut outcome = agent.answer(prompt, &request, session, self.models.summary.as_deref()).await;
        let errors = self.catalog.describe_errors().filter(|_| outcome.answered.status == AnswerStatus::Unanswered);
        if let Some(errors) = errors {
            outcome.answered.answer.push_str(&format!("\n\nNote: {errors}."));
        }
        outcome
    }

    /// Returns verified queries similar to the question as examples for a language model.
    async fn examples(&self, question: &str) -> Option<String> {
        if self.models.chat.reads_data() {
            return None;
        }
        let found = self.catalog.find_queries(question, MAX_EXAMPLES).await;
        let near = found.into_iter().filter(|(_, relevance)| relevance.get() >= MIN_DESCRIBED);
        render_examples(&near.map(|(query, _)| query).collect::<Vec<_>>(), self.models.info.tools)
    }

    /// Returns the system prompt for planning a question.
    pub async fn prompt<'a>(&self, request: impl Into<Request<'a>>) -> Prompt {
        self.build_prompt(self.plan_tools(), INSTRUCTIONS, &request.into()).await
    }

    fn agent<'a>(&'a self, tools: &'a DiscoveryTools) -> AgentLoop<'a, DiscoveryTools> {
        AgentLoop { model: self.models.chat.as_ref(), tools, names: self.catalog.as_ref() }
    }

    /// Builds the prompt on a blocking thread, since counting the tokens of a large catalog takes a while.
    async fn build_prompt(
        &self,
        tools: &DiscoveryTools,
        instructions: Instructions<'static>,
        request: &Request<'_>,
    ) -> Prompt {
        let (catalog, tools, info) = (self.catalog.clone(), tools.clone(), self.models.info);
        let (question, form) = (request.question.clone(), request.form);
        compute(move || PromptBuilder::new(&catalog, &tools, instructions).form(form).build(&info, &question)).await
    }
}

/// Sets these limits in a request without limits.
fn complete(request: Request<'_>, usual: impl FnOnce() -> Limits) -> Request<'_> {
    Request { limits: Some(request.limits.unwrap_or_else(usual)), ..request }
}
