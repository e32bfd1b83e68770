//! Cancelled queries stop on the server, a server that drops its connections is reconnected, and its password is never shown.

use std::sync::Arc;
use std::time::{Duration, Instant};

use prospector_connect::source::Server;
use prospector_connect::{Connector, open, source::Source as Place};
use prospector_engine::{Engine, FailureCode, Source};
use prospector_test_support::server;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, Row};

use crate::support::{DATA, engine, mariadb, postgres, source};

/// A join of three people with themselves that takes longer than any test.
fn endless(mark: &str) -> String {
    let tables: Vec<String> = (0..24).map(|at| format!("people p{at}")).collect();
    format!("SELECT count(*) AS {mark} FROM {}", tables.join(", "))
}

/// Lists and kills the statements of a server.
enum Console {
    Postgres(sqlx::PgConnection),
    Mariadb(sqlx::MySqlConnection),
}

impl Console {
    async fn of(url: &url::Url) -> Self {
        match url.scheme() {
            "mariadb" => {
                let url = url.as_str().replacen("mariadb://", "mysql://", 1);
                Console::Mariadb(sqlx::MySqlConnection::connect(&url).await.unwrap())
            }
            _ => Console::Postgres(sqlx::PgConnection::connect(url.as_str()).await.unwrap()),
        }
    }

