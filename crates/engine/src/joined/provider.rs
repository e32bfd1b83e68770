//! The DataFusion table provider of a source table: it asks only for the columns and rows that a plan needs.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use futures::future::{BoxFuture, FutureExt, ready};
use prospector_connect::Connector;
use prospector_connect::error::Cause;
use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::table::{Column, ColumnType, Table};

use super::filter::{FilteredColumn, condition};
use super::measure;
use crate::column::{array, arrow_type};

/// The maximum number of rows of a table in a join.
pub(crate) const MAX_ROWS: usize = 200_000;

/// Columns whose values contradict their type, as `database.table.column`; they are read as texts.
pub(crate) type Texts = Arc<Mutex<HashSet<String>>>;

/// A table of a source.
pub(crate) struct Remote {
    /// The name in messages.
    id: String,
    table: Table,
    connector: Arc<dyn Connector>,
    schema: SchemaRef,
    texts: Texts,
    /// The memory limit of the rows in bytes.
    most_bytes: usize,
    place: Option<Place>,
}

/// How a table is scanned in place.
struct Place {
    plan: Arc<LogicalPlan>,
    /// The index in the plan of each column of the table.
    columns: Vec<usize>,
}

/// Why the rows of a table cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RowsError {
    /// A join would need more rows than the limit.
    #[error("too large: more than {MAX_ROWS} rows of {table} would be needed")]
    TooMany {
        /// The name of the table in messages.
        table: String,
    },
    /// The rows exceed the memory limit.
    #[error("too large: the required rows of {table} take more than {} MB", most >> 20)]
    TooLarge {
        /// The name of the table in messages.
        table: String,
        /// The limit in bytes.
        most: usize,
    },
    /// A value does not have the type of its column.
    #[error("mismatch: {column} contains a value that is not {data_type}: {source}")]
    Mismatch {
        /// The column, as `database.table.column`.
        column: String,
        data_type: DataType,
        source: ArrowError,
    },
    /// Too many columns have values that contradict their declared type.
    #[error("too many columns contain values of other types than declared")]
    TooManyMismatches,
}

impl RowsError {
    pub(super) fn cause(&self) -> Cause {
        match self {
            RowsError::TooMany { .. } | RowsError::TooLarge { .. } => Cause::TooLarge,
            RowsError::Mismatch { .. } => Cause::TypeMismatch,
            RowsError::TooManyMismatches => Cause::Other,
        }
    }

    /// Returns whether there are more rows than a join may read.
    pub(super) fn is_too_large(error: &DataFusionError) -> bool {
        let DataFusionError::External(error) = error else { return false };
        matches!(error.downcast_ref(), Some(RowsError::TooMany { .. } | RowsError::TooLarge { .. }))
    }
}

impl From<RowsError> for DataFusionError {
    fn from(error: RowsError) -> Self {
        DataFusionError::External(Box::new(error))
    }
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Remote").field(&self.id).finish()
    }
}

impl Remote {
    pub(crate) fn new(
        id: String,
        table: &Table,
        connector: Arc<dyn Connector>,
        texts: Texts,
        most_bytes: usize,
    ) -> Self {
        let known = texts.lock().map(|texts| texts.clone()).unwrap_or_default();
        let fields: Vec<Field> = table
            .columns
            .iter()
            .map(|column| {
                let is_text = known.contains(&format!("{id}.{}", column.name));
                let data_type = if is_text { DataType::Utf8 } else { arrow_type(column.column_type) };
                Field::new(column.name.to_lowercase(), data_type, true)
            })
            .collect();
        let schema = Arc::new(Schema::new(fields));
        Remote { id, table: table.clone(), connector, schema, texts, most_bytes, place: None }
    }

    /// Returns the table scanned in place if its source supports it; otherwise unchanged.
    pub(crate) async fn scan_in_place(mut self) -> Self {
        // The error is reported when the rows are requested.
        let Ok(Some(plan)) = self.connector.scan(&self.table.name).await else { return self };
        let held = |column: &Column| plan.schema().fields().iter().position(|field| *field.name() == column.name);
        let columns: Option<Vec<usize>> = self.table.columns.iter().map(held).collect();
        let names: HashSet<&String> = self.schema.fields().iter().map(|field| field.name()).collect();
        let are_distinct = names.len() == self.schema.fields().len();
        self.place = columns.filter(|_| are_distinct).map(|columns| Place { plan: Arc::new(plan), columns });
        self
    }

    /// Returns the plan that scans the table in place.
    pub(super) fn place(&self) -> Option<&Arc<LogicalPlan>> {
        self.place.as_ref().map(|place| &place.plan)
    }

    /// Returns the index of a column in that plan.
    pub(super) fn place_of(&self, column: usize) -> usize {
        self.place.as_ref().map_or(column, |place| place.columns[column])
    }

    pub(super) fn field(&self, column: usize) -> &Field {
        self.schema.field(column)
    }

    fn condition(&self, expression: &Expr) -> Option<FilterCondition> {
        let column = |name: &str| {
            let at = self.schema.index_of(name).ok()?;
            let column = &self.table.columns[at];
            let compares_texts = column.column_type == ColumnType::Text;
            Some(FilteredColumn { name: &column.name, data_type: self.schema.field(at).data_type(), compares_texts })
        };
        condition(expression, &column)
    }

