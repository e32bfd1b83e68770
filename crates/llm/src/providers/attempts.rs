//! A request is sent again where that helps, and its answer becomes a stream.

use std::time::Duration;

use async_trait::async_trait;
use backon::{ExponentialBuilder, Retryable};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};

use super::failure::Failure;
use crate::{ChatEvent, LlmError};

/// An answer that is still coming in. Dropping it closes the connection.
#[async_trait]
pub(super) trait Pieces: Send + 'static {
    /// The next event; [`ChatEvent::Done`] is the last one.
    async fn next(&mut self) -> Result<ChatEvent, Failure>;
}

/// Attempts again what failed in passing, at most so often.
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
        // No pause left means no attempt left, whatever the provider says.
        .adjust(|failure, pause| pause.map(|pause| failure.after.unwrap_or(pause)))
        .notify(|failure, pause| tracing::warn!(?pause, "sending again: {}", failure.error))
        .await
        .map_err(|failure| failure.error)
}

/// The first event and those that follow. It ends after the whole answer or a failure.
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
