//! The trait that every model provider implements.

use async_trait::async_trait;
use futures::{StreamExt, stream::BoxStream};

use crate::{ChatRequest, ChatResponse, LlmError};

/// An event of a streamed response.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatEvent {
    /// A piece of text.
    Text(String),
    /// The complete response; always the last event of a successful stream.
    Done(ChatResponse),
}

/// A language model of any provider. A provider implements the streaming method; [`ChatModel::complete`] is derived from it.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Returns the name of the model as it was requested.
    fn name(&self) -> &str;

    /// Whether the model is a program that reads results of calls as data, from [`ToolResult::data`](crate::message::ToolResult::data). A
    /// language model reads only their text.
    fn reads_data(&self) -> bool {
        false
    }

    /// Sends the conversation and streams the response. Dropping the stream cancels the request.
    ///
    /// # Errors
    /// [`LlmError`] if the request cannot be sent or is refused; errors while streaming are items.
    async fn stream(&self, request: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError>;

    /// Sends the conversation and waits for the complete response.
    ///
    /// # Errors
    /// - As [`ChatModel::stream`].
    /// - [`LlmError::Nonsense`] if the stream ends without a response.
    async fn complete(&self, request: &ChatRequest) -> Result<ChatResponse, LlmError> {
        self.complete_aloud(request, &mut |_| ()).await
    }

    /// As [`ChatModel::complete`], calling `on_text` with each piece of text as it arrives.
    ///
    /// # Errors
    /// As [`ChatModel::complete`]; pieces may have been passed on before.
    async fn complete_aloud(
        &self,
        request: &ChatRequest,
        on_text: &mut (dyn for<'a> FnMut(&'a str) + Send),
    ) -> Result<ChatResponse, LlmError> {
        let mut events = self.stream(request).await?;
        while let Some(event) = events.next().await {
            match event? {
                ChatEvent::Text(text) => on_text(&text),
                ChatEvent::Done(response) => return Ok(response),
            }
        }
        Err(LlmError::Nonsense { model: self.name().to_owned(), reason: "the response ended early".into() })
    }
}
