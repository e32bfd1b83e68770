//! Sessions that a catalog continues when it is opened again.

use prospector_mcp::{Server, ServerSessions, spec::Reach};
use serde_json::{Value, json};

use super::{Scripted, reach, table::ends, tool};

/// The same command with another value in its environment.
fn with_variable(reach: &Reach) -> Reach {
    let mut changed = reach.clone();
    if let Reach::Command(command) = &mut changed {
        command.environment.push(("TZ".to_owned(), "Europe/Oslo".to_owned()));
    }
    changed
}

#[tokio::test]
async fn a_session_lasts_as_long_as_a_server_with_the_same_command() {
    let scripted = Scripted::new(json!({"tools": [tool("count")]}));
    let (sessions, same) = (ServerSessions::default(), reach(scripted.folder()));
    let first = scripted.reopen(&sessions, same.clone());
    first.refresh().await.unwrap();
    let count = async |server: &Server| scripted.call_on(server, "count", json!({})).await.unwrap();
    let counted = count(&first).await;
    let second = scripted.reopen(&sessions, same.clone());
    drop(first);
    assert_eq!(count(&second).await, json!({"calls": 2, "process": counted["process"]}));
    let changed = scripted.reopen(&sessions, with_variable(&same));
    let other = count(&changed).await;
    assert_eq!(other["calls"], 1, "another environment is another process");
    // An idle client may keep the catalog of the other one.
    sessions.end_others(&scripted.records(), &[&changed]);
    assert!(ends(&counted["process"].to_string()).await, "the catalog no longer has this command");
    assert_eq!(count(&changed).await["process"], other["process"]);
    drop(changed);
    assert!(ends(&other["process"].to_string()).await);
    let again = scripted.reopen(&sessions, same);
    assert_eq!(count(&again).await["calls"], 1);
}

#[tokio::test]
async fn a_running_server_is_listed_in_its_session() {
    let scripted = Scripted::new(json!({"tools": [tool("count")]}));
    scripted.server.refresh().await.unwrap();
    let count = async || scripted.call("count", json!({})).await.unwrap();
    let first = count().await;
    scripted.rewrite(json!({"tools": [tool("count"), tool("echo")], "start": "exit"}));
    assert_eq!(scripted.server.refresh().await.unwrap(), 2, "another process could not start");
    assert_eq!(count().await, json!({"calls": 2, "process": first["process"]}));
}

#[tokio::test]
async fn a_process_of_an_older_version_is_replaced() {
    let describe =
        |description: &str| json!({"tools": [{"name": "count", "description": description, "inputSchema": {}}]});
    let scripted = Scripted::new(describe("first"));
    scripted.server.refresh().await.unwrap();
    let count = async || -> Value { scripted.call("count", json!({})).await.unwrap() };
    let first = count().await;
    // Another process lists the new version, and its definition is approved.
    scripted.rewrite(describe("second"));
    let other = scripted.reopen(&ServerSessions::default(), reach(scripted.folder()));
    other.refresh().await.unwrap();
    let mut record = scripted.record();
    let hash = record.changes().next().unwrap().1.hash().to_owned();
    assert!(record.approve("count", &hash));
    record.write(&scripted.records()).unwrap();
    let second = count().await;
    assert_eq!(second["calls"], 1);
    assert_ne!(second["process"], first["process"]);
    assert_eq!(count().await["calls"], 2);
}
