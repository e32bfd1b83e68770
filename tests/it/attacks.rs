//! `planner serve` with 4 GB of address space, under requests that need more memory or time than available: each of them fails or is
//! limited, and others are still answered.
//!
//! The slowest health check is printed:
//!
//! ```sh
//! .ci/services cargo test --release --test it attacks -- --nocapture
//! ```

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use prospector_test_support::provider::{FakeProvider, KEY, Turn};
use serde_json::{Value, json};

use crate::support::{
    Estate,
    serving::{Server, TOKEN},
};

/// Maximum duration of a health check: longer than on a busy machine, shorter than a blocked server.
const MAX_HEALTH_CHECK: Duration = Duration::from_secs(10);

/// The number of concurrent queries of one question.
const AT_ONCE: usize = 4;

/// A query with the result 69.
const USUAL: &str = "SELECT COUNT(*) FROM music_store.customers WHERE country_cd = 'BR'";

/// Maximum size of a response to an attack.
const MAX_ANSWER_BYTES: usize = 10_000;

/// The number of times that one statement doubles the rows of a table.
const DOUBLINGS: usize = 40;

/// The address space of the server process.
const MEMORY_KIB: u64 = 4 << 20;

/// Starts a server with a model provider at this address.
fn start(estate: &Estate, provider: &str) -> Server {
    let settings = [("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", provider)];
    Server::with_memory(MEMORY_KIB, estate, &settings, &["--model", "claude-haiku-4-5"])
}

/// Returns expensive queries with their database; without one they are cross-source.
fn queries(servers: &[&'static str]) -> Vec<(Option<&'static str>, String)> {
    let doubled: String = (1..=DOUBLINGS)
        .map(|level| {
            let below = level - 1;
            format!(", a{level} AS (SELECT l.x FROM a{below} l CROSS JOIN a{below} r)")
        })
        .collect();
    let casts = "CAST(".repeat(24);
    let minus = format!("SELECT {}1", "- ".repeat(20_000));
    let intervals = format!("SELECT {}'1' DAY", "INTERVAL ".repeat(700));
    let mut all: Vec<(Option<&'static str>, String)> = [
        "SELECT array_repeat(1, 1000000000)".to_owned(),
        "SELECT repeat('x', 1500000000)".to_owned(),
        "SELECT lpad(channel, 2000000000, 'x') FROM web_metrics.web_metrics".to_owned(),
        "SELECT repeat(channel, 1000000) FROM web_metrics.web_metrics".to_owned(),
        format!("WITH a0 AS (SELECT channel AS x FROM web_metrics.web_metrics){doubled} SELECT * FROM a{DOUBLINGS}"),
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n".to_owned(),
        format!("SELECT {casts}1"),
        minus.clone(),
        intervals.clone(),
    ]
    .map(|sql| (None, sql))
    .into();
    for name in ["music_store"].iter().chain(servers) {
        all.extend(
            [
                format!("SELECT {casts}1"),
                minus.clone(),
                intervals.clone(),
                format!("WITH a0 AS (SELECT 1 AS x UNION ALL SELECT 2){doubled} SELECT count(*) FROM a{DOUBLINGS}"),
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n".to_owned(),
            ]
            .map(|sql| (Some(*name), sql)),
        );
        let cells: &[&str] = match *name {
            "music_store" => &["SELECT hex(zeroblob(300000000))", "SELECT printf('%.*c', 500000000, 'x')"],
            _ => &["SELECT repeat('x', 1000000000)", "SELECT lpad('x', 500000000, 'y')"],
        };
        all.extend(cells.iter().map(|sql| (Some(*name), (*sql).to_owned())));
    }
    // Endless queries reach their time limit concurrently.
    all.sort_by_key(|(_, sql)| !sql.contains("RECURSIVE"));
    all
}

/// Returns HTTP requests that are too long or expensive to search.
fn searches() -> Vec<(&'static str, Value)> {
    let text = |part: &str, bytes: usize| part.repeat(bytes / part.len());
    vec![
        ("search", json!({"query": text("revenue by country,", 950_000)})),
        ("search", json!({"query": text("revenue by country,", 10_000)})),
        ("search", json!({"query": (0..2_000).map(|n| format!("w{n} ")).collect::<String>()})),
        ("resolve_fact", json!({"question": text("revenue by country,", 950_000)})),
        ("describe", json!({"ids": [text("orders.", 400_000), text("a", 400_000)]})),
    ]
}

/// Adds the servers from the environment to the catalog.
async fn add_servers(estate: &Estate) -> Vec<&'static str> {
    let mut added = Vec::new();
    let mut entries = String::new();
    for (name, variable) in [("pg", "PROSPECTOR_TEST_POSTGRES"), ("maria", "PROSPECTOR_TEST_MARIADB")] {
        let Ok(url) = std::env::var(variable) else { continue };
        let url = match name {
            "maria" => format!("{}mysql", url.trim_end_matches("mysql")),
            _ => url,
        };
        entries += &format!("  - {{name: {name}, url: '{url}'}}\n");
        added.push(name);
    }
    let catalog = estate.path("catalog.yaml");
    let text = std::fs::read_to_string(&catalog).unwrap();
    std::fs::write(&catalog, text.replacen("databases:\n", &format!("databases:\n{entries}"), 1)).unwrap();
    added
}

