//! The flags of the servers.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::{LimitArgs, ProfileName};

/// `planner mcp`
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// What to serve instead of a catalog, as --on
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// The set of tools: one for each thing to do, or six that take ids of any kind
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    /// The model of the tools `plan` and `ask` [default: offline, or a provider's whose key is set]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The model that writes answers and follow-up questions; a smaller one will do [default: the same]
    #[arg(long, value_name = "NAME")]
    pub(crate) summary_model: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// `planner serve`
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// What to serve instead of a catalog, as --on
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Where to listen; elsewhere than on this machine only with a token
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7474")]
    pub(crate) listen: SocketAddr,
    /// A file of tokens, one a line: the token, or sha256: and its hash, then `# NAME` of who has it; PROSPECTOR_TOKEN is
    /// one more
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A name under which the server is reached, besides localhost and plain addresses; may be repeated
    #[arg(long = "host-name", value_name = "NAME")]
    pub(crate) host_names: Vec<String>,
    /// An origin whose pages may ask, such as https://desk.example; may be repeated
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub(crate) origins: Vec<String>,
    /// Let conversations be shown by a link to everyone who may ask
    #[arg(long)]
    pub(crate) share_links: bool,
    /// The set of tools: one for each thing to do, or six that take ids of any kind
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    /// The model [default: offline, or a provider's whose key is set]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// A model that a question may name in the place of that one; may be repeated
    #[arg(long = "offer-model", value_name = "NAME")]
    pub(crate) offered_models: Vec<String>,
    /// The model that writes answers and follow-up questions; a smaller one will do [default: the same]
    #[arg(long, value_name = "NAME")]
    pub(crate) summary_model: Option<String>,
    /// At most this many connections at once; for health checks there are some more [default: 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections: Option<u32>,
    /// Those of them from one address; all of them behind a proxy [default: half of them]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections_per_address: Option<u32>,
    /// At most this many requests at once [default: 512]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_requests: Option<u32>,
    /// Those of one token [default: half of them; all where there is one token]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_requests_per_token: Option<u32>,
    /// At most this many open streams of events of one token [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_streams_per_token: Option<u32>,
    /// At most this many plans and answers at once [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_runs: Option<u32>,
    /// Those of one token [default: half of them; all where there is one token]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_runs_per_token: Option<u32>,
    /// How long a client may take to send the head of a request, or to begin the next one [default: 15]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub(crate) head_time: Option<u32>,
    /// At most this many bytes in a request
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_body: Option<u32>,
    /// At most this much memory for the bodies of all requests together, in MB; one of several tokens has half of it [default: 1024]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_request_memory: Option<u32>,
    /// How many seconds what is under way may go on after a signal to end
    #[arg(long, value_name = "SECONDS")]
    pub(crate) grace: Option<u32>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}
