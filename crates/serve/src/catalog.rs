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
/// block.
type Opener = dyn Fn(bool) -> Opened + Send + Sync;

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
    fn new(opened: (Catalog, Vec<Problem>), profile: Profile, keeping: Keeping, generation: u64) -> Self {
        let (catalog, problems) = (Arc::new(opened.0), opened.1);
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

/// The catalog that is served now, and how to open it again.
pub(crate) struct ServedCatalog {
    opener: Arc<Opener>,
    profile: Profile,
    /// What becomes of what an owner says.
    keeping: Keeping,
    now: RwLock<Arc<State>>,
    /// Of what the clients of each owner list, from the time when the first of them waits for it.
    changes: Mutex<HashMap<Owner, Arc<Changes>>>,
    generation: AtomicU64,
    /// Why the catalog as it is now could not be opened, where an older one is served.
    outdated: Mutex<Option<String>>,
    one_at_a_time: tokio::sync::Mutex<()>,
}

impl ServedCatalog {
    pub(crate) async fn open(opener: Arc<Opener>, profile: Profile, keeping: Keeping) -> Result<Self, ServeError> {
        let opened = on_a_thread(opener.clone(), false).await?;
        Ok(ServedCatalog {
            opener,
            profile,
            keeping,
            now: RwLock::new(Arc::new(State::new(opened, profile, keeping, 1))),
            changes: Mutex::default(),
            generation: AtomicU64::new(1),
            outdated: Mutex::default(),
            one_at_a_time: tokio::sync::Mutex::new(()),
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
    /// cannot be opened, the old state stays.
    pub(crate) async fn refresh(&self, all: bool) -> Result<Value, OpenError> {
        let _turn = self.one_at_a_time.lock().await;
        let opened = on_a_thread(self.opener.clone(), all).await;
        *self.outdated.lock().unwrap_or_else(PoisonError::into_inner) =
            opened.as_ref().err().map(|error| error.to_string());
        let opened = opened?;
        let generation = self.generation.fetch_add(1, Ordering::SeqCst) + 1;
        let state = State::new(opened, self.profile, self.keeping, generation);
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
    /// process has refreshed the index; and when the index is damaged, which builds it anew.
    pub(crate) async fn follow(
        &self,
        stamp: &(dyn Fn() -> Option<String> + Send + Sync),
        mut known: Option<String>,
        every: Duration,
        until: &CancellationToken,
    ) {
        let mut failed: Option<Instant> = None;
        loop {
            tokio::select! {
                () = until.cancelled() => return,
                () = tokio::time::sleep(every) => {}
            }
            // What could not be mended just now is not tried again at once.
            if failed.is_none_or(|since| since.elapsed() > AGAIN)
                && let Some(error) = self.index_fault().await
            {
                tracing::warn!(%error, "the index is built anew");
                if let Err(error) = self.refresh(false).await {
                    tracing::error!(%error, "the index cannot be built anew");
                }
                failed = self.index_fault().await.map(|_| Instant::now());
                continue;
            }
            let found = stamp();
            if found.is_none() || found == known {
                continue;
            }
            // What comes while it is opened is looked at again. If that was written by opening it, the next time writes
            // nothing.
            known = found;
            match self.refresh(false).await {
                Ok(said) => tracing::info!(%said, "the catalog or its index changed, and it was opened again"),
                Err(error) => {
                    tracing::warn!(%error, "the catalog changed and cannot be opened again; the one before is served");
                }
            }
        }
    }
}

async fn on_a_thread(opener: Arc<Opener>, all: bool) -> Opened {
    match tokio::task::spawn_blocking(move || opener(all)).await {
        Ok(opened) => opened,
        Err(_) => Err(OpenError::GivenUp),
    }
}
