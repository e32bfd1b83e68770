//! MySQL and MariaDB servers, read-only.

mod describe;
mod dialect;
mod session;
mod table;
mod value;

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prospector_core::Problem;
use sqlx::ConnectOptions;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};

use crate::budget::Budget;
use crate::cause::Cause;
use crate::filter::FilterCondition;
use crate::rows::{BlockSender, MAX_RIGHTS, Rows, SampleRequest, Samples, SqlQuery, Statistics, first_column};
use crate::server::{
    Connections, SAMPLE_ROWS, SAMPLE_TIMEOUT, STATEMENT_TIMEOUT, Server, Session, StatementFailure, samples, statistics,
};
use crate::source_kind::SourceKind;
use crate::statement::{BoundValue, Dialect as _, Statement, UnknownColumn, columns, escape_pattern, select};
use crate::table::Table;
use crate::{ConnectError, Connector, Source};
use dialect::{Dialect, Shape};
use session::{FetchedRows, fetch};
use table::{Place, Scope};

/// MySQL allows 4,096 result columns; a measured column needs four.
const COLUMNS_A_QUERY: usize = 100;

/// Privileges of a user other than reading, one per row; those of its roles are not included.
const OTHER_RIGHTS: &str = "\
    SELECT DISTINCT privilege_type FROM ( \
      SELECT grantee, privilege_type FROM information_schema.user_privileges \
      UNION ALL SELECT grantee, privilege_type FROM information_schema.schema_privileges \
      UNION ALL SELECT grantee, privilege_type FROM information_schema.table_privileges) AS rights \
    WHERE REPLACE(grantee, CHAR(39), '') = CURRENT_USER() \
      AND privilege_type IN ('ALTER', 'CREATE', 'DELETE', 'DROP', 'EXECUTE', 'FILE', 'INSERT', 'SUPER', 'UPDATE') \
    ORDER BY privilege_type";

/// Returns a connector for a MySQL or MariaDB server.
///
/// # Errors
/// If the source is not a server, or the driver rejects its URL.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(Mysql::new(source.require_server()?)?))
}

/// A MySQL or MariaDB server, or one of its databases.
pub(crate) struct Mysql {
    connections: Arc<Connections<MySqlConnection>>,
    scope: Scope,
}

impl Mysql {
    fn new(server: &Server) -> Result<Self, ConnectError> {
        let options = MySqlConnectOptions::from_str(server.url().as_str());
        let options = options
            .map_err(|_| ConnectError::connect(server.to_string(), "the URL has unknown or invalid parameters"))?;
        // The server's time zone is kept, so that a query has the same meaning as for other clients. The session sets the
        // mode.
        let options = options
            .pipes_as_concat(false)
            .no_engine_substitution(false)
            .timezone(None)
            .statement_cache_capacity(0)
            .disable_statement_logging();
        let scope = Scope::new(server.database(), server.schemas());
        Ok(Mysql { connections: Connections::new(server.clone(), options), scope })
    }

    /// Runs one generated statement in a session of its own.
    async fn ask(
        &self,
        table: &str,
        statement: Statement,
        time_limit: Duration,
        cap: usize,
    ) -> Result<Rows, StatementFailure> {
        let mut session = self.connections.session(time_limit).await?;
        let act = fetch(session.connection(), &statement, Budget::of_rows(), cap, None);
        let done = match Session::<MySqlConnection>::within(time_limit, act).await {
            // Unread rows would have to be read to the end, so the session is dropped.
            Ok(fetched) if fetched.is_left => {
                drop(session);
                Ok(fetched)
            }
            done => session.end(done).await,
        };
        self.to_rows(table, &statement.sql, done)
    }

    /// Runs one user statement in a connection of its own.
    async fn ask_alone(
        &self,
        query: &SqlQuery<'_>,
        cap: usize,
        blocks: Option<&BlockSender>,
    ) -> Result<Rows, StatementFailure> {
        let statement = Statement { sql: query.sql.trim().trim_end_matches(';').to_owned(), values: Vec::new() };
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let act = fetch(session.connection(), &statement, Budget::of_answer(), cap, blocks);
        let done = match Session::<MySqlConnection>::within(STATEMENT_TIMEOUT, act).await {
            Ok(fetched) if fetched.is_left => {
                drop(session);
                Ok(fetched)
            }
            done => session.close(done).await,
        };
        self.to_rows("the answer to a query", &statement.sql, done)
    }

    fn to_rows(
        &self,
        table: &str,
        sql: &str,
        done: Result<FetchedRows, sqlx::Error>,
    ) -> Result<Rows, StatementFailure> {
        match done.map_err(|error| self.connections.failure(table, error, sql))? {
            FetchedRows { rows, excess: Some(excess), .. } => {
                Err(self.connections.too_large_error(table, &excess, &rows.columns).into())
            }
            FetchedRows { rows, .. } => Ok(rows),
        }
    }

    fn unknown_column(&self, table: &str, unknown: &UnknownColumn) -> ConnectError {
        ConnectError::unknown_column(self.connections.place(), table, &unknown.0)
    }

    /// Resolves a table and its columns.
    async fn place(&self, table: &str) -> Result<Place, ConnectError> {
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let found = table::find(session.connection(), &self.scope, table);
        let done = Session::<MySqlConnection>::within(STATEMENT_TIMEOUT, found).await;
        let found = session.end(done).await.map_err(|error| self.connections.statement_error(table, error, None))?;
        found.ok_or_else(|| ConnectError::unknown_table(self.connections.place(), table))
    }
}

