//! Tests of the Cassandra connector against a fake server that speaks its protocol.

mod cql;

use std::sync::Arc;

use crate::support::{check_filters, connector, query};
use cql::{Bytes, Cluster, Kind, Table, text, texts};
use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::rows::{MAX_CELL_BYTES, SampleRequest};
use prospector_connect::{ConnectError, Connector};
use serde_json::json;

const HOST: [u8; 16] = [7; 16];

fn int(number: i32) -> Bytes {
    Some(number.to_be_bytes().to_vec())
}

/// Days since 1970 in the encoding of Cassandra.
fn date(days: i64) -> Bytes {
    Some(u32::try_from(days + (1 << 31)).unwrap().to_be_bytes().to_vec())
}

fn people() -> Table {
    let double = |number: f64| Some(number.to_be_bytes().to_vec());
    let flag = |yes: bool| Some(vec![u8::from(yes)]);
    Table {
        name: "shop.people",
        columns: vec![
            ("age", Kind::Int),
            ("born", Kind::Date),
            ("id", Kind::Int),
            ("name", Kind::Text),
            ("score", Kind::Double),
            ("vip", Kind::Boolean),
        ],
        rows: vec![
            vec![int(36), date(-56_270), int(1), text("Ada"), double(1.5), flag(true)],
            vec![None, date(7_305), int(2), text("O'Brien; --"), double(2.25), flag(false)],
            vec![int(17), date(11_447), int(3), text("ada"), None, flag(true)],
            vec![int(36), None, int(4), text("50%_x"), double(-3.0), None],
        ],
    }
}

