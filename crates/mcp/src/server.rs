//! A server: at most one process or session, started on demand, restarted with exponential backoff after failures,
//! and called within limits.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    Definition, McpError, Record, answer,
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

/// An MCP server, started on demand.
#[derive(Debug)]
pub struct Server {
    origin: Arc<Origin>,
    tokens: Option<Tokens>,
    calls: Semaphore,
    state: tokio::sync::Mutex<State>,
}

/// How a server is reached, and where its record is.
#[derive(Debug)]
struct Origin {
    name: String,
    reach: Reach,
    /// Time limit of the handshake, one list or one call.
    limit: Duration,
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
        let (name, folder) = (name.into(), folder.into());
        let tokens = Tokens::of(&reach, &name, &folder);
        let origin = Arc::new(Origin { name, reach, limit, folder });
        Server { origin, tokens, calls: Semaphore::new(MAX_CALLS), state: Default::default() }
    }

    /// Returns its name in the catalog.
    pub fn name(&self) -> &str {
        &self.origin.name
    }

    /// Returns how to connect to it.
    pub fn reach(&self) -> &Reach {
        &self.origin.reach
    }

    /// Signs in with OAuth, and stores the tokens; waits up to 5 minutes for the user. `open` receives the address that the user opens in a
    /// browser on this machine.
    ///
    /// # Errors
    /// [`McpError`] if the server has no OAuth, its metadata is invalid or not permitted, or the user does not sign in.
    pub async fn login(&self, open: impl FnOnce(&str)) -> Result<(), McpError> {
        oauth::login(&self.origin.reach, &self.origin.folder, open).await
    }

    /// Removes the tokens of OAuth; returns whether there were any.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn logout(&self) -> std::io::Result<bool> {
        oauth::remove(&self.origin.folder, &self.origin.reach)
    }

    /// Lists the server over a separate connection, updates its record, and returns the number of usable tools.
    ///
    /// # Errors
    /// [`McpError`] if it cannot be listed; the failure is stored in the record, and the previous lists are kept.
    pub async fn refresh(&self) -> Result<usize, McpError> {
        match self.start().await {
            Ok(session) => {
                session.connection.close().await;
                Ok(self.origin.record().map_or(0, |record| record.tools().count()))
            }
            Err(error) => {
                self.origin.update(|record| record.fail(&error, &self.origin.reach));
                Err(error)
            }
        }
    }

    /// Calls a tool with an approved definition.
    ///
    /// # Errors
    /// [`McpError`] on invalid arguments, a changed definition, a timeout, or a failure of the tool.
    pub async fn call(&self, tool: &Definition, arguments: Map<String, Value>) -> Result<Value, McpError> {
        let arguments = Value::Object(arguments);
        tool.check(&arguments)?;
        let Value::Object(arguments) = arguments else { return Err(McpError::Unsupported { what: "a list" }) };
        let result = self.with_session(async |session: &Session| {
            self.verify(session, tool).await?;
            let request = CallToolRequestParams::new(tool.name().to_owned()).with_arguments(arguments);
            session.connection.call(request, self.origin.limit).await
        });
        answer::convert(tool, result.await?)
    }

    /// Reads the text of a resource.
    ///
    /// # Errors
    /// [`McpError`] on a resource without text, a timeout, or an error of the server.
    pub async fn read(&self, uri: &str) -> Result<String, McpError> {
        let result = self.with_session(async |session: &Session| {
            let request = ReadResourceRequestParams::new(uri);
            session.connection.request("reading", self.origin.limit, |peer| peer.read_resource(request)).await
        });
        answer::join_text(result.await?.contents)
    }

    /// Runs a request in the session of the server, and starts the session if necessary.
    async fn with_session<T>(&self, run: impl AsyncFnOnce(&Session) -> Result<T, McpError>) -> Result<T, McpError> {
        let waiting = tokio::time::timeout(self.origin.limit, self.calls.acquire()).await;
        let _permit = waiting
            .map_err(|_| McpError::Timeout { what: "waiting for other calls", seconds: self.origin.limit.as_secs() })?;
        let session = self.session().await?;
        let result = run(&session).await;
        match &result {
            Err(error) if error.breaks_connection() => {
                let mut state = self.state.lock().await;
                // Another call may have replaced the session.
                if state.session.as_ref().is_some_and(|current| Arc::ptr_eq(current, &session)) {
                    state.close();
                    state.note_failure();
                }
            }
            _ => self.state.lock().await.note_success(),
        }
        result
    }

    /// Returns the session of the server. Concurrent callers wait while it starts, so that only one process is started.
    async fn session(&self) -> Result<Arc<Session>, McpError> {
        let mut state = self.state.lock().await;
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
                state.watcher = Some(AbortOnDropHandle::new(tokio::spawn(watch(self.origin.clone(), session.clone()))));
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
        let origin = &self.origin;
        let known = origin.record().map_or(Lifecycle::default(), |record| record.lifecycle);
        let connection =
            Connection::open(&origin.name, &origin.reach, self.tokens.as_ref(), known, origin.limit).await?;
        let session = Session { connection, hashes: Mutex::default(), listing: Default::default() };
        match self.origin.list(&session).await {
            Ok(()) => Ok(session),
            Err(error) => {
                session.connection.close().await;
                Err(error)
            }
        }
    }

    /// Verifies that the server lists the approved definition of the tool.
    async fn verify(&self, session: &Session, tool: &Definition) -> Result<(), McpError> {
        self.origin.update_lists(session).await?;
        let hashes = session.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        match hashes.get(tool.name()) {
            Some(hash) if hash == tool.hash() => Ok(()),
            Some(_) => Err(McpError::Changed { tool: tool.name().to_owned() }),
            None => Err(McpError::Gone { tool: tool.name().to_owned() }),
        }
    }
}

impl Origin {
    /// Reads the lists of the session again if its server reported a change since they were read.
    async fn update_lists(&self, session: &Session) -> Result<(), McpError> {
        let _listing = session.listing.lock().await;
        if !session.connection.take_changed() {
            return Ok(());
        }
        self.list(session).await.inspect_err(|_| session.connection.restore_changed())
    }

    /// Reads the lists of the session, and updates the record.
    async fn list(&self, session: &Session) -> Result<(), McpError> {
        let listing = session.connection.request("listing", self.limit, listing::read).await?;
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
async fn watch(origin: Arc<Origin>, session: Arc<Session>) {
    loop {
        session.connection.wait_for_change().await;
        tokio::time::sleep(RELIST_DELAY).await;
        if let Err(error) = origin.update_lists(&session).await {
            tracing::debug!(%error, server = origin.name, "the changed lists of an MCP server could not be read");
        }
    }
}

impl State {
    fn close(&mut self) {
        self.session = None;
        self.watcher = None;
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
