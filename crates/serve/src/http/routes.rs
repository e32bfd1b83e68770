//! Handlers of the routes.

use std::collections::HashMap;

use axum::{
    Json,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use prospector_core::{Kind, record::ResourceKind};
use prospector_llm::purpose::Mode;
use serde_json::{Value, json};

use super::{events, queries, reply::Reply};
use crate::{
    error::{OpenError, Refusal, RefusalCode},
    handles::new_handle,
    listing::KINDS,
    metrics::Gauges,
    question::Question,
    requester::{JsonBody, Requester},
    run::Task,
    shared::Shared,
};

/// The OpenAPI description of the server.
const OPENAPI: &str = include_str!("openapi.json");

const MODES: [Mode; 3] = [Mode::Exploratory, Mode::Auditable, Mode::Knowledge];

/// `GET /healthz`: the process is alive.
pub(crate) async fn healthy() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the server takes requests, and its index can be searched. If a changed catalog cannot be opened, the previous one is
/// served and the response says so.
pub(crate) async fn ready(State(shared): State<Shared>) -> Response {
    let reason = match shared.server.closing.is_cancelled() {
        true => Some("closing\n"),
        // The log names the file.
        false => shared.server.catalog.index_fault().await.map(|_| "the index is damaged\n"),
    };
    match reason {
        Some(reason) => (StatusCode::SERVICE_UNAVAILABLE, reason).into_response(),
        None if shared.server.catalog.outdated_because().is_some() => {
            "ready; the changed catalog cannot be opened: the previous one is served\n".into_response()
        }
        None => "ready\n".into_response(),
    }
}

/// `GET /openapi.json`
pub(crate) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI.replace("$VERSION", env!("CARGO_PKG_VERSION")))
        .into_response()
}

/// `GET /metrics`
pub(crate) async fn metrics(State(shared): State<Shared>) -> Response {
    let (records, generation) = shared.server.catalog.size();
    let sessions = shared.sessions.sessions.read().await.len();
    let query_sessions = shared.server.query_sessions.count();
    let gauges = Gauges { sessions, query_sessions, records, generation };
    let text = shared.server.metrics.text(&gauges);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

/// `GET /v1/about`
pub(crate) async fn about(by: Requester) -> Reply {
    let view = by.view();
    let options = &by.server.options;
    let workflows: Vec<&str> = match options.state.is_some() {
        true => options.workflows.iter().map(|offered| offered.name).collect(),
        false => Vec::new(),
    };
    // Clients with a token are not the owner of the catalog: the reason is only logged.
    let reason = |reason| match options.tokens.is_none() {
        true => reason,
        false => "the changed catalog cannot be opened: the previous one is served".to_owned(),
    };
    let catalog_error = by.server.catalog.outdated_because().map(reason);
    Ok(Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "model": by.server.models.chat.name(),
        // With the built-in planner, the page explains how to connect a model.
        "built_in": by.server.models.chat.reads_data(),
        "models": by.server.model_names(),
        "modes": MODES.map(Mode::as_str),
        "generation": view.generation,
        "records": view.catalog.index.len(),
        "problems": view.problems.len(),
        "catalog_error": catalog_error,
        "things": view.counts(),
        "tasks": Task::OF_QUESTIONS.map(Task::as_str),
        "sessions": by.server.options.state.is_some(),
        "shares_links": by.server.options.shares_links && by.server.options.state.is_some(),
        "workflows": workflows,
        "queries": view.queries.is_open,
    })))
}

/// `GET /v1/tools`
pub(crate) async fn tools(by: Requester) -> Reply {
    Ok(Json(json!({"items": by.view().specs()})))
}

/// `POST /v1/tools/{name}`: calls a tool; the body contains its arguments.
pub(crate) async fn call(
    by: Requester,
    Path(name): Path<String>,
    headers: HeaderMap,
    arguments: Option<JsonBody<Value>>,
) -> Reply {
    let arguments = arguments.map_or_else(|| json!({}), |JsonBody(arguments, _)| arguments);
    if !arguments.is_object() {
        return Err(Refusal::invalid("the arguments must be a JSON object"));
    }
    let named = headers.get(queries::SESSION).map(|handle| handle.to_str().unwrap_or_default());
    let session = match named {
        Some(handle) => Some(by.server.query_sessions.get(handle, &by.owner)?),
        None => queries::check_sessionless(&by.view(), &name).map(|()| None)?,
    };
    let called = by.server.call(&by.owner, session.as_deref(), &name, arguments).await?;
    let mut said = json!({"answer": called.answer.json()});
    if !called.answer.notes().is_empty() {
        said["notes"] = json!(called.answer.notes());
    }
    let links = named.map(|handle| queries::link_rows(&said["answer"], handle)).unwrap_or_default();
    if !links.is_empty() {
        said["links"] = links.into();
    }
    if let Some(handle) = called.handle {
        said["handle"] = handle.into();
    }
    Ok(Json(said))
}

