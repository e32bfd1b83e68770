//! Whether operations are given what a call of them needs.

use prospector_connect::{filter::FilterOp, query::Condition};

use super::{Report, SenseCode, SenseFinding, view::PlanView};
use crate::plan::Step;

pub(super) fn check(view: &PlanView<'_>, report: &mut Report) {
    // A plan in words says nothing in fields, and what changes something is not called.
    if !view.is_structured {
        return;
    }
    for step in view.steps {
        for id in &step.operations {
            let operation = view.meanings.operation(id).filter(|operation| operation.writes != Some(true));
            for parameter in operation.iter().flat_map(|operation| &operation.required) {
                report.check(check_parameter(view, step, id, parameter));
            }
        }
    }
}

/// A parameter is given by a condition of the step, or by a column of an input that is called so.
fn check_parameter(view: &PlanView<'_>, step: &Step, id: &str, parameter: &str) -> Option<SenseFinding> {
    let is_it = |name: &str| plain(name.rsplit('.').next().unwrap_or(name)) == plain(parameter);
    let is_stated = step.filter.iter().any(|condition| match condition {
        Condition::One(filter) => filter.op == FilterOp::Eq && is_it(&filter.column),
        Condition::All(_) | Condition::Any(_) => false,
    });
    let is_input = |earlier: &&Step| earlier.outputs.iter().any(|output| step.inputs.contains(output));
    if is_stated || view.steps.iter().filter(is_input).any(|earlier| may_leave(earlier, &is_it)) {
        return None;
    }
    let message = format!(
        "{id} needs `{parameter}`, and nothing gives it: say it in `filter`, as `{parameter} = 'value'` or `{parameter} = \
         step_1_results.column`, or take an input of one row that has a column called so"
    );
    Some(SenseFinding::new(SenseCode::MissingCondition, Some(step.number), message))
}

/// Whether a column of a step's rows may be called so; of some steps only the run tells what these are.
fn may_leave(step: &Step, is_it: &impl Fn(&str) -> bool) -> bool {
    let measured = step.compute.iter().filter_map(|measure| measure.name.as_ref().or(measure.column.as_ref()));
    let grouped = step.group_by.iter().map(|group| group.name.as_ref().unwrap_or(&group.column));
    let mut names = measured.chain(grouped).chain(&step.columns).peekable();
    let is_unknown = step.query.is_some() || !step.operations.is_empty();
    is_unknown || names.peek().is_none() || names.any(|name| is_it(name))
}

/// A name without what writers differ in.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
