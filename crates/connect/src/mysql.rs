//! MySQL and MariaDB servers, read-only.

mod describe;
mod dialect;
mod session;
mod table;
mod value;

use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use prospector_core::Problem;
use sqlx::ConnectOptions;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};

use crate::budget::Budget;
use crate::rows::BlockSender;
use crate::source_kind::SourceKind;
use crate::sql_server::{FetchedRows, Place, SqlServer, SqlSession};
use crate::statement::{self, Statement};
use crate::table::Table;
use crate::{ConnectError, Connector, Source};
use dialect::{Dialect, Shape};
use table::Scope;

/// Returns a connector for a MySQL or MariaDB server.
///
/// # Errors
/// If the source is not a server, or the driver rejects its URL.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    let server = source.require_server()?;
    let options = MySqlConnectOptions::from_str(server.url().as_str());
    let options =
        options.map_err(|_| ConnectError::connect(server.to_string(), "the URL has unknown or invalid parameters"))?;
    // The server's time zone is kept, so that a query has the same meaning as for other clients. The session sets the
    // mode.
    let options = options
        .pipes_as_concat(false)
        .no_engine_substitution(false)
        .timezone(None)
        .statement_cache_capacity(0)
        .disable_statement_logging();
    let scope = Scope::new(server.database(), server.schemas());
    Ok(Arc::new(SqlServer::<MySqlConnection>::new(server, options, scope)))
}

#[async_trait]
impl SqlSession for MySqlConnection {
    const KIND: SourceKind = SourceKind::Mysql;

    const CATALOG: &'static str = "information_schema";

    /// Those of roles are not included.
    const OTHER_RIGHTS: &'static str = "\
        SELECT DISTINCT privilege_type FROM ( \
          SELECT grantee, privilege_type FROM information_schema.user_privileges \
          UNION ALL SELECT grantee, privilege_type FROM information_schema.schema_privileges \
          UNION ALL SELECT grantee, privilege_type FROM information_schema.table_privileges) AS rights \
        WHERE REPLACE(grantee, CHAR(39), '') = CURRENT_USER() \
          AND privilege_type IN ('ALTER', 'CREATE', 'DELETE', 'DROP', 'EXECUTE', 'FILE', 'INSERT', 'SUPER', 'UPDATE') \
        ORDER BY privilege_type";

    /// User variables and locks last as long as the connection.
    const IS_RESET: bool = false;

    type Scope = Scope;

    type Shape = Shape;

    fn dialect() -> &'static dyn statement::Dialect {
        &Dialect
    }

    async fn describe_tables(&mut self, scope: &Scope, place: &str) -> Result<(Vec<Table>, Vec<Problem>), sqlx::Error> {
        describe::describe(self, scope, place).await
    }

    async fn fingerprint(&mut self, scope: &Scope) -> Result<String, sqlx::Error> {
        describe::fingerprint(self, scope).await
    }

    async fn find_table(&mut self, scope: &Scope, name: &str) -> Result<Option<Place>, sqlx::Error> {
        table::find(self, scope, name).await
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

    async fn plan_query(&mut self, sql: &str) -> Result<bool, sqlx::Error> {
        session::plan(self, sql).await
    }

    async fn find_stored(&mut self, functions: &[String]) -> Result<Vec<String>, sqlx::Error> {
        table::find_stored(self, functions).await
    }
}
