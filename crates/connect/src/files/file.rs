//! The file or files of a table, and the strategies for reading them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::DataFusionError;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::{DataFrame, SessionContext};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use prospector_core::Problem;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::sync::RwLock;

use super::delimited::{self, Content, Examined, FileLayout, Stamp};
use super::failure::FileError;
use super::naming::TableFiles;
use super::narrow::narrow_table;
use super::opened::{OpenFile, caught, fill_types, stat};
use super::partitioned::PartitionedTable;
use super::{examine, loaded};
use crate::budget::{Excess, MAX_ROWS_BYTES};
use crate::data_files::DataFile;
use crate::error::ConnectError;
use crate::source_kind::SourceKind;
use crate::table::ColumnIssue;

/// Time limit of a query.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Number of rows from which types and columns of JSON are inferred.
const ROWS_OF_JSON: usize = 10_000;

/// Maximum size of a file that is loaded into memory, in bytes.
const MAX_LOADED_BYTES: u64 = 256 << 20;

/// Number of bytes inspected at the start of a file.
const START: u64 = 64 << 10;

/// A strategy for reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Survey all cells to infer the types, then stream.
    Delimited,
    /// Stream, with stored types or types inferred from the first rows.
    Stream,
    /// Load into memory, with types that fit all rows; invalid records are skipped.
    Loaded,
}

impl Reading {
    /// Returns the strategies for a kind of files, from the cheapest to the most tolerant.
    fn of(kind: SourceKind) -> &'static [Reading] {
        match kind {
            SourceKind::Csv | SourceKind::Xlsx => &[Reading::Delimited],
            SourceKind::Json | SourceKind::Jsonl => &[Reading::Stream, Reading::Loaded],
            _ => &[Reading::Stream],
        }
    }
}

/// The file of a table, or the files of a partitioned table.
pub(super) struct File {
    kind: SourceKind,
    files: TableFiles,
    is_strict: bool,
    /// The rows, if the table is a sheet.
    sheet: Option<Content>,
    /// The layout, if another process has determined it.
    known: OnceLock<FileLayout>,
    /// The opened file for each strategy of [`Reading::of`], once needed.
    opened: Vec<RwLock<Option<Arc<OpenFile>>>>,
    /// The first strategy that has not failed yet.
    current: AtomicUsize,
    /// Whether every value was read once with the current strategy.
    is_read: AtomicBool,
}

impl File {
    pub(super) fn new(kind: SourceKind, files: TableFiles, is_strict: bool) -> Self {
        let opened = Reading::of(kind).iter().map(|_| RwLock::default()).collect();
        let (current, is_read) = (AtomicUsize::new(0), AtomicBool::new(false));
        File { kind, files, is_strict, sheet: None, known: OnceLock::new(), opened, current, is_read }
    }

    /// Returns a sheet of a workbook.
    pub(super) fn of_sheet(path: &Path, table: String, sheet: Content, is_strict: bool) -> Self {
        let files = TableFiles { table, place: path.to_owned(), paths: vec![path.to_owned()], is_partitioned: false };
        File { sheet: Some(sheet), ..File::new(SourceKind::Xlsx, files, is_strict) }
    }

    pub(super) fn kind(&self) -> SourceKind {
        self.kind
    }

    pub(super) fn table(&self) -> &str {
        &self.files.table
    }

    /// Returns the path of the file, or of the folder of a partitioned table.
    pub(super) fn path(&self) -> &Path {
        &self.files.place
    }

    /// Whether types are inferred from the first rows.
    pub(super) fn types_are_guessed(&self) -> bool {
        Reading::of(self.kind).len() > 1
    }

    /// Whether every value was read once.
    pub(super) fn is_read(&self) -> bool {
        self.is_read.load(Ordering::Relaxed)
    }

    /// Returns the file with what reading it has determined so far.
    pub(super) fn progress(&self) -> DataFile {
        let readings = self.current.load(Ordering::Relaxed);
        let opened = self.opened[readings].try_read().ok().and_then(|opened| opened.clone());
        let examined = opened.as_ref().and_then(|opened| opened.examined.as_ref());
        let layout = examined.and_then(|examined| serde_json::to_string(examined.layout.as_ref()).ok());
        let paths = self.files.paths.clone();
        DataFile { paths, readings_failed: readings, is_verified: self.is_read(), layout }
    }

    /// Restores what another process has determined.
    pub(super) fn resume(&self, known: &DataFile) {
        self.current.store(known.readings_failed.min(self.opened.len() - 1), Ordering::Relaxed);
        self.is_read.store(known.is_verified, Ordering::Relaxed);
        // An invalid layout is determined again.
        if let Some(layout) = known.layout.as_deref().and_then(|text| serde_json::from_str(text).ok()) {
            let _ = self.known.set(layout);
        }
    }

    /// Records that every value was read.
    pub(super) fn was_read(&self) {
        self.is_read.store(true, Ordering::Relaxed);
    }

