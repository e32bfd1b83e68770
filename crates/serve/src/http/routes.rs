//! Handlers of the routes.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use prospector_core::record::ResourceKind;
use prospector_core::{Kind, Owner, work::compute};
use prospector_llm::purpose::Mode;
use serde::de::DeserializeOwned;
use serde_json::{Value, error::Category, json};

use super::{events, queries, reply::Reply};
use crate::{
    error::{OpenError, Refusal, RefusalCode},
    listing::KINDS,
    metrics::Gauges,
    question::Question,
    run::{Run, Task},
    shared::Shared,
};

/// The OpenAPI description of the server.
const OPENAPI: &str = include_str!("openapi.json");

const MODES: [Mode; 3] = [Mode::Exploratory, Mode::Auditable, Mode::Knowledge];

/// Limit on what is shown of one entry, in tokens.
const MAX_TOKENS: usize = 20_000;

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
pub(crate) async fn about(State(shared): State<Shared>, Extension(owner): Extension<Owner>) -> Reply {
    let view = shared.server.catalog.view(&owner);
    let options = &shared.server.options;
    let workflows: Vec<&str> = match options.state.is_some() {
        true => options.workflows.iter().map(|offered| offered.name).collect(),
        false => Vec::new(),
    };
    // Clients with a token are not the owner of the catalog: the reason is only logged.
    let reason = |reason| match options.tokens.is_none() {
        true => reason,
        false => "the changed catalog cannot be opened: the previous one is served".to_owned(),
    };
    let catalog_error = shared.server.catalog.outdated_because().map(reason);
    Ok(Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "model": shared.server.models.chat.name(),
        // With the built-in planner, the page explains how to connect a model.
        "built_in": shared.server.models.chat.reads_data(),
        "models": shared.server.model_names(),
        "modes": MODES.map(Mode::as_str),
        "generation": view.generation,
        "records": view.catalog.index.len(),
        "problems": view.problems.len(),
        "catalog_error": catalog_error,
        "things": view.counts(),
        "tasks": Task::OF_QUESTIONS.map(Task::as_str),
        "sessions": shared.server.options.state.is_some(),
        "shares_links": shared.server.options.shares_links && shared.server.options.state.is_some(),
        "workflows": workflows,
        "queries": view.queries.is_open,
    })))
}

/// `GET /v1/tools`
pub(crate) async fn tools(State(shared): State<Shared>, Extension(owner): Extension<Owner>) -> Reply {
    Ok(Json(json!({"items": shared.server.catalog.view(&owner).specs()})))
}