#[async_trait]
impl Connector for Mysql {
    fn kind(&self) -> SourceKind {
        SourceKind::Mysql
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        let place = self.connections.server().to_string();
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let described = describe::describe(session.connection(), &self.scope, &place);
        let done = Session::<MySqlConnection>::within(STATEMENT_TIMEOUT, described).await;
        session.end(done).await.map_err(|error| self.connections.statement_error("information_schema", error, None))
    }

    async fn fingerprint(&self) -> Result<Option<String>, ConnectError> {
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let stamp = describe::fingerprint(session.connection(), &self.scope);
        let done = Session::<MySqlConnection>::within(STATEMENT_TIMEOUT, stamp).await;
        let done = session.end(done).await;
        done.map(Some).map_err(|error| self.connections.statement_error("information_schema", error, None))
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        let place = self.place(table).await?;
        let column = self.connections.find_column(&place.columns, table, column)?;
        let (name, shape) = (Dialect.quote(&column.name), Shape::of(column));
        let (mut values, mut filter) = (Vec::new(), String::new());
        match request.contains.as_deref().filter(|text| !text.is_empty()) {
            // Byte columns have no text.
            Some(_) if shape == Shape::Bytes => filter = " AND FALSE".to_owned(),
            Some(text) => {
                values.push(BoundValue::Text(format!("%{}%", escape_pattern(text))));
                filter = format!(" AND {}", Dialect.like(&name, 1));
            }
            None => {}
        }
        let (key, shown) = (shape.key(&name), shape.shorten("k", "v"));
        let sql = |from: &str| Statement {
            // The inner query groups, the outer query truncates long texts.
            sql: format!(
                "SELECT {shown}, count(*) OVER () FROM (SELECT {key} AS k, min({value}) AS v, count(*) AS n FROM {from} \
                 WHERE {name} IS NOT NULL{filter} GROUP BY 1) g ORDER BY n DESC, k LIMIT {limit}",
                value = shape.value(&name),
                // A limit of zero rows would lose the number of distinct values.
                limit = request.limit.clamp(1, 1_000_000),
            ),
            values: values.clone(),
        };
        let cap = request.limit.max(1);
        let (rows, whole) = match self.ask(table, sql(&place.from), SAMPLE_TIMEOUT, cap).await {
            Ok(rows) => (rows, true),
            Err(StatementFailure::TooLong(_)) => {
                let first = format!("(SELECT {name} FROM {} LIMIT {SAMPLE_ROWS}) t", place.from);
                (self.ask(table, sql(&first), STATEMENT_TIMEOUT, cap).await?, false)
            }
            Err(failed) => return Err(failed.into()),
        };
        Ok(samples(rows, request.limit, whole, shape == Shape::Bytes))
    }

    async fn statistics(&self, table: &str, wanted: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        let place = self.place(table).await?;
        let columns = columns(&place.columns, wanted).map_err(|unknown| self.unknown_column(table, &unknown))?;
        let mut all = Vec::with_capacity(columns.len());
        for part in columns.chunks(COLUMNS_A_QUERY) {
            let measures: Vec<String> = part
                .iter()
                .map(|column| {
                    let (name, shape) = (Dialect.quote(&column.name), Shape::of(column));
                    let (min, max) = (shape.end("min", &name), shape.end("max", &name));
                    format!("count(DISTINCT {}), {min}, {max}, count(*) - count({name})", shape.key(&name))
                })
                .collect();
            let sql = format!("SELECT {} FROM {}", measures.join(", "), place.from);
            let rows = self.ask(table, Statement { sql, values: Vec::new() }, STATEMENT_TIMEOUT, 1).await?;
            all.extend(statistics(part.iter().map(|column| (*column, Shape::of(column) == Shape::Bytes)), rows));
        }
        Ok(all)
    }

    async fn rows(
        &self,
        table: &str,
        wanted: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let place = self.place(table).await?;
        let wanted = columns(&place.columns, wanted).map_err(|unknown| self.unknown_column(table, &unknown))?;
        let statement = select(&Dialect, table, &place.from, &wanted, &place.columns, conditions, limit)?;
        Ok(self.ask(table, statement, STATEMENT_TIMEOUT, limit).await?)
    }

    async fn query(&self, query: &SqlQuery<'_>, cap: usize) -> Result<Rows, ConnectError> {
        Ok(self.ask_alone(query, cap, None).await?)
    }

    async fn stream(&self, query: &SqlQuery<'_>, limit: usize, blocks: &BlockSender) -> Result<(), ConnectError> {
        Ok(self.ask_alone(query, limit, Some(blocks)).await.map(drop)?)
    }

    async fn other_rights(&self) -> Result<Option<Vec<String>>, ConnectError> {
        let found = self.query(&SqlQuery { sql: OTHER_RIGHTS, ..SqlQuery::default() }, MAX_RIGHTS).await?;
        Ok(Some(first_column(&found)))
    }

    async fn explain(&self, query: &SqlQuery<'_>) -> Result<(), ConnectError> {
        const PLAN: &str = "the plan of a query";
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let planned = session::plan(session.connection(), query.sql.trim().trim_end_matches(';'));
        let done = Session::<MySqlConnection>::within(STATEMENT_TIMEOUT, planned).await;
        match session.close(done).await.map_err(|error| self.connections.statement_error(PLAN, error, None))? {
            true => Ok(()),
            false => {
                let reason = "access is read-only, and this is not a query";
                Err(ConnectError::read(self.connections.place(), PLAN, Cause::Refused, reason))
            }
        }
    }
}
