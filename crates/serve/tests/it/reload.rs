//! A catalog that changes while it is opened: the slow opening is cancelled, and the corrected catalog is served.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use prospector_discovery::{Catalog, CatalogOptions, Profile};
use prospector_serve::{Opened, Options, Server};
use tokio_util::sync::CancellationToken;

use crate::support::{self, Running, TIMEOUT, estate};

/// The content of a catalog that never finishes opening.
const SLOW: &str = "# slow";

/// How many slow openings started, and how many were cancelled.
#[derive(Default)]
struct Counts {
    begun: AtomicUsize,
    given_up: AtomicUsize,
}

/// A server that follows its catalog file, and opens the slow one until it is cancelled.
async fn following() -> (Running, Arc<Counts>) {
    let folder = estate();
    let (file, counts): (PathBuf, Arc<Counts>) = (folder.path().join("catalog.yaml"), Arc::default());
    let (opened, counted) = (file.clone(), counts.clone());
    let open = move |_: bool, cancel: CancellationToken| -> Opened {
        let text = std::fs::read_to_string(&opened).unwrap_or_default();
        if text.contains(SLOW) {
            counted.begun.fetch_add(1, Ordering::SeqCst);
            let began = Instant::now();
            while !cancel.is_cancelled() {
                assert!(began.elapsed() < 4 * TIMEOUT, "the opening is not cancelled");
                std::thread::sleep(Duration::from_millis(5));
            }
            counted.given_up.fetch_add(1, Ordering::SeqCst);
        }
        let options = CatalogOptions { cancel, ..CatalogOptions::default() };
        tokio::runtime::Handle::current().block_on(Catalog::open(&opened, options)).map_err(Into::into)
    };
    let server = Server::open(open, Profile::DEFAULT, support::offline(), Options::default()).await.unwrap();
    server.follow(move || Some((std::fs::read_to_string(&file).ok()?, String::new())));
    let listener = server.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let stopped = stop.clone();
    let ended = tokio::spawn(async move { server.http(listener, stopped).await.unwrap() });
    (Running { folder, address, stop, ended }, counts)
}

fn write(server: &Running, text: &str) {
    std::fs::write(server.folder.path().join("catalog.yaml"), text).unwrap();
}

async fn until(holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, waiting).await.expect("the condition is not met in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn corrected_catalog_supersedes_a_slow_opening() {
    let (server, counts) = following().await;
    write(&server, SLOW);
    until(|| counts.begun.load(Ordering::SeqCst) == 1).await;
    assert_eq!(server.get("/v1/about").await.json()["generation"], 1, "the previous catalog is served meanwhile");
    write(&server, "documents:\n- path: rules.md\n");
    let about = server.until("/v1/about", |said| said.json()["generation"] == 2).await.json();
    assert_eq!(about["things"]["table"], 0, "{about}");
    assert_eq!(counts.given_up.load(Ordering::SeqCst), 1);
    assert!(about["catalog_error"].is_null(), "{about}");
    assert_eq!(server.get("/readyz").await.body, "ready\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn superseded_openings_are_cancelled() {
    let (server, counts) = following().await;
    for n in 1..=2 {
        write(&server, &format!("{SLOW} {n}"));
        until(|| counts.begun.load(Ordering::SeqCst) == n).await;
    }
    write(&server, "documents:\n- path: rules.md\n");
    server.until("/v1/about", |said| said.json()["generation"] == 2).await;
    assert_eq!(counts.given_up.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn requested_refreshes_are_superseded() {
    let (server, counts) = following().await;
    write(&server, SLOW);
    let asked = server.send("POST", "/v1/refresh", &[], "").await;
    until(|| counts.begun.load(Ordering::SeqCst) >= 1).await;
    write(&server, "documents:\n- path: rules.md\n");
    let mut asked = asked;
    let said = support::Said::of(&mut asked).await;
    // Either the followed file or the request may come first.
    assert!(matches!(said.status, 200 | 503), "{said:?}");
    server.until("/v1/about", |said| said.json()["things"]["table"] == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_does_not_wait_for_openings() {
    let (server, counts) = following().await;
    write(&server, SLOW);
    until(|| counts.begun.load(Ordering::SeqCst) == 1).await;
    server.stop.cancel();
    tokio::time::timeout(TIMEOUT, server.ended).await.unwrap().unwrap();
    until(|| counts.given_up.load(Ordering::SeqCst) == 1).await;
}
