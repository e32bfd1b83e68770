//! The life cycle of worker processes: their start, their isolation, and their end.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use prospector_engine::options::{EngineOptions, Limits};
use prospector_engine::query::Way;
use prospector_engine::scope::Subset;
use prospector_engine::worker::{Worker, Workers};
use prospector_engine::{Engine, FailureCode};
use serde_json::json;

use crate::support::{DATA, files, source, sqlite};

/// A statement that never ends, and takes almost no memory.
const ENDLESS: &str = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) \
     SELECT count(*) + (SELECT count(*) FROM crm.people) FROM n";

const SMALL: &str = "SELECT name FROM crm.people WHERE id = 2";

/// Returns the peak memory of this process, in bytes.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Returns the processes whose command line contains that mark.
fn marked(mark: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mark = format!("\0{mark}\0");
    let has = |id: &u32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&mark)
    };
    ids.filter(has).collect()
}

/// Returns the children of this process that have ended and were not waited for.
fn zombies() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let own = std::process::id().to_string();
    let is_zombie = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let rest: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        matches!(rest.as_slice(), ["Z", parent, ..] if *parent == own)
    };
    ids.filter(is_zombie).collect()
}

/// Waits until the condition is met.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn kill(id: u32) {
    assert!(Command::new("kill").args(["-9", &id.to_string()]).status().unwrap().success());
}

/// Creates an engine with separate workers, and a scratch folder.
async fn engine(folder: &Path, worker: Worker, limits: Limits) -> Arc<Engine> {
    let (workers, scratch) = (Some(Workers::new(worker)), Some(folder.join("scratch")));
    let options = EngineOptions { workers, scratch, limits, ..EngineOptions::default() };
    let sources = vec![source("crm", files(folder)).await, source("shop", sqlite(folder, DATA).await).await];
    Engine::with(sources, options)
}

fn is_empty(scratch: &Path) -> bool {
    std::fs::read_dir(scratch.join("scratch")).map_or(true, |mut entries| entries.next().is_none())
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_is_reused_and_isolated() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), crate::worker("known"), Limits::default()).await;
    let outcome = engine.run(SMALL, None, 5).await.unwrap();
    assert_eq!((json!(outcome.rows.rows), outcome.way), (json!([["Bob"]]), Way::Joined));
    let first = marked("known");
    assert_eq!(first.len(), 1);
    let environment = std::fs::read(format!("/proc/{}/environ", first[0])).unwrap();
    assert_eq!(String::from_utf8_lossy(&environment), "MALLOC_ARENA_MAX=2\0");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", first[0])).unwrap();
    let limit = |name: &str| -> Vec<String> {
        let line = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().take(2).map(str::to_owned).collect()
    };
    let space: Vec<u64> = limit("Max address space").iter().map(|bytes| bytes.parse().unwrap()).collect();
    assert!(space[0] == space[1] && (2 << 30..4 << 30).contains(&space[0]), "2 GiB beside the program: {space:?}");
    assert_eq!(limit("Max core file size"), ["0", "0"]);
    assert_eq!(limit("Max file size"), ["8589934592", "8589934592"]);
    assert!(limit("Max cpu time")[0].parse::<u64>().is_ok(), "{limits}");
    for _ in 0..10 {
        engine.run("SELECT count(*) FROM crm.people c JOIN shop.people s ON s.id = c.id", None, 5).await.unwrap();
        engine.run("SELECT missing FROM crm.people", None, 5).await.unwrap_err();
    }
    assert_eq!(marked("known"), first, "another worker was started");
    drop(engine);
    until("the idle worker goes on", || marked("known").is_empty()).await;
    until("a zombie stays", || zombies().is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_slow_and_dropped_queries() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { time: Duration::from_secs(2), ..Limits::default() };
    let engine = engine(folder.path(), crate::worker("slow"), limits).await;
    let late = engine.run(ENDLESS, None, 5).await.unwrap_err();
    assert_eq!(late.code, FailureCode::Timeout, "{late}");
    until("the worker goes on after its time", || marked("slow").is_empty()).await;
    let dropped = tokio::time::timeout(Duration::from_millis(500), engine.run(ENDLESS, None, 5)).await;
    assert!(dropped.is_err());
    until("the worker goes on though nobody waits", || marked("slow").is_empty()).await;
    until("something is left in the scratch folder", || is_empty(folder.path())).await;
    until("a zombie stays", || zombies().is_empty()).await;
    assert_eq!(json!(engine.run(SMALL, None, 5).await.unwrap().rows.rows), json!([["Bob"]]));
}

#[tokio::test(flavor = "multi_thread")]
async fn recovers_from_a_killed_worker() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), crate::worker("killed"), Limits::default()).await;
    engine.run(SMALL, None, 5).await.unwrap();
    let killer = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        marked("killed").into_iter().for_each(kill);
    };
    let (failed, ()) = tokio::join!(engine.run(ENDLESS, None, 5), killer);
    let failed = failed.unwrap_err();
    assert_eq!((failed.code, failed.message.contains("it was killed")), (FailureCode::Failed, true), "{failed}");
    engine.run(SMALL, None, 5).await.unwrap();
    // A killed idle worker is replaced.
    marked("killed").into_iter().for_each(kill);
    until("the worker goes on", || marked("killed").is_empty()).await;
    engine.run(SMALL, None, 5).await.unwrap();
    until("a zombie stays", || zombies().is_empty()).await;
}

