//! The process of a server: pipes, the end of its standard error, and termination with all child processes.

use std::{
    pin::Pin,
    process::Stdio,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, ReadBuf},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    task::JoinHandle,
};

use crate::{McpError, error::repeat, spec::Command};

/// Maximum bytes of standard error kept for messages.
const MAX_TAIL: usize = 2_000;
/// Maximum bytes that a server may send between two requests.
pub(crate) const MAX_UNREQUESTED: u64 = 32 << 20;
/// Maximum number of checks whether standard error was read completely, and their interval.
const MAX_LOOKS: usize = 15;
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// The pause after each full buffer of standard error.
const PAUSE: Duration = Duration::from_millis(2);
/// How long a process may take to end after its standard input was closed.
const MAX_END: Duration = Duration::from_secs(1);

/// A running process; killed with its process group when it is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// The end of its standard error.
    tail: Arc<Mutex<Vec<u8>>>,
    /// Task that reads its standard error until it is closed.
    reading: JoinHandle<()>,
}

impl Process {
    /// Starts the process with the environment of the command only.
    ///
    /// # Errors
    /// [`McpError::Start`] if the process cannot be started.
    pub(crate) fn start(command: &Command) -> Result<(Process, ChildStdin, ChildStdout), McpError> {
        let failed = |source| McpError::Start { program: command.program.clone(), source };
        let mut starting = tokio::process::Command::new(&command.program);
        starting.args(&command.args).env_clear().current_dir(&command.folder);
        starting.envs(command.environment.iter().map(|(name, value)| (name, value)));
        starting.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        starting.process_group(0);
        let mut child = starting.spawn().map_err(failed)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(failed(std::io::Error::other("the process has no pipes")));
        };
        let tail = Arc::new(Mutex::new(Vec::new()));
        let reading = tokio::spawn(keep_tail(errors, tail.clone()));
        Ok((Process { child, tail, reading }, input, output))
    }

    /// Returns the last line that the process wrote to its standard error before it exited, sanitized.
    pub(crate) async fn last_output(&self) -> String {
        for _ in 0..MAX_LOOKS {
            if self.reading.is_finished() {
                break;
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        repeat(text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default())
    }

    /// Waits for the process to exit; kills it on a timeout.
    pub(crate) async fn end(mut self) {
        let id = self.child.id();
        if tokio::time::timeout(MAX_END, self.child.wait()).await.is_ok() {
            // It was reaped just now, so its id is still that of the group that it led.
            kill_group(id);
        }
    }
}

/// Kills what a shell or a package runner started, which would survive it and may keep its pipes open.
fn kill_group(id: Option<u32>) {
    #[cfg(unix)]
    if let Some(id) = id.and_then(|id| i32::try_from(id).ok()) {
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(id), nix::sys::signal::Signal::SIGKILL);
    }
    #[cfg(not(unix))]
    let _ = id;
}

impl Drop for Process {
    fn drop(&mut self) {
        // After the process was waited for, its id may be another's: then `id` returns nothing.
        kill_group(self.child.id());
        let _ = self.child.start_kill();
        // A process outside of the group may keep the pipe open.
        self.reading.abort();
    }
}

/// Reads standard error, so that the process never blocks on it, and keeps its end.
async fn keep_tail(mut errors: ChildStderr, tail: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; 16 * 1_024];
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        {
            let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
            tail.extend_from_slice(&buffer[..count]);
            let surplus = tail.len().saturating_sub(MAX_TAIL);
            tail.drain(..surplus);
        }
        // A process that writes without end is slowed down, and takes no processor time from others.
        if count == buffer.len() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Ends the stream of a server that sends more than [`MAX_UNREQUESTED`] bytes between two requests.
pub(crate) struct Limited<R> {
    inner: R,
    left: Arc<AtomicU64>,
}

impl<R> Limited<R> {
    /// Wraps a reader; `left` is the number of bytes still allowed.
    pub(crate) fn new(inner: R, left: Arc<AtomicU64>) -> Self {
        Limited { inner, left }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Limited<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.left.load(Ordering::Relaxed) == 0 {
            return Poll::Ready(Err(std::io::Error::other("the server sends more than the limit")));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buffer);
        let count = (buffer.filled().len() - before) as u64;
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(count)));
        polled
    }
}
