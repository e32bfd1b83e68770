//! Records a conversation so that it can be continued later: the user's messages and the model's replies are stored and replayed.

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

/// A completed turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// The user's message; `None` in a first turn without one.
    pub said: Option<String>,
    /// The model's reply to each request of the turn, in order.
    pub replies: Vec<ChatResponse>,
    /// The final message to the user.
    pub answer: String,
}

/// Replaying a record failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The data, the workflow or the catalog have changed.
    #[error("earlier results can no longer be reproduced: the data or the catalog has changed")]
    Changed,
    /// The replay was cancelled.
    #[error("cancelled before the conversation was restored")]
    Cancelled,
}

/// Whether a turn counts as completed, so that the next one continues from it. An interrupted turn is discarded: the user's message must be
/// sent again.
pub fn is_taken(outcome: &TurnOutcome, conversation: &Conversation) -> bool {
    let broke_off = matches!(outcome.ended, Ended::Cancelled | Ended::ProviderFailed);
    conversation.is_over() || (!broke_off && !outcome.text.trim().is_empty())
}

impl Conversation {
    /// Replays the turns of a record in a new conversation: tools are called again, with the recorded replies of the model. `found` is the
    /// value of [`Conversation::findings`] after the last turn.
    ///
    /// # Errors
    /// [`ReplayError::Changed`] if the findings differ. Then earlier confirmations of the user may no longer apply, and the conversation
    /// must be discarded.
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

/// Replays the replies of a record in place of a model.
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
            reason: "the record contains no more replies".into(),
        })?;
        Ok(stream::iter([Ok(ChatEvent::Done(reply))]).boxed())
    }
}

/// A model that records its replies.
pub struct RecordingModel {
    model: Arc<dyn ChatModel>,
    replies: Arc<Mutex<Vec<ChatResponse>>>,
}

impl RecordingModel {
    /// Wraps a model, with no replies recorded yet.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        RecordingModel { model, replies: Arc::default() }
    }

    /// Returns the recorded replies.
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
