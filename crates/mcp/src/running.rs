//! The calls that run in a session, so that a request of the server during a call reaches the client of that call.
//!
//! The protocol does not say which call a request of a server belongs to: it reaches a client only while a single call runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use prospector_core::{
    mark::clean,
    tool::client::{CurrentClient, Progress},
};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ProgressNotificationParam};
use serde_json::Value;

use crate::{definition::clean_value, error::repeat};

/// Maximum number of requests for input during one call.
const MAX_QUESTIONS: usize = 5;
/// Maximum bytes of a request for input, and of a response.
const MAX_QUESTION_BYTES: usize = 64 << 10;
/// Maximum number of progress reports of one call that are forwarded.
const MAX_REPORTS: usize = 1_000;
/// Maximum bytes of an address to open.
const MAX_ADDRESS_BYTES: usize = 2_000;

/// The running calls of a session.
#[derive(Debug)]
pub(crate) struct Running {
    /// The name of the server.
    server: String,
    calls: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    id: u64,
    client: Option<CurrentClient>,
    questions: usize,
    reports: usize,
}

/// A running call; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct RunningCall<'a> {
    running: &'a Running,
    id: u64,
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.running.lock().retain(|entry| entry.id != self.id);
    }
}

impl Running {
    pub(crate) fn new(server: &str) -> Self {
        Running { server: server.to_owned(), calls: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a call of this client.
    pub(crate) fn begin(&self, client: Option<CurrentClient>) -> RunningCall<'_> {
        let mut calls = self.lock();
        let id = calls.last().map_or(0, |last| last.id + 1);
        calls.push(Entry { id, client, questions: 0, reports: 0 });
        RunningCall { running: self, id }
    }

    /// Returns the client of the only running call, if `may` permits it.
    fn only(&self, may: impl FnOnce(&mut Entry) -> bool) -> Option<CurrentClient> {
        match self.lock().as_mut_slice() {
            [entry] => may(entry).then(|| entry.client.clone())?,
            _ => None,
        }
    }

    /// Asks the user of the running call for input; declines for a request that is not shown to users.
    pub(crate) async fn elicit(&self, request: ElicitRequestParams) -> ElicitResult {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let client = self.only(|entry| {
            entry.questions += 1;
            entry.questions <= MAX_QUESTIONS
        });
        let (Some(client), Some(request)) = (client, self.sanitize(request)) else { return declined };
        let Some(response) = client.elicit(request).await else { return ElicitResult::new(ElicitationAction::Cancel) };
        let is_small = response.to_string().len() <= MAX_QUESTION_BYTES;
        let parsed = is_small.then(|| serde_json::from_value(response).ok()).flatten();
        parsed.unwrap_or(ElicitResult::new(ElicitationAction::Cancel))
    }

    /// Returns the request as the client gets it: with the name of the server, every text cleaned. `None` if it is too large, or its
    /// address is not https.
    fn sanitize(&self, request: ElicitRequestParams) -> Option<Value> {
        let is_large = serde_json::to_string(&request).map_or(true, |text| text.len() > MAX_QUESTION_BYTES);
        if is_large {
            return None;
        }
        let named = |message: &str| format!("The MCP server `{}`: {}", self.server, repeat(message));
        let request = match request {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = clean_value(&serde_json::to_value(requested_schema).ok()?);
                let requested_schema = serde_json::from_value(schema).ok()?;
                ElicitRequestParams::FormElicitationParams { meta: None, message: named(&message), requested_schema }
            }
            ElicitRequestParams::UrlElicitationParams { message, url, elicitation_id, .. } => {
                let is_shown =
                    url.starts_with("https://") && url.len() <= MAX_ADDRESS_BYTES && clean(&url, url.len()) == url;
                if !is_shown {
                    return None;
                }
                let elicitation_id = clean(&elicitation_id, MAX_ADDRESS_BYTES);
                ElicitRequestParams::UrlElicitationParams { meta: None, message: named(&message), url, elicitation_id }
            }
            _ => return None,
        };
        serde_json::to_value(request).ok()
    }

    /// Forwards the progress of the running call.
    pub(crate) async fn report(&self, progress: ProgressNotificationParam) {
        let client = self.only(|entry| {
            entry.reports += 1;
            entry.reports <= MAX_REPORTS
        });
        let Some(client) = client else { return };
        let message = progress.message.map(|message| repeat(&message));
        client.report(Progress { done: progress.progress, total: progress.total, message }).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use prospector_core::{
        record::ResourceKind,
        tool::{
            BoxFuture,
            client::{Client, current_client, with_client},
        },
    };
    use serde_json::json;

    use super::*;

    /// A client that accepts every request.
    #[derive(Debug)]
    struct Accepting;

    impl Client for Accepting {
        fn elicit(&self, _: Value) -> BoxFuture<'_, Option<Value>> {
            Box::pin(async { Some(json!({"action": "accept"})) })
        }

        fn report(&self, _: Progress) -> BoxFuture<'_, ()> {
            Box::pin(async {})
        }

        fn attach(&self, _: Value) {}

        fn link(&self, _: ResourceKind, _: &str) {}
    }

    #[tokio::test]
    async fn a_request_during_two_calls_reaches_neither() {
        with_client(Arc::new(Accepting), async {
            let form = json!({"mode": "form", "message": "Which city?", "requestedSchema": {"type": "object", "properties": {}}});
            let ask = async |running: &Running| {
                running.elicit(serde_json::from_value(form.clone()).unwrap()).await.action
            };
            let running = Running::new("scripted");
            let first = running.begin(current_client());
            assert_eq!(ask(&running).await, ElicitationAction::Accept);
            let second = running.begin(None);
            assert_eq!(ask(&running).await, ElicitationAction::Decline);
            drop(first);
            assert_eq!(ask(&running).await, ElicitationAction::Decline, "the second call has no client");
            drop(second);
            assert_eq!(ask(&running).await, ElicitationAction::Decline);
        })
        .await;
    }
}
