//! A server with a damaged index reports that it is not ready, rebuilds the index, and is ready again.

use std::path::{Path, PathBuf};

use crate::support::{self, QUESTION, estate, server};
use prospector_discovery::Profile;
use prospector_serve::Options;
use tokio_util::sync::CancellationToken;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_index_is_rebuilt() {
    let folder = estate();
    let index = folder.path().join(".prospector/index");
    let server = server(&folder, Profile::DEFAULT, support::offline(), Options::default()).await;
    let listener = server.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let (serving, stopped) = (server.clone(), stop.clone());
    let ended = tokio::spawn(async move { serving.http(listener, stopped).await.unwrap() });
    let running = support::Running { folder, address, stop, ended };
    let search = format!("/v1/search?q={}", QUESTION.replace(' ', "+"));
    let before = running.get(&search).await;
    assert_eq!((running.get("/readyz").await.status, before.status), (200, 200));

    let path_of = |kind: &str| {
        let mut all = Vec::new();
        files(&index, &mut all);
        all.into_iter().find(|path| path.to_string_lossy().ends_with(kind)).unwrap()
    };
    // The index is not rebuilt yet.
    let path = path_of(".fast");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(path, bytes).unwrap();
    let refused = running.get(&search).await;
    assert_ne!(refused.status, 200, "{refused:?}");
    let unready = running.get("/readyz").await;
    assert_eq!((unready.status, unready.body.as_str()), (503, "the index is damaged\n"));
    assert_eq!(running.get("/healthz").await.status, 200);

    server.follow(|| None);
    let rebuilt = |generation: u64| {
        let running = &running;
        async move {
            running.until("/v1/about", |said| said.json()["generation"].as_u64() >= Some(generation)).await;
            running.until("/readyz", |said| said.status == 200).await
        }
    };
    rebuilt(2).await;
    assert_eq!(running.get(&search).await.body, before.body);
    std::fs::remove_file(path_of(".pos")).unwrap();
    rebuilt(3).await;
    assert_eq!(running.get(&search).await.body, before.body);
    assert!(path_of(".pos").exists());
}
