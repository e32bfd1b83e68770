//! Whether the conditions of the question, and of the definitions that it needs, are said: values of columns, names, numbers.

use prospector_connect::{filter::FilterCondition, query::Condition};

use super::{
    Report, SenseCode, SenseFinding, currencies,
    question::Concept,
    view::{PlanView, Source},
    vocabulary::{Cover, stems},
};
use crate::{meaning::TableMeaning, plan::Step};

pub(super) fn check(view: &PlanView<'_>, report: &mut Report) {
    // What an operation is called with comes from the question.
    if view.sources.iter().all(|source| source.operation.is_none()) {
        for number in &view.question.numbers {
            report.check(check_number(view, number));
        }
    }
    if !view.is_structured {
        return;
    }
    // A name of what is used is no value in it.
    let is_source = |concept: &&Concept| concept.is_name && view.names_source(&concept.stem);
    for concept in view.question.concepts.iter().filter(|concept| !is_source(concept)) {
        if view.cover(&concept.stem) == Cover::Value {
            report.check(check_value(view, &concept.stem, None, &format!("`{}` of the question", concept.text)));
        } else if concept.code.is_some() || concept.is_name {
            report.check(check_name(view, concept));
        }
    }
    let is_needed = |term: &super::view::UsedTerm| {
        let words = &view.question.words;
        term.place(&view.question).is_some() || term.stems.iter().any(|stem| words.contains(stem))
    };
    check_pairs(view, &view.question.words, "the question", report);
    for term in view.terms.iter().filter(|term| is_needed(term)).chain(view.unused_terms()) {
        check_pairs(view, &term.says, &format!("the definition of `{}`", term.term.term), report);
    }
}

/// `paid invoices`: a value before what its table is called is a condition.
fn check_pairs(view: &PlanView<'_>, words: &[String], place: &str, report: &mut Report) {
    for pair in words.windows(2) {
        let [value, thing] = pair else { continue };
        let is_of = |source: &Source| source.words.is_called(thing) && !source.words.columns_with(value).is_empty();
        let may_be_value = value.len() > 2 && !prospector_text::requests::is_about_nothing(value);
        if may_be_value && view.sources.iter().any(is_of) {
            report.check(check_value(view, value, Some(thing), &format!("`{value}` of {place}")));
        }
    }
}

/// A number is a value of a condition, a limit, a part of what is computed, or said by the step that needs it.
fn check_number(view: &PlanView<'_>, number: &str) -> Option<SenseFinding> {
    let is_limit = view.steps.iter().any(|step| step.limit.is_some_and(|limit| limit.to_string() == number));
    let mut formulas = view.steps.iter().flat_map(|step| &step.compute).filter_map(|one| one.expression.as_deref());
    let is_computed = formulas.any(|formula| computes_with(formula, number));
    (!is_limit && !is_computed && !view.says(&stems(number).concat())).then(|| {
        let message =
            format!("`{number}` of the question is in no condition, `limit`, measure or goal: say it where it is used");
        SenseFinding::new(SenseCode::MissingCondition, None, message)
    })
}

/// Whether a formula holds a number, as it is or as so many percent: 5 is in `a * 1.05`, in `a * 0.95` and in `a * 0.05`.
fn computes_with(formula: &str, number: &str) -> bool {
    let Ok(wanted) = number.parse::<f64>() else { return false };
    let forms = [wanted, wanted / 100.0, 1.0 + wanted / 100.0, 1.0 - wanted / 100.0];
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let said = formula.split(|c| !is_number(c)).filter_map(|part| part.parse::<f64>().ok());
    said.into_iter().any(|said| forms.iter().any(|form| (form - said).abs() < 1e-9))
}

/// A word that is a value of a column has to be a condition on it, or a group by it, in each step that computes over its table; `thing` is
/// what the table is called.
fn check_value(view: &PlanView<'_>, stem: &str, thing: Option<&str>, what: &str) -> Option<SenseFinding> {
    // A verified query that speaks of it has the condition.
    if view.queries.iter().any(|query| query.says(stem)) {
        return None;
    }
    let holders: Vec<(&Source, &TableMeaning, Vec<usize>)> = (view.tables())
        .filter(|(source, _)| thing.is_none_or(|thing| source.words.is_called(thing)))
        .map(|(source, table)| (source, table, source.words.columns_with(stem)))
        .filter(|(.., columns)| !columns.is_empty())
        .collect();
    let is_held = |found: super::view::Found<'_>| {
        holders.iter().any(|(_, table, columns)| {
            found.table.id == table.id && columns.iter().any(|at| table.columns[*at].name == found.column.name)
        })
    };
    let limits = |step: &Step| {
        let is_met = |filter: &FilterCondition| view.find_compared(step, filter).is_some_and(&is_held);
        let groups = step.group_by.iter().filter_map(|group| view.find_column(step, &group.column));
        let is_any_enough = view.question.has_alternatives;
        step.filter.iter().any(|condition| limits_rows(condition, is_any_enough, &is_met))
            || groups.into_iter().any(&is_held)
    };
    let is_plain = |step: &&Step| !step.compute.is_empty() && !super::view::reads_input(step);
    let uses = |step: &&Step| holders.iter().any(|(source, ..)| step.tables.contains(&source.id));
    let mut computing = view.steps.iter().filter(is_plain).filter(uses).peekable();
    let step = match computing.peek() {
        Some(_) => computing.find(|step| !limits(step))?,
        None => view.steps.iter().find(uses).filter(|_| !view.steps.iter().any(limits))?,
    };
    let (_, table, columns) = holders.iter().find(|(source, ..)| step.tables.contains(&source.id))?;
    let column = &table.columns[columns[0]];
    let code = column.codes().into_iter().find(|(_, meaning)| stems(meaning).iter().any(|word| word == stem));
    let hint = code.map_or(String::new(), |(code, meaning)| format!(" ({code} = {meaning})"));
    let message = format!("{what} is a value of {}.{}{hint}: filter by it", table.id, column.name);
    Some(SenseFinding::new(SenseCode::MissingCondition, Some(step.number), message))
}

/// Whether a condition leaves rows in only where some comparison holds; of alternatives each has to, unless the question has
/// alternatives of its own.
fn limits_rows(condition: &Condition, is_any_enough: bool, is_met: &impl Fn(&FilterCondition) -> bool) -> bool {
    let limits = |one: &Condition| limits_rows(one, is_any_enough, is_met);
    match condition {
        Condition::One(filter) => is_met(filter),
        Condition::Any(several) if !is_any_enough => !several.is_empty() && several.iter().all(limits),
        Condition::All(several) | Condition::Any(several) => several.iter().any(limits),
    }
}

/// A name, or what data hold as a code, is a value of some condition, or a group.
fn check_name(view: &PlanView<'_>, concept: &Concept) -> Option<SenseFinding> {
    if view.cover(&concept.stem) == Cover::Name || view.tables().next().is_none() {
        return None;
    }
    // What data are in is no value of them.
    if currencies::is_own(view, concept) || currencies::is_unit(&view.question, concept) {
        return None;
    }
    let code = concept.code.map(str::to_lowercase);
    let said = view.filters_hold(&concept.stem)
        || code.as_ref().is_some_and(|code| view.filters_hold(code))
        || view.filters_abbreviate(&concept.text);
    (!said).then(|| {
        let hint = concept.code.map_or(String::new(), |code| format!(" (data may hold it as {code})"));
        let message = format!("`{}` of the question is in no condition{hint}: filter by it", concept.text);
        SenseFinding::new(SenseCode::MissingCondition, None, message)
    })
}
