//! Names after a dot in a query to PostgreSQL, which sessions verify before the query runs. Uses a server started by
//! `.ci/services`.

use crate::support::connector;
use prospector_connect::error::Cause;
use prospector_connect::rows::{FieldNames, SqlQuery};
use prospector_connect::table::TablePath;
use prospector_connect::{ConnectError, Connector};
use prospector_test_support::server;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection, Row};

const DATA: &str = r#"
    CREATE TABLE t (id int, name text, upper text, gone text); ALTER TABLE t DROP COLUMN gone;
    CREATE VIEW v AS SELECT id FROM t;
    CREATE SCHEMA hidden; CREATE TABLE hidden.t (nap int);
    CREATE FUNCTION hidden.nap(double precision) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep($1)';
    CREATE FUNCTION gone(t) RETURNS text LANGUAGE sql AS 'SELECT 1::text';
    CREATE FUNCTION ctid(v) RETURNS text LANGUAGE sql AS 'SELECT 1::text';
    CREATE FUNCTION "Odd ""Name"(int, int DEFAULT 1, int DEFAULT 2) RETURNS int LANGUAGE sql AS 'SELECT 1';
    CREATE FUNCTION several(VARIADIC int[]) RETURNS int LANGUAGE sql AS 'SELECT 1';
    CREATE FUNCTION pair(int, int) RETURNS int LANGUAGE sql AS 'SELECT 1';
    CREATE FUNCTION nothing() RETURNS int LANGUAGE sql AS 'SELECT 1';
    CREATE AGGREGATE gather(text) (SFUNC = textcat, STYPE = text, INITCOND = '');
    CREATE TYPE mood AS ENUM ('sad'); CREATE DOMAIN price AS numeric; CREATE TYPE address AS (street text);
"#;

async fn made(name: &str) -> Option<url::Url> {
    let mut url = server("PROSPECTOR_TEST_POSTGRES")?;
    let begin = [format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"), format!("CREATE DATABASE {name}")];
    let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
    for sql in begin {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    }
    url.set_path(name);
    let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
    sqlx::raw_sql(DATA).execute(&mut connection).await.unwrap();
    Some(url)
}

/// Runs a query with this name after a dot, over a table of that schema.
async fn ask(source: &dyn Connector, sql: &str, name: &str, table: (&str, &str)) -> Result<(), ConnectError> {
    let tables = Vec::from([TablePath { schema: table.0.into(), name: table.1.into() }]);
    let fields = FieldNames { names: Vec::from([name.to_owned()]), tables };
    let query = SqlQuery { sql, tables: &[], fields: Some(&fields), functions: &[] };
    let explained = source.explain(&query).await;
    let done = source.query(&query, 5).await.map(drop);
    assert_eq!(explained.is_ok(), done.is_ok(), "{name}: {explained:?}, {done:?}");
    done
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn rejects_names_of_functions_or_types_without_a_column() {
    let Some(url) = made("session_fields").await else { return };
    let source = connector(&url, &[]);
    for name in [
        "nap",
        "pg_sleep",
        "pg_read_file",
        "pg_advisory_lock",
        "lower",
        "count",
        "gather",
        "rank",
        "regclass",
        "regtype",
        "int4",
        "text",
        "_text",
        "mood",
        "price",
        "Odd \"Name",
        "several",
        "gone",
        "to_json",
        "concat",
        "num_nulls",
    ] {
        let error = ask(source.as_ref(), "SELECT 1", name, ("public", "t")).await.unwrap_err();
        assert_eq!((error.cause(), error.column()), (Cause::UnknownColumn, Some(name)), "{error}");
        assert!(error.to_string().contains("with AS"), "{error}");
    }
    for (name, table) in [
        // Columns of the table, even if functions have the same name.
        ("upper", ("public", "t")),
        ("name", ("public", "t")),
        ("nap", ("hidden", "t")),
        ("ctid", ("public", "t")),
        // No function of that name takes one argument.
        ("customer", ("public", "t")),
        ("pair", ("public", "t")),
        ("nothing", ("public", "t")),
        ("address", ("public", "t")),
        ("x'; DROP TABLE t; --", ("public", "t")),
    ] {
        ask(source.as_ref(), "SELECT 1", name, table).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    // A view has no system columns.
    assert!(ask(source.as_ref(), "SELECT 1", "ctid", ("public", "v")).await.is_err());
    // A column of another table is irrelevant.
    assert!(ask(source.as_ref(), "SELECT 1", "nap", ("public", "hidden.t")).await.is_err());
    assert!(ask(source.as_ref(), "SELECT 1", "upper", ("hidden", "t")).await.is_err());
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn a_rejected_query_does_not_run_and_the_session_continues() {
    let Some(url) = made("session_fields_left").await else { return };
    let source = connector(&url, &[]);
    let number = "SELECT pg_backend_pid()";
    let before = source.query(&SqlQuery { sql: number, ..SqlQuery::default() }, 1).await.unwrap();
    // Constants are evaluated during planning, and arguments of unknown type during parsing.
    for sql in ["SELECT 1 / 0", "SELECT 'nosuch'::regclass", "SELECT pg_advisory_lock(7)", "no query at all"] {
        let error = ask(source.as_ref(), sql, "pg_advisory_lock", ("public", "t")).await.unwrap_err();
        assert_eq!(error.cause(), Cause::UnknownColumn, "{sql}: {error}");
    }
    let mut watch = PgConnection::connect(url.as_str()).await.unwrap();
    let locks = sqlx::query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7");
    assert_eq!(locks.fetch_one(&mut watch).await.unwrap().get::<i64, _>(0), 0);
    let after = source.query(&SqlQuery { sql: number, ..SqlQuery::default() }, 1).await.unwrap();
    assert_eq!(after.rows, before.rows);
}
