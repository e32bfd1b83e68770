//! Loads MCP servers: lists those without cached lists, reads the others from the state folder, and converts tools to operations.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::{StreamExt, stream};
use prospector_api::{Api, ApiKind, ApiSource, model::LiveServer};
use prospector_core::{Problem, name::nearest, problem::Severity};
use prospector_mcp::{Definition, Record, Server};
use serde_json::{Value, json};

use super::{
    FOLDER, Mcp, McpEntry, McpServers,
    caller::Connected,
    plan::{self, Planned},
};
use crate::catalog::{entry::is_match, section::Opening};

/// Number of servers listed concurrently.
const MAX_LISTED: usize = 16;
/// Seconds after which a failed server is contacted again without `refresh`.
const RETRY_SECONDS: u64 = 600;
/// Maximum number of suggestions for an unknown name.
const MAX_SUGGESTED: usize = 3;
/// Maximum number of reported problems per server.
const MAX_PROBLEMS: usize = 10;

/// Loads the servers of the entries.
pub(super) async fn load(
    mcp: Mcp<'_>,
    entries: Vec<McpEntry>,
    opening: &mut Opening<'_>,
) -> (Arc<McpServers>, Vec<Api>) {
    let folder = opening.folders.state.join(FOLDER);
    let planned = plan::plan(&mcp, entries, opening);
    let servers: Vec<(Planned, Server)> = planned
        .into_iter()
        .map(|one| {
            let server = opening.sessions.server(&one.name, one.reach.clone(), one.timeout, &folder);
            (one, server)
        })
        .collect();
    refresh(&servers, opening).await;
    let mut loaded = Loaded { mcp, apis: Vec::new(), servers: HashMap::new() };
    for (planned, server) in servers {
        match Record::read(&folder, &planned.name) {
            Ok(record) => loaded.add(planned, server, record, opening),
            Err(error) => {
                let reason = format!("cannot read the approved definitions of `{}`: {error}", planned.name);
                let advice = "restore the file, or remove it to pin what the server lists now";
                opening.problems.push(Problem::error(planned.place, reason).advise(advice));
            }
        }
    }
    (Arc::new(McpServers::new(loaded.servers)), loaded.apis)
}

/// Lists the tools of the servers: all on `refresh`, otherwise those never listed.
async fn refresh(servers: &[(Planned, Server)], opening: &Opening<'_>) {
    let folder = opening.folders.state.join(FOLDER);
    let due_now = |(planned, _): &&(Planned, Server)| {
        let Ok(record) = Record::read(&folder, &planned.name) else { return false };
        let is_known = record.last_seen().is_some() && record.is_of(&planned.reach);
        opening.relist || !(is_known || record.failed_within(RETRY_SECONDS, &planned.reach))
    };
    let due: Vec<&(Planned, Server)> = servers.iter().filter(due_now).collect();
    let (total, done) = (due.len(), AtomicUsize::new(0));
    let (progress, done) = (opening.progress, &done);
    let asked = due.into_iter().map(|(_, server)| async move {
        // A failure is stored in the record of the server.
        let _ = server.refresh().await;
        progress("servers", done.fetch_add(1, Ordering::Relaxed) + 1, total);
    });
    let all = stream::iter(asked).buffer_unordered(MAX_LISTED).collect::<Vec<()>>();
    tokio::select! {
        _ = all => {}
        () = opening.folders.cancel.cancelled() => {}
    }
}

/// The servers loaded so far.
struct Loaded<'a> {
    mcp: Mcp<'a>,
    apis: Vec<Api>,
    servers: HashMap<String, Connected>,
}

