//! What earlier steps left, as tables that later steps name.

use std::{collections::BTreeMap, sync::Arc};

use prospector_connect::{query::Measure, rows::Rows};
use prospector_engine::{Engine, Failure};

use crate::record::StepRun;

/// The outputs of the steps so far.
pub(crate) struct Inputs {
    engine: Arc<Engine>,
    outputs: BTreeMap<String, Input>,
}

/// One output.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    /// The alias of its rows; none where the step left none.
    pub(crate) alias: Option<String>,
    pub(crate) columns: Vec<String>,
    /// How many of the columns, the first, are groups.
    pub(crate) groups: usize,
    /// The columns that the step computes as sums and counts.
    pub(crate) totals: Vec<String>,
    /// The metrics of the step.
    pub(crate) metrics: Vec<String>,
    /// Whether it holds only some of what there is, because the plan says so: a limit, or a condition on what was computed.
    pub(crate) is_selection: bool,
    /// Whether rows are missing.
    pub(crate) is_cut: bool,
}

impl Inputs {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Inputs { engine, outputs: BTreeMap::new() }
    }

    /// Keeps what a step left, under each name of its outputs.
    ///
    /// # Errors
    /// Rows that take too much memory.
    pub(crate) fn keep(&mut self, done: &StepRun) -> Result<(), Failure> {
        let usual = usual_name(done.step.number);
        let alias = done.has_rows().then(|| usual.clone());
        if let Some(alias) = &alias {
            let rows = Rows { columns: done.columns.clone(), rows: done.rows.clone(), has_more: false };
            let origin = match done.tables.as_slice() {
                [only] => only.clone(),
                _ => format!("step {}", done.step.number),
            };
            self.engine.keep(alias, &rows, done.columns.get(..done.groups).unwrap_or_default(), &origin)?;
        }
        let is_measured = |name: &str| done.columns.iter().skip(done.groups).any(|own| own.eq_ignore_ascii_case(name));
        let is_of_groups = |name: &str| is_measured(name) || Measure::read_aggregate(name).is_some();
        let has_condition = done.groups > 0 && done.step.conditions().any(|filter| is_of_groups(&filter.column));
        let input = Input {
            alias,
            columns: done.columns.clone(),
            groups: done.groups,
            totals: done.step.compute.iter().filter_map(name_total).collect(),
            metrics: done.step.metrics.clone(),
            is_selection: done.step.limit.is_some() || has_condition,
            is_cut: done.has_more,
        };
        for name in done.step.outputs.iter().chain([&usual]) {
            self.outputs.insert(name.to_lowercase(), input.clone());
        }
        Ok(())
    }

    /// The output of that name.
    pub(crate) fn find(&self, name: &str) -> Option<&Input> {
        self.outputs.get(&name.to_lowercase())
    }

    /// The output and its column that a name such as `step_1_results.customer_id` means.
    pub(crate) fn find_column(&self, name: &str) -> Option<(&Input, String)> {
        let (output, column) = name.rsplit_once('.')?;
        let input = self.find(output)?;
        let own = input.columns.iter().find(|own| own.eq_ignore_ascii_case(column))?;
        Some((input, own.clone()))
    }
}

/// What a sum or a count is called.
fn name_total(measure: &Measure) -> Option<String> {
    let aggregation = measure.aggregation.filter(|aggregation| aggregation.is_total())?;
    let usual = || match &measure.column {
        Some(column) => format!("{}_{}", aggregation.as_str(), column.rsplit('.').next().unwrap_or(column)),
        None => aggregation.as_str().to_owned(),
    };
    Some(measure.name.clone().unwrap_or_else(usual))
}

/// What a step's rows are called where the plan gives them no name.
fn usual_name(number: u32) -> String {
    format!("step_{number}_results")
}