/// A process that runs an endless query, to be killed while its worker computes.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs in a process of its own, to be killed"]
async fn parent() {
    let Ok(folder) = std::env::var("PROSPECTOR_TEST_PARENT") else { return };
    let folder = Path::new(&folder);
    let engine = engine(folder, crate::worker("orphan"), Limits::default()).await;
    engine.run(SMALL, None, 5).await.unwrap();
    println!("\nready");
    engine.run(ENDLESS, None, 5).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_worker_outlives_the_process_that_started_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "life::parent", "--ignored", "--nocapture"])
        .env("PROSPECTOR_TEST_PARENT", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "ready"), "the parent has ended");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(marked("orphan").len(), 1);
    assert!(!is_empty(folder.path()), "the query has no folder");
    parent.kill().unwrap();
    parent.wait().unwrap();
    until("the worker is an orphan", || marked("orphan").is_empty()).await;
    assert!(is_empty(folder.path()), "something is left in the scratch folder");
}

#[tokio::test(flavor = "multi_thread")]
async fn query_waits_for_a_worker_until_a_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let worker = Worker { at_once: 1, max_wait: Duration::from_secs(3), ..crate::worker("queue") };
    let engine = engine(folder.path(), worker, Limits::default()).await;
    let endless = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.run(ENDLESS, None, 5).await })
    };
    until("the first query does not begin", || !marked("queue").is_empty()).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let busy = engine.run(SMALL, None, 5).await.unwrap_err();
    assert_eq!((busy.code, busy.message.contains("3 s")), (FailureCode::Unavailable, true), "{busy}");
    let (answer, ()) = tokio::join!(engine.run(SMALL, None, 5), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        endless.abort();
    });
    assert_eq!(json!(answer.unwrap().rows.rows), json!([["Bob"]]));
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_a_program_that_is_not_a_worker() {
    let folder = tempfile::tempdir().unwrap();
    for (program, said) in
        [("/nowhere/worker", "No such file"), ("/bin/true", "exit status: 0"), ("/bin/echo", "not a worker")]
    {
        let own = folder.path().join(&program[1..]);
        std::fs::create_dir_all(&own).unwrap();
        let engine = engine(&own, Worker::new(program, ["x"]), Limits::default()).await;
        let failure = engine.run(SMALL, None, 5).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::Unavailable, "{failure}");
        assert!(failure.message.contains(said) || program == "/bin/echo", "{failure}");
        // Queries that need no worker are answered.
        assert_eq!(
            json!(engine.run("SELECT count(*) FROM shop.people", None, 5).await.unwrap().rows.rows),
            json!([[3]])
        );
    }
    until("a zombie stays", || zombies().is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn transfers_values_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), crate::worker("exact"), Limits::default()).await;
    let alone = Engine::new(vec![
        source("crm", files(folder.path())).await,
        source("shop", sqlite(folder.path(), "SELECT 1;").await).await,
    ]);
    for sql in [
        "SELECT id * 0.1 + 0.2, 1e308 * id, 5e-324, -0.0, CAST(id AS DOUBLE) / 3 FROM crm.people ORDER BY id",
        "SELECT 9223372036854775807, CAST('18446744073709551615' AS BIGINT UNSIGNED), NULL, true, 'ä\u{1F600}', '' FROM crm.people",
        "SELECT array_agg(p.name ORDER BY p.id), named_struct('a', 1.5, 'b', [NULL, 'x']), DATE '2024-02-29' FROM crm.people p",
        "SELECT p.id, s.name FROM crm.people p LEFT JOIN shop.people s ON s.id = p.id + 1 ORDER BY 1",
        "SELECT name FROM crm.people WHERE id > 100",
    ] {
        let (here, there) = (alone.run(sql, None, 2).await, engine.run(sql, None, 2).await);
        let (here, there) = (here.unwrap(), there.unwrap());
        assert_eq!(format!("{:?}", there.rows), format!("{:?}", here.rows), "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn transfers_many_frames_completely() {
    let folder = tempfile::tempdir().unwrap();
    let data = "CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) \
         INSERT INTO notes SELECT i, printf('%.*c', 100000 + i, 'x') FROM n;";
    let workers = Some(Workers::new(crate::worker("parts")));
    let sources =
        vec![source("shop", sqlite(folder.path(), data).await).await, source("crm", files(folder.path())).await];
    let engine = Engine::with(sources, EngineOptions { workers, ..EngineOptions::default() });
    engine.load(&Subset::new("held", "shop", "notes")).await.unwrap();
    for table in ["scoped.held", "shop.notes"] {
        let sql =
            format!("SELECT count(*), sum(length(n.note)) FROM {table} n, (SELECT max(id) AS id FROM crm.people) p");
        let rows = engine.run(&sql, None, 5).await.unwrap().rows.rows;
        assert_eq!(json!(rows), json!([[150, 150 * 100_000 + 150 * 151 / 2]]), "{table}");
    }
    let sql = "SELECT n.note FROM shop.notes n JOIN crm.people p ON p.id > 0 WHERE p.id = 1 ORDER BY n.id";
    let rows = engine.run(sql, None, 140).await.unwrap().rows;
    assert_eq!((rows.rows.len(), rows.has_more), (140, true));
    assert!(rows.rows.iter().zip(1..).all(|(row, id)| row[0].as_str().unwrap().len() == 100_000 + id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_replaced_after_many_queries() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), crate::worker("replaced"), Limits::default()).await;
    engine.run(SMALL, None, 5).await.unwrap();
    let first = marked("replaced");
    for _ in 0..200 {
        engine.run(SMALL, None, 5).await.unwrap();
    }
    until("the first worker goes on", || !first.iter().any(|id| marked("replaced").contains(id))).await;
    assert_eq!(marked("replaced").len(), 1);
}
