//! Routes for exploring the catalog: example questions, tables and keys, problems, and charts of rows.

use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use prospector_connect::rows::Rows;
use prospector_core::{Owner, work::compute};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{reply::Reply, routes::json};
use crate::{
    diagram::Diagram, drawing::Drawn, error::Refusal, examples, objection::Reason, rows::count_cells, shared::Shared,
};

/// `GET /v1/examples`: questions that the catalog can answer, including earlier questions of this owner.
pub(super) async fn examples(State(shared): State<Shared>, Extension(owner): Extension<Owner>) -> Reply {
    let view = shared.server.catalog.view(&owner);
    let asked = shared.server.kept_sessions(&owner).await.unwrap_or_default();
    Ok(Json(json!({"items": examples::find(&view.catalog, &asked)})))
}

/// `GET /v1/diagram/{database}`: the tables of a database, and the keys between them.
pub(super) async fn diagram(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(name): Path<String>,
) -> Reply {
    let view = shared.server.catalog.view(&owner);
    Ok(Json(json!(Diagram::find(&view.catalog, &name)?)))
}

/// `GET /v1/problems`: the problems of the catalog. If the server requires tokens, clients are not the owner of its files and get only the
/// number of problems.
pub(super) async fn problems(State(shared): State<Shared>, Extension(owner): Extension<Owner>) -> Reply {
    let problems = shared.server.catalog.view(&owner).problems.clone();
    let shown = if shared.server.options.tokens.is_none() { &problems[..] } else { &[] };
    Ok(Json(json!({"total": problems.len(), "items": shown})))
}

/// Rows to write to a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptRows {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

/// Memory for writing a column and a cell, in bytes, in addition to the body.
const COLUMN: usize = 96 * 1024;
const CELL: usize = 64;

/// `POST /v1/parquet`: rows as a Parquet file.
pub(super) async fn parquet(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let bytes = body.len();
    let KeptRows { columns, rows } = json(&headers, body).await?;
    let cells = count_cells(&columns, &rows)?;
    let _reserved = shared.server.reserve(&owner, columns.len() * COLUMN + cells * CELL + 2 * bytes)?;
    let rows = Rows { columns, rows, has_more: false };
    let file = compute(move || rows.to_parquet()).await.map_err(|error| Refusal::invalid(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/vnd.apache.parquet")], file).into_response())
}

/// `POST /v1/runs/{handle}/proposal`: proposes the query of an answer as a verified query.
pub(super) async fn propose(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    Ok((StatusCode::CREATED, Json(json!(shared.server.propose(&owner, &handle).await?))))
}

/// `POST /v1/runs/{handle}/execution`: executes the plan of a run and returns the result of each step.
pub(super) async fn execute(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
) -> Reply {
    Ok(Json(shared.server.execute(&owner, &handle).await?))
}

/// `POST /v1/runs/{handle}/objection`: reports that an answer is wrong, and why.
pub(super) async fn object(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let reason: Reason =
        json(&headers, body).await.map_err(|refusal| refusal.advise("the body is {\"why\": \"...\"}"))?;
    Ok((StatusCode::CREATED, Json(json!(shared.server.object(&owner, &handle, reason).await?))))
}

/// `GET /v1/objections`: the answers that this owner reported as wrong.
pub(super) async fn objections(State(shared): State<Shared>, Extension(owner): Extension<Owner>) -> Reply {
    Ok(Json(json!({"items": shared.server.own_objections(&owner).await?})))
}

/// `DELETE /v1/objections/{name}`: withdraws a report.
pub(super) async fn withdraw(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(name): Path<String>,
) -> Result<StatusCode, Refusal> {
    shared.server.withdraw(&owner, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /v1/sessions/{name}/link`: creates a link to the current state of a conversation.
pub(super) async fn make_link(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(name): Path<String>,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    Ok((StatusCode::CREATED, Json(json!({"link": shared.server.make_link(&owner, &name).await?}))))
}

/// `GET /v1/links/{handle}`
pub(super) async fn follow_link(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
) -> Reply {
    Ok(Json(shared.server.follow_link(&owner, &handle).await?))
}

/// `DELETE /v1/links/{handle}`: removes a link.
pub(super) async fn remove_link(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
) -> Result<StatusCode, Refusal> {
    shared.server.remove_link(&owner, &handle).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /v1/chart`: the chart of a result as Vega-Lite, SVG and text, or why nothing is drawn.
pub(super) async fn chart(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    headers: HeaderMap,
    body: Bytes,
) -> Reply {
    let drawn: Drawn = json(&headers, body).await?;
    Ok(Json(json!(shared.server.draw(&owner, drawn).await?)))
}
