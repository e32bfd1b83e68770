//! One file and the ways to read it.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::DataFusionError;
use datafusion::prelude::{DataFrame, SessionContext};
use futures::{FutureExt, TryStreamExt};
use prospector_core::Problem;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::sync::OnceCell;

use super::loaded;
use crate::budget::Excess;
use crate::{ConnectError, MAX_ROWS_BYTES, SourceKind};

/// No query may take longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Types are guessed from so many rows.
const ROWS_OF_CSV: usize = 1_000;
/// Columns too, so that it should be more of them.
const ROWS_OF_JSON: usize = 10_000;

/// Larger files are not loaded into memory.
const LARGEST: u64 = 256 << 20;

/// How much of the start of a file is looked at.
const START: u64 = 64 << 10;

/// A way to read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// As a stream, with types as they are stored or as the first rows have them.
    Stream,
    /// Whole into memory, with whatever types all rows allow, broken records left out.
    Loaded,
}

impl Reading {
    /// The ways for files of that kind, the cheapest first; the last one forgives the most.
    fn of(kind: SourceKind) -> &'static [Reading] {
        match kind {
            SourceKind::Csv | SourceKind::Json | SourceKind::Jsonl => &[Reading::Stream, Reading::Loaded],
            _ => &[Reading::Stream],
        }
    }
}

/// A file that is a table.
pub(super) struct File {
    kind: SourceKind,
    table: String,
    path: PathBuf,
    /// The file as each of [`Reading::of`] has it, once it is needed.
    opened: Vec<OnceCell<Opened>>,
    /// The first reading that has not failed yet.
    current: AtomicUsize,
    /// Whether every value was read once, in the current reading.
    is_read: AtomicBool,
}

/// A file that can be queried, and what is off about it.
struct Opened {
    table: Arc<dyn TableProvider>,
    notes: Vec<Problem>,
}

impl File {
    pub(super) fn new(kind: SourceKind, table: String, path: PathBuf) -> Self {
        let opened = Reading::of(kind).iter().map(|_| OnceCell::new()).collect();
        File { kind, table, path, opened, current: AtomicUsize::new(0), is_read: AtomicBool::new(false) }
    }

