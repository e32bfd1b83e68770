//! Futures that catch their own panics.

use std::{
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::Poll,
};

use crate::work::panic_message;

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs a future to completion; a panic in it becomes an error with the panic message. State shared with others is protected by locks that
/// detect poisoning.
pub(crate) async fn guard<T>(mut future: BoxFuture<'_, T>) -> Result<T, String> {
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic_message(panic.as_ref()).to_owned())),
    })
    .await
}
