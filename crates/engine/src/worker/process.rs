//! A worker as this process has it: a child, the threads that read and write its pipes, and how it ended.
//!
//! Threads do it, and not the runtime of a query, since a worker outlives both. Whoever drops a [`Process`] kills the child;
//! the thread that reads its standard output waits for it, so that no zombie stays.

use std::collections::VecDeque;
use std::io::{self, BufReader, BufWriter, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::sync::mpsc;

use super::Worker;
use super::frame::{Frame, Tag, read_greeting};
use super::message::Setup;
use crate::joined::ComputeError;

/// A worker that does not say that it is ready by then does not start.
const MAX_START: Duration = Duration::from_secs(20);

/// One that has closed its standard output is gone by then, or is killed.
const MAX_END: Duration = Duration::from_secs(1);

/// One that was asked to end its work on a cluster is killed by then.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(4);

/// So much of what a worker said last is kept.
const MAX_STDERR_BYTES: usize = 8 << 10;

/// So many frames wait to be read, or to be written.
const MAX_WAITING: usize = 4;

/// The stacks of threads that read and write.
const STACK: usize = 256 << 10;

/// What came from a worker.
#[derive(Debug)]
pub(super) enum Event {
    Frame(Frame),
    /// It is gone, and nothing follows.
    Gone(ComputeError),
}

/// A running worker; killed when it is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Arc<Mutex<Child>>,
    frames: mpsc::Sender<Frame>,
    events: mpsc::Receiver<Event>,
    /// How many queries it has answered.
    pub(super) answered: usize,
    /// Whether it is asked to end by itself before it is killed.
    pub(super) is_cancelled_first: bool,
    /// The scratch folder of its query, which is removed with the query, or when the worker is gone.
    scratch: Arc<Mutex<Option<TempDir>>>,
}

impl Process {
    /// Starts a worker and waits until its limits hold.
    ///
    /// # Errors
    /// [`ComputeError::Unstarted`].
    pub(super) async fn start(worker: &Worker) -> Result<Self, ComputeError> {
        let failed = |error: io::Error| ComputeError::Unstarted(error.to_string());
        let mut process = Self::spawn(worker).map_err(failed)?;
        let Worker { memory, scratch_bytes, .. } = *worker;
        let setup = Setup { version: super::VERSION.to_owned(), memory, scratch_bytes };
        process.send(Frame::json(Tag::Setup, &setup).map_err(failed)?).await;
        match tokio::time::timeout(MAX_START, process.receive()).await {
            Ok(Event::Frame(Frame { tag: Tag::Ready, .. })) => Ok(process),
            Ok(Event::Frame(other)) => Err(ComputeError::Unstarted(format!("it began with {:?}", other.tag))),
            Ok(Event::Gone(ComputeError::Ended(how))) => Err(ComputeError::Unstarted(how)),
            Ok(Event::Gone(trouble)) => Err(ComputeError::Unstarted(format!("{trouble:?}"))),
            Err(_) => Err(ComputeError::Unstarted(format!("it was not ready within {} s", MAX_START.as_secs()))),
        }
    }

    fn spawn(worker: &Worker) -> io::Result<Self> {
        let mut command = Command::new(&worker.program);
        command.args(&worker.args).env_clear().envs(super::ENVIRONMENT.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // What is typed at a terminal to stop this process is not meant for its workers.
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt;
            command.process_group(0);
            if let Some(name) = &worker.name {
                command.arg0(name);
            }
        }
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let child = Arc::new(Mutex::new(child));
        let (frames, to_write) = mpsc::channel(MAX_WAITING);
        let (seen, events) = mpsc::channel(MAX_WAITING);
        let scratch = Arc::new(Mutex::new(None));
        let process = Process {
            child: child.clone(),
            frames,
            events,
            answered: 0,
            is_cancelled_first: false,
            scratch: scratch.clone(),
        };
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let heard = last_words.clone();
        let listener = thread("worker-errors", move || listen(errors, &heard))?;
        thread("worker-input", move || write(input, to_write))?;
        let limits = worker.clone();
        thread("worker-output", move || {
            read(output, &seen);
            let status = end(&child);
            drop(lock(&scratch).take());
            // Its standard error is closed with it.
            let _ = listener.join();
            let said = lock(&last_words).iter().copied().collect::<Vec<u8>>();
            let _ = seen.blocking_send(Event::Gone(cause(status, &String::from_utf8_lossy(&said), &limits)));
        })?;
        Ok(process)
    }

