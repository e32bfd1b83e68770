//! Query sessions: data loaded by a client, and results of its queries. They are private to the client, and expire when idle.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use prospector_core::{
    Owner,
    tool::{Answer, Effect, ToolError, ToolErrorCode, ToolSpec, Toolset},
};
use prospector_discovery::{Catalog, DiscoveryTools, Profile};
use prospector_engine::{Engine, Failure, query::Rows};
use serde_json::Value;

use crate::{
    error::{Refusal, RefusalCode},
    handles::{is_handle, new_handle},
};

/// Prefix of the handles.
const PREFIX: &str = "queries";

/// The engine of one state of the catalog, and the tools that run queries in it.
pub(crate) struct QueryEngine {
    pub(crate) engine: Arc<Engine>,
    tools: Toolset,
    /// The tools that are listed, apart from those that leave state in a session.
    listed: Toolset,
    /// Whether clients may run their own queries, and there is something to query.
    pub(crate) is_open: bool,
    /// Generation of the catalog.
    generation: u64,
}

impl QueryEngine {
    pub(crate) fn new(catalog: &Arc<Catalog>, profile: Profile, generation: u64) -> Self {
        let engine = catalog.engine();
        let (tools, is_open) = (tools_of(catalog, &engine), catalog.queries && !engine.is_empty());
        let listed = match profile {
            Profile::Full => tools.clone(),
            // The tools of the profile already return schemas and sample rows.
            Profile::Compact => {
                catalog.compact_query_tools(&engine).merge(prospector_executor::tools(catalog, &engine))
            }
        };
        QueryEngine { engine, tools, listed, is_open, generation }
    }

    /// Returns the tools that a client sees.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let is_listed = |name: &str| self.listed.has(name) || self.effect(name).is_some_and(|it| !it.is_read_only());
        let specs = if self.is_open { self.tools.specs() } else { Vec::new() };
        specs.into_iter().filter(|spec| is_listed(&spec.name)).collect()
    }

    /// Whether a tool of that name runs queries, regardless of who may call it.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.has(name)
    }

    pub(crate) fn effect(&self, name: &str) -> Option<Effect> {
        self.tools.effect(name)
    }

    /// Whether the tool is useful only in a session: it leaves state there, or shows it.
    pub(crate) fn needs_session(&self, name: &str) -> bool {
        name == DiscoveryTools::RESULTS_TOOL || self.tools.effect(name).is_some_and(|effect| !effect.is_read_only())
    }
}

/// Returns the tools that run queries and plans in a session.
fn tools_of(catalog: &Arc<Catalog>, session: &Arc<Engine>) -> Toolset {
    catalog.query_tools(session).merge(prospector_executor::tools(catalog, session))
}

/// A session, which follows the served state of the catalog.
#[derive(Default)]
pub(crate) struct QuerySession(Mutex<Option<SessionState>>);

struct SessionState {
    generation: u64,
    engine: Arc<Engine>,
    tools: Toolset,
}

impl QuerySession {
    /// Runs the query of one of its recent answers again; `None` if it has no such answer.
    ///
    /// # Errors
    /// If the query fails.
    pub(crate) async fn run_again(&self, id: &str, limit: usize) -> Result<Option<Rows>, Failure> {
        let engine = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|state| state.engine.clone());
        match engine {
            Some(engine) => engine.run_again(id, limit).await,
            None => Ok(None),
        }
    }

    /// Returns its tools. After a refresh, loaded data is kept as long as its tables still exist.
    fn tools(&self, queries: &QueryEngine, catalog: &Arc<Catalog>) -> Toolset {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let engine = match state.as_ref() {
            // A request that started before a refresh may arrive after one that started later.
            Some(state) if state.generation >= queries.generation => return state.tools.clone(),
            Some(state) => queries.engine.adopt(&state.engine),
            None => queries.engine.session(),
        };
        let tools = tools_of(catalog, &engine);
        *state = Some(SessionState { generation: queries.generation, engine, tools: tools.clone() });
        tools
    }

    /// Calls a tool that runs queries in this session, over the catalog as its owner sees it.
    pub(crate) async fn call(
        &self,
        queries: &QueryEngine,
        catalog: &Arc<Catalog>,
        name: &str,
        arguments: Value,
    ) -> Result<Answer, ToolError> {
        if !queries.is_open {
            return Err(ToolError::Respond {
                code: ToolErrorCode::Refused,
                message: format!("clients of this catalog may not call `{name}`: running queries is disabled"),
                suggestion: Some("use `ask`, or have the catalog maintainer set `queries: true`".into()),
            });
        }
        self.tools(queries, catalog).call(name, arguments).await
    }
}