#[tokio::test(flavor = "multi_thread")]
async fn expensive_requests_do_not_block_others() {
    let estate = Estate::copy();
    let servers = add_servers(&estate).await;
    let queries = queries(&servers);
    let mut script = Vec::new();
    for part in queries.chunks(AT_ONCE) {
        let calls = part.iter().map(|(database, sql)| {
            let query = match database {
                Some(name) => json!({"question": "?", "sql": sql, "database": name}),
                None => json!({"question": "?", "sql": sql}),
            };
            ("execute_sql", json!({"queries": [query]}))
        });
        // One call of each round succeeds: rounds in which every call fails end the run.
        let usual = ("execute_sql", json!({"queries": [{"question": "?", "sql": USUAL}]}));
        script.push(Turn::calls(calls.chain([usual])));
        script.push(Turn::text("That cannot be determined."));
        // The follow-up questions.
    }
    let fake = FakeProvider::start(script).await;
    let provider = fake.settings().anthropic_base_url.unwrap();
    let server = Arc::new(tokio::task::block_in_place(|| start(&estate, &provider)));
    let usual = json!({"ids": ["music_store.customers"]}).to_string();
    let expected = server.ask("POST", "/v1/tools/describe", &usual);
    assert_eq!(expected.0, 200, "{}", expected.1);

    let is_over = Arc::new(AtomicBool::new(false));
    let watch = {
        let (server, is_over) = (server.clone(), is_over.clone());
        thread::spawn(move || {
            let (mut slowest, mut checks) = (Duration::ZERO, 0);
            while !is_over.load(Ordering::Relaxed) {
                let began = Instant::now();
                assert_eq!(server.ask("GET", "/healthz", "").0, 200);
                slowest = slowest.max(began.elapsed());
                checks += 1;
                thread::sleep(Duration::from_millis(20));
            }
            (slowest, checks)
        })
    };
    let other = {
        let (server, is_over, usual, expected) = (server.clone(), is_over.clone(), usual.clone(), expected.clone());
        thread::spawn(move || {
            let mut answers = 0;
            while !is_over.load(Ordering::Relaxed) {
                assert_eq!(server.ask("POST", "/v1/tools/describe", &usual), expected);
                answers += 1;
                thread::sleep(Duration::from_millis(100));
            }
            answers
        })
    };
    tokio::task::block_in_place(|| {
        for part in queries.chunks(AT_ONCE) {
            let client = server.clone();
            let asked = json!({"question": "How much is that?"}).to_string();
            let asked = thread::spawn(move || client.ask("POST", "/v1/ask", &asked));
            for (tool, arguments) in searches() {
                let (status, said) = server.ask("POST", &format!("/v1/tools/{tool}"), &arguments.to_string());
                assert!(matches!(status, 200 | 400 | 404 | 413 | 422), "{tool}: {status} {said}");
            }
            let (status, said) = asked.join().unwrap();
            assert_eq!(status, 200, "{said}");
            let said: Value = serde_json::from_str(&said).unwrap();
            assert_eq!(said["questions"].as_array().unwrap().len(), part.len() + 1, "{said:#}");
            for question in said["questions"].as_array().unwrap() {
                let answer = format!("{}{}", question["rows"], question["error"]);
                println!("{:.60} -> {answer:.120}", question["sql"].as_str().unwrap());
                assert!(answer.len() < MAX_ANSWER_BYTES, "{} bytes", answer.len());
                assert_eq!(question["sql"] == USUAL, question["rows"] == json!([[69]]), "{question:#}");
            }
        }
    });
    is_over.store(true, Ordering::Relaxed);
    let ((slowest, checks), answers) = (watch.join().unwrap(), other.join().unwrap());
    println!(
        "{} queries; the slowest of {checks} health checks took {slowest:?}; {answers} answers to another client",
        queries.len()
    );
    assert!(slowest < MAX_HEALTH_CHECK, "{slowest:?}");
    assert_eq!(server.ask("GET", "/readyz", "").0, 200);

    fake.assert_clean();
}

