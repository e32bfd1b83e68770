//! A server: at most one process or session, started on demand, restarted with exponential backoff after failures,
//! and called within limits.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    Definition, McpError, Record,
    answer::{self, ToolResult},
    connection::{Connection, Lifecycle},
    listing,
    oauth::{self, Tokens},
    spec::Reach,
};

/// Maximum number of concurrent calls of one server.
const MAX_CALLS: usize = 4;
/// Delay before a restart after the second failure in a row; it doubles with each further failure.
const MIN_BACKOFF: Duration = Duration::from_secs(1);
/// Maximum delay before a restart.
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// Delay between a report of changed lists and reading them, so that a server cannot have them read in a loop.
const RELIST_DELAY: Duration = Duration::from_secs(2);

/// An MCP server, started on demand. Its session ends with it, unless [`ServerSessions`](crate::ServerSessions) share the session with another one.
#[derive(Debug)]
pub struct Server {
    live: Arc<Live>,
    /// Time limit of the handshake, one list or one call.
    limit: Duration,
}

/// The session of a server, and what limits it.
#[derive(Debug)]
pub(crate) struct Live {
    origin: Arc<Origin>,
    tokens: Option<Tokens>,
    calls: Semaphore,
    state: tokio::sync::Mutex<State>,
}

/// How a server is reached, and where its record is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    name: String,
    reach: Reach,
    /// The folder of records and tokens.
    folder: PathBuf,
}

#[derive(Debug, Default)]
struct State {
    session: Option<Arc<Session>>,
    /// Reads the lists of the session again when they change.
    watcher: Option<AbortOnDropHandle<()>>,
    failures: u32,
    retry_at: Option<Instant>,
}

/// A connection with the hashes of the tools that its server lists.
#[derive(Debug)]
struct Session {
    connection: Connection,
    hashes: Mutex<HashMap<String, String>>,
    /// Held while changed lists are read, so that no call relies on the previous ones.
    listing: tokio::sync::Mutex<()>,
}

impl Server {
    /// Creates a server without starting it. Its record is stored in `folder`.
    pub fn new(name: impl Into<String>, reach: Reach, limit: Duration, folder: impl Into<PathBuf>) -> Self {
        let origin = Origin::new(name.into(), reach, folder.into());
        Server::over(Arc::new(Live::new(origin)), limit)
    }

    /// Creates a server over this session.
    pub(crate) fn over(live: Arc<Live>, limit: Duration) -> Self {
        Server { live, limit }
    }

    /// Returns whether it runs in this session.
    pub(crate) fn runs_in(&self, live: &Arc<Live>) -> bool {
        Arc::ptr_eq(&self.live, live)
    }

    /// Returns its name in the catalog.
    pub fn name(&self) -> &str {
        &self.live.origin.name
    }

    /// Returns how to connect to it.
    pub fn reach(&self) -> &Reach {
        &self.live.origin.reach
    }

    /// Signs in with OAuth, and stores the tokens; waits up to 5 minutes for the user. `open` receives the address that the user opens in a
    /// browser on this machine.
    ///
    /// # Errors
    /// [`McpError`] if the server has no OAuth, its metadata is invalid or not permitted, or the user does not sign in.
    pub async fn login(&self, open: impl FnOnce(&str)) -> Result<(), McpError> {
        oauth::login(&self.live.origin.reach, &self.live.origin.folder, open).await
    }

