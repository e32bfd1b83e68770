//! HTTP access: documents and APIs of the catalog, and pages linked from skills.
//!
//! URLs in the catalog are chosen by its maintainer: they may point to any public host, and to the hosts of `fetch: {allow: [..]}`. URLs
//! inside skills are not: they may point to the allowed hosts, and to other public hosts only with `fetch: {public: true}`.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use prospector_core::Problem;
use prospector_documents::{Format, formats};
use prospector_fetch::{
    FetchError, Fetcher, Policy, Request, Rule,
    cache::{Freshness, HttpCache, Saved},
};
use prospector_skills::{PageText, Pages, Refusal};

use super::{
    entry::EntryReader,
    environment::{Environment, EnvironmentError, environment},
    file_schema,
    node::Placed,
    web_search::{WebSearch, WebSearchEntry},
};

/// Copies of catalog URLs younger than this are used without revalidation.
const MAX_COPY_AGE: Duration = Duration::from_secs(10 * 60);
/// Copies of pages linked from skills younger than this are used without revalidation.
const MAX_PAGE_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// Number of concurrent fetches.
const MAX_FETCHES: usize = 8;

/// Content types of documents; the format of `application/octet-stream` is detected from name and content.
pub(super) const DOCUMENT_TYPES: &[&str] = &[
    "text/*",
    "application/xhtml+xml",
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.*",
    "application/octet-stream",
];
/// Content types of API descriptions.
pub(super) const API_TYPES: &[&str] = &[
    "application/json",
    "application/*+json",
    "application/yaml",
    "application/x-yaml",
    "application/*+yaml",
    "application/graphql",
    "application/octet-stream",
    "text/*",
];
/// Content types of pages that models read.
const PAGE_TYPES: &[&str] = &[
    "text/*",
    "application/xhtml+xml",
    "application/pdf",
    "application/json",
    "application/*+json",
    "application/yaml",
    "application/x-yaml",
];

/// Hosts from which pages may be fetched.
#[derive(Debug, Default)]
pub(super) struct FetchEntry {
    pub(super) allow: Vec<Rule>,
    /// Whether pages not named in the catalog may be fetched from public hosts.
    pub(super) public: bool,
}

impl FetchEntry {
    /// Parses the mapping `fetch`.
    pub(super) fn read(reader: &mut EntryReader<'_>, entry: Placed) -> Option<Self> {
        let (written, mut fields) = reader.parse::<file_schema::FetchEntry>("fetch".into(), entry)?;
        let mut allow = Vec::new();
        for host in written.allow.unwrap_or_default() {
            match parse_rule(&host, fields.reader.lookup) {
                Ok(rule) => allow.push(rule),
                Err(reason) => {
                    let reason = format!("`allow` of fetch: {reason}");
                    fields.fail(fields.line(), reason, "write `allow: [wiki.local, 'host:8080']`");
                }
            }
        }
        // An invalid entry does not affect others: less is fetched, not more.
        Some(FetchEntry { allow, public: written.public.unwrap_or_default() })
    }
}

/// Why an entry is not a valid host.
#[derive(Debug, thiserror::Error)]
pub(super) enum RuleError {
    /// A variable has no value.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// It is neither a host nor a host with a port.
    #[error("{0}")]
    Host(<Rule as FromStr>::Err),
}

/// Parses an allowed host, with values from the environment.
pub(super) fn parse_rule(host: &str, lookup: Environment<'_>) -> Result<Rule, RuleError> {
    environment(host, lookup)?.parse().map_err(RuleError::Host)
}

/// Fetches URLs of the catalog, and stores copies in the state folder.
#[derive(Debug)]
pub(super) struct Web {
    /// The folder of the copies.
    pub(super) folder: PathBuf,
    named: HttpCache,
    linked: HttpCache,
}

