//! The main loop of a worker process: it receives its limits, then statements, one after another, until its input ends.

use std::any::Any;
use std::collections::HashMap;
use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::ipc::reader::StreamReader;
use futures::FutureExt;
use futures::future::ready;
use prospector_connect::Connector;
use prospector_connect::rows::Rows;
use prospector_connect::source::DataFiles;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::ask::parts;
use super::frame::{Frame, Tag};
use super::limit::{self, Memory};
use super::message::{Done, Query, Setup};
use super::output::Output;
use super::remote::{Remote, RowRequests};
use super::value::write_rows;
use crate::Dialect;
use crate::guard::{CheckedQuery, examine};
use crate::joined::{self, ComputeError, TakeBlock, compute};
use crate::scope::StoredSubset;
use crate::source::{ResolvedTable, Source};
use crate::view::View;

/// Planning is recursive: its stack grows with the nesting of the statement.
const STACK: usize = 128 << 20;

/// The stack size of the computing threads.
const STACK_OF_OTHERS: usize = 4 << 20;

/// The maximum number of computing threads.
const MAX_THREADS: usize = 8;

/// The maximum number of threads that read files.
const MAX_BLOCKING_THREADS: usize = 16;

/// The grace period after the time limit, for which the parent process is responsible.
const LATER: Duration = Duration::from_secs(5);

/// The maximum length of an error message.
const MAX_MESSAGE: usize = 16 << 10;

/// The maximum number of sources that stay open.
const MAX_OPENED: usize = 32;

/// Computes statements for the parent process, until that process closes the pipe; then this process exits. `input` and `output` are the two ends of the pipe, usually standard input and output, and nothing else may be
/// written to `output`.
///
/// The limits in the first message apply to the whole process, which should therefore do nothing else.
///
/// # Errors
/// If the first message does not belong to this protocol or has another version, or if a limit cannot be set.
pub fn serve_worker(
    mut input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<Infallible> {
    let output = Output::new(output);
    output.greet()?;
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
    let first = Frame::read(&mut input)?.filter(|frame| frame.tag == Tag::Setup);
    let setup: Setup = first.ok_or_else(|| wrong("the first message does not set the limits"))?.parse()?;
    if setup.version != super::VERSION {
        return Err(wrong("the parent process has another version"));
    }
    let memory = limit::apply(&setup)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .thread_stack_size(STACK_OF_OTHERS)
        .enable_all()
        .build()?;
    let asks = Arc::new(RowRequests::new(output.clone()));
    let scratch = Arc::new(Scratch::default());
    let (to_do, statements) = channel();
    let computer = Computer {
        memory,
        threads,
        runtime,
        output: output.clone(),
        asks: asks.clone(),
        scratch: scratch.clone(),
        opened: HashMap::new(),
    };
    std::thread::Builder::new()
        .name("statements".to_owned())
        .stack_size(STACK)
        .spawn(move || computer.serve(&statements))?;
    output.send(&Frame::empty(Tag::Ready))?;
    // Any end of the input, including an error, means that no answer is needed.
    let _ = listen(&mut input, &output, &asks, &to_do);
    scratch.leave()
}

/// Receives messages until the input ends.
fn listen(input: &mut impl Read, output: &Output, asks: &RowRequests, to_do: &Sender<Statement>) -> io::Result<()> {
    let mut next: Option<Statement> = None;
    while let Some(frame) = Frame::read(input)? {
        match frame.tag {
            Tag::Query => next = Some(Statement { query: frame.parse()?, subsets: Vec::new() }),
            Tag::Subset => {
                if let Some(next) = &mut next {
                    next.add(&frame.content)?;
                }
            }
            Tag::Go => {
                if let Some(statement) = next.take() {
                    to_do.send(statement).map_err(|_| io::ErrorKind::BrokenPipe)?;
                }
            }
            Tag::Rows => asks.add(&frame.content),
            Tag::RowsDone => asks.finish(frame.parse()?),
            Tag::Ping => output.send(&Frame::empty(Tag::Pong))?,
            Tag::Setup | Tag::Pong | Tag::Ready | Tag::Ask | Tag::Answer | Tag::Columns | Tag::Done => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a message is not for a worker"));
            }
        }
    }
    Ok(())
}

