//! Serves the page, whose files are compiled into the program.

use axum::{
    extract::Path,
    http::header,
    response::{IntoResponse, Response},
};

use crate::{assets, error::Refusal};

/// `GET /`
pub(crate) async fn index() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], assets::INDEX).into_response()
}

/// `GET /assets/{name}`
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    match assets::find(&name) {
        Some(asset) => {
            ([(header::CONTENT_TYPE, asset.media), (header::CACHE_CONTROL, "no-cache")], asset.text).into_response()
        }
        None => Refusal::not_found("unknown file").into_response(),
    }
}