    pub(super) fn open_error(&self, error: FileError) -> ConnectError {
        ConnectError::Open {
            kind: self.kind,
            path: self.path().to_owned(),
            reason: error.to_string().into(),
            cause: error.cause(),
            source: None,
        }
        .with_source(error)
    }

    fn read_error(&self, error: FileError) -> ConnectError {
        let failed = ConnectError::read(self.place(), self.table(), error.cause(), error.to_string());
        failed.with_column(error.column()).with_source(error)
    }

    /// Returns the problems of the file with the current strategy.
    pub(super) async fn notes(&self) -> Vec<Problem> {
        let opened = self.opened[self.current.load(Ordering::Relaxed)].read().await;
        opened.as_ref().map(|opened| opened.notes.clone()).unwrap_or_default()
    }

    /// Returns the row count and the cell issues of a delimited file, after reading all of it.
    pub(super) async fn read_issues(
        &self,
        session: &SessionContext,
    ) -> Result<Option<(u64, Vec<ColumnIssue>)>, ConnectError> {
        if Reading::of(self.kind)[0] != Reading::Delimited {
            return Ok(None);
        }
        let opened = self.open(0, session).await.map_err(|error| self.open_error(error))?;
        let examined = opened.examined.as_ref();
        Ok(examined.and_then(|examined| Some((examined.rows?, examined.issues.clone()))))
    }

    /// Returns the columns.
    pub(super) async fn schema(&self, session: &SessionContext) -> Result<SchemaRef, ConnectError> {
        Ok(self.provider(session).await?.schema())
    }

    /// Returns a data frame over the whole table.
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

    /// Runs a query; if the current strategy fails, the next one that works is used.
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

