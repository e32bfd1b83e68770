//! Requests of the OAuth protocol, within the policy of the server and limits of size, time and number.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use prospector_fetch::{Fetcher, Policy, Request};
use reqwest::{Response, Url, header::CONTENT_TYPE};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};

use super::fail;
use crate::{
    McpError,
    error::{explain_request, repeat},
};

/// Bytes of a metadata document, a registration or a token response.
const MAX_BYTES: usize = 256 * 1024;
/// Requests of one sign-in or refresh; metadata may name any number of authorization servers.
const MAX_REQUESTS: usize = 40;
/// How long one request may take.
const MAX_TIME: Duration = Duration::from_secs(15);

/// Sends requests of the OAuth protocol. Redirects are not followed: the SDK follows those of metadata within one origin.
pub(super) struct Requests {
    fetcher: Fetcher,
    /// Whether the URL of the server is https; then all others must be, too.
    is_secure: bool,
    left: AtomicUsize,
    /// Why the last request failed: the errors of the SDK do not contain it.
    failure: Mutex<Option<McpError>>,
}

impl Requests {
    pub(super) fn new(policy: Policy, url: &str) -> Self {
        let is_secure = url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        Requests {
            fetcher: Fetcher::new(policy),
            is_secure,
            left: AtomicUsize::new(MAX_REQUESTS),
            failure: Mutex::default(),
        }
    }

    /// Returns why the last request failed, if it did.
    pub(super) fn take_failure(&self) -> Option<McpError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Checks an endpoint of the metadata.
    ///
    /// # Errors
    /// If the policy does not permit its host, or it is not https although the server is.
    pub(super) fn check(&self, url: &str) -> Result<(), McpError> {
        self.fetcher.permits(url)?;
        let url = Url::parse(url).map_err(|error| fail(&error.to_string()))?;
        if self.is_secure && url.scheme() != "https" {
            return Err(fail(&format!("`{}` must be https, as the server is", show(&url))));
        }
        Ok(())
    }

    async fn send(&self, request: http::Request<Vec<u8>>) -> Result<http::Response<Vec<u8>>, McpError> {
        let fewer = |left: usize| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer).is_err() {
            return Err(fail(&format!("the metadata requires more than {MAX_REQUESTS} requests")));
        }
        let address = request.uri().to_string();
        self.check(&address)?;
        let client = self.fetcher.client_for(&Request::get(address.as_str()))?;
        let request = reqwest::Request::try_from(request).map_err(fail_request)?;
        let shown = show(request.url());
        receive(client.execute(request).await.map_err(fail_request)?, &shown).await
    }
}

/// Reads a response within the limit. An event stream, as the server itself may open one, has no end and is not read.
async fn receive(response: Response, shown: &str) -> Result<http::Response<Vec<u8>>, McpError> {
    let mut built = http::Response::builder().status(response.status());
    for (name, value) in response.headers() {
        built = built.header(name, value);
    }
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_stream = content_type.is_some_and(|value| value.starts_with("text/event-stream"));
    let is_json = content_type.is_some_and(|value| value.contains("json"));
    let is_read = is_json || !is_stream && response.status() != http::StatusCode::UNAUTHORIZED;
    let mut bytes = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = if is_read { chunks.next().await } else { None } {
        let chunk = chunk.map_err(fail_request)?;
        if bytes.len() + chunk.len() > MAX_BYTES {
            return Err(fail(&format!("`{shown}` has more than {MAX_BYTES} bytes")));
        }
        bytes.extend_from_slice(&chunk);
    }
    built.body(bytes).map_err(|error| fail(&error.to_string()))
}

impl OAuthHttpClient for Requests {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            self.take_failure();
            let shown =
                Url::parse(&request.request.uri().to_string()).map_or_else(|_| "?".to_owned(), |url| show(&url));
            let sent = tokio::time::timeout(MAX_TIME, self.send(request.request)).await;
            let late = || fail(&format!("`{shown}` took longer than {} s", MAX_TIME.as_secs()));
            sent.unwrap_or_else(|_| Err(late())).map_err(|error| {
                let reason = error.to_string();
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                reason.into()
            })
        })
    }
}

/// Returns a URL without its query, which may contain a secret.
fn show(url: &Url) -> String {
    repeat(&format!("{}{}", url.origin().ascii_serialization(), url.path()))
}

fn fail_request(error: reqwest::Error) -> McpError {
    McpError::Http { reason: explain_request(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_of_a_secure_server_must_be_secure() {
        let check = |server: &str, endpoint: &str, passes: bool| {
            let requests = Requests::new(Policy { public: true, ..Policy::default() }, server);
            let checked = requests.check(endpoint);
            assert_eq!(checked.is_ok(), passes, "{server} {endpoint}: {checked:?}");
        };
        check("https://a.example/mcp", "https://login.example/token", true);
        check("HTTPS://a.example/mcp", "http://login.example/token", false);
        check("http://a.example/mcp", "http://login.example/token", true);
        check("https://a.example/mcp", "https://10.0.0.1/token", false);
        check("https://a.example/mcp", "https://user@login.example/token", false);
        check("https://a.example/mcp", "javascript:alert(1)", false);
    }
}
