//! Lists the tools, resources and prompts of a server, with limits and sanitized texts.

use prospector_core::mark::clean;
use rmcp::{
    RoleClient,
    model::{ClientRequest, CustomResult, ListToolsRequest, PaginatedRequestParams, ServerResult},
    service::{Peer, ServiceError},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Definition;

/// Maximum number of entries of one kind.
const MAX_ENTRIES: usize = 2_000;
/// Maximum number of pages of a list.
const MAX_PAGES: usize = 100;
/// Bytes of all definitions of a server.
const MAX_DEFINITIONS: usize = 8 << 20;
/// Problems of a server that are kept.
const MAX_PROBLEMS: usize = 200;
/// Bytes of a cursor.
const MAX_CURSOR: usize = 64 * 1024;
/// Characters of a name or URI.
pub(crate) const MAX_NAME: usize = 500;
/// Maximum characters of a description.
const MAX_DESCRIPTION: usize = 1_000;
/// Maximum number of arguments of a prompt.
const MAX_ARGUMENTS: usize = 50;

/// The lists of a server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The negotiated protocol version.
    pub protocol: String,
    /// Its tools.
    pub tools: Vec<Definition>,
    /// Its resources and resource templates.
    pub resources: Vec<Resource>,
    /// Its prompts.
    pub prompts: Vec<Prompt>,
    /// Entries that were rejected or skipped, with reasons.
    pub problems: Vec<String>,
}

/// A resource or a resource template; its texts are sanitized.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Its URI, or the URI template.
    pub uri: String,
    /// Whether it is a template.
    pub is_template: bool,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its media type.
    pub mime_type: Option<String>,
}

/// A prompt; its texts are sanitized.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its arguments, each with whether it is required.
    pub arguments: Vec<(String, bool)>,
}

/// Reads all lists of a server.
///
/// # Errors
/// [`ServiceError`] if a request for a list fails.
pub(crate) async fn read(peer: &Peer<RoleClient>) -> Result<Listing, ServiceError> {
    let info = peer.peer_info();
    let protocol = info.as_ref().map(|info| info.protocol_version.to_string()).unwrap_or_default();
    let capabilities = info.map(|info| info.capabilities.clone()).unwrap_or_default();
    let mut listing = Listing { protocol, ..Listing::default() };
    if capabilities.tools.is_some() {
        listing.tools = read_tools(peer, &mut listing.problems).await?;
    }
    if capabilities.resources.is_some() {
        listing.resources = read_resources(peer, &mut listing.problems).await?;
    }
    if capabilities.prompts.is_some() {
        listing.prompts = read_prompts(peer, &mut listing.problems).await?;
    }
    if let Some(more) = listing.problems.len().checked_sub(MAX_PROBLEMS).filter(|more| *more > 0) {
        listing.problems.truncate(MAX_PROBLEMS);
        listing.problems.push(format!("{more} further problems"));
    }
    Ok(listing)
}

