//! Queries over several sources, and over files: each source sends the columns and rows that are needed, and DataFusion
//! does the rest, here or on a cluster. Large files are scanned where they lie.

#[cfg(feature = "ballista")]
mod cluster;
pub(crate) mod column;
mod filter;
mod keys;
mod place;
mod provider;
mod shown;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::collect;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement as Planned;
use prospector_connect::Rows;
use sqlparser::ast::{
    Expr, Ident, ObjectName, Select, SelectItem, SelectItemQualifiedWildcardKind, Spanned, Statement, TableAlias,
    TableFactor, VisitMut, VisitorMut,
};
use sqlparser::tokenizer::Location;

use crate::guard::Checked;
use crate::options::EngineOptions;
use crate::source::{Found, Source};
use crate::view::View;
use provider::{Fetched, MOST_ROWS, Remote, Texts};

/// No query may take longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// One query may use so much memory before it fails.
const MEMORY: usize = 1 << 30;

/// So many columns may turn out to hold other types than they declare.
const MOST_MISMATCHES: usize = 8;

/// The answer to a query, at most `cap` rows.
///
/// # Errors
/// What went wrong, as DataFusion or the source says it.
pub(crate) async fn run(
    view: &View,
    checked: &Checked,
    found: &[Found],
    cap: usize,
    options: &EngineOptions,
) -> Result<Rows, String> {
    let asked = async {
        let texts = Texts::default();
        for _ in 0..MOST_MISMATCHES {
            let before = texts.lock().map_or(0, |texts| texts.len());
            let scans = if options.cluster.is_some() { Scans::All } else { Scans::Large };
            let frame = frame(view, checked, found, &texts, scans, options.scratch.as_deref()).await?;
            let answer = async {
                let schema = frame.schema().as_arrow().clone();
                let (state, plan) = frame.limit(0, Some(cap.saturating_add(1)))?.into_parts();
                let plan = keys::fetched(state.optimize(&plan)?).await?;
                let batches = computed(&state, plan, options).await?;
                shown::rows(view, found, &schema, &batches, cap)
            };
            match answer.await {
                Err(_) if texts.lock().map_or(0, |texts| texts.len()) > before => {}
                done => return done,
            }
        }
        Err(DataFusionError::External("too many columns hold other types than they declare".into()))
    };
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(done) => done.map_err(|error| plain(&error)),
        Err(_) => Err("it took too long and was stopped".to_owned()),
    }
}

/// The rows of the plan, computed here or on the cluster.
async fn computed(
    state: &SessionState,
    plan: LogicalPlan,
    options: &EngineOptions,
) -> Result<Vec<RecordBatch>, DataFusionError> {
    #[cfg(feature = "ballista")]
    if let Some(cluster) = &options.cluster {
        return cluster::computed(state, plan, cluster, options.scratch.as_deref()).await;
    }
    let plan = state.optimize(&place::scanned(plan)?)?;
    let physical = state.query_planner().create_physical_plan(&plan, state).await?;
    collect(physical, state.task_ctx()).await
}

/// Which tables are scanned where they lie, if their sources can do that.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scans {
    None,
    /// Those of more rows than are sent.
    Large,
    All,
}

/// Names and types alone; no source is asked.
pub(crate) async fn validate(view: &View, checked: &Checked, found: &[Found]) -> Result<(), String> {
    let planned = async {
        let frame = frame(view, checked, found, &Texts::default(), Scans::None, None).await?;
        frame.into_optimized_plan().map(drop)
    };
    planned.await.map_err(|error| plain(&error))
}

