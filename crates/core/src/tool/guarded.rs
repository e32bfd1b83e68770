//! A future that catches its own panics.

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Polls a future to completion; a panic in it, or in its construction, becomes an error with the panic message.
///
/// A panicked future is dropped immediately and never polled again; state shared with others is protected by locks that detect poisoning.
pub(crate) struct Guarded<'a, T> {
    state: State<'a, T>,
}

enum State<'a, T> {
    Running(BoxFuture<'a, T>),
    Panicked(Option<String>),
}

impl<'a, T> Guarded<'a, T> {
    pub(crate) fn new(make: impl FnOnce() -> BoxFuture<'a, T>) -> Self {
        let state = match catch_unwind(AssertUnwindSafe(make)) {
            Ok(future) => State::Running(future),
            Err(panic) => State::Panicked(Some(text_of(panic.as_ref()))),
        };
        Guarded { state }
    }
}

impl<T> Future for Guarded<'_, T> {
    type Output = Result<T, String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.state {
            State::Running(future) => match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
                Ok(Poll::Pending) => Poll::Pending,
                Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
                Err(panic) => {
                    self.state = State::Panicked(None);
                    Poll::Ready(Err(text_of(panic.as_ref())))
                }
            },
            State::Panicked(text) => Poll::Ready(Err(text.take().unwrap_or_else(|| "polled after completion".into()))),
        }
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no panic message".into())
}
