//! Named queries that cannot be inlined: each is run separately first, and the statement reads its rows.

use futures::FutureExt;
use futures::future::BoxFuture;
use prospector_connect::table::ColumnType;

use crate::named::NamedQuery;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::planning::explain;
use crate::query::make_subset;
use crate::scope::MAX_LOADED;
use crate::{Engine, Failure, FailureCode};

impl Engine {
    /// Runs the named queries that are read first, and adds their rows to the plan.
    ///
    /// # Errors
    /// - If one of them fails.
    /// - If one of them returns too many rows.
    pub(crate) async fn read_named(&self, mut plan: Plan) -> Result<Plan, Failure> {
        for read in plan.reads_first.clone() {
            let named = &self.named_queries()[read.at];
            let rows = self.run_named(named).await.map_err(|failure| explain(named, failure))?.rows;
            if rows.has_more {
                let message =
                    format!("`{}` returns more than {MAX_LOADED} rows, which is too many to read first", named.id());
                return Err(Failure::new(FailureCode::TooLarge, message)
                    .advise("query it alone in a statement over its own database, or make it return fewer rows"));
            }
            let known = plan.view.find_subset(&read.table).map(|held| held.table.columns.clone()).unwrap_or_default();
            let type_of_empty = |name: &str| {
                let column = known.iter().find(|column| column.name.eq_ignore_ascii_case(name));
                column.map_or(ColumnType::Float, |column| column.column_type)
            };
            let subset = make_subset(read.table.clone(), &rows, &type_of_empty, self.limits().source_bytes);
            let mut subset = subset.map_err(|failure| explain(named, failure))?;
            subset.share = self.take_memory(subset.batch.get_array_memory_size());
            if subset.share.is_none() {
                let message = format!("the rows of `{}` exceed the available memory", named.id());
                return Err(
                    Failure::new(FailureCode::Memory, message).advise("make it return fewer rows, or try later")
                );
            }
            plan.view.replace(subset);
        }
        Ok(plan)
    }

    /// Runs a named query in a separate session without loaded subsets.
    fn run_named<'a>(&'a self, named: &'a NamedQuery) -> BoxFuture<'a, Result<Outcome, Failure>> {
        async move { self.session().run(&named.sql, named.database.as_deref(), MAX_LOADED).await }.boxed()
    }
}
