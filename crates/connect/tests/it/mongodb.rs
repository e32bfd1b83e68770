//! Tests of the MongoDB connector against a server started by `.ci/services`.

use std::sync::Arc;

use crate::support::{Wire, check_filters, connector, query};
use mongodb::bson::oid::ObjectId;
use mongodb::bson::{Binary, Bson, DateTime, Decimal128, Document, Uuid, doc};
use mongodb::{Client, Database};
use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::rows::{MAX_CELL_BYTES, SampleRequest, Samples};
use prospector_connect::table::Table;
use prospector_connect::{ConnectError, Connector};
use prospector_test_support::server;
use serde_json::{Value, json};

/// Creates an empty database; returns it with its URL.
async fn made(name: &str) -> Option<(Database, url::Url)> {
    let mut url = server("PROSPECTOR_TEST_MONGODB")?;
    let client = Client::with_uri_str(url.as_str()).await.unwrap();
    let database = client.database(name);
    for collection in database.list_collection_names().await.unwrap() {
        database.collection::<Document>(&collection).drop().await.unwrap();
    }
    url.set_path(name);
    Some((database, url))
}

async fn insert(database: &Database, collection: &str, documents: Vec<Document>) {
    database.collection(collection).insert_many(documents).await.unwrap();
}

async fn sampled(source: &Arc<dyn Connector>, table: &str, column: &str, contains: Option<&str>) -> Value {
    let request = SampleRequest { contains: contains.map(str::to_owned), limit: 10 };
    let samples = source.sample(table, column, &request).await.unwrap();
    assert!(samples.complete, "{samples:?}");
    assert_eq!(samples.distinct, samples.values.len() as u64);
    Value::from(samples.values)
}

/// Formats the columns of a table.
fn written(table: &Table) -> Vec<String> {
    let column = |c: &prospector_connect::table::Column| {
        let marks = format!("{}{}", if c.nullable { "?" } else { "" }, if c.primary_key { " key" } else { "" });
        format!("{} {}{marks} {}", c.name, c.data_type, c.description).trim().to_owned()
    };
    table.columns.iter().map(column).collect()
}

