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

use async_trait::async_trait;
use prospector_core::Problem;
use sqlx::postgres::PgConnection;

use crate::budget::Budget;
use crate::rows::{BlockSender, FieldNames};
use crate::source_kind::SourceKind;
use crate::sql_server::{FetchedRows, Place, SqlServer, SqlSession};
use crate::statement::{self, Statement};
use crate::table::Table;
use crate::{ConnectError, Connector, Source};
use dialect::{Dialect, Shape};
use relay::Route;
pub(crate) use value::json;

/// Returns a connector for a PostgreSQL server.
///
/// # Errors
/// If the source is not a server, or the driver rejects its URL.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    let server = source.require_server()?;
    let route = Route::new(server.url())
        .map_err(|_| ConnectError::connect(server.to_string(), "the URL has unknown or invalid parameters"))?;
    Ok(Arc::new(SqlServer::<PgConnection>::new(server, route, server.schemas().to_vec())))
}

#[async_trait]
impl SqlSession for PgConnection {
    const KIND: SourceKind = SourceKind::Postgres;

    const CATALOG: &'static str = "the system catalog";

    const OTHER_RIGHTS: &'static str = "\
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

    const IS_RESET: bool = true;

    /// The schemas to describe; empty means all but system schemas.
    type Scope = Vec<String>;

    type Shape = Shape;

    fn dialect() -> &'static dyn statement::Dialect {
        &Dialect
    }

    async fn describe_tables(
        &mut self,
        schemas: &Vec<String>,
        place: &str,
    ) -> Result<(Vec<Table>, Vec<Problem>), sqlx::Error> {
        let (tables, mut problems) = describe::describe(self, schemas, place).await?;
        for (schema, names) in session::left_out(self).await? {
            let reason = format!(
                "functions, operators and types of the schema {schema} are not found by their names alone, as it has \
                 some with names of the system's own: {names}"
            );
            let problem = Problem::warning(place, reason);
            problems.push(problem.advise("rename them, or move them to a schema that is not on the search path"));
        }
        Ok((tables, problems))
    }

    async fn fingerprint(&mut self, schemas: &Vec<String>) -> Result<String, sqlx::Error> {
        describe::fingerprint(self, schemas).await
    }

    async fn find_table(&mut self, schemas: &Vec<String>, name: &str) -> Result<Option<Place>, sqlx::Error> {
        table::find(self, schemas, name).await
    }

    async fn fetch_rows(
        &mut self,
        statement: &Statement,
        budget: Budget,
        cap: usize,
        blocks: Option<&BlockSender>,
    ) -> Result<FetchedRows, sqlx::Error> {
        session::fetch(self, statement, budget, cap, blocks).await
    }

    /// A query that cannot be opened as a cursor is an error.
    async fn plan_query(&mut self, sql: &str) -> Result<bool, sqlx::Error> {
        session::plan(self, sql).await.map(|()| true)
    }

    async fn find_callable(&mut self, fields: &FieldNames) -> Result<Vec<String>, sqlx::Error> {
        fields::find_callable(self, fields).await
    }
}