fn words(names: &[&'static str]) -> Vec<(&'static str, Kind)> {
    names.iter().map(|name| (*name, Kind::Text)).collect()
}

/// The system table of columns.
fn schema_columns() -> Table {
    let column = |table: &str, name: &str, kind: &str, role: &str, position: i32| {
        vec![text("shop"), text(table), text(name), text(kind), text(role), int(position), text("none")]
    };
    let mut columns =
        words(&["keyspace_name", "table_name", "column_name", "type", "kind", "position", "clustering_order"]);
    columns[5].1 = Kind::Int;
    let rows = vec![
        column("people", "age", "int", "regular", -1),
        column("people", "born", "date", "regular", -1),
        column("people", "id", "int", "partition_key", 0),
        column("people", "name", "text", "regular", -1),
        column("people", "score", "double", "regular", -1),
        column("people", "vip", "boolean", "regular", -1),
        column("visits", "at", "timestamp", "clustering", 0),
        column("visits", "id", "int", "partition_key", 0),
        column("denied", "id", "int", "partition_key", 0),
    ];
    Table { name: "system_schema.columns", columns, rows }
}

fn cluster() -> Cluster {
    let mut indexes = words(&["keyspace_name", "table_name", "index_name", "kind", "options"]);
    indexes[4].1 = Kind::Map;
    let mut sizes = words(&["keyspace_name", "table_name", "range_start", "range_end", "partitions_count"]);
    sizes[4].1 = Kind::Bigint;
    let half = |table: &str| {
        vec![text("shop"), text(table), text("0"), text(&i64::MIN.to_string()), Some(2i64.to_be_bytes().to_vec())]
    };
    let mut local =
        words(&["host_id", "rpc_address", "data_center", "rack", "tokens", "cluster_name", "schema_version", "key"]);
    (local[0].1, local[1].1, local[4].1, local[6].1) = (Kind::Uuid, Kind::Inet, Kind::Set, Kind::Uuid);
    let node = vec![
        Some(HOST.to_vec()),
        Some(vec![127, 0, 0, 1]),
        text("dc1"),
        text("r1"),
        texts(&["0"], 1),
        text("test"),
        Some(HOST.to_vec()),
        text("local"),
    ];
    let peers = Table { name: "system.peers", columns: local[..5].to_vec(), rows: Vec::new() };
    Cluster {
        tables: vec![
            peers,
            Table { name: "system.local", columns: local, rows: vec![node] },
            Table {
                name: "system_schema.tables",
                columns: words(&["keyspace_name", "table_name", "comment"]),
                rows: vec![
                    vec![text("shop"), text("people"), text("Who is known")],
                    vec![text("shop"), text("visits"), text("")],
                    vec![text("shop"), text("denied"), text("")],
                    vec![text("system_auth"), text("roles"), text("")],
                ],
            },
            Table {
                name: "system_schema.views",
                columns: words(&["keyspace_name", "view_name", "comment", "base_table_name"]),
                rows: Vec::new(),
            },
            schema_columns(),
            Table {
                name: "system_schema.indexes",
                columns: indexes,
                rows: vec![vec![
                    text("shop"),
                    text("people"),
                    text("by_name"),
                    text("COMPOSITES"),
                    texts(&["target", "name"], 2),
                ]],
            },
            Table { name: "system.size_estimates", columns: sizes, rows: vec![half("people"), half("visits")] },
            people(),
        ],
        password: Some("\0ada\0s3cr t"),
        asked: Default::default(),
    }
}

#[tokio::test]
async fn values_have_a_limit_in_bytes() {
    let mut cluster = cluster();
    let people = cluster.tables.iter_mut().find(|table| table.name == "shop.people").unwrap();
    people.rows[1][3] = text(&"x".repeat(MAX_CELL_BYTES + 1));
    let (_cluster, address) = cluster.start().await;
    let source = connector(&format!("cassandra://ada:s3cr%20t@{address}/shop").parse().unwrap(), &[]);
    let error = source.rows("people", &["id".into(), "name".into()], &[], 5).await.unwrap_err();
    assert!(matches!(&error, ConnectError::TooLarge { column: Some(column), .. } if column == "name"), "{error}");
    assert_eq!(source.rows("people", &["id".into()], &[], 5).await.unwrap().rows.len(), 4);
}

async fn started() -> (Arc<Cluster>, Arc<dyn Connector>) {
    let (cluster, address) = cluster().start().await;
    let url = format!("cassandra://ada:s3cr%20t@{address}/shop").parse().unwrap();
    (cluster, connector(&url, &[]))
}

#[tokio::test]
async fn tables_are_described_with_keys_indexes_and_estimates() {
    let (_cluster, source) = started().await;
    let (tables, problems) = source.describe().await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let find = |name: &str| tables.iter().find(|table| table.name == name).unwrap();
    assert_eq!(tables.len(), 3);
    let people = find("people");
    assert_eq!(people.description, "Who is known; partition key (id): the cluster only filters by the whole key");
    assert_eq!((people.row_count, people.row_count_estimated), (Some(4), true));
    assert_eq!(
        serde_json::to_value(&people.columns[..3]).unwrap(),
        json!([
            {"name": "id", "type": "int", "column_type": "integer", "nullable": false, "primary_key": true,
             "description": "partition key"},
            {"name": "age", "type": "int", "column_type": "integer", "nullable": true, "primary_key": false},
            {"name": "born", "type": "date", "column_type": "date", "nullable": true, "primary_key": false},
        ])
    );
    assert_eq!(people.columns[3].description, "indexed");
    let visits = find("visits");
    assert!(visits.row_count.is_none() && visits.description.ends_with("about 4 partitions"), "{visits:?}");
    assert_eq!(source.fingerprint().await.unwrap().unwrap(), "07070707-0707-0707-0707-070707070707");
}

#[tokio::test]
async fn conditions_match_other_sources() {
    let (cluster, source) = started().await;
    check_filters(source.as_ref(), true).await;

    cluster.asked.lock().unwrap().clear();
    let condition = |column: &str, value| FilterCondition { column: column.into(), op: FilterOp::Eq, value };
    let both = [condition("ID", json!("4")), condition("age", json!(36))];
    let rows = source.rows("people", &["name".into()], &both, 5).await.unwrap();
    assert_eq!(rows.rows, [[json!("50%_x")]]);
    let asked = cluster.asked.lock().unwrap().clone();
    let (cql, values) = asked.last().unwrap();
    assert_eq!(cql, "SELECT \"name\", \"age\" FROM \"shop\".\"people\" WHERE \"id\" = ? LIMIT 100001");
    assert_eq!(*values, [int(4)]);
    assert!(asked.iter().all(|(cql, _)| cql.starts_with("SELECT ") && !cql.contains("FILTERING")), "{asked:?}");
}

#[tokio::test]
async fn measures_columns_from_the_first_rows() {
    let (_cluster, source) = started().await;
    let found = source.statistics("people", &["age".into(), "BORN".into()]).await.unwrap();
    assert_eq!(
        serde_json::to_value(found).unwrap(),
        json!([
            {"column": "age", "cardinality": 2, "min": 17, "max": 36, "nulls": 1},
            {"column": "born", "cardinality": 3, "min": "1815-12-10", "max": "2001-05-05", "nulls": 1},
        ])
    );
    let request = SampleRequest { contains: Some("AD".into()), limit: 5 };
    let samples = source.sample("people", "name", &request).await.unwrap();
    assert_eq!((samples.values, samples.complete), (vec![json!("Ada"), json!("ada")], true));
    assert!(matches!(query(source.as_ref(), "SELECT 1", 1).await, Err(ConnectError::Unsupported { .. })));
}

#[tokio::test]
async fn failures_have_a_cause_and_no_secrets() {
    let (_cluster, address) = cluster().start().await;
    let check = async |url: String, table: &str, part: &str| {
        let source = connector(&url.parse().unwrap(), &[]);
        let error = source.rows(table, &[], &[], 1).await.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(shown.contains(part) && !shown.contains("s3cr"), "{shown}");
        error
    };
    let right = format!("cassandra://ada:s3cr%20t@{address}/shop");
    check(right.clone(), "denied", "permission denied").await;
    check(right.clone(), "missing", "there is no such table").await;
    check(right.clone(), "system_auth.roles", "there is no such table").await;
    let error = check(format!("cassandra://ada:s3cret@{address}/shop"), "people", "incorrect").await;
    assert!(matches!(error, ConnectError::Connect { .. }), "{error}");
    let error = check("cassandra://ada:s3cret@127.0.0.1:1/shop".to_owned(), "people", "cannot connect").await;
    assert!(matches!(error, ConnectError::Connect { .. }), "{error}");
    let gone = connector(&right.replace("/shop", "/gone").parse().unwrap(), &[]);
    let (tables, problems) = gone.describe().await.unwrap();
    assert!(tables.is_empty() && problems[0].reason.contains("the keyspace does not exist"), "{problems:?}");
}
