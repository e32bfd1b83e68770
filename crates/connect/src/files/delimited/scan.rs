//! Delimited files as DataFusion tables: each scan reads the file once, for the requested columns.

use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::future::{BoxFuture, FutureExt, ready};

use super::content::Content;
use super::layout::{Builder, FileLayout};
use crate::files::narrow::rows_at_once;

/// Maximum number of file bytes per batch.
const BYTES_AT_ONCE: usize = 16 << 20;

/// Maximum number of queued batches.
const BATCHES_WAITING: usize = 2;

/// A delimited file with a layout.
#[derive(Debug)]
pub(super) struct DelimitedTable {
    content: Content,
    layout: Arc<FileLayout>,
    schema: SchemaRef,
}

impl DelimitedTable {
    pub(super) fn new(content: Content, layout: Arc<FileLayout>) -> Self {
        let schema = layout.schema();
        DelimitedTable { content, layout, schema }
    }

    fn plan(&self, projection: Option<&Vec<usize>>, limit: Option<usize>) -> Result<Arc<dyn ExecutionPlan>> {
        let columns = projection.cloned().unwrap_or_else(|| (0..self.layout.columns.len()).collect());
        let schema = Arc::new(self.schema.project(&columns)?);
        let rows =
            Scan { content: self.content.clone(), layout: self.layout.clone(), schema: schema.clone(), columns, limit };
        let plan = StreamingTableExec::try_new(schema, vec![Arc::new(rows)], None, [], false, limit)?;
        Ok(Arc::new(plan))
    }
}

impl TableProvider for DelimitedTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    // Without `async_trait`, whose futures with an `Expr` take the compiler seconds to prove `Send`.
    fn scan<'s, 'e, 'p, 'f, 'a>(
        &'s self,
        _: &'e dyn Session,
        projection: Option<&'p Vec<usize>>,
        _: &'f [Expr],
        limit: Option<usize>,
    ) -> BoxFuture<'a, Result<Arc<dyn ExecutionPlan>>>
    where
        's: 'a,
        'e: 'a,
        'p: 'a,
        'f: 'a,
        Self: 'a,
    {
        ready(self.plan(projection, limit)).boxed()
    }
}

/// One scan of the file.
#[derive(Debug, Clone)]
struct Scan {
    content: Content,
    layout: Arc<FileLayout>,
    schema: SchemaRef,
    /// The requested columns of the file.
    columns: Vec<usize>,
    limit: Option<usize>,
}

impl PartitionStream for Scan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStreamBuilder::new(self.schema.clone(), BATCHES_WAITING);
        let (scan, sender) = (self.clone(), stream.tx());
        let rows = rows_at_once(self.columns.len()).min(context.session_config().batch_size());
        stream.spawn_blocking(move || scan.read(rows, |batch| sender.blocking_send(Ok(batch)).is_ok()));
        stream.build()
    }
}

impl Scan {
    /// Reads the rows in batches until the receiver is dropped.
    fn read(&self, rows_at_once: usize, mut take: impl FnMut(RecordBatch) -> bool) -> Result<()> {
        let failed = |error: csv::Error| DataFusionError::External(Box::new(error));
        let mut rows = self.content.rows(&self.layout.format)?;
        let mut row = csv::StringRecord::new();
        rows.next(&mut row).map_err(failed)?;
        let types = self.columns.iter().map(|at| self.layout.columns[*at].1);
        let mut builders: Vec<Builder> = types.map(Builder::new).collect();
        let all = self.layout.rows.and_then(|rows| usize::try_from(rows).ok()).unwrap_or(usize::MAX);
        let (mut left, mut scratch) = (self.limit.unwrap_or(usize::MAX).min(all), String::new());
        loop {
            let (mut count, mut bytes) = (0, 0);
            while count < rows_at_once.min(left) && bytes < BYTES_AT_ONCE && rows.next(&mut row).map_err(failed)? {
                count += 1;
                for (builder, at) in builders.iter_mut().zip(&self.columns) {
                    builder.push(row.get(*at).unwrap_or_default(), &mut scratch);
                }
                bytes += row.as_slice().len();
            }
            if count == 0 {
                return Ok(());
            }
            let columns = builders.iter_mut().map(Builder::finish).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(count));
            let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
            left -= count;
            if !take(batch) {
                return Ok(());
            }
        }
    }
}
