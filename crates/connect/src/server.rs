//! Database servers: the address, displayed without its password, and a limited number of read-only connections.

mod answer;
mod cause;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

use crate::ConnectError;
use crate::budget::Excess;
use crate::cause::Cause;
use crate::error::{AddressError, TIMED_OUT};
use crate::source_kind::SourceKind;
pub(crate) use answer::{SAMPLE_ROWS, SAMPLE_TIMEOUT, STATEMENT_TIMEOUT, samples, statistics};
use cause::KnownCause;
pub(crate) use cause::ROW_TOO_LARGE;

/// Maximum number of connections to one server.
const AT_ONCE: usize = 4;

/// Maximum number of idle connections. A catalog may name many databases of one server, which limits their total.
const MAX_IDLE: usize = 1;

/// Timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout for reusing an idle connection.
const WAKE_TIMEOUT: Duration = Duration::from_secs(3);

/// How much longer than its server-side time limit a statement is awaited.
const GRACE: Duration = Duration::from_secs(2);

/// The address of a database server and the account that connects. `Display` and `Debug` show it without the password.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Server {
    kind: SourceKind,
    url: Url,
    /// The hosts after the first, as written: a URL has only one.
    more_hosts: String,
    schemas: Vec<String>,
    /// The removed parameters, which this kind of server does not know.
    ignored: Vec<String>,
}

impl Server {
    /// Parses a URL such as `postgres://user:password@host:port/database?sslmode=verify-full`.
    ///
    /// `schemas` lists the schemas to describe; if it is empty, all but system schemas are described.
    /// - PostgreSQL (`postgres://`): tables of the schema `public` are named without it, all others as `schema.table`.
    /// - MySQL and MariaDB (`mysql://`, `mariadb://`): a schema is a database. Without `schemas` it is the database of
    ///   the URL, or all databases if the URL names none. Tables of the database in the URL are named without it.
    /// - MongoDB (`mongodb://` with one host or several, `mongodb+srv://`): the same as for MySQL.
    /// - Cassandra and ScyllaDB (`cassandra://`, `scylla://`): a schema is a keyspace.
    /// - DynamoDB: `dynamodb://key:secret@region`, with `?session_token=` if the key has one and `?endpoint=` if it is
    ///   not Amazon's own.
    ///
    /// # Errors
    /// If the URL is invalid. The error does not show it.
    pub fn new(url: &str, schemas: &[String]) -> Result<Server, AddressError> {
        let (url, more_hosts) = first_host(url.trim());
        let parsed = Url::parse(&url)?;
        let kind = SourceKind::from_scheme(parsed.scheme());
        let kind = kind.ok_or_else(|| AddressError::UnknownScheme(parsed.scheme().to_owned()))?;
        if parsed.host_str().is_none_or(str::is_empty) && !parsed.query_pairs().any(|(key, _)| key == "socket") {
            return Err(AddressError::NoHost);
        }
        let (url, ignored) = without_unknown(kind, parsed);
        Ok(Server { kind, url, more_hosts, schemas: schemas.to_vec(), ignored })
    }

    /// Returns the kind of source, by the scheme of the URL.
    pub fn kind(&self) -> SourceKind {
        self.kind
    }

    /// Returns the names of URL parameters that PostgreSQL, MySQL or MariaDB do not know. They are not passed on, since a
    /// driver would log them with their values. Other kinds of servers reject unknown parameters.
    pub fn ignored_parameters(&self) -> &[String] {
        &self.ignored
    }

    /// Returns the name of the database in the URL, if there is one.
    pub fn database(&self) -> Option<&str> {
        Some(self.url.path().trim_matches('/')).filter(|name| !name.is_empty())
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the URL with all hosts.
    #[cfg(feature = "mongodb")]
    pub(crate) fn whole_url(&self) -> String {
        let url = self.url.as_str();
        let start = url.find("://").map_or(0, |at| at + 3);
        let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
        format!("{}{}{}", &url[..end], self.more_hosts, &url[end..])
    }

    pub(crate) fn schemas(&self) -> &[String] {
        &self.schemas
    }

    /// Replaces the password in a text.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let Some(written) = self.url.password().filter(|password| !password.is_empty()) else {
            return text.to_owned();
        };
        let plain = percent_encoding::percent_decode_str(written).decode_utf8_lossy().into_owned();
        text.replace(written, "***").replace(&plain, "***")
    }
}

