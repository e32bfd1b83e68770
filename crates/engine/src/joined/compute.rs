//! Planning and computing a statement with DataFusion, in any process.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as Planned;
use futures::StreamExt;
use futures::future::BoxFuture;
use prospector_connect::rows::Rows;
use serde::{Deserialize, Serialize};
use sqlparser::ast::Statement as Parsed;

use super::cells::Answer;
use super::checked::CheckedArithmetic;
use super::provider::{FetchedTable, MAX_ROWS, Remote, RowsError, Texts};
use super::rename::{register_name, rename_tables};
use super::{ComputeError, Statement, field, keys, place};
use crate::limits::Limits;

/// The maximum number of columns whose values may differ from their declared type.
const MAX_MISMATCHES: usize = 8;

/// The number of rows that are added to an answer between checks of its size.
const ROWS_AT_ONCE: usize = 256;

/// What to do with a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Action {
    /// Computes the answer.
    Run {
        /// The maximum number of rows.
        cap: usize,
    },
    /// Checks names and types. No source is asked; the answer has no rows.
    Validate,
}

/// Receives a block of rows; resolves to false if no more are wanted.
pub(crate) type TakeBlock<'a> = &'a (dyn Fn(Rows) -> BoxFuture<'a, bool> + Send + Sync);

/// The resources that a computation may use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Allowance {
    /// The folder for spilled data.
    pub(crate) scratch: Option<OsString>,
    pub(crate) limits: Limits,
}

/// Plans the statement, and runs it if requested. With `take`, rows are streamed in blocks, and the returned answer has the rows
/// after the last block.
///
/// # Errors
/// The error of DataFusion or of a source, or the limit that was exceeded.
pub(crate) async fn compute(
    statement: Statement<'_>,
    act: Action,
    take: Option<TakeBlock<'_>>,
    means: &Allowance,
) -> Result<Rows, ComputeError> {
    let asked = async {
        match act {
            Action::Run { cap } => run(statement, cap, take, means).await,
            Action::Validate => {
                let none = Allowance { scratch: None, limits: means.limits.clone() };
                let frame = frame(statement, &Texts::default(), false, &none).await?;
                frame.into_optimized_plan().map(|_| Rows::default())
            }
        }
    };
    match tokio::time::timeout(means.limits.time, asked).await {
        Ok(done) => done.map_err(|error| ComputeError::of_datafusion(&error, &statement.checked.query)),
        Err(_) => Err(ComputeError::timeout()),
    }
}

async fn run(
    statement: Statement<'_>,
    cap: usize,
    take: Option<TakeBlock<'_>>,
    means: &Allowance,
) -> Result<Rows, DataFusionError> {
    let mut has_handed_over = false;
    let texts = Texts::default();
    for _ in 0..MAX_MISMATCHES {
        let before = texts.lock().map_or(0, |texts| texts.len());
        let frame = frame(statement, &texts, true, means).await?;
        let answer = async {
            let mut answer = Answer::new(frame.schema().as_arrow(), cap, &means.limits);
            let (state, plan) = frame.limit(0, Some(cap.saturating_add(1)))?.into_parts();
            let plan = keys::fetch_keys(state.optimize(&plan)?).await?;
            let filled = fill(&mut answer, &state, plan, take).await;
            has_handed_over = answer.has_handed_over();
            filled.map(|()| answer.finish())
        };
        match answer.await {
            Err(_) if !has_handed_over && texts.lock().map_or(0, |texts| texts.len()) > before => {}
            done => return done,
        }
    }
    Err(RowsError::TooManyMismatches.into())
}

/// Adds the rows of the plan to the answer.
async fn fill(
    answer: &mut Answer,
    state: &SessionState,
    plan: LogicalPlan,
    take: Option<TakeBlock<'_>>,
) -> Result<(), DataFusionError> {
    let plan = state.optimize(&place::scan_in_place(plan)?)?;
    let physical = state.query_planner().create_physical_plan(&plan, state).await?;
    let mut batches = execute_stream(physical, state.task_ctx())?;
    while !answer.is_full()
        && let Some(batch) = batches.next().await
    {
        let batch: RecordBatch = batch?;
        match take {
            None => answer.push(&batch)?,
            Some(take) if !hand_over(answer, &batch, take).await? => break,
            Some(_) => {}
        }
    }
    Ok(())
}

/// Adds rows to the answer and streams complete blocks. Returns false if no more are wanted.
async fn hand_over(answer: &mut Answer, batch: &RecordBatch, take: TakeBlock<'_>) -> Result<bool, DataFusionError> {
    for first in (0..batch.num_rows()).step_by(ROWS_AT_ONCE) {
        answer.push(&batch.slice(first, ROWS_AT_ONCE.min(batch.num_rows() - first)))?;
        if answer.is_block() && !take(answer.take_block()).await {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Plans the statement; `may_scan` is whether tables with more rows than a source sends are scanned in place where possible.
async fn frame(
    statement: Statement<'_>,
    texts: &Texts,
    may_scan: bool,
    means: &Allowance,
) -> Result<DataFrame, DataFusionError> {
    let Statement { view, checked, found, .. } = statement;
    let session = session(means.scratch.as_deref().map(Path::new), &means.limits)?;
    for found in found {
        let source = &view[found.source];
        let table = &source.tables[found.table];
        let id = format!("{}.{}", source.name, table.name);
        if session.table_exist(register_name(found))? {
            continue;
        }
        if let Some(held) = view.subset(found) {
            session.register_table(register_name(found), Arc::new(FetchedTable::whole(held.batch.clone())))?;
            continue;
        }
        let most = means.limits.source_bytes;
        let mut remote = Remote::new(id, table, source.connector.clone(), texts.clone(), most);
        let is_large = table.row_count.is_none_or(|rows| rows > MAX_ROWS as u64);
        if may_scan && is_large {
            remote = remote.scan_in_place().await;
        }
        session.register_table(register_name(found), Arc::new(remote))?;
    }
    let statement = Parsed::Query(Box::new(rename_tables(&checked.query, view, found)));
    let plan = session.state().statement_to_plan(Planned::Statement(Box::new(statement))).await?;
    session.execute_logical_plan(plan).await
}

fn session(scratch: Option<&Path>, limits: &Limits) -> Result<SessionContext, DataFusionError> {
    let mode = match scratch {
        Some(folder) if std::fs::create_dir_all(folder).is_ok() => {
            DiskManagerMode::Directories(vec![folder.to_path_buf()])
        }
        _ => DiskManagerMode::Disabled,
    };
    let disk = DiskManagerBuilder::default().with_mode(mode).with_max_temp_directory_size(limits.scratch_bytes);
    let runtime = RuntimeEnvBuilder::new().with_memory_limit(limits.memory, 1.0).with_disk_manager_builder(disk);
    let session = SessionContext::new_with_config_rt(SessionConfig::new(), runtime.build_arc()?);
    session.add_analyzer_rule(Arc::new(CheckedArithmetic));
    session.register_udf(field::function());
    Ok(session)
}
