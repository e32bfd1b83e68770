//! What is served: one catalog with its tools, replaced as a whole when it is refreshed. Who has begun with the old one
//! ends with it.

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

/// A catalog as it was opened, with what could not be used of it; or why it could not be opened at all.
pub type Opened = Result<(Catalog, Vec<Problem>), OpenError>;

/// Opens the catalog as it is now; with `true` what has not changed is read again too. It is called on a thread that may
/// block, and is cancelled by the token.
type Opener = dyn Fn(bool, CancellationToken) -> Opened + Send + Sync;

/// What tells one state of the catalog, and one of everything else that it is opened for, from the next.
type Stamp = (String, String);

/// How long after an attempt to mend the index that failed the next one is made.
const AGAIN: Duration = Duration::from_secs(60);

/// How often it is looked whether there is something new for the transformer to read.
const IDLE: Duration = Duration::from_secs(10);

/// And how long after it could not: a disk that is full or read-only stays so for a while.
const IDLE_AFTER_ERROR: Duration = Duration::from_secs(600);

/// One state of the catalog, and what has been made of it for each owner. Their number is that of the tokens.
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
        // Not under the lock: it may take a while, and to make it twice does no harm.
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

/// Whom a catalog is served to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Audience {
    /// What becomes of what an owner says.
    pub(crate) keeping: Keeping,
    /// Whether clients need a token. Then they are not the operator: errors do not tell them where the sources are.
    pub(crate) is_guarded: bool,
}

/// The catalog that is served now, and how to open it again.
pub(crate) struct ServedCatalog {
    opener: Arc<Opener>,
    profile: Profile,
    whom: Audience,
    now: RwLock<Arc<State>>,
    /// Of what the clients of each owner list, from the time when the first of them waits for it.
    changes: Mutex<HashMap<Owner, Arc<Changes>>>,
    generation: AtomicU64,
    /// Why the catalog as it is now could not be opened, where an older one is served.
    outdated: Mutex<Option<String>>,
    one_at_a_time: tokio::sync::Mutex<()>,
    /// Cancels the opening that is under way.
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

    /// The state that a request of this owner is answered from, from its beginning to its end.
    pub(crate) fn view(&self, owner: &Owner) -> Arc<CatalogView> {
        let state = self.now.read().unwrap_or_else(PoisonError::into_inner).clone();
        state.seen_by(owner)
    }

    /// How many records are in the index, and how often the catalog was opened.
    pub(crate) fn size(&self) -> (usize, u64) {
        let state = self.now.read().unwrap_or_else(PoisonError::into_inner);
        (state.catalog.index.len(), state.generation)
    }

    /// Waits for changes of what the clients of this owner list, from now on.
    pub(crate) fn follow_changes(&self, owner: &Owner) -> Follower {
        let view = self.view(owner);
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let changes = changes.entry(owner.clone()).or_insert_with(|| Arc::new(Changes::new(Lists::of(&view))));
        changes.follow()
    }

    /// Looks whether what clients list has changed, after something that may have changed it.
    pub(crate) fn look(&self) {
        let all = self.changes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (owner, changes) in all {
            changes.look(|| Lists::of(&self.view(&owner)));
        }
    }

    /// Opens the catalog again and serves what came out. Whoever asks meanwhile is answered from the old state; when it
    /// cannot be opened, the old state stays. Dropping it cancels the opening.
    ///
    /// # Errors
    /// [`OpenError::Superseded`] where the catalog changed meanwhile, and why it cannot be opened.
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

    /// Cancels the opening that is under way: another catalog is to be opened instead.
    fn supersede(&self) {
        self.loading.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    /// Why the catalog as it is now cannot be opened, where the one before is served for that reason.
    pub(crate) fn outdated_because(&self) -> Option<String> {
        self.outdated.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why the index cannot be searched, where it cannot.
    pub(crate) async fn index_fault(&self) -> Option<String> {
        let index = self.now.read().unwrap_or_else(PoisonError::into_inner).catalog.index.clone();
        // It looks at files.
        let fault = tokio::task::spawn_blocking(move || index.check().err().map(|error| error.to_string()));
        fault.await.unwrap_or_else(|error| Some(error.to_string()))
    }

    /// Has the index read by its transformer, a little at a time, and leaves as much time to everything else as that took.
    pub(crate) async fn deepen(&self, until: &CancellationToken) {
        loop {
            let index = self.now.read().unwrap_or_else(PoisonError::into_inner).catalog.index.clone();
            let started = Instant::now();
            let read = tokio::select! {
                () = until.cancelled() => return,
                read = index.deepen_a_little() => read,
            };
            let pause = match read {
                Ok(0) => IDLE,
                Ok(_) => started.elapsed(),
                Err(error) => {
                    tracing::warn!(%error, "the transformer cannot read the index");
                    IDLE_AFTER_ERROR
                }
            };
            tokio::select! {
                () = until.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Opens the catalog again whenever `stamp` says something else than `known`: somebody has changed the catalog, or another
    /// process has refreshed the index; and when the index is damaged, which rebuilds it.
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

    /// The same for ever.
    async fn follow_on(
        &self,
        stamp: &(dyn Fn() -> Option<Stamp> + Send + Sync),
        mut known: Option<Stamp>,
        every: Duration,
    ) {
        let mut failed: Option<Instant> = None;
        loop {
            tokio::time::sleep(every).await;
            // What could not be mended just now is not tried again at once.
            if failed.is_none_or(|since| since.elapsed() > AGAIN)
                && let Some(error) = self.index_fault().await
            {
                tracing::warn!(%error, "the index is built anew");
                if let Err(error) = self.reload(stamp, &mut known, every).await {
                    tracing::error!(%error, "the index cannot be built anew");
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
            // What comes while it is opened is looked at again. If that was written by opening it, the next time writes
            // nothing.
            known = found;
            match self.reload(stamp, &mut known, every).await {
                Ok(said) => tracing::info!(%said, "the catalog or its index changed, and it was opened again"),
                Err(error) => {
                    tracing::warn!(%error, "the catalog changed and cannot be opened again; the one before is served");
                }
            }
        }
    }

    /// Opens the catalog again. Where the catalog changes meanwhile, that is cancelled, and it is opened from the beginning: a
    /// catalog that takes long to open does not keep the one that corrects it from being served.
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
                    tracing::info!("the catalog changed while it was opened");
                    self.supersede();
                }
            };
            if !matches!(opened, Err(OpenError::Superseded)) {
                return opened;
            }
        }
    }
}

/// Whether the catalog was changed, and not only what opening it writes. While there is no catalog, nothing is said of it.
fn is_other_catalog(found: &Option<Stamp>, known: &Option<Stamp>) -> bool {
    found.as_ref().is_some_and(|(catalog, _)| known.as_ref().is_none_or(|(known, _)| catalog != known))
}

async fn on_a_thread(opener: Arc<Opener>, fresh: bool, cancel: CancellationToken) -> Opened {
    match tokio::task::spawn_blocking(move || opener(fresh, cancel)).await {
        Ok(opened) => opened,
        Err(_) => Err(OpenError::GivenUp),
    }
}
