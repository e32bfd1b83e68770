//! The front door: a catalog and a model, and questions that are planned or answered.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use prospector_core::work::compute;
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
    ask::{ASK_INSTRUCTIONS, AskOutcome, render_examples},
    extraction::extract_facts_with,
    plan::{INSTRUCTIONS, PlanOutcome},
    session::Session,
};

/// The models that plan and answer.
#[derive(Clone)]
pub struct Models {
    /// The model that plans, calls tools and answers.
    pub chat: Arc<dyn ChatModel>,
    /// The model that writes an answer from the results, and the questions that could follow; where there is none, the
    /// first one does.
    pub summary: Option<Arc<dyn ChatModel>>,
    /// What is known of the first one.
    pub info: ModelInfo,
}

impl Models {
    /// One model for planning, answering and summaries.
    pub fn new(chat: Arc<dyn ChatModel>, info: ModelInfo) -> Self {
        Models { chat, summary: None, info }
    }

    /// What a plan may usually cost: the usual rounds and calls, and as many tokens as the model has room for.
    pub fn limits(&self) -> Limits {
        Limits::default().of_context(self.info.context)
    }

    /// The same for an answer.
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
    /// Those that a plan is made with.
    plan_tools: OnceLock<DiscoveryTools>,
    /// The same tools, and those that run queries.
    query_tools: OnceLock<DiscoveryTools>,
}

impl Planner {
    /// A planner with the tools of the default profile. A language model also reads the texts from which facts are learned.
    pub fn new(catalog: impl Into<Arc<Catalog>>, models: impl Into<Models>) -> Self {
        let (catalog, models) = (catalog.into(), models.into());
        extract_facts_with(&catalog, &models.chat);
        let (tools, plan_tools, query_tools) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Planner { catalog, models, profile: Profile::DEFAULT, tools, plan_tools, query_tools }
    }

    /// The planner with other models; texts are still read for facts by those that it began with.
    pub fn with_models(self, models: Models) -> Self {
        let (plan_tools, query_tools) = (OnceLock::new(), OnceLock::new());
        Planner { models, plan_tools, query_tools, ..self }
    }

    /// The planner with the tools of another profile.
    pub fn with_profile(self, profile: Profile) -> Self {
        let (tools, plan_tools, query_tools) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Planner { profile, tools, plan_tools, query_tools, ..self }
    }

    /// The planner with these tools, where the tools of the catalog are built already.
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

    /// The tools that a plan is made with: nobody is there who could be asked.
    fn plan_tools(&self) -> &DiscoveryTools {
        self.plan_tools.get_or_init(|| {
            let tools = self.tools().clone().without_user();
            if self.models.chat.reads_data() { tools.with_reading(&self.catalog.engine()) } else { tools }
        })
    }

    /// The tools that an answer is found with. Their queries run in one session of an engine, which lives as long as the
    /// planner.
    fn query_tools(&self) -> &DiscoveryTools {
        self.query_tools.get_or_init(|| {
            let tools = self.tools().clone().with_queries(&self.catalog.engine());
            if self.models.chat.reads_data() { tools } else { tools.for_language_model() }
        })
    }

    /// Plans a question. It always ends within the limits of the request, with a reason.
    pub async fn plan<'a>(&self, request: impl Into<Request<'a>>) -> PlanOutcome {
        let request = complete(request.into(), || self.models.limits());
        let prompt = self.build_prompt(self.plan_tools(), INSTRUCTIONS, &request).await;
        self.agent(self.plan_tools()).plan(&prompt, &request).await
    }

    /// Answers a question as the next turn of a conversation, which keeps it.
    pub async fn ask<'a>(&self, session: &mut Session, request: impl Into<Request<'a>>) -> AskOutcome {
        let request = complete(request.into(), || self.models.limits_of_answers());
        let prompt = self.build_prompt(self.query_tools(), ASK_INSTRUCTIONS, &request).await;
        let examples = request.examples.clone().or_else(|| self.examples(&request.question));
        let request = Request { examples, ..request };
        self.agent(self.query_tools()).answer(prompt, &request, session, self.models.summary.as_deref()).await
    }

    /// The verified queries that are near a question, for a model that reads them; none where there is none.
    fn examples(&self, question: &str) -> Option<String> {
        if self.models.chat.reads_data() {
            return None;
        }
        render_examples(&self.catalog.verified.near(question), self.models.info.tools)
    }

    /// The system prompt that a question is planned with.
    pub async fn prompt<'a>(&self, request: impl Into<Request<'a>>) -> Prompt {
        self.build_prompt(self.plan_tools(), INSTRUCTIONS, &request.into()).await
    }

    fn agent<'a>(&'a self, tools: &'a DiscoveryTools) -> AgentLoop<'a, DiscoveryTools> {
        AgentLoop { model: self.models.chat.as_ref(), tools, names: self.catalog.as_ref() }
    }

    /// Away from the threads that wait for others: a large catalog takes a while to be counted.
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

/// The request with these limits, where it has none of its own.
fn complete(request: Request<'_>, usual: impl FnOnce() -> Limits) -> Request<'_> {
    Request { limits: Some(request.limits.unwrap_or_else(usual)), ..request }
}
