//! Cassandra and ScyllaDB over CQL, read-only: every statement is a `SELECT` with bound values.

mod describe;
mod failure;
mod plan;
mod value;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prospector_core::Problem;
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::response::PagingState;
use scylla::value::{CqlValue, Row};
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::budget::Budget;
use crate::cause::Cause;
use crate::document::Node;
use crate::document::compare::meets;
use crate::error::TIMED_OUT;
use crate::filter::{FilterCondition, Test};
use crate::rows::{Rows, SampleRequest, Samples, Statistics};
use crate::server::{SAMPLE_ROWS, STATEMENT_TIMEOUT, Server};
use crate::source_kind::SourceKind;
use crate::statement::cap_rows;
use crate::table::Table;
use crate::tally::Tally;
use crate::{ConnectError, Connector, Source};
use failure::StatementError;
use plan::{CqlColumn, plan, position, quote};

/// Timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Rows per page.
const PAGE: i32 = 2_000;

/// Number of rows sampled to measure a table.
const SAMPLED: usize = 10_000;

/// The keyspaces of a cluster.
pub(crate) struct Cassandra {
    server: Server,
    session: OnceCell<Session>,
}

/// The rows of a statement.
struct Read {
    rows: Vec<Vec<Node>>,
    has_more: bool,
}

/// Returns a connector for a Cassandra or ScyllaDB cluster.
///
/// # Errors
/// If the source is not a server, or its URL has unknown parts.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(Cassandra::new(source.require_server()?)?))
}

impl Cassandra {
    fn new(server: &Server) -> Result<Self, ConnectError> {
        let wrong = server.url().query_pairs().any(|(key, _)| key != "tls");
        if wrong || server.database().is_some_and(|name| name.contains('/')) {
            let reason =
                "the URL must be cassandra://user:password@host:9042/keyspace, optionally followed by ?tls=true";
            return Err(ConnectError::connect(server.to_string(), reason));
        }
        Ok(Cassandra { server: server.clone(), session: OnceCell::new() })
    }

    /// Returns the keyspaces named in the source.
    fn keyspaces(&self) -> Vec<String> {
        match self.server.schemas() {
            [] => self.server.database().map(str::to_owned).into_iter().collect(),
            some => some.to_vec(),
        }
    }

    fn is_described(&self, keyspace: &str) -> bool {
        let named = self.keyspaces();
        if named.is_empty() { !describe::is_own(keyspace) } else { named.iter().any(|name| name == keyspace) }
    }

    /// Returns the displayed name of a table: without its keyspace if the URL names that keyspace.
    fn name(&self, (keyspace, table): &(String, String)) -> String {
        match self.server.database() == Some(keyspace) {
            true => table.clone(),
            false => format!("{keyspace}.{table}"),
        }
    }

    fn connect_error(&self, reason: impl Into<String>) -> ConnectError {
        let reason = self.server.scrub(&reason.into());
        ConnectError::connect(self.server.to_string(), reason)
    }

    fn read_error(&self, table: &str, cause: Cause, reason: impl Into<String>) -> ConnectError {
        let reason = self.server.scrub(&reason.into());
        ConnectError::read(self.server.to_string(), table, cause, reason)
    }

    /// Converts the failure of a statement.
    fn statement_error(&self, table: &str, error: StatementError) -> ConnectError {
        let text = error.to_string();
        match error.cause() {
            Cause::TimedOut => self.read_error(table, Cause::TimedOut, format!("{TIMED_OUT}: {text}")),
            // The server's message names the account.
            Cause::Refused => self.read_error(table, Cause::Refused, "permission denied"),
            Cause::Gone => self.connect_error(text),
            cause => self.read_error(table, cause, text),
        }
        .with_source(error)
    }

    async fn session(&self) -> Result<&Session, ConnectError> {
        self.session.get_or_try_init(|| self.connect()).await
    }

