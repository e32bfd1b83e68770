//! Execution of a plan on a cluster: files are read in place, other rows are written to a folder that the executors read.
//!
//! The whole plan is made here, with keys and conditions, and then sent. Executors get no connector, password or custom
//! function.

use std::fs::File;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ballista_core::config::BALLISTA_CLIENT_PULL;
use ballista_core::execution_plans::DistributedQueryExec;
use ballista_core::extension::SessionStateExt;
use ballista_core::serde::protobuf::CancelJobParams;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use datafusion::arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{FunctionRegistry, SendableRecordBatchStream, SessionState};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableScan};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, collect, execute_stream};
use datafusion_proto::protobuf::LogicalPlanNode;
use futures::{FutureExt, StreamExt};
use prospector_connect::error::Cause;

use super::place;
use super::provider::{FetchedTable, Remote, RowsError};
use crate::cluster::Cluster;

/// Computes the rows of the plan on the cluster.
///
/// # Errors
/// - If a source or the cluster fails, or the cluster is unreachable.
/// - If there is no scratch folder for rows that it reads.
pub(super) async fn compute_on(
    state: &SessionState,
    plan: LogicalPlan,
    cluster: &Cluster,
    scratch: Option<&Path>,
) -> Result<Vec<RecordBatch>> {
    let handed = QueryFolder::new(scratch)?;
    let plan = handed.over(plan, state).await?;
    let mut state = SessionState::new_ballista_state(cluster.scheduler())?;
    // In pull mode the id of a job is known early; without the id it cannot be cancelled.
    state.config_mut().options_mut().set(BALLISTA_CLIENT_PULL, "true")?;
    let physical = state.query_planner().create_physical_plan(&plan, &state).await?;
    let mut job = Job { physical: physical.clone(), scheduler: cluster.scheduler(), is_done: false };
    // The client of the cluster panics on unexpected answers.
    let asked = AssertUnwindSafe(collect(physical, state.task_ctx())).catch_unwind().await;
    job.is_done = true;
    match asked {
        Ok(Err(error)) if is_unreachable(&error) => {
            let message =
                format!("the engine {cluster} is unreachable: connection refused, or it is not a Ballista scheduler");
            Err(RowsError::Cluster { cause: Cause::Gone, message }.into())
        }
        Ok(Err(error)) => Err(match relayed_cause(&error) {
            Cause::Other => error,
            cause => RowsError::Cluster { cause, message: error.strip_backtrace() }.into(),
        }),
        Ok(done) => done,
        Err(_) => {
            let message = format!("the engine {cluster} sent an unexpected answer");
            Err(RowsError::Cluster { cause: Cause::Other, message }.into())
        }
    }
}

/// Determines the cause of an executor's error. It arrives as text, in which the error variant appears in the Display or Debug
/// format of Arrow and DataFusion.
fn relayed_cause(error: &DataFusionError) -> Cause {
    let text = error.to_string();
    let has = |variants: &[&str]| variants.iter().any(|variant| text.contains(variant));
    if has(&["Arithmetic overflow: ", "ArithmeticOverflow(", "is out of range", "Overflowing on"]) {
        Cause::OutOfRange
    } else if has(&["Cast error: ", "CastError(", "Parser error: ", "ParseError("]) {
        Cause::TypeMismatch
    } else if has(&["Resources exhausted: ", "ResourcesExhausted("]) {
        Cause::Memory
    } else {
        Cause::Other
    }
}

fn is_unreachable(error: &DataFusionError) -> bool {
    let text = error.to_string().to_lowercase();
    ["connecterror", "connection refused", "tcp connect error", "dns error", "transport error"]
        .iter()
        .any(|word| text.contains(word))
}

/// The number of jobs that are being cancelled.
static CANCELLATIONS: AtomicUsize = AtomicUsize::new(0);

/// A job that is being cancelled.
struct Cancellation;

impl Cancellation {
    fn begin() -> Self {
        CANCELLATIONS.fetch_add(1, Ordering::Relaxed);
        Cancellation
    }
}

