//! PostgreSQL servers, read-only.

mod describe;
mod dialect;
mod fields;
mod measured;
mod relay;
mod session;
mod table;
mod value;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prospector_core::Problem;
use sqlx::postgres::PgConnection;

use crate::budget::Budget;
use crate::cause::Cause;
use crate::filter::FilterCondition;
use crate::rows::{
    BlockSender, FieldNames, MAX_RIGHTS, Rows, SampleRequest, Samples, SqlQuery, Statistics, first_column,
};
use crate::server::{
    Connections, SAMPLE_ROWS, SAMPLE_TIMEOUT, STATEMENT_TIMEOUT, Server, Session, StatementFailure, samples, statistics,
};
use crate::source_kind::SourceKind;
use crate::statement::{BoundValue, Dialect as _, Statement, UnknownColumn, columns, escape_pattern, select};
use crate::table::Table;
use crate::{ConnectError, Connector, Source};
use dialect::{Dialect, Shape};
use relay::Route;
use session::{FetchedRows, fetch};
use table::Place;
pub(crate) use value::json;

/// PostgreSQL allows 1,664 result columns; a measured column needs five.
const COLUMNS_A_QUERY: usize = 100;

/// Privileges of a role other than reading, one per row.
const OTHER_RIGHTS: &str = "\
    SELECT 'everything, as it is a superuser' FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper \
    UNION ALL \
    SELECT kind || ' on ' || count(*) || ' tables' \
    FROM unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS kind, pg_catalog.pg_class AS c \
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
    WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND left(n.nspname, 3) <> 'pg_' \
      AND pg_catalog.has_table_privilege(c.oid, kind) \
    GROUP BY kind \
    UNION ALL \
    SELECT 'CREATE in the schema ' || nspname FROM pg_catalog.pg_namespace \
    WHERE nspname <> 'information_schema' AND left(nspname, 3) <> 'pg_' \
      AND pg_catalog.has_schema_privilege(oid, 'CREATE')";

/// Returns a connector for a PostgreSQL server.
///
/// # Errors
/// If the source is not a server, or the driver rejects its URL.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(Arc::new(Postgres::new(source.require_server()?)?))
}

/// A database on a PostgreSQL server.
pub(crate) struct Postgres {
    connections: Arc<Connections<PgConnection>>,
}

impl Postgres {
    fn new(server: &Server) -> Result<Self, ConnectError> {
        let route = Route::new(server.url())
            .map_err(|_| ConnectError::connect(server.to_string(), "the URL has unknown or invalid parameters"))?;
        Ok(Postgres { connections: Connections::new(server.clone(), route) })
    }

    fn schemas(&self) -> &[String] {
        self.connections.server().schemas()
    }

    /// Runs one statement in a session of its own.
    async fn ask(
        &self,
        table: &str,
        statement: Statement,
        time_limit: Duration,
        cap: usize,
    ) -> Result<Rows, StatementFailure> {
        self.ask_within(table, statement, None, (Budget::of_rows(), None), time_limit, cap).await
    }

    /// Like `ask`, within the budget, with field names to verify; rows are streamed in blocks if there is a receiver.
    async fn ask_within(
        &self,
        table: &str,
        statement: Statement,
        fields: Option<&FieldNames>,
        (budget, blocks): (Budget, Option<&BlockSender>),
        time_limit: Duration,
        cap: usize,
    ) -> Result<Rows, StatementFailure> {
        let session = self.connections.session(time_limit).await?;
        let mut session = self.verify_fields(session, table, fields, time_limit).await?;
        let act = fetch(session.connection(), &statement, budget, cap, blocks);
        let done = match Session::<PgConnection>::within(time_limit, act).await {
            // The rest would have to be read, so the session is dropped, which stops the server.
            Ok(FetchedRows { rows, excess: Some(excess) }) => {
                drop(session);
                return Err(self.connections.too_large_error(table, &excess, &rows.columns).into());
            }
            done => session.end(done).await,
        };
        done.map(|fetched| fetched.rows).map_err(|error| self.connections.failure(table, error, &statement.sql))
    }

    /// Rejects a query with field names that PostgreSQL may resolve to functions or types; otherwise returns the session.
    async fn verify_fields(
        &self,
        mut session: Session<PgConnection>,
        table: &str,
        fields: Option<&FieldNames>,
        time_limit: Duration,
    ) -> Result<Session<PgConnection>, ConnectError> {
        let Some(fields) = fields.filter(|fields| !fields.names.is_empty()) else { return Ok(session) };
        let asked = fields::find_callable(session.connection(), fields);
        let found = match Session::<PgConnection>::within(time_limit, asked).await {
            Ok(found) if found.is_empty() => return Ok(session),
            found => session.end(found).await.map_err(|error| self.connections.statement_error(table, error, None))?,
        };
        let names = found.iter().map(|name| format!("`{}`", name.escape_debug())).collect::<Vec<_>>().join(", ");
        let reason = format!(
            "{names} after a dot is not certain to be a column, and would call a function of the server; give the column \
             another name with AS, or write it without what is before the point"
        );
        let column = found.into_iter().next().map(String::into_boxed_str);
        let (place, table, cause) = (self.connections.place(), table.to_owned(), Cause::UnknownColumn);
        Err(ConnectError::Read { place, table, reason: reason.into(), cause, code: None, column, source: None })
    }

