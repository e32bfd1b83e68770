//! Sends requests hop by hop, and validates each hop before connecting.
//!
//! reqwest neither validates resolved addresses nor follows redirects individually, so both happen here.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use reqwest::{
    Client, Response,
    header::{
        ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE,
        IF_NONE_MATCH, LAST_MODIFIED, LOCATION,
    },
};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use url::{Host, Url};

use crate::{
    FetchError, Limits, Policy, Resolver, body,
    error::{redact, redact_text},
    media,
    resolve::System,
};

/// The maximum length of a URL.
const MAX_URL: usize = 8 * 1024;

/// The validators of a version, for conditional requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag`, as sent by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// `Last-Modified`, as sent by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// A request.
#[derive(Clone, Default)]
pub struct Request {
    /// An absolute URL.
    pub url: String,
    /// Accepted content types: `text/html`, `text/*`, `application/*+json`, `*/*`.
    pub accept: Vec<String>,
    /// The known version; if it is current, the result is [`Fetched::Unchanged`].
    pub known: Validators,
    /// The `Authorization` header; never sent to another origin, even after redirects.
    pub authorization: Option<String>,
    /// Additional headers by name, treated like `authorization`, as they may contain secrets.
    pub headers: Vec<(String, String)>,
    /// The JSON body of a POST; without it, the request is a GET. Redirects of a POST are not followed.
    pub json: Option<serde_json::Value>,
}

impl Request {
    /// Creates a GET request that accepts any content type.
    pub fn get(url: impl Into<String>) -> Self {
        Request { url: url.into(), accept: vec!["*/*".into()], ..Request::default() }
    }

    /// Accepts only these content types.
    pub fn accepting(mut self, types: &[&str]) -> Self {
        self.accept = types.iter().map(|name| (*name).to_owned()).collect();
        self
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = redact_text(&self.url);
        f.debug_struct("Request").field("url", &url).field("accept", &self.accept).finish_non_exhaustive()
    }
}

/// The result of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// The known version is current.
    Unchanged,
    /// A decompressed body.
    Body {
        /// The content type sent by the server; empty if missing.
        content_type: String,
        /// The bytes.
        bytes: Vec<u8>,
        /// The validators of this version.
        version: Validators,
        /// The final URL, without secrets.
        url: String,
    },
}