/// The scratch folder of the running query.
#[derive(Default)]
struct Scratch(Mutex<Option<OsString>>);

impl Scratch {
    fn set(&self, folder: Option<OsString>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = folder;
    }

    /// Removes the folder, and ends this process.
    fn leave(&self) -> ! {
        let folder = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(folder) = folder {
            let _ = std::fs::remove_dir_all(folder);
        }
        end()
    }
}

/// Ends the process unconditionally: exit handlers may wait for threads that are still running.
fn end() -> ! {
    let _ = std::thread::Builder::new().spawn(|| {
        std::thread::sleep(Duration::from_secs(1));
        std::process::abort()
    });
    std::process::exit(0)
}

/// A statement that is being received.
struct Statement {
    query: Query,
    /// The rows of each subset.
    subsets: Vec<Vec<RecordBatch>>,
}

impl Statement {
    fn add(&mut self, content: &[u8]) -> io::Result<()> {
        let (number, stream) = content.split_first_chunk().ok_or(io::ErrorKind::InvalidData)?;
        let number = u64::from_le_bytes(*number) as usize;
        if number >= self.query.subsets {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.subsets.resize_with(self.query.subsets, Vec::new);
        let failed = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        for batch in StreamReader::try_new(stream, None).map_err(failed)? {
            self.subsets[number].push(batch.map_err(failed)?);
        }
        Ok(())
    }
}

/// Computes statements.
struct Computer {
    memory: Memory,
    threads: usize,
    runtime: Runtime,
    output: Output,
    asks: Arc<RowRequests>,
    scratch: Arc<Scratch>,
    opened: HashMap<DataFiles, OpenSource>,
}

/// An open source of files, and the stamps that detect their changes.
struct OpenSource {
    stamps: Vec<Option<(u64, SystemTime)>>,
    connector: Arc<dyn Connector>,
}

impl Computer {
    fn serve(mut self, statements: &Receiver<Statement>) {
        for statement in statements {
            self.scratch.set(statement.query.means.scratch.clone());
            let done = std::panic::catch_unwind(AssertUnwindSafe(|| self.compute(statement)));
            let (outcome, has_panicked) = match done {
                Ok(Ok(done)) => (done, false),
                Ok(Err(panic)) | Err(panic) => (Err(ComputeError::of_panic(panic.as_ref())), true),
            };
            self.scratch.set(None);
            if self.send(outcome, has_panicked).is_err() {
                // The parent no longer reads.
                end();
            }
        }
    }

    /// Returns the answer; an error is a panic.
    fn compute(&mut self, statement: Statement) -> Result<Result<Rows, ComputeError>, Box<dyn Any + Send>> {
        let (query, view) = match self.prepare(statement) {
            Ok(prepared) => prepared,
            Err(error) => return Ok(Err(error)),
        };
        let (output, has_columns) = (self.output.clone(), AtomicBool::new(false));
        let take = |block: Rows| {
            let is_first = !has_columns.swap(true, Ordering::Relaxed);
            ready(send_block(&output, &block, is_first).is_ok()).boxed()
        };
        let computed = async {
            let mut means = query.means.clone();
            means.limits.time += LATER;
            // A lower limit is not an error: the parent process enforces the time.
            let _ = limit::grant(means.limits.time, self.threads);
            let checked =
                examine(Dialect::Joined, &[], &query.sql).map_err(|failure| ComputeError::other(failure.message))?;
            let found = resolve_reads(&query, &view, &checked)?;
            let statement = joined::Statement { sql: &query.sql, view: &view, checked: &checked, found: &found };
            let take: Option<TakeBlock<'_>> = if query.is_streamed { Some(&take) } else { None };
            compute(statement, query.act, take, &means).await
        };
        self.runtime.block_on(AssertUnwindSafe(computed).catch_unwind())
    }

