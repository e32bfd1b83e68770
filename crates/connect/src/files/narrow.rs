//! The first columns of a table that has more than anybody can ask for.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use futures::future::BoxFuture;
use prospector_core::Problem;

/// A table has no more columns than this, as one of BigQuery: planning a query takes the square of them.
pub(super) const MAX_COLUMNS: usize = 10_000;

/// The table with as many columns as it may have, and what is said where that is not all of them.
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

/// What is said of a table of so many columns.
pub(super) fn left_out(place: &str, count: usize) -> Problem {
    let reason = format!("it has {count} columns, and only the first {MAX_COLUMNS} are used");
    Problem::warning(place, reason).advise("divide the file, or write what differs between columns into rows")
}

#[derive(Debug)]
struct NarrowTable {
    table: Arc<dyn TableProvider>,
    schema: SchemaRef,
    /// The places of its columns.
    all: Vec<usize>,
}

impl TableProvider for NarrowTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        self.table.table_type()
    }

    // Without `async_trait`: the compiler would take seconds to prove that a future which holds an `Expr` is `Send`.
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
