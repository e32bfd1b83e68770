//! `planner mcp`: MCP over standard input and output, which carry only the protocol.

use std::{io::IsTerminal, path::absolute};

use prospector_serve::{Limits, Options};
use serde_json::json;

use super::serve::{open, signals};
use crate::{Exit, cli::McpArgs, output, settings::Settings};

/// `planner mcp`
pub(crate) async fn mcp(args: McpArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let stop = signals()?;
    let (usual, asked) = (Limits::default(), settings.limit_args(&args.limits)?);
    let limits = Limits {
        run_time: asked.run_time().unwrap_or(usual.run_time),
        rounds: asked.max_rounds,
        calls: asked.max_calls,
        calls_at_once: asked.calls_at_once,
        ..usual
    };
    let options = Options { state: Some(settings.state_folder()?), limits, ..Options::default() };
    let models = (args.model.as_deref(), args.summary_model.as_deref());
    let opening = open(models, args.profile.into(), options, settings);
    let server = tokio::select! {
        server = opening => server?,
        () = stop.cancelled() => return Ok(Exit::Good),
    };
    if std::io::stdin().is_terminal() {
        explain(settings)?;
    }
    server.stdio(stop).await?;
    Ok(Exit::Good)
}

/// Explains at a terminal what the command waits for, and how a client starts it.
fn explain(settings: &Settings) -> anyhow::Result<()> {
    let mut args = vec!["mcp".to_owned()];
    match settings.named_sources() {
        [] => {
            let catalog = settings.catalog_file()?;
            args.extend(["--catalog".to_owned(), absolute(catalog)?.display().to_string()]);
        }
        sources => args.extend(sources.iter().map(|source| {
            let path = std::path::Path::new(source);
            let whole = if path.exists() { absolute(path).ok() } else { None };
            whole.map_or_else(|| source.clone(), |path| path.display().to_string())
        })),
    }
    let words: Vec<String> = args.iter().map(|word| super::init::quote(word)).collect();
    let entry = json!({"mcpServers": {"prospector": {"command": "planner", "args": args}}});
    output::say_lines(&format!(
        "waiting for an MCP client on standard input; Ctrl-C exits\n\
         Claude Code:    claude mcp add prospector -- planner {}\n\
         other clients:  {entry}",
        words.join(" ")
    ));
    Ok(())
}