/// Displays the server without its password, and without parameters, which may contain secrets too.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.url.scheme())?;
        // The id of an access key is not a user name.
        if !self.url.username().is_empty() && self.kind() != SourceKind::Dynamodb {
            write!(f, "{}@", self.url.username())?;
        }
        write!(f, "{}", self.url.host_str().unwrap_or("socket"))?;
        if let Some(port) = self.url.port() {
            write!(f, ":{port}")?;
        }
        f.write_str(&self.more_hosts)?;
        f.write_str(self.url.path())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({self}, {:?})", self.schemas)
    }
}

/// Removes unknown parameters from a URL; returns it with their names.
fn without_unknown(kind: SourceKind, mut url: Url) -> (Url, Vec<String>) {
    let Some(known) = kind.url_parameters() else { return (url, Vec::new()) };
    let is_known = |key: &str| known.contains(&key) || key.starts_with("options[") && known.contains(&"options");
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let (kept, unknown): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(key, _)| is_known(key));
    if !unknown.is_empty() {
        url.set_query(None);
        if !kept.is_empty() {
            url.query_pairs_mut().extend_pairs(kept);
        }
    }
    (url, unknown.into_iter().map(|(key, _)| key).collect())
}

/// Splits a MongoDB URL into one with its first host only, and the others: `,b:27017,c:27017`.
fn first_host(url: &str) -> (String, String) {
    let is_mongodb = |at: &usize| SourceKind::from_scheme(&url[..*at]) == Some(SourceKind::Mongodb);
    let Some(start) = url.find("://").filter(is_mongodb).map(|at| at + 3) else {
        return (url.to_owned(), String::new());
    };
    let end = url[start..].find(['/', '?']).map_or(url.len(), |at| start + at);
    let hosts = url[start..end].rfind('@').map_or(start, |at| start + at + 1);
    match url[hosts..end].find(',') {
        Some(comma) => (format!("{}{}", &url[..hosts + comma], &url[end..]), url[hosts + comma..end].to_owned()),
        None => (url.to_owned(), String::new()),
    }
}

/// Operations of a connection to one kind of server.
#[async_trait]
pub(crate) trait ReadOnlySession: Connection + Sized {
    /// How to connect to the server.
    type Route: Send + Sync;

    /// Connects to the server.
    async fn open(route: &Self::Route) -> Result<Self, sqlx::Error>;

    /// Begins a read-only transaction with a time limit per statement and fixed settings for parsing and name resolution.
    /// Returns the id of the connection on the server.
    async fn begin_reading(&mut self, time_limit: Duration) -> Result<u64, sqlx::Error>;

    /// Ends the transaction and resets everything a statement may have left in the connection.
    ///
    /// # Errors
    /// If the reset fails; the connection is not reused.
    async fn end(&mut self) -> Result<(), sqlx::Error>;

    /// Cancels the current statement of another connection of the same user.
    async fn stop(&mut self, number: u64) -> Result<(), sqlx::Error>;
}

/// The connections to a server, opened on demand.
pub(crate) struct Connections<C: ReadOnlySession> {
    server: Server,
    route: C::Route,
    idle: Mutex<Vec<C>>,
    permits: Arc<Semaphore>,
}

