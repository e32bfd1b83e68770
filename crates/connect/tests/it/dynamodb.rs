//! Tests of the DynamoDB connector against a server started by `.ci/services`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::support::{check_filters, connector, endless, query};
use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::rows::{SampleRequest, Samples};
use prospector_connect::table::Table;
use prospector_connect::{ConnectError, Connector};
use prospector_test_support::server;
use serde_json::{Value, json};

/// The server requires a signature but does not verify it.
const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=t/20240101/eu-north-1/dynamodb/aws4_request, \
     SignedHeaders=host;x-amz-date;x-amz-target, Signature=0";

async fn ask(url: &url::Url, action: &str, request: Value) -> Result<Value, String> {
    let endpoint = url.query_pairs().find(|(key, _)| key == "endpoint").unwrap().1.into_owned();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = http
        .post(endpoint)
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", format!("DynamoDB_20120810.{action}"))
        .header("x-amz-date", "20240101T000000Z")
        .header("authorization", SIGNED)
        .body(request.to_string())
        .send()
        .await
        .unwrap();
    let status = answer.status();
    let text = answer.text().await.unwrap();
    if status.is_success() { Ok(serde_json::from_str(&text).unwrap()) } else { Err(text) }
}

/// Creates a table with a key `{name: letter}`, or two of them, and these items.
async fn made(name: &str, key: &[(&str, &str)], items: &[Value]) -> Option<url::Url> {
    let url = server("PROSPECTOR_TEST_DYNAMODB")?;
    let _ = ask(&url, "DeleteTable", json!({"TableName": name})).await;
    let schema = |at: usize| if at == 0 { "HASH" } else { "RANGE" };
    let keys: Vec<Value> =
        key.iter().enumerate().map(|(at, key)| json!({"AttributeName": key.0, "KeyType": schema(at)})).collect();
    let types: Vec<Value> = key.iter().map(|key| json!({"AttributeName": key.0, "AttributeType": key.1})).collect();
    let throughput = json!({"ReadCapacityUnits": 5, "WriteCapacityUnits": 5});
    let request = json!({"TableName": name, "KeySchema": keys, "AttributeDefinitions": types,
                         "ProvisionedThroughput": throughput});
    for attempt in 0.. {
        // A table that is being deleted blocks its name for a while.
        match ask(&url, "CreateTable", request.clone()).await {
            Ok(_) => break,
            Err(error) => assert!(attempt < 100 && error.contains("ResourceInUse"), "{error}"),
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    for attempt in 0.. {
        let table = ask(&url, "DescribeTable", json!({"TableName": name})).await.unwrap();
        if table["Table"]["TableStatus"] == "ACTIVE" {
            break;
        }
        assert!(attempt < 100, "{table}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    for item in items {
        ask(&url, "PutItem", json!({"TableName": name, "Item": item})).await.unwrap();
    }
    Some(url)
}

async fn sampled(source: &Arc<dyn Connector>, table: &str, column: &str, contains: Option<&str>) -> Value {
    let request = SampleRequest { contains: contains.map(str::to_owned), limit: 10 };
    let samples = source.sample(table, column, &request).await.unwrap();
    assert!(samples.complete, "{samples:?}");
    Value::from(samples.values)
}

fn orders() -> Vec<Value> {
    vec![
        json!({"shop": {"S": "a"}, "n": {"N": "1"}, "total": {"N": "3.5"}, "to": {"M": {"city": {"S": "Oslo"}}},
               "items": {"L": [{"M": {"sku": {"S": "A"}}}, {"M": {"sku": {"S": "B"}}}]}, "tags": {"SS": ["x", "y"]}}),
        json!({"shop": {"S": "a"}, "n": {"N": "2"}, "total": {"N": "12345678901234567890123"}, "status": {"S": "50%"}}),
        json!({"shop": {"S": "b"}, "n": {"N": "1"}, "total": {"N": "4"}, "raw": {"B": "AP8="}, "status": {"NULL": true}}),
    ]
}

fn find<'a>(tables: &'a [Table], name: &str) -> &'a Table {
    tables.iter().find(|table| table.name == name).unwrap()
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn tables_are_described_with_keys_fields_and_counts() {
    let Some(url) = made("described", &[("shop", "S"), ("n", "N")], &orders()).await else { return };
    made("described_empty", &[("id", "B")], &[]).await.unwrap();
    let source = connector(&url, &[]);
    let (tables, problems) = source.describe().await.unwrap();
    // Other tests create and drop tables concurrently.
    assert!(!problems.iter().any(|problem| problem.place.contains("described")), "{problems:?}");
    let table = find(&tables, "described");
    assert_eq!((table.row_count, table.row_count_estimated), (Some(3), false));
    let mut written: Vec<String> = table
        .columns
        .iter()
        .map(|c| {
            let marks = format!("{}{}", if c.nullable { "?" } else { "" }, if c.primary_key { " key" } else { "" });
            format!("{} {}{marks} {}", c.name, c.data_type, c.description).trim().to_owned()
        })
        .collect();
    assert_eq!(written[..2], ["shop string key partition key", "n integer key sort key"]);
    written[2..].sort();
    assert_eq!(
        written[2..],
        [
            "items object[]? in 33 % of 3 documents",
            "items.sku string[]? in 33 % of 3 documents",
            "raw binary? in 33 % of 3 documents",
            "status string? in 33 % of 3 documents",
            "tags string[]? in 33 % of 3 documents",
            "to.city string? in 33 % of 3 documents",
            "total integer | number",
        ]
    );
    let empty = find(&tables, "described_empty");
    assert_eq!((empty.row_count, empty.columns[0].data_type.as_str()), (Some(0), "binary"));

    assert_eq!(sampled(&source, "Described", "SHOP", None).await, json!(["a", "b"]));
    assert_eq!(sampled(&source, "described", "items.sku", None).await, json!(["A", "B"]));
    assert_eq!(sampled(&source, "described", "raw", None).await, json!(["<blob 2 bytes>"]));
    assert_eq!(sampled(&source, "described", "status", Some("0%")).await, json!(["50%"]));
    let one = source.sample("described", "shop", &SampleRequest { contains: None, limit: 1 }).await.unwrap();
    assert_eq!(one, Samples { values: vec![json!("a")], distinct: 2, complete: false });
    let statistics = source.statistics("described", &["n".into(), "status".into(), "to.city".into()]).await.unwrap();
    assert_eq!(
        serde_json::to_value(statistics).unwrap(),
        json!([
            {"column": "n", "cardinality": 2, "min": 1, "max": 2, "nulls": 0},
            {"column": "status", "cardinality": 1, "min": "50%", "max": "50%", "nulls": 2},
            {"column": "to.city", "cardinality": 1, "min": "Oslo", "max": "Oslo", "nulls": 2},
        ])
    );
    for (table, column, part) in [("described", "gone", "no column gone"), ("gone", "c", "no such table")] {
        let request = SampleRequest { contains: None, limit: 1 };
        assert!(source.sample(table, column, &request).await.unwrap_err().to_string().contains(part));
    }
    assert!(matches!(
        query(source.as_ref(), "SELECT * FROM described", 1).await,
        Err(ConnectError::Unsupported { .. })
    ));
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn conditions_match_other_sources() {
    let people = [
        json!({"id": {"N": "1"}, "name": {"S": "Ada"}, "age": {"N": "36"}, "score": {"N": "1.5"}, "born": {"S": "1815-12-10"},
               "vip": {"BOOL": true}}),
        json!({"id": {"N": "2"}, "name": {"S": "O'Brien; --"}, "age": {"NULL": true}, "score": {"N": "2.25"},
               "born": {"S": "1990-01-01"}, "vip": {"BOOL": false}}),
        json!({"id": {"N": "3"}, "name": {"S": "ada"}, "age": {"N": "17"}, "born": {"S": "2001-05-05"}, "vip": {"BOOL": true}}),
        json!({"id": {"N": "4"}, "name": {"S": "50%_x"}, "age": {"N": "36"}, "score": {"N": "-3"}}),
    ];
    let Some(url) = made("people", &[("id", "N")], &people).await else { return };
    check_filters(connector(&url, &[]).as_ref(), false).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn queries_by_partition_key_and_filters_the_rest() {
    let Some(url) = made("keyed", &[("shop", "S"), ("n", "N")], &orders()).await else { return };
    let source = connector(&url, &[]);
    let read = async |conditions: &[(&str, FilterOp, Value)]| {
        let conditions: Vec<FilterCondition> = conditions
            .iter()
            .map(|(column, op, value)| FilterCondition { column: (*column).into(), op: *op, value: value.clone() })
            .collect();
        let rows = source.rows("keyed", &["shop".into(), "n".into()], &conditions, 9).await.unwrap().rows;
        let mut rows: Vec<String> = rows.iter().map(|row| format!("{}{}", row[0].as_str().unwrap(), row[1])).collect();
        rows.sort();
        rows.join(" ")
    };
    let eq = FilterOp::Eq;
    assert_eq!(read(&[("shop", eq, json!("a"))]).await, "a1 a2");
    assert_eq!(read(&[("shop", eq, json!("a")), ("n", FilterOp::Gt, json!(1))]).await, "a2");
    assert_eq!(read(&[("shop", eq, json!("a")), ("status", FilterOp::Like, json!("5_\\%"))]).await, "a2");
    assert_eq!(read(&[("shop", eq, json!("a")), ("shop", eq, json!("b"))]).await, "");
    assert_eq!(read(&[("shop", eq, json!(5))]).await, "");
    assert_eq!(read(&[("to.city", eq, json!("Oslo"))]).await, "a1");
    assert_eq!(read(&[("items.sku", FilterOp::In, json!(["B", null]))]).await, "a1 a2 b1");
    assert_eq!(read(&[("tags", eq, json!("y"))]).await, "a1");
    assert_eq!(read(&[("status", eq, json!(null))]).await, "a1 b1");
    assert_eq!(read(&[("status", FilterOp::Neq, json!("x"))]).await, "a2");
    assert_eq!(read(&[("total", eq, json!("12345678901234567890123"))]).await, "a2");
    let whole = source.rows("keyed", &["items.sku".into(), "items".into()], &[], 9).await.unwrap();
    assert!(whole.rows.contains(&vec![json!(["A", "B"]), json!([{"sku": "A"}, {"sku": "B"}])]), "{whole:?}");
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn reads_many_items_in_pages() {
    let text = "x".repeat(60_000);
    let items: Vec<Value> = (0..40)
        .map(|n| json!({"id": {"N": n.to_string()}, "parity": {"N": (n % 2).to_string()}, "text": {"S": text}}))
        .collect();
    let Some(url) = made("paged", &[("id", "N")], &items).await else { return };
    let source = connector(&url, &[]);
    let (tables, _) = source.describe().await.unwrap();
    let table = find(&tables, "paged");
    assert!(table.row_count_estimated && table.row_count.unwrap() <= 40, "{table:?}");
    assert_eq!(source.rows("paged", &["id".into()], &[], 100).await.unwrap().rows.len(), 40);
    let odd = [FilterCondition { column: "parity".into(), op: FilterOp::Eq, value: json!(1) }];
    let rows = source.rows("paged", &["id".into()], &odd, 15).await.unwrap();
    assert_eq!((rows.rows.len(), rows.has_more), (15, true));
    let statistics = source.statistics("paged", &["id".into()]).await.unwrap();
    assert_eq!((statistics[0].cardinality, statistics[0].estimated), (40, false));
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn detects_changes_and_hides_secrets() {
    let Some(url) = made("changing", &[("id", "S")], &[]).await else { return };
    let source = connector(&url, &[]);
    let before = source.fingerprint().await.unwrap().unwrap();
    assert!(before.contains("changing"));
    made("changing_too", &[("id", "S")], &[]).await.unwrap();
    assert_ne!(source.fingerprint().await.unwrap().unwrap(), before);
    let _ = ask(&url, "DeleteTable", json!({"TableName": "changing_too"})).await;

    let check = async |query: &str| {
        let mut wrong = url.clone();
        wrong.set_password(Some("s3cr et/+")).unwrap();
        wrong.set_query(Some(query));
        let error = connector(&wrong, &[]).describe().await.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(matches!(error, ConnectError::Connect { .. }), "{shown}");
        assert!(!shown.contains("s3cr") && !shown.contains("t0ken"), "{shown}");
    };
    check("endpoint=http://127.0.0.1:1&session_token=t0ken").await;
    check("endpoint=http://nowhere.invalid&session_token=t0ken").await;
    let mut open = url.clone();
    open.set_username("").unwrap();
    open.set_password(None).unwrap();
    assert!(connector(&open, &[]).describe().await.unwrap_err().to_string().contains("no access key given"));
    for wrong in ["dynamodb://a:b@x?endpoint=file:///x", "dynamodb://a:b@x?endpint=http://x", "dynamodb://a:b@X_Y"] {
        let server = prospector_connect::source::Server::new(wrong, &[]).unwrap();
        assert!(prospector_connect::open(&prospector_connect::source::Source::Server(server)).is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn limits_the_text_of_a_failure() {
    let (endpoint, sent) = endless(400).await;
    let url = format!("dynamodb://a:b@eu-north-1?endpoint={endpoint}").parse().unwrap();
    let error = connector(&url, &[]).describe().await.unwrap_err().to_string();
    assert!(error.ends_with("the service responded with status 400"), "{error}");
    // Includes the content of socket buffers.
    assert!(sent.load(Ordering::Relaxed) < 24 << 20, "{sent:?}");
}
