//! `planner guide`, `completions`, `man` and `health`: commands about the program itself.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    time::Duration,
};

use anyhow::Context as _;
use clap::CommandFactory;

use crate::{
    Exit,
    cli::{AboutCommand, Cli, Guide},
    output,
};

/// How long a server may take to respond.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The start of the response of a ready server.
const READY: &[u8] = b"HTTP/1.1 200 ";

/// `planner guide`, `planner completions`, `planner man`, `planner health`
pub(crate) fn about(command: &AboutCommand) -> anyhow::Result<Exit> {
    match command {
        AboutCommand::Guide(args) => output::text(guide(args.guide).trim_end())?,
        AboutCommand::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut for_people(), env!("CARGO_BIN_NAME"), &mut script);
            output::text(String::from_utf8(script)?.trim_end())?;
        }
        AboutCommand::Man(args) => match &args.folder {
            Some(folder) => write_pages(folder)?,
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(Cli::command()).render(&mut page)?;
                output::text(String::from_utf8(page)?.trim_end())?;
            }
        },
        AboutCommand::Health(args) => {
            if let Err(error) = ask(args.address) {
                output::say(&format!("{} is not ready: {error}", args.address));
                return Ok(Exit::NotVerified);
            }
        }
    }
    Ok(Exit::Good)
}

/// Returns the program without hidden commands, which bash completions would otherwise offer.
fn for_people() -> clap::Command {
    let all = Cli::command();
    let listed = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    clap::Command::new(env!("CARGO_BIN_NAME"))
        .version(env!("CARGO_PKG_VERSION"))
        .args(all.get_arguments().cloned())
        .subcommands(listed)
}

fn guide(about: Guide) -> &'static str {
    match about {
        Guide::Tools => include_str!("../guides/tools.md"),
        Guide::CommandLine => include_str!("../guides/command-line.md"),
        Guide::Catalog => include_str!("../guides/catalog.md"),
    }
}

fn write_pages(folder: &Path) -> anyhow::Result<()> {
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.with_context(|| format!("cannot write the manual pages to {}", folder.display()))
}

/// Fails unless the server reports that it is ready.
fn ask(address: SocketAddr) -> std::io::Result<()> {
    let mut server = TcpStream::connect_timeout(&address, TIMEOUT)?;
    server.set_read_timeout(Some(TIMEOUT))?;
    server.set_write_timeout(Some(TIMEOUT))?;
    server.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut start = [0; READY.len()];
    server.read_exact(&mut start)?;
    if start != READY {
        return Err(std::io::Error::other(String::from_utf8_lossy(&start).trim().to_owned()));
    }
    Ok(())
}
