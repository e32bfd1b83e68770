//! `planner`: a question in, a verified JSON plan out.
//!
//! This binary is thin: flags are types ([`cli`]), each command is a function ([`commands`]), the environment is read in [`settings`],
//! logging and tracing are configured in [`telemetry`], and everything else is in the crates.

mod cli;
mod commands;
mod markdown;
mod output;
mod pager;
mod progress;
mod report;
mod settings;
mod table;
mod telemetry;
mod visible;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use settings::Settings;
use telemetry::Telemetry;

/// Exit status; `planner --help` lists the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// Success: the plan is verified, the question answered.
    Good = 0,
    /// The plan is not verified or has no steps, the question is not answered, or the tool returned an error.
    NotVerified = 1,
    /// The command line or the catalog is invalid.
    Usage = 2,
    /// The model provider failed.
    Provider = 3,
    /// The question is partly answered.
    Partial = 4,
}

fn main() -> ExitCode {
    output::catch_panics();
    let cli = Cli::try_parse().unwrap_or_else(|error| cli::reword(error).exit());
    if let Command::QueryWorker = cli.command {
        return commands::query_worker();
    }
    let settings = Settings::from_environment(&cli);
    if let Some(pager) = settings::pager() {
        pager::choose(pager);
    }
    let telemetry = Telemetry::start(&settings);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::error(&anyhow::Error::from(error).context("cannot start"));
            return ExitCode::from(Exit::Usage as u8);
        }
    };
    let exit = runtime.block_on(run(cli.command, &settings)).unwrap_or_else(|error| {
        output::error(&error);
        Exit::Usage
    });
    // Running tools and downloads are not awaited. Some drivers panic in their own tasks when these are aborted.
    output::ignore_panics();
    runtime.shutdown_background();
    telemetry.end();
    ExitCode::from(exit as u8)
}

async fn run(command: Command, settings: &Settings) -> anyhow::Result<Exit> {
    match command {
        Command::Plan(args) => commands::plan(args, settings).await,
        Command::Ask(args) => commands::ask(args, settings).await,
        Command::Chat(args) => commands::chat(args, settings).await,
        Command::Reconcile(args) => commands::reconcile(args, settings).await,
        Command::Call(args) => commands::call(args, settings).await,
        Command::Report(args) => commands::report(args, settings).await,
        Command::Sql(args) => commands::sql(args, settings).await,
        Command::Tools(args) => commands::tools(args, settings).await,
        Command::Search(args) => commands::search(args, settings).await,
        Command::Prompt(args) => commands::prompt(args, settings).await,
        Command::Facts(args) => commands::facts(args, settings).await,
        Command::Metrics(args) => commands::metrics(args, settings).await,
        Command::Queries(args) => commands::queries(args, settings).await,
        Command::Sources(args) => commands::sources(args, settings).await,
        Command::Test(args) => commands::test(args, settings).await,
        Command::Refresh(args) => commands::refresh(args, settings).await,
        Command::Mcp(args) => commands::mcp(args, settings).await,
        Command::Serve(args) => commands::serve(args, settings).await,
        Command::Run(args) => commands::run(args, settings).await,
        Command::Check(args) => commands::check(args, settings).await,
        Command::Init(args) => commands::init(&args, settings).await,
        Command::Add(args) => commands::add(args, settings).await,
        Command::Doctor(args) => commands::doctor(args, settings).await,
        Command::Bench(args) => commands::bench(args.command, settings).await,
        Command::About(command) => commands::about(&command),
        Command::QueryWorker => Ok(Exit::Usage),
    }
}
