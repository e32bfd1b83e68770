//! Queries on a Ballista cluster: a scheduler and two executors, each in a separate process, return the same as this process
//! alone.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prospector_engine::options::EngineOptions;
use prospector_engine::query::Way;
use prospector_engine::worker::{Worker, Workers, serve_worker};
use prospector_engine::{Engine, FailureCode};
use prospector_test_support::ballista::{self, Ballista};

use crate::run::tables;

/// The test that runs as a process of the cluster.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process of the cluster"]
async fn member() {
    ballista::member().await;
}

/// The test that runs as a worker process.
#[test]
#[ignore = "a worker process"]
fn query_worker() {
    // Serving ends the process; when all ignored tests run, there is no client.
    if std::env::args().any(|argument| argument == "--exact") {
        let _ = serve_worker(std::io::stdin(), std::io::stdout());
    }
}

/// Workers, which plan for the cluster and wait for it.
fn workers() -> Workers {
    let args = ["--exact", "cluster::query_worker", "--ignored", "--nocapture", "--test-threads=1"];
    Workers::new(Worker::new(std::env::current_exe().unwrap(), args))
}

/// Returns an engine that computes alone, and one that has a cluster.
async fn engines(folder: &Path, cluster: &Ballista, workers: Option<Workers>) -> (Arc<Engine>, Arc<Engine>) {
    let scratch = folder.join("scratch");
    let alone = EngineOptions { scratch: Some(scratch), workers, ..EngineOptions::default() };
    let together = EngineOptions { cluster: Some(cluster.url.parse().unwrap()), ..alone.clone() };
    (Engine::with(tables::all(folder).await, alone), Engine::with(tables::all(folder).await, together))
}

#[tokio::test(flavor = "multi_thread")]
async fn cluster_returns_the_same_as_one_machine() {
    check_answers(None).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn cluster_returns_the_same_to_a_worker() {
    check_answers(Some(workers())).await;
}

async fn check_answers(workers: Option<Workers>) {
    let folder = tempfile::tempdir().unwrap();
    let mut cluster = Ballista::start("cluster::member", 2, folder.path());
    let (alone, together) = engines(folder.path(), &cluster, workers).await;
    for sql in tables::QUERIES {
        let (here, there) = (alone.run(sql, None, 50).await.unwrap(), together.run(sql, None, 50).await.unwrap());
        assert_eq!((here.way, there.way), (Way::Joined, Way::Cluster));
        assert_eq!(there.rows, here.rows, "{sql}");
    }
    assert!(cluster.has_worked(0) && cluster.has_worked(1), "only one of two executors has computed anything");
    // A query over one database uses its own SQL, with or without a cluster.
    let native = together.run("SELECT count(*) FROM crm.customers", None, 5).await.unwrap();
    assert_eq!(native.way, Way::Native);
    // Loaded subsets are sent to the cluster too.
    together.load(&prospector_engine::scope::Subset::new("few", "crm", "customers")).await.unwrap();
    let joined = "SELECT count(*) FROM scoped.few f JOIN shop.orders o ON o.customer_id = f.id";
    assert_eq!(together.run(joined, None, 5).await.unwrap().rows.rows, [[serde_json::json!(tables::ORDERS)]]);
    let wrong = together.run("SELECT missing FROM shop.orders", None, 5).await.unwrap_err();
    assert_eq!(wrong.code, FailureCode::UnknownColumn, "{wrong}");
    // A failure during execution reports its reason and leaves no files.
    let wrong = together.run("SELECT CAST(note AS BIGINT) FROM shop.orders", None, 5).await.unwrap_err();
    assert_eq!(wrong.code, FailureCode::TypeMismatch, "{wrong}");
    assert_eq!(std::fs::read_dir(folder.path().join("scratch")).unwrap().count(), 0);
    // The cluster works without one of its executors.
    cluster.kill_executor(1);
    let sql = tables::QUERIES[0];
    let (here, there) = (alone.run(sql, None, 50).await.unwrap(), together.run(sql, None, 50).await.unwrap());
    assert_eq!(there.rows, here.rows);
    cluster.kill_scheduler();
    let gone = together.run(sql, None, 50).await.unwrap_err();
    assert_eq!(gone.code, FailureCode::Unavailable, "{gone}");
    assert!(gone.message.contains(&cluster.url), "{gone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cancels_dropped_query_on_the_cluster() {
    check_cancelled(None).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn cancels_dropped_query_of_a_worker_on_the_cluster() {
    check_cancelled(Some(workers())).await;
}

async fn check_cancelled(workers: Option<Workers>) {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Ballista::start("cluster::member", 1, folder.path());
    let (_, together) = engines(folder.path(), &cluster, workers).await;
    together.run(tables::QUERIES[0], None, 50).await.unwrap();
    let endless = "SELECT sum(length(regexp_replace(repeat(note, 500), '[ab]', 'xy', 'g'))) FROM shop.orders";
    let before = cluster.ticks();
    let mut asked = Box::pin(together.run(endless, None, 5));
    let deadline = Instant::now() + Duration::from_secs(60);
    while cluster.ticks() <= before + 50 {
        assert!(Instant::now() < deadline, "the executor should have been at work");
        let answer = tokio::time::timeout(Duration::from_secs(1), &mut asked).await;
        assert!(answer.is_err(), "the query should take longer: {answer:?}");
    }
    drop(asked);
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let before = cluster.ticks();
        tokio::time::sleep(Duration::from_secs(1)).await;
        if cluster.ticks() <= before + 5 {
            break;
        }
        assert!(Instant::now() < deadline, "the executor goes on");
    }
}