impl<C: ReadOnlySession + 'static> Connections<C> {
    pub(crate) fn new(server: Server, route: C::Route) -> Arc<Self> {
        let permits = Arc::new(Semaphore::new(AT_ONCE));
        Arc::new(Connections { server, route, idle: Mutex::new(Vec::new()), permits })
    }

    /// Starts a read-only transaction in which no statement takes longer than `time_limit`.
    pub(crate) async fn session(self: &Arc<Self>, time_limit: Duration) -> Result<Session<C>, ConnectError> {
        let closed = |error: tokio::sync::AcquireError| self.connect_error(error.to_string());
        let permit = self.permits.clone().acquire_owned().await.map_err(closed)?;
        let begun = |connection: C, number: u64, permit: OwnedSemaphorePermit| Session {
            connection: Some(connection),
            number,
            home: self.clone(),
            _permit: permit,
        };
        while let Some(mut connection) = self.idle_one() {
            // A connection that does not respond is discarded: the server may have been restarted.
            if let Ok(Ok(number)) = tokio::time::timeout(WAKE_TIMEOUT, connection.begin_reading(time_limit)).await {
                return Ok(begun(connection, number, permit));
            }
        }
        let mut connection = self.connect().await?;
        let started = tokio::time::timeout(CONNECT_TIMEOUT, connection.begin_reading(time_limit)).await;
        let number = started
            .map_err(|_| self.connect_error("no response in time"))?
            .map_err(|error| self.connect_error(self.reason(&error)).with_source(error))?;
        Ok(begun(connection, number, permit))
    }

    fn idle_one(&self) -> Option<C> {
        self.idle.lock().ok()?.pop()
    }

    async fn connect(&self) -> Result<C, ConnectError> {
        match tokio::time::timeout(CONNECT_TIMEOUT, C::open(&self.route)).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => Err(self.connect_error(self.reason(&error)).with_source(error)),
            Err(_) => Err(self.connect_error(format!("no response within {} s", CONNECT_TIMEOUT.as_secs()))),
        }
    }

    fn connect_error(&self, reason: impl Into<String>) -> ConnectError {
        ConnectError::connect(self.place(), reason)
    }

    /// Returns the name of the server in messages.
    pub(crate) fn place(&self) -> String {
        self.server.to_string()
    }

    /// Returns the message of an error, without wrapping.
    pub(crate) fn reason(&self, error: &sqlx::Error) -> String {
        let reason = match error {
            _ if is_timeout(error) => TIMED_OUT.to_owned(),
            sqlx::Error::Database(error) => error.message().to_owned(),
            sqlx::Error::Io(error) => error.to_string(),
            other => other.to_string(),
        };
        self.server.scrub(&reason)
    }

    /// Converts the error of a statement about a table; `sql` is the statement if it is a user's.
    pub(crate) fn statement_error(&self, table: &str, error: sqlx::Error, sql: Option<&str>) -> ConnectError {
        let KnownCause { cause, code } = cause::find(&error);
        if cause == Cause::TooLarge {
            return Excess::of_row().error(self.place(), table, &[] as &[&str]);
        }
        let reason = match cause {
            // The server's message names the account and the tables behind a view.
            Cause::Refused => {
                let code = code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
                format!("permission denied, or the statement is not read-only{code}")
            }
            _ => self.reason(&error),
        };
        let column = (cause == Cause::UnknownColumn).then(|| cause::unknown_column(&error, sql)).flatten();
        let failed = ConnectError::read(self.place(), table, cause, reason);
        failed.with_code(code).with_column(column.as_deref()).with_source(error)
    }
}

/// Whether the server stopped a statement at its time limit.
fn is_timeout(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some() && cause::find(error).cause == Cause::TimedOut
}

/// A read-only transaction. Dropping it early, as when the caller goes away, cancels the current statement on the server.
pub(crate) struct Session<C: ReadOnlySession + 'static> {
    connection: Option<C>,
    number: u64,
    home: Arc<Connections<C>>,
    _permit: OwnedSemaphorePermit,
}

