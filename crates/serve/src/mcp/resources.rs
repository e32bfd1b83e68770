//! Every catalog entry as a resource, `prospector://KIND/ID`, and results stored under handles.

use percent_encoding::{percent_decode_str, utf8_percent_encode};
use prospector_core::Owner;
use prospector_core::mark::{as_data, as_json, clean_name};
use prospector_core::record::ResourceKind;
use prospector_core::tool::{Answer, ToolErrorCode};
use prospector_core::work::compute;
use rmcp::{
    ErrorData,
    model::{
        CacheScope, JsonObject, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate,
    },
};

use super::{
    apps, invalid_params, skills,
    uris::{ESCAPED, parse_cursor, write_cursor},
};
use crate::{
    error::{Refusal, RefusalCode},
    listing::KINDS,
    query_sessions::QuerySession,
    rows::{MAX_ROWS, list_truncated},
    server::Server,
    view::CatalogView,
};

const SCHEME: &str = "prospector://";

/// Resources per page of a list.
const PAGE: usize = 100;

/// The rows of a query, by the id of its answer.
const ROWS: &str = "rows";

/// Lists resources from a cursor; pages come first, for a client that supports them.
pub(super) fn list(
    view: &CatalogView,
    cursor: Option<String>,
    shows_pages: bool,
) -> Result<ListResourcesResult, ErrorData> {
    let offset = parse_cursor(cursor)?;
    let part = view.list(None, "", offset, PAGE);
    let resources = part.items.into_iter().map(|entry| {
        let resource = describe(entry.kind, &entry.id);
        if entry.description.is_empty() { resource } else { resource.with_description(as_data(&entry.description)) }
    });
    let pages = apps::resources().take_while(|_| shows_pages && offset == 0);
    let mut result =
        ListResourcesResult::with_all_items(pages.chain(resources).collect()).with_cache_scope(CacheScope::Private);
    result.next_cursor = part.next.map(write_cursor);
    Ok(result)
}

/// Returns the resource of an entry, without its description.
pub(super) fn describe(kind: ResourceKind, id: &str) -> Resource {
    let name = clean_name(id);
    let title = format!("{kind} {name}");
    Resource::new(uri(kind, id), name).with_title(title).with_mime_type(media(kind))
}

/// Lists the URI templates.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let of_kind = |kind: ResourceKind| {
        let form = match kind {
            ResourceKind::Table => "database.table",
            ResourceKind::Operation => "api.operation",
            ResourceKind::Fact => "its term",
            ResourceKind::Column => "database.table.column",
            ResourceKind::Database
            | ResourceKind::Api
            | ResourceKind::Document
            | ResourceKind::Skill
            | ResourceKind::Metric
            | ResourceKind::Query => "its name",
        };
        ResourceTemplate::new(format!("{SCHEME}{kind}/{{id}}"), kind.as_str())
            .with_description(format!("The {kind} with this id: {form}."))
            .with_mime_type(media(kind))
    };
    let mut templates: Vec<ResourceTemplate> = KINDS.into_iter().map(of_kind).collect();
    templates.push(
        ResourceTemplate::new(format!("{SCHEME}plan/{{handle}}"), "plan")
            .with_description("A plan made by this server, by its handle.")
            .with_mime_type("application/json"),
    );
    templates.push(
        ResourceTemplate::new(format!("{SCHEME}result/{{handle}}/{{page}}"), "result")
            .with_description("A page (from 1) of a truncated answer, by its handle.")
            .with_mime_type("text/plain"),
    );
    templates.push(
        ResourceTemplate::new(format!("{SCHEME}{ROWS}/{{id}}"), ROWS)
            .with_description("All rows of a query whose answer was truncated, by the id of the answer.")
            .with_mime_type("application/json"),
    );
    ListResourceTemplatesResult::with_all_items(templates).with_cache_scope(CacheScope::Private)
}