    /// Removes the tokens of OAuth; returns whether there were any.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn logout(&self) -> std::io::Result<bool> {
        oauth::remove(&self.live.origin.folder, &self.live.origin.reach)
    }

    /// Lists the server, updates its record, and returns the number of usable tools. A server that is not running is started for it, and
    /// ended again.
    ///
    /// # Errors
    /// [`McpError`] if it cannot be listed; the failure is stored in the record, and the previous lists are kept.
    pub async fn refresh(&self) -> Result<usize, McpError> {
        let origin = &self.live.origin;
        match self.list_again().await {
            Ok(()) => Ok(origin.record().map_or(0, |record| record.tools().count())),
            Err(error) => {
                origin.update(|record| record.fail(&error, &origin.reach));
                Err(error)
            }
        }
    }

    async fn list_again(&self) -> Result<(), McpError> {
        let running = self.live.state.lock().await.session.clone();
        if let Some(session) = running.filter(|session| !session.connection.is_closed()) {
            session.connection.mark_changed();
            match self.live.origin.update_lists(&session, self.limit).await {
                // A server that is busy with a call is still running.
                Err(error) if error.breaks_connection() && !matches!(error, McpError::Timeout { .. }) => {
                    self.live.state.lock().await.close_if(&session);
                }
                listed => return listed,
            }
        }
        self.start().await?.connection.close().await;
        Ok(())
    }

    /// Calls a tool with an approved definition.
    ///
    /// # Errors
    /// [`McpError`] on invalid arguments, a changed definition, a timeout, or a failure of the tool.
    pub async fn call(&self, tool: &Definition, arguments: Map<String, Value>) -> Result<ToolResult, McpError> {
        let arguments = Value::Object(arguments);
        tool.check(&arguments)?;
        let Value::Object(arguments) = arguments else { return Err(McpError::Unsupported { what: "a list" }) };
        let run = async |session: &Session| {
            self.verify(session, tool).await?;
            let request = CallToolRequestParams::new(tool.name().to_owned()).with_arguments(arguments.clone());
            session.connection.call(request, self.limit).await
        };
        let mut result = self.with_session(run).await;
        if matches!(result, Err(McpError::Changed { .. } | McpError::Gone { .. })) && self.end_outdated(tool).await {
            result = self.with_session(run).await;
        }
        answer::convert(tool, result?)
    }

    /// Reads the text of a resource.
    ///
    /// # Errors
    /// [`McpError`] on a resource without text, a timeout, or an error of the server.
    pub async fn read(&self, uri: &str) -> Result<String, McpError> {
        let result = self.with_session(async |session: &Session| {
            let request = ReadResourceRequestParams::new(uri);
            session.connection.request("reading", self.limit, |peer| peer.read_resource(request)).await
        });
        answer::join_text(result.await?.contents)
    }

    /// Runs a request in the session of the server, and starts the session if necessary.
    async fn with_session<T>(&self, run: impl AsyncFnOnce(&Session) -> Result<T, McpError>) -> Result<T, McpError> {
        let waiting = tokio::time::timeout(self.limit, self.live.calls.acquire()).await;
        let _permit = waiting
            .map_err(|_| McpError::Timeout { what: "waiting for other calls", seconds: self.limit.as_secs() })?;
        let session = self.session().await?;
        let result = run(&session).await;
        match &result {
            Err(error) if error.breaks_connection() => {
                let mut state = self.live.state.lock().await;
                if state.close_if(&session) {
                    state.note_failure();
                }
            }
            _ => self.live.state.lock().await.note_success(),
        }
        result
    }

    /// Returns the session of the server. Concurrent callers wait while it starts, so that only one process is started.
    async fn session(&self) -> Result<Arc<Session>, McpError> {
        let mut state = self.live.state.lock().await;
        match &state.session {
            Some(session) if !session.connection.is_closed() => return Ok(session.clone()),
            Some(_) => {
                state.close();
                state.note_failure();
            }
            None => {}
        }
        if let Some(left) = state.retry_at.and_then(|at| at.checked_duration_since(Instant::now())) {
            return Err(McpError::Backoff { failures: state.failures, seconds: left.as_secs() + 1 });
        }
        match self.start().await {
            Ok(session) => {
                let session = Arc::new(session);
                let watching = watch(self.live.origin.clone(), session.clone(), self.limit);
                state.watcher = Some(AbortOnDropHandle::new(tokio::spawn(watching)));
                state.session = Some(session.clone());
                Ok(session)
            }
            Err(error) => {
                state.note_failure();
                Err(error)
            }
        }
    }

    /// Starts a session, and lists its server.
    async fn start(&self) -> Result<Session, McpError> {
        let (origin, tokens) = (&self.live.origin, self.live.tokens.as_ref());
        let known = origin.record().map_or(Lifecycle::default(), |record| record.lifecycle);
        let connection = Connection::open(&origin.name, &origin.reach, tokens, known, self.limit).await?;
        let session = Session { connection, hashes: Mutex::default(), listing: Default::default() };
        match origin.list(&session, self.limit).await {
            Ok(()) => Ok(session),
            Err(error) => {
                session.connection.close().await;
                Err(error)
            }
        }
    }

    /// Verifies that the server lists the approved definition of the tool.
    async fn verify(&self, session: &Session, tool: &Definition) -> Result<(), McpError> {
        self.live.origin.update_lists(session, self.limit).await?;
        match session.hash_of(tool) {
            Some(hash) if hash == tool.hash() => Ok(()),
            Some(_) => Err(McpError::Changed { tool: tool.name().to_owned() }),
            None => Err(McpError::Gone { tool: tool.name().to_owned() }),
        }
    }

    /// Ends the session if its process is of an older version of the server: it does not list this definition, but a later listing by
    /// another process does. Returns whether the record has the definition.
    async fn end_outdated(&self, tool: &Definition) -> bool {
        let Some(record) = self.live.origin.record() else { return false };
        let is_current = record.tools().any(|known| known.hash() == tool.hash());
        if is_current {
            let mut state = self.live.state.lock().await;
            let is_outdated = |session: &Arc<Session>| session.hash_of(tool).as_deref() != Some(tool.hash());
            if state.session.as_ref().is_some_and(is_outdated) {
                state.close();
            }
        }
        is_current
    }
}

