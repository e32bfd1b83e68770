//! Search of the web for what nothing in the catalog says, where the catalog names a server for it.
//!
//! The server is a SearXNG: `GET URL?q=QUESTION&format=json` answers `{"results": [{"url", "title", "content"}]}`,
//! <https://docs.searxng.org/dev/search_api.html>. The page behind a result is not opened: nobody named it.

use prospector_facts::evidence::Passage;
use prospector_fetch::{FetchError, Request, cache::HttpCache};
use serde::Deserialize;
use url::Url;

use super::{
    entry::{EntryReader, address, optional},
    node::Placed,
};

/// A longer text of a result is cut.
const MAX_RESULT_CHARS: usize = 2_000;

/// What searches the web for facts that nothing in the catalog holds.
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
    /// Reads the mapping behind `web_search`.
    pub(super) fn read(reader: &mut EntryReader<'_>, entry: Placed) -> Option<Self> {
        let lookup = reader.lookup;
        let mut fields = reader.fields("web_search", entry, &["url", "token"])?;
        let Some((written, line)) = fields.text("url") else {
            let line = fields.line();
            fields.fail(line, "web_search has no `url`", "write the search page of a SearXNG server");
            return None;
        };
        let url = address(&mut fields, "url", &written, line, lookup);
        let token = optional(&mut fields, "token", lookup);
        url.filter(|_| !fields.has_failed()).map(|url| WebSearchEntry { url, token })
    }
}

/// Why a search of the web has no results.
#[derive(Debug, thiserror::Error)]
pub(super) enum WebSearchError {
    /// The catalog names no address.
    #[error(transparent)]
    Address(#[from] url::ParseError),
    /// The server did not answer.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The kept answer cannot be read.
    #[error(transparent)]
    Copy(#[from] std::io::Error),
    /// The answer is not that of a SearXNG.
    #[error("the answer is no search result: {0}")]
    Answer(#[from] serde_json::Error),
}

/// Asks a server, and keeps its answers.
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

    /// What the web says, best first.
    ///
    /// # Errors
    /// Why the server did not answer, without secrets.
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
    // A `#` would name a section.
    let name = found.url.split('#').next().unwrap_or_default().to_owned();
    Passage { source_type: "web".into(), name, heading: found.title.trim().to_owned(), text }
}
