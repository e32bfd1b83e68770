//! HTTP: connections, how they are let in, and how they end.

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

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

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
    server::Server,
    shared::{SessionOwners, Shared},
};
use held::Held;
use places::{Most, Place, Places, Standing};
pub use route::{ROUTES, Route};

/// After a failed accept; mostly there are too many open files.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// How long connections get to end when everything on them has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// Who has one of the places that are kept for health checks says at once what it wants.
const MAX_KEPT_HEAD_TIME: Duration = Duration::from_secs(2);

/// What tells whether the server lives and takes requests. It is answered when nothing else is.
pub(crate) const HEALTH: [&str; 2] = ["/healthz", "/readyz"];

/// Every route, behind the guards.
pub(crate) fn router(server: &Arc<Server>) -> Router {
    let sessions = Arc::new(mcp::sessions(server));
    let shared = Shared { server: server.clone(), sessions, owners: SessionOwners::default() };
    let routes = ROUTES.iter().fold(Router::new(), |router, route| router.route(route.path, route.handler(&shared)));
    routes
        .fallback(routes::nowhere)
        .method_not_allowed_fallback(routes::no_such_method)
        // The last one is asked first.
        .layer(middleware::from_fn_with_state(shared.clone(), guard::limit))
        .layer(middleware::from_fn_with_state(shared.clone(), guard::authorize))
        .layer(middleware::from_fn_with_state(shared.clone(), guard::count))
        .with_state(shared)
}

impl Server {
    /// Serves HTTP, the page and MCP over HTTP until `stop`; then nothing new is begun, what runs is finished or
    /// cancelled with a reason, and it returns.
    ///
    /// # Errors
    /// [`ServeError::Unguarded`] as [`Server::bind`], for a listener that was made elsewhere.
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

/// Accepts connections until `stop`, then ends them as they allow it.
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
                // Somebody has the files that are missing.
                if !places.make_room() {
                    tokio::time::sleep(ACCEPT_BACKOFF).await;
                }
            }
        }
    }
    drop(listener);
    server.close().await;
    // Whoever listens is told that it ends; what does not end by itself is ended.
    let mut ended = std::pin::pin!(graceful.shutdown());
    if tokio::time::timeout(DRAIN_TIMEOUT, &mut ended).await.is_err() {
        server.closed.cancel();
        if tokio::time::timeout(DRAIN_TIMEOUT, &mut ended).await.is_err() {
            tracing::warn!("connections that did not end were dropped");
        }
    }
    server.closed.cancel();
}

/// Serves one connection, as far as there is a place for it.
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
    // Events are small, and are to arrive at once.
    let _ = stream.set_nodelay(true);
    let limits = &server.options.limits;
    let is_usual = place.standing == Standing::Usual;
    let head_time = if is_usual { limits.head_time } else { limits.head_time.min(MAX_KEPT_HEAD_TIME) };
    let end = place.end.clone();
    let answers = Answers { server: server.clone(), app: TowerToHyperService::new(app.clone()), place };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .keep_alive(is_usual)
        .serve_connection(TokioIo::new(stream), answers);
    let connection = graceful.watch(connection);
    let counted = Connected::new(server);
    tokio::spawn(async move {
        let _counted = counted;
        tokio::select! {
            ended = connection => if let Err(error) = ended {
                tracing::debug!(%error, "a connection broke off");
            },
            () = end.cancelled() => tracing::debug!("a connection that waited gave its place to another"),
        }
    });
}

/// A connection that is counted until it is dropped, however it ends.
struct Connected(Arc<Server>);

impl Connected {
    fn new(server: &Arc<Server>) -> Self {
        server.metrics.connections_now.fetch_add(1, Relaxed);
        Connected(server.clone())
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.metrics.connections_now.fetch_sub(1, Relaxed);
    }
}

/// What answers the requests of one connection, and keeps its place meanwhile.
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
        let refusal = match self.place.standing {
            Standing::Usual => None,
            _ if HEALTH.contains(&request.uri().path()) => None,
            Standing::Full => {
                Some(Refusal::new(RefusalCode::Overloaded, "every connection that this server has is in use"))
            }
            Standing::OfAddress => {
                Some(Refusal::new(RefusalCode::TooManyRequests, "this address has as many connections as one may have"))
            }
        };
        if let Some(refusal) = refusal {
            self.server.metrics.count_refusal("connections");
            let mut response = refusal.advise("ask again in a moment").into_response();
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            return Box::pin(async move { Ok(response.map(|body| Held::body(body, answering))) });
        }
        let answer = self.app.call(request);
        Box::pin(async move { Ok(answer.await?.map(|body| Held::body(body, answering))) })
    }
}
