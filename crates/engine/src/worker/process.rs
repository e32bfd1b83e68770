//! A worker process: the child, the threads that read and write its pipes, and how it ended.
//!
//! Threads are used instead of the runtime of a query, since a worker outlives the latter. Dropping a [`Process`] kills the
//! child; the thread that reads its standard output waits for it, so that no zombie remains.

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

/// The maximum time until a worker reports that it is ready.
const MAX_START: Duration = Duration::from_secs(20);

/// The maximum time between the end of its standard output and its exit, after which it is killed.
const MAX_END: Duration = Duration::from_secs(1);

/// The amount of standard error that is kept.
const MAX_STDERR_BYTES: usize = 8 << 10;

/// The maximum number of queued frames in each direction.
const MAX_WAITING: usize = 4;

/// The stack size of the reader and writer threads.
const STACK: usize = 256 << 10;

/// An event from a worker.
#[derive(Debug)]
pub(super) enum Event {
    Frame(Frame),
    /// The worker is gone; no further event follows.
    Gone(ComputeError),
}

/// A running worker; killed when it is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Arc<Mutex<Child>>,
    frames: mpsc::Sender<Frame>,
    events: mpsc::Receiver<Event>,
    /// The number of queries that it has answered.
    pub(super) answered: usize,
    /// The scratch folder of its query, which is removed with the query, or when the worker is gone.
    scratch: Arc<Mutex<Option<TempDir>>>,
}

impl Process {
    /// Starts a worker and waits until its limits are set.
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
            Ok(Event::Frame(other)) => Err(ComputeError::Unstarted(format!("it started with {}", other.tag))),
            Ok(Event::Gone(ComputeError::Ended(how))) => Err(ComputeError::Unstarted(how)),
            Ok(Event::Gone(error)) => Err(ComputeError::Unstarted(format!("{error:?}"))),
            Err(_) => Err(ComputeError::Unstarted(format!("it was not ready within {} s", MAX_START.as_secs()))),
        }
    }

    fn spawn(worker: &Worker) -> io::Result<Self> {
        let mut command = Command::new(&worker.program);
        command.args(&worker.args).env_clear().envs(super::ENVIRONMENT.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Signals from the terminal, such as Ctrl-C, must not reach the workers.
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
        let process = Process { child: child.clone(), frames, events, answered: 0, scratch: scratch.clone() };
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        let last_stderr = Arc::new(Mutex::new(VecDeque::new()));
        let heard = last_stderr.clone();
        let listener = thread("worker-errors", move || listen(errors, &heard))?;
        thread("worker-input", move || write(input, to_write))?;
        let limits = worker.clone();
        thread("worker-output", move || {
            read(output, &seen);
            let status = end(&child);
            drop(lock(&scratch).take());
            // Its standard error is closed with it.
            let _ = listener.join();
            let said = lock(&last_stderr).iter().copied().collect::<Vec<u8>>();
            let _ = seen.blocking_send(Event::Gone(cause(status, &String::from_utf8_lossy(&said), &limits)));
        })?;
        Ok(process)
    }

    /// Sends a frame. If the worker is gone, the next event reports that.
    pub(super) async fn send(&self, frame: Frame) {
        let _ = self.frames.send(frame).await;
    }

    /// Returns a sender of frames to the worker, for use while others wait for its events.
    pub(super) fn sender(&self) -> mpsc::Sender<Frame> {
        self.frames.clone()
    }

    /// Keeps the folder until it is replaced, or the worker is gone.
    pub(super) fn hold(&self, folder: Option<TempDir>) {
        *lock(&self.scratch) = folder;
    }

    /// Returns the next event.
    pub(super) async fn receive(&mut self) -> Event {
        self.events.recv().await.unwrap_or_else(|| Event::Gone(ComputeError::Ended("its pipes were closed".to_owned())))
    }

    /// Returns whether it waits for a query; false if it was killed from outside while idle.
    pub(super) async fn is_idle(&mut self) -> bool {
        self.send(Frame::empty(Tag::Ping)).await;
        let answer = tokio::time::timeout(MAX_END, self.receive()).await;
        matches!(answer, Ok(Event::Frame(Frame { tag: Tag::Pong, .. })))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails harmlessly if it has already ended.
        let _ = lock(&self.child).kill();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn thread(name: &str, act: impl FnOnce() + Send + 'static) -> io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(STACK).spawn(act)
}

/// Writes frames until the worker is gone, or the channel is closed.
fn write(input: ChildStdin, mut frames: mpsc::Receiver<Frame>) {
    let mut input = BufWriter::new(input);
    while let Some(frame) = frames.blocking_recv() {
        if frame.write(&mut input).is_err() {
            return;
        }
    }
}

/// Reads frames until the worker is gone, a frame is invalid, or the channel is closed.
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

/// Keeps the end of the worker's standard error.
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

/// Returns how it ended; kills it if it does not exit by itself.
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

/// Determines why it ended, from its status and the end of its standard error.
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
            nix::libc::SIGXCPU => ComputeError::timeout(),
            nix::libc::SIGXFSZ => ComputeError::Scratch { most: worker.scratch_bytes },
            nix::libc::SIGKILL => ComputeError::Ended(
                "it was killed, by another process or because the machine ran out of memory".to_owned(),
            ),
            other => ComputeError::Ended(format!("signal {other}")),
        };
    }
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let last: String = last.chars().filter(|c| !c.is_control()).take(200).collect();
    ComputeError::Ended(if last.is_empty() { status.to_string() } else { format!("{status}: {last}") })
}