/// `GET /v1/search?q=&kind=&limit=`: searches all kinds, regardless of the profile.
pub(crate) async fn search(by: Requester, Query(query): Query<HashMap<String, String>>) -> Reply {
    only(&query, &["q", "kind", "limit"])?;
    let mut arguments = json!({"query": query.get("q").map(String::as_str).unwrap_or_default()});
    if let Some(kinds) = query.get("kind").filter(|kinds| !kinds.is_empty()) {
        for kind in kinds.split(',') {
            Kind::from_name(kind).ok_or_else(|| {
                let kinds = Kind::ALL.map(Kind::as_str).join(", ");
                Refusal::invalid(format!("there is no kind `{kind}`")).advise(kinds)
            })?;
        }
        arguments["kinds"] = json!(kinds.split(',').collect::<Vec<_>>());
    }
    arguments["limit"] = number(&query, "limit", 8)?.into();
    let view = by.view();
    let answer = view.tools.search(arguments).await?;
    Ok(Json(json!({"answer": answer.json()})))
}

/// `GET /v1/catalog?kind=&text=&offset=&limit=`
pub(crate) async fn catalog(by: Requester, Query(query): Query<HashMap<String, String>>) -> Reply {
    only(&query, &["kind", "text", "offset", "limit"])?;
    let kind = match query.get("kind").filter(|kind| !kind.is_empty()) {
        Some(kind) => Some(parse_kind(kind)?),
        None => None,
    };
    let (offset, limit) = (number(&query, "offset", 0)?, number(&query, "limit", 100)?.clamp(1, 1_000));
    let text = query.get("text").map(String::as_str).unwrap_or_default();
    let part = by.view().list(kind, text, offset, limit);
    Ok(Json(json!(part)))
}

/// `GET /v1/catalog/{kind}/{id}`
pub(crate) async fn thing(by: Requester, Path((kind, id)): Path<(String, String)>) -> Reply {
    let kind = parse_kind(&kind)?;
    let answer = by.view().show(kind, &id).await?;
    Ok(Json(json!({"kind": kind, "id": id, "answer": answer.json(), "text": answer.text()})))
}

fn parse_kind(kind: &str) -> Result<ResourceKind, Refusal> {
    KINDS.into_iter().find(|known| known.as_str() == kind).ok_or_else(|| {
        let kinds = KINDS.map(ResourceKind::as_str).join(", ");
        Refusal::not_found(format!("there is no kind `{kind}`")).advise(format!("the kinds are {kinds}"))
    })
}

/// `POST /v1/plan`
pub(crate) async fn plan(
    by: Requester,
    headers: HeaderMap,
    JsonBody(asked, _): JsonBody<Question>,
) -> Result<Response, Refusal> {
    let run = by.server.start(&by.owner, Task::Plan, asked)?;
    Ok(events::respond(&by.server, &run, &headers).await)
}

/// `POST /v1/ask`
pub(crate) async fn ask(
    by: Requester,
    headers: HeaderMap,
    JsonBody(asked, _): JsonBody<Question>,
) -> Result<Response, Refusal> {
    let run = by.server.start(&by.owner, Task::Ask, asked)?;
    Ok(events::respond(&by.server, &run, &headers).await)
}

/// `GET /v1/runs/{handle}`
pub(crate) async fn run(by: Requester, Path(handle): Path<String>) -> Reply {
    let run = by.server.runs.get(&handle, &by.owner)?;
    let mut said = json!({"handle": run.handle, "task": run.task.as_str(), "question": run.question});
    match run.end() {
        None => said["state"] = "running".into(),
        Some(end) => {
            said["state"] = "ended".into();
            said["result"] = (*end.result).clone();
            if let Some(failure) = &end.failure {
                said["failure"] = failure.to_json();
            }
        }
    }
    Ok(Json(said))
}

