//! `planner mcp`: MCP over standard input and output. Nothing but the protocol is written there.

use prospector_serve::{Limits, Options};

use super::serve::{open, signals};
use crate::{Exit, cli::McpArgs, settings::Settings};

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
    server.stdio(stop).await?;
    Ok(Exit::Good)
}
