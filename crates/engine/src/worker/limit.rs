//! Operating system limits of a worker, which the worker sets itself before it reads a statement.

use std::io;
use std::time::Duration;

use super::message::Setup;

/// A worker that uses more than this fraction (1/n) of its memory is replaced after its query.
const WORN: u64 = 4;

/// The address space of this process, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    /// The usage of the program before its first statement, which is not counted for a query and depends on the build.
    own: u64,
    /// The limit in addition to that.
    most: u64,
}

/// Lowers the limits of this process. Existing limits are never raised.
///
/// # Errors
/// If the system rejects a limit.
#[cfg(unix)]
pub(super) fn apply(setup: &Setup) -> io::Result<Memory> {
    use nix::sys::resource::Resource;
    let memory = Memory { own: read_status("VmSize:"), most: setup.memory };
    lower(Resource::RLIMIT_CORE, 0)?;
    lower(Resource::RLIMIT_FSIZE, setup.scratch_bytes)?;
    // The BSDs have no such limit; macOS has it but does not enforce it.
    #[cfg(not(any(target_os = "freebsd", target_os = "netbsd", target_os = "openbsd")))]
    lower(Resource::RLIMIT_AS, memory.own.saturating_add(memory.most))?;
    // When memory is short, the kernel kills this process first. Only Linux has the file.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    Ok(memory)
}

/// Workers are only supported on Unix.
#[cfg(not(unix))]
pub(super) fn apply(_: &Setup) -> io::Result<Memory> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn lower(resource: nix::sys::resource::Resource, most: u64) -> io::Result<()> {
    let (soft, hard) = nix::sys::resource::getrlimit(resource)?;
    Ok(nix::sys::resource::setrlimit(resource, soft.min(most), hard.min(most))?)
}

/// Limits the processor time of this process from now on, for each of `threads` threads: the fallback if nothing else ends it.
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
    /// Returns whether this process uses so much memory that the next query should get a new one. Known on Linux only.
    pub(super) fn is_worn(&self) -> bool {
        let taken = read_status("VmSize:").saturating_sub(self.own);
        read_status("VmRSS:") > self.most / WORN || taken > self.most - self.most / WORN
    }
}

/// Returns a size of this process in bytes; 0 if the system does not report it.
fn read_status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let kilobytes: u64 = line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default();
    kilobytes << 10
}
