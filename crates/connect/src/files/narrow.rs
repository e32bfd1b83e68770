//! Limits the number of columns of a table, and the number of values that are read at once.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use futures::future::{BoxFuture, FutureExt};
use prospector_core::Problem;

use super::failure::FileError;

/// Maximum number of columns per table, with the fields nested in them; the same as in BigQuery: query planning takes
/// quadratic time.
pub(super) const MAX_COLUMNS: usize = 10_000;

/// Maximum number of values per batch: readers allocate a whole batch of every field before they read a row.
const VALUES_AT_ONCE: usize = 1 << 20;

/// Maximum number of rows per batch.
const ROWS_AT_ONCE: usize = 8_192;

/// Returns the number of rows per batch of that many fields.
pub(super) fn rows_at_once(fields: usize) -> usize {
    (VALUES_AT_ONCE / fields.max(1)).clamp(16, ROWS_AT_ONCE)
}

/// Returns the table limited to the maximum number of columns and values per batch, with a problem if columns are omitted.
///
/// # Errors
/// If no column has few enough fields.
pub(super) fn narrow_table(
    table: Arc<dyn TableProvider>,
    place: &str,
) -> Result<(Arc<dyn TableProvider>, Option<Problem>), FileError> {
    let whole = table.schema();
    let (mut fields, mut all, mut omitted) = (0, Vec::new(), None);
    for (at, column) in whole.fields().iter().enumerate() {
        let own = Schema::new(vec![column.clone()]).flattened_fields().len();
        if fields + own > MAX_COLUMNS {
            omitted.get_or_insert((column.name(), own));
            continue;
        }
        fields += own;
        all.push(at);
    }
    let count = whole.fields().len();
    let problem = match omitted {
        Some((column, own)) if all.is_empty() => {
            let reason = format!("its column `{column}` has {own} nested fields; the limit is {MAX_COLUMNS}");
            return Err(FileError::Unreadable(reason));
        }
        Some((_, 1)) if fields == all.len() => Some(left_out(place, count)),
        Some((column, _)) => Some(too_nested(place, column, count - all.len())),
        None if rows_at_once(fields) == ROWS_AT_ONCE => return Ok((table, None)),
        None => None,
    };
    let schema = Arc::new(whole.project(&all)?);
    Ok((Arc::new(NarrowTable { table, schema, all }), problem))
}

/// Returns the problem of a table with that many columns.
pub(super) fn left_out(place: &str, count: usize) -> Problem {
    let reason = format!("it has {count} columns, and only the first {MAX_COLUMNS} are used");
    Problem::warning(place, reason).advise("split the file, or convert columns to rows")
}

/// Returns the problem of a table of which that many columns are skipped, from this one on.
fn too_nested(place: &str, column: &str, skipped: usize) -> Problem {
    let reason = format!(
        "its columns have more than {MAX_COLUMNS} nested fields in total; skipped columns: {skipped}, from `{column}` on"
    );
    Problem::warning(place, reason).advise("split the file, or convert nested fields to rows")
}

/// Limits the values per batch of a plan that reads files.
fn limit_batches(plan: Arc<dyn ExecutionPlan>, most_rows: usize) -> Arc<dyn ExecutionPlan> {
    let rows = rows_at_once(plan.schema().flattened_fields().len()).min(most_rows);
    let scan = plan.downcast_ref::<DataSourceExec>();
    match scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>()) {
        Some(config) => {
            let config = FileScanConfigBuilder::from(config.clone()).with_batch_size(Some(rows)).build();
            DataSourceExec::from_data_source(config)
        }
        None => plan,
    }
}

#[derive(Debug)]
struct NarrowTable {
    table: Arc<dyn TableProvider>,
    schema: SchemaRef,
    /// The positions of the columns.
    all: Vec<usize>,
}

impl TableProvider for NarrowTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        self.table.table_type()
    }

    // Without `async_trait`, whose futures with an `Expr` take the compiler seconds to prove `Send`.
    fn scan<'s, 'e, 'p, 'f, 'a>(
        &'s self,
        state: &'e dyn Session,
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
        let most_rows = state.config().batch_size();
        let scan = self.table.scan(state, projection.or(Some(&self.all)), filters, limit);
        scan.map(move |plan| plan.map(|plan| limit_batches(plan, most_rows))).boxed()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.table.supports_filters_pushdown(filters)
    }
}
