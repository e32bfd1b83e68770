//! The file of a table, or its files, and the ways to read them.

use std::panic::AssertUnwindSafe;
use std::path::Path;
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
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::{DataFrame, SessionContext};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use prospector_core::Problem;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncSeekExt};
use tokio::sync::OnceCell;

use super::failure::FileError;
use super::naming::TableFiles;
use super::narrow::narrow_table;
use super::partitioned::PartitionedTable;
use super::{examine, loaded};
use crate::budget::{Excess, MAX_ROWS_BYTES};
use crate::data_files::{DataFile, DataFormat};
use crate::error::ConnectError;

/// No query may take longer.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Types are guessed from so many rows.
const ROWS_OF_CSV: usize = 1_000;
/// Columns too, so that it should be more of them.
const ROWS_OF_JSON: usize = 10_000;

/// Larger files are not loaded into memory.
const MAX_LOADED_BYTES: u64 = 256 << 20;

/// The reader of CSV streams makes room for a batch of rows of all columns, whichever are wanted: 128 MB for so many. A file
/// of more is loaded.
const MAX_STREAMED: usize = 2_000;

/// So many values are read at once where all columns are.
const VALUES_AT_ONCE: usize = 1 << 20;

/// The header of a CSV file is no longer, in bytes.
const MAX_HEADER: u64 = 16 << 20;

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
    /// The ways for files of that format, the cheapest first; the last one forgives the most.
    fn of(format: DataFormat) -> &'static [Reading] {
        match format {
            DataFormat::Csv | DataFormat::Json | DataFormat::Jsonl => &[Reading::Stream, Reading::Loaded],
            DataFormat::Parquet | DataFormat::Arrow => &[Reading::Stream],
        }
    }
}

/// A file that is a table, or the files of a table that is divided among folders.
pub(super) struct File {
    format: DataFormat,
    files: TableFiles,
    /// The file as each of [`Reading::of`] has it, once it is needed.
    opened: Vec<OnceCell<OpenFile>>,
    /// The first reading that has not failed yet.
    current: AtomicUsize,
    /// Whether every value was read once, in the current reading.
    is_read: AtomicBool,
}

/// A file that can be queried, and what is off about it.
struct OpenFile {
    table: Arc<dyn TableProvider>,
    notes: Vec<Problem>,
}

impl File {
    pub(super) fn new(format: DataFormat, files: TableFiles) -> Self {
        let opened = Reading::of(format).iter().map(|_| OnceCell::new()).collect();
        File { format, files, opened, current: AtomicUsize::new(0), is_read: AtomicBool::new(false) }
    }

    pub(super) fn format(&self) -> DataFormat {
        self.format
    }

    pub(super) fn table(&self) -> &str {
        &self.files.table
    }

    /// The file; of several the folder of the table.
    pub(super) fn path(&self) -> &Path {
        &self.files.place
    }

    /// Whether the format stores no types.
    pub(super) fn types_are_guessed(&self) -> bool {
        Reading::of(self.format).len() > 1
    }

