//! Answers that were kept, side by side: rows of the same groups in one row.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

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
        find_keys(&mut parts)?;
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

    fn columns(&self) -> impl Iterator<Item = &String> {
        self.subset.table.columns.iter().map(|column| &column.name)
    }

    /// Whether no two rows have the same in these columns, and all have something.
    fn tells_apart(&self, names: &[String]) -> Result<bool, Failure> {
        let options = FormatOptions::new().with_null("");
        let places = names.iter().filter_map(|name| self.columns().position(|known| known == name));
        let columns = places.map(|at| ArrayFormatter::try_new(self.subset.batch.column(at), &options));
        let columns: Vec<ArrayFormatter<'_>> =
            columns.collect::<Result<_, _>>().map_err(|error| Failure::new(FailureCode::Failed, error.to_string()))?;
        let mut known = HashSet::new();
        Ok((0..self.rows()).all(|row| {
            let key: Vec<String> = columns.iter().map(|column| column.value(row).to_string()).collect();
            key.iter().all(|part| !part.is_empty()) && known.insert(key)
        }))
    }

    /// The columns that are no groups.
    fn values(&self) -> impl Iterator<Item = &String> {
        self.subset.table.columns.iter().map(|column| &column.name).filter(|name| !self.keys.contains(name))
    }
}

/// A list of rows has the groups of another for its keys where it has these columns and no two rows with the same; two lists, the
/// first column that both have so.
fn find_keys(parts: &mut [Part]) -> Result<(), Failure> {
    let known: Vec<Vec<String>> = parts.iter().map(|part| part.keys.clone()).filter(|keys| !keys.is_empty()).collect();
    let shared: Vec<Vec<String>> = match parts {
        [one, other] if known.is_empty() => one
            .columns()
            .filter(|name| other.columns().any(|known| known == *name))
            .map(|name| vec![name.clone()])
            .collect(),
        _ => known,
    };
    for keys in shared {
        let is_list = |part: &Part| part.keys.is_empty() && part.rows() > 1;
        let lists: Vec<usize> = (0..parts.len()).filter(|at| is_list(&parts[*at])).collect();
        let tells = |at: &usize| -> Result<bool, Failure> {
            let has_all = keys.iter().all(|key| parts[*at].columns().any(|name| name == key));
            Ok(has_all && parts[*at].tells_apart(&keys)?)
        };
        let fitting: Vec<usize> = lists
            .iter()
            .copied()
            .map(|at| tells(&at).map(|tells| tells.then_some(at)))
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect();
        // Of two lists, both need the key.
        if parts.iter().all(|part| part.keys.is_empty()) && fitting.len() < lists.len() {
            continue;
        }
        for at in fitting {
            parts[at].keys.clone_from(&keys);
        }
    }
    Ok(())
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