/// Reads the definitions of the tools; an invalid one is a problem and does not affect others.
pub(crate) async fn read_tools(
    peer: &Peer<RoleClient>,
    problems: &mut Vec<String>,
) -> Result<Vec<Definition>, ServiceError> {
    let mut tools: Vec<Definition> = Vec::new();
    let (mut pages, mut bytes) = (Pages::new("tools"), 0);
    'pages: while let Some(request) = pages.next() {
        let (page, cursor) = read_page(peer, request).await?;
        for tool in page {
            if tools.len() + problems.len() > MAX_ENTRIES {
                break;
            }
            match Definition::new(tool) {
                Ok(tool) if tools.iter().any(|known| known.name().eq_ignore_ascii_case(tool.name())) => {
                    problems.push(format!("duplicate tool `{}`; the first one is used", tool.name()));
                }
                Ok(tool) => {
                    bytes += tool.bytes();
                    if bytes > MAX_DEFINITIONS {
                        let reason =
                            format!("the definitions have more than {MAX_DEFINITIONS} bytes; the rest is left out");
                        problems.push(reason);
                        break 'pages;
                    }
                    tools.push(tool);
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        pages.advance(tools.len() + problems.len(), cursor, problems);
    }
    tools.truncate(MAX_ENTRIES);
    Ok(tools)
}

/// Reads a page of tools. If one of them is malformed, the SDK rejects all of them; then the page is read as plain JSON.
async fn read_page(
    peer: &Peer<RoleClient>,
    request: PaginatedRequestParams,
) -> Result<(Vec<Value>, Option<String>), ServiceError> {
    match peer.list_tools(Some(request.clone())).await {
        Ok(page) => {
            let tools = page.tools.into_iter().filter_map(|tool| serde_json::to_value(tool).ok()).collect();
            Ok((tools, page.next_cursor))
        }
        Err(ServiceError::UnexpectedResponse) => {
            let again =
                ListToolsRequest { method: Default::default(), params: Some(request), extensions: Default::default() };
            let answer = peer.send_request(ClientRequest::ListToolsRequest(again)).await?;
            let ServerResult::CustomResult(CustomResult(page)) = answer else {
                return Err(ServiceError::UnexpectedResponse);
            };
            let tools = page.get("tools").and_then(Value::as_array).cloned();
            let cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            Ok((tools.ok_or(ServiceError::UnexpectedResponse)?, cursor))
        }
        Err(error) => Err(error),
    }
}

async fn read_resources(peer: &Peer<RoleClient>, problems: &mut Vec<String>) -> Result<Vec<Resource>, ServiceError> {
    let mut found = read_pages("resources", problems, |request| async move {
        peer.list_resources(Some(request)).await.map(|page| {
            let resources = page.resources.into_iter().map(|one| Resource {
                uri: clean(&one.uri, MAX_NAME),
                is_template: false,
                name: clean(&one.name, MAX_NAME),
                description: describe(one.title, one.description),
                mime_type: one.mime_type.map(|text| clean(&text, MAX_NAME)),
            });
            (resources.collect(), page.next_cursor)
        })
    })
    .await?;
    let templates = read_pages("resource templates", problems, |request| async move {
        peer.list_resource_templates(Some(request)).await.map(|page| {
            let templates = page.resource_templates.into_iter().map(|one| Resource {
                uri: clean(&one.uri_template, MAX_NAME),
                is_template: true,
                name: clean(&one.name, MAX_NAME),
                description: describe(one.title, one.description),
                mime_type: one.mime_type.map(|text| clean(&text, MAX_NAME)),
            });
            (templates.collect(), page.next_cursor)
        })
    });
    found.extend(templates.await?);
    Ok(found)
}

async fn read_prompts(peer: &Peer<RoleClient>, problems: &mut Vec<String>) -> Result<Vec<Prompt>, ServiceError> {
    read_pages("prompts", problems, |request| async move {
        peer.list_prompts(Some(request)).await.map(|page| {
            let prompts = page.prompts.into_iter().map(|one| Prompt {
                name: clean(&one.name, MAX_NAME),
                description: describe(one.title, one.description),
                arguments: (one.arguments.into_iter().flatten().take(MAX_ARGUMENTS))
                    .map(|argument| (clean(&argument.name, MAX_NAME), argument.required == Some(true)))
                    .collect(),
            });
            (prompts.collect(), page.next_cursor)
        })
    })
    .await
}

/// Reads the pages of a list, up to an error response: some servers declare a capability without implementing all of its lists.
async fn read_pages<T, F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>>(
    what: &'static str,
    problems: &mut Vec<String>,
    read: impl Fn(PaginatedRequestParams) -> F,
) -> Result<Vec<T>, ServiceError> {
    let (mut found, mut pages) = (Vec::new(), Pages::new(what));
    while let Some(request) = pages.next() {
        let (entries, cursor) = match read(request).await {
            Ok(page) => page,
            Err(ServiceError::McpError(_) | ServiceError::UnexpectedResponse) => break,
            Err(error) => return Err(error),
        };
        found.extend(entries);
        pages.advance(found.len(), cursor, problems);
    }
    found.truncate(MAX_ENTRIES);
    Ok(found)
}

fn describe(title: Option<String>, description: Option<String>) -> String {
    let parts: Vec<String> = [title, description].into_iter().flatten().filter(|text| !text.is_empty()).collect();
    clean(&parts.join(". "), MAX_DESCRIPTION)
}

/// Pages of a list, with a limit on their number.
struct Pages {
    what: &'static str,
    read: usize,
    /// The cursor of the page that was read last.
    cursor: Option<String>,
    next: Option<PaginatedRequestParams>,
}

impl Pages {
    fn new(what: &'static str) -> Self {
        Pages { what, read: 0, cursor: None, next: Some(PaginatedRequestParams::default()) }
    }

    fn next(&mut self) -> Option<PaginatedRequestParams> {
        self.next.take()
    }

    fn advance(&mut self, entries: usize, cursor: Option<String>, problems: &mut Vec<String>) {
        self.read += 1;
        let is_full = entries > MAX_ENTRIES || cursor.is_some() && (entries == MAX_ENTRIES || self.read >= MAX_PAGES);
        if is_full {
            problems.push(format!("the list of {} is longer than the limit; the rest is left out", self.what));
            return;
        }
        let Some(cursor) = cursor else { return };
        if cursor.len() > MAX_CURSOR || self.cursor.as_ref() == Some(&cursor) {
            problems.push(format!("the list of {} has a repeated or too long cursor; the rest is left out", self.what));
        } else {
            self.cursor = Some(cursor.clone());
            self.next = Some(PaginatedRequestParams::default().with_cursor(Some(cursor)));
        }
    }
}
