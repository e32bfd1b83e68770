//! Pages of a Confluence wiki, by space or label, through version 1 of its REST API.
//!
//! `GET /rest/api/content/search?cql=..&expand=body.storage,version,metadata.labels` returns paginated results; the URL of the next page of
//! results is `_links.next`, relative to the base URL of the wiki. Each page is stored as HTML with the other copies and read like any
//! document.

use std::{
    collections::HashSet,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use prospector_core::Problem;
use prospector_documents::{Origin, formats::storage_to_html};
use prospector_fetch::Request;
use prospector_state::{create_folder, remove_leftovers, replace};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::catalog::{entry::Fields, file_schema::DocumentEntry, web::Web};

/// Maximum number of pages read from one wiki.
const MAX_PAGES: usize = 5_000;
/// Number of pages per request.
const PORTION: usize = 50;

/// The pages to read from a wiki.
pub(in crate::catalog) struct Wiki {
    base: String,
    space: Option<String>,
    label: Option<String>,
    authorization: Option<String>,
}

impl fmt::Debug for Wiki {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wiki").field("space", &self.space).field("label", &self.label).finish_non_exhaustive()
    }
}

/// Checks the keys of a wiki. With a `user`, `token` is an API token of a cloud account; without, a personal access token.
pub(super) fn read(fields: &mut Fields<'_>, written: &DocumentEntry) -> Option<Wiki> {
    let mut expand = |key: &str, text: &Option<String>| fields.expand(key, text.clone());
    let (space, label) = (expand("space", &written.space), expand("label", &written.label));
    let (user, token) = (expand("user", &written.user), expand("token", &written.token));
    if written.confluence.is_none() {
        if space.is_some() || label.is_some() || user.is_some() || token.is_some() {
            let reason = "`space`, `label`, `user` and `token` require `confluence`";
            fields.fail(fields.line(), reason, "write `confluence: https://wiki.example.com`");
        }
        return None;
    }
    let line = fields.line_of("confluence");
    let base = fields.address("confluence", written.confluence.clone())?.trim_end_matches('/').to_owned();
    let quotable = |text: &String| text.contains(['"', '\\']) || text.chars().any(char::is_control);
    if space.iter().chain(&label).any(quotable) {
        fields.fail(
            line,
            "`space` and `label` must not contain quotes, backslashes or control characters",
            "write the key of the space",
        );
        return None;
    }
    if space.is_none() && label.is_none() {
        fields.fail(line, "`confluence` needs a `space` or a `label`", "write `space: KEY`");
        return None;
    }
    let authorization = match (user, token) {
        (Some(user), Some(token)) => Some(format!("Basic {}", STANDARD.encode(format!("{user}:{token}")))),
        (None, Some(token)) => Some(format!("Bearer {token}")),
        (Some(_), None) => {
            fields.fail(line, "`user` needs a `token`", "write `token: ${NAME}`");
            return None;
        }
        (None, None) => None,
    };
    Some(Wiki { base, space, label, authorization })
}

#[derive(Deserialize)]
struct Portion {
    #[serde(default)]
    results: Vec<Page>,
    #[serde(flatten)]
    other: Value,
}

#[derive(Deserialize)]
struct Page {
    id: String,
    title: String,
    #[serde(flatten)]
    other: Value,
}

