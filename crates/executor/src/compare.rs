//! Compares two runs, step by step and row by row.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use crate::{
    comparison::{Change, Comparison, Difference, StepComparison},
    record::{Run, StepRun},
};

/// Limit on the differing rows reported per step.
const MAX_DIFFERENCES: usize = 20;

impl Comparison {
    /// Compares `now` with `before`, step by step.
    pub fn of(before: &Run, now: &Run) -> Self {
        let mut numbers: Vec<u32> = before.steps.iter().chain(&now.steps).map(|step| step.step.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let each = |number| compare_steps(number, before.step(number), now.step(number));
        Comparison { with: before.id.clone(), steps: numbers.into_iter().map(each).collect() }
    }
}

fn compare_steps(number: u32, old: Option<&StepRun>, new: Option<&StepRun>) -> StepComparison {
    let mut compared = StepComparison {
        number,
        rows_before: old.and_then(|step| step.row_count),
        rows_now: new.and_then(|step| step.row_count),
        ..StepComparison::default()
    };
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) => (old, new),
        (None, _) => return StepComparison { change: Change::Added, ..compared },
        (_, None) => return StepComparison { change: Change::Removed, ..compared },
    };
    if old.columns == new.columns && old.rows == new.rows && old.row_count == new.row_count {
        return compared;
    }
    compared.change = Change::Changed;
    let groups = if old.columns == new.columns { count_keys(old, new) } else { 0 };
    let (old_rows, new_rows) = (by_group(old, groups), by_group(new, groups));
    let values = |step: &StepRun, row: &[Value]| -> BTreeMap<String, Value> {
        step.columns.iter().cloned().zip(row.iter().cloned()).skip(groups).collect()
    };
    let before: HashMap<String, &[Value]> = old_rows.iter().map(|(key, _, row)| (key.clone(), *row)).collect();
    let after: HashMap<String, &[Value]> = new_rows.iter().map(|(key, _, row)| (key.clone(), *row)).collect();
    for (key, shown, row) in &new_rows {
        let earlier = before.get(key).map(|row| values(old, row));
        let own = values(new, row);
        if earlier.as_ref() != Some(&own) {
            compared.differences.push(Difference { row: shown.clone(), before: earlier, now: Some(own) });
        }
    }
    for (key, shown, row) in &old_rows {
        if !after.contains_key(key) {
            compared.differences.push(Difference { row: shown.clone(), before: Some(values(old, row)), now: None });
        }
    }
    compared.differences.truncate(MAX_DIFFERENCES);
    compared
}

/// Returns the number of leading columns that identify each row in both runs; 0 if only all columns do.
fn count_keys(old: &StepRun, new: &StepRun) -> usize {
    let is_key = |step: &StepRun, count: usize| {
        let mut known = HashSet::new();
        step.rows.iter().all(|row| known.insert(serde_json::json!(row.get(..count)).to_string()))
    };
    (1..new.columns.len()).find(|count| is_key(old, *count) && is_key(new, *count)).unwrap_or(0)
}

/// Returns the rows by key, or by index if there is no key: the key, its display form, and the row.
fn by_group(step: &StepRun, groups: usize) -> Vec<(String, Vec<Value>, &[Value])> {
    let each = |(at, row): (usize, &'_ Vec<Value>)| {
        if groups == 0 { vec![Value::from(at + 1)] } else { row.iter().take(groups).cloned().collect() }
    };
    let keys = step.rows.iter().enumerate().map(each);
    keys.zip(&step.rows).map(|(shown, row)| (Value::Array(shown.clone()).to_string(), shown, row.as_slice())).collect()
}
