//! Data files: each file is a table, read with DataFusion; Parquet files in folders of the same partition keys form one
//! table.

mod condition;
mod delimited;
mod examine;
mod failure;
mod file;
mod loaded;
mod naming;
mod narrow;
mod opened;
mod parquet;
mod partitioned;
mod value;
mod workbook;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Int64Type, Schema};
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::functions_aggregate::count::count_all_window;
use datafusion::functions_aggregate::expr_fn::{count, count_distinct, max, min};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext, col, contains, ident, lit, lower};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use prospector_core::Problem;
use serde_json::Value;

use crate::budget::Budget;
use crate::data_files::DataFiles;
use crate::filter::FilterCondition;
use crate::rows::{Rows, SampleRequest, Samples, Statistics};
use crate::source_kind::SourceKind;
use crate::statement::cap_rows;
use crate::table::{Column, Table};
use crate::{ConnectError, Connector, Source};
use failure::FileError;
use file::File;
use value::{column_type, comparable, is_ordered, searchable, type_name, values, whole_values};
use workbook::Workbooks;

/// Memory limit of all queries of a source together in bytes; there is no spilling to disk.
const MEMORY: usize = 2 << 30;

/// Maximum number of columns measured by one query.
const COLUMNS_A_QUERY: usize = 50;

/// Rows of wider tables are counted while they are read: planning time of one count per column grows quadratically.
const COLUMNS_COUNTED: usize = 300;

/// Maximum number of files described concurrently.
const FILES_AT_ONCE: usize = 4;

/// Returns a connector for data files.
///
/// # Errors
/// If the source has no file.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    Ok(open_files(source.kind(), source.require_paths()?, source.is_strict()))
}

fn open_files(kind: SourceKind, paths: &[PathBuf], is_strict: bool) -> Arc<dyn Connector> {
    match kind {
        SourceKind::Xlsx => Arc::new(Workbooks::new(paths, is_strict)),
        _ => Arc::new(Files::new(kind, paths, is_strict)),
    }
}

/// Data files of one kind.
pub(crate) struct Files {
    kind: SourceKind,
    is_strict: bool,
    files: Vec<File>,
    session: Box<dyn LazySession>,
}

/// A session that is opened on first use. The trait object is declared `Send` and `Sync`, which spares the compiler the
/// proof for everything in a session, see `Files::describe_files`.
trait LazySession: Send + Sync {
    fn get(&self) -> &SessionContext;
}

/// Tables, and the problems of reading them.
type Described = (Vec<Table>, Vec<Problem>);

impl LazySession for OnceLock<SessionContext> {
    fn get(&self) -> &SessionContext {
        self.get_or_init(|| {
            let no_disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
            let runtime = RuntimeEnvBuilder::new().with_memory_limit(MEMORY, 1.0).with_disk_manager_builder(no_disk);
            let runtime = runtime.build_arc().unwrap_or_default();
            SessionContext::new_with_config_rt(SessionConfig::new(), runtime)
        })
    }
}

impl Files {
    fn new(kind: SourceKind, paths: &[PathBuf], is_strict: bool) -> Self {
        let tables = naming::name_tables(kind, paths).into_iter();
        let files = tables.map(|table| File::new(kind, table, is_strict)).collect();
        Files::of(kind, files, is_strict)
    }

    fn of(kind: SourceKind, files: Vec<File>, is_strict: bool) -> Self {
        Files { kind, is_strict, files, session: Box::new(OnceLock::new()) }
    }

    fn session(&self) -> &SessionContext {
        self.session.get()
    }

    fn file(&self, table: &str) -> Result<&File, ConnectError> {
        let exact = self.files.iter().find(|file| file.table() == table);
        exact.or_else(|| self.files.iter().find(|file| file.table().eq_ignore_ascii_case(table))).ok_or_else(|| {
            let place = match self.files.as_slice() {
                [file] => file.place(),
                files => format!("{} {} files", files.len(), self.kind),
            };
            ConnectError::unknown_table(place, table)
        })
    }
}

impl DataFiles {
    /// Returns a connector for the same tables. Nothing is read until the connector is used.
    pub fn open(&self) -> Arc<dyn Connector> {
        let paths: Vec<PathBuf> = self.files.iter().flat_map(|file| file.paths.clone()).collect();
        if self.kind == SourceKind::Xlsx {
            return open_files(self.kind, &paths, self.is_strict);
        }
        let opened = Files::new(self.kind, &paths, self.is_strict);
        for (file, known) in opened.files.iter().zip(&self.files) {
            file.resume(known);
        }
        Arc::new(opened)
    }
}

