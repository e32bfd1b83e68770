//! Whether each source has a part in the answer. One that merely shares a word with the question has none.

use prospector_core::record::ResourceKind;

use super::{
    Report, SenseCode, SenseFinding,
    question::Concept,
    structure::is_joined,
    view::{PlanView, Source, UsedTerm},
    vocabulary::{Cover, alike, stems},
};
use crate::{meaning::TableMeaning, plan::Step};

pub(super) fn check(view: &PlanView<'_>, report: &mut Report) {
    let mut needed: Vec<bool> = view.sources.iter().map(|source| is_needed(view, source)).collect();
    // Bridges: tables that lie between needed ones.
    let by_itself = needed.clone();
    for at in 0..view.sources.len() {
        needed[at] = needed[at] || is_bridge(view, at, &needed) || is_on_way(view, at, &by_itself);
    }
    // The table or the operation that a plan rests on alone is what it is: whether that covers the question is checked elsewhere. A
    // text says all sorts of things.
    let is_only = matches!(view.sources.as_slice(), [only] if only.table.is_some() || only.operation.is_some());
    for (source, is_needed) in view.sources.iter().zip(needed) {
        report.check((!is_needed && !is_only).then(|| {
            let message =
                format!("the {} {} adds nothing that the question asks for: take it out", source.kind, source.id);
            SenseFinding::new(SenseCode::NotNeeded, Some(source.step), message)
        }));
    }
}

fn is_needed(view: &PlanView<'_>, source: &Source) -> bool {
    match source.kind {
        ResourceKind::Table => is_read_by_query(view, source) || is_table_needed(view, source),
        ResourceKind::Operation => is_operation_needed(view, source),
        ResourceKind::Document => is_text_needed(view, source, 0.5),
        ResourceKind::Skill => is_text_needed(view, source, 0.5),
        ResourceKind::Database
        | ResourceKind::Column
        | ResourceKind::Api
        | ResourceKind::Fact
        | ResourceKind::Metric
        | ResourceKind::Query => true,
    }
}

/// Whether a verified query of the plan reads the table.
fn is_read_by_query(view: &PlanView<'_>, source: &Source) -> bool {
    view.queries.iter().any(|query| query.tables.contains(&source.id))
}

/// The stems that something has to cover: of the question, and of the definitions that the plan uses.
fn list_wanted<'a>(view: &'a PlanView<'_>) -> Vec<&'a String> {
    let says = |term: &'a UsedTerm| term.says.iter().filter(|stem| stem.len() > 3);
    let defined = view.terms.iter().chain(&view.defined).flat_map(says);
    view.question.concepts.iter().map(|concept| &concept.stem).chain(defined).collect()
}

fn is_table_needed(view: &PlanView<'_>, source: &Source) -> bool {
    // A plan without fields says in its goals which columns it uses.
    let names_column = view.steps.iter().any(|step| {
        let own = step.columns.iter().filter_map(|name| name.strip_prefix(source.id.as_str())?.strip_prefix('.'));
        own.into_iter().any(|column| step.goal.contains(column))
    });
    // The step says the name of the table: it is there for what a word of the question means.
    let is_said = stems(source.id.rsplit('.').next().unwrap_or_default())
        .iter()
        .all(|stem| view.said.iter().any(|said| alike(said, stem)));
    let follows_skill = view.sources.iter().any(|other| other.kind == ResourceKind::Skill);
    let is_computed = view.fields().iter().any(|found| found.table.id == source.id);
    if is_computed || names_column || is_said || follows_skill {
        return true;
    }
    // A name of the table that is the question's: all of it, or a word that nothing else is called by.
    let asked = &view.question.concepts;
    let others = |stem: &str| {
        let other = view.sources.iter().filter(|other| other.id != source.id);
        other.map(|other| other.words.cover(stem)).max().unwrap_or(Cover::None)
    };
    let own = stems(source.id.rsplit('.').next().unwrap_or_default());
    let is_named = own.iter().all(|stem| asked.iter().any(|concept| alike(&concept.stem, stem)));
    if is_named && asked.iter().any(|concept| source.words.is_called(&concept.stem)) {
        return true;
    }
    let is_wanted = |stem: &String| source.words.cover(stem) > others(stem).max(Cover::None);
    list_wanted(view).into_iter().any(|stem| is_wanted(stem) && !prospector_text::requests::is_about_nothing(stem))
}