/// Fetches URLs within a [`Policy`] and [`Limits`]. Cheap to clone.
#[derive(Clone)]
pub struct Fetcher {
    policy: Arc<Policy>,
    limits: Limits,
    resolver: Arc<dyn Resolver>,
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("policy", &self.policy).field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Fetcher {
    /// Creates a fetcher with the default limits and the resolver of the system.
    pub fn new(policy: Policy) -> Self {
        Fetcher { policy: Arc::new(policy), limits: Limits::default(), resolver: Arc::new(System) }
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the resolver.
    pub fn resolver(mut self, resolver: Arc<dyn Resolver>) -> Self {
        self.resolver = resolver;
        self
    }

    /// Checks whether a URL may be requested, without resolving its host.
    ///
    /// # Errors
    /// The reason why it is rejected.
    pub fn permits(&self, url: &str) -> Result<(), FetchError> {
        self.policy.check(&parse_url(url)?)
    }

    /// Fetches a URL. Drop the future to cancel.
    ///
    /// # Errors
    /// [`FetchError`] if the guard rejects the request, the network or the server fails, or a limit is exceeded.
    pub async fn fetch(&self, request: &Request) -> Result<Fetched, FetchError> {
        match timeout(self.limits.total, self.hops(request)).await {
            Ok(fetched) => fetched,
            Err(_) => Err(late(&redact_text(&request.url), "the response is incomplete", self.limits.total)),
        }
    }

    /// A client for one server that is asked repeatedly over sessions and streams. It connects only to addresses that the policy
    /// permits, each time the name is resolved, follows no redirect, and sends the headers of the request with each of its own.
    /// Limits of time and size are set by the caller.
    ///
    /// # Errors
    /// The refusal, or [`FetchError::Transport`] if a header cannot be sent.
    pub fn client_for(&self, request: &Request) -> Result<Client, FetchError> {
        let url = parse_url(&request.url)?;
        self.policy.check(&url)?;
        let headers = secret_headers(request, &url)?;
        let (policy, resolver) = (self.policy.clone(), self.resolver.clone());
        let client = prospector_net::client_for(&url)
            .user_agent(prospector_net::USER_AGENT)
            .no_proxy()
            .referer(false)
            .default_headers(headers)
            .connect_timeout(self.limits.connect)
            .dns_resolver(Arc::new(Judged { url: url.clone(), policy, resolver }));
        client.build().map_err(|error| FetchError::Transport { url: redact(&url), reason: body::reason(error) })
    }

    async fn hops(&self, request: &Request) -> Result<Fetched, FetchError> {
        let mut url = parse_url(&request.url)?;
        let origin = url.origin();
        for _ in 0..=self.limits.redirects {
            url.set_fragment(None);
            let addresses = self.addresses(&url).await?;
            let response = self.send(request, &url, &addresses, url.origin() == origin).await?;
            match response.status().as_u16() {
                301 | 302 | 303 | 307 | 308 if request.json.is_none() => {
                    let location = response.headers().get(LOCATION).map(|value| value.as_bytes());
                    url = next(&url, location)?;
                }
                304 if request.known != Validators::default() => return Ok(Fetched::Unchanged),
                200..=203 => return self.receive(request, &url, response).await,
                status => return Err(FetchError::Status { url: redact(&url), status }),
            }
        }
        let reason = format!("more than {} redirects", self.limits.redirects);
        Err(FetchError::Redirect { url: redact(&url), reason })
    }

    /// Returns the addresses of the host, all of which must be allowed: a name that mixes allowed and disallowed addresses is suspicious.
    async fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, FetchError> {
        self.policy.check(url)?;
        let name = match url.host() {
            Some(Host::Domain(name)) => name,
            // Literal addresses are validated with the URL and need no resolution.
            _ => return Ok(Vec::new()),
        };
        let failed = |reason: String| FetchError::Resolve { url: redact(url), reason };
        let found: Vec<IpAddr> = match timeout(self.limits.connect, self.resolver.resolve(name)).await {
            Ok(found) => found.map_err(|error| failed(error.to_string()))?,
            Err(_) => return Err(late(&redact(url), "the host name was not resolved", self.limits.connect)),
        };
        if found.is_empty() {
            return Err(failed("the host has no address".to_owned()));
        }
        for address in &found {
            self.policy.check_address(url, *address)?;
        }
        let port = url.port_or_known_default().unwrap_or(80);
        Ok(found.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }

    async fn send(
        &self,
        request: &Request,
        url: &Url,
        addresses: &[SocketAddr],
        at_home: bool,
    ) -> Result<Response, FetchError> {
        let failed = |error: reqwest::Error| FetchError::Transport { url: redact(url), reason: body::reason(error) };
        let client = self.client(url, addresses).map_err(failed)?;
        let mut sent = match &request.json {
            Some(json) => client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(json.to_string()),
            None => client.get(url.clone()),
        };
        sent = sent.header(ACCEPT, request.accept.join(", ")).header(ACCEPT_ENCODING, "gzip, deflate");
        let known = [(IF_NONE_MATCH, &request.known.etag), (IF_MODIFIED_SINCE, &request.known.last_modified)];
        for (name, value) in known {
            if let Some(value) = value {
                sent = sent.header(name, value);
            }
        }
        if at_home {
            for (name, value) in &secret_headers(request, url)? {
                sent = sent.header(name, value);
            }
        }
        let limit = self.limits.connect + self.limits.stall;
        match timeout(limit, sent.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_timeout() => Err(late(&redact(url), "no connection", self.limits.connect)),
            Ok(Err(error)) => Err(failed(error)),
            Err(_) => Err(late(&redact(url), "no answer", limit)),
        }
    }

    /// Returns a client for one hop: it only knows the validated host and addresses.
    fn client(&self, url: &Url, addresses: &[SocketAddr]) -> reqwest::Result<Client> {
        let mut client = prospector_net::client_for(url)
            .user_agent(prospector_net::USER_AGENT)
            .retry(reqwest::retry::never())
            .no_proxy()
            .referer(false)
            .http1_only()
            .pool_max_idle_per_host(0)
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .connect_timeout(self.limits.connect)
            // The client can resolve no other name.
            .dns_resolver(Arc::new(Nowhere));
        if let (Some(host), false) = (url.host_str(), addresses.is_empty()) {
            client = client.resolve_to_addrs(host, addresses);
        }
        client.build()
    }

    async fn receive(&self, request: &Request, url: &Url, response: Response) -> Result<Fetched, FetchError> {
        let header = |name: HeaderName| text(response.headers(), name);
        let content_type = header(CONTENT_TYPE).unwrap_or_default();
        let version = Validators { etag: header(ETAG), last_modified: header(LAST_MODIFIED) };
        if !media::is_accepted(&media::essence(&content_type), &request.accept) {
            let found = media::essence(&content_type).chars().take(100).collect();
            return Err(FetchError::ContentType { url: redact(url), found });
        }
        let redacted = redact(url);
        let bytes = body::read(response, &redacted, &self.limits).await?;
        Ok(Fetched::Body { content_type, bytes, version, url: redacted })
    }
}

/// A resolver that resolves nothing.
struct Nowhere;

impl reqwest::dns::Resolve for Nowhere {
    fn resolve(&self, _: reqwest::dns::Name) -> reqwest::dns::Resolving {
        Box::pin(async { Err("the host name was not validated".into()) })
    }
}

/// A resolver for one host, whose addresses are all judged: see [`Fetcher::client_for`].
struct Judged {
    url: Url,
    policy: Arc<Policy>,
    resolver: Arc<dyn Resolver>,
}

impl reqwest::dns::Resolve for Judged {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let (url, policy, resolver) = (self.url.clone(), self.policy.clone(), self.resolver.clone());
        Box::pin(async move {
            if url.host_str() != Some(name.as_str()) {
                return Err("this name was not checked".into());
            }
            let found = resolver.resolve(name.as_str()).await?;
            for address in &found {
                policy.check_address(&url, *address)?;
            }
            let addresses: reqwest::dns::Addrs = Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
        })
    }
}

/// Returns the headers of a request that may contain secrets.
fn secret_headers(request: &Request, url: &Url) -> Result<HeaderMap, FetchError> {
    let authorization = request.authorization.iter().map(|value| ("Authorization", value.as_str()));
    let more = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut headers = HeaderMap::new();
    for (name, value) in authorization.chain(more) {
        let reason = format!("the {name} header contains invalid characters");
        let unsendable = || FetchError::Transport { url: redact(url), reason: reason.clone() };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unsendable())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| unsendable())?;
        value.set_sensitive(true);
        headers.append(key, value);
    }
    Ok(headers)
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

fn late(url: &str, what: &'static str, limit: Duration) -> FetchError {
    FetchError::Timeout { url: url.to_owned(), what, seconds: limit.as_secs_f32() }
}

fn parse_url(text: &str) -> Result<Url, FetchError> {
    let wrong = |reason: String| FetchError::Url { url: redact_text(text), reason };
    if text.len() > MAX_URL {
        return Err(wrong(format!("it is longer than {MAX_URL} bytes")));
    }
    Url::parse(text.trim()).map_err(|error| wrong(error.to_string()))
}

/// Returns the target of a redirect.
fn next(url: &Url, location: Option<&[u8]>) -> Result<Url, FetchError> {
    let refused = |reason: &str| FetchError::Redirect { url: redact(url), reason: reason.to_owned() };
    let location = location.and_then(|bytes| std::str::from_utf8(bytes).ok()).filter(|text| text.len() <= MAX_URL);
    let to = location.and_then(|location| url.join(location).ok());
    let to = to.ok_or_else(|| refused("the redirect target is not a valid URL"))?;
    if url.scheme() == "https" && to.scheme() == "http" {
        return Err(refused("the redirect downgrades from https to http"));
    }
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: &str, location: Option<&str>, expected: Result<&str, &str>) {
        let to = next(&Url::parse(from).unwrap(), location.map(str::as_bytes));
        match (to, expected) {
            (Ok(to), Ok(expected)) => assert_eq!(to.as_str(), expected),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (to, _) => panic!("{location:?}: {to:?}"),
        }
    }

    #[test]
    fn resolves_relative_redirects_and_rejects_downgrades() {
        check("https://a.net/x/y", Some("../z"), Ok("https://a.net/z"));
        check("https://a.net/x", Some("//b.net/z"), Ok("https://b.net/z"));
        check("http://a.net/x", Some("https://a.net/x"), Ok("https://a.net/x"));
        check(
            "https://a.net/x?key=s",
            Some("http://a.net/"),
            Err("cannot fetch `https://a.net/x?…`: the redirect downgrades from"),
        );
        check("https://a.net/x", None, Err("not a valid URL"));
        check("https://a.net/x", Some("http://["), Err("not a valid URL"));
    }
}