/// The number of clients that send rows concurrently.
const CLIENTS: usize = 48;

/// Returns bodies that expand in memory: many columns, many rows without cells, many small values.
fn tables() -> Vec<(&'static str, String)> {
    let (empty, one): (Vec<[i64; 0]>, [[i64; 1]; 1]) = (vec![[]; 1_000], [[1]]);
    let deep = vec![json!([1]); 180_000];
    let objects = vec![json!([{"a": 1}]); 80_000];
    let wide: Vec<Vec<i64>> = vec![vec![1; 1_000]; 200];
    vec![
        // Each of these would exhaust 4 GB if unlimited.
        ("/v1/parquet", json!({"columns": vec![""; 60_000], "rows": one}).to_string()),
        ("/v1/parquet", json!({"columns": vec![""; 20_000], "rows": one}).to_string()),
        ("/v1/parquet", json!({"columns": vec!["c"; 1_000], "rows": empty}).to_string()),
        ("/v1/parquet", json!({"columns": vec!["c"; 1_000], "rows": wide}).to_string()),
        ("/v1/parquet", json!({"columns": ["a"], "rows": deep}).to_string()),
        ("/v1/parquet", json!({"columns": ["a"], "rows": objects}).to_string()),
        ("/v1/chart", json!({"columns": vec!["c"; 10_000], "rows": vec![[0; 0]; 10_000]}).to_string()),
        ("/v1/chart", json!({"columns": vec!["c"; 1_000], "rows": empty}).to_string()),
        (
            "/v1/chart",
            json!({"columns": ["a", "b"], "rows": (0..10_000).map(|n| [n, n * n]).collect::<Vec<_>>()}).to_string(),
        ),
        ("/v1/tools/search", format!("[{}]", vec!["{\"\":0}"; 120_000].join(","))),
        ("/v1/ask", format!("{{\"question\": [{}]}}", vec!["[]"; 300_000].join(","))),
        ("/mcp", format!("[{}]", vec!["[1]"; 200_000].join(","))),
    ]
}

/// Sends a body, which the server need not read to its end, and returns the status of the response; 0 if the connection was closed before.
fn send_rows(address: &str, path: &str, body: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let line = String::from_utf8_lossy(&answer[..answer.len().min(40)]).into_owned();
    line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

#[test]
fn rows_take_no_more_memory_than_there_is() {
    let estate = Estate::copy();
    let server = Arc::new(Server::with_memory(MEMORY_KIB, &estate, &[], &["--model", "offline"]));
    let usual = json!({"columns": ["city", "n"], "rows": [["Lisboa", 1], ["Porto", 2]]}).to_string();
    let parquet = || send_rows(&server.address, "/v1/parquet", &usual);
    assert_eq!(parquet(), 200);

    let is_over = Arc::new(AtomicBool::new(false));
    let watch = {
        let (server, is_over) = (server.clone(), is_over.clone());
        thread::spawn(move || {
            let (mut slowest, mut checks) = (Duration::ZERO, 0);
            while !is_over.load(Ordering::Relaxed) {
                let began = Instant::now();
                assert_eq!(server.ask("GET", "/healthz", "").0, 200);
                slowest = slowest.max(began.elapsed());
                checks += 1;
                thread::sleep(Duration::from_millis(20));
            }
            (slowest, checks)
        })
    };
    let tables = Arc::new(tables());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (server, tables) = (server.clone(), tables.clone());
            thread::spawn(move || {
                let mut statuses = BTreeMap::new();
                for turn in 0..tables.len() {
                    let (path, body) = &tables[(client + turn) % tables.len()];
                    let status = send_rows(&server.address, path, body);
                    assert!(matches!(status, 0 | 200 | 400 | 408 | 413 | 429 | 503), "{path}: {status}");
                    *statuses.entry(status).or_insert(0) += 1;
                }
                statuses
            })
        })
        .collect();
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for client in clients {
        client.join().unwrap().into_iter().for_each(|(status, count)| *statuses.entry(status).or_insert(0) += count);
    }
    is_over.store(true, Ordering::Relaxed);
    let (slowest, checks) = watch.join().unwrap();
    println!("{statuses:?}; the slowest of {checks} health checks took {slowest:?}");
    // Clients and server share the cores with other tests, so that durations are not compared.
    assert!(slowest < 3 * MAX_HEALTH_CHECK, "{slowest:?}");
    assert_eq!((server.ask("GET", "/readyz", "").0, parquet()), (200, 200), "what was reserved is free again");
}
