//! What the operating system holds a worker to. The worker sets it itself, before it reads a statement.

use std::io;
use std::time::Duration;

use super::message::Setup;

/// A worker that holds more than this part of its memory is replaced after its query.
const WORN: u64 = 4;

/// The address space of this process, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    /// What the program took before its first statement. It is no part of what a query needs, and differs by how the program was
    /// built.
    own: u64,
    /// What may come to that.
    most: u64,
}

/// Lowers the limits of this process to those. It takes no limit away.
///
/// # Errors
/// The system does not take one of them.
#[cfg(unix)]
pub(super) fn apply(setup: &Setup) -> io::Result<Memory> {
    use nix::sys::resource::Resource;
    let memory = Memory { own: read_status("VmSize:"), most: setup.memory };
    lower(Resource::RLIMIT_CORE, 0)?;
    lower(Resource::RLIMIT_FSIZE, setup.scratch_bytes)?;
    // The BSDs have no such limit; macOS has it and does not keep it.
    #[cfg(not(any(target_os = "freebsd", target_os = "netbsd", target_os = "openbsd")))]
    lower(Resource::RLIMIT_AS, memory.own.saturating_add(memory.most))?;
    // Where the machine is short of memory, this process goes first. Only Linux has the file.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    Ok(memory)
}

/// Elsewhere there are no workers.
#[cfg(not(unix))]
pub(super) fn apply(_: &Setup) -> io::Result<Memory> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn lower(resource: nix::sys::resource::Resource, most: u64) -> io::Result<()> {
    let (soft, hard) = nix::sys::resource::getrlimit(resource)?;
    Ok(nix::sys::resource::setrlimit(resource, soft.min(most), hard.min(most))?)
}

/// Gives this process so much processor time from now on, on each of so many threads: what ends it should nobody else.
#[cfg(unix)]
pub(super) fn grant(time: Duration, threads: usize) -> io::Result<()> {
    use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
    let used = getrusage(UsageWho::RUSAGE_SELF)?;
    let used = used.user_time().tv_sec() + used.system_time().tv_sec();
    let more = time.as_secs().saturating_add(1).saturating_mul(threads as u64 + 1);
    let (_, hard) = getrlimit(Resource::RLIMIT_CPU)?;
    let until = u64::try_from(used).unwrap_or_default().saturating_add(more);
    Ok(setrlimit(Resource::RLIMIT_CPU, until.min(hard), hard)?)
}

#[cfg(not(unix))]
pub(super) fn grant(_: Duration, _: usize) -> io::Result<()> {
    Ok(())
}

impl Memory {
    /// Whether this process holds so much of it that the next query should have a new one. Only Linux says.
    pub(super) fn is_worn(&self) -> bool {
        let taken = read_status("VmSize:").saturating_sub(self.own);
        read_status("VmRSS:") > self.most / WORN || taken > self.most - self.most / WORN
    }
}

/// A size of this process, in bytes; 0 where the system does not say.
fn read_status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let kilobytes: u64 = line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default();
    kilobytes << 10
}