async fn frame(
    view: &View,
    checked: &Checked,
    found: &[Found],
    texts: &Texts,
    scans: Scans,
    scratch: Option<&Path>,
) -> Result<DataFrame, DataFusionError> {
    let disk = match scratch {
        Some(folder) if std::fs::create_dir_all(folder).is_ok() => {
            DiskManagerMode::Directories(vec![folder.to_path_buf()])
        }
        _ => DiskManagerMode::Disabled,
    };
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_limit(MEMORY, 1.0)
        .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(disk))
        .build_arc()?;
    let session = SessionContext::new_with_config_rt(SessionConfig::new(), runtime);
    for found in found {
        let source = &view[found.source];
        let table = &source.tables[found.table];
        let id = format!("{}.{}", source.name, table.name);
        if session.table_exist(registered(found))? {
            continue;
        }
        if let Some(held) = view.held(found) {
            session.register_table(registered(found), Arc::new(Fetched::whole(held.batch.clone())))?;
            continue;
        }
        let mut remote = Remote::new(id, table, source.connector.clone(), texts.clone());
        let is_large = table.row_count.is_none_or(|rows| rows > MOST_ROWS as u64);
        if scans == Scans::All || scans == Scans::Large && is_large {
            remote = remote.scanned().await;
        }
        session.register_table(registered(found), Arc::new(remote))?;
    }
    let mut query = checked.query.clone();
    let _ = query.visit(&mut Renaming::new(view, found));
    let statement = Planned::Statement(Box::new(Statement::Query(query)));
    let plan = session.state().statement_to_plan(statement).await?;
    session.execute_logical_plan(plan).await
}

/// The name of a table inside DataFusion.
fn registered(found: &Found) -> String {
    format!("source_{}_{}", found.source, found.table)
}

/// Puts the names inside DataFusion in the place of `database.table`.
struct Renaming<'a> {
    sources: &'a [Arc<Source>],
    /// What is written at that place.
    found: HashMap<Location, &'a Found>,
    /// The last part of a name, and the databases that have such a table in the query.
    owners: HashMap<String, Vec<usize>>,
}

impl<'a> Renaming<'a> {
    fn new(sources: &'a [Arc<Source>], found: &'a [Found]) -> Self {
        let mut owners: HashMap<String, Vec<usize>> = HashMap::new();
        for found in found {
            let entry = owners.entry(last(&found.written)).or_default();
            if !entry.contains(&found.source) {
                entry.push(found.source);
            }
        }
        Renaming { sources, found: found.iter().map(|found| (found.written.span().start, found)).collect(), owners }
    }

    /// What a table of that name is called in the query where it has no alias.
    fn alias(&self, source: usize, name: &str) -> String {
        match self.owners.get(name) {
            Some(owners) if owners.len() > 1 => format!("{}.{name}", self.sources[source].name.to_lowercase()),
            _ => name.to_owned(),
        }
    }
}

fn last(name: &ObjectName) -> String {
    name.0.iter().rev().filter_map(|part| part.as_ident()).next().map(|ident| ident.value.clone()).unwrap_or_default()
}

fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
}

impl VisitorMut for Renaming<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias, args: None, .. } = factor
            && let Some(found) = self.found.get(&name.span().start)
        {
            let own = self.alias(found.source, &last(name));
            *name = ObjectName::from(vec![quoted(&registered(found))]);
            alias.get_or_insert_with(|| TableAlias {
                explicit: true,
                name: quoted(&own),
                columns: Vec::new(),
                at: None,
            });
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            if let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) = item
                && name.0.len() > 1
                && let Some(first) = name.0[0].as_ident()
                && let Some(source) =
                    self.sources.iter().position(|source| source.name.eq_ignore_ascii_case(&first.value))
                && self.owners.contains_key(&last(name))
            {
                *name = ObjectName::from(vec![quoted(&self.alias(source, &last(name)))]);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expression
            && parts.len() > 2
            && let Some(source) =
                self.sources.iter().position(|source| source.name.eq_ignore_ascii_case(&parts[0].value))
        {
            let (table, column) = (parts[parts.len() - 2].value.clone(), parts[parts.len() - 1].clone());
            if self.owners.contains_key(&table) {
                *parts = vec![quoted(&self.alias(source, &table)), column];
            }
        }
        ControlFlow::Continue(())
    }
}

/// What went wrong, without the wrapping.
fn plain(error: &DataFusionError) -> String {
    match error.find_root() {
        DataFusionError::External(error) => error.to_string(),
        DataFusionError::ArrowError(error, _) => error.to_string(),
        root => root.strip_backtrace(),
    }
}
