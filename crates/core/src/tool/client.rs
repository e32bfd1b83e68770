//! The client of a call. A tool that passes the call on to another server reaches the client here, so that what the server asks or shows goes
//! past the model.

use std::{
    fmt,
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::time::{Instant, error::Elapsed};

use super::guarded::BoxFuture;
use crate::record::ResourceKind;

/// The client of a call: the program that a user sees. Requests, responses and content have the form of the Model Context Protocol.
pub trait Client: fmt::Debug + Send + Sync {
    /// Asks the user for input: `request` is the parameters of `elicitation/create`, and the result that of the client. `None` if the user
    /// does not respond in time.
    fn elicit(&self, request: Value) -> BoxFuture<'_, Option<Value>>;

    /// Reports the progress of the call.
    fn report(&self, progress: Progress) -> BoxFuture<'_, ()>;

    /// Adds a content block, such as an image, to the result of the call.
    fn attach(&self, content: Value);

    /// Adds a link to a catalog entry to the result of the call.
    fn link(&self, kind: ResourceKind, id: &str);
}

/// The progress of a call, in units of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What is done, increasing.
    pub done: f64,
    /// The value of `done` at the end, if known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// The client of the current call.
#[derive(Debug, Clone)]
pub struct CurrentClient {
    client: Arc<dyn Client>,
    waits: Arc<Waits>,
}

/// How long the user has been asked in a call.
#[derive(Debug, Default)]
struct Waits(Mutex<Waited>);

#[derive(Debug, Default)]
struct Waited {
    ended: Duration,
    /// The number of open requests, and since when there have been any.
    open: Option<(usize, Instant)>,
}

/// An open request to the user; it ends when this is dropped.
struct Asking<'a>(&'a Waits);

impl Waits {
    fn lock(&self) -> MutexGuard<'_, Waited> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> Asking<'_> {
        let mut waited = self.lock();
        let (count, since) = waited.open.unwrap_or_else(|| (0, Instant::now()));
        waited.open = Some((count + 1, since));
        Asking(self)
    }

    /// Returns the time that there was any open request.
    fn time(&self) -> Duration {
        let waited = self.lock();
        waited.ended + waited.open.map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut waited = self.0.lock();
        match waited.open {
            Some((count, since)) if count > 1 => waited.open = Some((count - 1, since)),
            Some((_, since)) => *waited = Waited { ended: waited.ended + since.elapsed(), open: None },
            None => {}
        }
    }
}

impl CurrentClient {
    /// As [`Client::elicit`]; [`timeout`] does not count the time.
    pub async fn elicit(&self, request: Value) -> Option<Value> {
        let _asking = self.waits.begin();
        self.client.elicit(request).await
    }

    /// As [`Client::report`].
    pub async fn report(&self, progress: Progress) {
        self.client.report(progress).await;
    }

    /// As [`Client::attach`].
    pub fn attach(&self, content: Value) {
        self.client.attach(content);
    }

    /// As [`Client::link`].
    pub fn link(&self, kind: ResourceKind, id: &str) {
        self.client.link(kind, id);
    }
}

tokio::task_local! {
    static CLIENT: CurrentClient;
}

/// Runs a call that can reach this client with [`current_client`], as long as it stays in its task.
pub async fn with_client<T>(client: Arc<dyn Client>, call: impl Future<Output = T>) -> T {
    CLIENT.scope(CurrentClient { client, waits: Arc::default() }, call).await
}

/// Returns the client of the current call, if it has one.
pub fn current_client() -> Option<CurrentClient> {
    CLIENT.try_with(CurrentClient::clone).ok()
}

/// Limits the time of work in a call, apart from the time in which the user is asked for input.
///
/// # Errors
/// [`Elapsed`] when the time is over.
pub async fn timeout<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, Elapsed> {
    let client = current_client();
    let waited = || client.as_ref().map_or(Duration::ZERO, |client| client.waits.time());
    let mut work = pin!(work);
    let (mut left, mut before) = (limit, waited());
    loop {
        match tokio::time::timeout(left, &mut work).await {
            Ok(done) => return Ok(done),
            Err(elapsed) => {
                let now = waited();
                left = now.saturating_sub(before);
                if left.is_zero() {
                    return Err(elapsed);
                }
                before = now;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A user who takes this long to respond.
    #[derive(Debug)]
    struct Slow(Duration);

    impl Client for Slow {
        fn elicit(&self, _: Value) -> BoxFuture<'_, Option<Value>> {
            Box::pin(async {
                tokio::time::sleep(self.0).await;
                Some(Value::Null)
            })
        }

        fn report(&self, _: Progress) -> BoxFuture<'_, ()> {
            Box::pin(async {})
        }

        fn attach(&self, _: Value) {}

        fn link(&self, _: ResourceKind, _: &str) {}
    }

    async fn check(user: u64, work: u64, limit: u64, expected: bool) {
        let seconds = Duration::from_secs;
        let call = timeout(seconds(limit), async {
            let client = current_client().unwrap();
            tokio::join!(client.elicit(Value::Null), client.elicit(Value::Null));
            tokio::time::sleep(seconds(work)).await;
        });
        let is_done = with_client(Arc::new(Slow(seconds(user))), call).await.is_ok();
        assert_eq!(is_done, expected, "{user} s of the user, {work} s of work within {limit} s");
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_the_user_does_not_count() {
        check(0, 9, 10, true).await;
        check(0, 11, 10, false).await;
        check(100, 9, 10, true).await;
        check(100, 11, 10, false).await;
        check(5, 9, 10, true).await;
        check(5, 11, 10, false).await;
    }

    #[tokio::test]
    async fn only_a_call_has_a_client() {
        assert!(current_client().is_none());
    }
}