#[async_trait]
impl Connector for Files {
    fn kind(&self) -> SourceKind {
        self.kind
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        self.describe_files().await
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        self.sample_column(table, column, request).await
    }

    async fn statistics(&self, table: &str, columns: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        self.measure_table(table, columns).await
    }

    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        self.filter_rows(table, columns, conditions, limit).await
    }

    async fn scan(&self, table: &str) -> Result<Option<LogicalPlan>, ConnectError> {
        self.plan_scan(table).await
    }

    fn data_files(&self) -> Option<DataFiles> {
        let files = self.files.iter().map(File::progress).collect();
        Some(DataFiles { kind: self.kind, is_strict: self.is_strict, files })
    }
}

/// The methods of [`Connector`] as boxed futures. In methods of an async trait, whose lifetimes have bounds, the compiler
/// does not cache proofs that a type is `Send`, and takes seconds for the plans of DataFusion; here it does.
impl Files {
    fn describe_files(&self) -> BoxFuture<'_, Result<Described, ConnectError>> {
        async move {
            let session = self.session();
            let asked: Vec<_> = self.files.iter().map(|file| describe_file(file, session).boxed()).collect();
            let described = futures::stream::iter(asked).buffered(FILES_AT_ONCE).collect::<Vec<_>>().await;
            let (mut tables, mut problems, mut first) = (Vec::new(), Vec::new(), None);
            for (file, result) in self.files.iter().zip(described) {
                match result {
                    Ok((table, notes)) => {
                        tables.push(table);
                        problems.extend(notes);
                    }
                    Err(error) => {
                        let problem = Problem::error(file.place(), clause(&error));
                        problems.push(problem.advise("repair the file or remove it from the source"));
                        first.get_or_insert((file, error));
                    }
                }
            }
            match first {
                Some((file, error)) if tables.is_empty() => Err(not_described(file, error)),
                _ => Ok((tables, problems)),
            }
        }
        .boxed()
    }

    fn sample_column<'a>(
        &'a self,
        table: &'a str,
        column: &'a str,
        request: &'a SampleRequest,
    ) -> BoxFuture<'a, Result<Samples, ConnectError>> {
        async move {
            let file = self.file(table)?;
            let needle = request.contains.as_ref().map(|text| text.to_lowercase()).filter(|text| !text.is_empty());
            let query = |frame: DataFrame| {
                let (name, data_type) = column_of(frame.schema().as_arrow(), column)?;
                let sampled = || -> datafusion::error::Result<DataFrame> {
                    let mut frame = frame
                        .select(vec![comparable(ident(&name), &data_type).alias("value")])?
                        .filter(col("value").is_not_null())?;
                    if let Some(needle) = &needle {
                        let text = searchable(col("value"), &data_type);
                        frame = frame.filter(text.map_or(lit(false), |text| contains(lower(text), lit(needle))))?;
                    }
                    frame
                        .aggregate(vec![col("value")], vec![count(lit(1)).alias("rows")])?
                        .window(vec![count_all_window().alias("distinct")])?
                        .sort(vec![col("rows").sort(false, false), col("value").sort(true, false)])?
                        // A limit of zero rows would lose the number of distinct values.
                        .limit(0, Some(request.limit.max(1)))
                };
                Ok((sampled()?, data_type))
            };
            let (batches, data_type) = file.query(self.session(), query).await?;
            let mut found = Samples::default();
            for batch in batches.iter().filter(|batch| batch.num_rows() > 0) {
                found.values.extend(values(batch.column(0), &data_type));
                found.distinct = u64::try_from(batch.column(2).as_primitive::<Int64Type>().value(0)).unwrap_or(0);
            }
            found.values.truncate(request.limit);
            found.complete = found.values.len() as u64 == found.distinct;
            Ok(found)
        }
        .boxed()
    }

    fn measure_table<'a>(
        &'a self,
        table: &'a str,
        columns: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Statistics>, ConnectError>> {
        async move {
            let file = self.file(table)?;
            let everything: Vec<String> = match columns {
                [] => file.schema(self.session()).await?.fields().iter().map(|field| field.name().clone()).collect(),
                some => some.to_vec(),
            };
            let mut found = Vec::with_capacity(everything.len());
            for part in everything.chunks(COLUMNS_A_QUERY) {
                let (batches, columns) = file.query(self.session(), |frame| measure_columns(frame, part)).await?;
                if let Some(row) = batches.iter().find(|batch| batch.num_rows() > 0) {
                    found.extend(measures(row, columns));
                }
            }
            Ok(found)
        }
        .boxed()
    }

    fn filter_rows<'a>(
        &'a self,
        table: &'a str,
        columns: &'a [String],
        conditions: &'a [FilterCondition],
        limit: usize,
    ) -> BoxFuture<'a, Result<Rows, ConnectError>> {
        async move {
            let file = self.file(table)?;
            let schema = file.schema(self.session()).await?;
            for condition in conditions {
                condition::expression(&schema, condition).map_err(ConnectError::condition(table, &condition.column))?;
            }
            let query = |frame: DataFrame| {
                let schema = frame.schema().as_arrow().clone();
                let mut frame = frame;
                for condition in conditions {
                    frame = frame.filter(condition::expression(&schema, condition)?)?;
                }
                let all = || schema.fields().iter().map(|field| field.name().clone()).collect();
                let wanted: Vec<String> = if columns.is_empty() { all() } else { columns.to_vec() };
                let wanted = wanted.iter().map(|column| column_of(&schema, column)).collect::<Result<Vec<_>, _>>()?;
                // The same column may be requested twice.
                let list = wanted.iter().enumerate();
                let list: Vec<_> =
                    list.map(|(at, (name, kind))| comparable(ident(name), kind).alias(format!("c{at}"))).collect();
                let frame = frame.select(list).and_then(|frame| frame.limit(0, Some(limit.saturating_add(1))));
                Ok((frame?, wanted))
            };
            let (batches, wanted) = file.query(self.session(), query).await?;
            let (mut rows, mut budget) = (Vec::<Vec<Value>>::new(), Budget::of_rows());
            let names: Vec<String> = wanted.iter().map(|(name, _)| name.clone()).collect();
            for batch in &batches {
                let mut columns: Vec<_> = wanted
                    .iter()
                    .enumerate()
                    .map(|(at, (_, data_type))| whole_values(batch.column(at), data_type).into_iter())
                    .collect();
                for _ in 0..batch.num_rows() {
                    let row: Vec<Value> = columns.iter_mut().map(|column| column.next().unwrap_or_default()).collect();
                    budget.take_row(&row).map_err(|excess| excess.error(file.place(), table, &names))?;
                    rows.push(row);
                }
            }
            Ok(cap_rows(names, rows, limit))
        }
        .boxed()
    }

    fn plan_scan<'a>(&'a self, table: &'a str) -> BoxFuture<'a, Result<Option<LogicalPlan>, ConnectError>> {
        async move {
            let file = self.file(table)?;
            // A stream that fails halfway cannot switch to another reading strategy.
            if file.types_are_guessed() && !file.is_read() {
                describe_file(file, self.session()).await.map_err(|error| not_described(file, error))?;
            }
            let frame = file.frame(self.session()).await?;
            let columns = frame.schema().fields().iter();
            let columns: Vec<_> =
                columns.map(|field| comparable(ident(field.name()), field.data_type()).alias(field.name())).collect();
            let frame = frame.select(columns).map_err(|error| file.open_error(error.into()))?;
            Ok(Some(frame.into_unoptimized_plan()))
        }
        .boxed()
    }
}