    /// Returns the indices of the columns that a scan reads.
    pub(super) fn list_columns(&self, projection: Option<&Vec<usize>>) -> Vec<usize> {
        projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect())
    }

    /// Estimates the number of rows that match the filters.
    pub(super) fn estimate_rows(&self, filters: &[Expr]) -> u64 {
        let rows = self.table.row_count.unwrap_or(u64::MAX / 2);
        filters.iter().filter_map(|filter| self.condition(filter)).fold(rows, |rows, condition| match condition.op {
            FilterOp::Eq | FilterOp::In => rows / 10,
            _ => rows / 3,
        })
    }

    /// Returns the rows that match the pushed-down filters, with these columns.
    ///
    /// # Errors
    /// The error of the source, or that there are too many rows.
    pub(super) async fn batch(&self, wanted: &[usize], filters: &[Expr], limit: Option<usize>) -> Result<RecordBatch> {
        let conditions: Vec<FilterCondition> = filters.iter().filter_map(|filter| self.condition(filter)).collect();
        // Counting rows needs at least one column.
        let asked: &[usize] = if wanted.is_empty() { &[0] } else { wanted };
        let names: Vec<String> =
            asked.iter().filter_map(|at| self.table.columns.get(*at)).map(|column| column.name.clone()).collect();
        let cap = limit.unwrap_or(MAX_ROWS).min(MAX_ROWS);
        let answer = self
            .connector
            .rows(&self.table.name, &names, &conditions, cap)
            .await
            .map_err(|error| DataFusionError::External(Box::new(error)))?;
        if answer.has_more && limit.is_none_or(|limit| limit > MAX_ROWS) {
            return Err(RowsError::TooMany { table: self.id.clone() }.into());
        }
        if measure::rows(&answer) > self.most_bytes {
            return Err(RowsError::TooLarge { table: self.id.clone(), most: self.most_bytes }.into());
        }
        let schema = Arc::new(self.schema.project(wanted)?);
        let rows = answer.rows.len();
        let mut columns = Vec::with_capacity(wanted.len());
        let mut values: Vec<Vec<serde_json::Value>> = wanted.iter().map(|_| Vec::with_capacity(rows)).collect();
        for row in answer.rows {
            for (column, value) in values.iter_mut().zip(row) {
                column.push(value);
            }
        }
        for (field, (values, at)) in schema.fields().iter().zip(values.into_iter().zip(wanted)) {
            let made = array(values.into_iter(), field.data_type()).map_err(|source| {
                let column = format!("{}.{}", self.id, self.table.columns[*at].name);
                if let Ok(mut texts) = self.texts.lock() {
                    texts.insert(column.clone());
                }
                RowsError::Mismatch { column, data_type: field.data_type().clone(), source }
            })?;
            columns.push(made);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
    }

    fn plan_rows<'a>(
        &'a self,
        wanted: Vec<usize>,
        filters: &'a [Expr],
        limit: Option<usize>,
    ) -> BoxFuture<'a, Result<Arc<dyn ExecutionPlan>>> {
        async move { plan_batch(self.batch(&wanted, filters, limit).await?, None) }.boxed()
    }
}

fn plan_batch(batch: RecordBatch, projection: Option<Vec<usize>>) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = batch.schema();
    Ok(MemorySourceConfig::try_new_exec(&[vec![batch]], schema, projection)?)
}

impl TableProvider for Remote {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| match self.condition(filter) {
            Some(_) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    // Without `async_trait`: the compiler would take seconds to prove that a future that contains an `Expr` is `Send`.
    fn scan<'s, 'e, 'p, 'f, 'a>(
        &'s self,
        _: &'e dyn Session,
        projection: Option<&'p Vec<usize>>,
        filters: &'f [Expr],
        limit: Option<usize>,
    ) -> BoxFuture<'a, Result<Arc<dyn ExecutionPlan>>>
    where
        's: 'a,
        'e: 'a,
        'p: 'a,
        'f: 'a,
        Self: 'a,
    {
        self.plan_rows(self.list_columns(projection), filters, limit)
    }
}

/// A table whose rows have been fetched.
#[derive(Debug)]
pub(crate) struct FetchedTable {
    schema: SchemaRef,
    batch: RecordBatch,
    /// Whether it has only the columns that the plan needs.
    is_part: bool,
}

impl FetchedTable {
    /// Creates a table with all columns.
    pub(crate) fn whole(batch: RecordBatch) -> Self {
        FetchedTable { schema: batch.schema(), batch, is_part: false }
    }

    /// Creates a table with the columns that a plan needs, in its order.
    pub(super) fn part(schema: SchemaRef, batch: RecordBatch) -> Self {
        FetchedTable { schema, batch, is_part: true }
    }

    pub(super) fn batch(&self) -> &RecordBatch {
        &self.batch
    }
}

impl TableProvider for FetchedTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn scan<'s, 'e, 'p, 'f, 'a>(
        &'s self,
        _: &'e dyn Session,
        projection: Option<&'p Vec<usize>>,
        _: &'f [Expr],
        _: Option<usize>,
    ) -> BoxFuture<'a, Result<Arc<dyn ExecutionPlan>>>
    where
        's: 'a,
        'e: 'a,
        'p: 'a,
        'f: 'a,
        Self: 'a,
    {
        let projection = projection.filter(|_| !self.is_part).cloned();
        ready(plan_batch(self.batch.clone(), projection)).boxed()
    }
}
