//! HTTP: routes, connections, and how they end.

mod events;
mod guard;
mod page;
mod reply;
mod routes;

use std::{sync::Arc, time::Duration};

use axum::{
    Router, middleware,
    routing::{any_service, get, post},
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::sync::CancellationToken;

use crate::{mcp, server::Server};

/// After a failed accept; mostly there are too many open files.
const BREATH: Duration = Duration::from_millis(100);

/// How long connections get to end when everything on them has ended.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// What every handler is given.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) server: Arc<Server>,
    pub(crate) sessions: Arc<LocalSessionManager>,
}

/// Every route, behind the guards.
pub(crate) fn router(server: &Arc<Server>) -> Router {
    let sessions = Arc::new(mcp::sessions(server));
    let mcp = mcp::service(server, &sessions);
    let shared = Shared { server: server.clone(), sessions };
    Router::new()
        .route("/", get(page::index))
        .route("/assets/{name}", get(page::asset))
        .route("/healthz", get(routes::healthy))
        .route("/readyz", get(routes::ready))
        .route("/openapi.json", get(routes::openapi))
        .route("/metrics", get(routes::metrics))
        .route("/v1/about", get(routes::about))
        .route("/v1/tools", get(routes::tools))
        .route("/v1/tools/{name}", post(routes::call))
        .route("/v1/search", get(routes::search))
        .route("/v1/catalog", get(routes::catalog))
        .route("/v1/catalog/{kind}/{*id}", get(routes::thing))
        .route("/v1/plan", post(routes::plan))
        .route("/v1/ask", post(routes::ask))
        .route("/v1/sessions", get(routes::sessions).post(routes::new_session))
        .route("/v1/sessions/{name}", get(routes::session))
        .route("/v1/runs/{handle}", get(routes::run).delete(routes::cancel))
        .route("/v1/runs/{handle}/events", get(routes::events))
        .route("/v1/results/{handle}", get(routes::result))
        .route("/v1/refresh", post(routes::refresh))
        .route("/mcp", any_service(mcp).layer(middleware::from_fn_with_state(shared.clone(), mcp::before)))
        .fallback(routes::nowhere)
        .method_not_allowed_fallback(routes::no_such_method)
        // The last one is asked first.
        .layer(middleware::from_fn_with_state(shared.clone(), guard::bounded))
        .layer(middleware::from_fn_with_state(shared.clone(), guard::admitted))
        .layer(middleware::from_fn_with_state(shared.clone(), guard::counted))
        .with_state(shared)
}

/// Accepts connections until `stop`, then ends them as they allow it.
pub(crate) async fn serve(server: &Arc<Server>, listener: TcpListener, stop: CancellationToken) {
    let app = router(server);
    let graceful = GracefulShutdown::new();
    let connections = Arc::new(Semaphore::new(server.options.limits.connections));
    loop {
        let permit = tokio::select! {
            () = stop.cancelled() => break,
            permit = connections.clone().acquire_owned() => permit,
        };
        let Ok(permit) = permit else { break };
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => connect(server, &app, &graceful, stream, permit),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
    drop(listener);
    server.close().await;
    // Whoever listens is told that it ends; what does not end by itself is ended.
    let mut ended = std::pin::pin!(graceful.shutdown());
    if tokio::time::timeout(LAST_WORDS, &mut ended).await.is_err() {
        server.closed.cancel();
        if tokio::time::timeout(LAST_WORDS, &mut ended).await.is_err() {
            tracing::warn!("connections that did not end were dropped");
        }
    }
    server.closed.cancel();
}

fn connect(
    server: &Arc<Server>,
    app: &Router,
    graceful: &GracefulShutdown,
    stream: TcpStream,
    permit: OwnedSemaphorePermit,
) {
    // Events are small, and are to arrive at once.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(server.options.limits.head_time)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app.clone()));
    let connection = graceful.watch(connection);
    let server = server.clone();
    tokio::spawn(async move {
        use std::sync::atomic::Ordering::Relaxed;
        server.metrics.connections_now.fetch_add(1, Relaxed);
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection broke off");
        }
        server.metrics.connections_now.fetch_sub(1, Relaxed);
        drop(permit);
    });
}
