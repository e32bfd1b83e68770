//! The events of a run as numbered server-sent events. A client that reconnects with the number of the last event it received gets the
//! rest.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Json,
    http::{HeaderMap, HeaderValue, header},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures::stream;

use crate::{
    error::Refusal,
    run::{Follower, Run, StopOnDrop},
    server::Server,
};

/// Whether the client wants events.
pub(crate) fn are_wanted(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepts.flat_map(|value| value.split(',')).any(|media| {
        media.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("text/event-stream"))
    })
}

/// Returns the number of the last event that the client received, or 0.
pub(crate) fn last_seen(headers: &HeaderMap) -> Result<usize, Refusal> {
    let Some(value) = headers.get("last-event-id") else { return Ok(0) };
    let number = value.to_str().ok().and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| {
        Refusal::invalid("Last-Event-ID must be the number of an event").advise("omit it to start from the first event")
    })
}

/// Returns the events of a run after event number `after`.
pub(crate) fn of(server: &Server, run: &Arc<Run>, after: usize) -> Response {
    let limits = &server.options.limits;
    // A turn of a workflow continues without its client, because its result is stored.
    let linger = if run.workflow.is_some() { limits.turn_time } else { limits.linger };
    let follower = run.follow(after, linger);
    let events = stream::unfold(follower, |mut follower: Follower| async move {
        let (number, happened) = follower.next().await?;
        let event = Event::default().id(number.to_string()).event(&happened.name).data(happened.data.to_string());
        Some((Ok::<_, Infallible>(event), follower))
    });
    let alive = KeepAlive::new().interval(limits.heartbeat).text("alive");
    let mut response = Sse::new(events).keep_alive(alive).into_response();
    // Keeps proxies from buffering the stream.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Returns a run as events or as one response. A client that waits for one response and disconnects cancels the run, except a turn of a
/// workflow.
pub(super) async fn respond(server: &Server, run: &Arc<Run>, headers: &HeaderMap) -> Response {
    if are_wanted(headers) {
        return of(server, run, 0);
    }
    let _waiting = run.workflow.is_none().then(|| StopOnDrop(run.clone()));
    let end = run.wait().await;
    match &end.failure {
        None => Json(&*end.result).into_response(),
        Some(failure) => failure.with("result", &end.result),
    }
}
