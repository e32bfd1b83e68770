//! Tests of the Elasticsearch connector against a fake server that follows its documentation.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use crate::support::{check_filters, endless};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::rows::{MAX_CELL_BYTES, SampleRequest};
use prospector_connect::source::{Access, ElasticsearchSource};
use prospector_connect::{ConnectError, Connector, open, source::Source};
use serde_json::{Value, json};

/// A fake server with an index `people` and the requests it received.
#[derive(Default)]
struct Fake {
    asked: Mutex<Vec<(Method, String, Value)>>,
    /// A failure returned for paths with this prefix.
    failing: Mutex<Option<(&'static str, u16, Value)>>,
    people: Vec<Value>,
    /// The documents already sent, by scroll.
    page: Mutex<(usize, usize)>,
}

fn people() -> Vec<Value> {
    let one = |id: u32, name: &str, age: Value, score: Value, born: Value, vip: Value| json!({"id": id, "name": name, "age": age, "score": score, "born": born, "vip": vip});
    vec![
        one(1, "Ada", json!(36), json!(1.5), json!("1815-12-10"), json!(true)),
        one(2, "O'Brien; --", json!(null), json!(2.25), json!("1990-01-01"), json!(false)),
        one(3, "ada", json!(17), json!(null), json!("2001-05-05"), json!(true)),
        one(4, "50%_x", json!(36), json!(-3), json!(null), json!(null)),
    ]
}

fn mapping() -> Value {
    let keyword = json!({"keyword": {"type": "keyword", "ignore_above": 256}});
    json!({"_meta": {"description": "Who is known"}, "properties": {
        "id": {"type": "long"}, "name": {"type": "text", "fields": keyword}, "age": {"type": "integer"},
        "score": {"type": "double"}, "born": {"type": "date"}, "vip": {"type": "boolean"},
    }})
}

/// Whether a document matches a query, for the supported subset of the language.
fn meets(document: &Value, query: &Value) -> bool {
    let (word, inner) = query.as_object().unwrap().iter().next().unwrap();
    let value = |field: &str| &document[field.trim_end_matches(".keyword")];
    let first = || inner.as_object().unwrap().iter().next().map(|(field, test)| (field.clone(), test.clone())).unwrap();
    let list = |key: &str| inner[key].as_array().cloned().unwrap_or_default();
    match word.as_str() {
        "match_all" => true,
        "match_none" => false,
        "bool" => {
            list("filter").iter().all(|query| meets(document, query))
                && !list("must_not").iter().any(|query| meets(document, query))
                && (list("should").is_empty() || list("should").iter().any(|query| meets(document, query)))
        }
        "exists" => !value(inner["field"].as_str().unwrap()).is_null(),
        "term" => {
            let (field, wanted) = first();
            field != "_ignored" && *value(&field) == wanted
        }
        "terms" => {
            let (field, wanted) = first();
            let is_same = |wanted: &Value| match (wanted.as_f64(), value(&field).as_f64()) {
                (Some(wanted), Some(value)) => wanted == value,
                _ => wanted == value(&field),
            };
            wanted.as_array().unwrap().iter().any(is_same)
        }
        "range" => {
            let (field, bounds) = first();
            let number = |value: &Value| value.as_f64();
            let order = |bound: &Value| match (number(value(&field)), number(bound)) {
                (Some(value), Some(bound)) => value.partial_cmp(&bound),
                _ => value(&field)
                    .as_str()
                    .map(|value| format!("{value}T00:00:00.000Z").as_str().cmp(bound.as_str().unwrap())),
            };
            bounds.as_object().unwrap().iter().filter(|(word, _)| *word != "format").all(|(word, bound)| {
                order(bound).is_some_and(|order| match word.as_str() {
                    "gt" => order.is_gt(),
                    "gte" => order.is_ge(),
                    "lt" => order.is_lt(),
                    _ => order.is_le(),
                })
            })
        }
        // Matches a superset, which is tested again.
        "wildcard" => !value(&first().0).is_null(),
        other => panic!("{other} is not known here"),
    }
}

async fn answer(State(fake): State<Arc<Fake>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let path = uri.path_and_query().unwrap().to_string();
    fake.asked.lock().unwrap().push((method.clone(), path.clone(), body.clone()));
    let given = headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
    let error = |status: u16, kind: &str, reason: String| {
        let cause = json!({"type": kind, "reason": reason});
        (
            StatusCode::from_u16(status).unwrap(),
            Json(json!({"error": {"root_cause": [cause], "reason": reason}, "status": status})),
        )
            .into_response()
    };
    if given.as_deref() != Some("Basic YWRhOnMzY3IgdA==") {
        let reason = format!("unable to authenticate with {}", given.unwrap_or_default());
        return error(401, "security_exception", reason);
    }
    if let Some((start, status, answer)) = fake.failing.lock().unwrap().as_ref()
        && path.starts_with(start)
    {
        return (StatusCode::from_u16(*status).unwrap(), Json(answer.clone())).into_response();
    }
    let answer = match (method.as_str(), uri.path()) {
        ("GET", "/_resolve/index/*") => json!({
            "indices": [
                {"name": "people", "aliases": ["persons"], "attributes": ["open"]},
                {"name": "logs-2024.01.01", "attributes": ["open"]}, {"name": "logs-2024.01.02", "attributes": ["open"]},
                {"name": ".kibana", "attributes": ["open"]},
            ],
            "aliases": [], "data_streams": [{"name": "web", "backing_indices": [".ds-web-1"], "timestamp_field": "@timestamp"}],
        }),
        ("GET", "/*/_mapping") => json!({
            "people": {"mappings": mapping()},
            "logs-2024.01.01": {"mappings": {"properties": {"old": {"type": "keyword"}}}},
            "logs-2024.01.02": {"mappings": {"properties": {"line": {"type": "match_only_text"}}}},
        }),
        ("GET", "/web/_mapping") => json!({".ds-web-1": {"mappings": {"properties": {"at": {"type": "date"}}}}}),
        ("GET", "/people/_mapping") => json!({"people": {"mappings": mapping()}}),
        ("GET", "/_cat/indices/*") => json!([
            {"index": "people", "docs.count": "4"}, {"index": "logs-2024.01.01", "docs.count": "10"},
            {"index": "logs-2024.01.02", "docs.count": "20"}, {"index": ".ds-web-1", "docs.count": "7"},
        ]),
        ("POST", "/people/_search") if body["aggs"].is_object() => json!({"timed_out": false, "aggregations": {
            "missing0": {"doc_count": 1}, "field0": {"doc_count": 4, "distinct": {"value": 2},
                "min": {"value": 17.0}, "max": {"value": 36.0}},
            "missing1": {"doc_count": 0}, "ignored1": {"doc_count": 0}, "field1": {"distinct": {"value": 4},
                "min": {"buckets": [{"key": "50%_x"}]}, "max": {"buckets": [{"key": "ada"}]}},
            "field": {"distinct": {"value": 2}, "values": {"sum_other_doc_count": 0, "buckets": [
                {"key": "Ada", "doc_count": 2}, {"key": "ada", "doc_count": 1}]}},
        }}),
        ("POST", "/people/_search") | ("POST", "/_search/scroll") => {
            if uri.path() == "/people/_search" {
                *fake.page.lock().unwrap() = (0, body["size"].as_u64().unwrap() as usize);
            }
            let found: Vec<&Value> = match body.get("query") {
                Some(query) => fake.people.iter().filter(|one| meets(one, query)).collect(),
                None => fake.people.iter().collect(),
            };
            let mut page = fake.page.lock().unwrap();
            let hits: Vec<Value> = found
                .iter()
                .enumerate()
                .skip(page.0)
                .take(page.1)
                .map(|(at, source)| json!({"_index": "people", "_id": format!("p{at}"), "_source": source}))
                .collect();
            page.0 += hits.len();
            let scroll = path.contains("scroll").then_some("s1");
            json!({"_scroll_id": scroll, "timed_out": false, "_shards": {"failed": 0}, "hits": {"hits": hits}})
        }
        ("DELETE", "/_search/scroll") => json!({"succeeded": true}),
        _ => return error(404, "index_not_found_exception", format!("no such index [{}]", uri.path())),
    };
    Json(answer).into_response()
}

/// Returns a connector for a fake server with these people.
async fn started(people: Vec<Value>, access: Access) -> (Arc<Fake>, Arc<dyn Connector>) {
    let fake = Arc::new(Fake { people, ..Fake::default() });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new().fallback(answer).with_state(fake.clone());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let service = ElasticsearchSource::new(&url, access, &[]).unwrap();
    (fake, open(&Source::Elasticsearch(service)).unwrap())
}

fn ada() -> Access {
    Access::User("ada".into(), "s3cr t".into())
}

#[tokio::test]
async fn indices_streams_and_dates_are_tables() {
    let (_fake, source) = started(people(), ada()).await;
    let (tables, problems) = source.describe().await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let written: Vec<String> = tables
        .iter()
        .map(|table| {
            let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            format!("{}[{}] {} ({})", table.name, table.row_count.unwrap(), columns.join(" "), table.description)
        })
        .collect();
    assert_eq!(
        written,
        [
            "logs-*[30] _id line old (2 indices by date, from logs-2024.01.01 to logs-2024.01.02)",
            "people[4] _id id name age score born vip (Who is known; also called persons)",
            "web[7] _id at (data stream of 1 indices)",
        ]
    );
    let stamp = source.fingerprint().await.unwrap();
    assert_eq!(source.fingerprint().await.unwrap(), stamp);
}

#[tokio::test]
async fn conditions_match_other_sources() {
    let (fake, source) = started(people(), ada()).await;
    // The documents have no `_id` field, which is a column too.
    let columns = ["id", "name", "age", "score", "born", "vip"].map(str::to_owned);
    check_filters(&Narrow { source: source.clone(), columns: columns.to_vec() }, true).await;

    fake.asked.lock().unwrap().clear();
    let equal = FilterCondition { column: "name".into(), op: FilterOp::Eq, value: json!("x\" OR 1") };
    source.rows("people", &["id".into()], &[equal], 5).await.unwrap();
    let asked = fake.asked.lock().unwrap();
    let (_, path, body) = asked.iter().find(|(_, path, _)| path.starts_with("/people/_search")).unwrap();
    assert!(path.contains("allow_partial_search_results=false"), "{path}");
    assert_eq!(
        body["query"],
        json!({"bool": {"filter": [{"bool": {"minimum_should_match": 1, "should": [
            {"terms": {"name.keyword": ["x\" OR 1"]}}, {"term": {"_ignored": "name.keyword"}}]}}]}})
    );
    assert_eq!(body["_source"], json!({"includes": ["id", "name"]}));
    assert!(asked.iter().all(|(method, path, _)| {
        method == Method::GET || method == Method::POST && path.contains("_search") || path == "/_search/scroll"
    }));
}

/// A source reduced to some columns.
struct Narrow {
    source: Arc<dyn Connector>,
    columns: Vec<String>,
}

#[async_trait::async_trait]
impl Connector for Narrow {
    fn kind(&self) -> prospector_connect::source::SourceKind {
        self.source.kind()
    }
    async fn describe(
        &self,
    ) -> Result<(Vec<prospector_connect::table::Table>, Vec<prospector_core::Problem>), prospector_connect::ConnectError>
    {
        self.source.describe().await
    }
    async fn sample(
        &self,
        table: &str,
        column: &str,
        request: &SampleRequest,
    ) -> Result<prospector_connect::rows::Samples, prospector_connect::ConnectError> {
        self.source.sample(table, column, request).await
    }
    async fn statistics(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<prospector_connect::rows::Statistics>, prospector_connect::ConnectError> {
        self.source.statistics(table, columns).await
    }
    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<prospector_connect::rows::Rows, prospector_connect::ConnectError> {
        let columns = if columns.is_empty() { &self.columns[..] } else { columns };
        self.source.rows(table, columns, conditions, limit).await
    }
}

#[tokio::test]
async fn reads_long_results_in_pages_and_releases_them() {
    let many: Vec<Value> = (0..5_000).map(|id| json!({"id": id, "name": "n", "age": id % 90})).collect();
    let (fake, source) = started(many, ada()).await;
    let rows = source.rows("people", &["id".into()], &[], 4_500).await.unwrap();
    assert_eq!((rows.rows.len(), rows.has_more, rows.rows[4_499][0].clone()), (4_500, true, json!(4_499)));
    assert_eq!(source.rows("people", &["id".into()], &[], 9_000).await.unwrap().rows.len(), 5_000);
    let asked = fake.asked.lock().unwrap();
    let ended = asked.iter().filter(|(method, _, body)| method == Method::DELETE && body["scroll_id"] == json!(["s1"]));
    assert_eq!(ended.count(), 2);
}

#[tokio::test]
async fn fields_are_measured_by_aggregations() {
    let (fake, source) = started(people(), ada()).await;
    let wanted = ["age".to_owned(), "NAME".to_owned(), "_id".to_owned()];
    let found = source.statistics("people", &wanted).await.unwrap();
    assert_eq!(
        serde_json::to_value(found).unwrap(),
        json!([
            {"column": "age", "cardinality": 2, "min": 17, "max": 36, "nulls": 1},
            {"column": "name", "cardinality": 4, "min": "50%_x", "max": "ada", "nulls": 0},
            {"column": "_id", "cardinality": 4, "min": "p0", "max": "p3", "nulls": 0},
        ])
    );
    let request = SampleRequest { contains: Some("Ad.".into()), limit: 10 };
    let samples = source.sample("people", "name", &request).await.unwrap();
    assert_eq!((samples.values, samples.distinct, samples.complete), (vec![json!("Ada"), json!("ada")], 2, true));
    let asked = fake.asked.lock().unwrap();
    let (_, _, body) = asked.last().unwrap();
    assert_eq!(body.pointer("/aggs/field/aggs/values/terms/include"), Some(&json!(".*[aA][dD]\\..*")));
}

#[tokio::test]
async fn failures_have_a_cause_and_no_secrets() {
    let check = async |access: Access, failing: Option<(&'static str, u16, Value)>, part: &str| {
        let (fake, source) = started(people(), access).await;
        *fake.failing.lock().unwrap() = failing;
        let error = match source.describe().await {
            Ok((_, problems)) if !problems.is_empty() => problems[0].to_string(),
            Ok(_) => source.rows("people", &[], &[], 1).await.unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(part) && !error.contains("s3cr") && !error.contains("YWRhOn"), "{error}");
    };
    let because = |reason: &str| json!({"error": {"root_cause": [{"reason": reason}], "reason": reason}});
    check(Access::Open, None, "authentication failed").await;
    check(Access::User("ada".into(), "s3cret".into()), None, "authentication failed").await;
    check(Access::Token("s3cret".into()), None, "with Bearer ***").await;
    let denied = || because("action [indices:admin/mappings/get] is unauthorized for user [ada]");
    check(ada(), Some(("/*/_mapping", 403, denied())), "permission denied").await;
    check(ada(), Some(("/_cat", 403, denied())), "documents cannot be counted").await;
    check(ada(), Some(("/_resolve", 200, json!({"indices": []}))), "no index is visible").await;
    check(ada(), Some(("/people/_search", 200, json!({"timed_out": true}))), "it took too long").await;
    let partial = json!({"_shards": {"failed": 1, "failures": [{"reason": {"reason": "disk"}}]}});
    check(ada(), Some(("/people/_search", 200, partial)), "a shard failed: disk").await;
    check(ada(), Some(("/people/_search", 429, because("queue is full"))), "too busy: queue is full").await;
    check(ada(), Some(("/_resolve", 302, json!({}))), "correct the URL").await;

    let service = ElasticsearchSource::new("http://ada:s3cret@127.0.0.1:1", Access::Open, &[]).unwrap();
    let error = open(&Source::Elasticsearch(service)).unwrap().describe().await.unwrap_err();
    assert!(matches!(error, prospector_connect::ConnectError::Connect { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
}

#[tokio::test]
async fn values_have_a_limit_in_bytes() {
    let mut people = people();
    people[2]["name"] = json!("x".repeat(MAX_CELL_BYTES + 1));
    let (_fake, source) = started(people, ada()).await;
    let error = source.rows("people", &["id".into(), "name".into()], &[], 10).await.unwrap_err();
    assert!(matches!(&error, ConnectError::TooLarge { column: Some(column), .. } if column == "name"), "{error}");
    assert_eq!(source.rows("people", &["id".into()], &[], 10).await.unwrap().rows.len(), 4);
}

#[tokio::test]
async fn limits_the_text_of_a_failure() {
    let (url, sent) = endless(500).await;
    let service = ElasticsearchSource::new(&url, Access::Open, &[]).unwrap();
    let error = open(&Source::Elasticsearch(service)).unwrap().describe().await.unwrap_err().to_string();
    assert!(error.contains("500") && error.ends_with("… (truncated to 100 characters)"), "{error}");
    // Includes the content of socket buffers.
    assert!(sent.load(Ordering::Relaxed) < 24 << 20, "{sent:?}");
    // A valid JSON response.
    let (fake, source) = started(people(), ada()).await;
    let reason = "x".repeat(900_000);
    *fake.failing.lock().unwrap() = Some(("/_resolve", 500, json!({"error": {"reason": reason}})));
    let error = source.describe().await.unwrap_err().to_string();
    assert!(error.len() < 3_000 && error.ends_with("x… (truncated to 2000 characters)"), "{error}");
}