    /// Whether every value was read once.
    pub(super) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Relaxed)
    }

    /// The file and what reading it has shown so far.
    pub(super) fn progress(&self) -> DataFile {
        let readings = self.current.load(Ordering::Relaxed);
        DataFile { paths: self.files.paths.clone(), readings_failed: readings, is_verified: self.is_read() }
    }

    /// Takes over what reading the file has shown elsewhere.
    pub(super) fn resume(&self, known: &DataFile) {
        self.current.store(known.readings_failed.min(self.opened.len() - 1), Ordering::Relaxed);
        self.is_read.store(known.is_verified, Ordering::Relaxed);
    }

    /// Notes that every value was read.
    pub(super) fn was_read(&self) {
        self.is_read.store(true, Ordering::Relaxed);
    }

    pub(super) fn open_error(&self, error: FileError) -> ConnectError {
        ConnectError::Open {
            kind: self.format.kind(),
            path: self.path().to_owned(),
            reason: error.to_string().into(),
            cause: error.cause(),
            source: None,
        }
        .with_source(error)
    }

    fn read_error(&self, error: FileError) -> ConnectError {
        ConnectError::Read {
            place: self.place(),
            table: self.table().to_owned(),
            reason: error.to_string().into(),
            cause: error.cause(),
            code: None,
            column: error.column().map(Into::into),
            source: None,
        }
        .with_source(error)
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
        session.read_table(table).map_err(|error| self.open_error(error.into()))
    }

    async fn provider(&self, session: &SessionContext) -> Result<Arc<dyn TableProvider>, ConnectError> {
        let mut failed = FileError::Missing;
        for index in self.current.load(Ordering::Relaxed)..self.opened.len() {
            match self.open(index, session).await {
                Ok(opened) => return Ok(opened.table.clone()),
                Err(error) => failed = error,
            }
        }
        Err(self.open_error(failed))
    }

    /// The answer to a query; where the file cannot be read as it was until now, in the next way that works.
    pub(super) async fn query<T: Send>(
        &self,
        session: &SessionContext,
        query: impl Fn(DataFrame) -> Result<(DataFrame, T), FileError> + Send + Sync,
    ) -> Result<(Vec<RecordBatch>, T), ConnectError> {
        let ask = |table: Arc<dyn TableProvider>| {
            async {
                let (frame, about) = query(session.read_table(table)?)?;
                Ok((collect_batches(frame).await?, about))
            }
            .boxed()
        };
        match self.first_that_works(session, ask).await? {
            (Ok(batches), about) => Ok((batches, about)),
            (Err(excess), _) => Err(excess.error(self.place(), self.table(), &[] as &[&str])),
        }
    }

    /// The number of rows, all of which are read with all of their values; in the next way that works.
    pub(super) async fn count(&self, session: &SessionContext) -> Result<u64, ConnectError> {
        let ask = |table: Arc<dyn TableProvider>| {
            async move {
                // Readers make room for a whole batch in each column before they have read a row.
                let rows = (VALUES_AT_ONCE / table.schema().fields().len().max(1)).clamp(16, 8_192);
                let config = session.copied_config().with_batch_size(rows);
                let session = SessionContext::new_with_config_rt(config, session.runtime_env());
                let plan = table.scan(&session.state(), None, &[], None).await?;
                let mut batches = execute_stream(plan, session.task_ctx())?;
                let mut rows = 0;
                while let Some(batch) = batches.next().await {
                    rows += batch?.num_rows() as u64;
                }
                Ok(rows)
            }
            .boxed()
        };
        self.first_that_works(session, ask).await
    }

    async fn first_that_works<'a, T>(
        &'a self,
        session: &'a SessionContext,
        ask: impl Fn(Arc<dyn TableProvider>) -> BoxFuture<'a, Result<T, FileError>>,
    ) -> Result<T, ConnectError> {
        let mut failed = ConnectError::NoData { place: self.place() };
        for index in self.current.load(Ordering::Relaxed)..self.opened.len() {
            let opened = match self.open(index, session).await {
                Ok(opened) => opened,
                Err(error) => {
                    failed = self.open_error(error);
                    continue;
                }
            };
            let asked = async {
                let answer = tokio::time::timeout(STATEMENT_TIMEOUT, ask(opened.table.clone())).await;
                answer.map_err(|_| FileError::TimedOut)?
            };
            match caught(asked).await {
                Ok(answer) => {
                    self.current.fetch_max(index, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(error) => failed = self.read_error(error),
            }
        }
        Err(failed)
    }

    /// The file, as it is called in messages.
    pub(super) fn place(&self) -> String {
        self.path().display().to_string()
    }

    async fn open(&self, index: usize, session: &SessionContext) -> Result<&OpenFile, FileError> {
        // The reader lists a file before it reads it: one that was removed since would be a table without rows.
        let bytes = if self.files.is_partitioned { 0 } else { stat(self.path()).await?.len() };
        let open = || async {
            if self.files.is_partitioned {
                return self.open_partitioned(session).await;
            }
            let start = self.start().await?;
            let columns = self.examine(self.path(), &start).await?;
            let opened = match Reading::of(self.format)[index] {
                Reading::Stream if columns <= MAX_STREAMED => self.stream(&start, session, false).await,
                Reading::Loaded if bytes <= MAX_LOADED_BYTES => self.load(&start).await,
                Reading::Stream | Reading::Loaded if columns > MAX_STREAMED => Err(FileError::Unreadable(format!(
                    "it has {columns} columns, and at more than {} MB it is not loaded",
                    MAX_LOADED_BYTES >> 20
                ))),
                Reading::Loaded if self.format == DataFormat::Csv => self.stream(&start, session, true).await,
                Reading::Stream | Reading::Loaded => Err(FileError::Unreadable(format!(
                    "not all records fit, and at more than {} MB it is not loaded",
                    MAX_LOADED_BYTES >> 20
                ))),
            };
            Ok(self.narrow(opened?))
        };
        self.opened[index].get_or_try_init(|| caught(open())).await
    }

    /// Of files of Parquet in folders of the same keys one table.
    async fn open_partitioned(&self, session: &SessionContext) -> Result<OpenFile, FileError> {
        for path in &self.files.paths {
            let examined = async {
                stat(path).await?;
                self.examine(path, &[]).await
            };
            examined.await.map_err(|error| FileError::Unreadable(format!("{}: {error}", path.display())))?;
        }
        let table = PartitionedTable::open(session, &self.files.paths).await?;
        Ok(self.narrow(OpenFile { table: Arc::new(table), notes: Vec::new() }))
    }

    fn narrow(&self, opened: OpenFile) -> OpenFile {
        let OpenFile { table, mut notes } = opened;
        let (table, note) = narrow_table(table, &self.place());
        notes.extend(note);
        OpenFile { table, notes }
    }

    async fn start(&self) -> Result<Vec<u8>, FileError> {
        let mut start = Vec::new();
        let file = tokio::fs::File::open(self.path()).await?;
        file.take(START).read_to_end(&mut start).await?;
        Ok(start)
    }

    /// Looks at what a reader would believe to the end of the process, or of the memory; returns how many columns the header
    /// of a CSV file names.
    async fn examine(&self, path: &Path, start: &[u8]) -> Result<usize, FileError> {
        let check: fn(&mut std::fs::File) -> Result<(), FileError> = match self.format {
            DataFormat::Csv => {
                self.examine_header().await?;
                |_| Ok(())
            }
            DataFormat::Parquet => examine::parquet,
            DataFormat::Arrow => examine::arrow,
            DataFormat::Json | DataFormat::Jsonl => return Ok(0),
        };
        let (path, delimiter) = (path.to_owned(), (self.format == DataFormat::Csv).then(|| loaded::delimiter(start)));
        let examined = move || -> Result<usize, FileError> {
            let mut file = std::fs::File::open(path)?;
            check(&mut file)?;
            let Some(delimiter) = delimiter else { return Ok(0) };
            let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(file);
            // What is wrong with it, whoever reads it says.
            Ok(reader.byte_headers().map_or(0, csv::ByteRecord::len))
        };
        tokio::task::spawn_blocking(examined).await?
    }

    /// A first line without end is no header: readers would take all of the file for it.
    async fn examine_header(&self) -> Result<(), FileError> {
        let file = tokio::fs::File::open(self.path()).await?;
        let mut file = tokio::io::BufReader::with_capacity(START as usize, file.take(MAX_HEADER));
        let mut left = MAX_HEADER;
        loop {
            let bytes = file.fill_buf().await?;
            if bytes.is_empty() || bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
                let is_cut = bytes.is_empty() && left == 0;
                let reason = || {
                    FileError::Unreadable(format!(
                        "its first line has more than {} MB, which is no header",
                        MAX_HEADER >> 20
                    ))
                };
                return if is_cut { Err(reason()) } else { Ok(()) };
            }
            let read = bytes.len();
            left = left.saturating_sub(read as u64);
            file.consume(read);
        }
    }

    /// `all_text` takes every value of a CSV file for a text, so that none is of the wrong type.
    async fn stream(&self, start: &[u8], session: &SessionContext, all_text: bool) -> Result<OpenFile, FileError> {
        let format: Arc<dyn FileFormat> = match self.format {
            DataFormat::Csv => Arc::new(
                CsvFormat::default()
                    .with_has_header(true)
                    .with_delimiter(loaded::delimiter(start))
                    .with_newlines_in_values(true)
                    .with_truncated_rows(all_text)
                    .with_schema_infer_max_rec(if all_text { 0 } else { ROWS_OF_CSV }),
            ),
            DataFormat::Json | DataFormat::Jsonl => match start.iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(first @ (b'[' | b'{')) => Arc::new(
                    JsonFormat::default()
                        .with_newline_delimited(*first == b'{')
                        .with_schema_infer_max_rec(ROWS_OF_JSON),
                ),
                _ => return Err(FileError::unreadable("it does not begin with a record or a list of records")),
            },
            DataFormat::Arrow => {
                self.examine_arrow(start).await?;
                Arc::new(ArrowFormat)
            }
            // The metadata holds the descriptions.
            DataFormat::Parquet => Arc::new(ParquetFormat::default().with_skip_metadata(false)),
        };
        let url = url::Url::from_file_path(self.path()).map_err(|()| FileError::Relative)?;
        let url = ListingTableUrl::parse(url)?;
        let options = ListingOptions::new(format).with_file_extension("");
        let mut schema = options.infer_schema(&session.state(), &url).await?;
        if self.types_are_guessed() {
            schema = Arc::new(tidy(&schema, self.format));
        }
        if schema.fields().is_empty() {
            return Err(FileError::NoColumns);
        }
        let config = ListingTableConfig::new(url).with_listing_options(options).with_schema(schema);
        let table = Arc::new(ListingTable::try_new(config)?);
        Ok(OpenFile { table, notes: Vec::new() })
    }

    /// The reader takes the first bytes of whatever else for the length of a buffer that it then fills.
    async fn examine_arrow(&self, start: &[u8]) -> Result<(), FileError> {
        let mut file = tokio::fs::File::open(self.path()).await?;
        let bytes = file.metadata().await?.len();
        if start.starts_with(b"FEA1") {
            return Err(FileError::unreadable("it is of version 1 of Feather; write it again with version 2"));
        }
        if start.starts_with(b"ARROW1") {
            let mut end = Vec::new();
            file.seek(std::io::SeekFrom::Start(bytes.saturating_sub(6))).await?;
            file.read_to_end(&mut end).await?;
            return if end == b"ARROW1" {
                Ok(())
            } else {
                Err(FileError::unreadable("it is an Arrow file without its end"))
            };
        }
        let length =
            start.strip_prefix(&[0xff; 4]).unwrap_or(start).first_chunk().map(|four| u32::from_le_bytes(*four));
        match length {
            Some(length) if u64::from(length) <= bytes => Ok(()),
            _ => Err(FileError::unreadable("it is neither an Arrow file nor an Arrow stream")),
        }
    }

    async fn load(&self, start: &[u8]) -> Result<OpenFile, FileError> {
        let (format, path, delimiter) = (self.format, self.path().to_owned(), loaded::delimiter(start));
        let load = move || match format {
            DataFormat::Csv => loaded::csv(&path, delimiter),
            DataFormat::Json | DataFormat::Jsonl => loaded::json(&path),
            // `Reading::of` has no such way for them.
            DataFormat::Parquet | DataFormat::Arrow => Err(FileError::unreadable("it is read where it lies only")),
        };
        let (batch, notes) = tokio::task::spawn_blocking(load).await??;
        let table = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
        Ok(OpenFile { table: Arc::new(table), notes })
    }
}