/// `DELETE /v1/runs/{handle}`: cancels it.
pub(crate) async fn cancel(by: Requester, Path(handle): Path<String>) -> Result<StatusCode, Refusal> {
    by.server.runs.get(&handle, &by.owner)?.stop("cancelled by the client");
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /v1/runs/{handle}/events`
pub(crate) async fn events(by: Requester, Path(handle): Path<String>, headers: HeaderMap) -> Result<Response, Refusal> {
    let run = by.server.runs.get(&handle, &by.owner)?;
    Ok(events::of(&by.server, &run, events::last_seen(&headers)?))
}

/// `GET /v1/sessions`
pub(crate) async fn sessions(by: Requester) -> Reply {
    Ok(Json(by.server.session_names(&by.owner).await?))
}

/// `POST /v1/sessions`: creates an unused name.
pub(crate) async fn new_session() -> (StatusCode, Json<Value>) {
    (StatusCode::CREATED, Json(json!({"session": new_handle("session")})))
}

/// `GET /v1/sessions/{name}`
pub(crate) async fn session(by: Requester, Path(name): Path<String>) -> Reply {
    Ok(Json(by.server.turns(&by.owner, &name).await?))
}

/// `DELETE /v1/sessions/{name}`
pub(crate) async fn remove_session(by: Requester, Path(name): Path<String>) -> Result<StatusCode, Refusal> {
    by.server.remove_session(&by.owner, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The new name of a conversation.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Renaming {
    name: String,
}

/// `POST /v1/sessions/{name}`: renames a conversation.
pub(crate) async fn rename_session(
    by: Requester,
    Path(name): Path<String>,
    renaming: Result<JsonBody<Renaming>, Refusal>,
) -> Reply {
    let JsonBody(renaming, _) = renaming.map_err(|refusal| refusal.advise("the body is {\"name\": \"...\"}"))?;
    let to = renaming.name.trim();
    by.server.rename_session(&by.owner, &name, to).await?;
    Ok(Json(json!({"session": to})))
}

/// `GET /v1/results/{handle}?page=`
pub(crate) async fn result(
    by: Requester,
    Path(handle): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Reply {
    only(&query, &["page"])?;
    Ok(Json(by.server.fetch(&by.owner, &handle, number(&query, "page", 1)?)?))
}

/// `POST /v1/refresh?all=`: reopens the catalog.
pub(crate) async fn refresh(State(shared): State<Shared>, Query(query): Query<HashMap<String, String>>) -> Reply {
    only(&query, &["all"])?;
    let all = match query.get("all").map(String::as_str) {
        None | Some("false") => false,
        Some("true" | "") => true,
        Some(_) => return Err(Refusal::invalid("all must be true or false")),
    };
    let server = shared.server.clone();
    // The refresh finishes even if the client disconnects.
    let refreshed = tokio::spawn(async move { server.catalog.refresh(all).await }).await;
    match refreshed {
        Ok(Ok(said)) => Ok(Json(said)),
        Ok(Err(OpenError::Superseded)) => {
            Err(Refusal::unavailable("the catalog changed meanwhile and is being reopened").advise("retry in a moment"))
        }
        Ok(Err(error)) => {
            tracing::error!(%error, "the catalog cannot be reopened");
            Err(Refusal::unavailable("the catalog cannot be reopened; the previous one is served")
                .advise("see the server log"))
        }
        Err(_) => Err(Refusal::new(RefusalCode::Internal, "the refresh stopped without a result")),
    }
}

/// Fallback for unknown paths.
pub(crate) async fn unknown_path() -> Refusal {
    Refusal::not_found("unknown path").advise("see /openapi.json")
}

/// Fallback for unsupported methods.
pub(crate) async fn unsupported_method() -> Refusal {
    Refusal::new(RefusalCode::MethodNotAllowed, "this path does not support that method").advise("see /openapi.json")
}

/// Refuses unknown parameters, which would otherwise be silently ignored.
pub(super) fn only(query: &HashMap<String, String>, known: &[&str]) -> Result<(), Refusal> {
    match query.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(Refusal::invalid(format!("unknown parameter `{name}`"))
            .advise(format!("the parameters are {}", known.join(", ")))),
    }
}

pub(super) fn number(query: &HashMap<String, String>, name: &str, default: usize) -> Result<usize, Refusal> {
    match query.get(name).filter(|text| !text.is_empty()) {
        None => Ok(default),
        Some(text) => text
            .parse()
            .map_err(|_| Refusal::invalid(format!("{name} must be a number, not `{}`", text.escape_debug()))),
    }
}
