//! The connector of a database server with SQL: what PostgreSQL and MySQL have in common.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prospector_core::Problem;

use crate::budget::{Budget, Excess};
use crate::cause::Cause;
use crate::filter::FilterCondition;
use crate::rows::{
    BlockSender, FieldNames, MAX_RIGHTS, Rows, SampleRequest, Samples, SqlQuery, Statistics, first_column,
};
use crate::server::{
    Connections, ReadOnlySession, SAMPLE_ROWS, SAMPLE_TIMEOUT, STATEMENT_TIMEOUT, Server, Session, samples, statistics,
    within,
};
use crate::source_kind::SourceKind;
use crate::statement::{BoundValue, Dialect, Statement, TypedColumn, columns, escape_pattern, select};
use crate::table::Table;
use crate::{ConnectError, Connector};

/// PostgreSQL allows 1,664 result columns, MySQL 4,096; a measured column needs four.
const COLUMNS_A_QUERY: usize = 100;

/// What user queries are about, in messages.
const ANSWER: &str = "the answer to a query";
const PLAN: &str = "the plan of a query";

/// Why names after a dot are rejected.
const NOT_A_COLUMN: &str = "after a dot is not certain to be a column, and would call a function of the server; give \
     the column another name with AS, or write it without what is before the point";

/// Why names of functions are rejected.
const NOT_BUILT_IN: &str =
    "is not certain to be a built-in function, as the database has a stored function of that name";

/// A resolved table.
pub(crate) struct Place {
    /// The quoted name.
    pub(crate) from: String,
    /// The readable columns, with their types without length.
    pub(crate) columns: Vec<TypedColumn>,
}

/// The rows of a result.
pub(crate) struct FetchedRows {
    pub(crate) rows: Rows,
    /// The size limit that ended the reading, if any.
    pub(crate) excess: Option<Excess>,
    /// Whether the server is still sending; the connection cannot be reused then.
    pub(crate) is_left: bool,
}

/// The expressions for values of a type.
pub(crate) trait Shape: Copy + Send + Sync {
    /// Returns the shape of a column, by its type.
    fn of(column: &TypedColumn) -> Self;

    /// Whether the values are bytes, of which only the number is sent.
    fn is_bytes(self) -> bool;

    /// Returns the grouping key. Different values are never merged, whatever the collation.
    fn key(self, name: &str) -> String;

    /// Returns the columns of a group: its key as `k`, and what [`Shape::shorten`] needs.
    fn group(self, name: &str) -> String;

    /// Returns the value of a group as sent: long texts are truncated.
    fn shorten(self) -> String;

    /// Returns the minimum or maximum as sent, by its aggregate function.
    fn end(self, function: &str, name: &str) -> String;
}

/// A session of one kind of SQL server.
#[async_trait]
pub(crate) trait SqlSession: ReadOnlySession + 'static {
    const KIND: SourceKind;

    /// The system catalog, in messages.
    const CATALOG: &'static str;

    /// Selects the privileges of the account other than reading, one per row.
    const OTHER_RIGHTS: &'static str;

    /// Whether [`ReadOnlySession::end`] resets what user statements leave. Otherwise their connections are closed.
    const IS_RESET: bool;

    /// What of the server is described.
    type Scope: Send + Sync;

    type Shape: Shape;

    fn dialect() -> &'static dyn Dialect;

    async fn describe_tables(
        &mut self,
        scope: &Self::Scope,
        place: &str,
    ) -> Result<(Vec<Table>, Vec<Problem>), sqlx::Error>;

    /// Returns a text that changes with the description.
    async fn fingerprint(&mut self, scope: &Self::Scope) -> Result<String, sqlx::Error>;

    /// Finds a table by name.
    async fn find_table(&mut self, scope: &Self::Scope, name: &str) -> Result<Option<Place>, sqlx::Error>;

    /// Fetches at most `cap` rows within the budget. With `blocks`, they are sent there instead of returned.
    async fn fetch_rows(
        &mut self,
        statement: &Statement,
        budget: Budget,
        cap: usize,
        blocks: Option<&BlockSender>,
    ) -> Result<FetchedRows, sqlx::Error>;

    /// Whether the server would run the text as a query; nothing is executed.
    async fn plan_query(&mut self, sql: &str) -> Result<bool, sqlx::Error>;

    /// Returns the field names that the server may resolve to something other than columns.
    async fn find_callable(&mut self, fields: &FieldNames) -> Result<Vec<String>, sqlx::Error> {
        let _ = fields;
        Ok(Vec::new())
    }

    /// Returns which of these names the server may resolve to stored functions.
    async fn find_stored(&mut self, functions: &[String]) -> Result<Vec<String>, sqlx::Error> {
        let _ = functions;
        Ok(Vec::new())
    }
}

/// A server with SQL.
pub(crate) struct SqlServer<C: SqlSession> {
    connections: Arc<Connections<C>>,
    scope: C::Scope,
}

