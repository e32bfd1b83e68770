//! Join paths along declared foreign keys and joins.

use std::collections::BTreeSet;

use prospector_connect::table::joins::{KeyGraph, KeyStep, Mention, Ways};

use super::{Choice, Relations};
use crate::{Failure, FailureCode};

/// A sequence of joined tables.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Tree {
    pub(crate) steps: Vec<KeyStep>,
}

impl Tree {
    /// Returns a table whose join repeats the rows of `table`.
    pub(crate) fn repeats(&self, table: usize) -> Option<usize> {
        let path = self.path(table);
        self.steps.iter().find_map(|step| match path.contains(&step.to) {
            true => (!step.from_one).then_some(step.from),
            false => (!step.to_one).then_some(step.to),
        })
    }

    /// Returns whether the joins keep every row of `table`: each table on the path references the one before it with non-null
    /// columns.
    pub(super) fn keeps(&self, relations: &Relations<'_>, table: usize) -> bool {
        let path = self.path(table);
        let is_set = |step: &KeyStep| {
            let mut columns = step.pairs.iter().map(|(_, to)| relations.tables[step.to].column(to));
            columns.all(|column| column.is_some_and(|column| column.primary_key || !column.nullable))
        };
        self.steps.iter().filter(|step| path.contains(&step.to)).all(|step| !step.refers && is_set(step))
    }

    /// Returns the table and those that are joined only through it.
    pub(super) fn beyond(&self, table: usize) -> BTreeSet<usize> {
        let mut beyond = BTreeSet::from([table]);
        for step in &self.steps {
            if beyond.contains(&step.from) {
                beyond.insert(step.to);
            }
        }
        beyond
    }

    /// Returns the table and those through which it is joined.
    pub(crate) fn path(&self, table: usize) -> BTreeSet<usize> {
        let mut path = BTreeSet::from([table]);
        for step in self.steps.iter().rev() {
            if path.contains(&step.to) {
                path.insert(step.from);
            }
        }
        path
    }
}

/// Joins the required tables to `root` by the paths that pass through tables of the query, repeat the fewest rows, and are
/// shortest. `via` lists key columns, `table.column`, to prefer where there are several.
///
/// # Errors
/// - If there is no path.
/// - If several paths are equally good.
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

/// Explains that a table is unreachable, or only reachable through tables that must be named.
fn explain_no_way(relations: &Relations<'_>, root: usize, target: usize, open: &Ways<'_>) -> Failure {
    let name = |table: usize| relations.tables[table].name.as_str();
    let Some(way) = open.way_to(target) else {
        let message = format!("no declared foreign key or join connects {} to {}", name(root), name(target));
        return Failure::new(FailureCode::NoJoin, message)
            .advise("write the join as SQL for execute_sql, or query each table separately");
    };
    let between: Vec<&str> = way.steps.iter().map(|step| name(step.to)).filter(|to| *to != name(target)).collect();
    let (root, target, between) = (name(root), name(target), between.join(", "));
    let message = format!("no key connects {root} to {target} directly: they only share {between}");
    Failure::new(FailureCode::NoJoin, message).advise(match relations.choice {
        Choice::Dimension => format!("use another dimension, or a metric over {target}"),
        Choice::Via => format!(
            "name the tables to join through: joined by {between}, every row of {root} matches every row of {target} that \
             shares its value"
        ),
    })
}

/// Explains that two paths that cannot be combined pass through one table.
fn explain_conflict(relations: &Relations<'_>, table: usize) -> Failure {
    let message = format!("{} is connected by two conflicting join paths", relations.tables[table].name);
    Failure::new(FailureCode::NoJoin, message).advise("name the tables to join through, or query each table separately")
}

/// Explains that several equally good paths lead to a table.
fn ambiguous(relations: &Relations<'_>, first: &KeyStep, second: &KeyStep) -> Failure {
    let name = |table: usize| &relations.tables[table].name;
    let shown = |step: &KeyStep| {
        let (from, to) = &step.pairs[0];
        match step.refers {
            true => format!("{}.{from} = {}.{to}", name(step.from), name(step.to)),
            false => format!("{}.{to} = {}.{from}", name(step.to), name(step.from)),
        }
    };
    let message = format!("{} can be joined by several keys", name(first.to));
    let choice = relations.choice.describe();
    Failure::new(FailureCode::AmbiguousJoin, message).advise(format!("{choice}: {} or {}", shown(first), shown(second)))
}