    pub(super) fn table(&self) -> &str {
        &self.table
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the format stores no types.
    pub(super) fn types_are_guessed(&self) -> bool {
        Reading::of(self.kind).len() > 1
    }

    /// Whether every value was read once.
    pub(super) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Relaxed)
    }

    /// Notes that every value was read.
    pub(super) fn was_read(&self) {
        self.is_read.store(true, Ordering::Relaxed);
    }

    pub(super) fn unopened(&self, reason: String) -> ConnectError {
        ConnectError::Open { kind: self.kind.as_str(), path: self.path.clone(), reason }
    }

    /// What is off about the file as it is read now.
    pub(super) fn notes(&self) -> Vec<Problem> {
        let opened = self.opened[self.current.load(Ordering::Relaxed)].get();
        opened.map(|opened| opened.notes.clone()).unwrap_or_default()
    }

    /// The columns.
    pub(super) async fn schema(&self, session: &SessionContext) -> Result<SchemaRef, ConnectError> {
        Ok(self.provider(session).await?.schema())
    }

    /// All of it, to be queried.
    pub(super) async fn frame(&self, session: &SessionContext) -> Result<DataFrame, ConnectError> {
        let table = self.provider(session).await?;
        session.read_table(table).map_err(|error| self.unopened(plain(error)))
    }

    async fn provider(&self, session: &SessionContext) -> Result<Arc<dyn TableProvider>, ConnectError> {
        let mut failed = String::new();
        for index in self.current.load(Ordering::Relaxed)..self.opened.len() {
            match self.open(index, session).await {
                Ok(opened) => return Ok(opened.table.clone()),
                Err(reason) => failed = reason,
            }
        }
        Err(self.unopened(failed))
    }

    /// The answer to a query; where the file cannot be read as it was until now, in the next way that works.
    pub(super) async fn query<T>(
        &self,
        session: &SessionContext,
        query: impl Fn(DataFrame) -> Result<(DataFrame, T), String>,
    ) -> Result<(Vec<RecordBatch>, T), ConnectError> {
        let mut failed = ConnectError::NoData { place: self.path.display().to_string() };
        for index in self.current.load(Ordering::Relaxed)..self.opened.len() {
            let opened = match self.open(index, session).await {
                Ok(opened) => opened,
                Err(reason) => {
                    failed = self.unopened(reason);
                    continue;
                }
            };
            let asked = async {
                let frame = session.read_table(opened.table.clone()).map_err(plain)?;
                let (frame, about) = query(frame)?;
                let answer = tokio::time::timeout(PATIENCE, collected(frame)).await;
                Ok((answer.map_err(|_| "it took too long and was stopped")?.map_err(plain)?, about))
            };
            match caught(asked).await {
                Ok((batches, about)) => {
                    self.current.fetch_max(index, Ordering::Relaxed);
                    return match batches {
                        Ok(batches) => Ok((batches, about)),
                        Err(excess) => Err(excess.error(self.place(), &self.table, &[] as &[&str])),
                    };
                }
                Err(reason) => {
                    let place = self.path.display().to_string();
                    failed = ConnectError::read(place, &self.table, reason);
                }
            }
        }
        Err(failed)
    }

    /// The file, as it is called in messages.
    pub(super) fn place(&self) -> String {
        self.path.display().to_string()
    }

    async fn open(&self, index: usize, session: &SessionContext) -> Result<&Opened, String> {
        let open = || async {
            let metadata = tokio::fs::metadata(&self.path).await.map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => error.to_string(),
            })?;
            if metadata.is_dir() {
                return Err("it is a folder".to_owned());
            }
            if metadata.len() == 0 {
                return Err("the file is empty".to_owned());
            }
            let start = self.start().await?;
            match Reading::of(self.kind)[index] {
                Reading::Stream => self.stream(&start, session, false).await,
                Reading::Loaded if metadata.len() <= LARGEST => self.load(&start).await,
                Reading::Loaded if self.kind == SourceKind::Csv => self.stream(&start, session, true).await,
                Reading::Loaded => {
                    Err(format!("not all records fit, and at more than {} MB it is not loaded", LARGEST >> 20))
                }
            }
        };
        self.opened[index].get_or_try_init(|| caught(open())).await
    }

    async fn start(&self) -> Result<Vec<u8>, String> {
        let mut start = Vec::new();
        let file = tokio::fs::File::open(&self.path).await.map_err(|error| error.to_string())?;
        file.take(START).read_to_end(&mut start).await.map_err(|error| error.to_string())?;
        Ok(start)
    }

    /// `all_text` takes every value of a CSV file for a text, so that none is of the wrong type.
    async fn stream(&self, start: &[u8], session: &SessionContext, all_text: bool) -> Result<Opened, String> {
        let format: Arc<dyn FileFormat> = match self.kind {
            SourceKind::Csv => Arc::new(
                CsvFormat::default()
                    .with_has_header(true)
                    .with_delimiter(delimiter(start))
                    .with_newlines_in_values(true)
                    .with_truncated_rows(all_text)
                    .with_schema_infer_max_rec(if all_text { 0 } else { ROWS_OF_CSV }),
            ),
            SourceKind::Json | SourceKind::Jsonl => match start.iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(first @ (b'[' | b'{')) => Arc::new(
                    JsonFormat::default()
                        .with_newline_delimited(*first == b'{')
                        .with_schema_infer_max_rec(ROWS_OF_JSON),
                ),
                _ => return Err("it does not begin with a record or a list of records".to_owned()),
            },
            SourceKind::Arrow => {
                self.examine_arrow(start).await?;
                Arc::new(ArrowFormat)
            }
            // The metadata holds the descriptions.
            _ => Arc::new(ParquetFormat::default().with_skip_metadata(false)),
        };
        let url = url::Url::from_file_path(&self.path).map_err(|()| "the path is not absolute".to_owned())?;
        let url = ListingTableUrl::parse(url).map_err(plain)?;
        let options = ListingOptions::new(format).with_file_extension("");
        let mut schema = options.infer_schema(&session.state(), &url).await.map_err(plain)?;
        if self.types_are_guessed() {
            schema = Arc::new(tidy(&schema, self.kind));
        }
        if schema.fields().is_empty() {
            return Err("there are no columns in it".to_owned());
        }
        let config = ListingTableConfig::new(url).with_listing_options(options).with_schema(schema);
        let table = Arc::new(ListingTable::try_new(config).map_err(plain)?);
        Ok(Opened { table, notes: Vec::new() })
    }

    /// The reader takes the first bytes of whatever else for the length of a buffer that it then fills.
    async fn examine_arrow(&self, start: &[u8]) -> Result<(), String> {
        let failed = |error: std::io::Error| error.to_string();
        let mut file = tokio::fs::File::open(&self.path).await.map_err(failed)?;
        let bytes = file.metadata().await.map_err(failed)?.len();
        if start.starts_with(b"FEA1") {
            return Err("it is of version 1 of Feather; write it again with version 2".to_owned());
        }
        if start.starts_with(b"ARROW1") {
            let mut end = Vec::new();
            file.seek(std::io::SeekFrom::Start(bytes.saturating_sub(6))).await.map_err(failed)?;
            file.read_to_end(&mut end).await.map_err(failed)?;
            return if end == b"ARROW1" { Ok(()) } else { Err("it is an Arrow file without its end".to_owned()) };
        }
        let length =
            start.strip_prefix(&[0xff; 4]).unwrap_or(start).first_chunk().map(|four| u32::from_le_bytes(*four));
        match length {
            Some(length) if u64::from(length) <= bytes => Ok(()),
            _ => Err("it is neither an Arrow file nor an Arrow stream".to_owned()),
        }
    }

    async fn load(&self, start: &[u8]) -> Result<Opened, String> {
        let (kind, path, delimiter) = (self.kind, self.path.clone(), delimiter(start));
        let load = move || match kind {
            SourceKind::Csv => loaded::csv(&path, delimiter),
            _ => loaded::json(&path),
        };
        let (batch, notes) = tokio::task::spawn_blocking(load).await.map_err(|error| error.to_string())??;
        let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).map_err(plain)?;
        Ok(Opened { table: Arc::new(table), notes })
    }
}

