//! Limits the number of columns of a table.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use futures::future::BoxFuture;
use prospector_core::Problem;

/// Maximum number of columns per table, the same as in BigQuery: query planning takes quadratic time.
pub(super) const MAX_COLUMNS: usize = 10_000;

/// Returns the table limited to the maximum number of columns, with a problem if columns are omitted.
pub(super) fn narrow_table(table: Arc<dyn TableProvider>, place: &str) -> (Arc<dyn TableProvider>, Option<Problem>) {
    let whole = table.schema();
    let count = whole.fields().len();
    if count <= MAX_COLUMNS {
        return (table, None);
    }
    let fields: Vec<_> = whole.fields().iter().take(MAX_COLUMNS).cloned().collect();
    let schema = Arc::new(Schema::new(fields).with_metadata(whole.metadata().clone()));
    let all = (0..MAX_COLUMNS).collect();
    (Arc::new(NarrowTable { table, schema, all }), Some(left_out(place, count)))
}

/// Returns the problem of a table with that many columns.
pub(super) fn left_out(place: &str, count: usize) -> Problem {
    let reason = format!("it has {count} columns, and only the first {MAX_COLUMNS} are used");
    Problem::warning(place, reason).advise("split the file, or convert columns to rows")
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
        self.table.scan(state, projection.or(Some(&self.all)), filters, limit)
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.table.supports_filters_pushdown(filters)
    }
}
