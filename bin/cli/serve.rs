//! Flags of the servers.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::{LimitArgs, ProfileName};

/// `planner mcp`
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The source to serve in place of a catalog, as --on
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// The tool set: compact has six tools that take ids of any kind, full has one tool per task
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    /// The model of the tools `plan` and `ask` [default: that of a provider whose key is set, else the built-in planner `offline`]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The model that writes answers and follow-up questions; a smaller one suffices [default: the same]
    #[arg(long, value_name = "NAME")]
    pub(crate) summary_model: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// `planner serve`
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The source to serve in place of a catalog, as --on
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// The address to listen on; other addresses than loopback need a token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7474")]
    pub(crate) listen: SocketAddr,
    /// The loopback port to listen on; 0 picks a free one
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    pub(crate) port: Option<u16>,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// A file of tokens, one per line: the token, or sha256: and its hash, then `# NAME` of its owner; the token of PROSPECTOR_TOKEN is
    /// added
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A host name of the server, in addition to localhost and IP addresses; may be repeated
    #[arg(long = "host-name", value_name = "NAME")]
    pub(crate) host_names: Vec<String>,
    /// An allowed origin (CORS), such as https://desk.example; may be repeated
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub(crate) origins: Vec<String>,
    /// Allow sharing conversations by link with all users of the server
    #[arg(long)]
    pub(crate) share_links: bool,
    /// The tool set: compact has six tools that take ids of any kind, full has one tool per task
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    /// The model [default: that of a provider whose key is set, else the built-in planner `offline`]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Another model that a request may select; may be repeated
    #[arg(long = "offer-model", value_name = "NAME")]
    pub(crate) offered_models: Vec<String>,
    /// The model that writes answers and follow-up questions; a smaller one suffices [default: the same]
    #[arg(long, value_name = "NAME")]
    pub(crate) summary_model: Option<String>,
    /// Maximum number of connections; health checks have reserved ones [default: 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections: Option<u32>,
    /// Maximum number of connections per address; behind a proxy set it to all of them [default: half of them]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections_per_address: Option<u32>,
    /// Maximum number of concurrent requests [default: 512]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_requests: Option<u32>,
    /// Maximum number of concurrent requests per token [default: half of them; all for a single token]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_requests_per_token: Option<u32>,
    /// Maximum number of open event streams per token [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_streams_per_token: Option<u32>,
    /// Maximum number of concurrent plans and answers [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_runs: Option<u32>,
    /// Maximum number of concurrent plans and answers per token [default: half of them; all for a single token]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_runs_per_token: Option<u32>,
    /// Timeout for the head of a request, and between requests of a connection [default: 15]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub(crate) head_time: Option<u32>,
    /// Maximum size of a request body
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_body: Option<u32>,
    /// Maximum memory for the bodies of all requests, in MB; half of it per token if there are several [default: 1024]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_request_memory: Option<u32>,
    /// Grace period for running requests after a termination signal, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) grace: Option<u32>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}
