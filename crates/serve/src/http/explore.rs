//! Routes for whoever looks around: questions to begin with, tables and their keys, what is wrong, and charts of rows.

use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, State},
    http::HeaderMap,
};
use prospector_chart::{Choice, Data, choose};
use prospector_core::Owner;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{reply::Reply, routes::json};
use crate::{diagram::Diagram, error::Refusal, examples, shared::Shared};

/// More rows are not drawn.
const MAX_ROWS: usize = 10_000;

/// How wide a chart is, where it is not said.
const WIDTH: u32 = 720;

/// `GET /v1/examples`: questions that the catalog can answer, to begin with.
pub(super) async fn examples(State(shared): State<Shared>, Extension(owner): Extension<Owner>) -> Reply {
    let view = shared.server.catalog.view(&owner);
    Ok(Json(json!({"items": examples::find(&view.catalog)})))
}

/// `GET /v1/diagram/{database}`: its tables, and the keys between them.
pub(super) async fn diagram(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(name): Path<String>,
) -> Reply {
    let view = shared.server.catalog.view(&owner);
    let database = view.catalog.schema.database(&name);
    let missing =
        || Refusal::not_found(format!("there is no database `{name}`")).advise("see /v1/catalog?kind=database");
    Ok(Json(json!(Diagram::of(database.ok_or_else(missing)?))))
}

/// `GET /v1/problems`: what is wrong with the catalog. Where there are tokens, whoever has one is no owner of its files, and
/// hears only how much it is.
pub(super) async fn problems(State(shared): State<Shared>, Extension(owner): Extension<Owner>) -> Reply {
    let problems = shared.server.catalog.view(&owner).problems.clone();
    let shown = if shared.server.options.tokens.is_none() { &problems[..] } else { &[] };
    Ok(Json(json!({"total": problems.len(), "items": shown})))
}

/// A result that is to be drawn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Drawn {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    #[serde(default)]
    question: String,
    #[serde(default)]
    has_more: bool,
    #[serde(default)]
    sources: Vec<String>,
    width: Option<u32>,
}

/// `POST /v1/chart`: the chart that shows a result, as Vega-Lite, as SVG and in words; or why there is none.
pub(super) async fn chart(headers: HeaderMap, body: Bytes) -> Reply {
    let drawn: Drawn = serde_json::from_value(json(&headers, &body)?)
        .map_err(|error| Refusal::invalid(error.to_string()).advise("see /openapi.json"))?;
    if drawn.rows.len() > MAX_ROWS || drawn.columns.len() > MAX_ROWS {
        return Err(Refusal::invalid(format!("there are more than {MAX_ROWS} rows")).advise("aggregate them first"));
    }
    let data = Data {
        question: &drawn.question,
        columns: &drawn.columns,
        rows: &drawn.rows,
        has_more: drawn.has_more,
        sources: &drawn.sources,
        ..Data::default()
    };
    Ok(Json(match choose(&data) {
        Choice::Chart(chart) => json!({"chart": {
            "kind": chart.kind().as_str(),
            "title": chart.title,
            "description": chart.describe(),
            "vega": chart.vega(),
            "svg": chart.svg(drawn.width.unwrap_or(WIDTH)),
        }}),
        Choice::Table { reason } => json!({"chart": null, "reason": reason}),
    }))
}