impl<C: SqlSession> SqlServer<C> {
    pub(crate) fn new(server: &Server, route: C::Route, scope: C::Scope) -> Self {
        SqlServer { connections: Connections::new(server.clone(), route), scope }
    }

    /// Runs one generated statement in a session of its own.
    async fn ask(
        &self,
        table: &str,
        statement: Statement,
        time_limit: Duration,
        cap: usize,
    ) -> Result<Rows, ConnectError> {
        let mut session = self.connections.session(time_limit).await?;
        let act = session.connection().fetch_rows(&statement, Budget::of_rows(), cap, None);
        let done = within(time_limit, act).await;
        self.to_rows(table, &statement.sql, session, done, true).await
    }

    /// Runs one user query in a session of its own.
    async fn answer_query(
        &self,
        query: &SqlQuery<'_>,
        cap: usize,
        blocks: Option<&BlockSender>,
    ) -> Result<Rows, ConnectError> {
        let statement = Statement { sql: bare(query).to_owned(), values: Vec::new() };
        let mut session = self.verified_session(ANSWER, query).await?;
        let act = session.connection().fetch_rows(&statement, Budget::of_answer(), cap, blocks);
        let done = within(STATEMENT_TIMEOUT, act).await;
        self.to_rows(ANSWER, &statement.sql, session, done, C::IS_RESET).await
    }

    async fn to_rows(
        &self,
        table: &str,
        sql: &str,
        session: Session<C>,
        done: Result<FetchedRows, sqlx::Error>,
        is_reusable: bool,
    ) -> Result<Rows, ConnectError> {
        let done = match done {
            // The rest would have to be read, so the session is dropped, which stops the server.
            Ok(fetched) if fetched.is_left => {
                drop(session);
                Ok(fetched)
            }
            done if is_reusable => session.end(done).await,
            done => session.close(done).await,
        };
        match done.map_err(|error| self.connections.statement_error(table, error, Some(sql)))? {
            FetchedRows { rows, excess: Some(excess), .. } => {
                Err(excess.error(self.connections.place(), table, &rows.columns))
            }
            FetchedRows { rows, .. } => Ok(rows),
        }
    }

    /// Starts a session for a query; rejects names that the server may resolve to stored functions or types.
    async fn verified_session(&self, table: &str, query: &SqlQuery<'_>) -> Result<Session<C>, ConnectError> {
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        if let Some(fields) = query.fields.filter(|fields| !fields.names.is_empty()) {
            let found = within(STATEMENT_TIMEOUT, session.connection().find_callable(fields)).await;
            session = self.without(table, session, found, Cause::UnknownColumn, NOT_A_COLUMN).await?;
        }
        if !query.functions.is_empty() {
            let found = within(STATEMENT_TIMEOUT, session.connection().find_stored(query.functions)).await;
            session = self.without(table, session, found, Cause::UnknownFunction, NOT_BUILT_IN).await?;
        }
        Ok(session)
    }

    /// Returns the session if no names were found, otherwise ends it and rejects the names for that reason.
    async fn without(
        &self,
        table: &str,
        session: Session<C>,
        found: Result<Vec<String>, sqlx::Error>,
        cause: Cause,
        reason: &str,
    ) -> Result<Session<C>, ConnectError> {
        if found.as_ref().is_ok_and(Vec::is_empty) {
            return Ok(session);
        }
        let found = self.finish(table, session, found).await?;
        let names = found.iter().map(|name| format!("`{}`", name.escape_debug())).collect::<Vec<_>>().join(", ");
        let failed = ConnectError::read(self.connections.place(), table, cause, format!("{names} {reason}"));
        Err(failed.with_column(found.first().map(String::as_str)))
    }

    /// Ends a session of generated statements.
    async fn finish<T>(
        &self,
        table: &str,
        session: Session<C>,
        done: Result<T, sqlx::Error>,
    ) -> Result<T, ConnectError> {
        session.end(done).await.map_err(|error| self.connections.statement_error(table, error, None))
    }

    /// Resolves a table and its columns.
    async fn find(&self, table: &str) -> Result<Place, ConnectError> {
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let done = within(STATEMENT_TIMEOUT, session.connection().find_table(&self.scope, table)).await;
        let found = self.finish(table, session, done).await?;
        found.ok_or_else(|| ConnectError::unknown_table(self.connections.place(), table))
    }

    fn columns<'p>(
        &self,
        table: &str,
        place: &'p Place,
        wanted: &[String],
    ) -> Result<Vec<&'p TypedColumn>, ConnectError> {
        columns(&self.connections.place(), table, &place.columns, wanted)
    }
}

/// Returns the text of a query without the semicolon at its end.
fn bare<'q>(query: &SqlQuery<'q>) -> &'q str {
    query.sql.trim().trim_end_matches(';')
}

#[async_trait]
impl<C: SqlSession> Connector for SqlServer<C> {
    fn kind(&self) -> SourceKind {
        C::KIND
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        let place = self.connections.place();
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let done = within(STATEMENT_TIMEOUT, session.connection().describe_tables(&self.scope, &place)).await;
        self.finish(C::CATALOG, session, done).await
    }

