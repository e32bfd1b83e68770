//! Whether the tables of a step are connected, and whether what an operation changes was asked for.

use prospector_connect::query::Aggregation;
use prospector_text::{identifiers, requests};

use super::{
    Report, SenseCode, SenseFinding,
    view::PlanView,
    vocabulary::{alike, stems},
};
use crate::{
    meaning::{OperationMeaning, TableMeaning},
    plan::Step,
};

pub(super) fn check(view: &PlanView<'_>, report: &mut Report) {
    // A verified query joins its tables itself.
    for step in view.steps.iter().filter(|step| step.query.is_none()) {
        report.check(check_joins(view, step));
        report.check(check_repeats(view, step));
    }
    let mut writes = false;
    for source in &view.sources {
        let Some(operation) = &source.operation else { continue };
        let changes = operation.writes == Some(true);
        writes |= changes || operation.writes.is_none();
        report.check(check_kind_of_change(view, &source.id, operation, source.step));
        let asked = view.question.words.is_empty() || view.question.asks_for_change;
        report.check((changes && !asked).then(|| {
            let message = format!(
                "{} changes something, and the question asks for no change: take it out, and read from a source that holds the data",
                source.id
            );
            SenseFinding::new(SenseCode::Writes, Some(source.step), message)
        }));
    }
    let is_missing = view.question.asks_for_change && !writes && !view.declines_change;
    report.check(is_missing.then(|| tell_no_change(view)));
}

/// A plan that asks back about the change may still find out the rest; one that says that nothing makes it is not told so.
fn tell_no_change(view: &PlanView<'_>) -> SenseFinding {
    if view.admits_no_change {
        let message = "the question asks for a change that the clarifications ask back about: search for an operation that \
                       makes it, or say that none does";
        return SenseFinding::new(SenseCode::NotCovered, None, message);
    }
    let message = "the question asks for a change, and no step calls an operation that makes it: search for one, or say in \
         `clarifications` that none does";
    SenseFinding::new(SenseCode::NoChange, None, message)
}

/// What asks for something to be taken away is not done by an operation that makes something, nor the other way round.
fn check_kind_of_change(
    view: &PlanView<'_>,
    id: &str,
    operation: &OperationMeaning,
    step: u32,
) -> Option<SenseFinding> {
    let done = identifiers::words(&operation.name).iter().find_map(|word| requests::change_of(word))?;
    let asked = *view.question.changes.first()?;
    let is_asked = view.question.changes.contains(&done);
    (!is_asked).then(|| {
        let message = format!(
            "the question asks to {}, and {id} is there to {}: search for the operation that does it, or decline",
            asked.as_str(),
            done.as_str()
        );
        SenseFinding::new(SenseCode::NoChange, Some(step), message)
    })
}

/// Tables of one database that one step reads are joined by keys, bridges included, by declared joins, also through tables of others,
/// or by columns of one name. Where nothing is known of a table's keys, nothing is known against joining it.
fn check_joins(view: &PlanView<'_>, step: &Step) -> Option<SenseFinding> {
    let tables: Vec<&TableMeaning> =
        view.tables().filter(|(source, _)| step.tables.contains(&source.id)).map(|(_, table)| table).collect();
    let first = tables.first()?;
    let mut joined: Vec<&TableMeaning> = vec![first];
    let mut open: Vec<&TableMeaning> = tables.iter().skip(1).copied().collect();
    let leads = |a: &TableMeaning, b: &TableMeaning| {
        is_joined(view, a, b) || (a.database == b.database && says_key(step, a, b))
    };
    while let Some(at) = open.iter().position(|table| joined.iter().any(|other| leads(table, other))) {
        joined.push(open.swap_remove(at));
    }
    // Of tables of other databases only a run tells whether they have keys of the same name.
    let table = open.iter().find(|table| table.database == first.database)?;
    let same_database = || joined.iter().filter(|other| other.database == table.database);
    let ways = same_database()
        .filter_map(|other| Some((other, view.meanings.bridges(&table.database, &other.name, &table.name)?)));
    let shortest = ways.min_by_key(|(_, between)| between.len());
    let has_keys = |table: &TableMeaning| {
        declares_keys(table) || tables.iter().any(|other| refers(other, table) && other.database == table.database)
    };
    match shortest {
        Some((_, between)) if between.is_empty() => None,
        Some((other, between)) => {
            let nearest = between.iter().map(|name| format!("{}.{name}", table.database)).collect();
            let names = between.join(", ");
            let message = format!("{} and {} are joined over {names}: name it among the tables", other.id, table.id);
            Some(SenseFinding::new(SenseCode::NotJoined, Some(step.number), message).near(nearest))
        }
        None if !has_keys(table) || !same_database().any(|other| has_keys(other)) => None,
        None => {
            let message = format!(
                "no key joins {} to the other tables of the step: leave it out, or read it in a step of its own",
                table.id
            );
            Some(SenseFinding::new(SenseCode::NotJoined, Some(step.number), message))
        }
    }
}

