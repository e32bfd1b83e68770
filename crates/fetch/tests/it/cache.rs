//! Cached copies with a local server: fresh, unchanged, changed, and with the server gone.

use std::{path::Path, sync::Arc, time::Duration};

use axum::{Router, http::HeaderMap, http::StatusCode, response::IntoResponse, routing::get};
use prospector_fetch::{
    FetchError, Fetcher, Policy, Request,
    cache::{Freshness, HttpCache},
};
use tokio::sync::Mutex;

/// A server with one page, which may change; returns its URL and its task.
async fn server(page: Arc<Mutex<&'static str>>) -> (String, tokio::task::JoinHandle<()>) {
    let answer = move |headers: HeaderMap| async move {
        let text = *page.lock().await;
        let etag = format!("\"{}\"", text.len());
        let known = headers.get("if-none-match").is_some_and(|known| known.as_bytes() == etag.as_bytes());
        let date = "Tue, 01 Jul 2025 10:00:00 GMT";
        let head = [("etag", etag), ("last-modified", date.to_owned()), ("content-type", "text/markdown".to_owned())];
        if known { (StatusCode::NOT_MODIFIED, head).into_response() } else { (head, text).into_response() }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/rules?key=secret", listener.local_addr().unwrap());
    let served = axum::serve(listener, Router::new().route("/rules", get(answer)));
    (url, tokio::spawn(async move { served.await.unwrap() }))
}

fn kept(folder: &Path, allow: &[&str], young: Duration) -> HttpCache {
    let policy = Policy { allow: allow.iter().map(|rule| rule.parse().unwrap()).collect(), public: false };
    HttpCache::new(Fetcher::new(policy), folder, young)
}

async fn check(kept: &HttpCache, url: &str, freshness: &str, text: &str) {
    let saved = kept.get(&Request::get(url)).await.unwrap();
    let found = match saved.freshness {
        Freshness::Young => "young",
        Freshness::Unchanged => "unchanged",
        Freshness::New => "new",
        Freshness::Old(_) => "old",
    };
    assert_eq!((found, std::fs::read_to_string(&saved.path).unwrap().as_str()), (freshness, text));
    assert_eq!(saved.path.extension().unwrap(), "md");
}

#[tokio::test]
async fn uses_fresh_copies_and_revalidates_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    let page = Arc::new(Mutex::new("# One"));
    let (url, server) = server(page.clone()).await;
    let young = kept(folder.path(), &["127.0.0.1"], Duration::from_secs(3600));
    let old = kept(folder.path(), &["127.0.0.1"], Duration::ZERO);
    check(&young, &url, "new", "# One").await;
    check(&young, &url, "young", "# One").await;
    check(&old, &url, "unchanged", "# One").await;
    *page.lock().await = "# Two!";
    check(&old, &url, "new", "# Two!").await;
    server.abort();
    let _ = server.await;
    check(&old, &url, "old", "# Two!").await;
    check(&young, &url, "young", "# Two!").await;

    // Rejected requests stay rejected even if there is a copy.
    let closed = kept(folder.path(), &[], Duration::from_secs(3600));
    assert!(matches!(closed.get(&Request::get(&url)).await, Err(FetchError::Host { .. })));
    // Without a copy, an unavailable server is an error.
    let empty = kept(&folder.path().join("empty"), &["127.0.0.1"], Duration::ZERO);
    assert!(matches!(empty.get(&Request::get(&url)).await, Err(FetchError::Transport { .. })));
}

#[tokio::test]
async fn stores_the_server_time_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let (url, _server) = server(Arc::new(Mutex::new("# One"))).await;
    let saved = kept(folder.path(), &["127.0.0.1"], Duration::ZERO).get(&Request::get(&url)).await.unwrap();
    let changed = std::fs::metadata(&saved.path).unwrap().modified().unwrap();
    assert_eq!(httpdate::fmt_http_date(changed), "Tue, 01 Jul 2025 10:00:00 GMT");
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn refetches_damaged_copies() {
    let folder = tempfile::tempdir().unwrap();
    let (url, _server) = server(Arc::new(Mutex::new("# One"))).await;
    let young = || kept(folder.path(), &["127.0.0.1"], Duration::from_secs(3600));
    check(&young(), &url, "new", "# One").await;
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 2);
    for path in files {
        check(&young(), &url, "young", "# One").await;
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let damaged: Vec<_> = HttpCache::examine(folder.path())
            .into_iter()
            .filter(|(_, fault)| fault.is_some())
            .map(|(path, _)| path)
            .collect();
        assert_eq!(damaged, [path]);
        check(&young(), &url, "new", "# One").await;
        assert!(HttpCache::examine(folder.path()).iter().all(|(_, fault)| fault.is_none()));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn restricts_copies_to_the_owner_and_removes_leftovers() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let web = folder.path().join("web");
    std::fs::create_dir(&web).unwrap();
    std::fs::write(web.join("0123.4711-0.new"), "half").unwrap();
    let (url, _server) = server(Arc::new(Mutex::new("# One"))).await;
    check(&kept(&web, &["127.0.0.1"], Duration::ZERO), &url, "new", "# One").await;
    let files: Vec<_> = std::fs::read_dir(&web).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(files.len(), 2, "{files:?}");
    for file in files {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
}