/// Returns the text at a JSON pointer; empty if it is missing.
fn text_at<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the titles of the pages and their stored copies. After a failed request, the remaining pages are skipped.
pub(super) async fn pages(place: &str, wiki: &Wiki, web: &Web) -> (Vec<(String, Origin)>, Vec<Problem>) {
    let (mut pages, mut problems) = (Vec::new(), Vec::new());
    let mut titles: HashSet<String> = HashSet::new();
    let mut seen = HashSet::new();
    let mut next = wiki.first();
    let folder = web.folder.join("confluence");
    remove_leftovers(&folder);
    while let Some(url) = next.take().filter(|url| seen.insert(url.clone())) {
        if pages.len() >= MAX_PAGES {
            let reason = format!("only the first {MAX_PAGES} pages of the wiki were read");
            problems.push(Problem::warning(place, reason).advise("name a `label` to read fewer"));
            break;
        }
        let authorization = wiki.authorization.clone();
        let request = Request { authorization, ..Request::get(&url).accepting(&["application/json"]) };
        let Some(saved) = web.copy(place, &request, &mut problems).await else { break };
        let text = fs::read(&saved.path).map_err(|error| error.to_string());
        let portion = text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
        let portion: Portion = match portion {
            Ok(portion) => portion,
            Err(error) => {
                let reason = format!("the response of {} is not a list of pages: {error}", saved.url);
                problems.push(Problem::error(place, reason).advise("write the base URL, without `/rest/api`"));
                break;
            }
        };
        for page in portion.results {
            match wiki.keep(&page, &folder) {
                Ok(origin) => {
                    // Pages of two spaces may have the same title.
                    let title = page.title.replace(['#', '/'], " ");
                    let title = if titles.insert(title.clone()) { title } else { format!("{title} {}", page.id) };
                    pages.push((title, origin));
                }
                Err(error) => {
                    let reason = format!("cannot store the page `{}`: {error}", page.title);
                    problems.push(Problem::error(place, reason));
                }
            }
        }
        next = wiki.at(text_at(&portion.other, "/_links/next"));
    }
    if pages.is_empty() && problems.is_empty() {
        problems.push(Problem::warning(place, "no matching page in the wiki").advise("check `space` and `label`"));
    }
    (pages, problems)
}

impl Wiki {
    fn first(&self) -> Option<String> {
        let mut cql = vec!["type = page".to_owned()];
        cql.extend(self.space.iter().map(|space| format!("space = \"{space}\"")));
        cql.extend(self.label.iter().map(|label| format!("label = \"{label}\"")));
        let mut url = Url::parse(&format!("{}/rest/api/content/search", self.base)).ok()?;
        url.query_pairs_mut()
            .append_pair("cql", &cql.join(" and "))
            .append_pair("expand", "body.storage,version,metadata.labels")
            .append_pair("limit", &PORTION.to_string());
        Some(url.to_string())
    }

    /// Resolves a link of a response: relative to the base URL of the wiki, or to its server if the link repeats the base path.
    fn at(&self, link: &str) -> Option<String> {
        let base = Url::parse(&self.base).ok()?;
        let path = base.path().trim_end_matches('/');
        let relative = !path.is_empty() && link.starts_with(&format!("{path}/"));
        let url = if relative { base.join(link).ok()? } else { Url::parse(&format!("{}{link}", self.base)).ok()? };
        (link.starts_with('/') && url.origin() == base.origin()).then(|| url.to_string())
    }

    /// Writes a page only if it changed, so that unchanged pages are not read again.
    fn keep(&self, page: &Page, folder: &Path) -> io::Result<Origin> {
        let labels = page.other.pointer("/metadata/labels/results").and_then(Value::as_array);
        let labels: Vec<String> = labels.into_iter().flatten().map(|one| text_at(one, "/name").to_owned()).collect();
        let (date, storage) = (text_at(&page.other, "/version/when"), text_at(&page.other, "/body/storage/value"));
        let html = storage_to_html(&page.title, &labels, date, storage);
        let name = blake3::hash(format!("{}\0{}", self.base, page.id).as_bytes()).to_hex();
        let copy: PathBuf = folder.join(format!("{}.html", &name[..24]));
        if fs::read(&copy).map_or(true, |old| old != html.as_bytes()) {
            create_folder(folder)?;
            replace(&copy, html.as_bytes())?;
        }
        let url = self.at(text_at(&page.other, "/_links/webui"));
        let url = url.unwrap_or_else(|| format!("{}/pages/viewpage.action?pageId={}", self.base, page.id));
        Ok(Origin::Url { url, copy })
    }
}
