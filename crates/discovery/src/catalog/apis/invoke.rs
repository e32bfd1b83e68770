//! Calls of operations of entries with `invoke`, through the guarded fetcher, without redirects.
//!
//! `invoke: true` allows the host of the API according to the catalog, or else according to its description; `invoke: [api.example.com]`
//! allows only these hosts. The `headers` of the entry, with values from the environment, are sent only to hosts named in the catalog,
//! never to a host named only in the description.

use std::{collections::HashMap, fmt, time::Duration};

use async_trait::async_trait;
use prospector_api::invoke::{Call, Caller, Message, NotCalled, Reply};
use prospector_fetch::{FetchError, Fetched, Fetcher, Limits, Policy, Request, Rule};
use url::Url;

use crate::catalog::{entry::Fields, file_schema::InvokeEntry, web::parse_rule};

/// Content types of textual responses.
const ANSWER_TYPES: &[&str] = &[
    "application/json",
    "application/*+json",
    "application/xml",
    "application/*+xml",
    "application/yaml",
    "application/x-yaml",
    "text/*",
];
/// Maximum size of a response; far less of it is shown.
const MAX_ANSWER_BYTES: usize = 4 << 20;

/// The call settings of an entry.
#[derive(Clone, Default)]
pub(in crate::catalog) struct Invoke {
    /// The hosts that may be called; if empty, the host of the API.
    pub(in crate::catalog) hosts: Vec<Rule>,
    /// The base URL of the API from the catalog, with values from the environment.
    pub(in crate::catalog) base: Option<String>,
    /// The host of a URL of the entry, which may receive the headers.
    pub(in crate::catalog) named: Option<String>,
    /// Names and values.
    pub(in crate::catalog) headers: Vec<(String, String)>,
}

impl fmt::Debug for Invoke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invoke").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// Checks `invoke` (`true` or the allowed hosts) and `headers`; returns `None` if the API may not be called.
pub(super) fn read(
    fields: &mut Fields<'_>,
    invoke: Option<InvokeEntry>,
    headers: Option<Vec<String>>,
    served: Option<String>,
    fetched: Option<&str>,
) -> Option<Invoke> {
    let (is_allowed, names) = match invoke {
        Some(InvokeEntry::Anywhere(is_allowed)) => (is_allowed, Vec::new()),
        Some(InvokeEntry::Hosts(names)) => (!names.is_empty(), names),
        None => (false, Vec::new()),
    };
    let line = fields.line();
    let mut hosts = Vec::new();
    for host in names {
        match parse_rule(&host, fields.reader.lookup) {
            Ok(rule) => hosts.push(rule),
            Err(error) => fields.fail(line, format!("`invoke`: {error}"), "write `invoke: [api.example.com]`"),
        }
    }
    let headers = fields.headers(headers);
    if !headers.is_empty() && !is_allowed {
        fields.fail(line, "`headers` require `invoke`", "write `invoke: true`");
    }
    if !is_allowed {
        return None;
    }
    let base = fields.address("url", served);
    let host = |url: &str| Url::parse(url).ok()?.host_str().map(str::to_owned);
    let named = base.as_deref().or(fetched).and_then(host);
    Some(Invoke { hosts, base, named, headers })
}

/// Calls the APIs that may be called.
#[derive(Debug)]
pub(in crate::catalog) struct HttpCaller {
    /// By name of the API.
    apis: HashMap<String, (Invoke, Fetcher)>,
}

impl HttpCaller {
    /// `allow` contains the private hosts that may be contacted.
    pub(in crate::catalog) fn new(apis: Vec<(String, Invoke)>, allow: &[Rule]) -> Self {
        let total = Duration::from_secs(30);
        let limits = Limits { bytes: MAX_ANSWER_BYTES, total, redirects: 0, ..Limits::default() };
        let with_fetcher = |(name, invoke): (String, Invoke)| {
            let policy = match invoke.hosts.as_slice() {
                [] => Policy { allow: allow.to_vec(), public: true },
                hosts => Policy { allow: hosts.to_vec(), public: false },
            };
            (name, (invoke, Fetcher::new(policy).limits(limits)))
        };
        HttpCaller { apis: apis.into_iter().map(with_fetcher).collect() }
    }

    /// Returns the sorted names of the APIs.
    pub(in crate::catalog) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.apis.keys().cloned().collect();
        names.sort();
        names
    }
}