impl Loaded<'_> {
    fn add(&mut self, planned: Planned, server: Server, record: Record, opening: &mut Opening<'_>) {
        report(&planned, &record, opening);
        let tools: Vec<&Definition> = record.tools().collect();
        let listed = |tool: &&&Definition| {
            planned.tools.is_empty() || planned.tools.iter().any(|(name, _)| is_match(name, tool.name()))
        };
        let allowed: Vec<&Definition> = tools.iter().filter(listed).copied().collect();
        for (wanted, line) in &planned.tools {
            let is_unknown = !tools.iter().any(|tool| is_match(wanted, tool.name()));
            let is_changed = record.changes().any(|(tool, _)| is_match(wanted, tool.name()));
            if is_unknown && !is_changed && record.last_seen().is_some() {
                let near = nearest(wanted, tools.iter().map(|tool| tool.name()), MAX_SUGGESTED);
                let reason = format!("`tools`: `{}` has no tool `{wanted}`", planned.name);
                let advice = if near.is_empty() {
                    "correct `tools`".to_owned()
                } else {
                    format!("did you mean {}?", near.join(", "))
                };
                opening.problems.push(Problem::warning(opening.place(*line), reason).advise(advice));
            }
        }
        let mut definitions = HashMap::new();
        for tool in allowed {
            let id = format!("{}.{}", planned.name, tool.name());
            match self.mcp.apis.resolve_operation(&id) {
                Some(other) => {
                    let reason = format!("the tool `{id}` has the id of the operation `{other}` of another API");
                    opening.problems.push(Problem::error(&planned.place, reason).advise("rename the server"));
                }
                None => {
                    definitions.insert(tool.name().to_owned(), tool.clone());
                }
            }
        }
        let order: Vec<&Definition> = record.tools().filter(|tool| definitions.contains_key(tool.name())).collect();
        self.apis.extend(describe(&planned, &record, &order, tools.len(), opening));
        let callable = (definitions.into_iter())
            .map(|(name, tool)| (name, (planned.invoke.allows(&tool, &planned.tools), tool)))
            .collect();
        let connected = Connected { server, tools: callable, invoke: planned.invoke.clone(), record };
        self.servers.insert(planned.name, connected);
    }
}

/// Reports why a server or some of its tools cannot be used.
fn report(planned: &Planned, record: &Record, opening: &mut Opening<'_>) {
    if let Some((reason, advice)) = record.failure() {
        let problem = match record.last_seen() {
            Some(seen) => {
                let reason = format!("{}; its tools were last seen {seen}", describe_failure(&planned.name, reason));
                Problem::warning(&planned.place, reason)
            }
            None => Problem::error(&planned.place, describe_failure(&planned.name, reason)),
        };
        opening.problems.push(problem.advise(advice));
    }
    for (tool, _) in record.changes().take(MAX_PROBLEMS) {
        let reason = format!("`{}.{}` is quarantined: its definition changed", planned.name, tool.name());
        let advice = format!("run `planner sources review {}`", planned.name);
        opening.problems.push(Problem::warning(&planned.place, reason).advise(advice));
    }
    for reason in record.problems.iter().take(MAX_PROBLEMS) {
        opening.problems.push(Problem::warning(&planned.place, format!("`{}`: {reason}", planned.name)));
    }
}

/// Returns the reason of the problem of a server that could not be listed.
pub(super) fn describe_failure(server: &str, reason: &str) -> String {
    format!("the MCP server `{server}` cannot be reached: {reason}")
}

/// Converts the tools of a server to operations; `None` if it has no tools.
fn describe(
    planned: &Planned,
    record: &Record,
    tools: &[&Definition],
    total: usize,
    opening: &mut Opening<'_>,
) -> Option<Api> {
    if tools.is_empty() {
        return None;
    }
    let definitions: Vec<Value> = tools.iter().map(|tool| tool.sanitize()).collect();
    // The description comes only from the catalog, never from the server.
    let source = ApiSource {
        name: planned.name.clone(),
        kind: Some(ApiKind::Mcp),
        description: (!planned.description.is_empty()).then(|| planned.description.clone()),
        ..ApiSource::default()
    };
    match source.read(&json!({"tools": definitions}).to_string()) {
        Ok((mut api, problems)) => {
            let note = match (record.failure(), record.last_seen()) {
                (Some(_), Some(seen)) => format!("last seen {seen}; the server did not respond to the latest request"),
                _ => String::new(),
            };
            api.server = Some(LiveServer { note });
            api.withheld = total - tools.len();
            // Problems inside of a server's list are no errors of the catalog.
            let lower = |problem: Problem| Problem {
                severity: Severity::Warning,
                place: format!("{}: {}", planned.place, problem.place),
                ..problem
            };
            opening.problems.extend(problems.into_iter().take(MAX_PROBLEMS).map(lower));
            Some(api)
        }
        Err(problem) => {
            opening.problems.push(Problem { place: planned.place.clone(), ..problem });
            None
        }
    }
}