impl Drop for Cancellation {
    fn drop(&mut self) {
        CANCELLATIONS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits at most `most` until all abandoned jobs are cancelled, before the process exits.
pub(crate) async fn wait_for_cancellations(most: Duration) {
    let deadline = Instant::now() + most;
    while CANCELLATIONS.load(Ordering::Relaxed) > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A query that runs on the cluster. It is cancelled when dropped.
struct Job {
    physical: Arc<dyn ExecutionPlan>,
    scheduler: String,
    is_done: bool,
}

impl Drop for Job {
    fn drop(&mut self) {
        let query = self.physical.downcast_ref::<DistributedQueryExec<LogicalPlanNode>>();
        let (Some(id), false) = (query.and_then(DistributedQueryExec::job_id), self.is_done) else { return };
        let (Ok(runtime), scheduler) = (tokio::runtime::Handle::try_current(), self.scheduler.clone()) else { return };
        let under_way = Cancellation::begin();
        runtime.spawn(async move {
            let _under_way = under_way;
            if let Ok(mut client) = SchedulerGrpcClient::connect(scheduler).await {
                // The caller is gone, so an error has no recipient.
                let _ = client.cancel_job(CancelJobParams { job_id: id.to_string() }).await;
            }
        });
    }
}

/// The folder of one query, removed when dropped.
struct QueryFolder {
    folder: tempfile::TempDir,
}

impl QueryFolder {
    fn new(scratch: Option<&Path>) -> Result<Self> {
        let scratch =
            scratch.ok_or_else(|| DataFusionError::Configuration("a cluster needs a scratch folder".to_owned()))?;
        std::fs::create_dir_all(scratch)?;
        // Executors may run as another user or elsewhere, and need the absolute path.
        let folder = tempfile::Builder::new().prefix("query-").tempdir_in(std::path::absolute(scratch)?)?;
        Ok(QueryFolder { folder })
    }

    /// Returns the plan over files only.
    async fn over(&self, plan: LogicalPlan, state: &SessionState) -> Result<LogicalPlan> {
        let mut scans = Vec::new();
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node {
                scans.push(scan.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        let mut read = Vec::with_capacity(scans.len());
        for (at, scan) in scans.iter().enumerate() {
            read.push(self.readable(at, scan, state).await?);
        }
        let mut read = read.into_iter();
        let replaced = plan.transform_down_with_subqueries(|node| {
            if !matches!(node, LogicalPlan::TableScan(_)) {
                return Ok(Transformed::no(node));
            }
            let plan = read.next().ok_or_else(|| DataFusionError::Plan("a table has no file".to_owned()))?;
            // The subtree is done.
            Ok(Transformed::new(plan, true, TreeNodeRecursion::Jump))
        })?;
        replaced.data.recompute_schema()
    }

    /// Returns a plan for the same rows, read from files.
    async fn readable(&self, at: usize, scan: &TableScan, state: &SessionState) -> Result<LogicalPlan> {
        let provider = source_as_provider(&scan.source)?;
        let batch = match (provider.downcast_ref::<Remote>(), provider.downcast_ref::<FetchedTable>()) {
            (Some(remote), _) => match remote.place() {
                Some(place) => {
                    // Unused columns need no functions.
                    let plan = state.optimize(&place::of_table(scan, remote, place)?)?;
                    if is_known(&plan, state)? {
                        return Ok(plan);
                    }
                    let physical = state.query_planner().create_physical_plan(&plan, state).await?;
                    return self.write_parquet(at, scan, execute_stream(physical, state.task_ctx())?).await;
                }
                None => remote.batch(&remote.list_columns(scan.projection.as_ref()), &scan.filters, scan.fetch).await?,
            },
            (_, Some(held)) => held.project(scan.projection.as_ref())?,
            _ => return Err(DataFusionError::Plan(format!("{} cannot be sent to the cluster", scan.table_name))),
        };
        let batch = match batch.num_columns() {
            // A file without columns has no rows.
            0 => {
                let nulls: ArrayRef = Arc::new(BooleanArray::new_null(batch.num_rows()));
                let schema = Schema::new(vec![Field::new("_", DataType::Boolean, true)]);
                RecordBatch::try_new(Arc::new(schema), vec![nulls])?
            }
            _ => batch,
        };
        let (schema, batches) = (batch.schema(), futures::stream::iter([Ok(batch)]));
        self.write_parquet(at, scan, Box::pin(RecordBatchStreamAdapter::new(schema, batches))).await
    }

    /// Writes the rows to a Parquet file.
    async fn write_parquet(
        &self,
        at: usize,
        scan: &TableScan,
        mut rows: SendableRecordBatchStream,
    ) -> Result<LogicalPlan> {
        let (path, schema) = (self.folder.path().join(format!("{at}.parquet")), rows.schema());
        let mut writer = ArrowWriter::try_new(File::create(&path)?, schema.clone(), None)?;
        while let Some(batch) = rows.next().await {
            writer.write(&batch?)?;
        }
        writer.close()?;
        let url = ListingTableUrl::parse(path.to_string_lossy())?;
        let config = ListingTableConfig::new(url)
            .with_listing_options(ListingOptions::new(Arc::new(ParquetFormat::default())))
            .with_schema(schema);
        let table = Arc::new(ListingTable::try_new(config)?);
        LogicalPlanBuilder::scan(scan.table_name.clone(), provider_as_source(table), None)?.build()
    }
}

/// Returns whether executors can run the plan: it reads files only, and calls no custom function.
fn is_known(plan: &LogicalPlan, state: &SessionState) -> Result<bool> {
    let mut is_known = true;
    plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            is_known &= source_as_provider(&scan.source)?.downcast_ref::<ListingTable>().is_some();
        }
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if let Expr::ScalarFunction(call) = part {
                    is_known &= state.udf(call.name()).is_ok();
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(is_known)
}
