//! Answers that were kept, side by side: rows of the same groups in one row.

use std::sync::Arc;

use super::CompiledQuery;
use crate::scope::{SCOPED, StoredSubset};
use crate::{Dialect, Engine, Failure, FailureCode, native};

/// A query that puts what was kept side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Combination {
    /// The query.
    pub query: CompiledQuery,
    /// Where its columns are from, in order.
    pub columns: Vec<CombinedColumn>,
}

/// A column of a [`Combination`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CombinedColumn {
    /// What it is called now.
    pub name: String,
    /// The alias that it is from; none of what all are grouped by.
    pub alias: Option<String>,
    /// What it is called there.
    pub of: String,
}

impl Engine {
    /// The query that puts rows that were kept side by side: those with the same groups in one row, also where only one has
    /// them; to each of these the row of what has fewer groups, or a single row.
    ///
    /// # Errors
    /// An alias that is not there, or rows that no group connects.
    pub fn combine(&self, aliases: &[String]) -> Result<Combination, Failure> {
        let mut parts: Vec<Part> = aliases.iter().map(|alias| self.part(alias)).collect::<Result<_, _>>()?;
        // The finest groups come first; what is a single row, last.
        parts.sort_by_key(|part| std::cmp::Reverse(part.keys.len()));
        let Some((base, others)) = parts.split_first() else {
            return Err(Failure::new(FailureCode::InvalidArguments, "there is nothing to combine"));
        };
        let quote = |name: &str| native::quote(Dialect::Joined, name);
        let place = |part: &Part| format!("{SCOPED}.{}", quote(&part.subset.table.name));
        let mut from = format!("{} AS j0", place(base));
        // The tables that may have a row for a group.
        let mut whole = vec![0];
        for (at, other) in others.iter().enumerate() {
            let at = at + 1;
            if other.keys.is_empty() && other.rows() <= 1 {
                from += &format!("\nCROSS JOIN {} AS j{at}", place(other));
                continue;
            }
            if other.keys.is_empty() || !other.keys.iter().all(|key| base.keys.contains(key)) {
                return Err(not_connected(base, other));
            }
            let on: Vec<String> = (other.keys.iter())
                .map(|key| format!("{} = j{at}.{}", first_of(&whole, &quote(key)), quote(key)))
                .collect();
            let is_same = other.keys.len() == base.keys.len();
            let join = if is_same { "FULL JOIN" } else { "LEFT JOIN" };
            from += &format!("\n{join} {} AS j{at} ON {}", place(other), on.join(" AND "));
            if is_same {
                whole.push(at);
            }
        }
        let mut list: Vec<String> =
            base.keys.iter().map(|key| format!("{} AS {}", first_of(&whole, &quote(key)), quote(key))).collect();
        let mut columns: Vec<CombinedColumn> =
            base.keys.iter().map(|key| CombinedColumn { name: key.clone(), alias: None, of: key.clone() }).collect();
        for (at, part) in parts.iter().enumerate() {
            for name in part.values() {
                let count = parts.iter().filter(|other| other.values().any(|other| other == name)).count();
                let alias = part.subset.table.name.clone();
                let own = if count > 1 || base.keys.contains(name) { format!("{alias}_{name}") } else { name.clone() };
                list.push(format!("j{at}.{} AS {}", quote(name), quote(&own)));
                columns.push(CombinedColumn { name: own, alias: Some(alias), of: name.clone() });
            }
        }
        let order: Vec<String> = (1..=base.keys.len()).map(|at| at.to_string()).collect();
        let mut sql = format!("SELECT {}\nFROM {from}", list.join(", "));
        if !order.is_empty() {
            sql += &format!("\nORDER BY {}", order.join(", "));
        }
        let names = columns.iter().map(|column| column.name.clone()).collect();
        let query = CompiledQuery { sql, database: None, columns: names, groups: base.keys.len() };
        Ok(Combination { query, columns })
    }

    fn part(&self, alias: &str) -> Result<Part, Failure> {
        let subset = self.subset(alias).ok_or_else(|| {
            Failure::new(FailureCode::UnknownTable, format!("nothing is kept under `{alias}`"))
                .advise("name an output of an earlier step")
        })?;
        let keys = subset.table.columns.iter().filter(|column| column.primary_key);
        Ok(Part { keys: keys.map(|column| column.name.clone()).collect(), subset })
    }
}

/// Something that was kept, and what it is grouped by.
struct Part {
    subset: Arc<StoredSubset>,
    keys: Vec<String>,
}

impl Part {
    fn rows(&self) -> usize {
        self.subset.batch.num_rows()
    }

    /// The columns that are no groups.
    fn values(&self) -> impl Iterator<Item = &String> {
        self.subset.table.columns.iter().map(|column| &column.name).filter(|name| !self.keys.contains(name))
    }
}

/// The group of the first table that has one.
fn first_of(tables: &[usize], column: &str) -> String {
    let each: Vec<String> = tables.iter().map(|at| format!("j{at}.{column}")).collect();
    match each.as_slice() {
        [only] => only.clone(),
        several => format!("COALESCE({})", several.join(", ")),
    }
}

fn not_connected(base: &Part, other: &Part) -> Failure {
    let told = |part: &Part| match part.keys.as_slice() {
        [] => format!("{} is a list of rows", part.subset.table.name),
        keys => format!("{} is grouped by {}", part.subset.table.name, keys.join(", ")),
    };
    Failure::new(FailureCode::NoJoin, format!("{}, and {}", told(base), told(other)))
        .advise("group both by the same, or one of them by fewer of the same")
}