/// Query sessions over HTTP, by handle.
#[derive(Default)]
pub(crate) struct QuerySessions(Arc<Mutex<HashMap<String, Entry>>>);

struct Entry {
    owner: Owner,
    session: Arc<QuerySession>,
    used: Instant,
}

impl QuerySessions {
    fn entries(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of sessions.
    pub(crate) fn count(&self) -> usize {
        self.entries().len()
    }

    /// Returns the session of a handle to its owner; to everyone else it is unknown.
    pub(crate) fn get(&self, handle: &str, owner: &Owner) -> Result<Arc<QuerySession>, Refusal> {
        let mut all = self.entries();
        let kept = all.get_mut(handle).filter(|kept| kept.owner == *owner).ok_or_else(|| unknown(handle))?;
        kept.used = Instant::now();
        Ok(kept.session.clone())
    }

    /// Starts a session for this owner, who may have `most_of_owner` of `most`, and returns its handle. It expires when idle.
    pub(crate) fn begin(
        &self,
        owner: &Owner,
        (most, most_of_owner): (usize, usize),
        idle: Duration,
    ) -> Result<String, Refusal> {
        let mut all = self.entries();
        let refuse =
            |code: RefusalCode, message: &str| Err(Refusal::new(code, message).advise("end one, or retry in a moment"));
        if all.len() >= most {
            return refuse(RefusalCode::Overloaded, "too many open query sessions");
        }
        if all.values().filter(|kept| kept.owner == *owner).count() >= most_of_owner {
            return refuse(RefusalCode::TooManyRequests, "too many open query sessions for this token");
        }
        let handle = new_handle(PREFIX);
        let kept = Entry { owner: owner.clone(), session: Arc::default(), used: Instant::now() };
        all.insert(handle.clone(), kept);
        tokio::spawn(expire(Arc::downgrade(&self.0), handle.clone(), idle));
        Ok(handle)
    }

    /// Ends a session and drops what was loaded in it.
    pub(crate) fn end(&self, handle: &str, owner: &Owner) -> Result<(), Refusal> {
        let mut all = self.entries();
        match all.get(handle).is_some_and(|kept| kept.owner == *owner) {
            true => drop(all.remove(handle)),
            false => return Err(unknown(handle)),
        }
        Ok(())
    }
}

/// Returns the reason why a handle has no session.
fn unknown(handle: &str) -> Refusal {
    match is_handle(PREFIX, handle) {
        true => Refusal::new(RefusalCode::Expired, format!("the query session `{handle}` has expired"))
            .advise("start another one and reload its data"),
        false => Refusal::not_found("unknown query session")
            .advise(format!("pass a handle returned by this server: it begins with `{PREFIX}_`")),
    }
}

/// Ends a session when it has been idle for `idle`.
async fn expire(sessions: Weak<Mutex<HashMap<String, Entry>>>, handle: String, idle: Duration) {
    let mut left = idle;
    loop {
        tokio::time::sleep(left).await;
        let Some(sessions) = sessions.upgrade() else { return };
        let mut all = sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(kept) = all.get(&handle) else { return };
        left = idle.saturating_sub(kept.used.elapsed());
        if left.is_zero() {
            all.remove(&handle);
            return;
        }
    }
}
