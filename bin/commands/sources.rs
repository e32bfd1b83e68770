//! `planner sources`: the MCP servers of the catalog, changed definitions of their tools, and sign-in.

use prospector_discovery::{
    Catalog,
    sources::{ServerState, ToolChange, approve},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Opening, open};
use crate::{
    Exit,
    cli::{ReportFormat, SourcesArgs, SourcesCommand},
    output,
    report::Report,
    settings::Settings,
    table::Table,
};

/// Hexadecimal digits of a hash in an id.
const MAX_HASH_DIGITS: usize = 12;

/// A changed definition, as the review shows it.
#[derive(Serialize)]
struct Pending {
    /// What `--approve` takes: server, tool and the beginning of the hash of the new definition.
    id: String,
    #[serde(flatten)]
    change: ToolChange,
}

/// `planner sources`
pub(crate) async fn sources(args: SourcesArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let (catalog, _) = open(settings, Opening::Use).await?;
    let servers = catalog.servers();
    match args.command {
        SourcesCommand::List { format } => list(&servers, format),
        SourcesCommand::Review { server, approve, format } => {
            if let Some(name) = &server {
                require(&servers, name)?;
            }
            let chosen: Vec<&ServerState> =
                servers.iter().filter(|one| server.as_ref().is_none_or(|name| one.name == *name)).collect();
            if approve.is_empty() { review(&chosen, format) } else { approve_all(&chosen, &approve, settings).await }
        }
        SourcesCommand::Login { server } => {
            require(&servers, &server)?;
            login(&catalog, &server, settings).await
        }
        SourcesCommand::Logout { server } => {
            require(&servers, &server)?;
            let text = match catalog.sign_out(&server)? {
                true => format!(
                    "removed the tokens of `{server}`; they remain valid at the provider until they expire or are revoked there"
                ),
                false => format!("there are no tokens of `{server}`"),
            };
            output::say(&text);
            Ok(Exit::Good)
        }
    }
}

/// Checks that a server is in the catalog.
fn require(servers: &[ServerState], name: &str) -> anyhow::Result<()> {
    if !servers.iter().any(|one| one.name == name) {
        anyhow::bail!("there is no MCP server `{name}` (see `planner sources list`)");
    }
    Ok(())
}

/// Signs in to a server, and brings the index up to date.
async fn login(catalog: &Catalog, server: &str, settings: &Settings) -> anyhow::Result<Exit> {
    let show = |address: &str| {
        output::say(&format!(
            "to sign in to `{server}`, open this address in a browser on this machine within 5 minutes:"
        ));
        output::say(address);
    };
    let signed_in = catalog.sign_in(server, show).await;
    signed_in.map_err(|error| anyhow::anyhow!("{error} ({})", error.advice()))?;
    open(settings, Opening::Use).await?;
    output::say(&format!("signed in to `{server}`"));
    Ok(Exit::Good)
}

fn list(servers: &[ServerState], format: Option<ReportFormat>) -> anyhow::Result<Exit> {
    let mut table =
        Table::new(["server", "protocol", "tools", "resources", "prompts", "quarantined", "last seen", "failure"]);
    for one in servers {
        let failure = one.failure.clone().unwrap_or_default();
        table.push([
            json!(one.name),
            json!(one.protocol),
            json!(one.tools),
            json!(one.resources),
            json!(one.prompts),
            json!(one.quarantined.len()),
            json!(one.last_seen),
            json!(failure),
        ]);
    }
    Report::new(&servers, table)?.print(format)?;
    Ok(Exit::Good)
}

fn id_of(server: &str, change: &ToolChange) -> String {
    let hash: String = change.hash.chars().take(MAX_HASH_DIGITS).collect();
    format!("{server}.{}@{hash}", change.tool)
}

fn review(servers: &[&ServerState], format: Option<ReportFormat>) -> anyhow::Result<Exit> {
    let mut table = Table::new(["id", "part", "approved", "now"]);
    let mut pending = Vec::new();
    for one in servers {
        for change in &one.quarantined {
            let id = id_of(&one.name, change);
            for part in &change.changes {
                let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                table.push([json!(id), json!(part.part), json!(text(&part.approved)), json!(text(&part.now))]);
            }
            pending.push(Pending { id, change: change.clone() });
        }
    }
    Report::new(&pending, table)?.print(format)?;
    if !pending.is_empty() {
        output::say("note: approve a change with `planner sources review --approve ID`");
    }
    Ok(Exit::Good)
}

/// Approves the changes of these ids, and brings the index up to date.
async fn approve_all(servers: &[&ServerState], ids: &[String], settings: &Settings) -> anyhow::Result<Exit> {
    let state = settings.state_folder()?;
    let mut exit = Exit::Good;
    let mut done: Vec<String> = Vec::new();
    for id in ids {
        let found = servers.iter().find_map(|one| {
            let change = one.quarantined.iter().find(|change| id_of(&one.name, change) == *id)?;
            Some((one, change))
        });
        let approved = match found {
            Some((server, change)) => approve(&state, &server.name, std::slice::from_ref(change))?,
            None => Vec::new(),
        };
        if approved.is_empty() {
            output::say(&format!("error: {id}: no pending change has this id (see `planner sources review`)"));
            exit = Exit::NotVerified;
        } else {
            done.push(id.clone());
        }
    }
    output::json(&done)?;
    if !done.is_empty() {
        open(settings, Opening::Use).await?;
    }
    Ok(exit)
}