impl Web {
    /// With `fresh`, every copy is revalidated.
    pub(super) fn new(state: &Path, entry: &FetchEntry, fresh: bool) -> Self {
        let folder = state.join("web");
        let kept = |public: bool, young: Duration| {
            let fetcher = Fetcher::new(Policy { allow: entry.allow.clone(), public });
            HttpCache::new(fetcher, &folder, if fresh { Duration::ZERO } else { young })
        };
        Web { named: kept(true, MAX_COPY_AGE), linked: kept(entry.public, MAX_PAGE_AGE), folder }
    }

    /// Returns copies for all requests in order, fetched concurrently.
    pub(super) async fn copies(&self, requests: Vec<Request>) -> Vec<Result<Saved, FetchError>> {
        let one = |request: Request| async move { self.named.get(&request).await };
        stream::iter(requests).map(one).buffered(MAX_FETCHES).collect().await
    }

    /// Returns a copy; reports a problem if it is missing or outdated.
    pub(super) async fn copy(&self, place: &str, request: &Request, problems: &mut Vec<Problem>) -> Option<Saved> {
        note_copy(place, self.named.get(request).await, problems)
    }

    /// Returns the web search.
    pub(super) fn search(&self, entry: WebSearchEntry) -> WebSearch {
        WebSearch::new(self.named.clone(), entry)
    }

    /// Returns the fetcher of pages linked from skills.
    pub(super) fn pages(&self) -> Arc<dyn Pages> {
        Arc::new(LinkedPages(self.linked.clone()))
    }
}

/// Returns the copy, if any, and reports its problems.
pub(super) fn note_copy(place: &str, copy: Result<Saved, FetchError>, problems: &mut Vec<Problem>) -> Option<Saved> {
    match copy {
        Ok(saved) => {
            if let Freshness::Old(error) = &saved.freshness {
                let reason = format!("{error}; a copy from {} ago is used", ago(saved.age));
                problems.push(Problem::warning(place, reason).advise(error.advice()));
            }
            Some(saved)
        }
        Err(error) => {
            problems.push(error.at(place));
            None
        }
    }
}

/// Renders an age.
pub(super) fn ago(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds @ 7200..=172_799 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[derive(Debug)]
struct LinkedPages(HttpCache);

#[async_trait]
impl Pages for LinkedPages {
    async fn page(&self, url: &str) -> Result<PageText, Refusal> {
        let refused = |error: FetchError| Refusal { reason: error.to_string(), advice: error.advice() };
        let saved = self.0.get(&Request::get(url).accepting(PAGE_TYPES)).await.map_err(refused)?;
        let age = Some(saved.age.as_secs()).filter(|_| !matches!(saved.freshness, Freshness::New));
        let shown = saved.url.clone();
        let read = tokio::task::spawn_blocking(move || text(&saved)).await;
        let text = read.unwrap_or_else(|error| Err(error.into())).map_err(|error| Refusal {
            reason: format!("`{shown}` cannot be read: {error}"),
            advice: "open it in a browser".to_owned(),
        })?;
        Ok(PageText { text, age })
    }
}

/// Why the copy of a page has no text.
#[derive(Debug, thiserror::Error)]
enum PageError {
    /// The copy cannot be read.
    #[error(transparent)]
    Copy(#[from] std::io::Error),
    /// The thread that read it failed.
    #[error(transparent)]
    Reader(#[from] tokio::task::JoinError),
    /// Its format is invalid.
    #[error("{0}")]
    Format(String),
}

/// Returns the text of a copy, converted if it has a document format.
fn text(saved: &Saved) -> Result<String, PageError> {
    let bytes = std::fs::read(&saved.path)?;
    let extension = saved.path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let format = Format::from_extension(extension).unwrap_or(Format::Text);
    let (converted, problems) = formats::convert(&saved.url, bytes, format);
    match problems.into_iter().next() {
        Some(problem) if converted.text.trim().is_empty() => Err(PageError::Format(problem.reason)),
        _ => Ok(converted.text),
    }
}
