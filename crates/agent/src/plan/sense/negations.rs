//! Whether a plan denies what its question denies: what did not happen is in no row, so something has to leave rows out.

use prospector_connect::filter::{FilterCondition, FilterOp};
use serde_json::Value;

use super::{
    Report, SenseCode, SenseFinding,
    queries::UsedQuery,
    question::Question,
    view::{Found, PlanView, list_fields, name_output},
    vocabulary::stems,
};
use crate::plan::Step;

pub(super) fn check(view: &PlanView<'_>, report: &mut Report) {
    let unsaid: Vec<SenseFinding> = view.steps.iter().filter_map(|step| check_input(view, step)).collect();
    let found = unsaid.is_empty().then(|| check_question(view)).flatten();
    report.check(found);
    for finding in unsaid {
        report.check(Some(finding));
    }
}

/// What becomes of the rows of an earlier step is not guessed at where a goal denies: they may be kept, or left out.
fn check_input(view: &PlanView<'_>, step: &Step) -> Option<SenseFinding> {
    if !view.is_structured
        || step.tables.is_empty()
        || !step.operations.is_empty()
        || !Question::parse(&step.goal).excludes
    {
        return None;
    }
    let formulas = || step.compute.iter().filter_map(|measure| measure.expression.as_deref());
    let is_named = |input: &String| {
        list_fields(step).iter().any(|name| name.starts_with(input.as_str()))
            || step.columns.iter().any(|name| name.starts_with(input.as_str()))
            || step.conditions().filter_map(name_output).any(|name| name.starts_with(input.as_str()))
            || formulas().any(|formula| formula.contains(input.as_str()))
    };
    let leaves_rows = |input: &&String| {
        let mut from = view.steps.iter().filter(|earlier| earlier.outputs.contains(input));
        from.any(|from| !from.tables.is_empty() || !from.metrics.is_empty() || from.query.is_some() || computes(from))
    };
    let input = step.inputs.iter().filter(leaves_rows).find(|input| !is_named(input))?;
    let message = format!(
        "only the goal says what becomes of the rows of {input}: say it in `filter`, as `db.t.id in {input}.id`, or `not in` where \
         they are left out"
    );
    Some(SenseFinding::new(SenseCode::MissingCondition, Some(step.number), message))
}

/// Whether a step computes something of what it takes, or calls something.
fn computes(step: &Step) -> bool {
    !step.compute.is_empty() || !step.filter.is_empty() || !step.group_by.is_empty() || !step.operations.is_empty()
}

/// What did not happen takes a condition that leaves out what did, another table, or a definition that says how.
fn check_question(view: &PlanView<'_>) -> Option<SenseFinding> {
    let question = &view.question;
    let tables = view.tables().count();
    let defined = (view.terms.iter().chain(&view.defined))
        .any(|term| term.says.iter().any(|word| word == "without" || word == "not"));
    // What operations and metrics leave out is their own matter.
    let by_others = view.sources.iter().any(|source| source.table.is_none());
    if tables == 0 || defined || by_others || excludes(view) {
        return None;
    }
    // One table alone does not hold what did not happen, wherever it is said.
    let negates = question.negates && (view.is_structured || tables == 1);
    // `isn't` may be said of a value too: any condition that the question does not name may be the one.
    let denies = question.denies
        && view.is_structured
        && !view.filters().any(|(_, filter, found)| may_deny(view, filter, found));
    if !negates && !denies {
        return None;
    }
    if tables > 1 || view.filters().next().is_some() {
        let message = "the question asks for what did not happen or is not so, and no condition of the plan denies: leave out what an \
                       earlier step found, as `db.t.id not in step_1_results.id`, or say `is null`, `<>` or `not like`";
        return Some(SenseFinding::new(SenseCode::MissingCondition, None, message));
    }
    let message = "the question asks for what did not happen, and the plan reads one table: name the table that would hold it, and \
                   leave out what is in it, as `db.t.id not in step_1_results.id`";
    let nearest = question.concepts.iter().flat_map(|concept| view.homes_near(&concept.stem)).take(3).collect();
    Some(SenseFinding::new(SenseCode::NotCovered, None, message).near(nearest))
}

/// Whether something in the plan leaves rows out, or takes away from what is computed.
fn excludes(view: &PlanView<'_>) -> bool {
    let mut formulas = view.steps.iter().flat_map(|step| &step.compute).filter_map(|one| one.expression.as_deref());
    let takes_away = |formula: &str| {
        let lower = formula.to_lowercase();
        lower.contains('-') || ["case ", "null", "not "].iter().any(|word| lower.contains(word))
    };
    view.filters().any(|(_, filter, found)| is_denial(filter, found))
        || formulas.any(takes_away)
        || view.queries.iter().any(UsedQuery::excludes)
}

/// Whether a condition says that something is not so, is not there, or was done no more than so often.
fn is_denial(filter: &FilterCondition, found: Option<Found<'_>>) -> bool {
    let says_no = |text: &str| {
        let first = stems(text).into_iter().next().unwrap_or_default();
        ["n", "no", "not", "none", "never", "fals", "0"].contains(&first.as_str())
    };
    let is_nothing = match &filter.value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => says_no(text),
        Value::Bool(true) | Value::Array(_) | Value::Object(_) => false,
    };
    match filter.op {
        FilterOp::Neq => !filter.value.is_null(),
        FilterOp::NotLike => true,
        FilterOp::Eq | FilterOp::Like => is_nothing,
        // Of what is counted: less than so many.
        FilterOp::Lt | FilterOp::Lte => found.is_none(),
        FilterOp::In => filter.value.as_array().is_some_and(|values| values.contains(&Value::Null)),
        FilterOp::Gt | FilterOp::Gte | FilterOp::Between => false,
    }
}

/// Whether a condition may be what a question denies in its own words: `status = 'open'` for what isn't closed, or a bound.
fn may_deny(view: &PlanView<'_>, filter: &FilterCondition, found: Option<Found<'_>>) -> bool {
    let is_named = |text: &str| {
        let said = stems(text);
        // A column or an output in the place of a value joins, and denies nothing.
        text.contains("_results.")
            || text.matches('.').count() > 1 && !text.contains(' ')
            || said.iter().any(|stem| view.question.words.contains(stem) || view.question.numbers.contains(stem))
    };
    // The days of the period that the question names deny nothing.
    let is_day = |text: &str| text.len() >= 10 && text.as_bytes()[4] == b'-';
    if !view.question.periods.is_empty() && filter.value.as_str().is_some_and(is_day) {
        return false;
    }
    match (filter.op, &filter.value) {
        (FilterOp::Lt | FilterOp::Lte, _) => true,
        (FilterOp::Neq, Value::Null) => true,
        (FilterOp::Eq | FilterOp::Like | FilterOp::Gt | FilterOp::Gte, value) => match value {
            Value::String(text) => !is_named(text),
            Value::Number(number) => !is_named(&number.to_string()),
            Value::Null | Value::Bool(false) => true,
            Value::Bool(true) | Value::Array(_) | Value::Object(_) => false,
        },
        (FilterOp::In, Value::Array(values)) => !values.iter().filter_map(Value::as_str).any(is_named),
        (FilterOp::In | FilterOp::Between | FilterOp::Neq | FilterOp::NotLike, _) => is_denial(filter, found),
    }
}
