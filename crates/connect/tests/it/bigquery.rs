//! Tests of the BigQuery connector against a fake server that follows its documentation.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::rows::{MAX_ANSWER_BYTES, MAX_CELL_BYTES, Rows, SampleRequest, SqlQuery};
use prospector_connect::source::{Access, BigquerySource};
use prospector_connect::{ConnectError, Connector, open, source::Source};
use serde_json::{Value, json};

/// A fake service with the requests it received.
#[derive(Default)]
struct Fake {
    asked: Mutex<Vec<(Method, String, Value)>>,
    failing: Mutex<Option<(&'static str, u16, Value)>>,
    public_key: Mutex<Vec<u8>>,
    tokens: Mutex<u32>,
    /// Whether jobs never finish.
    is_slow: Mutex<bool>,
}

fn cells(values: &[Value]) -> Value {
    json!({"f": values.iter().map(|value| json!({"v": value})).collect::<Vec<_>>()})
}

fn table(fields: &[(&str, &str)], rows: &[Vec<Value>]) -> Value {
    let fields: Vec<Value> =
        fields.iter().map(|(name, kind)| json!({"name": name, "type": kind, "mode": "NULLABLE"})).collect();
    let rows: Vec<Value> = rows.iter().map(|row| cells(row)).collect();
    json!({"kind": "bigquery#queryResponse", "jobComplete": true, "schema": {"fields": fields}, "rows": rows,
           "jobReference": {"projectId": "shop", "jobId": "j1", "location": "EU"}})
}

fn words(count: usize) -> Vec<(&'static str, &'static str)> {
    vec![("a", "STRING"); count]
}

/// Returns the result of a statement.
fn answered(sql: &str) -> Value {
    let row = |text: &str| -> Vec<Value> {
        text.split('|').map(|word| if word == "-" { Value::Null } else { json!(word) }).collect()
    };
    let mut integers = words(7);
    integers[4].1 = "INTEGER";
    integers[5].1 = "INTEGER";
    if sql.contains("COLUMN_FIELD_PATHS") {
        let mut fields = words(7);
        fields[6].1 = "INTEGER";
        return table(
            &fields,
            &[
                row("orders|id|INT64|which|NO|NO|-"),
                row("orders|day|DATE|-|YES|YES|-"),
                row("orders|shop|INT64|-|YES|NO|1"),
                row("orders|to|STRUCT<city STRING>|-|YES|NO|-"),
                row("orders|to.city|STRING|-|YES|NO|-"),
                row("orders|items|ARRAY<STRUCT<sku STRING>>|-|YES|NO|-"),
                row("orders|items.sku|STRING|-|YES|NO|-"),
                row("shops|id|INT64|-|NO|NO|-"),
                row("events_20240102|at|TIMESTAMP|-|YES|NO|-"),
            ],
        );
    }
    if sql.contains("INFORMATION_SCHEMA.TABLES") {
        let rows = [
            "events_20240101|BASE TABLE|-",
            "events_20240102|BASE TABLE|-",
            "orders|BASE TABLE|\"What was \\\"sold\\\"\"",
            "shops|BASE TABLE|-",
            "busy|VIEW|-",
        ];
        return table(&words(3), &rows.map(row));
    }
    if sql.contains("KEY_COLUMN_USAGE") {
        return table(
            &integers,
            &[
                row("o.pk|orders|PRIMARY KEY|id|1|-|-"),
                row("o.fk|orders|FOREIGN KEY|shop|1|1|shops"),
                row("s.pk|shops|PRIMARY KEY|id|1|-|-"),
            ],
        );
    }
    if sql.contains("last_modified_time") {
        return table(&words(3), &[row("4|1700000000000|17")]);
    }
    if sql.contains("__TABLES__") {
        let rows = ["events_20240101|5", "events_20240102|6", "orders|3", "shops|2", "busy|0"];
        return table(&[("a", "STRING"), ("b", "INTEGER")], &rows.map(row));
    }
    if sql.contains("COUNT(*) OVER") {
        return table(&[("v", "STRING"), ("d", "INTEGER")], &[row("Oslo|2"), row("Bergen|2")]);
    }
    if sql.contains("COUNT(DISTINCT") {
        let fields = [("d0", "INTEGER"), ("s0", "INTEGER"), ("l0", "INTEGER"), ("n0", "INTEGER")];
        return table(&fields, &[row("3|1|9|0")]);
    }
    if sql.contains("long") {
        return table(
            &[("id", "INTEGER"), ("body", "STRING")],
            &[row("1|short"), row(&format!("2|{}", "x".repeat(MAX_CELL_BYTES + 1)))],
        );
    }
    if sql.contains("many") {
        let long = format!("1|{}", "x".repeat(MAX_CELL_BYTES - 16));
        return table(&[("id", "INTEGER"), ("body", "STRING")], &vec![row(&long); 20]);
    }
    let mut answer = table(&[("id", "INTEGER"), ("at", "TIMESTAMP")], &[row("1|1706695200000000"), row("2|-")]);
    answer["pageToken"] = "more".into();
    answer
}

async fn answer(State(fake): State<Arc<Fake>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let text = String::from_utf8(body.to_vec()).unwrap();
    let body: Value = serde_json::from_str(&text).unwrap_or_else(|_| text.clone().into());
    let path = uri.path_and_query().unwrap().to_string();
    fake.asked.lock().unwrap().push((method.clone(), path.clone(), body.clone()));
    let error = |status: u16, reason: &str, message: String| {
        let error = json!({"error": {"code": status, "message": message, "errors": [{"reason": reason}]}});
        (StatusCode::from_u16(status).unwrap(), Json(error)).into_response()
    };
    if path == "/token" {
        return issued(&fake, &text);
    }
    let given = headers.get("authorization").map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    if !["Bearer s3cret", "Bearer issued-2"].contains(&given.as_str()) {
        return error(401, "authError", format!("Invalid Credentials: {given}"));
    }
    if let Some((start, status, answer)) = fake.failing.lock().unwrap().as_ref()
        && path.contains(start)
    {
        return (StatusCode::from_u16(*status).unwrap(), Json(answer.clone())).into_response();
    }
    let is_slow = *fake.is_slow.lock().unwrap();
    let unfinished =
        json!({"jobComplete": false, "jobReference": {"projectId": "shop", "jobId": "j1", "location": "EU"}});
    let answer = match (method.as_str(), uri.path().strip_prefix("/bigquery/v2/projects/shop").unwrap()) {
        ("GET", "/datasets") => json!({"datasets": [{"datasetReference": {"projectId": "shop", "datasetId": "main"}}]}),
        ("GET", "/datasets/main/tables") => json!({"tables": [
            {"tableReference": {"tableId": "events_20240101"}}, {"tableReference": {"tableId": "events_20240102"}}]}),
        ("GET", "/datasets/main/tables/orders") => json!({"schema": {"fields": [
            {"name": "id", "type": "INTEGER", "mode": "REQUIRED"}, {"name": "at", "type": "TIMESTAMP"},
            {"name": "to", "type": "RECORD", "fields": [{"name": "city", "type": "STRING"}]},
            {"name": "items", "type": "RECORD", "mode": "REPEATED", "fields": [{"name": "sku", "type": "STRING"}]}]}}),
        ("GET", "/datasets/main/tables/events_20240102") => {
            json!({"schema": {"fields": [{"name": "at", "type": "TIMESTAMP"}]}})
        }
        ("POST", "/queries") if is_slow => unfinished,
        ("GET", "/queries/j1") if is_slow => {
            tokio::time::sleep(Duration::from_millis(50)).await;
            unfinished
        }
        ("POST", "/queries") => answered(body["query"].as_str().unwrap()),
        ("GET", "/queries/j1") => {
            assert!(path.contains("location=EU") && path.contains("pageToken=more"), "{path}");
            table(&[("id", "INTEGER"), ("at", "TIMESTAMP")], &[cells(&[])["f"].as_array().unwrap().clone()])
        }
        ("POST", "/jobs") => {
            let sql = body.pointer("/configuration/query/query").and_then(Value::as_str).unwrap();
            assert_eq!(body.pointer("/configuration/dryRun"), Some(&json!(true)));
            let kind = if sql.starts_with("SELECT") { "SELECT" } else { "SCRIPT" };
            let bytes = if sql.contains("huge") { "99999999999999" } else { "1000" };
            json!({"statistics": {"totalBytesProcessed": bytes, "query": {"statementType": kind}}})
        }
        ("POST", "/jobs/j1/cancel") => json!({"kind": "bigquery#jobCancelResponse"}),
        (_, other) => return error(404, "notFound", format!("Not found: {other}")),
    };
    Json(answer).into_response()
}

/// Issues a token for a valid signature; the first token is rejected.
fn issued(fake: &Fake, form: &str) -> Response {
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(form.as_bytes()).into_owned().collect();
    assert_eq!(pairs[0], ("grant_type".into(), "urn:ietf:params:oauth:grant-type:jwt-bearer".into()));
    let (message, signature) = pairs[1].1.rsplit_once('.').unwrap();
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, fake.public_key.lock().unwrap().clone());
    let parts: Vec<Value> = message
        .split('.')
        .map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
        .collect();
    assert_eq!(parts[0], json!({"alg": "RS256", "typ": "JWT", "kid": "k1"}));
    assert_eq!(parts[1]["scope"], "https://www.googleapis.com/auth/bigquery.readonly");
    assert_eq!(parts[1]["exp"].as_u64().unwrap() - parts[1]["iat"].as_u64().unwrap(), 3600);
    if key.verify(message.as_bytes(), &signature).is_err() {
        let error = json!({"error": "invalid_grant", "error_description": "Invalid JWT Signature."});
        return (StatusCode::BAD_REQUEST, Json(error)).into_response();
    }
    let mut tokens = fake.tokens.lock().unwrap();
    *tokens += 1;
    Json(json!({"access_token": format!("issued-{tokens}"), "expires_in": 3599, "token_type": "Bearer"}))
        .into_response()
}