/// Returns the reason why a file cannot be described, as a clause.
fn clause(error: &ConnectError) -> String {
    match error {
        ConnectError::Open { reason, .. } | ConnectError::Read { reason, .. } => reason.to_string(),
        error => error.to_string(),
    }
}

/// Returns the error of a file that cannot be described.
fn not_described(file: &File, error: ConnectError) -> ConnectError {
    match error {
        ConnectError::Read { reason, cause, source, .. } => {
            ConnectError::Open { kind: file.kind(), path: file.path().to_owned(), reason, cause, source }
        }
        other => other,
    }
}

/// Describes the table of a file, with its problems.
async fn describe_file(file: &File, session: &SessionContext) -> Result<(Table, Vec<Problem>), ConnectError> {
    let (row_count, issues) = match file.read_issues(session).await? {
        Some((rows, issues)) => (Some(rows), issues),
        None => {
            let is_wide = file.schema(session).await.is_ok_and(|schema| schema.fields().len() > COLUMNS_COUNTED);
            let rows = match is_wide && file.types_are_guessed() {
                true => Some(file.count(session).await?),
                false => count_rows(file, session).await?,
            };
            file.was_read();
            (rows, Vec::new())
        }
    };
    let schema = file.schema(session).await?;
    let columns = schema.fields().iter().map(|field| Column {
        name: field.name().clone(),
        data_type: type_name(field.data_type()),
        column_type: column_type(field.data_type()),
        nullable: field.is_nullable(),
        description: value::description(field.metadata()),
        ..Column::default()
    });
    let table = Table {
        name: file.table().to_owned(),
        description: value::description(schema.metadata()),
        row_count,
        row_count_estimated: false,
        columns: columns.collect(),
        issues,
        ..Table::default()
    };
    Ok((table, file.notes().await))
}