    /// Sends a frame. Where the worker is gone, that is the next event.
    pub(super) async fn send(&self, frame: Frame) {
        let _ = self.frames.send(frame).await;
    }

    /// What sends frames to the worker while others wait for its events.
    pub(super) fn sender(&self) -> mpsc::Sender<Frame> {
        self.frames.clone()
    }

    /// Keeps the folder until it is replaced, or the worker is gone.
    pub(super) fn hold(&self, folder: Option<TempDir>) {
        *lock(&self.scratch) = folder;
    }

    /// The next event.
    pub(super) async fn receive(&mut self) -> Event {
        self.events.recv().await.unwrap_or_else(|| Event::Gone(ComputeError::Ended("its pipes were closed".to_owned())))
    }

    /// Whether it waits for a query: one that was ended from outside while it was idle does not.
    pub(super) async fn is_idle(&mut self) -> bool {
        self.send(Frame::empty(Tag::Ping)).await;
        let answer = tokio::time::timeout(MAX_END, self.receive()).await;
        matches!(answer, Ok(Event::Frame(Frame { tag: Tag::Pong, .. })))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let child = self.child.clone();
        if self.is_cancelled_first && self.frames.try_send(Frame::empty(Tag::Cancel)).is_ok() {
            let wait = {
                let child = child.clone();
                move || {
                    let deadline = Instant::now() + SHUTDOWN_GRACE;
                    while Instant::now() < deadline && matches!(lock(&child).try_wait(), Ok(None)) {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    let _ = lock(&child).kill();
                }
            };
            if thread("worker-shutdown", wait).is_ok() {
                return;
            }
        }
        // One that has ended already cannot be killed.
        let _ = lock(&child).kill();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn thread(name: &str, act: impl FnOnce() + Send + 'static) -> io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(act)
}

/// Writes frames until the worker is gone, or nobody has more.
fn write(input: ChildStdin, mut frames: mpsc::Receiver<Frame>) {
    let mut input = BufWriter::new(input);
    while let Some(frame) = frames.blocking_recv() {
        if frame.write(&mut input).is_err() {
            return;
        }
    }
}

/// Reads frames until the worker is gone, says what is none, or nobody listens.
fn read(output: ChildStdout, seen: &mpsc::Sender<Event>) {
    let mut output = BufReader::new(output);
    if read_greeting(&mut output).is_err() {
        return;
    }
    while let Ok(Some(frame)) = Frame::read(&mut output) {
        if seen.blocking_send(Event::Frame(frame)).is_err() {
            return;
        }
    }
}

/// Keeps the end of what the worker says to its standard error.
fn listen(mut errors: ChildStderr, last: &Mutex<VecDeque<u8>>) {
    let mut part = [0; 1024];
    while let Ok(length) = errors.read(&mut part)
        && length > 0
    {
        let mut last = lock(last);
        last.extend(&part[..length]);
        let more = last.len().saturating_sub(MAX_STDERR_BYTES);
        last.drain(..more);
    }
}

/// How it ended; killed where it does not end by itself.
fn end(child: &Mutex<Child>) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + MAX_END;
    while Instant::now() < deadline {
        if let Some(status) = lock(child).try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut child = lock(child);
    let _ = child.kill();
    child.wait()
}

/// Why it ended, from its status and what it said last.
fn cause(status: io::Result<ExitStatus>, said: &str, worker: &Worker) -> ComputeError {
    let lower = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["memory allocation of", "out of memory", "cannot allocate memory"]) {
        return ComputeError::Memory { most: worker.memory };
    }
    if has(&["has overflowed its stack"]) {
        return ComputeError::Nested;
    }
    let status = match status {
        Ok(status) => status,
        Err(error) => return ComputeError::Ended(error.to_string()),
    };
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match signal {
            signals::CPU => ComputeError::timeout(),
            signals::FILE_SIZE => ComputeError::Scratch { most: worker.scratch_bytes },
            signals::KILL => ComputeError::Ended(
                "it was killed, by another process or because the machine is short of memory".to_owned(),
            ),
            other => ComputeError::Ended(format!("signal {other}")),
        };
    }
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let last: String = last.chars().filter(|c| !c.is_control()).take(200).collect();
    ComputeError::Ended(if last.is_empty() { status.to_string() } else { format!("{status}: {last}") })
}

/// The signals that limits send; the same numbers on Linux, macOS and the BSDs.
#[cfg(unix)]
mod signals {
    pub(super) const KILL: i32 = 9;
    pub(super) const CPU: i32 = 24;
    pub(super) const FILE_SIZE: i32 = 25;
}