async fn served() -> (Arc<Fake>, String) {
    let fake = Arc::new(Fake::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new().fallback(answer).with_state(fake.clone());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (fake, url)
}

fn connector(url: &str, datasets: &[&str], access: Access) -> Arc<dyn Connector> {
    let datasets: Vec<String> = datasets.iter().map(ToString::to_string).collect();
    let service = BigquerySource::new("shop", &datasets, access).unwrap().at(url).unwrap();
    open(&Source::Bigquery(service)).unwrap()
}

fn token() -> Access {
    Access::Token("s3cret".into())
}

#[tokio::test]
async fn a_dataset_is_described_with_records_lists_dates_and_keys() {
    let (fake, url) = served().await;
    let source = connector(&url, &[], token());
    let (tables, problems) = source.describe().await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["main.busy", "main.events_*", "main.orders", "main.shops"]);
    assert_eq!((tables[0].row_count, tables[1].row_count), (None, Some(11)));
    assert!(tables[1].description.starts_with("2 date-sharded tables, from events_20240101 to events_20240102"));
    assert_eq!(
        serde_json::to_value(&tables[2]).unwrap(),
        json!({
            "name": "main.orders", "row_count": 3,
            "description": "What was \"sold\"; partitioned by day: filter on it to scan less data; clustered by shop",
            "columns": [
                {"name": "id", "type": "INT64", "column_type": "integer", "nullable": false, "primary_key": true, "description": "which"},
                {"name": "day", "type": "DATE", "column_type": "date", "nullable": true, "primary_key": false},
                {"name": "shop", "type": "INT64", "column_type": "integer", "nullable": true, "primary_key": false},
                {"name": "to.city", "type": "STRING", "column_type": "text", "nullable": true, "primary_key": false},
                {"name": "items", "type": "ARRAY<STRUCT<sku STRING>>", "column_type": "nested", "nullable": true, "primary_key": false,
                 "description": "repeated"},
                {"name": "items.sku", "type": "STRING", "column_type": "text", "nullable": true, "primary_key": false,
                 "description": "repeated: one value per record of items, use UNNEST(items)"},
            ],
            "foreign_keys": [{"columns": ["shop"], "table": "main.shops", "references": ["id"]}],
        })
    );
    assert_eq!(fake.asked.lock().unwrap().len(), 5, "whatever the number of tables");
    assert!(source.fingerprint().await.unwrap().unwrap().contains("1700000000000"));
}