fn is_operation_needed(view: &PlanView<'_>, source: &Source) -> bool {
    let Some(operation) = &source.operation else { return true };
    let changes = operation.writes != Some(false);
    let has_tables = view.tables().next().is_some();
    // A name is a value that an operation is called with.
    let concepts: Vec<&Concept> = view.question.concepts.iter().filter(|concept| !concept.is_name).collect();
    let is_asked_for = view.question.concepts.iter().any(|concept| {
        let api = stems(&operation.api);
        concept.is_name && !api.is_empty() && api.contains(&concept.stem)
    });
    if is_asked_for && !changes {
        return true;
    }
    let own: Vec<&Step> = view.steps.iter().filter(|step| step.operations.contains(&source.id)).collect();
    if has_tables {
        let asked = || concepts.iter().map(|concept| &concept.stem).chain(&view.question.verbs);
        let makes_change =
            changes && view.question.asks_for_change && asked().any(|stem| source.words.cover(stem) > Cover::None);
        // It may be called by what a table holds too: what is similar to the artist that was found.
        let goes_on =
            own.iter().any(|step| passes_rows(view, step)) && asked().any(|stem| source.words.is_called(stem));
        if makes_change || goes_on {
            return true;
        }
        // Else it is there for what the tables do not have.
        return concepts.iter().any(|concept| {
            let of_tables = view.tables().map(|(table, _)| table.words.cover(&concept.stem)).max();
            source.words.cover(&concept.stem) == Cover::Name && of_tables.unwrap_or(Cover::None) == Cover::None
        });
    }
    let said: Vec<String> = own.iter().flat_map(|step| list_said(step)).collect();
    let covers = |stem: &str| source.words.cover(stem) > Cover::None || said.iter().any(|said| alike(said, stem));
    let covered = concepts.iter().filter(|concept| covers(&concept.stem)).count();
    // What is read first for what another operation of the same API then does.
    let feeds = own.iter().filter(|step| step.number == source.step).any(|step| {
        view.steps.iter().any(|later| {
            let is_same = |id: &String| {
                let other = view.sources.iter().find(|other| other.id == *id);
                let other = other.and_then(|other| other.operation.as_ref());
                *id != source.id && other.is_some_and(|other| other.api == operation.api)
            };
            later.inputs.iter().any(|input| step.outputs.contains(input)) && later.operations.iter().any(is_same)
        })
    });
    if feeds && !changes {
        return true;
    }
    let is_called = concepts.iter().any(|concept| source.words.is_called(&concept.stem));
    (is_called || covered * 2 >= concepts.len().max(1)) && (!changes || covered > 0)
}

/// Whether a step takes what another one leaves, or leaves something to it.
fn passes_rows(view: &PlanView<'_>, step: &Step) -> bool {
    let leaves =
        |from: &Step, to: &Step| from.number < to.number && to.inputs.iter().any(|input| from.outputs.contains(input));
    view.steps.iter().any(|other| leaves(other, step) || leaves(step, other))
}

/// The stems of what a step says: in its goal, and in what it is called with and groups by.
fn list_said(step: &Step) -> Vec<String> {
    let values = step.conditions().map(|filter| format!("{} {}", filter.column, filter.value));
    let groups = step.group_by.iter().map(|group| group.column.clone());
    let measures = step.compute.iter().filter_map(|measure| measure.name.clone());
    let said = values.chain(groups).chain(measures).chain([step.goal.clone()]);
    said.flat_map(|text| stems(&text)).collect()
}

/// A document or skill is needed where it gives a definition, or is about more than a part of the question.
fn is_text_needed(view: &PlanView<'_>, source: &Source, share: f64) -> bool {
    let gives = |term: &UsedTerm| term.term.source.split('#').next() == Some(source.id.as_str());
    if view.terms.iter().any(gives) || view.defined.iter().any(gives) {
        return true;
    }
    let concepts = &view.question.concepts;
    let covered = concepts.iter().filter(|concept| source.words.cover(&concept.stem) > Cover::None).count();
    let count = concepts.len().max(1);
    let is_alone = view.sources.iter().all(|other| other.kind == source.kind);
    let is_called = concepts.iter().any(|concept| source.words.is_called(&concept.stem));
    covered as f64 > share * count as f64 || (covered > 0 && is_called && is_alone)
}

/// The tables of a database that a plan reads, with their places among its sources.
fn list_tables<'a>(view: &'a PlanView<'_>, database: &str) -> Vec<(usize, &'a TableMeaning)> {
    (view.sources.iter().enumerate())
        .filter_map(|(at, source)| Some((at, source.table.as_ref()?)))
        .filter(|(_, other)| other.database == database)
        .collect()
}

/// Whether a table is on a way of several tables, none of them needed by itself, from one needed table of its step to another. A
/// single one may be there for nothing; several are named because the step is to be joined by way of them.
fn is_on_way(view: &PlanView<'_>, at: usize, needed: &[bool]) -> bool {
    let source = &view.sources[at];
    let Some(table) = &source.table else { return false };
    let mut all = list_tables(view, &table.database);
    all.retain(|(other, _)| view.sources[*other].step == source.step);
    let (ends, mut open): (Vec<_>, Vec<_>) = all.into_iter().partition(|(other, _)| needed[*other]);
    open.retain(|(other, _)| *other != at);
    let mut way = vec![(at, table)];
    while let Some(next) = open.iter().position(|(_, one)| way.iter().any(|(_, other)| is_joined(view, one, other))) {
        way.push(open.swap_remove(next));
    }
    let led_to = ends.iter().filter(|(_, end)| way.iter().any(|(_, one)| is_joined(view, one, end))).count();
    let others = way.iter().chain(&ends).filter(|(other, _)| *other != at);
    let beside = others.filter(|(_, other)| is_joined(view, table, other)).count();
    way.len() > 1 && led_to > 1 && beside > 1
}

/// Whether the needed tables of a step are connected with a table, and are not without it.
fn is_bridge(view: &PlanView<'_>, at: usize, needed: &[bool]) -> bool {
    let Some(table) = &view.sources[at].table else { return false };
    let all = list_tables(view, &table.database);
    let reach = |without: Option<usize>| {
        let mut open: Vec<(usize, &TableMeaning)> =
            all.iter().copied().filter(|(at, _)| Some(*at) != without).collect();
        let Some(first) = open.iter().position(|(at, _)| needed[*at]) else { return 0 };
        let mut joined = vec![open.swap_remove(first)];
        while let Some(next) =
            open.iter().position(|(_, table)| joined.iter().any(|(_, other)| is_joined(view, table, other)))
        {
            joined.push(open.swap_remove(next));
        }
        joined.iter().filter(|(at, _)| needed[*at]).count()
    };
    reach(None) > reach(Some(at))
}
