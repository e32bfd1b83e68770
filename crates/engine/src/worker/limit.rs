//! What the operating system holds a worker to. The worker sets it itself, before it reads a statement.

use std::io;
use std::time::Duration;

use super::message::Setup;

/// A worker that holds more than this part of its memory is replaced after its query.
const WORN: u64 = 4;

/// Lowers the limits of this process to those. It takes no limit away.
///
/// # Errors
/// The system does not take one of them.
#[cfg(unix)]
pub(super) fn apply(setup: &Setup) -> io::Result<()> {
    use nix::sys::resource::Resource;
    lower(Resource::RLIMIT_CORE, 0)?;
    lower(Resource::RLIMIT_FSIZE, setup.scratch_bytes)?;
    // The BSDs have no such limit; macOS has it and does not keep it.
    #[cfg(not(any(target_os = "freebsd", target_os = "netbsd", target_os = "openbsd")))]
    lower(Resource::RLIMIT_AS, setup.memory)?;
    // Where the machine is short of memory, this process goes first. Only Linux has the file.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    Ok(())
}

/// Elsewhere there are no workers.
#[cfg(not(unix))]
pub(super) fn apply(_: &Setup) -> io::Result<()> {
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

/// Whether this process holds so much of its memory that the next query should have a new one. Only Linux says.
pub(super) fn is_worn(memory: u64) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default()
    };
    kilobytes("VmRSS:") > (memory / WORN) >> 10 || kilobytes("VmSize:") > (memory - memory / WORN) >> 10
}