    async fn answer_query(
        &self,
        query: &SqlQuery<'_>,
        cap: usize,
        blocks: Option<&BlockSender>,
    ) -> Result<Rows, StatementFailure> {
        let sql = query.sql.trim().trim_end_matches(';').to_owned();
        let (table, means) = ("the answer to a query", (Budget::of_answer(), blocks));
        let statement = Statement { sql, values: Vec::new() };
        self.ask_within(table, statement, query.fields, means, STATEMENT_TIMEOUT, cap).await
    }

    fn unknown_column(&self, table: &str, unknown: &UnknownColumn) -> ConnectError {
        ConnectError::unknown_column(self.connections.place(), table, &unknown.0)
    }

    /// Resolves a table and its columns.
    async fn place(&self, table: &str) -> Result<Place, ConnectError> {
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let found = table::find(session.connection(), self.schemas(), table);
        let done = Session::<PgConnection>::within(STATEMENT_TIMEOUT, found).await;
        let found = session.end(done).await.map_err(|error| self.connections.statement_error(table, error, None))?;
        found.ok_or_else(|| ConnectError::unknown_table(self.connections.place(), table))
    }
}

/// Returns the warning that functions and types of a schema need qualified names.
fn warn_of_schema(place: &str, schema: &str, names: &str) -> Problem {
    let reason = format!(
        "functions, operators and types of the schema {schema} are not found by their names alone, as it has some with \
         names of the system's own: {names}"
    );
    Problem::warning(place, reason).advise("rename them, or move them to a schema that is not on the search path")
}

#[async_trait]
impl Connector for Postgres {
    fn kind(&self) -> SourceKind {
        SourceKind::Postgres
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        let place = self.connections.server().to_string();
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let described = async {
            let connection = session.connection();
            let (tables, mut problems) = describe::describe(connection, self.schemas(), &place).await?;
            let left_out = session::left_out(connection).await?;
            problems.extend(left_out.into_iter().map(|(schema, names)| warn_of_schema(&place, &schema, &names)));
            Ok((tables, problems))
        };
        let done = Session::<PgConnection>::within(STATEMENT_TIMEOUT, described).await;
        session.end(done).await.map_err(|error| self.connections.statement_error("the system catalog", error, None))
    }

    async fn fingerprint(&self) -> Result<Option<String>, ConnectError> {
        let mut session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let stamp = describe::fingerprint(session.connection(), self.schemas());
        let done = Session::<PgConnection>::within(STATEMENT_TIMEOUT, stamp).await;
        let done = session.end(done).await;
        done.map(Some).map_err(|error| self.connections.statement_error("the system catalog", error, None))
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        let place = self.place(table).await?;
        let column = self.connections.find_column(&place.columns, table, column)?;
        let name = Dialect.quote(&column.name);
        let mut values = Vec::new();
        let mut filter = String::new();
        let shape = Shape::of(column);
        match request.contains.as_deref().filter(|text| !text.is_empty()) {
            // Byte columns have no text.
            Some(_) if shape == Shape::Bytes => filter = " AND false".to_owned(),
            Some(text) => {
                values.push(BoundValue::Text(format!("%{}%", escape_pattern(text))));
                filter = format!(" AND {}", Dialect.like(&name, 1));
            }
            None => {}
        }
        let (key, shown) = (shape.key(&name), shape.shorten("k"));
        let sql = |from: &str| Statement {
            sql: format!(
                "SELECT {shown}, count(*) OVER () FROM (SELECT {key} AS k, count(*) AS n FROM {from} \
                 WHERE {name} IS NOT NULL{filter} GROUP BY 1) g ORDER BY n DESC, k LIMIT {}",
                // A limit of zero rows would lose the number of distinct values.
                request.limit.clamp(1, 1_000_000)
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
                    let name = Dialect.quote(&column.name);
                    let shape = Shape::of(column);
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
        Ok(self.answer_query(query, cap, None).await?)
    }

    async fn stream(&self, query: &SqlQuery<'_>, limit: usize, blocks: &BlockSender) -> Result<(), ConnectError> {
        Ok(self.answer_query(query, limit, Some(blocks)).await.map(drop)?)
    }

    async fn other_rights(&self) -> Result<Option<Vec<String>>, ConnectError> {
        let found = self.query(&SqlQuery { sql: OTHER_RIGHTS, ..SqlQuery::default() }, MAX_RIGHTS).await?;
        Ok(Some(first_column(&found)))
    }

    async fn explain(&self, query: &SqlQuery<'_>) -> Result<(), ConnectError> {
        let session = self.connections.session(STATEMENT_TIMEOUT).await?;
        let mut session = self.verify_fields(session, "the plan of a query", query.fields, STATEMENT_TIMEOUT).await?;
        let sql = query.sql.trim().trim_end_matches(';');
        let planned = session::plan(session.connection(), sql);
        let done = Session::<PgConnection>::within(STATEMENT_TIMEOUT, planned).await;
        session
            .end(done)
            .await
            .map_err(|error| self.connections.statement_error("the plan of a query", error, Some(sql)))
    }
}