/// Returns the path and the GraphQL query of a call.
fn split(call: &Call) -> Result<(&str, Option<&serde_json::Value>), NotCalled> {
    match &call.message {
        Message::Get(path) => Ok((path, None)),
        Message::Query(query) => Ok(("", Some(query))),
        Message::Tool { .. } => Err(not_called(call, "it is not an MCP server", "use it as a step of the plan")),
    }
}

/// Returns the URL of a call.
fn address(invoke: &Invoke, call: &Call) -> Result<Url, NotCalled> {
    let Some(base) = invoke.base.as_ref().or(call.url.as_ref()) else {
        return Err(not_called(call, "its URL is unknown", "write its address as `url` in the catalog"));
    };
    let wrong = || not_called(call, "its URL is invalid", "correct its `url` in the catalog");
    let base = Url::parse(base).map_err(|_| wrong())?;
    let (path, _) = split(call)?;
    let url = Url::parse(&format!("{}{path}", base.as_str().trim_end_matches('/'))).map_err(|_| wrong())?;
    let url = if path.is_empty() { base.clone() } else { url };
    if url.origin() != base.origin() || base.query().is_some() && !path.is_empty() {
        return Err(wrong());
    }
    let trusted = !invoke.hosts.is_empty() || invoke.named.as_deref() == url.host_str();
    if !invoke.headers.is_empty() && !trusted {
        let host = url.host_str().unwrap_or_default();
        let advice = format!("write `invoke: [{host}]` in the catalog");
        return Err(not_called(call, "its headers are sent only to hosts named in the catalog", &advice));
    }
    Ok(url)
}

fn not_called(call: &Call, reason: &str, advice: &str) -> NotCalled {
    NotCalled { reason: format!("`{}` is not called: {reason}", call.api), advice: advice.to_owned() }
}

#[async_trait]
impl Caller for HttpCaller {
    async fn call(&self, call: &Call) -> Result<Reply, NotCalled> {
        let Some((invoke, fetcher)) = self.apis.get(&call.api) else {
            return Err(not_called(call, "the catalog does not allow it", "use it as a step of the plan"));
        };
        let url = address(invoke, call)?;
        let request = Request {
            headers: invoke.headers.clone(),
            json: split(call)?.1.cloned(),
            ..Request::get(url.as_str()).accepting(ANSWER_TYPES)
        };
        let failed = |error: FetchError| {
            let is_listed = !invoke.hosts.is_empty();
            let advice = match &error {
                FetchError::Host { .. } | FetchError::Address { .. } if is_listed => {
                    "add the host to `invoke`".to_owned()
                }
                _ => error.advice(),
            };
            NotCalled { reason: error.to_string(), advice }
        };
        match fetcher.fetch(&request).await.map_err(failed)? {
            Fetched::Body { bytes, url, .. } => match String::from_utf8(bytes) {
                Ok(text) => Ok(Reply::of_text(text, url)),
                Err(_) => Err(not_called(call, "its response is not UTF-8 text", "use it as a step of the plan")),
            },
            Fetched::Unchanged => Err(not_called(call, "its response is empty", "call it again")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: Option<&str>, served: Option<&str>, headers: bool, path: &str, expected: Result<&str, &str>) {
        let headers = headers.then(|| ("X-Key".to_owned(), "s".to_owned())).into_iter().collect();
        let named = base.and_then(|base| Url::parse(base).ok()?.host_str().map(str::to_owned));
        let invoke = Invoke { base: base.map(str::to_owned), named, headers, ..Invoke::default() };
        let call = Call { api: "shop".into(), url: served.map(str::to_owned), message: Message::Get(path.into()) };
        match (address(&invoke, &call), expected) {
            (Ok(url), Ok(expected)) => assert_eq!(url.as_str(), expected),
            (Err(error), Err(part)) => assert!(format!("{error:?}").contains(part), "{error:?}"),
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn calls_go_to_the_host_of_the_api() {
        check(Some("https://a.net/v1/"), None, true, "/x?y=1", Ok("https://a.net/v1/x?y=1"));
        check(Some("https://a.net/v1"), Some("https://b.net"), true, "/x", Ok("https://a.net/v1/x"));
        check(None, Some("https://b.net/v2"), false, "/x", Ok("https://b.net/v2/x"));
        check(None, Some("https://b.net/v2"), true, "/x", Err("invoke: [b.net]"));
        check(Some("https://a.net/graphql?k=1"), None, true, "", Ok("https://a.net/graphql?k=1"));
        check(Some("https://a.net"), None, false, "@evil.net/x", Err("URL is invalid"));
        check(None, Some("/v1"), false, "/x", Err("URL is invalid"));
        check(None, None, false, "/x", Err("write its address"));
    }
}
