//! Sessions of queries: what a client has loaded, and what it was answered. Nobody else sees it, and it is gone when it was
//! not used for a while.

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
use prospector_engine::Engine;
use serde_json::Value;

use crate::error::{Refusal, RefusalCode};

/// How the handles begin.
const PREFIX: &str = "queries_";

/// The engine of one state of the catalog, and the tools that run queries in it.
pub(crate) struct QueryEngine {
    pub(crate) engine: Arc<Engine>,
    tools: Toolset,
    /// Those of them that are listed, beside what leaves something in a session.
    listed: Toolset,
    /// Whether clients may run queries of their own, and there is something to query.
    pub(crate) is_open: bool,
    /// Which state it is, from 1.
    generation: u64,
}

impl QueryEngine {
    pub(crate) fn new(catalog: &Arc<Catalog>, profile: Profile, generation: u64) -> Self {
        let engine = catalog.engine();
        let (tools, is_open) = (tools_of(catalog, &engine), catalog.queries && !engine.is_empty());
        let listed = match profile {
            Profile::Full => tools.clone(),
            // What there is, and what its rows look like, the tools of the profile tell.
            Profile::Compact => {
                catalog.compact_query_tools(&engine).merge(prospector_executor::tools(catalog, &engine))
            }
        };
        QueryEngine { engine, tools, listed, is_open, generation }
    }

    /// The tools that a client is told of.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let is_listed = |name: &str| self.listed.has(name) || self.effect(name).is_some_and(|it| !it.is_read_only());
        let specs = if self.is_open { self.tools.specs() } else { Vec::new() };
        specs.into_iter().filter(|spec| is_listed(&spec.name)).collect()
    }

    /// Whether a tool of that name runs queries, whoever may call it.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.has(name)
    }

    pub(crate) fn effect(&self, name: &str) -> Option<Effect> {
        self.tools.effect(name)
    }

    /// Whether a call of that tool is of use in a session alone: it leaves something there, or shows what was left.
    pub(crate) fn needs_session(&self, name: &str) -> bool {
        name == DiscoveryTools::RESULTS_TOOL || self.tools.effect(name).is_some_and(|effect| !effect.is_read_only())
    }
}

/// The tools that run queries and plans in a session.
fn tools_of(catalog: &Arc<Catalog>, session: &Arc<Engine>) -> Toolset {
    catalog.query_tools(session).merge(prospector_executor::tools(catalog, session))
}

/// One session, over whichever state of the catalog is served.
#[derive(Default)]
pub(crate) struct QuerySession(Mutex<Option<Standing>>);

struct Standing {
    generation: u64,
    engine: Arc<Engine>,
    tools: Toolset,
}

impl QuerySession {
    /// Its tools. Where the catalog was refreshed, what it has loaded stays as far as the tables do.
    fn tools(&self, queries: &QueryEngine, catalog: &Arc<Catalog>) -> Toolset {
        let mut standing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let engine = match standing.as_ref() {
            // A request that began before a refresh may come after one that began later.
            Some(standing) if standing.generation >= queries.generation => return standing.tools.clone(),
            Some(standing) => queries.engine.adopt(&standing.engine),
            None => queries.engine.session(),
        };
        let tools = tools_of(catalog, &engine);
        *standing = Some(Standing { generation: queries.generation, engine, tools: tools.clone() });
        tools
    }

    /// Calls a tool that runs queries, in this session, over the catalog as its owner sees it.
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
                message: format!("clients of this catalog may not call `{name}`: they run no queries of their own"),
                suggestion: Some("ask, or have the owner of the catalog write `queries: true` into it".into()),
            });
        }
        self.tools(queries, catalog).call(name, arguments).await
    }
}

/// The sessions of clients over HTTP, by their handles.
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

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.entries().len()
    }

    /// The session of a handle, for its owner; to everyone else it is as if there were none.
    pub(crate) fn get(&self, handle: &str, owner: &Owner) -> Result<Arc<QuerySession>, Refusal> {
        let mut all = self.entries();
        let kept = all.get_mut(handle).filter(|kept| kept.owner == *owner).ok_or_else(|| unknown(handle))?;
        kept.used = Instant::now();
        Ok(kept.session.clone())
    }

    /// Begins one for this owner, who may have `most_of_owner` of `most`, for as long as it is not idle; its handle.
    pub(crate) fn begin(
        &self,
        owner: &Owner,
        (most, most_of_owner): (usize, usize),
        idle: Duration,
    ) -> Result<String, Refusal> {
        let mut all = self.entries();
        let refuse = |code: RefusalCode, message: &str| {
            Err(Refusal::new(code, message).advise("end one, or ask again in a moment"))
        };
        if all.len() >= most {
            return refuse(RefusalCode::Overloaded, "too many sessions of queries are open");
        }
        if all.values().filter(|kept| kept.owner == *owner).count() >= most_of_owner {
            return refuse(RefusalCode::TooManyRequests, "you have as many sessions of queries open as one may have");
        }
        let handle = format!("{PREFIX}{}", uuid::Uuid::new_v4().simple());
        let kept = Entry { owner: owner.clone(), session: Arc::default(), used: Instant::now() };
        all.insert(handle.clone(), kept);
        tokio::spawn(expire(Arc::downgrade(&self.0), handle.clone(), idle));
        Ok(handle)
    }

    /// Ends it, with everything that was loaded in it.
    pub(crate) fn end(&self, handle: &str, owner: &Owner) -> Result<(), Refusal> {
        let mut all = self.entries();
        match all.get(handle).is_some_and(|kept| kept.owner == *owner) {
            true => drop(all.remove(handle)),
            false => return Err(unknown(handle)),
        }
        Ok(())
    }
}

/// Why there is no session of that handle.
fn unknown(handle: &str) -> Refusal {
    let rest = handle.strip_prefix(PREFIX).unwrap_or_default();
    match rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Refusal::new(RefusalCode::Expired, format!("the session `{handle}` of queries is over"))
            .advise("begin another one, and load again what is needed"),
        false => Refusal::not_found("that is no session of queries that was given out here")
            .advise(format!("pass it as it was given: it begins with `{PREFIX}`")),
    }
}

/// Ends a session when it was not used for so long.
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
