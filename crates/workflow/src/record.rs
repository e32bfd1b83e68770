//! A conversation that can be gone on with later: what the user said and what the model answered is kept, and is said and
//! answered again.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use futures::{StreamExt, stream, stream::BoxStream};
use prospector_agent::{
    agent_loop::{AgentLoop, Tools},
    plan::Ended,
};
use prospector_llm::{ChatEvent, ChatModel, ChatRequest, LlmError, message::ChatResponse};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::conversation::{Conversation, TurnOutcome};

/// A turn that was taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// What the user said; none in a first turn in which they had said nothing yet.
    pub said: Option<String>,
    /// What the model answered to each request of the turn, in order.
    pub replies: Vec<ChatResponse>,
    /// What it said to the user in the end.
    pub answer: String,
}

/// What was found in the turns of a record is not found any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The data, the workflow or the catalog have changed.
    #[error("what the conversation had found is found otherwise now: the data or the catalog have changed since")]
    Changed,
    /// It was cancelled on the way.
    #[error("it was cancelled before the conversation was read back")]
    Cancelled,
}

/// Whether a turn counts as taken, so that the next one goes on from it. Of one that broke off, it is as if it had never
/// begun: what the user said is to be said again.
pub fn is_taken(outcome: &TurnOutcome, conversation: &Conversation) -> bool {
    let broke_off = matches!(outcome.ended, Ended::Cancelled | Ended::ProviderFailed);
    conversation.is_over() || (!broke_off && !outcome.text.trim().is_empty())
}

impl Conversation {
    /// Takes the turns of a record again, in a conversation that has just begun: the tools are called anew, with what the
    /// model answered then. `found` is what [`Conversation::findings`] said after the last of them.
    ///
    /// # Errors
    /// [`ReplayError::Changed`] where something else is found now. Then nothing that the user has confirmed holds for sure,
    /// and the conversation is of no use.
    pub async fn replay(
        &mut self,
        turns: &[TurnRecord],
        found: &str,
        agent: &AgentLoop<'_, impl Tools>,
        cancel: &CancellationToken,
    ) -> Result<(), ReplayError> {
        for turn in turns {
            let model = Replies { model: agent.model, left: Mutex::new(turn.replies.iter().cloned().collect()) };
            let again = AgentLoop { model: &model, tools: agent.tools, names: agent.names };
            let outcome = self.turn(turn.said.as_deref(), &again, cancel, &|_| ()).await;
            if cancel.is_cancelled() {
                return Err(ReplayError::Cancelled);
            }
            if !is_taken(&outcome, self) || outcome.text != turn.answer || !model.rest().is_empty() {
                return Err(ReplayError::Changed);
            }
        }
        if self.findings() == found { Ok(()) } else { Err(ReplayError::Changed) }
    }
}

/// Gives the answers of a record, in the place of a model.
struct Replies<'a> {
    model: &'a dyn ChatModel,
    left: Mutex<VecDeque<ChatResponse>>,
}

impl Replies<'_> {
    fn rest(&self) -> MutexGuard<'_, VecDeque<ChatResponse>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ChatModel for Replies<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reads_data(&self) -> bool {
        self.model.reads_data()
    }

    async fn stream(&self, _: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        let next = self.rest().pop_front();
        let reply = next.ok_or_else(|| LlmError::Nonsense {
            model: self.name().to_owned(),
            reason: "the record holds no more answers".into(),
        })?;
        Ok(stream::iter([Ok(ChatEvent::Done(reply))]).boxed())
    }
}

/// A model whose answers are noted, for the record of a turn.
pub struct RecordingModel {
    model: Arc<dyn ChatModel>,
    replies: Arc<Mutex<Vec<ChatResponse>>>,
}

impl RecordingModel {
    /// The same model; nothing is noted yet.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        RecordingModel { model, replies: Arc::default() }
    }

    /// What it answered so far.
    pub fn into_replies(self) -> Vec<ChatResponse> {
        std::mem::take(&mut self.replies.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl ChatModel for RecordingModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reads_data(&self) -> bool {
        self.model.reads_data()
    }

    async fn stream(&self, request: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        let replies = self.replies.clone();
        let events = self.model.stream(request).await?;
        let note = move |event: &Result<ChatEvent, LlmError>| {
            if let Ok(ChatEvent::Done(reply)) = event {
                replies.lock().unwrap_or_else(PoisonError::into_inner).push(reply.clone());
            }
        };
        Ok(events.inspect(note).boxed())
    }
}