    /// Returns the ids of the connections that run a statement with that mark.
    async fn running(&mut self, mark: &str) -> Vec<i64> {
        match self {
            Console::Postgres(connection) => {
                // The statement itself is visible while it is planned; then rows are fetched from its cursor.
                let sql = format!(
                    "SELECT pid::bigint FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() \
                     AND datname = current_database() AND (query LIKE '%{mark}%' OR query LIKE 'FETCH FORWARD %')"
                );
                let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(connection).await.unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
            Console::Mariadb(connection) => {
                let sql = format!(
                    "SELECT CAST(ID AS SIGNED) FROM information_schema.PROCESSLIST \
                     WHERE INFO LIKE '%{mark}%' AND ID <> CONNECTION_ID()"
                );
                let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(connection).await.unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
        }
    }

    async fn end(&mut self, number: i64) {
        match self {
            Console::Postgres(connection) => {
                let sql = format!("SELECT pg_terminate_backend({number})");
                sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.unwrap();
            }
            Console::Mariadb(connection) => {
                sqlx::raw_sql(AssertSqlSafe(format!("KILL CONNECTION {number}"))).execute(connection).await.unwrap();
            }
        }
    }

    /// Waits until such a statement runs, or until none does.
    async fn wait(&mut self, mark: &str, runs: bool) -> Vec<i64> {
        let start = Instant::now();
        loop {
            let found = self.running(mark).await;
            if found.is_empty() != runs {
                return found;
            }
            assert!(start.elapsed() < Duration::from_secs(30), "{mark}: {found:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn check(url: &url::Url, connector: Arc<dyn Connector>) {
    let engine = engine("shop", connector).await;
    let mut console = Console::of(url).await;
    let run = |mark: &'static str| {
        let engine = engine.clone();
        tokio::spawn(async move { engine.run(&endless(mark), Some("shop"), 50).await })
    };
    let alive = async || {
        let outcome = engine.run("SELECT count(*) FROM people", Some("shop"), 50).await.unwrap();
        assert_eq!(outcome.rows.rows, [[json!(3)]]);
    };

    let given_up = run("given_up");
    console.wait("given_up", true).await;
    given_up.abort();
    console.wait("given_up", false).await;
    alive().await;

    let cut_off = run("cut_off");
    for number in console.wait("cut_off", true).await {
        console.end(number).await;
    }
    let failure = cut_off.await.unwrap().unwrap_err();
    assert_eq!(failure.code, FailureCode::Unavailable, "{failure}");
    assert!(failure.suggestion.unwrap().contains("again"));
    alive().await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn postgres_cancels_and_reconnects() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let (own, connector) = postgres(&url, "engine_servers", DATA).await;
    check(&own, connector).await;
}

/// A server calls a stored function of the session's database where it lacks the built-in function of that name.
#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn mariadb_calls_no_stored_function() {
    let Some(url) = server("PROSPECTOR_TEST_MARIADB") else { return };
    // MariaDB compares names of functions without regard to case and accents.
    let stored = "CREATE FUNCTION any_value(a text) RETURNS text DETERMINISTIC RETURN 'stored'; \
         CREATE FUNCTION Regexp_Like(a text, b text) RETURNS text DETERMINISTIC RETURN 'stored'; \
         CREATE FUNCTION `ís_uuid`(a text) RETURNS text DETERMINISTIC RETURN 'stored';";
    let (_, connector) = mariadb(&url, "prospector_stored", &format!("{DATA} {stored}")).await;
    let engine = engine("shop", connector.clone()).await;
    for call in ["any_value('a')", "ANY_VALUE('a')", "upper(any_value('a'))", "regexp_like('a', 'a')", "is_uuid('a')"] {
        for sql in [format!("SELECT {call} FROM people"), format!("SELECT count(*) FROM people WHERE {call} = 'a'")] {
            let failure = engine.run(&sql, Some("shop"), 5).await.unwrap_err();
            assert_eq!(failure.code, FailureCode::UnknownFunction, "{sql}: {failure}");
            assert!(failure.message.contains("stored function"), "{sql}: {failure}");
        }
    }
    let outcome = engine.run("SELECT upper('a'), count(*) FROM people", Some("shop"), 5).await.unwrap();
    assert_eq!(outcome.rows.rows, [[json!("A"), json!(3)]]);
    // The catalog may allow it.
    let allowed = vec!["any_value".to_owned()];
    let engine = Engine::new(vec![Source { functions: allowed, ..source("shop", connector).await }]);
    let outcome = engine.run("SELECT any_value('a') FROM people LIMIT 1", Some("shop"), 5).await.unwrap();
    assert_eq!(outcome.rows.rows, [[json!("stored")]]);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn mariadb_cancels_and_reconnects() {
    let Some(url) = server("PROSPECTOR_TEST_MARIADB") else { return };
    let (own, connector) = mariadb(&url, "prospector_servers", DATA).await;
    check(&own, connector).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn a_password_never_shows() {
    for variable in ["PROSPECTOR_TEST_POSTGRES", "PROSPECTOR_TEST_MARIADB"] {
        let Some(url) = server(variable) else { continue };
        let (own, connector) = match url.scheme() {
            "mariadb" => mariadb(&url, "prospector_password", DATA).await,
            _ => postgres(&url, "engine_password", DATA).await,
        };
        let tables = engine("shop", connector).await;
        let mut said = Vec::new();
        for sql in ["SELECT nosuch FROM people", "SELECT 1 FROM people WHERE name = nosuch(1)", "SELECT 1 FRM people"] {
            said.push(tables.run(sql, Some("shop"), 5).await.unwrap_err());
        }
        // A wrong password, a missing server and a missing database.
        let changed = |change: &dyn Fn(&mut url::Url)| {
            let mut url = own.clone();
            change(&mut url);
            url
        };
        for url in [
            changed(&|url| url.set_password(Some("wr0ng-secret")).unwrap()),
            changed(&|url| url.set_port(Some(1)).unwrap()),
            changed(&|url| url.set_path("nosuch")),
        ] {
            let connector = open(&Place::Server(Server::new(url.as_str(), &[]).unwrap())).unwrap();
            let tables = vec![prospector_connect::table::Table { name: "people".into(), ..Default::default() }];
            let source = Source { name: "shop".into(), tables, functions: Vec::new(), connector };
            said.push(Engine::new(vec![source]).run("SELECT 1 FROM people", None, 5).await.unwrap_err());
        }
        let password = own.password().unwrap();
        for failure in said {
            let shown = format!("{failure} {failure:?}");
            assert!(!shown.contains(password) && !shown.contains("wr0ng-secret"), "{shown}");
        }
    }
}