/// Whether the goal of a step says by which columns two tables are joined: `visits.guide_id = staff.id`.
fn says_key(step: &Step, a: &TableMeaning, b: &TableMeaning) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let has = |table: &TableMeaning, name: &str| {
        let (of, column) = name.trim_matches('.').rsplit_once('.').unwrap_or_default();
        of.rsplit('.').next().is_some_and(|of| of.eq_ignore_ascii_case(&table.name)) && table.column(column).is_some()
    };
    step.goal.match_indices('=').any(|(at, _)| {
        let left = step.goal[..at].trim_end().rsplit(|c| !is_part(c)).next().unwrap_or_default();
        let right = step.goal[at + 1..].trim_start().split(|c| !is_part(c)).next().unwrap_or_default();
        (has(a, left) && has(b, right)) || (has(b, left) && has(a, right))
    })
}

/// What is summed has each of its rows once: every other table of the step is one that keys lead to from it. Two tables that only
/// refer to the same third one multiply each other.
fn check_repeats(view: &PlanView<'_>, step: &Step) -> Option<SenseFinding> {
    // Metrics are computed each by itself, before they are joined.
    if !step.metrics.is_empty() {
        return None;
    }
    let sums =
        step.compute.iter().filter(|measure| matches!(measure.aggregation, Some(Aggregation::Sum | Aggregation::Avg)));
    let mut measured = sums.filter_map(|measure| view.find_column(step, measure.column.as_deref()?));
    let own: Vec<&TableMeaning> =
        view.tables().filter(|(source, _)| step.tables.contains(&source.id)).map(|(_, table)| table).collect();
    let repeated = measured.find_map(|found| {
        let mut reached: Vec<&TableMeaning> = vec![found.table];
        let leads = |from: &TableMeaning, to: &TableMeaning| {
            let by_key = from.database == to.database && (refers(from, to) || is_one_to_one(to, from));
            by_key || view.leads(from, to)
        };
        while let Some(next) = own.iter().find(|table| {
            !reached.iter().any(|known| known.id == table.id) && reached.iter().any(|known| leads(known, table))
        }) {
            reached.push(next);
        }
        let other = own.iter().find(|table| {
            let is_reached = reached.iter().any(|known| known.id == table.id);
            // A table without keys says nothing of how often its rows are there.
            let has_keys =
                table.database == found.table.database && table.columns.iter().any(|column| column.refers.is_some());
            !is_reached && (has_keys || reached.iter().any(|known| view.leads(table, known)))
        })?;
        Some((found, *other))
    });
    repeated.map(|(found, other)| {
        let message = format!(
            "joined with {}, a row of {} is there several times, and what is computed of {} is wrong: use the tables that lead \
             from one to the other, or compute it in a step of its own",
            other.id, found.table.id, found.column.name
        );
        SenseFinding::new(SenseCode::WrongMeasure, Some(step.number), message)
    })
}

/// Whether a key of one table that no two of its rows share is declared to lead to such a key of the other: one row matches one,
/// whichever way it is read.
fn is_one_to_one(from: &TableMeaning, to: &TableMeaning) -> bool {
    let is_whole_key = |table: &TableMeaning, name: &str| {
        let mut keys = table.columns.iter().filter(|column| column.primary_key);
        keys.next().is_some_and(|key| key.name.eq_ignore_ascii_case(name)) && keys.next().is_none()
    };
    from.columns.iter().any(|column| {
        let leads = |(table, target): &(String, String)| *table == to.name && is_whole_key(to, target);
        column.refers.as_ref().is_some_and(leads) && is_whole_key(from, &column.name)
    })
}

fn refers(from: &TableMeaning, to: &TableMeaning) -> bool {
    from.columns.iter().any(|column| column.refers.as_ref().is_some_and(|(table, _)| *table == to.name))
}

fn declares_keys(table: &TableMeaning) -> bool {
    table.columns.iter().any(|column| column.refers.is_some())
}

/// Whether a declared key or join leads from one to the other, or columns of the same name stand for one.
pub(super) fn is_joined(view: &PlanView<'_>, a: &TableMeaning, b: &TableMeaning) -> bool {
    if view.leads(a, b) || view.leads(b, a) {
        return true;
    }
    if a.database != b.database {
        return false;
    }
    if refers(a, b) || refers(b, a) {
        return true;
    }
    // Where keys are not declared, a column says by its name what it refers to.
    let is_key = |name: &str| {
        stems(name).len() > 1
            && stems(name)
                .last()
                .is_some_and(|last| ["id", "code", "cd", "key", "no"].iter().any(|word| alike(word, last)))
    };
    let shares = |a: &TableMeaning, b: &TableMeaning| {
        a.columns.iter().any(|column| is_key(&column.name) && b.column(&column.name).is_some())
    };
    (!declares_keys(a) || !declares_keys(b)) && (shares(a, b) || plays_role(a, b) || plays_role(b, a))
}

/// Whether a column is called by the other table and its key, with or without a role before: `departure_airport_id`.
fn plays_role(from: &TableMeaning, to: &TableMeaning) -> bool {
    let table = stems(&to.name);
    let keys = to.columns.iter().filter(|column| column.primary_key || column.name.eq_ignore_ascii_case("id"));
    let ends: Vec<Vec<String>> = keys
        .map(|column| {
            let key = stems(&column.name);
            if key.starts_with(&table) { key } else { [table.clone(), key].concat() }
        })
        .collect();
    !table.is_empty() && from.columns.iter().any(|column| ends.iter().any(|end| stems(&column.name).ends_with(end)))
}
