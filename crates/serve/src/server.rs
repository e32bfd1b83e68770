//! One server: the catalog, the models, what runs and what is kept. Every protocol shares it.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use prospector_agent::Models;
use prospector_discovery::{Keeping, Profile};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Opened, Options, ServeError, estate::Estate, http, kept::Kept, mcp, metrics::Metrics, options::Limited,
    results::Long, runs::Run, sessions::Sessions, shares::Shares,
};

/// How often it is looked whether another process has refreshed the index.
const LOOK: Duration = Duration::from_secs(2);

/// What was cancelled gets this long to say so.
const FAREWELL: Duration = Duration::from_secs(3);

/// One catalog, served.
pub struct Server {
    pub(crate) estate: Estate,
    pub(crate) models: Models,
    pub(crate) options: Options,
    pub(crate) metrics: Metrics,
    pub(crate) runs: Kept<Run>,
    pub(crate) results: Kept<Long>,
    pub(crate) sessions: Sessions,
    pub(crate) runs_left: Arc<Semaphore>,
    pub(crate) requests_left: Arc<Semaphore>,
    /// What each owner has under way of them, and of streams.
    pub(crate) runs_of: Shares,
    pub(crate) requests_of: Shares,
    pub(crate) streams_of: Shares,
    /// Set when nothing new is begun.
    pub(crate) closing: CancellationToken,
    /// Set when what is still open is dropped.
    pub(crate) closed: CancellationToken,
}

impl Server {
    /// Opens the catalog and gets everything ready. `open` is called again for every refresh, on a thread that may
    /// block; with `true` it reads again what has not changed too.
    ///
    /// # Errors
    /// [`ServeError::Catalog`] when it cannot be opened.
    pub async fn open(
        open: impl Fn(bool) -> Opened + Send + Sync + 'static,
        profile: Profile,
        models: Models,
        options: Options,
    ) -> Result<Arc<Self>, ServeError> {
        let limits = &options.limits;
        // What one says is not the word of all where there are others.
        let keeping = if options.tokens.owners() > 1 { Keeping::Apart } else { Keeping::ForAll };
        Ok(Arc::new(Server {
            estate: Estate::open(Arc::new(open), profile, keeping).await?,
            models,
            metrics: Metrics::default(),
            runs: Kept::new("run", limits.handles, limits.handle_life),
            results: Kept::new("result", limits.handles, limits.handle_life),
            sessions: Sessions::default(),
            runs_left: Arc::new(Semaphore::new(limits.runs)),
            requests_left: Arc::new(Semaphore::new(limits.requests)),
            runs_of: Shares::default(),
            requests_of: Shares::default(),
            streams_of: Shares::default(),
            closing: CancellationToken::new(),
            closed: CancellationToken::new(),
            options,
        }))
    }

    /// How much of it one owner may have at once.
    pub(crate) fn share(&self, of: Limited) -> usize {
        self.options.limits.share(of, self.options.tokens.owners())
    }

    /// Opens the catalog again whenever `stamp` gives something new, until the server closes: so that a refresh by
    /// another process is noticed.
    pub fn follow(self: &Arc<Self>, stamp: impl Fn() -> Option<String> + Send + Sync + 'static) {
        let (server, known) = (self.clone(), stamp());
        tokio::spawn(async move { server.estate.follow(&stamp, known, LOOK, &server.closing).await });
    }

    /// Listens on an address.
    ///
    /// # Errors
    /// [`ServeError::Unguarded`] when others can reach it and there is no token; [`ServeError::Listen`].
    pub async fn bind(&self, address: SocketAddr) -> Result<TcpListener, ServeError> {
        if !address.ip().is_loopback() && self.options.tokens.is_none() {
            return Err(ServeError::Unguarded { address });
        }
        TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })
    }

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
        http::serve(self, listener, stop).await;
        Ok(())
    }

    /// Serves MCP over standard input and output until the input ends or `stop`.
    ///
    /// # Errors
    /// [`ServeError::Protocol`] when the client does not begin as MCP does.
    pub async fn stdio(self: &Arc<Self>, stop: CancellationToken) -> Result<(), ServeError> {
        let (input, output) = rmcp::transport::stdio_pipes();
        mcp::pipe(self, input, output, stop).await
    }

    /// The same over any other pair of streams.
    ///
    /// # Errors
    /// As [`Server::stdio`].
    pub async fn pipe(
        self: &Arc<Self>,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        stop: CancellationToken,
    ) -> Result<(), ServeError> {
        mcp::pipe(self, input, output, stop).await
    }

    /// Begins nothing new, lets what runs finish for a while, and cancels the rest.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        let idle = |patience: Duration| async move {
            let until = Instant::now() + patience;
            while self.metrics.runs() > 0 && Instant::now() < until {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        idle(self.options.limits.grace).await;
        for run in self.runs.all() {
            run.stop("the server is shutting down");
        }
        idle(FAREWELL).await;
    }
}