#[tokio::test]
async fn binds_values_and_limits_billed_bytes() {
    let (fake, url) = served().await;
    let source = connector(&url, &["main"], token());
    let conditions = [
        FilterCondition { column: "TO.city".into(), op: FilterOp::In, value: json!(["x' OR 1=1 --", "Oslo"]) },
        FilterCondition { column: "items.sku".into(), op: FilterOp::Eq, value: json!("A") },
    ];
    let rows = source.rows("main.orders", &["id".into(), "at".into()], &conditions, 2).await.unwrap();
    assert_eq!(rows.columns, ["id", "at"]);
    assert_eq!(rows.rows, [[json!(1), json!("2024-01-31T10:00:00Z")], [json!(2), json!(null)]]);
    assert!(rows.has_more);
    let (_, _, body) =
        fake.asked.lock().unwrap().iter().rfind(|(_, path, _)| path.ends_with("/queries")).unwrap().clone();
    assert_eq!(
        body["query"],
        "SELECT `id` AS c0, `at` AS c1 FROM `shop`.`main`.`orders` WHERE (`to`.`city` IN (@p1, @p2)) \
         AND EXISTS (SELECT 1 FROM UNNEST(`items`) AS r0 WHERE r0.`sku` = @p3) LIMIT 3"
    );
    assert_eq!(body["parameterMode"], "NAMED");
    assert_eq!(
        body["queryParameters"][0],
        json!({"name": "p1", "parameterType": {"type": "STRING"}, "parameterValue": {"value": "x' OR 1=1 --"}})
    );
    assert_eq!((&body["maximumBytesBilled"], &body["useLegacySql"]), (&json!("10737418240"), &json!(false)));

    let samples =
        source.sample("main.orders", "to.city", &SampleRequest { contains: Some("O%".into()), limit: 5 }).await;
    let samples = samples.unwrap();
    assert_eq!((samples.values.len(), samples.distinct, samples.complete), (2, 2, true));
    let (_, _, body) = fake.asked.lock().unwrap().last().unwrap().clone();
    assert_eq!(body.pointer("/queryParameters/0/parameterValue/value"), Some(&json!("%O\\%%")));

    let found = source.statistics("main.orders", &["id".into()]).await.unwrap();
    assert_eq!(
        serde_json::to_value(found).unwrap(),
        json!([{"column": "id", "cardinality": 3, "min": 1, "max": 9, "nulls": 0}])
    );
    let suffixes =
        source.sample("main.events_*", "_table_suffix", &SampleRequest { contains: None, limit: 5 }).await.unwrap();
    assert_eq!(suffixes.values, ["20240102", "20240101"]);
    assert!(source.rows("main.orders` WHERE", &[], &[], 1).await.is_err());
    assert!(source.rows("other.orders", &[], &[], 1).await.is_err());
}