/// Counts the rows, reading every value if the types are guessed.
async fn count_rows(file: &File, session: &SessionContext) -> Result<Option<u64>, ConnectError> {
    let query = |frame: DataFrame| {
        let mut counts = vec![count(lit(1)).alias("rows")];
        // Only a full read proves that guessed types fit.
        if file.types_are_guessed() {
            let fields = frame.schema().fields().iter().enumerate();
            counts.extend(fields.map(|(index, field)| count(ident(field.name())).alias(format!("c{index}"))));
        }
        Ok((frame.aggregate(Vec::new(), counts)?, ()))
    };
    let (batches, ()) = file.query(session, query).await?;
    Ok(batches.iter().find(|batch| batch.num_rows() > 0).map(|batch| number(batch, 0)))
}

/// Returns the column with its exact name.
fn column_of(schema: &Schema, wanted: &str) -> Result<(String, DataType), FileError> {
    let fields = schema.fields();
    let exact = fields.iter().find(|field| field.name() == wanted);
    let found = exact.or_else(|| fields.iter().find(|field| field.name().eq_ignore_ascii_case(wanted)));
    let field = found.ok_or_else(|| FileError::UnknownColumn(wanted.to_owned()))?;
    Ok((field.name().clone(), field.data_type().clone()))
}

/// Aggregates the number of rows, and for each column its distinct count, its non-null count, and its minimum and maximum if
/// it is ordered; returned with the columns.
fn measure_columns(frame: DataFrame, columns: &[String]) -> Result<(DataFrame, Vec<(String, DataType)>), FileError> {
    let columns: Vec<(String, DataType)> =
        columns.iter().map(|column| column_of(frame.schema().as_arrow(), column)).collect::<Result<_, _>>()?;
    let mut wanted = vec![count(lit(1)).alias("rows")];
    for (index, (name, data_type)) in columns.iter().enumerate() {
        let value = comparable(ident(name), data_type);
        wanted.push(count_distinct(value.clone()).alias(format!("distinct{index}")));
        wanted.push(count(value.clone()).alias(format!("values{index}")));
        if is_ordered(data_type) {
            wanted.push(min(value.clone()).alias(format!("min{index}")));
            wanted.push(max(value).alias(format!("max{index}")));
        }
    }
    Ok((frame.aggregate(Vec::new(), wanted)?, columns))
}

fn measures(row: &RecordBatch, columns: Vec<(String, DataType)>) -> Vec<Statistics> {
    let mut at = 1;
    let measure = |(column, data_type): (String, DataType)| {
        let ordered = is_ordered(&data_type);
        let shown = |index: usize| -> Option<Value> {
            let value = values(row.column(index), &data_type).into_iter().next();
            value.filter(|value| ordered && !value.is_null())
        };
        let (min, max) = if ordered { (shown(at + 2), shown(at + 3)) } else { (None, None) };
        let found = Statistics {
            column,
            cardinality: number(row, at),
            min,
            max,
            nulls: number(row, 0).saturating_sub(number(row, at + 1)),
            estimated: false,
        };
        at += if ordered { 4 } else { 2 };
        found
    };
    columns.into_iter().map(measure).collect()
}

fn number(row: &RecordBatch, index: usize) -> u64 {
    u64::try_from(row.column(index).as_primitive::<Int64Type>().value(0)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
