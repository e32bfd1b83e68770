//! Test servers, and checks shared by all sources.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::rows::{Rows, SqlQuery};
use prospector_connect::{ConnectError, Connector, open, source::Source};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Returns a connector for the server at the URL.
pub(crate) fn connector(url: &url::Url, schemas: &[&str]) -> Arc<dyn Connector> {
    let schemas: Vec<String> = schemas.iter().map(ToString::to_string).collect();
    let server = prospector_connect::source::Server::new(url.as_str(), &schemas).unwrap();
    open(&Source::Server(server)).unwrap()
}

/// The tables that queries of tests may read.
const TABLES: [&str; 4] = ["t", "v", "people", "orders"];

/// Runs a query over the tables of the tests.
pub(crate) async fn query(source: &dyn Connector, sql: &str, cap: usize) -> Result<Rows, ConnectError> {
    source.query(&SqlQuery { sql, tables: &TABLES, fields: None, functions: &[] }, cap).await
}

/// The rows of `people` for [`check_filters`]; names are compared by their bytes.
pub(crate) const PEOPLE: &str = "INSERT INTO people VALUES (1, 'Ada', 36, 1.5, '1815-12-10', true), \
     (2, 'O''Brien; --', NULL, 2.25, '1990-01-01', false), (3, 'ada', 17, NULL, '2001-05-05', true), \
     (4, '50%_x', 36, -3, NULL, NULL)";

/// Checks that conditions on `people (id, name, age, score, born, vip)` have the same result in every source. In a source
/// without types, a text is not a number, but no error either.
pub(crate) async fn check_filters(source: &dyn Connector, is_typed: bool) {
    let found = async |column: &str, op: FilterOp, value: Value| -> Result<Value, ConnectError> {
        let conditions = [FilterCondition { column: column.into(), op, value }];
        let rows = source.rows("people", &["ID".into()], &conditions, 10).await?;
        assert_eq!(rows.columns, ["id"]);
        let mut ids: Vec<i64> = rows.rows.iter().map(|row| row[0].as_i64().unwrap()).collect();
        ids.sort_unstable();
        Ok(json!(ids))
    };
    let cases = [
        ("name", FilterOp::Eq, json!("Ada"), json!([1])),
        ("NAME", FilterOp::Eq, json!("O'Brien; --"), json!([2])),
        ("name", FilterOp::Eq, json!("x' OR '1'='1"), json!([])),
        ("name", FilterOp::Eq, json!("\\' OR 1=1 -- "), json!([])),
        ("name", FilterOp::Like, json!("a%"), json!([1, 3])),
        ("name", FilterOp::Like, json!("50\\%\\_X"), json!([4])),
        ("name", FilterOp::Like, json!("%'%"), json!([2])),
        ("name", FilterOp::NotLike, json!("a%"), json!([2, 4])),
        ("name", FilterOp::In, json!(["Ada", "ada"]), json!([1, 3])),
        ("age", FilterOp::Neq, json!(36), json!([3])),
        ("age", FilterOp::Eq, json!(null), json!([2])),
        ("age", FilterOp::Neq, json!(null), json!([1, 3, 4])),
        ("age", FilterOp::In, json!([36, null]), json!([1, 2, 4])),
        ("age", FilterOp::In, json!([]), json!([])),
        ("age", FilterOp::Between, json!([17, 35]), json!([3])),
        ("age", FilterOp::Gt, json!(17.5), json!([1, 4])),
        ("age", FilterOp::Gte, json!("36"), json!([1, 4])),
        ("score", FilterOp::Lt, json!(0), json!([4])),
        ("score", FilterOp::Lte, json!(1.5), json!([1, 4])),
        ("score", FilterOp::Eq, json!(2.25), json!([2])),
        ("born", FilterOp::Gte, json!("1990-01-01"), json!([2, 3])),
        ("vip", FilterOp::Eq, json!(true), json!([1, 3])),
    ];
    for (column, op, value, expected) in cases {
        let answer = found(column, op, value.clone()).await;
        assert_eq!(answer.unwrap(), expected, "{column} {op:?} {value}");
    }
    for column in ["id\" OR 1=1 --", "id` OR 1=1 --", "1=1; DROP TABLE people", "missing"] {
        let error = found(column, FilterOp::Eq, json!(1)).await.unwrap_err();
        assert!(matches!(&error, ConnectError::Condition { column: named, .. } if named == column), "{error}");
    }
    let smuggled = found("age", FilterOp::Eq, json!("36 OR 1=1")).await;
    match is_typed {
        true => assert!(matches!(smuggled, Err(ConnectError::Condition { .. })), "{smuggled:?}"),
        false => assert_eq!(smuggled.unwrap(), json!([])),
    }
    assert!(source.rows("people\"; DROP TABLE people; --", &[], &[], 1).await.is_err());
    assert!(source.rows("people", &["id, 1".into()], &[], 1).await.is_err());

    let all = source.rows("people", &[], &[], 3).await.unwrap();
    // Documents have an id of their own.
    let columns = all.columns.iter().filter(|column| *column != "_id").count();
    assert_eq!((columns, all.rows.len(), all.has_more), (6, 3, true));
    assert!(!source.rows("people", &[], &[], 4).await.unwrap().has_more);
    let both = [
        FilterCondition { column: "age".into(), op: FilterOp::Eq, value: json!(36) },
        FilterCondition { column: "vip".into(), op: FilterOp::Eq, value: json!(null) },
    ];
    assert_eq!(source.rows("people", &["name".into()], &both, 5).await.unwrap().rows, [[json!("50%_x")]]);
}

/// A breakable relay between a connector and its server.
pub(crate) struct Wire {
    target: std::net::SocketAddr,
    address: std::net::SocketAddr,
    task: Option<tokio::task::JoinHandle<()>>,
}

impl Wire {
    /// Starts a relay to the server of the URL; returns it with the URL to use.
    pub(crate) async fn to(url: &url::Url) -> (Wire, url::Url) {
        let target = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap()).parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut through = url.clone();
        through.set_port(Some(address.port())).unwrap();
        let mut wire = Wire { target, address, task: None };
        wire.carry(listener);
        (wire, through)
    }

    fn carry(&mut self, listener: TcpListener) {
        let target = self.target;
        self.task = Some(tokio::spawn(async move {
            let mut pairs = JoinSet::new();
            while let Ok((mut near, _)) = listener.accept().await {
                pairs.spawn(async move {
                    let mut far = TcpStream::connect(target).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                });
            }
        }));
    }

    /// Breaks the connection and rejects new ones.
    pub(crate) async fn cut(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            let _ = task.await;
        }
    }

    /// Accepts connections again.
    pub(crate) async fn restore(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.carry(listener);
    }
}

/// Starts a service that fails with this status and an endless body; returns its URL and the number of bytes sent.
pub(crate) async fn endless(status: u16) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = sent.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let counter = counter.clone();
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let head = format!("HTTP/1.1 {status} Wrong\r\nConnection: close\r\n\r\n{{\"error\":{{\"reason\":\"");
                let mut written = stream.write_all(head.as_bytes()).await;
                while written.is_ok() {
                    counter.fetch_add(1 << 16, Ordering::Relaxed);
                    written = stream.write_all(&[b'x'; 1 << 16]).await;
                }
            });
        }
    });
    (format!("http://{address}"), sent)
}
