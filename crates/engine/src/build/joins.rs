//! Which tables are joined, along declared foreign keys and joins.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use super::Relations;
use crate::{Failure, FailureCode};

/// What a step costs that finds one row at most, and one that may find several.
const TO_ONE: usize = 10;
const TO_MANY: usize = 100;

/// One table joined to another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    /// The table that is there already.
    pub(crate) from: usize,
    /// The one that is joined.
    pub(crate) to: usize,
    /// The columns that are equal, of `from` and of `to`.
    pub(crate) pairs: Vec<(String, String)>,
    /// Whether each row of `from` meets one of `to` at most, and the other way round.
    forth: bool,
    back: bool,
}

/// Tables joined one after another.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Tree {
    pub(crate) steps: Vec<Step>,
}

impl Tree {
    /// A table because of which the rows of `table` are there more than once.
    pub(crate) fn repeats(&self, table: usize) -> Option<usize> {
        let mut path = BTreeSet::from([table]);
        for step in self.steps.iter().rev() {
            if path.contains(&step.to) {
                path.insert(step.from);
            }
        }
        self.steps.iter().find_map(|step| match path.contains(&step.to) {
            true => (!step.back).then_some(step.from),
            false => (!step.forth).then_some(step.to),
        })
    }
}

/// Every declared key, as a step either way.
fn steps(relations: &Relations<'_>) -> HashMap<usize, Vec<Step>> {
    let places: HashMap<&str, usize> =
        relations.tables.iter().enumerate().map(|(at, table)| (table.name.as_str(), at)).collect();
    let mut all: HashMap<usize, Vec<Step>> = HashMap::new();
    for (from, table) in relations.tables.iter().enumerate() {
        let own: Vec<&str> = table.columns.iter().filter(|c| c.primary_key).map(|c| c.name.as_str()).collect();
        for key in &table.foreign_keys {
            let Some(&to) = places.get(key.table.as_str()).filter(|to| **to != from) else { continue };
            let pairs: Vec<(String, String)> =
                key.columns.iter().cloned().zip(key.references.iter().cloned()).collect();
            let is_unique = !own.is_empty() && own.iter().all(|name| key.columns.iter().any(|column| column == name));
            let swapped = pairs.iter().map(|(a, b)| (b.clone(), a.clone())).collect();
            all.entry(from).or_default().push(Step { from, to, pairs, forth: true, back: is_unique });
            all.entry(to).or_default().push(Step { from: to, to: from, pairs: swapped, forth: is_unique, back: true });
        }
    }
    all
}

/// The tables that are needed, joined to `root` by the ways that repeat the fewest rows, and are the shortest.
///
/// # Errors
/// Where there is no way, or several that are as good.
pub(crate) fn tree(relations: &Relations<'_>, root: usize, needed: &[usize], via: &[String]) -> Result<Tree, Failure> {
    if needed.iter().all(|table| *table == root) {
        return Ok(Tree::default());
    }
    let steps = steps(relations);
    let name = |table: usize| &relations.tables[table].name;
    let is_wanted = |step: &Step| {
        let columns = step
            .pairs
            .iter()
            .flat_map(|(from, to)| [format!("{}.{from}", name(step.from)), format!("{}.{to}", name(step.to))]);
        columns.into_iter().any(|column| via.iter().any(|wanted| wanted.eq_ignore_ascii_case(&column)))
    };
    let mut cost = HashMap::from([(root, 0)]);
    let mut ways: HashMap<usize, Vec<&Step>> = HashMap::new();
    let mut open = BinaryHeap::from([Reverse((0, root))]);
    while let Some(Reverse((so_far, table))) = open.pop() {
        if cost.get(&table).is_some_and(|known| *known < so_far) {
            continue;
        }
        for step in steps.get(&table).into_iter().flatten() {
            let price = match (is_wanted(step), step.forth) {
                (true, _) => 1,
                (false, true) => TO_ONE,
                (false, false) => TO_MANY,
            };
            let total = so_far + price;
            match cost.get(&step.to) {
                Some(known) if *known < total => {}
                Some(known) if *known == total => {
                    let ways = ways.entry(step.to).or_default();
                    // The same columns, declared twice.
                    if !ways.iter().any(|way| way.from == step.from && way.pairs == step.pairs) {
                        ways.push(step);
                    }
                }
                _ => {
                    cost.insert(step.to, total);
                    ways.insert(step.to, vec![step]);
                    open.push(Reverse((total, step.to)));
                }
            }
        }
    }
    let mut joined = BTreeSet::from([root]);
    let mut tree = Tree::default();
    for target in needed {
        let mut path = Vec::new();
        let mut at = *target;
        while !joined.contains(&at) {
            match ways.get(&at).map(Vec::as_slice) {
                Some([step]) => {
                    path.push((*step).clone());
                    at = step.from;
                }
                Some([first, second, ..]) => return Err(ambiguous(relations, first, second)),
                _ => {
                    let message =
                        format!("no declared foreign key leads from {} to {}, and no join", name(root), name(*target));
                    return Err(Failure::new(FailureCode::NoJoin, message)
                        .advise("write the join as SQL for execute_sql, or ask for each table alone"));
                }
            }
        }
        for step in path.into_iter().rev() {
            joined.insert(step.to);
            tree.steps.push(step);
        }
    }
    Ok(tree)
}

/// Several ways that are as good lead to a table.
fn ambiguous(relations: &Relations<'_>, first: &Step, second: &Step) -> Failure {
    let name = |table: usize| &relations.tables[table].name;
    let shown = |step: &Step| {
        let (from, to) = &step.pairs[0];
        format!("{}.{from} = {}.{to}", name(step.from), name(step.to))
    };
    let message = format!("{} can be reached by several keys", name(first.to));
    Failure::new(FailureCode::AmbiguousJoin, message).advise(format!(
        "name the column of one in `via`, of a step in `columns`: {} or {}",
        shown(first),
        shown(second)
    ))
}
