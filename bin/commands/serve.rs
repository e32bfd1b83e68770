//! `planner serve`: HTTP, MCP over HTTP, and the page.

use std::{
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use prospector_agent::extraction::extract_facts_with;
use prospector_discovery::{Catalog, CatalogOptions, Profile, sources::ServerSessions, state::server_records};
use prospector_engine::options::SubsetMemory;
use prospector_serve::{Limits, Opened, Options, ServeError, Server, Tokens, error::OpenError};
use tokio_util::sync::CancellationToken;

use super::{embedder, models, with_advice};
use crate::{
    Exit,
    cli::ServeArgs,
    output,
    settings::{self, Settings},
};

/// Exit status of a program that was terminated, by shell convention.
const TERMINATED: i32 = 143;

/// `planner serve`
pub(crate) async fn serve(args: ServeArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let mut tokens = Tokens::none();
    if let Some(path) = &args.token_file {
        tokens = Tokens::from_file(path)?;
    }
    if let Some(token) = &settings.token {
        tokens = tokens.with(token).map_err(|reason| anyhow::anyhow!("PROSPECTOR_TOKEN cannot be used: {reason}"))?;
    }
    let (usual, asked) = (Limits::default(), settings.limit_args(&args.limits)?);
    let limits = Limits {
        connections: args.max_connections.map_or(usual.connections, |most| most as usize),
        connections_per_address: args.max_connections_per_address.map(|most| most as usize),
        requests: args.max_requests.map_or(usual.requests, |most| most as usize),
        requests_per_owner: args.max_requests_per_token.map(|most| most as usize),
        streams_per_owner: args.max_streams_per_token.map_or(usual.streams_per_owner, |most| most as usize),
        runs: args.max_runs.map_or(usual.runs, |most| most as usize),
        runs_per_owner: args.max_runs_per_token.map(|most| most as usize),
        head_time: args.head_time.map_or(usual.head_time, |seconds| Duration::from_secs(seconds.into())),
        body_bytes: args.max_body.map_or(usual.body_bytes, |most| most as usize),
        request_memory: args.max_request_memory.map_or(usual.request_memory, |most| (most as usize) << 20),
        grace: args.grace.map_or(usual.grace, |seconds| Duration::from_secs(seconds.into())),
        run_time: asked.run_time().unwrap_or(usual.run_time),
        rounds: asked.max_rounds,
        calls: asked.max_calls,
        calls_at_once: asked.calls_at_once,
        ..usual
    };
    let guarded = !tokens.is_none();
    let state = Some(settings.state_folder()?);
    let workflows = vec![super::reconcile::offer()];
    let offer = |name: &String| models(settings, Some(name.as_str()), args.summary_model.as_deref());
    let offered = args.offered_models.iter().map(offer).collect::<anyhow::Result<Vec<_>>>()?;
    let options = Options {
        tokens,
        models: offered,
        hosts: args.host_names,
        origins: args.origins,
        state,
        workflows,
        shares_links: args.share_links,
        limits,
    };
    let stop = signals()?;
    let named = (args.model.as_deref(), args.summary_model.as_deref());
    let opening = open(named, args.profile.into(), options, settings);
    let server = tokio::select! {
        server = opening => server?,
        () = stop.cancelled() => anyhow::bail!("stopped while opening the catalog; the index is unchanged"),
    };
    let listen = args.port.map_or(args.listen, |port| SocketAddr::new(args.listen.ip(), port));
    let listener = server.bind(listen).await.map_err(|error| match error {
        ServeError::Unguarded { .. } => {
            anyhow::anyhow!("{error} (set PROSPECTOR_TOKEN or --token-file, or listen on 127.0.0.1)")
        }
        ServeError::Listen { .. } => anyhow::anyhow!("{error} (set another port with --port)"),
        other => other.into(),
    })?;
    let address = listener.local_addr().context("cannot determine the address")?;
    let whom = if guarded { "with a token" } else { "without a token" };
    output::say(&format!("listening on http://{address} {whom}; MCP at http://{address}/mcp"));
    if args.open {
        open_browser(&address);
    }
    server.http(listener, stop).await?;
    output::say("stopped");
    Ok(Exit::Good)
}

/// Opens the page in the user's browser.
fn open_browser(address: &SocketAddr) {
    let (host, port) = (address.ip(), address.port());
    let url = if host.is_unspecified() { format!("http://localhost:{port}") } else { format!("http://{address}") };
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(&url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        output::say(&format!("cannot open a browser with {program}: {error}; open {url} manually"));
    }
}

/// Creates a server over the catalog of the settings, which follows changes of the catalog file and index refreshes of other processes. The
/// models for research and for writing come from their flags.
pub(super) async fn open(
    (flag, summary): (Option<&str>, Option<&str>),
    profile: Profile,
    options: Options,
    settings: &Settings,
) -> anyhow::Result<Arc<Server>> {
    let models = models(settings, flag, summary)?;
    let chat = models.chat.clone();
    let source = settings.catalog()?;
    let (state, home, embedder) = (settings.state_folder()?, settings.home.clone(), embedder::open(settings)?);
    let workers = settings.workers()?;
    let (followed, subsets, sessions) = (state.clone(), SubsetMemory::default(), ServerSessions::default());
    let opener = move |fresh, cancel| -> Opened {
        let options = CatalogOptions {
            state: Some(state.clone()),
            environment: &settings::variable,
            home: home.clone(),
            embedder: embedder.clone(),
            fresh,
            cancel,
            workers: Some(workers.clone()),
            subsets: subsets.clone(),
            sessions: sessions.clone(),
            ..CatalogOptions::default()
        };
        let opened = tokio::runtime::Handle::current().block_on(Catalog::open(&source, options));
        let (catalog, problems) =
            opened.map_err(|error| OpenError::Program(format!("{:#}", with_advice(error)).into()))?;
        output::problems(&problems, false);
        extract_facts_with(&catalog, &chat);
        Ok((catalog, problems))
    };
    let server = Server::open(opener, profile, models, options).await.context("the catalog cannot be used")?;
    let file = settings.catalog_file().ok().map(Path::to_owned);
    server.follow(move || stamp(&followed, file.as_deref()));
    Ok(server)
}

/// Returns stamps of the catalog file, and of the index and the lists of MCP servers on disk, to detect changes.
fn stamp(state: &Path, catalog: Option<&Path>) -> Option<(String, String)> {
    // An editor may replace the file: while it is missing, there is no stamp.
    let written = |path: &Path| {
        let meta = std::fs::metadata(path).ok()?;
        Some(format!("{:?} {}", meta.modified().ok()?, meta.len()))
    };
    let catalog = catalog.map_or(Some(String::new()), written)?;
    let lists: Vec<_> = server_records(state).unwrap_or_default().iter().map(|path| written(path)).collect();
    let index = state.join("index");
    // The same for an index that another process is replacing.
    let committed = || {
        let current = std::fs::read_to_string(index.join("CURRENT")).ok()?;
        let committed = index.join(current.trim()).join("lexical/meta.json");
        let time = std::fs::metadata(committed).and_then(|file| file.modified()).ok()?;
        Some(format!("{current} {time:?} {lists:?}"))
    };
    Some((catalog, committed()?))
}

/// Returns a token that is cancelled on a termination signal. A second signal exits at once.
pub(super) fn signals() -> anyhow::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let signalled = stop.clone();
    #[cfg(unix)]
    let mut terminated = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::terminate()).context("cannot wait for signals")?
    };
    tokio::spawn(async move {
        loop {
            #[cfg(unix)]
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            #[cfg(not(unix))]
            if tokio::signal::ctrl_c().await.is_err() {
                return;
            }
            if signalled.is_cancelled() {
                std::process::exit(TERMINATED);
            }
            signalled.cancel();
        }
    });
    Ok(stop)
}