    async fn fingerprint(&self) -> Result<Option<String>, ConnectError> {
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let done = within(STATEMENT_TIMEOUT, session.connection().fingerprint(&self.scope)).await;
        self.finish(C::CATALOG, session, done).await.map(Some)
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        let place = self.find(table).await?;
        let column = self.columns(table, &place, &[column.to_owned()])?[0];
        let (name, shape) = (C::dialect().quote(&column.name), C::Shape::of(column));
        let (mut values, mut filter) = (Vec::new(), String::new());
        match request.contains.as_deref().filter(|text| !text.is_empty()) {
            // Byte columns have no text.
            Some(_) if shape.is_bytes() => filter = " AND FALSE".to_owned(),
            Some(text) => {
                values.push(BoundValue::Text(format!("%{}%", escape_pattern(text))));
                filter = format!(" AND {}", C::dialect().like(&name, 1));
            }
            None => {}
        }
        let (group, shown) = (shape.group(&name), shape.shorten());
        let sql = |from: &str| Statement {
            // The inner query groups, the outer query truncates long texts.
            sql: format!(
                "SELECT {shown}, count(*) OVER () FROM (SELECT {group}, count(*) AS n FROM {from} \
                 WHERE {name} IS NOT NULL{filter} GROUP BY 1) g ORDER BY n DESC, k LIMIT {}",
                // A limit of zero rows would lose the number of distinct values.
                request.limit.clamp(1, 1_000_000)
            ),
            values: values.clone(),
        };
        let cap = request.limit.max(1);
        let (rows, whole) = match self.ask(table, sql(&place.from), SAMPLE_TIMEOUT, cap).await {
            Ok(rows) => (rows, true),
            // The server, whose code it is, has stopped the statement.
            Err(ConnectError::Read { cause: Cause::TimedOut, code: Some(_), .. }) => {
                let first = format!("(SELECT {name} FROM {} LIMIT {SAMPLE_ROWS}) t", place.from);
                (self.ask(table, sql(&first), STATEMENT_TIMEOUT, cap).await?, false)
            }
            Err(error) => return Err(error),
        };
        Ok(samples(rows, request.limit, whole, shape.is_bytes()))
    }

    async fn statistics(&self, table: &str, wanted: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        let place = self.find(table).await?;
        let columns = self.columns(table, &place, wanted)?;
        let mut all = Vec::with_capacity(columns.len());
        for part in columns.chunks(COLUMNS_A_QUERY) {
            let measures: Vec<String> = part
                .iter()
                .map(|column| {
                    let (name, shape) = (C::dialect().quote(&column.name), C::Shape::of(column));
                    let (min, max) = (shape.end("min", &name), shape.end("max", &name));
                    format!("count(DISTINCT {}), {min}, {max}, count(*) - count({name})", shape.key(&name))
                })
                .collect();
            let sql = format!("SELECT {} FROM {}", measures.join(", "), place.from);
            let rows = self.ask(table, Statement { sql, values: Vec::new() }, STATEMENT_TIMEOUT, 1).await?;
            let measured = part.iter().map(|column| (column.name.as_str(), C::Shape::of(column).is_bytes()));
            all.extend(statistics(measured, rows));
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
        let place = self.find(table).await?;
        let wanted = self.columns(table, &place, wanted)?;
        let statement = select(C::dialect(), table, &place.from, &wanted, &place.columns, conditions, limit)?;
        self.ask(table, statement, STATEMENT_TIMEOUT, limit).await
    }

    async fn query(&self, query: &SqlQuery<'_>, cap: usize) -> Result<Rows, ConnectError> {
        self.answer_query(query, cap, None).await
    }

    async fn stream(&self, query: &SqlQuery<'_>, limit: usize, blocks: &BlockSender) -> Result<(), ConnectError> {
        self.answer_query(query, limit, Some(blocks)).await.map(drop)
    }

    async fn explain(&self, query: &SqlQuery<'_>) -> Result<(), ConnectError> {
        let sql = bare(query);
        let mut session = self.verified_session(PLAN, query).await?;
        let done = within(STATEMENT_TIMEOUT, session.connection().plan_query(sql)).await;
        let done = if C::IS_RESET { session.end(done).await } else { session.close(done).await };
        match done.map_err(|error| self.connections.statement_error(PLAN, error, Some(sql)))? {
            true => Ok(()),
            false => {
                let reason = "access is read-only, and this is not a query";
                Err(ConnectError::read(self.connections.place(), PLAN, Cause::Refused, reason))
            }
        }
    }

    async fn other_rights(&self) -> Result<Option<Vec<String>>, ConnectError> {
        let found = self.query(&SqlQuery { sql: C::OTHER_RIGHTS, ..SqlQuery::default() }, MAX_RIGHTS).await?;
        Ok(Some(first_column(&found)))
    }
}
