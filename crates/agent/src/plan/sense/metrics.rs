//! Steps that compute metrics, with the columns that these come down to: they are checked as others are.

use prospector_connect::query::{Condition, Group};
use prospector_semantics::{Expansion, SemanticModel, TIME};

use crate::meaning::Meanings;
use crate::plan::{Draft, Step};

/// What a step over metrics may group by in the place of a part of their time.
const PERIODS: [&str; 7] = ["day", "week", "month", "quarter", "year", "fiscal_quarter", "fiscal_year"];

/// The plan with what its metrics come down to, where it names some.
pub(super) fn expand(draft: &Draft, meanings: &dyn Meanings) -> Option<Draft> {
    let model = meanings.metrics()?;
    let has_metrics = |step: &Step| !step.metrics.is_empty();
    if !draft.plan.steps.iter().any(has_metrics) {
        return None;
    }
    let mut expanded = draft.clone();
    for step in expanded.plan.steps.iter_mut().filter(|step| has_metrics(step)) {
        expand_step(step, model, meanings);
    }
    Some(expanded)
}

fn expand_step(step: &mut Step, model: &SemanticModel, meanings: &dyn Meanings) {
    let mut expansion: Expansion = model.expand(&step.metrics);
    expansion.tables.extend(step.tables.iter().cloned());
    let locate = |group: &Group| {
        let is_period = group.part.is_none() && PERIODS.contains(&group.column.to_lowercase().as_str());
        let of_time = is_period && model.dimension(&group.column).is_none();
        let column = if of_time { TIME.to_owned() } else { group.column.clone() };
        let located = model.expand_dimension(&Group { column, ..group.clone() }, &expansion);
        located.unwrap_or_else(|| group.clone())
    };
    let spell = |name: &mut String| *name = locate(&Group { column: std::mem::take(name), ..Group::default() }).column;
    for condition in &mut step.filter {
        condition.change_singles(&mut |filter| spell(&mut filter.column));
    }
    step.order.iter_mut().for_each(|order| spell(&mut order.by));
    step.group_by.iter_mut().for_each(|group| *group = locate(group));
    let columns = step.conditions().map(|filter| &filter.column).chain(step.group_by.iter().map(|group| &group.column));
    let named = columns.filter_map(|name| Some(name.rsplit_once('.')?.0.to_owned()));
    let named: Vec<String> = named.filter(|table| meanings.table(table).is_some()).collect();
    for table in expansion.tables.into_iter().chain(named) {
        if !step.tables.contains(&table) {
            step.tables.push(table);
        }
    }
    step.columns.extend(expansion.columns);
    step.compute.extend(expansion.compute);
    step.filter.extend(expansion.filter.into_iter().map(Condition::One));
}
