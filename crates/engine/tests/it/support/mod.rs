//! Sources to test against: the same three people and a secret in each.

#![allow(dead_code, reason = "each test binary uses its part")]

pub(crate) mod described;
pub(crate) mod recorder;

use std::path::Path;
use std::sync::Arc;

use prospector_connect::source::{Server, SourceKind};
use prospector_connect::{Connector, open, source::Source as Place};
use prospector_engine::{Engine, Source};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// The content of every database.
pub(crate) const DATA: &str = "CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(40)); \
     INSERT INTO people VALUES (1, 'Ada'), (2, 'Bob'), (3, 'Cyd'); \
     CREATE TABLE secret (id INTEGER PRIMARY KEY, password VARCHAR(40)); \
     INSERT INTO secret VALUES (1, 's3cret');";

/// Creates the source of that name; `secret` is hidden from queries.
pub(crate) async fn source(name: &str, connector: Arc<dyn Connector>) -> Source {
    let (mut tables, problems) = connector.describe().await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    tables.retain(|table| table.name != "secret");
    Source { name: name.into(), tables, functions: Vec::new(), connector }
}

pub(crate) async fn sqlite(folder: &Path, sql: &str) -> Arc<dyn Connector> {
    let path = folder.join("people.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    open(&Place::files(SourceKind::Sqlite, vec![path])).unwrap()
}

pub(crate) fn files(folder: &Path) -> Arc<dyn Connector> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let people = write("people.csv", "id,name\n1,Ada\n2,Bob\n3,Cyd\n");
    let secret = write("secret.csv", "id,password\n1,s3cret\n");
    open(&Place::files(SourceKind::Csv, vec![people, secret])).unwrap()
}

/// Recreates a database of that name on the server, and returns its URL.
pub(crate) async fn postgres(url: &url::Url, name: &str, sql: &str) -> (url::Url, Arc<dyn Connector>) {
    let mut connection = sqlx::PgConnection::connect(url.as_str()).await.unwrap();
    for statement in [format!("DROP DATABASE IF EXISTS {name}"), format!("CREATE DATABASE {name}")] {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
    }
    let mut own = url.clone();
    own.set_path(name);
    let mut connection = sqlx::PgConnection::connect(own.as_str()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    let connector = open(&Place::Server(Server::new(own.as_str(), &[]).unwrap())).unwrap();
    (own, connector)
}

/// Recreates a database of that name on MariaDB.
pub(crate) async fn mariadb(url: &url::Url, name: &str, sql: &str) -> (url::Url, Arc<dyn Connector>) {
    let plain = |url: &url::Url| url.as_str().replacen("mariadb://", "mysql://", 1);
    let mut connection = sqlx::MySqlConnection::connect(&plain(url)).await.unwrap();
    for statement in [format!("DROP DATABASE IF EXISTS {name}"), format!("CREATE DATABASE {name}")] {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
    }
    let mut own = url.clone();
    own.set_path(name);
    let mut connection = sqlx::MySqlConnection::connect(&plain(&own)).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    let connector = open(&Place::Server(Server::new(own.as_str(), &[]).unwrap())).unwrap();
    (own, connector)
}

/// Creates an engine over one source.
pub(crate) async fn engine(name: &str, connector: Arc<dyn Connector>) -> Arc<Engine> {
    Engine::new(vec![source(name, connector).await])
}
