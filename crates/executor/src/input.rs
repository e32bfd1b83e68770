//! Rows of earlier steps, as tables that later statements read: `step_1`.

use std::{collections::BTreeMap, sync::Arc};

use prospector_connect::rows::Rows;
use prospector_engine::{Engine, Failure};
use serde_json::Value;

use crate::record::StepRun;

/// The outputs of the steps so far.
pub(crate) struct Inputs {
    engine: Arc<Engine>,
    /// The columns of each output, and whether rows are missing.
    outputs: BTreeMap<String, (Vec<String>, bool)>,
}

impl Inputs {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Inputs { engine, outputs: BTreeMap::new() }
    }

    /// Keeps the rows of a step for later statements.
    ///
    /// # Errors
    /// Two columns of one name, or rows that take too much memory.
    pub(crate) fn keep(&mut self, done: &StepRun) -> Result<(), Failure> {
        if !done.has_rows() {
            return Ok(());
        }
        let output = done.step.output();
        let rows = Rows { columns: done.columns.clone(), rows: done.rows.clone(), has_more: false };
        let origin = match done.tables.as_slice() {
            [only] => only.clone(),
            _ => output.clone(),
        };
        self.engine.keep(&output, &rows, &[], &origin)?;
        self.outputs.insert(output, (done.columns.clone(), done.has_more));
        Ok(())
    }

    /// The first of these outputs of which rows are missing.
    pub(crate) fn find_truncated<'a>(&self, names: &'a [String]) -> Option<&'a str> {
        let is_truncated = |name: &&String| self.outputs.get(*name).is_some_and(|(_, is_truncated)| *is_truncated);
        names.iter().find(is_truncated).map(String::as_str)
    }

    /// The only value of a column of an output; `None` where it has several or none.
    pub(crate) async fn only_value(&self, output: &str, column: &str) -> Option<Value> {
        let (columns, _) = self.outputs.get(output)?;
        let column = columns.iter().find(|own| own.eq_ignore_ascii_case(column))?.to_lowercase().replace('"', "\"\"");
        let sql = format!("SELECT DISTINCT \"{column}\" FROM {output} WHERE \"{column}\" IS NOT NULL");
        let found = self.engine.run(&sql, None, 2).await.ok()?.rows;
        match found.rows.as_slice() {
            [row] if !found.has_more => row.first().cloned(),
            _ => None,
        }
    }
}
