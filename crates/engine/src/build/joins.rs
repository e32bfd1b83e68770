//! Which tables are joined, along declared foreign keys and joins.

use std::collections::BTreeSet;

use prospector_connect::table::joins::{KeyGraph, KeyStep, Mention, Ways};

use super::{Choice, Relations};
use crate::{Failure, FailureCode};

/// Tables joined one after another.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Tree {
    pub(crate) steps: Vec<KeyStep>,
}

impl Tree {
    /// A table because of which the rows of `table` are there more than once.
    pub(crate) fn repeats(&self, table: usize) -> Option<usize> {
        let path = self.path(table);
        self.steps.iter().find_map(|step| match path.contains(&step.to) {
            true => (!step.from_one).then_some(step.from),
            false => (!step.to_one).then_some(step.to),
        })
    }

    /// Whether each row of `table` is there: each refers to a row of the table that it is joined to, up to the first one.
    pub(super) fn keeps(&self, relations: &Relations<'_>, table: usize) -> bool {
        let path = self.path(table);
        let is_set = |step: &KeyStep| {
            let mut columns = step.pairs.iter().map(|(_, to)| relations.tables[step.to].column(to));
            columns.all(|column| column.is_some_and(|column| column.primary_key || !column.nullable))
        };
        self.steps.iter().filter(|step| path.contains(&step.to)).all(|step| !step.refers && is_set(step))
    }

    /// The table, and those that are only there by way of it.
    pub(super) fn beyond(&self, table: usize) -> BTreeSet<usize> {
        let mut beyond = BTreeSet::from([table]);
        for step in &self.steps {
            if beyond.contains(&step.from) {
                beyond.insert(step.to);
            }
        }
        beyond
    }

    /// The table, and those by way of which it is there.
    fn path(&self, table: usize) -> BTreeSet<usize> {
        let mut path = BTreeSet::from([table]);
        for step in self.steps.iter().rev() {
            if path.contains(&step.to) {
                path.insert(step.from);
            }
        }
        path
    }
}

/// The tables that are needed, joined to `root` by the ways that go through what the query names, repeat the fewest rows, and
/// are the shortest. `via` are columns, `table.column`, of keys to take where there are several.
///
/// # Errors
/// Where there is no way, or several that are as good.
pub(crate) fn tree(relations: &Relations<'_>, root: usize, needed: &[usize], via: &[String]) -> Result<Tree, Failure> {
    if needed.iter().all(|table| *table == root) {
        return Ok(Tree::default());
    }
    let graph = KeyGraph::new(&relations.tables);
    let mut mentions = relations.mentions.clone();
    mentions.resize(relations.tables.len(), Mention::default());
    for (at, table) in relations.tables.iter().enumerate() {
        let is_of = |name: &String| name.rsplit_once('.').is_some_and(|(of, _)| of.eq_ignore_ascii_case(&table.name));
        if via.iter().any(is_of) {
            mentions[at] = mentions[at].max(Mention::Named);
        }
    }
    for table in needed.iter().chain([&root]) {
        if mentions[*table] == Mention::Named {
            mentions[*table] = Mention::Read;
        }
    }
    let is_chosen = |step: &KeyStep| {
        let refers = |(from, to): &(String, String)| match step.refers {
            true => format!("{}.{from}", relations.tables[step.from].name),
            false => format!("{}.{to}", relations.tables[step.to].name),
        };
        step.pairs.iter().map(refers).any(|column| via.iter().any(|wanted| wanted.eq_ignore_ascii_case(&column)))
    };
    let ways = graph.find_ways(&[root], &mentions, &is_chosen);
    let mut joined = BTreeSet::from([root]);
    let mut tree = Tree::default();
    for target in needed {
        let Some(way) = ways.way_to(*target) else {
            mentions.iter_mut().for_each(|mention| *mention = (*mention).max(Mention::Named));
            let open = graph.find_ways(&[root], &mentions, &is_chosen);
            return Err(explain_no_way(relations, root, *target, &open));
        };
        if let Some((first, second)) = way.rivals {
            return Err(ambiguous(relations, first, second));
        }
        for step in way.steps {
            if joined.insert(step.to) {
                tree.steps.push(step.clone());
            } else if !tree.steps.contains(step) {
                return Err(explain_conflict(relations, step.to));
            }
        }
    }
    Ok(tree)
}

/// No way leads to a table, or one through tables alone that would have to be named for it.
fn explain_no_way(relations: &Relations<'_>, root: usize, target: usize, open: &Ways<'_>) -> Failure {
    let name = |table: usize| relations.tables[table].name.as_str();
    let Some(way) = open.way_to(target) else {
        let message = format!("no declared foreign key leads from {} to {}, and no join", name(root), name(target));
        return Failure::new(FailureCode::NoJoin, message)
            .advise("write the join as SQL for execute_sql, or ask for each table alone");
    };
    let between: Vec<&str> = way.steps.iter().map(|step| name(step.to)).filter(|to| *to != name(target)).collect();
    let (root, target, between) = (name(root), name(target), between.join(", "));
    let message = format!("no key leads from {root} to {target}: they only have {between} in common");
    Failure::new(FailureCode::NoJoin, message).advise(match relations.choice {
        Choice::Dimension => format!("take another dimension, or a metric over {target}"),
        Choice::Via => format!(
            "name the tables by which they are to be joined: by {between} every row of {root} meets every row of {target} that \
             has the same"
        ),
    })
}

/// One table is on two ways that cannot both be taken.
fn explain_conflict(relations: &Relations<'_>, table: usize) -> Failure {
    let message = format!("{} is reached by two ways at once", relations.tables[table].name);
    Failure::new(FailureCode::NoJoin, message)
        .advise("name the tables by which they are to be joined, or ask for each table alone")
}

/// Several ways that are as good lead to a table.
fn ambiguous(relations: &Relations<'_>, first: &KeyStep, second: &KeyStep) -> Failure {
    let name = |table: usize| &relations.tables[table].name;
    let shown = |step: &KeyStep| {
        let (from, to) = &step.pairs[0];
        match step.refers {
            true => format!("{}.{from} = {}.{to}", name(step.from), name(step.to)),
            false => format!("{}.{to} = {}.{from}", name(step.to), name(step.from)),
        }
    };
    let message = format!("{} can be reached by several keys", name(first.to));
    let choice = relations.choice.describe();
    Failure::new(FailureCode::AmbiguousJoin, message).advise(format!("{choice}: {} or {}", shown(first), shown(second)))
}
