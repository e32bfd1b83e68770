//! A server has the transformer read its index, beside everything else, until it closes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use prospector_discovery::Profile;
use prospector_serve::Options;
use support::{QUESTION, estate, server};
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn the_index_is_read_while_it_is_served() {
    let folder = estate();
    let index = folder.path().join(".prospector/index");
    let server = server(&folder, Profile::DEFAULT, support::offline(), Options::default()).await;
    let listener = server.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let (serving, stopped) = (server.clone(), stop.clone());
    let ended = tokio::spawn(async move { serving.http(listener, stopped).await.unwrap() });
    let running = support::Running { folder, address, stop, ended };
    let search = format!("/v1/search?q={}", QUESTION.replace(' ', "+"));
    assert_eq!(running.get(&search).await.status, 200);
    let is_read = || {
        let entries = std::fs::read_dir(&index).unwrap().map(|entry| entry.unwrap());
        let mut meanings = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("meanings-"));
        meanings.any(|entry| entry.metadata().unwrap().len() > 0)
    };
    assert!(!is_read(), "nobody has it read yet");
    server.deepen();
    running.until("/readyz", |said| said.status == 200 && is_read()).await;
    assert_eq!(running.get(&search).await.status, 200);
}
