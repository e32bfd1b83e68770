//! Fields of nested columns in JSON lines, and the names of the columns of an answer.

use std::sync::Arc;

use prospector_connect::open;
use prospector_connect::source::{Source as Place, SourceKind};
use prospector_engine::Engine;
use serde_json::{Value, json};

use crate::support::source;

const CLICKS: &str = r#"{"Id":1,"Country":"NO","device":{"type":"mobile","os":{"name":"android","version":14}}}
{"Id":2,"Country":"SE","device":{"type":"desktop","os":{"name":"linux"}}}
{"Id":3,"Country":"NO","device":null}
"#;

async fn engine(folder: &std::path::Path) -> Arc<Engine> {
    let path = folder.join("clicks.jsonl");
    std::fs::write(&path, CLICKS).unwrap();
    let connector = open(&Place::files(SourceKind::Jsonl, vec![path])).unwrap();
    Engine::new(vec![source("web", connector).await])
}

#[tokio::test]
async fn reads_fields_of_structs() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for (sql, expected) in [
        ("SELECT device['type'] AS t FROM web.clicks ORDER BY id", json!([["mobile"], ["desktop"], [null]])),
        ("SELECT c.device['type'] FROM web.clicks c WHERE c.device['type'] = 'mobile'", json!([["mobile"]])),
        ("SELECT get_field(device, 'type') AS t FROM web.clicks WHERE id = 2", json!([["desktop"]])),
        ("SELECT device['os']['name'] AS n FROM web.clicks WHERE id = 1", json!([["android"]])),
        ("SELECT CAST(device['os']['version'] AS INT) + 1 AS v FROM web.clicks WHERE id = 1", json!([[15]])),
        (
            "SELECT web.clicks.device['type'] AS t, COUNT(*) AS n FROM web.clicks GROUP BY 1 ORDER BY 1",
            json!([["desktop", 1], ["mobile", 1], [null, 1]]),
        ),
        ("SELECT named_struct('a', 7)['a'] AS a", json!([[7]])),
    ] {
        engine.validate(sql, None).await.unwrap_or_else(|failure| panic!("{sql}: {failure}"));
        let outcome = engine.run(sql, None, 9).await.unwrap_or_else(|failure| panic!("{sql}: {failure}"));
        assert_eq!(json!(outcome.rows.rows), expected, "{sql}");
        let found = engine.inspect(sql, None).await.unwrap();
        assert_eq!(found.unknown_columns, [] as [&str; 0], "{sql}");
    }
}

#[tokio::test]
async fn suggests_the_supported_field_access() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for sql in ["SELECT device->>'type' FROM web.clicks", "SELECT device.type FROM web.clicks"] {
        let failure = engine.validate(sql, None).await.unwrap_err();
        assert!(failure.suggestion.as_deref().unwrap_or_default().contains("['field']"), "{sql}: {failure}");
    }
}

#[tokio::test]
async fn columns_have_the_names_of_the_statement() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for (sql, expected) in [
        ("SELECT Country AS country, COUNT(*) AS n FROM web.clicks GROUP BY 1", json!(["country", "n"])),
        ("SELECT country, id AS \"The Id\" FROM web.clicks", json!(["country", "The Id"])),
        ("SELECT c.Country, c.id AS clickId FROM web.clicks c", json!(["Country", "clickId"])),
        ("WITH a AS (SELECT Country AS country FROM web.clicks) SELECT country FROM a", json!(["country"])),
        ("SELECT * FROM web.clicks", json!(["Id", "Country", "device"])),
        ("SELECT id AS id, c.*, country AS country FROM web.clicks c", Value::Null),
        ("SELECT 1 AS first, t.* FROM (SELECT id FROM web.clicks) t", json!(["first", "Id"])),
        ("SELECT Id AS id FROM web.clicks UNION ALL SELECT 1", json!(["id"])),
    ] {
        match engine.run(sql, None, 9).await {
            Ok(outcome) => assert_eq!(json!(outcome.rows.columns), expected, "{sql}"),
            Err(failure) => assert_eq!(expected, Value::Null, "{sql}: {failure}"),
        }
    }
}