/// Returns links to the complete rows of the queries of an answer that were truncated. `session` is the handle of a named query session.
pub(super) fn link_rows(answer: &JsonObject, session: Option<&str>) -> Vec<Resource> {
    let link = |id: &str| {
        let place = session.map_or_else(|| id.to_owned(), |session| format!("{session}/{id}"));
        Resource::new(format!("{SCHEME}{ROWS}/{place}"), format!("rows of {id}"))
            .with_description(format!("All rows of {id} as JSON, at most {MAX_ROWS}"))
            .with_mime_type("application/json")
    };
    answer.get("items").into_iter().flat_map(list_truncated).map(link).collect()
}

/// Reads a resource as this owner sees it.
pub(super) async fn read(
    server: &Server,
    owner: &Owner,
    own: Option<&QuerySession>,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let contents = match contents(server, owner, own, uri).await {
        Ok(contents) => contents,
        Err(refusal) if matches!(refusal.code, RefusalCode::Tool(ToolErrorCode::NotFound) | RefusalCode::Expired) => {
            let error = invalid_params(&refusal);
            return Err(ErrorData::resource_not_found(error.message, error.data));
        }
        Err(refusal) => return Err(invalid_params(&refusal)),
    };
    Ok(ReadResourceResult::new(vec![contents]).with_cache_scope(CacheScope::Private))
}

async fn contents(
    server: &Server,
    owner: &Owner,
    own: Option<&QuerySession>,
    uri: &str,
) -> Result<ResourceContents, Refusal> {
    let unknown = || {
        Refusal::not_found(format!("unknown resource `{uri}`"))
            .advise(format!("pass {SCHEME}KIND/ID as listed by resources/list"))
    };
    if let Some(page) = apps::read(uri) {
        return Ok(page);
    }
    if let Some(place) = uri.strip_prefix(skills::SCHEME) {
        let (view, place, uri) = (server.catalog.view(owner), place.to_owned(), uri.to_owned());
        return compute(move || skills::read(&view, &place, &uri)).await;
    }
    let (kind, id) = uri.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
    if kind == "result" {
        let (handle, page) = id.split_once('/').unwrap_or((id, "1"));
        let found = server.fetch(owner, handle, page.parse().map_err(|_| unknown())?)?;
        return Ok(ResourceContents::text(as_data(found["text"].as_str().unwrap_or_default()), uri));
    }
    if kind == "plan" {
        return Ok(
            ResourceContents::text(as_json(&server.fetch(owner, id, 1)?), uri).with_mime_type("application/json")
        );
    }
    if kind == ROWS {
        let whole = match (id.split_once('/'), own) {
            (Some((session, id)), _) => {
                let session = server.query_sessions.get(session, owner)?;
                server.session_rows(&session, id).await
            }
            (None, Some(own)) => server.session_rows(own, id).await,
            (None, None) => return Err(unknown()),
        };
        let whole = whole.map_err(|refusal| match refusal.code {
            RefusalCode::Tool(ToolErrorCode::NotFound) => unknown(),
            _ => refusal,
        })?;
        return Ok(ResourceContents::text(as_json(&whole), uri).with_mime_type("application/json"));
    }
    let kind = KINDS.into_iter().find(|known| known.as_str() == kind).ok_or_else(unknown)?;
    let id = percent_decode_str(id).decode_utf8().map_err(|_| unknown())?;
    let answer = server.catalog.view(owner).show(kind, &id).await?;
    Ok(ResourceContents::text(as_data(&text(kind, &answer)), uri).with_mime_type(media(kind)))
}

/// Whether an entry is a text of its own.
fn is_text(kind: ResourceKind) -> bool {
    matches!(kind, ResourceKind::Document | ResourceKind::Skill)
}

/// Returns the text of a document or a skill verbatim, and of every other entry the form that models see.
fn text(kind: ResourceKind, answer: &Answer) -> String {
    match answer.content().filter(|_| is_text(kind) && !answer.is_cut()) {
        Some(own) => own.to_owned(),
        None => answer.text(),
    }
}

fn media(kind: ResourceKind) -> &'static str {
    if is_text(kind) { "text/markdown" } else { "text/plain" }
}

/// Returns the URI of an entry.
fn uri(kind: ResourceKind, id: &str) -> String {
    format!("{SCHEME}{kind}/{}", utf8_percent_encode(id, ESCAPED))
}