/// Readers of binary formats may panic over damaged files.
async fn caught<T>(act: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    AssertUnwindSafe(act)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| Err("the reader panicked; the file is damaged".to_owned()))
}

/// What went wrong, without the wrapping.
pub(super) fn plain(error: DataFusionError) -> String {
    match error.find_root() {
        DataFusionError::ArrowError(error, _) => error.to_string(),
        DataFusionError::ParquetError(error) => error.to_string(),
        root => root.strip_backtrace(),
    }
}

/// The separator of the header line: the comma, unless another one is there more often outside of quotes.
fn delimiter(start: &[u8]) -> u8 {
    let header = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let times = |wanted: u8| {
        let bare = header.split(|byte| *byte == b'"').step_by(2).flatten();
        bare.filter(|byte| **byte == wanted).count()
    };
    [b'\t', b';', b'|'].into_iter().max_by_key(|d| times(*d)).filter(|d| times(*d) > times(b',')).unwrap_or(b',')
}

/// The columns under names that differ, and none of them without a type: rows after the first ones may have values.
fn tidy(schema: &Schema, kind: SourceKind) -> Schema {
    let typed = |field: &Field| match field.data_type() {
        DataType::Null => field.clone().with_data_type(DataType::Utf8),
        _ => field.clone(),
    };
    let fields: Vec<Field> = schema.fields().iter().map(|field| typed(field)).collect();
    if kind != SourceKind::Csv {
        // JSON is read by name.
        return Schema::new(fields);
    }
    let names = loaded::column_names(fields.iter().map(|field| field.name().as_str()));
    Schema::new(fields.into_iter().zip(names).map(|(field, name)| field.with_name(name)).collect::<Vec<_>>())
}

/// All batches of an answer, as far as they may be read at once.
async fn collected(frame: DataFrame) -> Result<Result<Vec<RecordBatch>, Excess>, DataFusionError> {
    let (mut batches, mut bytes) = (Vec::new(), 0);
    let mut stream = frame.execute_stream().await?;
    while let Some(batch) = stream.try_next().await? {
        // Of the buffers, which several batches may share, the part of this one.
        let own = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
        bytes += batch.columns().iter().map(own).sum::<usize>();
        if bytes > MAX_ROWS_BYTES {
            return Ok(Err(Excess { column: None, limit: MAX_ROWS_BYTES }));
        }
        batches.push(batch);
    }
    Ok(Ok(batches))
}