    async fn connect(&self) -> Result<Session, ConnectError> {
        let url = self.server.url();
        let host = url.host_str().unwrap_or_default();
        let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        let profile = ExecutionProfile::builder().request_timeout(Some(STATEMENT_TIMEOUT)).build();
        let mut builder = SessionBuilder::new()
            .known_node(format!("{host}:{}", url.port().unwrap_or(9042)))
            .connection_timeout(CONNECT_TIMEOUT)
            .pool_size(PoolSize::PerHost(std::num::NonZeroUsize::MIN))
            .fetch_schema_metadata(false)
            .default_execution_profile_handle(profile.into_handle());
        if !url.username().is_empty() {
            builder = builder.user(decoded(url.username()), decoded(url.password().unwrap_or_default()));
        }
        if url.query_pairs().any(|(key, value)| key == "tls" && value == "true") {
            let config = prospector_net::tls_config()
                .map_err(|error| self.connect_error(error.to_string()).with_source(error))?;
            builder = builder.tls_context(Some(Arc::new(config)));
        }
        let connected = tokio::time::timeout(CONNECT_TIMEOUT * 2, builder.build()).await;
        let connected = connected.map_err(|_| self.connect_error("no response in time"))?;
        connected.map_err(|error| self.connect_error(error.to_string()).with_source(error))
    }

    /// Reads at most `most` rows of a statement.
    async fn read(&self, table: &str, cql: &str, values: Vec<CqlValue>, most: usize) -> Result<Read, ConnectError> {
        let mut rows = Vec::new();
        let take = |row| {
            rows.push(row);
            rows.len() < most
        };
        let has_more = self.each(table, cql, values, take).await?;
        Ok(Read { rows, has_more })
    }

    /// Passes rows to the callback one by one until it declines more; returns whether there are more.
    async fn each(
        &self,
        table: &str,
        cql: &str,
        values: Vec<CqlValue>,
        mut take: impl FnMut(Vec<Node>) -> bool,
    ) -> Result<bool, ConnectError> {
        let session = self.session().await?;
        let mut prepared = session.prepare(cql).await.map_err(|error| self.statement_error(table, error.into()))?;
        prepared.set_page_size(PAGE);
        let mut state = PagingState::start();
        loop {
            let page = session.execute_single_page(&prepared, &values, state).await;
            let (result, next) = page.map_err(|error| self.statement_error(table, error.into()))?;
            let rows = result.into_rows_result().map_err(|error| self.statement_error(table, error.into()))?;
            let mut rows = rows.rows::<Row>().map_err(|error| self.statement_error(table, error.into()))?;
            while let Some(row) = rows.next() {
                let row = row.map_err(|error| self.statement_error(table, error.into()))?;
                if !take(row.columns.into_iter().map(value::node).collect()) {
                    return Ok(rows.next().is_some() || !next.finished());
                }
            }
            match next.into_paging_control_flow() {
                std::ops::ControlFlow::Continue(next) => state = next,
                std::ops::ControlFlow::Break(()) => return Ok(false),
            }
        }
    }

    /// Resolves a table and its columns.
    async fn place(&self, table: &str) -> Result<((String, String), Vec<CqlColumn>), ConnectError> {
        let missing = || ConnectError::unknown_table(self.server.to_string(), table);
        let place = match (table.split_once('.'), self.server.database()) {
            (Some((keyspace, name)), _) => (keyspace.to_owned(), name.to_owned()),
            (None, Some(keyspace)) => (keyspace.to_owned(), table.to_owned()),
            (None, None) => return Err(missing()),
        };
        if !self.is_described(&place.0) {
            return Err(missing());
        }
        let columns = self.columns(&place).await?;
        if columns.is_empty() { Err(missing()) } else { Ok((place, columns)) }
    }

    /// Returns the positions of the named columns, or of all columns.
    fn find_columns(&self, table: &str, known: &[CqlColumn], names: &[String]) -> Result<Vec<usize>, ConnectError> {
        if names.is_empty() {
            return Ok((0..known.len()).collect());
        }
        let find = |name: &String| {
            position(known, name).ok_or_else(|| ConnectError::unknown_column(self.server.to_string(), table, name))
        };
        names.iter().map(find).collect()
    }

