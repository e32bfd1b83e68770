//! A response that holds a resource until its last byte is sent.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

/// A body, and the resource that is released with it.
pub(crate) struct Held<T> {
    body: Body,
    /// Released at the end of the body, before the body is dropped.
    held: Option<T>,
}

impl<T: Send + Unpin + 'static> Held<T> {
    /// Wraps a body so that it holds `held`.
    pub(crate) fn body(body: Body, held: T) -> Body {
        Body::new(Held { body, held: Some(held) })
    }
}

impl<T: Unpin> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(None | Some(Err(_))) = &polled {
            self.held = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