fn orders() -> Vec<Document> {
    let order = |id: i32, customer: &str, city: Option<&str>, skus: &[&str]| {
        let items: Vec<Document> = skus.iter().map(|sku| doc! { "sku": sku, "n": 1 }).collect();
        let mut order = doc! { "_id": id, "customer": customer, "items": items, "at": DateTime::from_millis(i64::from(id) * 86_400_000) };
        if let Some(city) = city {
            order.insert("to", doc! { "city": city });
        }
        order
    };
    vec![
        order(1, "Ada", Some("Oslo"), &["A", "B"]),
        order(2, "Bob", None, &[]),
        order(3, "Ada", Some("Rome"), &["A"]),
        order(4, "Cy", Some("Oslo"), &["C"]),
    ]
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn describes_collections_with_inferred_fields() {
    let Some((database, url)) = made("described").await else { return };
    insert(&database, "orders", orders()).await;
    let schema = doc! { "$jsonSchema": {
        "title": "Who buys", "required": ["mail"], "properties": {
            "mail": { "bsonType": "string", "description": "unique address" },
            "tags": { "bsonType": "array", "items": { "bsonType": "string" } },
            "home": { "bsonType": "object", "properties": { "zip": { "bsonType": ["string", "null"] } } },
            "state": { "enum": ["new", "old"], "bsonType": "string" },
        }
    } };
    database.create_collection("customers").validator(schema).await.unwrap();
    let unique = mongodb::options::IndexOptions::builder().unique(true).build();
    let index = mongodb::IndexModel::builder().keys(doc! { "mail": 1 }).options(unique).build();
    database.collection::<Document>("customers").create_index(index).await.unwrap();
    let index = mongodb::IndexModel::builder().keys(doc! { "customer": 1, "at": -1 }).build();
    database.collection::<Document>("orders").create_index(index).await.unwrap();

    let (tables, problems) = connector(&url, &[]).describe().await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["customers", "orders"]);
    assert_eq!((tables[0].description.as_str(), tables[0].row_count), ("Who buys", Some(0)));
    assert_eq!(
        written(&tables[0]),
        ["mail string unique address; unique", "tags string[]?", "home.zip string?", "state string? one of new, old"]
    );
    assert_eq!((tables[1].row_count, tables[1].row_count_estimated), (Some(4), false));
    assert_eq!(
        written(&tables[1]),
        [
            "_id int key",
            "customer string indexed",
            "items object[]",
            "items.sku string[]? in 75 % of 4 documents",
            "items.n int[]? in 75 % of 4 documents",
            "at date",
            "to.city string? in 75 % of 4 documents",
        ]
    );

    // Collections of a listed database are prefixed by its name.
    let mut all = url.clone();
    all.set_path("/admin");
    let (tables, _) = connector(&all, &["described"]).describe().await.unwrap();
    assert_eq!(
        tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(),
        ["described.customers", "described.orders"]
    );
    assert_eq!(
        sampled(&connector(&all, &["described"]), "Described.Orders", "TO.CITY", None).await,
        json!(["Oslo", "Rome"])
    );
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn converts_values_losslessly() {
    let Some((database, url)) = made("valued").await else { return };
    let id = ObjectId::parse_str("65a000000000000000000001").unwrap();
    let uuid = Uuid::parse_str("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11").unwrap();
    let bytes = Binary { subtype: mongodb::bson::spec::BinarySubtype::Generic, bytes: vec![0, 255] };
    insert(
        &database,
        "v",
        vec![
            doc! { "_id": id, "a": "12345678901234567890.0123456789".parse::<Decimal128>().unwrap(), "b": i64::MAX, "c": 0.1,
            "d": "ä".repeat(300), "e": true, "f": DateTime::from_millis(1_706_695_200_500), "g": uuid, "h": bytes,
            "i": [1, [2, 3]], "j": { "k": Bson::Null }, "l": f64::INFINITY },
            doc! { "_id": 2, "d": "b" },
        ],
    )
    .await;
    let source = connector(&url, &[]);
    let one = [FilterCondition { column: "_id".into(), op: FilterOp::Eq, value: json!(id.to_hex()) }];
    let wanted: Vec<String> =
        ["_id", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j.k", "l"].map(str::to_owned).to_vec();
    let rows = source.rows("v", &wanted, &one, 5).await.unwrap();
    assert_eq!(
        Value::from(rows.rows[0].clone()),
        json!([
            "65a000000000000000000001",
            "12345678901234567890.0123456789",
            i64::MAX,
            0.1,
            "ä".repeat(300),
            true,
            "2024-01-31T10:00:00.5Z",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "\\x00ff",
            [1, [2, 3]],
            null,
            "inf"
        ])
    );
    assert_eq!(sampled(&source, "v", "h", None).await, json!(["<blob 2 bytes>"]));
    assert_eq!(sampled(&source, "v", "d", Some("B")).await, json!(["b"]));
    let found = source.statistics("v", &["c".into(), "d".into(), "f".into(), "h".into()]).await.unwrap();
    assert_eq!(
        serde_json::to_value(found).unwrap(),
        json!([
            {"column": "c", "cardinality": 1, "min": 0.1, "max": 0.1, "nulls": 1},
            {"column": "d", "cardinality": 2, "min": "b", "max": "ä".repeat(200), "nulls": 0},
            {"column": "f", "cardinality": 1, "min": "2024-01-31T10:00:00.5Z", "max": "2024-01-31T10:00:00.5Z", "nulls": 1},
            {"column": "h", "cardinality": 1, "min": null, "max": null, "nulls": 1},
        ])
    );
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn samples_of_lists_are_ordered_by_frequency() {
    let Some((database, url)) = made("sampled").await else { return };
    insert(&database, "orders", orders()).await;
    insert(&database, "notes", vec![doc! { "t": "50%" }, doc! { "t": "500" }, doc! { "t": ".*" }, doc! { "t": 507 }])
        .await;
    let source = connector(&url, &[]);
    let samples = source.sample("orders", "customer", &SampleRequest { contains: None, limit: 1 }).await.unwrap();
    assert_eq!(samples, Samples { values: vec![json!("Ada")], distinct: 3, complete: false });
    assert_eq!(sampled(&source, "orders", "items.sku", None).await, json!(["A", "B", "C"]));
    assert_eq!(sampled(&source, "orders", "to.city", Some("OS")).await, json!(["Oslo"]));
    assert_eq!(sampled(&source, "notes", "t", Some("50%")).await, json!(["50%"]));
    assert_eq!(sampled(&source, "notes", "t", Some(".*")).await, json!([".*"]));
    assert_eq!(sampled(&source, "notes", "t", Some("07")).await, json!([507]));
    let statistics = source.statistics("orders", &["items.sku".into(), "to.city".into()]).await.unwrap();
    assert_eq!((statistics[0].cardinality, statistics[0].nulls), (3, 1));
    assert_eq!((statistics[1].cardinality, statistics[1].nulls, &statistics[1].max), (2, 1, &Some(json!("Rome"))));
    for (table, column, part) in [("orders", "gone", "no column gone"), ("gone", "c", "no such table")] {
        let request = SampleRequest { contains: None, limit: 1 };
        assert!(source.sample(table, column, &request).await.unwrap_err().to_string().contains(part));
    }
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn conditions_match_other_sources() {
    let Some((database, url)) = made("filtered").await else { return };
    let day = |text: &str| DateTime::parse_rfc3339_str(format!("{text}T00:00:00Z")).unwrap();
    insert(
        &database,
        "people",
        vec![
            doc! { "id": 1, "name": "Ada", "age": 36, "score": 1.5, "born": day("1815-12-10"), "vip": true },
            doc! { "id": 2, "name": "O'Brien; --", "age": Bson::Null, "score": 2.25, "born": day("1990-01-01"), "vip": false },
            doc! { "id": 3, "name": "ada", "age": 17, "born": day("2001-05-05"), "vip": true },
            doc! { "id": 4, "name": "50%_x", "age": 36_i64, "score": -3 },
        ],
    )
    .await;
    check_filters(connector(&url, &[]).as_ref(), false).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn fields_within_objects_and_lists_are_columns() {
    let Some((database, url)) = made("nested").await else { return };
    insert(&database, "orders", orders()).await;
    let source = connector(&url, &[]);
    let read = async |columns: &[&str], column: &str, op: FilterOp, value: Value| {
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        source.rows("orders", &columns, &[FilterCondition { column: column.into(), op, value }], 9).await
    };
    let rows = read(&["_id", "to.city", "items.sku"], "to.city", FilterOp::Eq, json!("Oslo")).await.unwrap();
    assert_eq!(json!(rows.rows), json!([[1, "Oslo", ["A", "B"]], [4, "Oslo", ["C"]]]));
    let rows = read(&["items", "items.sku"], "items.sku", FilterOp::In, json!(["B"])).await.unwrap();
    assert_eq!(json!(rows.rows), json!([[[{"sku": "A", "n": 1}, {"sku": "B", "n": 1}], ["A", "B"]]]));
    let rows = read(&["_id"], "at", FilterOp::Between, json!(["1970-01-03", "1970-01-04 00:00"])).await.unwrap();
    assert_eq!(json!(rows.rows), json!([[2], [3]]));

    // Operators are not valid names, and values stay values.
    for column in ["$where", "to.$where", "$expr", "", "to..city", "to.city.$gt"] {
        let error = read(&["_id"], column, FilterOp::Eq, json!("sleep(1000)")).await.unwrap_err();
        assert!(matches!(error, ConnectError::Condition { .. }), "{error}");
        assert!(source.rows("orders", &[column.to_owned()], &[], 1).await.is_err(), "{column}");
    }
    let error = read(&["_id"], "customer", FilterOp::Eq, json!({"$ne": null})).await.unwrap_err();
    assert!(matches!(error, ConnectError::Condition { .. }), "{error}");
    assert!(read(&["_id"], "customer", FilterOp::Like, json!("(a+)+$")).await.unwrap().rows.is_empty());
    for statement in ["SELECT 1", "{\"drop\": \"orders\"}"] {
        assert!(matches!(query(source.as_ref(), statement, 1).await, Err(ConnectError::Unsupported { .. })));
    }
    assert_eq!(source.describe().await.unwrap().0[0].row_count, Some(4));
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn detects_collection_changes() {
    let Some((database, url)) = made("changing").await else { return };
    insert(&database, "t", vec![doc! { "a": 1 }]).await;
    let source = connector(&url, &[]);
    let before = source.fingerprint().await.unwrap();
    assert_eq!(source.fingerprint().await.unwrap(), before);
    insert(&database, "t", vec![doc! { "a": 1 }, doc! { "b": 2 }]).await;
    let more = source.fingerprint().await.unwrap();
    assert_ne!(more, before);
    insert(&database, "u", vec![doc! { "a": 1 }]).await;
    assert_ne!(source.fingerprint().await.unwrap(), more);
    // A field added later is found too.
    assert_eq!(sampled(&source, "t", "a", None).await, json!([1]));
    insert(&database, "t", vec![doc! { "late": "yes" }]).await;
    let rows = source.rows("t", &["late".into()], &[], 9).await.unwrap();
    assert_eq!(rows.rows.iter().filter(|row| row[0] == "yes").count(), 1);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn hides_passwords_and_reconnects() {
    let Some((database, url)) = made("away").await else { return };
    insert(&database, "t", vec![doc! { "a": 1 }]).await;
    let check = async |change: fn(&mut url::Url)| {
        let mut wrong = url.clone();
        wrong.set_username("ada").unwrap();
        wrong.set_password(Some("s3cr et")).unwrap();
        wrong.set_query(Some("serverSelectionTimeoutMS=300"));
        change(&mut wrong);
        let error = connector(&wrong, &[]).describe().await.unwrap_err();
        assert!(matches!(error, ConnectError::Connect { .. }), "{error:?}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("s3cr%20et") && !shown.contains("s3cr et"), "{shown}");
    };
    check(|url| url.set_host(Some("nowhere.invalid")).unwrap()).await;
    check(|url| url.set_port(Some(1)).unwrap()).await;
    // No user of that name exists.
    check(|_| {}).await;

    let (mut wire, mut through) = Wire::to(&url).await;
    through.set_query(Some("serverSelectionTimeoutMS=1000"));
    let source = connector(&through, &[]);
    let count = async || source.rows("t", &[], &[], 9).await.map(|rows| rows.rows.len());
    assert_eq!(count().await.unwrap(), 1);
    wire.cut().await;
    assert!(matches!(count().await.unwrap_err(), ConnectError::Connect { .. }));
    wire.restore().await;
    assert_eq!(count().await.unwrap(), 1);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn values_have_a_limit_in_bytes() {
    let Some((database, url)) = made("limited").await else { return };
    let long = "x".repeat(MAX_CELL_BYTES + 1);
    insert(&database, "t", vec![doc! { "_id": 1, "a": "short" }, doc! { "_id": 2, "a": { "b": [long] } }]).await;
    let source = connector(&url, &[]);
    let error = source.rows("t", &["_id".into(), "a.b".into()], &[], 5).await.unwrap_err();
    assert!(matches!(&error, ConnectError::TooLarge { column: Some(column), .. } if column == "a.b"), "{error}");
    assert_eq!(source.rows("t", &["_id".into()], &[], 5).await.unwrap().rows.len(), 2);
}