/// `POST /v1/tools/{name}`: calls a tool; the body contains its arguments.
pub(crate) async fn call(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Reply {
    let arguments = if body.is_empty() { json!({}) } else { json(&headers, body).await? };
    if !arguments.is_object() {
        return Err(Refusal::invalid("the arguments must be a JSON object"));
    }
    let named = headers.get(queries::SESSION).map(|handle| handle.to_str().unwrap_or_default());
    let session = match named {
        Some(handle) => Some(shared.server.query_sessions.get(handle, &owner)?),
        None => queries::check_sessionless(&shared.server.catalog.view(&owner), &name).map(|()| None)?,
    };
    let called = shared.server.call(&owner, session.as_deref(), &name, arguments).await?;
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
pub(crate) async fn search(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Query(query): Query<HashMap<String, String>>,
) -> Reply {
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
    let view = shared.server.catalog.view(&owner);
    let answer = view.tools.search(arguments).await?;
    Ok(Json(json!({"answer": answer.json()})))
}

/// `GET /v1/catalog?kind=&text=&offset=&limit=`
pub(crate) async fn catalog(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Query(query): Query<HashMap<String, String>>,
) -> Reply {
    only(&query, &["kind", "text", "offset", "limit"])?;
    let kind = match query.get("kind").filter(|kind| !kind.is_empty()) {
        Some(kind) => Some(parse_kind(kind)?),
        None => None,
    };
    let (offset, limit) = (number(&query, "offset", 0)?, number(&query, "limit", 100)?.clamp(1, 1_000));
    let text = query.get("text").map(String::as_str).unwrap_or_default();
    let part = shared.server.catalog.view(&owner).list(kind, text, offset, limit);
    Ok(Json(json!(part)))
}

/// `GET /v1/catalog/{kind}/{id}`
pub(crate) async fn thing(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path((kind, id)): Path<(String, String)>,
) -> Reply {
    let kind = parse_kind(&kind)?;
    let answer = shared.server.catalog.view(&owner).show(kind, &id, MAX_TOKENS).await?;
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
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    answer(&shared, &owner, Task::Plan, &headers, body).await
}

/// `POST /v1/ask`
pub(crate) async fn ask(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    answer(&shared, &owner, Task::Ask, &headers, body).await
}

/// Answers a question as events or as one response. A client that waits for one response and disconnects cancels the run.
async fn answer(shared: &Shared, owner: &Owner, task: Task, headers: &HeaderMap, body: Bytes) -> Response {
    let asked = json::<Question>(headers, body).await;
    let run = match asked.and_then(|asked| shared.server.start(owner, task, asked)) {
        Ok(run) => run,
        Err(refusal) => return refusal.into_response(),
    };
    if events::are_wanted(headers) {
        return events::of(&shared.server, &run, 0);
    }
    let guard = Guard(run.clone());
    let end = run.wait().await;
    drop(guard);
    match &end.failure {
        None => Json(&*end.result).into_response(),
        Some(failure) => failure.with("result", &end.result),
    }
}

/// Cancels a run whose client has disconnected.
struct Guard(Arc<Run>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.stop("the client disconnected");
    }
}

/// `GET /v1/runs/{handle}`
pub(crate) async fn run(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
) -> Reply {
    let run = shared.server.runs.get(&handle, &owner)?;
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
pub(crate) async fn cancel(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
) -> Result<StatusCode, Refusal> {
    shared.server.runs.get(&handle, &owner)?.stop("cancelled by the client");
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /v1/runs/{handle}/events`
pub(crate) async fn events(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let run = shared.server.runs.get(&handle, &owner)?;
    Ok(events::of(&shared.server, &run, events::last_seen(&headers)?))
}

/// `GET /v1/sessions`
pub(crate) async fn sessions(State(shared): State<Shared>, Extension(owner): Extension<Owner>) -> Reply {
    Ok(Json(shared.server.session_names(&owner).await?))
}

/// `POST /v1/sessions`: creates an unused name.
pub(crate) async fn new_session() -> (StatusCode, Json<Value>) {
    let name = format!("session_{}", uuid::Uuid::new_v4().simple());
    (StatusCode::CREATED, Json(json!({"session": name})))
}

/// `GET /v1/sessions/{name}`
pub(crate) async fn session(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(name): Path<String>,
) -> Reply {
    Ok(Json(shared.server.turns(&owner, &name).await?))
}

/// `DELETE /v1/sessions/{name}`
pub(crate) async fn remove_session(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(name): Path<String>,
) -> Result<StatusCode, Refusal> {
    shared.server.remove_session(&owner, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The new name of a conversation.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Renaming {
    name: String,
}

/// `POST /v1/sessions/{name}`: renames a conversation.
pub(crate) async fn rename_session(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Reply {
    let asked: Renaming =
        json(&headers, body).await.map_err(|refusal| refusal.advise("the body is {\"name\": \"...\"}"))?;
    let to = asked.name.trim();
    shared.server.rename_session(&owner, &name, to).await?;
    Ok(Json(json!({"session": to})))
}

/// `GET /v1/results/{handle}?page=`
pub(crate) async fn result(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Reply {
    only(&query, &["page"])?;
    Ok(Json(shared.server.fetch(&owner, &handle, number(&query, "page", 1)?)?))
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

/// Parses a JSON body on a blocking thread if needed: it may contain megabytes of rows.
pub(super) async fn json<T: DeserializeOwned + Send + 'static>(headers: &HeaderMap, body: Bytes) -> Result<T, Refusal> {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !media.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json")) {
        return Err(Refusal::new(RefusalCode::UnsupportedMediaType, "the body must be application/json"));
    }
    compute(move || serde_json::from_slice(&body)).await.map_err(|error| match error.classify() {
        Category::Data => Refusal::invalid(error.to_string()).advise("see /openapi.json"),
        _ => Refusal::new(RefusalCode::BadRequest, format!("the body is not valid JSON: {error}")),
    })
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
