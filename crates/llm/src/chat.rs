//! The seam: what a provider must be able to do.

use async_trait::async_trait;
use futures::{StreamExt, stream::BoxStream};

use crate::{ChatRequest, ChatResponse, LlmError};

/// A piece of a streamed answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatEvent {
    /// More text.
    Text(String),
    /// The whole answer; always the last event of a stream that did not fail.
    Done(ChatResponse),
}

/// One LLM, by whatever provider. A provider implements the streaming method; [`ChatModel::complete`] is derived from it.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// The model's name, as it was asked for.
    fn name(&self) -> &str;

    /// Whether the model is a program that reads the results of its calls as data, from
    /// [`ToolResult::data`](crate::message::ToolResult::data). A language model reads their text, and is given nothing else.
    fn reads_data(&self) -> bool {
        false
    }

    /// Sends the conversation and streams the answer. Dropping the stream cancels the request.
    ///
    /// # Errors
    /// [`LlmError`] when the request could not be made or was refused; errors while streaming are items.
    async fn stream(&self, request: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError>;

    /// Sends the conversation and waits for the whole answer.
    ///
    /// # Errors
    /// As [`ChatModel::stream`]; [`LlmError::Nonsense`] when the stream ends without an answer.
    async fn complete(&self, request: &ChatRequest) -> Result<ChatResponse, LlmError> {
        self.complete_aloud(request, &mut |_| ()).await
    }

    /// The same; `tell` is called with each piece of the text as it comes in.
    ///
    /// # Errors
    /// As [`ChatModel::complete`]; pieces may have been told by then.
    async fn complete_aloud(
        &self,
        request: &ChatRequest,
        tell: &mut (dyn for<'a> FnMut(&'a str) + Send),
    ) -> Result<ChatResponse, LlmError> {
        let mut events = self.stream(request).await?;
        while let Some(event) = events.next().await {
            match event? {
                ChatEvent::Text(text) => tell(&text),
                ChatEvent::Done(response) => return Ok(response),
            }
        }
        Err(LlmError::Nonsense { model: self.name().to_owned(), reason: "the answer ended early".into() })
    }

    /// The input tokens that the provider would count for the conversation, without answering it; `None` where it does
    /// not offer that.
    ///
    /// # Errors
    /// As [`ChatModel::stream`].
    async fn count_tokens(&self, _request: &ChatRequest) -> Result<Option<u64>, LlmError> {
        Ok(None)
    }
}
