//! The served catalog with its tools. A refresh replaces it as a whole; requests that started with the old state finish with it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use prospector_core::{Owner, Problem};
use prospector_discovery::{Catalog, DiscoveryTools, Profile, review::Keeping};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    changes::{Changes, Follower, Lists},
    error::{OpenError, ServeError},
    listing::{self, Entry},
    query_sessions::QueryEngine,
    view::CatalogView,
};

/// An opened catalog with the problems found, or the reason why it could not be opened.
pub type Opened = Result<(Catalog, Vec<Problem>), OpenError>;

/// Opens the catalog; `true` also re-reads unchanged sources. It is called on a blocking thread and cancelled by the token.
type Opener = dyn Fn(bool, CancellationToken) -> Opened + Send + Sync;

/// Identifies a state of the catalog, and a state of everything else that triggers reopening.
type Stamp = (String, String);

/// Pause after a failed attempt to rebuild the index.
const AGAIN: Duration = Duration::from_secs(60);

/// One state of the catalog, with a view per owner. The number of views is limited by the number of tokens.
struct State {
    catalog: Arc<Catalog>,
    profile: Profile,
    keeping: Keeping,
    entries: Arc<[Entry]>,
    queries: Arc<QueryEngine>,
    generation: u64,
    problems: Arc<[Problem]>,
    views: Mutex<HashMap<Owner, Arc<CatalogView>>>,
}

impl State {
    fn new(opened: (Catalog, Vec<Problem>), profile: Profile, whom: Audience, generation: u64) -> Self {
        let (catalog, problems) = opened;
        let catalog = Arc::new(if whom.is_guarded { catalog.redact_errors() } else { catalog });
        let keeping = whom.keeping;
        State {
            profile,
            keeping,
            entries: listing::entries(&catalog).into(),
            queries: Arc::new(QueryEngine::new(&catalog, profile, generation)),
            catalog,
            generation,
            problems: problems.into(),
            views: Mutex::default(),
        }
    }

    fn seen_by(&self, owner: &Owner) -> Arc<CatalogView> {
        let known = self.views.lock().unwrap_or_else(PoisonError::into_inner).get(owner).cloned();
        if let Some(known) = known {
            return known;
        }
        // Built outside the lock because it may take a while; building it twice does no harm.
        let catalog = Arc::new(self.catalog.seen_by(owner.clone(), self.keeping));
        let made = Arc::new(CatalogView {
            tools: DiscoveryTools::new(&catalog, self.profile),
            catalog,
            entries: self.entries.clone(),
            queries: self.queries.clone(),
            generation: self.generation,
            problems: self.problems.clone(),
            map: Mutex::default(),
        });
        self.views.lock().unwrap_or_else(PoisonError::into_inner).entry(owner.clone()).or_insert(made).clone()
    }
}

/// Who the catalog is served to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Audience {
    /// How facts supplied by an owner are stored.
    pub(crate) keeping: Keeping,
    /// Whether clients need a token. Clients with a token are not the operator, so errors do not reveal where the sources are.
    pub(crate) is_guarded: bool,
}

/// The catalog that is served now, and how to reopen it.
pub(crate) struct ServedCatalog {
    opener: Arc<Opener>,
    profile: Profile,
    whom: Audience,
    now: RwLock<Arc<State>>,
    /// Changes of the lists per owner, created when the first client waits for them.
    changes: Mutex<HashMap<Owner, Arc<Changes>>>,
    generation: AtomicU64,
    /// Why the current catalog could not be opened, if an older one is served.
    outdated: Mutex<Option<String>>,
    one_at_a_time: tokio::sync::Mutex<()>,
    /// Cancels the opening in progress.
    loading: Mutex<CancellationToken>,
}

impl ServedCatalog {
    pub(crate) async fn open(opener: Arc<Opener>, profile: Profile, whom: Audience) -> Result<Self, ServeError> {
        let opened = on_a_thread(opener.clone(), false, CancellationToken::new()).await?;
        Ok(ServedCatalog {
            opener,
            profile,
            whom,
            now: RwLock::new(Arc::new(State::new(opened, profile, whom, 1))),
            changes: Mutex::default(),
            generation: AtomicU64::new(1),
            outdated: Mutex::default(),
            one_at_a_time: tokio::sync::Mutex::new(()),
            loading: Mutex::default(),
        })
    }

    /// Returns the state that a whole request of this owner is answered from.
    pub(crate) fn view(&self, owner: &Owner) -> Arc<CatalogView> {
        let state = self.now.read().unwrap_or_else(PoisonError::into_inner).clone();
        state.seen_by(owner)
    }

    /// Returns the number of records in the index, and how often the catalog was opened.
    pub(crate) fn size(&self) -> (usize, u64) {
        let state = self.now.read().unwrap_or_else(PoisonError::into_inner);
        (state.catalog.index.len(), state.generation)
    }

    /// Subscribes to changes of what this owner's clients list.
    pub(crate) fn follow_changes(&self, owner: &Owner) -> Follower {
        let view = self.view(owner);
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let changes = changes.entry(owner.clone()).or_insert_with(|| Arc::new(Changes::new(Lists::of(&view))));
        changes.follow()
    }

    /// Checks whether the lists have changed, after an operation that may have changed them.
    pub(crate) fn look(&self) {
        let all = self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (owner, changes) in all {
            changes.look(|| Lists::of(&self.view(&owner)));
        }
    }

