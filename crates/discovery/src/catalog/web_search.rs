//! Search of the web for what nothing in the catalog says, where the catalog names a server for it.
//!
//! The server is a SearXNG: `GET URL?q=QUESTION&format=json` answers `{"results": [{"url", "title", "content"}]}`,
//! <https://docs.searxng.org/dev/search_api.html>. The page behind a result is not opened: nobody named it.

use prospector_facts::Passage;
use prospector_fetch::{Request, cache::HttpCache};
use serde::Deserialize;
use url::Url;

use super::file::WebSearchEntry;

/// A longer text of a result is cut.
const LONGEST: usize = 2_000;

/// What comes first is what the server holds for the best; none is as near as a passage of the catalog's own.
const BEST: f32 = 0.6;

/// Asks a server, and keeps its answers.
pub(crate) struct WebSearch {
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
    pub(crate) async fn passages(&self, question: &str, limit: usize) -> Result<Vec<Passage>, String> {
        let mut url = Url::parse(&self.url).map_err(|error| error.to_string())?;
        url.query_pairs_mut().append_pair("q", question).append_pair("format", "json");
        let request = Request {
            authorization: self.authorization.clone(),
            ..Request::get(url).accepting(&["application/json", "text/json"])
        };
        let saved = self.kept.get(&request).await.map_err(|error| error.to_string())?;
        let bytes = tokio::fs::read(&saved.path).await.map_err(|error| error.to_string())?;
        let answer: Answer =
            serde_json::from_slice(&bytes).map_err(|error| format!("the answer is no search result: {error}"))?;
        let has_text = |found: &Found| !found.content.trim().is_empty() && !found.url.is_empty();
        let results = answer.results.into_iter().filter(has_text).take(limit);
        Ok(results.enumerate().map(|(at, found)| passage(at, found)).collect())
    }
}

fn passage(at: usize, found: Found) -> Passage {
    let text: String = found.content.chars().take(LONGEST).collect();
    // A `#` would name a section.
    let name = found.url.split('#').next().unwrap_or_default().to_owned();
    let text = if found.title.trim().is_empty() { text } else { format!("# {}\n\n{text}", found.title.trim()) };
    Passage { source_type: "web".into(), name, text, relevance: BEST / (1.0 + at as f32 * 0.1) }
}
