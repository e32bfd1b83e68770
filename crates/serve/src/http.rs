//! HTTP connections: how they are admitted, served and closed.

mod events;
mod explore;
mod guard;
mod held;
mod page;
mod places;
mod queries;
mod reply;
mod route;
mod routes;
mod workflows;

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    http::{HeaderValue, Request, Response, header},
    middleware,
    response::IntoResponse,
};
use hyper::{body::Incoming, server::conn::http1, service::Service};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::{
    error::{Refusal, RefusalCode, ServeError},
    mcp,
    metrics::Counted,
    server::Server,
    shared::{SessionOwners, Shared},
};
use held::Held;
use places::{Access, Most, Place, Places};
pub use route::{ROUTES, Route};

/// Pause after a failed accept; the usual cause is too many open files.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// How long connections may stay open after their last response.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// Limit for the head of a request on a connection that is reserved for health checks.
const MAX_KEPT_HEAD_TIME: Duration = Duration::from_secs(2);

/// Liveness and readiness checks. They are answered even when every other place is taken.
pub(crate) const HEALTH: [&str; 2] = ["/healthz", "/readyz"];

/// Returns every route, behind the guards.
pub(crate) fn router(server: &Arc<Server>) -> Router {
    let sessions = Arc::new(mcp::sessions(server));
    let shared = Shared { server: server.clone(), sessions, owners: SessionOwners::default() };
    let routes = ROUTES.iter().fold(Router::new(), |router, route| router.route(route.path, route.handler(&shared)));
    routes
        .fallback(routes::unknown_path)
        .method_not_allowed_fallback(routes::unsupported_method)
        // The layer added last runs first.
        .layer(middleware::from_fn_with_state(shared.clone(), guard::limit))
        .layer(middleware::from_fn_with_state(shared.clone(), guard::authorize))
        .layer(middleware::from_fn_with_state(shared.clone(), guard::count))
        .with_state(shared)
}

impl Server {
    /// Serves HTTP, the page and MCP over HTTP until `stop`. Then no new work starts, running work is finished or cancelled with a reason,
    /// and the function returns.
    ///
    /// # Errors
    /// [`ServeError::Unguarded`] as [`Server::bind`], for a listener that was created elsewhere.
    pub async fn http(self: &Arc<Self>, listener: TcpListener, stop: CancellationToken) -> Result<(), ServeError> {
        let bound = listener.local_addr().ok();
        if let Some(address) = bound.filter(|address| !address.ip().is_loopback())
            && self.options.tokens.is_none()
        {
            return Err(ServeError::Unguarded { address });
        }
        serve(self, listener, stop).await;
        Ok(())
    }
}

/// Accepts connections until `stop`, then closes them gracefully.
async fn serve(server: &Arc<Server>, listener: TcpListener, stop: CancellationToken) {
    let app = router(server);
    let graceful = GracefulShutdown::new();
    let limits = &server.options.limits;
    let most = Most {
        usual: limits.connections,
        of_address: limits.connections_per_address.unwrap_or(limits.connections.div_ceil(2)),
        kept: limits.health_connections,
    };
    let places = Places::new(most);
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, address)) => connect(server, &app, &graceful, &places, stream, address),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // Idle connections hold the missing file descriptors.
                if !places.make_room() {
                    tokio::time::sleep(ACCEPT_BACKOFF).await;
                }
            }
        }
    }
    drop(listener);
    server.close().await;
    // Clients are notified of the shutdown; connections that do not close are dropped.
    let mut ended = std::pin::pin!(graceful.shutdown());
    if tokio::time::timeout(DRAIN_TIMEOUT, &mut ended).await.is_err() {
        server.closed.cancel();
        if tokio::time::timeout(DRAIN_TIMEOUT, &mut ended).await.is_err() {
            tracing::warn!("connections that did not end were dropped");
        }
    }
    server.closed.cancel();
}

/// Serves one connection if there is a place for it.
fn connect(
    server: &Arc<Server>,
    app: &Router,
    graceful: &GracefulShutdown,
    places: &Places,
    stream: TcpStream,
    address: SocketAddr,
) {
    let Some(place) = places.take(address.ip()) else {
        server.metrics.count_refusal("connections");
        return;
    };
    // Events are small and should arrive at once.
    let _ = stream.set_nodelay(true);
    let limits = &server.options.limits;
    let is_usual = place.access == Access::Usual;
    let head_time = if is_usual { limits.head_time } else { limits.head_time.min(MAX_KEPT_HEAD_TIME) };
    let end = place.end.clone();
    let answers = Answers { server: server.clone(), app: TowerToHyperService::new(app.clone()), place };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .keep_alive(is_usual)
        .serve_connection(TokioIo::new(stream), answers);
    let connection = graceful.watch(connection);
    let counted = Counted::new(&server.metrics.connections_now);
    tokio::spawn(async move {
        let _counted = counted;
        tokio::select! {
            ended = connection => if let Err(error) = ended {
                tracing::debug!(%error, "a connection was aborted");
            },
            () = end.cancelled() => tracing::debug!("an idle connection was closed to make room"),
        }
    });
}

/// Answers the requests of one connection, and holds its place meanwhile.
struct Answers {
    server: Arc<Server>,
    app: TowerToHyperService<Router>,
    place: Place,
}

impl Service<Request<Incoming>> for Answers {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = futures::future::BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let answering = self.place.answer();
        let refusal = match self.place.access {
            Access::Usual => None,
            _ if HEALTH.contains(&request.uri().path()) => None,
            Access::Full => Some(Refusal::new(RefusalCode::Overloaded, "every connection of this server is in use")),
            Access::OfAddress => {
                Some(Refusal::new(RefusalCode::TooManyRequests, "too many connections from this address"))
            }
        };
        if let Some(refusal) = refusal {
            self.server.metrics.count_refusal("connections");
            let mut response = refusal.advise("retry in a moment").into_response();
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            return Box::pin(async move { Ok(response.map(|body| Held::body(body, answering))) });
        }
        let answer = self.app.call(request);
        Box::pin(async move { Ok(answer.await?.map(|body| Held::body(body, answering))) })
    }
}