async fn query(source: &dyn Connector, sql: &str, cap: usize) -> Result<Rows, ConnectError> {
    source.query(&SqlQuery { sql, tables: &["main.orders"], fields: None, functions: &[] }, cap).await
}

#[tokio::test]
async fn dry_runs_queries_and_rejects_writes() {
    let (fake, url) = served().await;
    let source = connector(&url, &["main"], token());
    assert_eq!(query(source.as_ref(), "SELECT id, at FROM main.orders;", 5).await.unwrap().rows.len(), 3);
    source.explain(&SqlQuery { sql: "SELECT 1", tables: &[], fields: None, functions: &[] }).await.unwrap();
    fake.asked.lock().unwrap().clear();
    for (sql, part) in [("DELETE FROM main.orders WHERE TRUE", "read-only"), ("SELECT * FROM huge", "too large")] {
        let error = query(source.as_ref(), sql, 5).await.unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(fake.asked.lock().unwrap().iter().all(|(_, path, _)| path.ends_with("/jobs")));
}

#[tokio::test]
async fn values_and_answers_have_limits_in_bytes() {
    let (_fake, url) = served().await;
    let source = connector(&url, &["main"], token());
    for (sql, wanted, most) in
        [("SELECT * FROM long", Some("body"), MAX_CELL_BYTES), ("SELECT * FROM many", None, MAX_ANSWER_BYTES)]
    {
        match query(source.as_ref(), sql, 50).await {
            Err(ConnectError::TooLarge { column, limit, .. }) => assert_eq!((column.as_deref(), limit), (wanted, most)),
            other => panic!("{sql}: {:?}", other.map(|rows| rows.rows.len())),
        }
    }
}

#[tokio::test]
async fn cancels_abandoned_jobs() {
    let (fake, url) = served().await;
    let source = connector(&url, &["main"], token());
    *fake.is_slow.lock().unwrap() = true;
    let asked = |part: &str| fake.asked.lock().unwrap().iter().any(|(_, path, _)| path.contains(part));
    let running = tokio::spawn(async move { query(source.as_ref(), "SELECT 1", 5).await.map(drop) });
    let wait_for = async |part: &str| {
        let polled = async {
            while !asked(part) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), polled)
            .await
            .unwrap_or_else(|_| panic!("{part} was not asked for"));
    };
    wait_for("/queries/j1").await;
    running.abort();
    wait_for("/jobs/j1/cancel?location=EU").await;
}