/// What the system says of a file that holds something.
async fn stat(path: &Path) -> Result<std::fs::Metadata, FileError> {
    let metadata = tokio::fs::metadata(path).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => FileError::Missing,
        _ => FileError::Io(error),
    })?;
    match metadata.is_dir() {
        true => Err(FileError::Folder),
        false if metadata.len() == 0 => Err(FileError::Empty),
        false => Ok(metadata),
    }
}

/// Readers of binary formats may panic over damaged files.
async fn caught<T>(act: impl Future<Output = Result<T, FileError>>) -> Result<T, FileError> {
    AssertUnwindSafe(act).catch_unwind().await.unwrap_or(Err(FileError::Panicked))
}

/// The columns under names that differ, and none of them without a type: rows after the first ones may have values.
fn tidy(schema: &Schema, format: DataFormat) -> Schema {
    let typed = |field: &Field| match field.data_type() {
        DataType::Null => field.clone().with_data_type(DataType::Utf8),
        _ => field.clone(),
    };
    let fields: Vec<Field> = schema.fields().iter().map(|field| typed(field)).collect();
    if format != DataFormat::Csv {
        // JSON is read by name.
        return Schema::new(fields);
    }
    let names = loaded::column_names(fields.iter().map(|field| field.name().as_str()));
    Schema::new(fields.into_iter().zip(names).map(|(field, name)| field.with_name(name)).collect::<Vec<_>>())
}

/// All batches of an answer, as far as they may be read at once.
async fn collect_batches(frame: DataFrame) -> Result<Result<Vec<RecordBatch>, Excess>, DataFusionError> {
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
