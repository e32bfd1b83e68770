//! Web search for terms that the catalog does not define, if the catalog names a server.
//!
//! The server is a SearXNG instance: `GET URL?q=QUESTION&format=json` returns `{"results": [{"url", "title", "content"}]}`,
//! <https://docs.searxng.org/dev/search_api.html>. The pages of results are not opened, since their URLs are untrusted.

use prospector_facts::evidence::Passage;
use prospector_fetch::{FetchError, Request, cache::HttpCache};
use serde::Deserialize;
use url::Url;

use super::{entry::Fields, file_schema};

/// Maximum length of the text of a result.
const MAX_RESULT_CHARS: usize = 2_000;

/// A search engine for terms that the catalog does not define.
pub(super) struct WebSearchEntry {
    /// The search page of a SearXNG server, with values from the environment.
    pub(super) url: String,
    pub(super) token: Option<String>,
}

impl std::fmt::Debug for WebSearchEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebSearchEntry").finish_non_exhaustive()
    }
}

impl WebSearchEntry {
    /// Checks the mapping `web_search`.
    pub(super) fn check(fields: &mut Fields<'_>, written: file_schema::WebSearchEntry) -> Option<Self> {
        let (url, token) = (fields.address("url", Some(written.url)), fields.expand("token", written.token));
        Some(WebSearchEntry { url: url?, token })
    }
}

/// Why a web search has no results.
#[derive(Debug, thiserror::Error)]
pub(super) enum WebSearchError {
    /// The URL in the catalog is invalid.
    #[error(transparent)]
    Address(#[from] url::ParseError),
    /// The server did not respond.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The stored response cannot be read.
    #[error(transparent)]
    Copy(#[from] std::io::Error),
    /// The response is not that of a SearXNG server.
    #[error("the response is not a search result: {0}")]
    Answer(#[from] serde_json::Error),
}

/// Queries a server, and caches its responses.
pub(super) struct WebSearch {
    kept: HttpCache,
    url: String,
    authorization: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    #[serde(default)]
    url: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    content: String,
}

impl WebSearch {
    pub(super) fn new(kept: HttpCache, entry: WebSearchEntry) -> Self {
        let authorization = entry.token.map(|token| format!("Bearer {token}"));
        WebSearch { kept, url: entry.url, authorization }
    }

    /// Returns the text of web search results, best first.
    ///
    /// # Errors
    /// If the server does not respond; errors contain no secrets.
    pub(super) async fn passages(&self, question: &str, limit: usize) -> Result<Vec<Passage>, WebSearchError> {
        let mut url = Url::parse(&self.url)?;
        url.query_pairs_mut().append_pair("q", question).append_pair("format", "json");
        let request = Request {
            authorization: self.authorization.clone(),
            ..Request::get(url).accepting(&["application/json", "text/json"])
        };
        let saved = self.kept.get(&request).await?;
        let bytes = tokio::fs::read(&saved.path).await?;
        let answer: Answer = serde_json::from_slice(&bytes)?;
        let has_text = |found: &Found| !found.content.trim().is_empty() && !found.url.is_empty();
        let results = answer.results.into_iter().filter(has_text).take(limit);
        Ok(results.map(passage).collect())
    }
}

fn passage(found: Found) -> Passage {
    let text = found.content.chars().take(MAX_RESULT_CHARS).collect();
    // A `#` would denote a section.
    let name = found.url.split('#').next().unwrap_or_default().to_owned();
    Passage { source_type: "web".into(), name, heading: found.title.trim().to_owned(), text }
}
