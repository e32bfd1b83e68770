//! Tables of several databases, and what was loaded, as one set of relations.

use prospector_connect::table::{ForeignKey, Table};

use super::aggregate::NamedJoin;
use crate::Dialect;
use crate::build::Relations;
use crate::scope::SCOPED;

/// A table that a query names.
pub(super) struct Member<'a> {
    /// The place of its source; none of what was loaded or kept.
    pub(super) source: Option<usize>,
    /// As it is named: `database.table`, or the alias.
    pub(super) full: String,
    pub(super) table: &'a Table,
}

/// The tables under their full names. What one database declares stays; between others, a table leads to the one whose
/// primary key it has all columns of, by their names, unless a join is declared between the two.
pub(super) fn join_members(members: &[Member<'_>], joins: &[NamedJoin]) -> Relations<'static> {
    let mut tables = Vec::new();
    for member in members {
        let mut table = Table { name: member.full.clone(), foreign_keys: Vec::new(), ..member.table.clone() };
        for other in members.iter().filter(|other| other.full != member.full) {
            let is_declared = joins.iter().any(|join| connects(join, &member.full, &other.full));
            if !is_declared || (member.source.is_some() && member.source == other.source) {
                table.foreign_keys.extend(keys_to(member, other));
            }
        }
        tables.push(table);
    }
    let owners = members.iter().map(|member| (member.owner().to_owned(), member.table.name.clone())).collect();
    let mut relations = Relations { tables: tables.into(), dialect: Dialect::Joined, owners: Some(owners) };
    add_joins(&mut relations, joins, &str::to_owned);
    relations
}

/// Adds joins to the keys of the tables that they are between; `name` is what the relations call a `database.table`.
pub(super) fn add_joins(relations: &mut Relations<'_>, joins: &[NamedJoin], name: &dyn Fn(&str) -> String) {
    for join in joins {
        let find = |table: &str| {
            let wanted = name(table);
            relations.tables.iter().position(|known| known.name.eq_ignore_ascii_case(&wanted))
        };
        let (Some(from), Some(to)) = (find(&join.from), find(&join.to)) else { continue };
        let spell = |at: usize, columns: &[String]| -> Option<Vec<String>> {
            columns.iter().map(|column| Some(relations.tables[at].column(column)?.name.clone())).collect()
        };
        let (Some(columns), Some(references)) = (spell(from, &join.columns), spell(to, &join.references)) else {
            continue;
        };
        let key = ForeignKey { columns, table: relations.tables[to].name.clone(), references };
        if !relations.tables[from].foreign_keys.contains(&key) {
            relations.tables.to_mut()[from].foreign_keys.push(key);
        }
    }
}

/// Whether a join is between these tables, whichever of them refers to the other.
fn connects(join: &NamedJoin, one: &str, other: &str) -> bool {
    let is = |from: &str, to: &str| join.from.eq_ignore_ascii_case(from) && join.to.eq_ignore_ascii_case(to);
    is(one, other) || is(other, one)
}

fn keys_to(from: &Member<'_>, to: &Member<'_>) -> Vec<ForeignKey> {
    if from.source.is_some() && from.source == to.source {
        let declared = from.table.foreign_keys.iter().filter(|key| key.table == to.table.name);
        return declared.map(|key| ForeignKey { table: to.full.clone(), ..key.clone() }).collect();
    }
    let columns: Vec<String> =
        to.table.columns.iter().filter(|column| column.primary_key).map(|column| column.name.clone()).collect();
    let own: Option<Vec<String>> =
        columns.iter().map(|name| from.table.column(name).map(|own| own.name.clone())).collect();
    match own {
        Some(own) if !own.is_empty() => vec![ForeignKey { columns: own, table: to.full.clone(), references: columns }],
        _ => Vec::new(),
    }
}

impl Member<'_> {
    /// What stands before the name of the table in a query.
    fn owner(&self) -> &str {
        match self.source {
            Some(_) => self.full.strip_suffix(&format!(".{}", self.table.name)).unwrap_or(&self.full),
            None => SCOPED,
        }
    }
}