    /// Returns the statement, and the sources with the tables and subsets that it reads.
    fn prepare(&mut self, statement: Statement) -> Result<(Query, View), ComputeError> {
        let Statement { mut query, mut subsets } = statement;
        let mut sources = Vec::new();
        for (at, sent) in std::mem::take(&mut query.sources).into_iter().enumerate() {
            let connector = match sent.files {
                Some(files) => self.open(files),
                None => Arc::new(Remote::new(at, sent.kind, self.asks.clone())),
            };
            let tables = sent.tables.into_iter().map(|table| table.into_table()).collect();
            sources.push(Arc::new(Source { name: sent.name, tables, functions: Vec::new(), connector }));
        }
        subsets.resize_with(query.subsets, Vec::new);
        let tables = sources.last().map(|source: &Arc<Source>| source.tables.clone()).unwrap_or_default();
        let held = subsets.into_iter().zip(tables).map(|(batches, table)| {
            let first = batches.first().ok_or_else(|| ComputeError::other("a subset was not sent"))?;
            let batch =
                concat_batches(&first.schema(), &batches).map_err(|error| ComputeError::other(error.to_string()))?;
            Ok(Arc::new(StoredSubset { batch, ..StoredSubset::empty(table) }))
        });
        let held = held.collect::<Result<Vec<_>, ComputeError>>()?;
        Ok((query, View::of(sources, held)))
    }

    /// Returns the files as they were opened for an earlier statement, if they are unchanged.
    fn open(&mut self, files: DataFiles) -> Arc<dyn Connector> {
        let stamps = read_stamps(&files);
        if let Some(opened) = self.opened.get(&files).filter(|opened| opened.stamps == stamps) {
            return opened.connector.clone();
        }
        if self.opened.len() >= MAX_OPENED {
            self.opened.clear();
        }
        let connector = files.open();
        self.opened.insert(files, OpenSource { stamps, connector: connector.clone() });
        connector
    }

    fn send(&self, outcome: Result<Rows, ComputeError>, has_panicked: bool) -> io::Result<()> {
        let outcome = match outcome {
            Ok(Rows { columns, rows, has_more }) => {
                send_rows(&self.output, &rows)?;
                Ok(Rows { columns, rows: Vec::new(), has_more })
            }
            Err(ComputeError::Failed(mut reason)) => {
                reason.message.truncate(reason.message.floor_char_boundary(MAX_MESSAGE));
                Err(ComputeError::Failed(reason))
            }
            Err(error) => Err(error),
        };
        let is_worn = has_panicked || self.memory.is_worn();
        self.output.send(&Frame::json(Tag::Done, &Done { outcome, is_worn })?)
    }
}

/// Returns what changes when the files are rewritten: their sizes and modification times.
fn read_stamps(files: &DataFiles) -> Vec<Option<(u64, SystemTime)>> {
    let stamp = |path: &PathBuf| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    files.files.iter().flat_map(|file| &file.paths).map(stamp).collect()
}

/// Sends a block of an answer, preceded by the names of its columns for the first one.
fn send_block(output: &Output, block: &Rows, is_first: bool) -> io::Result<()> {
    if is_first {
        output.send(&Frame::json(Tag::Columns, &block.columns)?)?;
    }
    send_rows(output, &block.rows)
}

fn send_rows(output: &Output, rows: &[Vec<Value>]) -> io::Result<()> {
    parts(rows).try_for_each(|part| {
        let mut content = Vec::new();
        write_rows(&mut content, part);
        output.send(&Frame { tag: Tag::Answer, content })
    })
}

/// Returns the table of each name of the statement.
fn resolve_reads(query: &Query, view: &View, checked: &CheckedQuery) -> Result<Vec<ResolvedTable>, ComputeError> {
    let written = &checked.rewritten.reads;
    if written.len() != query.reads.len() {
        return Err(ComputeError::other("the statement reads other tables than when it was validated"));
    }
    let found = written.iter().zip(&query.reads).map(|(written, (source, table))| {
        let is_known = view.get(*source).is_some_and(|known| *table < known.tables.len());
        let (written, source, table) = (written.clone(), *source, *table);
        is_known
            .then_some(ResolvedTable { written, source, table, is_prefixed: false })
            .ok_or_else(|| ComputeError::other("a table was not described"))
    });
    found.collect()
}