    /// Reopens the catalog and serves the result. Requests are answered from the old state meanwhile; if opening fails, the old state
    /// stays. Dropping the future cancels the opening.
    ///
    /// # Errors
    /// [`OpenError::Superseded`] if the catalog changed meanwhile, otherwise the reason why it cannot be opened.
    pub(crate) async fn refresh(&self, fresh: bool) -> Result<Value, OpenError> {
        let _turn = self.one_at_a_time.lock().await;
        let cancel = CancellationToken::new();
        let _cancelled = cancel.clone().drop_guard();
        *self.loading.lock().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
        let opened = on_a_thread(self.opener.clone(), fresh, cancel.clone()).await;
        if cancel.is_cancelled() {
            return Err(OpenError::Superseded);
        }
        *self.outdated.lock().unwrap_or_else(PoisonError::into_inner) =
            opened.as_ref().err().map(|error| error.to_string());
        let opened = opened?;
        let generation = self.generation.fetch_add(1, Ordering::SeqCst) + 1;
        let state = State::new(opened, self.profile, self.whom, generation);
        let said = json!({
            "generation": generation,
            "records": state.catalog.index.len(),
            "changed": state.catalog.refreshed,
            "documents": state.catalog.documents_refreshed,
            "problems": state.problems.len(),
        });
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(state);
        self.look();
        Ok(said)
    }

    /// Cancels the opening in progress, because another catalog is to be opened.
    fn supersede(&self) {
        self.loading.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    /// Returns why the current catalog cannot be opened, if the previous one is served for that reason.
    pub(crate) fn outdated_because(&self) -> Option<String> {
        self.outdated.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns why the index cannot be searched, if it cannot.
    pub(crate) async fn index_fault(&self) -> Option<String> {
        let index = self.now.read().unwrap_or_else(PoisonError::into_inner).catalog.index.clone();
        let fault = tokio::task::spawn_blocking(move || index.check().err().map(|error| error.to_string()));
        fault.await.unwrap_or_else(|error| Some(error.to_string()))
    }

    /// Reopens the catalog whenever `stamp` differs from `known` (the catalog was edited, or another process refreshed the index), and when
    /// the index is damaged, which rebuilds it.
    pub(crate) async fn follow(
        &self,
        stamp: &(dyn Fn() -> Option<Stamp> + Send + Sync),
        known: Option<Stamp>,
        every: Duration,
        until: &CancellationToken,
    ) {
        tokio::select! {
            () = until.cancelled() => {}
            () = self.follow_on(stamp, known, every) => {}
        }
    }

    /// Runs [`ServedCatalog::follow`] until it is dropped.
    async fn follow_on(
        &self,
        stamp: &(dyn Fn() -> Option<Stamp> + Send + Sync),
        mut known: Option<Stamp>,
        every: Duration,
    ) {
        let mut failed: Option<Instant> = None;
        loop {
            tokio::time::sleep(every).await;
            // A rebuild that has just failed is not retried at once.
            if failed.is_none_or(|since| since.elapsed() > AGAIN)
                && let Some(error) = self.index_fault().await
            {
                tracing::warn!(%error, "rebuilding the damaged index");
                if let Err(error) = self.reload(stamp, &mut known, every).await {
                    tracing::error!(%error, "cannot rebuild the index");
                }
                failed = self.index_fault().await.map(|_| Instant::now());
                continue;
            }
            let found = stamp();
            if found.is_none() || found == known {
                continue;
            }
            if is_other_catalog(&found, &known) {
                self.supersede();
            }
            // Changes during opening are checked in the next round. If opening itself wrote them, the next opening writes nothing.
            known = found;
            match self.reload(stamp, &mut known, every).await {
                Ok(said) => tracing::info!(%said, "reopened the catalog after a change"),
                Err(error) => {
                    tracing::warn!(%error, "the changed catalog cannot be opened; the previous one is served");
                }
            }
        }
    }

    /// Reopens the catalog. If the catalog changes meanwhile, opening is cancelled and restarted, so that a slow opening does not delay the
    /// corrected catalog.
    async fn reload(
        &self,
        stamp: &(dyn Fn() -> Option<Stamp> + Send + Sync),
        known: &mut Option<Stamp>,
        every: Duration,
    ) -> Result<Value, OpenError> {
        loop {
            let mut opening = std::pin::pin!(self.refresh(false));
            let opened = loop {
                tokio::select! {
                    opened = &mut opening => break opened,
                    () = tokio::time::sleep(every) => {}
                }
                let found = stamp();
                if is_other_catalog(&found, known) {
                    *known = found;
                    tracing::info!("the catalog changed while it was being opened");
                    self.supersede();
                }
            };
            if !matches!(opened, Err(OpenError::Superseded)) {
                return opened;
            }
        }
    }
}

/// Whether the catalog itself was changed, not only what opening it writes. Always false while there is no catalog.
fn is_other_catalog(found: &Option<Stamp>, known: &Option<Stamp>) -> bool {
    found.as_ref().is_some_and(|(catalog, _)| known.as_ref().is_none_or(|(known, _)| catalog != known))
}

async fn on_a_thread(opener: Arc<Opener>, fresh: bool, cancel: CancellationToken) -> Opened {
    match tokio::task::spawn_blocking(move || opener(fresh, cancel)).await {
        Ok(opened) => opened,
        Err(_) => Err(OpenError::GivenUp),
    }
}
