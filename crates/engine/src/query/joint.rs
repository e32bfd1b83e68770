//! Tables of several databases, and what was loaded, as one set of relations.

use prospector_connect::table::joins::Mention;
use prospector_connect::table::{ForeignKey, Table};

use super::aggregate::NamedJoin;
use crate::Dialect;
use crate::build::{Choice, Relations};
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
    // What was kept may have less rows than the tables that it leads to: without need, nothing is joined by way of it.
    let mention = |member: &Member<'_>| if member.source.is_some() { Mention::Named } else { Mention::Unnamed };
    let mut relations = Relations {
        tables: tables.into(),
        dialect: Dialect::Joined,
        owners: Some(owners),
        mentions: members.iter().map(mention).collect(),
        choice: Choice::Columns,
    };
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

#[cfg(test)]
mod tests {
    use prospector_connect::table::Column;

    use super::*;
    use crate::build::join_tables;

    fn table(name: &str, columns: &[&str], foreign_keys: Vec<ForeignKey>) -> Table {
        let column =
            |(at, name): (usize, &&str)| Column { name: (*name).to_owned(), primary_key: at == 0, ..Column::default() };
        let columns = columns.iter().enumerate().map(column).collect();
        Table { name: name.to_owned(), columns, foreign_keys, ..Table::default() }
    }

    fn join(from: (&str, &str), to: (&str, &str)) -> NamedJoin {
        let owned = |text: &str| text.to_owned();
        NamedJoin { from: owned(from.0), columns: vec![owned(from.1)], to: owned(to.0), references: vec![owned(to.1)] }
    }

    /// Orders that refer to people by a declared key, and the joins.
    fn relations(joins: &[NamedJoin]) -> Relations<'static> {
        let key = ForeignKey { columns: vec!["buyer".into()], table: "people".into(), references: vec!["id".into()] };
        let tables = vec![table("orders", &["id", "buyer", "seller"], vec![key]), table("people", &["id"], Vec::new())];
        let mut relations = Relations {
            tables: tables.into(),
            dialect: Dialect::Sqlite,
            owners: None,
            mentions: Vec::new(),
            choice: Choice::Columns,
        };
        let own = |name: &str| name.strip_prefix("shop.").unwrap_or_default().to_owned();
        add_joins(&mut relations, joins, &own);
        relations
    }

    #[test]
    fn a_join_that_says_what_a_key_says_is_no_other_way() {
        let again = [
            join(("shop.orders", "BUYER"), ("shop.people", "id")),
            join(("shop.people", "id"), ("shop.orders", "buyer")),
            join(("crm.orders", "seller"), ("shop.people", "id")),
            join(("shop.orders", "salesman"), ("shop.people", "id")),
        ];
        let relations = relations(&again);
        assert_eq!(relations.tables[0].foreign_keys.len(), 1);
        let tree = join_tables(&relations, 0, &[1], &[]).unwrap();
        assert_eq!(tree.steps[0].pairs, [("buyer".to_owned(), "id".to_owned())]);
    }

    #[test]
    fn a_key_and_another_join_have_to_be_chosen_between() {
        let relations = relations(&[join(("shop.orders", "seller"), ("shop.people", "id"))]);
        let refused = join_tables(&relations, 0, &[1], &[]).unwrap_err();
        assert_eq!(refused.code.as_str(), "ambiguous_join");
        let advice = refused.suggestion.unwrap_or_default();
        assert!(advice.contains("orders.buyer = people.id") && advice.contains("orders.seller"), "{advice}");
        assert!(advice.contains("`columns`") && !advice.contains("`via`"), "{advice}");
        let tree = join_tables(&relations, 0, &[1], &["orders.seller".to_owned()]).unwrap();
        assert_eq!(tree.steps[0].pairs[0].0, "seller");
    }
}