impl Live {
    pub(crate) fn new(origin: Origin) -> Self {
        let tokens = Tokens::of(&origin.reach, &origin.name, &origin.folder);
        Live { origin: Arc::new(origin), tokens, calls: Semaphore::new(MAX_CALLS), state: Default::default() }
    }

    /// Ends the session; running calls finish.
    pub(crate) async fn end(&self) {
        self.state.lock().await.close();
    }

    /// Returns whether the record of its server is in this folder.
    pub(crate) fn is_in(&self, folder: &Path) -> bool {
        self.origin.folder == folder
    }

    /// Returns whether its server is reached in this way.
    pub(crate) fn is_of(&self, origin: &Origin) -> bool {
        *self.origin == *origin
    }
}

impl Session {
    /// Returns the hash of the definition that the server lists under the name of this one.
    fn hash_of(&self, tool: &Definition) -> Option<String> {
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner).get(tool.name()).cloned()
    }
}

impl Origin {
    pub(crate) fn new(name: String, reach: Reach, folder: PathBuf) -> Self {
        Origin { name, reach, folder }
    }

    /// Reads the lists of the session again if its server reported a change since they were read.
    async fn update_lists(&self, session: &Session, limit: Duration) -> Result<(), McpError> {
        let _listing = session.listing.lock().await;
        if !session.connection.take_changed() {
            return Ok(());
        }
        self.list(session, limit).await.inspect_err(|_| session.connection.mark_changed())
    }

    /// Reads the lists of the session, and updates the record.
    async fn list(&self, session: &Session, limit: Duration) -> Result<(), McpError> {
        let listing = session.connection.request("listing", limit, listing::read).await?;
        let hashes = listing.tools.iter().map(|tool| (tool.name().to_owned(), tool.hash().to_owned())).collect();
        *session.hashes.lock().unwrap_or_else(PoisonError::into_inner) = hashes;
        self.update(|record| {
            record.merge(listing, &self.reach);
            record.lifecycle = session.connection.lifecycle;
        });
        Ok(())
    }

    fn record(&self) -> Option<Record> {
        Record::read(&self.folder, &self.name).ok()
    }

    /// Changes the record on disk. A damaged record is not overwritten, since it may contain approvals.
    fn update(&self, change: impl FnOnce(&mut Record)) {
        let Some(before) = self.record() else { return };
        let mut record = before.clone();
        change(&mut record);
        // Writing the record would be detected as a change of the catalog.
        if record.repeats(&before) {
            return;
        }
        if let Err(error) = record.write(&self.folder) {
            tracing::warn!(%error, server = self.name, "the lists of an MCP server could not be stored");
        }
    }
}

/// Reads the lists of a session again whenever its server reports a change, until the future is dropped.
async fn watch(origin: Arc<Origin>, session: Arc<Session>, limit: Duration) {
    loop {
        session.connection.wait_for_change().await;
        tokio::time::sleep(RELIST_DELAY).await;
        if let Err(error) = origin.update_lists(&session, limit).await {
            tracing::debug!(%error, server = origin.name, "the changed lists of an MCP server could not be read");
        }
    }
}

impl State {
    fn close(&mut self) {
        self.session = None;
        self.watcher = None;
    }

    /// Closes this session, unless another call has replaced it; returns whether it was closed.
    fn close_if(&mut self, session: &Arc<Session>) -> bool {
        let is_current = self.session.as_ref().is_some_and(|current| Arc::ptr_eq(current, session));
        if is_current {
            self.close();
        }
        is_current
    }

    fn note_failure(&mut self) {
        self.failures += 1;
        let delay = match self.failures {
            0 | 1 => Duration::ZERO,
            more => (MIN_BACKOFF * 2u32.saturating_pow((more - 2).min(10))).min(MAX_BACKOFF),
        };
        self.retry_at = Some(Instant::now() + delay);
    }

    fn note_success(&mut self) {
        self.failures = 0;
        self.retry_at = None;
    }
}