#[tokio::test]
async fn the_key_of_a_service_account_signs_for_a_token() {
    let (fake, url) = served().await;
    let pair = RsaKeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).unwrap();
    *fake.public_key.lock().unwrap() = pair.public_key().as_ref().to_vec();
    let written = |pair: &RsaKeyPair| {
        use aws_lc_rs::encoding::AsDer;
        let der: aws_lc_rs::encoding::Pkcs8V1Der<'_> = pair.as_der().unwrap();
        let pem =
            format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(der.as_ref()));
        json!({"type": "service_account", "client_email": "a@shop.iam", "private_key": pem, "private_key_id": "k1",
               "token_uri": format!("{url}/token")})
        .to_string()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.json");
    let check = async |text: String, expected: Result<(), &str>| {
        std::fs::write(&path, text).unwrap();
        let source = connector(&url, &["main"], Access::KeyFile(path.clone()));
        match (source.explain(&SqlQuery { sql: "SELECT 1", tables: &[], fields: None, functions: &[] }).await, expected)
        {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(part)) => {
                let shown = format!("{error} {error:?}");
                assert!(shown.contains(part) && !shown.contains("PRIVATE") && !shown.contains("a@shop"), "{shown}");
            }
            (found, _) => panic!("{found:?}"),
        }
    };
    // The first token is rejected, and another one is requested.
    check(written(&pair), Ok(())).await;
    assert_eq!(*fake.tokens.lock().unwrap(), 2);
    let other = RsaKeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa2048).unwrap();
    check(written(&other), Err("the token request was rejected: Invalid JWT Signature.")).await;
    check("{\"private_key\": \"-----BEGIN PRIVATE".to_owned(), Err("not a service account key")).await;
    check(written(&pair).replace("http://127.0.0.1", "http://example.com"), Err("does not start with https://")).await;
    check(written(&pair).replace("PRIVATE KEY-----\\n", "PRIVATE KEY-----\\nAAAA"), Err("not an RSA key in PEM")).await;
}

#[tokio::test]
async fn failures_have_a_cause_and_no_secrets() {
    let (fake, url) = served().await;
    let because = |reason: &str, message: &str| json!({"error": {"message": message, "errors": [{"reason": reason}]}});
    let check = async |access: Access, failing: Option<(&'static str, u16, Value)>, part: &str| {
        *fake.failing.lock().unwrap() = failing;
        let error = connector(&url, &["main"], access).describe().await.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(shown.contains(part) && !shown.contains("s3cret"), "{shown}");
    };
    check(Access::Token("s3cret-old".into()), None, "authentication failed: Invalid Credentials: Bearer ***").await;
    let denied = because("accessDenied", "User does not have bigquery.jobs.create permission");
    check(token(), Some(("/queries", 403, denied)), "permission denied: User does not").await;
    let busy = because("rateLimitExceeded", "Exceeded rate limits");
    check(token(), Some(("/queries", 403, busy)), "too busy: Exceeded rate limits").await;
    let billed = because("bytesBilledLimitExceeded", "Query exceeded limit for bytes billed: 1000");
    check(token(), Some(("/queries", 400, billed)), "too large: Query exceeded limit").await;
}

#[tokio::test]
async fn reports_an_unreachable_service() {
    let error = connector("http://127.0.0.1:1", &["main"], token()).describe().await.unwrap_err();
    assert!(matches!(error, ConnectError::Connect { .. }) && !error.to_string().contains("s3cret"), "{error}");
}