    /// Tallies the values of these columns in the first rows, and returns whether these are all rows.
    async fn tally(&self, table: &str, names: &[String]) -> Result<(Vec<(String, Tally)>, bool), ConnectError> {
        let (place, known) = self.place(table).await?;
        let wanted = self.find_columns(table, &known, names)?;
        let cql = statement(&place, wanted.iter().map(|at| &known[*at]), "", SAMPLED + 1);
        let mut tallies: Vec<(String, Tally)> =
            wanted.iter().map(|at| (known[*at].name.clone(), Tally::default())).collect();
        let read = self.read(table, &cql, Vec::new(), SAMPLED).await?;
        for row in &read.rows {
            tallies.iter_mut().zip(row).for_each(|((_, tally), node)| tally.add(node));
        }
        Ok((tallies, !read.has_more))
    }
}

/// Returns the statement that reads these columns.
fn statement<'a>(
    (keyspace, table): &(String, String),
    columns: impl Iterator<Item = &'a CqlColumn>,
    clause: &str,
    limit: usize,
) -> String {
    let names: Vec<String> = columns.map(|column| quote(&column.name)).collect();
    let limit = limit.min(i32::MAX as usize);
    format!("SELECT {} FROM {}.{}{clause} LIMIT {limit}", names.join(", "), quote(keyspace), quote(table))
}

#[async_trait]
impl Connector for Cassandra {
    fn kind(&self) -> SourceKind {
        SourceKind::Cassandra
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        self.describe_tables().await
    }

    async fn fingerprint(&self) -> Result<Option<String>, ConnectError> {
        let what = "the version of the schema";
        let cql = "SELECT schema_version FROM system.local WHERE key = 'local'";
        let read = self.read(what, cql, Vec::new(), 1).await?;
        let version = read.rows.into_iter().flatten().next().map(Node::json);
        Ok(Some(version.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()))
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        let (tallies, whole) = self.tally(table, &[column.to_owned()]).await?;
        let tally = tallies.into_iter().next().map(|(_, tally)| tally).unwrap_or_default();
        Ok(tally.samples(request.contains.as_deref(), request.limit, whole))
    }

    async fn statistics(&self, table: &str, columns: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        let (tallies, whole) = self.tally(table, columns).await?;
        Ok(tallies.into_iter().map(|(name, tally)| tally.statistics(&name, whole)).collect())
    }

    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let (place, known) = self.place(table).await?;
        let wanted = self.find_columns(table, &known, columns)?;
        let plan = plan(table, &known, conditions)?;
        let names: Vec<String> = wanted.iter().map(|at| known[*at].name.clone()).collect();
        if plan.is_empty {
            return Ok(cap_rows(names, Vec::new(), limit));
        }
        let tests: Vec<Test<'_>> = plan.rest.iter().filter_map(|(_, condition)| condition.test().ok()).collect();
        // The number of rows tested here is limited, whatever the requested limit.
        let most = if tests.is_empty() { limit } else { limit.max(SAMPLE_ROWS as usize) };
        let tested = plan.rest.iter().map(|(at, _)| *at);
        let read: Vec<&CqlColumn> = wanted.iter().copied().chain(tested).map(|at| &known[at]).collect();
        let cql = statement(&place, read.into_iter(), &plan.clause, most.saturating_add(1));
        let (mut found, mut seen, mut budget, mut taken) = (Vec::new(), 0, Budget::of_rows(), Ok(()));
        let take = |mut row: Vec<Node>| {
            seen += 1;
            if row[wanted.len()..].iter().zip(&tests).all(|(node, test)| meets(&node.flatten(), test)) {
                row.truncate(wanted.len());
                taken = row.iter().enumerate().try_for_each(|(at, node)| budget.take(at, node.size()));
                found.push(row);
            }
            seen < most && found.len() <= limit && taken.is_ok()
        };
        let is_left = self.each(table, &cql, plan.values, take).await?;
        taken.map_err(|excess| excess.error(self.server.to_string(), table, &names))?;
        let has_more = is_left || found.len() > limit;
        if found.is_empty() && has_more && limit > 0 {
            let names: Vec<&str> = plan.rest.iter().map(|(at, _)| known[*at].name.as_str()).collect();
            let reason = format!(
                "too large: the cluster cannot filter by {}, and none of the first {most} rows meets the condition; \
                 give all of the partition key",
                names.join(", ")
            );
            return Err(self.read_error(table, Cause::TooLarge, reason));
        }
        let rows = found.into_iter().map(|row| row.into_iter().map(Node::cell).collect()).collect();
        Ok(Rows { has_more, ..cap_rows(names, rows, limit) })
    }
}