    /// Counts the rows while reading all values; if the current strategy fails, the next one that works is used.
    pub(super) async fn count(&self, session: &SessionContext) -> Result<u64, ConnectError> {
        let ask = |table: Arc<dyn TableProvider>| {
            async move {
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

    /// Returns the name of the file in messages.
    pub(super) fn place(&self) -> String {
        self.path().display().to_string()
    }

    async fn open(&self, index: usize, session: &SessionContext) -> Result<Arc<OpenFile>, FileError> {
        // The reader lists files first: a file removed since then would be a table without rows.
        let stat = if self.files.is_partitioned { None } else { Some(stat(self.path()).await?) };
        let stamp = stat.as_ref().map(|stat| (stat.len(), stat.modified().ok()));
        let bytes = stat.map_or(0, |stat| stat.len());
        let is_current = |opened: &Arc<OpenFile>| opened.stamp.is_none() || opened.stamp == stamp;
        if let Some(opened) = self.opened[index].read().await.as_ref().filter(|opened| is_current(opened)) {
            return Ok(opened.clone());
        }
        let open = || async {
            if self.files.is_partitioned {
                return self.open_partitioned(session).await;
            }
            let opened = match Reading::of(self.kind)[index] {
                Reading::Delimited => self.examine_cells(stamp).await?,
                Reading::Stream => {
                    self.examine(self.path()).await?;
                    self.stream(&self.start().await?, session).await?
                }
                Reading::Loaded if bytes <= MAX_LOADED_BYTES => OpenFile { stamp, ..self.load().await? },
                Reading::Loaded => {
                    return Err(FileError::Unreadable(format!(
                        "not all records fit or the file is damaged, and at more than {} MB it is not loaded",
                        MAX_LOADED_BYTES >> 20
                    )));
                }
            };
            self.narrow(opened)
        };
        let mut place = self.opened[index].write().await;
        match place.as_ref().filter(|opened| is_current(opened)) {
            Some(opened) => Ok(opened.clone()),
            None => Ok(place.insert(Arc::new(caught(open()).await?)).clone()),
        }
    }

    /// Surveys a delimited file, unless another process has.
    async fn examine_cells(&self, stamp: Option<Stamp>) -> Result<OpenFile, FileError> {
        let content = self.sheet.clone().unwrap_or_else(|| Content::File(self.path().to_owned()));
        if let Some(layout) = self.known.get().filter(|layout| layout.stamp == stamp) {
            let layout = Arc::new(layout.clone());
            let table = delimited::table(content, layout.clone());
            let examined = Some(Examined { layout, rows: None, issues: Vec::new() });
            return Ok(OpenFile { examined, stamp, ..OpenFile::new(table, Vec::new()) });
        }
        let (is_strict, place) = (self.is_strict, self.place());
        let examine = move || {
            let (examined, notes) = delimited::examine(&content, is_strict, &place, stamp)?;
            let table = delimited::table(content, examined.layout.clone());
            Ok(OpenFile { examined: Some(examined), stamp, ..OpenFile::new(table, notes) })
        };
        tokio::task::spawn_blocking(examine).await?
    }

    /// Opens partitioned Parquet files as one table.
    async fn open_partitioned(&self, session: &SessionContext) -> Result<OpenFile, FileError> {
        for path in &self.files.paths {
            let examined = async {
                stat(path).await?;
                self.examine(path).await
            };
            examined.await.map_err(|error| FileError::Unreadable(format!("{}: {error}", path.display())))?;
        }
        let table = PartitionedTable::open(session, &self.files.paths).await?;
        self.narrow(OpenFile::new(Arc::new(table), Vec::new()))
    }

    fn narrow(&self, mut opened: OpenFile) -> Result<OpenFile, FileError> {
        let (table, note) = narrow_table(opened.table.clone(), &self.place())?;
        opened.notes.extend(note);
        Ok(OpenFile { table, ..opened })
    }

    async fn start(&self) -> Result<Vec<u8>, FileError> {
        let mut start = Vec::new();
        let file = tokio::fs::File::open(self.path()).await?;
        file.take(START).read_to_end(&mut start).await?;
        Ok(start)
    }

    /// Validates the file before a reader trusts its declared sizes, or its end.
    async fn examine(&self, path: &Path) -> Result<(), FileError> {
        let check: fn(&mut std::fs::File) -> Result<(), FileError> = match self.kind {
            SourceKind::Parquet => examine::parquet,
            SourceKind::Arrow => examine::arrow,
            SourceKind::Json | SourceKind::Jsonl if !self.is_read() => examine::json,
            _ => return Ok(()),
        };
        let path = path.to_owned();
        tokio::task::spawn_blocking(move || check(&mut std::fs::File::open(path)?)).await?
    }

    async fn stream(&self, start: &[u8], session: &SessionContext) -> Result<OpenFile, FileError> {
        let format: Arc<dyn FileFormat> = match self.kind {
            SourceKind::Json | SourceKind::Jsonl => match start.iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(first @ (b'[' | b'{')) => Arc::new(
                    JsonFormat::default()
                        .with_newline_delimited(*first == b'{')
                        .with_schema_infer_max_rec(ROWS_OF_JSON),
                ),
                _ => return Err(FileError::unreadable("it does not start with an object or a list of objects")),
            },
            SourceKind::Arrow => {
                self.examine_arrow(start).await?;
                Arc::new(ArrowFormat)
            }
            // The metadata contains the descriptions.
            SourceKind::Parquet => Arc::new(ParquetFormat::default().with_skip_metadata(false)),
            kind => return Err(FileError::Unreadable(format!("{kind} files are not streamed"))),
        };
        let url = url::Url::from_file_path(self.path()).map_err(|()| FileError::Relative)?;
        let url = ListingTableUrl::parse(url)?;
        let options = ListingOptions::new(format).with_file_extension("");
        let mut schema = options.infer_schema(&session.state(), &url).await?;
        if self.types_are_guessed() {
            schema = Arc::new(fill_types(&schema));
        }
        if schema.fields().is_empty() {
            return Err(FileError::NoColumns);
        }
        let config = ListingTableConfig::new(url).with_listing_options(options).with_schema(schema);
        Ok(OpenFile::new(Arc::new(ListingTable::try_new(config)?), Vec::new()))
    }

    /// Validates the format: the reader would interpret any first bytes as the length of a buffer and allocate it.
    async fn examine_arrow(&self, start: &[u8]) -> Result<(), FileError> {
        let mut file = tokio::fs::File::open(self.path()).await?;
        let bytes = file.metadata().await?.len();
        if start.starts_with(b"FEA1") {
            return Err(FileError::unreadable("it is a Feather version 1 file; convert it to version 2"));
        }
        if start.starts_with(b"ARROW1") {
            let mut end = Vec::new();
            file.seek(std::io::SeekFrom::Start(bytes.saturating_sub(6))).await?;
            file.read_to_end(&mut end).await?;
            return if end == b"ARROW1" { Ok(()) } else { Err(FileError::unreadable("it is a truncated Arrow file")) };
        }
        let length =
            start.strip_prefix(&[0xff; 4]).unwrap_or(start).first_chunk().map(|four| u32::from_le_bytes(*four));
        match length {
            Some(length) if u64::from(length) <= bytes => Ok(()),
            _ => Err(FileError::unreadable("it is neither an Arrow file nor an Arrow stream")),
        }
    }

    async fn load(&self) -> Result<OpenFile, FileError> {
        let path = self.path().to_owned();
        let (batch, notes) = tokio::task::spawn_blocking(move || loaded::json(&path, MAX_LOADED_BYTES)).await??;
        let table = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
        Ok(OpenFile::new(Arc::new(table), notes))
    }
}

/// Collects all batches of a result, within the size limit.
async fn collect_batches(frame: DataFrame) -> Result<Result<Vec<RecordBatch>, Excess>, DataFusionError> {
    let (mut batches, mut bytes) = (Vec::new(), 0);
    let mut stream = frame.execute_stream().await?;
    while let Some(batch) = stream.try_next().await? {
        // Batches may share buffers; only the slice of this batch is counted.
        let own = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
        bytes += batch.columns().iter().map(own).sum::<usize>();
        if bytes > MAX_ROWS_BYTES {
            return Ok(Err(Excess { column: None, limit: MAX_ROWS_BYTES }));
        }
        batches.push(batch);
    }
    Ok(Ok(batches))
}
