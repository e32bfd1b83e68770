//! Retries requests, and converts responses to streams.

use std::time::Duration;

use async_trait::async_trait;
use backon::{ExponentialBuilder, Retryable};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};

use super::failure::Failure;
use crate::{ChatEvent, LlmError};

/// A response that is being streamed. Dropping it closes the connection.
#[async_trait]
pub(super) trait Pieces: Send + 'static {
    /// Returns the next event; [`ChatEvent::Done`] is the last one.
    async fn next(&mut self) -> Result<ChatEvent, Failure>;
}

/// Retries transient failures, at most `retries` times.
pub(super) async fn again<T, F>(retries: u32, attempt: impl FnMut() -> F + Send) -> Result<T, LlmError>
where
    T: Send,
    F: Future<Output = Result<T, Failure>> + Send,
{
    let pauses = ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(500))
        .with_max_times(retries as usize)
        .with_jitter();
    attempt
        .retry(pauses)
        .when(|failure| failure.again)
        // Without a pause left there are no retries left, regardless of the provider's advice.
        .adjust(|failure, pause| pause.map(|pause| failure.after.unwrap_or(pause)))
        .notify(|failure, pause| tracing::warn!(?pause, "retrying: {}", failure.error))
        .await
        .map_err(|failure| failure.error)
}

/// Streams the first event and its successors. The stream ends after the complete response or a failure.
pub(super) fn events(first: ChatEvent, answer: impl Pieces) -> BoxStream<'static, Result<ChatEvent, LlmError>> {
    let unfinished = matches!(first, ChatEvent::Text(_)).then_some(answer);
    let rest = stream::unfold(unfinished, |unfinished| async {
        let mut answer = unfinished?;
        Some(match answer.next().await {
            Ok(event @ ChatEvent::Text(_)) => (Ok(event), Some(answer)),
            Ok(done) => (Ok(done), None),
            Err(failure) => (Err(failure.error), None),
        })
    });
    stream::iter([Ok(first)]).chain(rest).boxed()
}
