//! Rows of warehouses and document stores, joined to a table elsewhere: each type as its connector returns it.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use prospector_connect::filter::FilterCondition;
use prospector_connect::rows::{Rows, SampleRequest, Samples, SqlQuery, Statistics};
use prospector_connect::source::SourceKind;
use prospector_connect::table::{Column, ColumnType, Table};
use prospector_connect::{ConnectError, Connector};
use prospector_core::Problem;
use prospector_engine::{Engine, FailureCode, Source};
use serde_json::{Value, json};

use crate::support::{DATA, source, sqlite};

/// A table of a source of that kind. It sends all of its rows regardless of the conditions, as a source may, and records the
/// requests.
struct Sending {
    kind: SourceKind,
    table: Table,
    rows: Vec<Vec<Value>>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Connector for Sending {
    fn kind(&self) -> SourceKind {
        self.kind
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        Ok((vec![self.table.clone()], Vec::new()))
    }

    async fn sample(&self, _: &str, _: &str, _: &SampleRequest) -> Result<Samples, ConnectError> {
        Ok(Samples::default())
    }

    async fn statistics(&self, _: &str, _: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        Ok(Vec::new())
    }

    async fn rows(
        &self,
        _: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        _: usize,
    ) -> Result<Rows, ConnectError> {
        let mut asked = self.asked.lock().unwrap();
        asked.extend(conditions.iter().map(|condition| serde_json::to_string(condition).unwrap()));
        let at = |name: &String| self.table.columns.iter().position(|column| column.name == *name).unwrap();
        let rows = self.rows.iter().map(|row| columns.iter().map(|name| row[at(name)].clone()).collect()).collect();
        Ok(Rows { columns: columns.to_vec(), rows, has_more: false })
    }

    async fn query(&self, query: &SqlQuery<'_>, _: usize) -> Result<Rows, ConnectError> {
        self.asked.lock().unwrap().push(query.sql.to_owned());
        Ok(Rows { columns: vec!["n".into()], rows: vec![vec![json!(2)]], has_more: false })
    }
}

/// Creates a source of that kind with columns of those types and two rows, and an engine that joins it to people.
async fn engine(kind: SourceKind, columns: &[(&str, ColumnType, Value, Value)]) -> (Arc<Sending>, Arc<Engine>) {
    let named = |(name, column_type, _, _): &(&str, ColumnType, Value, Value)| Column {
        name: (*name).into(),
        column_type: *column_type,
        nullable: true,
        ..Column::default()
    };
    let rows = vec![columns.iter().map(|c| c.2.clone()).collect(), columns.iter().map(|c| c.3.clone()).collect()];
    let table = Table {
        name: "main.facts".into(),
        columns: columns.iter().map(named).collect(),
        row_count: Some(2),
        ..Table::default()
    };
    let sending = Arc::new(Sending { kind, table: table.clone(), rows, asked: Mutex::default() });
    let folder = tempfile::tempdir().unwrap();
    let people = source("crm", sqlite(folder.path(), DATA).await).await;
    // The file stays until the test ends.
    std::mem::forget(folder);
    let store = Source { name: "store".into(), tables: vec![table], functions: Vec::new(), connector: sending.clone() };
    (sending, Engine::new(vec![people, store]))
}

/// Checks that `where_` keeps one row of the two, its shown value, and the conditions that the source gets.
async fn check(
    kind: SourceKind,
    columns: &[(&str, ColumnType, Value, Value)],
    where_: &str,
    shown: Value,
    asked: &[&str],
) {
    let (sending, engine) = engine(kind, columns).await;
    let list: Vec<String> = columns.iter().map(|(name, ..)| format!("f.\"{name}\"")).collect();
    let sql = format!(
        "SELECT p.name, {} FROM store.main.facts f JOIN crm.people p ON p.id = f.id WHERE {where_}",
        list.join(", ")
    );
    let outcome = engine.run(&sql, None, 50).await.unwrap();
    assert_eq!(json!(outcome.rows.rows), json!([shown]), "{sql}");
    let mut conditions = sending.asked.lock().unwrap().clone();
    conditions.sort();
    assert_eq!(conditions, asked, "{sql}");
}

#[tokio::test]
async fn compares_bigquery_values_by_type() {
    let columns = [
        ("id", ColumnType::Integer, json!(1), json!(2)),
        ("price", ColumnType::Decimal { precision: 38, scale: 9 }, json!(9.5), json!("12345678901234567890.125")),
        ("rate", ColumnType::Float, json!(0.25), json!(1e300)),
        ("at", ColumnType::Timestamp, json!("2024-01-31T10:00:00.500Z"), json!(null)),
        ("day", ColumnType::Date, json!("2024-01-31"), json!("1969-12-31")),
        ("paid", ColumnType::Boolean, json!(true), json!(null)),
        ("to.city", ColumnType::Text, json!("Oslo"), json!("Bergen")),
        ("tags", ColumnType::Nested, json!("[\"a\"]"), json!(null)),
    ];
    let first = json!(["Ada", 1, 9.5, 0.25, "2024-01-31T10:00:00.500", "2024-01-31", true, "Oslo", "[\"a\"]"]);
    let second = json!(["Bob", 2, "12345678901234567890.125000000", 1e300, null, "1969-12-31", null, "Bergen", null]);
    check(
        SourceKind::Bigquery,
        &columns,
        "f.price < 10",
        first.clone(),
        &[r#"{"column":"price","op":"lt","value":"10.000000000"}"#],
    )
    .await;
    check(
        SourceKind::Bigquery,
        &columns,
        "f.day < DATE '2000-01-01'",
        second.clone(),
        &[r#"{"column":"day","op":"lt","value":"2000-01-01"}"#],
    )
    .await;
    check(SourceKind::Bigquery, &columns, "f.at >= TIMESTAMP '2024-01-01 00:00:00'", first.clone(), &[]).await;
    check(
        SourceKind::Bigquery,
        &columns,
        "f.\"to.city\" = 'Bergen'",
        second,
        &[r#"{"column":"to.city","op":"eq","value":"Bergen"}"#],
    )
    .await;
    check(SourceKind::Bigquery, &columns, "f.paid", first, &[]).await;
}

#[tokio::test]
async fn queries_one_bigquery_in_its_own_sql() {
    let (sending, engine) = engine(SourceKind::Bigquery, &[("id", ColumnType::Integer, json!(1), json!(2))]).await;
    let sql = "SELECT COUNT(*) AS n FROM `main.facts` WHERE id > 0 -- all";
    let outcome = engine.run(sql, Some("store"), 5).await.unwrap();
    assert_eq!(json!(outcome.rows.rows), json!([[2]]));
    let asked = sending.asked.lock().unwrap().clone();
    assert_eq!(asked, ["SELECT count(*) AS `n` FROM `main`.`facts` WHERE `id` > 0"]);
    for refused in ["EXPORT DATA OPTIONS(uri='gs://x') AS SELECT 1", "SELECT * FROM EXTERNAL_QUERY('c', 'SELECT 1')"] {
        let failure = engine.run(refused, Some("store"), 5).await.unwrap_err();
        assert!(
            [FailureCode::Refused, FailureCode::Syntax, FailureCode::UnknownFunction].contains(&failure.code),
            "{failure}"
        );
    }
}

#[tokio::test]
async fn compares_document_store_values_by_type() {
    let cassandra = [
        ("id", ColumnType::Integer, json!(1), json!(2)),
        ("big", ColumnType::Decimal { precision: 38, scale: 0 }, json!("123456789012345678901234567890"), json!(7)),
        ("cost", ColumnType::Float, json!(2.5), json!(40)),
        ("at", ColumnType::Timestamp, json!("2024-01-31T10:00:00.000Z"), json!("2023-01-01T00:00:00.000Z")),
        ("day", ColumnType::Date, json!("2024-01-31"), json!(null)),
        ("tags", ColumnType::Other, json!("[\"x\"]"), json!(null)),
    ];
    let first =
        json!(["Ada", 1, "123456789012345678901234567890", 2.5, "2024-01-31T10:00:00", "2024-01-31", "[\"x\"]"]);
    check(SourceKind::Cassandra, &cassandra, "f.at > '2023-06-01'", first.clone(), &[]).await;
    check(SourceKind::Cassandra, &cassandra, "f.big > 10", first, &[r#"{"column":"big","op":"gt","value":"10"}"#])
        .await;
    let mongo = [
        ("id", ColumnType::Integer, json!(1), json!(2)),
        ("sum", ColumnType::Float, json!(1.5), json!(3)),
        ("mixed", ColumnType::Text, json!(5), json!("five")),
        ("at", ColumnType::Timestamp, json!("2024-01-31T10:00:00.000Z"), json!(null)),
        ("ok", ColumnType::Boolean, json!(false), json!(true)),
    ];
    check(
        SourceKind::Mongodb,
        &mongo,
        "f.mixed = 'five'",
        json!(["Bob", 2, 3.0, "five", null, true]),
        &[r#"{"column":"mixed","op":"eq","value":"five"}"#],
    )
    .await;
    let dynamo =
        [("id", ColumnType::Float, json!(1), json!(2)), ("paid", ColumnType::Boolean, json!(true), json!(false))];
    check(SourceKind::Dynamodb, &dynamo, "NOT f.paid", json!(["Bob", 2.0, false]), &[]).await;
    let elastic = [
        ("id", ColumnType::Integer, json!(1), json!(2)),
        ("score", ColumnType::Float, json!(0.5), json!(0.75)),
        ("at", ColumnType::Timestamp, json!("2024-01-31T10:00:00.000Z"), json!("2020-01-31T10:00:00.000Z")),
    ];
    check(
        SourceKind::Elasticsearch,
        &elastic,
        "f.at < '2021-01-01'",
        json!(["Bob", 2, 0.75, "2020-01-31T10:00:00"]),
        &[],
    )
    .await;
}
