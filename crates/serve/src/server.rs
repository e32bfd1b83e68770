//! One server: the catalog, the models, what runs and what is kept. Every protocol shares it.

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

/// How often it is looked whether another process has refreshed the index.
const LOOK: Duration = Duration::from_secs(2);

/// What was cancelled gets this long to say so.
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
    /// block; with `true` it reads again what has not changed too. The token is cancelled once nobody waits for it any more: see
    /// [`CatalogOptions::cancel`](prospector_discovery::CatalogOptions::cancel).
    ///
    /// # Errors
    /// [`ServeError::Catalog`] when it cannot be opened.
    pub async fn open(
        open: impl Fn(bool, CancellationToken) -> Opened + Send + Sync + 'static,
        profile: Profile,
        models: Models,
        options: Options,
    ) -> Result<Arc<Self>, ServeError> {
        let limits = &options.limits;
        // What one says is not the word of all where there are others.
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

    /// The names of the models that a question may name, the usual one first.
    pub(crate) fn model_names(&self) -> Vec<&str> {
        let mut names = vec![self.models.chat.name()];
        for models in &self.options.models {
            if !names.contains(&models.chat.name()) {
                names.push(models.chat.name());
            }
        }
        names
    }

    /// The models of that name, which are the usual ones where none is named. Whatever is not offered is refused.
    pub(crate) fn find_models(&self, name: Option<&str>) -> Result<&Models, Refusal> {
        let Some(name) = name.filter(|name| *name != self.models.chat.name()) else { return Ok(&self.models) };
        self.options.models.iter().find(|models| models.chat.name() == name).ok_or_else(|| {
            Refusal::invalid(format!("the model `{}` is not offered here", name.escape_debug()))
                .advise(format!("the models are {}", self.model_names().join(", ")))
        })
    }

    /// How much of it one owner may have at once.
    pub(crate) fn share(&self, of: Limited) -> usize {
        self.options.limits.share(of, self.options.tokens.owners())
    }

    /// Reserves memory for a request of this owner.
    ///
    /// # Errors
    /// More than one may have at all, or more than is left, of one's own share or of all.
    pub(crate) fn reserve(&self, owner: &Owner, bytes: usize) -> Result<Reserved, Refusal> {
        let reserved = self.memory.reserve(owner, bytes, self.share(Limited::Memory));
        reserved.inspect_err(|_| self.metrics.count_refusal("memory"))
    }

    /// Opens the catalog again whenever `stamp` gives something new, until the server closes: so that a change of the catalog
    /// and a refresh by another process are noticed. The first part is of the catalog: where it changes while the catalog is
    /// opened, that is cancelled, and it is opened again. The second is of what opening writes too.
    pub fn follow(self: &Arc<Self>, stamp: impl Fn() -> Option<(String, String)> + Send + Sync + 'static) {
        let (server, known) = (self.clone(), stamp());
        tokio::spawn(async move { server.catalog.follow(&stamp, known, LOOK, &server.closing).await });
    }

    /// Has the transformer read the index, beside everything else, until the server closes: see
    /// [`prospector_search::Index::deepen`].
    pub fn deepen(self: &Arc<Self>) {
        let server = self.clone();
        tokio::spawn(async move { server.catalog.deepen(&server.closing).await });
    }

    /// Listens on an address, for [`Server::http`].
    ///
    /// # Errors
    /// [`ServeError::Unguarded`] when others can reach it and there is no token; [`ServeError::Listen`].
    pub async fn bind(&self, address: SocketAddr) -> Result<TcpListener, ServeError> {
        if !address.ip().is_loopback() && self.options.tokens.is_none() {
            return Err(ServeError::Unguarded { address });
        }
        TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })
    }

    /// Begins nothing new, lets what runs finish for a while, and cancels the rest.
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
