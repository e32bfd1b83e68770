//! The server: catalog, models, runs and stored results, shared by all protocols.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use prospector_agent::Models;
use prospector_core::Owner;
use prospector_discovery::{Profile, review::Keeping};
use tokio::{net::TcpListener, sync::Semaphore};
use tokio_util::sync::CancellationToken;

use crate::{
    catalog::{Audience, Opened, ServedCatalog},
    error::{Refusal, ServeError},
    handles::HandleStore,
    live_workflows::LiveWorkflows,
    memory::{MemoryBudget, Reserved},
    metrics::Metrics,
    options::{Limited, Options},
    pages::Long,
    query_sessions::QuerySessions,
    run::Run,
    sessions::Sessions,
    shares::Shares,
};

/// Interval of checks for a refresh by another process.
const LOOK: Duration = Duration::from_secs(2);

/// How long cancelled work may take to report its cancellation.
const CANCEL_GRACE: Duration = Duration::from_secs(3);

/// A server over one catalog. All protocols share its models, runs and limits.
pub struct Server {
    pub(crate) catalog: ServedCatalog,
    pub(crate) models: Models,
    pub(crate) options: Options,
    pub(crate) metrics: Metrics,
    pub(crate) runs: HandleStore<Run>,
    pub(crate) results: HandleStore<Long>,
    pub(crate) sessions: Sessions,
    pub(crate) query_sessions: QuerySessions,
    pub(crate) live_workflows: LiveWorkflows,
    pub(crate) runs_left: Arc<Semaphore>,
    pub(crate) requests_left: Arc<Semaphore>,
    pub(crate) memory: MemoryBudget,
    /// The running work of each owner, including streams.
    pub(crate) runs_of: Shares,
    pub(crate) requests_of: Shares,
    pub(crate) streams_of: Shares,
    /// Cancelled when no new work is accepted.
    pub(crate) closing: CancellationToken,
    /// Cancelled when everything still open is dropped.
    pub(crate) closed: CancellationToken,
}

impl Server {
    /// Opens the catalog and prepares the server. `open` is called again for every refresh, on a blocking thread; `true` also re-reads
    /// unchanged sources. The token is cancelled once the result is no longer needed: see
    /// [`CatalogOptions::cancel`](prospector_discovery::CatalogOptions::cancel).
    ///
    /// # Errors
    /// [`ServeError::Catalog`] if the catalog cannot be opened.
    pub async fn open(
        open: impl Fn(bool, CancellationToken) -> Opened + Send + Sync + 'static,
        profile: Profile,
        models: Models,
        options: Options,
    ) -> Result<Arc<Self>, ServeError> {
        let limits = &options.limits;
        // With several owners, facts supplied by one do not apply to the others.
        let keeping = if options.tokens.owners() > 1 { Keeping::Apart } else { Keeping::ForAll };
        let whom = Audience { keeping, is_guarded: !options.tokens.is_none() };
        Ok(Arc::new(Server {
            catalog: ServedCatalog::open(Arc::new(open), profile, whom).await?,
            models,
            metrics: Metrics::default(),
            runs: HandleStore::new("run", limits.handles, limits.handle_life),
            results: HandleStore::new("result", limits.handles, limits.handle_life),
            sessions: Sessions::default(),
            query_sessions: QuerySessions::default(),
            live_workflows: LiveWorkflows::default(),
            runs_left: Arc::new(Semaphore::new(limits.runs)),
            requests_left: Arc::new(Semaphore::new(limits.requests)),
            memory: MemoryBudget::new(limits.request_memory),
            runs_of: Shares::default(),
            requests_of: Shares::default(),
            streams_of: Shares::default(),
            closing: CancellationToken::new(),
            closed: CancellationToken::new(),
            options,
        }))
    }

    /// Returns the names of the offered models, the default first.
    pub(crate) fn model_names(&self) -> Vec<&str> {
        let mut names = vec![self.models.chat.name()];
        for models in &self.options.models {
            if !names.contains(&models.chat.name()) {
                names.push(models.chat.name());
            }
        }
        names
    }

    /// Returns the model of that name, or the default. Models that are not offered are refused.
    pub(crate) fn find_models(&self, name: Option<&str>) -> Result<&Models, Refusal> {
        let Some(name) = name.filter(|name| *name != self.models.chat.name()) else { return Ok(&self.models) };
        self.options.models.iter().find(|models| models.chat.name() == name).ok_or_else(|| {
            Refusal::invalid(format!("the model `{}` is not offered here", name.escape_debug()))
                .advise(format!("the models are {}", self.model_names().join(", ")))
        })
    }

    /// Returns the share of a limit that one owner may use.
    pub(crate) fn share(&self, of: Limited) -> usize {
        self.options.limits.share(of, self.options.tokens.owners())
    }

    /// Reserves memory for a request of this owner.
    ///
    /// # Errors
    /// If the request exceeds the owner's limit, or what is left of the owner's or the shared limit.
    pub(crate) fn reserve(&self, owner: &Owner, bytes: usize) -> Result<Reserved, Refusal> {
        let reserved = self.memory.reserve(owner, bytes, self.share(Limited::Memory));
        reserved.inspect_err(|_| self.metrics.count_refusal("memory"))
    }

    /// Reopens the catalog whenever `stamp` changes, until the server closes, so that edits of the catalog and refreshes by other processes
    /// are noticed. The first part identifies the catalog: if it changes while the catalog is being opened, opening is cancelled and
    /// restarted. The second part identifies what opening writes too.
    pub fn follow(self: &Arc<Self>, stamp: impl Fn() -> Option<(String, String)> + Send + Sync + 'static) {
        let (server, known) = (self.clone(), stamp());
        tokio::spawn(async move { server.catalog.follow(&stamp, known, LOOK, &server.closing).await });
    }

    /// Binds an address for [`Server::http`].
    ///
    /// # Errors
    /// - [`ServeError::Unguarded`] if the address is reachable from other machines and no token is set.
    /// - [`ServeError::Listen`] if the address cannot be bound.
    pub async fn bind(&self, address: SocketAddr) -> Result<TcpListener, ServeError> {
        if !address.ip().is_loopback() && self.options.tokens.is_none() {
            return Err(ServeError::Unguarded { address });
        }
        TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })
    }

    /// Refuses new work, lets running work finish for a while, and cancels the rest.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        let idle = |timeout: Duration| async move {
            let until = Instant::now() + timeout;
            while self.metrics.runs() > 0 && Instant::now() < until {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        idle(self.options.limits.grace).await;
        for run in self.runs.all() {
            run.stop("the server is shutting down");
        }
        idle(CANCEL_GRACE).await;
    }
}