impl<C: ReadOnlySession + 'static> Session<C> {
    /// Returns the connection.
    pub(crate) fn connection(&mut self) -> &mut C {
        self.connection.as_mut().expect("it is taken only when the session ends")
    }

    /// Ends the transaction and keeps the connection for reuse. A lost connection is dropped, and one that cannot be
    /// reset is closed.
    pub(crate) async fn end<T>(mut self, done: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        if is_lost(&done) {
            return done;
        }
        match tokio::time::timeout(WAKE_TIMEOUT, self.connection().end()).await {
            Ok(Ok(())) => {
                if let (Some(connection), Ok(mut idle)) = (self.connection.take(), self.home.idle.lock())
                    && idle.len() < MAX_IDLE
                {
                    idle.push(connection);
                }
            }
            Ok(Err(error)) => {
                tracing::debug!(reason = self.home.reason(&error), "a connection is not used again");
                // No statement is running that would have to be cancelled.
                drop(self.connection.take());
            }
            Err(_) => {}
        }
        done
    }

    /// Ends the transaction and closes the connection: for statements with effects that cannot be reset.
    pub(crate) async fn close<T>(mut self, done: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        if !is_lost(&done)
            && let Some(connection) = self.connection.take()
        {
            // The server rolls back; an unresponsive one notices the lost connection.
            let _ = tokio::time::timeout(WAKE_TIMEOUT, connection.close()).await;
        }
        done
    }
}

/// Applies a timeout slightly longer than that of statements.
pub(crate) async fn within<T>(
    time_limit: Duration,
    act: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    match tokio::time::timeout(time_limit + GRACE, act).await {
        Ok(done) => done,
        Err(_) => Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
    }
}

/// Whether the connection is unusable.
fn is_lost<T>(done: &Result<T, sqlx::Error>) -> bool {
    matches!(done, Err(sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed))
}

impl<C: ReadOnlySession + 'static> Drop for Session<C> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        drop(connection);
        // Without a runtime the process is exiting; the time limit on the server ends the statement.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (home, number) = (self.home.clone(), self.number);
        runtime.spawn(async move {
            let stopped = match home.connect().await {
                Ok(mut other) => {
                    let stopped = other.stop(number).await.map_err(|error| home.reason(&error));
                    let _ = other.close().await;
                    stopped
                }
                Err(error) => Err(error.to_string()),
            };
            if let Err(reason) = stopped {
                tracing::debug!(reason, "cannot cancel an abandoned statement");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, shown: &str) {
        let server = Server::new(url, &[]).unwrap();
        assert_eq!(server.to_string(), shown);
        assert!(!format!("{server:?}").contains("s3cr"), "{server:?}");
        assert_eq!(server.scrub("no s3cr t and no s3cr%20t here"), "no *** and no *** here");
    }

    #[test]
    fn a_server_is_shown_without_its_password() {
        check("postgres://ada:s3cr%20t@db.example:5432/crm?sslrootcert=/x", "postgres://ada@db.example:5432/crm");
        check("mariadb://ada:s3cr%20t@[::1]/", "mariadb://ada@[::1]/");
        check("mongodb://ada:s3cr%20t@a:27017,b:27018/crm?replicaSet=r", "mongodb://ada@a:27017,b:27018/crm");
        check("dynamodb://AKIA:s3cr%20t@eu-north-1?endpoint=http://x", "dynamodb://eu-north-1");
    }

    #[test]
    fn removes_and_reports_unknown_parameters() {
        let check = |url: &str, kept: &str, ignored: &[&str]| {
            let server = Server::new(url, &[]).unwrap();
            assert_eq!(server.url().query().unwrap_or_default(), kept);
            assert_eq!(server.ignored_parameters(), ignored);
            assert!(!format!("{server} {server:?}").contains("s3cret"));
        };
        check("postgres://h/d?sslmode=require&options[a]=b", "sslmode=require&options[a]=b", &[]);
        check("postgres://h/d?api_key=s3cret&sslmode=require", "sslmode=require", &["api_key"]);
        check("mysql://h/d?token=s3cret", "", &["token"]);
        check("mongodb://h/d?replicaSet=r", "replicaSet=r", &[]);
    }

    #[test]
    fn errors_do_not_show_the_url() {
        for url in
            ["postgres//ada:s3cret@x", "oracle://ada:s3cret@x/y", "postgres://ada:s3cret@x:port/y", "postgres:///y"]
        {
            let error = Server::new(url, &[]).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
        }
    }
}
