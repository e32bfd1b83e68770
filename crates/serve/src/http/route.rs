//! The list of every route.

use axum::{
    middleware,
    routing::{MethodRouter, any_service, delete, get, post},
};

use super::{explore, page, queries, routes, workflows};
use crate::{mcp, shared::Shared};

/// Creates the handler of a route.
type Handler = fn(&Shared) -> MethodRouter<Shared>;

/// A path of the server with its methods.
pub struct Route {
    /// Path template, such as `/v1/runs/{handle}`.
    pub path: &'static str,
    /// Supported HTTP methods.
    pub methods: &'static [&'static str],
    handler: Handler,
}

impl Route {
    const fn new(path: &'static str, methods: &'static [&'static str], handler: Handler) -> Self {
        Route { path, methods, handler }
    }

    pub(crate) fn handler(&self, shared: &Shared) -> MethodRouter<Shared> {
        (self.handler)(shared)
    }
}

/// Every route. Objects are returned to their owner only; `tests/it/owners.rs` tests each route of this list.
pub const ROUTES: [Route; 40] = [
    Route::new("/", &["GET"], |_| get(page::index)),
    Route::new("/assets/{name}", &["GET"], |_| get(page::asset)),
    Route::new("/healthz", &["GET"], |_| get(routes::healthy)),
    Route::new("/readyz", &["GET"], |_| get(routes::ready)),
    Route::new("/openapi.json", &["GET"], |_| get(routes::openapi)),
    Route::new("/metrics", &["GET"], |_| get(routes::metrics)),
    Route::new("/v1/about", &["GET"], |_| get(routes::about)),
    Route::new("/v1/tools", &["GET"], |_| get(routes::tools)),
    Route::new("/v1/tools/{name}", &["POST"], |_| post(routes::call)),
    Route::new("/v1/query-sessions", &["POST"], |_| post(queries::begin)),
    Route::new("/v1/query-sessions/{handle}", &["DELETE"], |_| delete(queries::end)),
    Route::new("/v1/query-sessions/{handle}/rows/{id}", &["GET"], |_| get(queries::rows)),
    Route::new("/v1/search", &["GET"], |_| get(routes::search)),
    Route::new("/v1/catalog", &["GET"], |_| get(routes::catalog)),
    Route::new("/v1/catalog/{kind}/{*id}", &["GET"], |_| get(routes::thing)),
    Route::new("/v1/examples", &["GET"], |_| get(explore::examples)),
    Route::new("/v1/diagram/{database}", &["GET"], |_| get(explore::diagram)),
    Route::new("/v1/problems", &["GET"], |_| get(explore::problems)),
    Route::new("/v1/chart", &["POST"], |_| post(explore::chart)),
    Route::new("/v1/parquet", &["POST"], |_| post(explore::parquet)),
    Route::new("/v1/plan", &["POST"], |_| post(routes::plan)),
    Route::new("/v1/ask", &["POST"], |_| post(routes::ask)),
    Route::new("/v1/sessions", &["GET", "POST"], |_| get(routes::sessions).post(routes::new_session)),
    Route::new("/v1/sessions/{name}", &["GET", "POST", "DELETE"], |_| {
        get(routes::session).post(routes::rename_session).delete(routes::remove_session)
    }),
    Route::new("/v1/sessions/{name}/link", &["POST"], |_| post(explore::make_link)),
    Route::new("/v1/links/{handle}", &["GET", "DELETE"], |_| get(explore::follow_link).delete(explore::remove_link)),
    Route::new("/v1/workflows", &["GET", "POST"], |_| get(workflows::list).post(workflows::begin)),
    Route::new("/v1/workflows/{handle}", &["GET", "POST", "DELETE"], |_| {
        get(workflows::one).post(workflows::proceed).delete(workflows::remove)
    }),
    Route::new("/v1/workflows/{handle}/files/{name}", &["GET"], |_| get(workflows::file)),
    Route::new("/v1/runs/{handle}", &["GET", "DELETE"], |_| get(routes::run).delete(routes::cancel)),
    Route::new("/v1/runs/{handle}/events", &["GET"], |_| get(routes::events)),
    Route::new("/v1/runs/{handle}/rows/{id}", &["GET"], |_| get(queries::rows_of_run)),
    Route::new("/v1/runs/{handle}/execution", &["POST"], |_| post(explore::execute)),
    Route::new("/v1/runs/{handle}/proposal", &["POST"], |_| post(explore::propose)),
    Route::new("/v1/runs/{handle}/objection", &["POST"], |_| post(explore::object)),
    Route::new("/v1/objections", &["GET"], |_| get(explore::objections)),
    Route::new("/v1/objections/{name}", &["DELETE"], |_| delete(explore::withdraw)),
    Route::new("/v1/results/{handle}", &["GET"], |_| get(routes::result)),
    Route::new("/v1/refresh", &["POST"], |_| post(routes::refresh)),
    Route::new("/mcp", &["GET", "POST", "DELETE"], |shared| {
        let service = mcp::service(&shared.server, &shared.sessions);
        any_service(service).layer(middleware::from_fn_with_state(shared.clone(), mcp::before))
    }),
];
