//! The page: files that are part of the program. Nothing of it comes from elsewhere, and nothing in it is data.

use axum::{
    extract::Path,
    http::header,
    response::{IntoResponse, Response},
};

use crate::error::Refusal;

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// Every file beside the page itself.
const ASSETS: [(&str, &str, &str); 19] = [
    ("style.css", CSS, include_str!("../page/style.css")),
    ("views.css", CSS, include_str!("../page/views.css")),
    ("answer.js", JAVASCRIPT, include_str!("../page/answer.js")),
    ("api.js", JAVASCRIPT, include_str!("../page/api.js")),
    ("catalog.js", JAVASCRIPT, include_str!("../page/catalog.js")),
    ("chart.js", JAVASCRIPT, include_str!("../page/chart.js")),
    ("clarify.js", JAVASCRIPT, include_str!("../page/clarify.js")),
    ("diagram.js", JAVASCRIPT, include_str!("../page/diagram.js")),
    ("dom.js", JAVASCRIPT, include_str!("../page/dom.js")),
    ("explore.js", JAVASCRIPT, include_str!("../page/explore.js")),
    ("graph.js", JAVASCRIPT, include_str!("../page/graph.js")),
    ("history.js", JAVASCRIPT, include_str!("../page/history.js")),
    ("main.js", JAVASCRIPT, include_str!("../page/main.js")),
    ("markdown.js", JAVASCRIPT, include_str!("../page/markdown.js")),
    ("plan.js", JAVASCRIPT, include_str!("../page/plan.js")),
    ("sql.js", JAVASCRIPT, include_str!("../page/sql.js")),
    ("table.js", JAVASCRIPT, include_str!("../page/table.js")),
    ("workflow.js", JAVASCRIPT, include_str!("../page/workflow.js")),
    ("icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
];

/// `GET /`
pub(crate) async fn index() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], include_str!("../page/index.html")).into_response()
}

/// `GET /assets/{name}`
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    match ASSETS.iter().find(|(known, ..)| *known == name) {
        Some((_, media, text)) => {
            ([(header::CONTENT_TYPE, *media), (header::CACHE_CONTROL, "no-cache")], *text).into_response()
        }
        None => Refusal::not_found("there is no such file").into_response(),
    }
}
