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
    /// The aliases of which each row is in one row of the result at most, and how many rows they have.
    pub sizes: Vec<(String, usize)>,
}

/// A column of a [`Combination`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CombinedColumn {
    /// What it is called now.
    pub name: String,
    /// Whether it is a group of the finest of what is combined.
    pub is_key: bool,
    /// What it is called in each of what it is from.
    pub from: Vec<KeptColumn>,
}

/// A column of what was kept under an alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptColumn {
    /// The alias.
    pub alias: String,
    /// The name of the column there.
    pub column: String,
}

impl KeptColumn {
    fn new(alias: &str, column: &str) -> Self {
        KeptColumn { alias: alias.to_owned(), column: column.to_owned() }
    }
}

impl CombinedColumn {
    /// Whether it is from that column of what is kept under the alias.
    pub fn is_from(&self, alias: &str, column: &str) -> bool {
        self.from.iter().any(|from| from.alias.eq_ignore_ascii_case(alias) && from.column.eq_ignore_ascii_case(column))
    }
}

impl Engine {
    /// The query that puts rows that were kept side by side: those with the same groups in one row, also where only one has
    /// them; to each of these the row of what has fewer groups, or a single row. Groups are the same where they have one name;
    /// where `equal` says of two columns that they are, rows without a partner are left out.
    ///
    /// # Errors
    /// An alias that is not there, or rows that no group connects.
    pub fn combine(&self, aliases: &[String], equal: &[(KeptColumn, KeptColumn)]) -> Result<Combination, Failure> {
        let mut parts: Vec<Part> = aliases.iter().map(|alias| self.part(alias)).collect::<Result<_, _>>()?;
        let equal: Vec<(KeptColumn, KeptColumn)> = equal
            .iter()
            .filter_map(|(one, other)| Some((find_kept(&parts, one)?, find_kept(&parts, other)?)))
            .collect();
        find_paired_keys(&mut parts, &equal)?;
        find_keys(&mut parts)?;
        // The finest groups come first; what is a single row, last.
        parts.sort_by_key(|part| std::cmp::Reverse(part.keys.len()));
        let joined = Joined::of(&parts, &equal)?;
        let columns = joined.columns(&parts);
        let quote = |name: &str| native::quote(Dialect::Joined, name);
        let list: Vec<String> =
            columns.iter().map(|(value, column)| format!("{value} AS {}", quote(&column.name))).collect();
        let groups = columns.iter().filter(|(_, column)| column.is_key).count();
        let order: Vec<String> = (1..=groups).map(|at| at.to_string()).collect();
        let mut sql = format!("SELECT {}\nFROM {}", list.join(", "), joined.sql);
        if !order.is_empty() {
            sql += &format!("\nORDER BY {}", order.join(", "));
        }
        let columns: Vec<CombinedColumn> = columns.into_iter().map(|(_, column)| column).collect();
        let names = columns.iter().map(|column| column.name.clone()).collect();
        let is_whole = |at: &usize| *at == 0 || joined.same.iter().any(|same| same.at == *at && same.is_whole);
        let sizes =
            (0..parts.len()).filter(is_whole).map(|at| (parts[at].alias().to_owned(), parts[at].rows())).collect();
        Ok(Combination { query: CompiledQuery { sql, database: None, columns: names, groups }, columns, sizes })
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

    fn alias(&self) -> &str {
        &self.subset.table.name
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
        self.columns().filter(|name| !self.keys.contains(name))
    }
}

/// Parts behind one another, each joined with the first by its own groups.
struct Joined {
    /// What stands behind `FROM`; the parts are `j0`, `j1` and so on.
    sql: String,
    same: Vec<Same>,
}

/// A column of the first part, and the one of another part that it is the same as.
struct Same {
    own: String,
    /// The place of the other part, and its column.
    at: usize,
    column: String,
    /// Whether each row of the other part meets one of the first at most.
    is_whole: bool,
}

impl Joined {
    /// Joins the parts, of which the first has the finest groups.
    fn of(parts: &[Part], equal: &[(KeptColumn, KeptColumn)]) -> Result<Self, Failure> {
        let Some((base, others)) = parts.split_first() else {
            return Err(Failure::new(FailureCode::InvalidArguments, "there is nothing to combine"));
        };
        let quote = |name: &str| native::quote(Dialect::Joined, name);
        let place = |part: &Part| format!("{SCOPED}.{}", quote(part.alias()));
        let mut joined = Joined { sql: format!("{} AS j0", place(base)), same: Vec::new() };
        for (at, other) in others.iter().enumerate() {
            let at = at + 1;
            if other.keys.is_empty() && other.rows() <= 1 {
                joined.sql += &format!("\nCROSS JOIN {} AS j{at}", place(other));
                continue;
            }
            let matched: Option<Vec<String>> =
                other.keys.iter().map(|key| find_same(parts, equal, other, key)).collect();
            let matched = matched.filter(|matched| !matched.is_empty()).ok_or_else(|| not_connected(base, other))?;
            let on: Vec<String> = (matched.iter().zip(&other.keys))
                .map(|(own, key)| format!("{} = j{at}.{}", joined.write(own), quote(key)))
                .collect();
            let is_whole = matched.len() == base.keys.len() && base.keys.iter().all(|key| matched.contains(key));
            let is_compared = other.keys.iter().any(|key| {
                let mut sides = equal.iter().flat_map(|(one, other)| [one, other]);
                sides.any(|side| side.alias == other.alias() && side.column == *key)
            });
            let join = match (is_compared, is_whole) {
                (true, _) => "JOIN",
                (false, true) => "FULL JOIN",
                (false, false) => "LEFT JOIN",
            };
            joined.sql += &format!("\n{join} {} AS j{at} ON {}", place(other), on.join(" AND "));
            let same = matched.into_iter().zip(other.keys.iter().cloned());
            joined.same.extend(same.map(|(own, column)| Same { own, at, column, is_whole }));
        }
        Ok(joined)
    }

    /// A column of the first part, or what others have in its place where the first has no row.
    fn write(&self, own: &str) -> String {
        let quote = |name: &str| native::quote(Dialect::Joined, name);
        let of_others = self.same.iter().filter(|same| same.own == own && same.is_whole);
        let mut each = vec![format!("j0.{}", quote(own))];
        each.extend(of_others.map(|same| format!("j{}.{}", same.at, quote(&same.column))));
        match each.as_slice() {
            [only] => only.clone(),
            several => format!("COALESCE({})", several.join(", ")),
        }
    }

    /// The columns, the groups of the first part in front, each with its SQL.
    fn columns(&self, parts: &[Part]) -> Vec<(String, CombinedColumn)> {
        let Some(base) = parts.first() else { return Vec::new() };
        let quote = |name: &str| native::quote(Dialect::Joined, name);
        let from = |own: &String| -> Vec<KeptColumn> {
            let others = self.same.iter().filter(|same| same.own == *own);
            let others = others.map(|same| KeptColumn::new(parts[same.at].alias(), &same.column));
            [KeptColumn::new(base.alias(), own)].into_iter().chain(others).collect()
        };
        let key = |key: &String| (self.write(key), CombinedColumn { name: key.clone(), is_key: true, from: from(key) });
        let mut columns: Vec<(String, CombinedColumn)> = base.keys.iter().map(key).collect();
        for (at, part) in parts.iter().enumerate() {
            for name in part.values() {
                let count = parts.iter().filter(|other| other.values().any(|other| other == name)).count();
                let is_taken = count > 1 || base.keys.contains(name);
                let own = if is_taken { format!("{}_{name}", part.alias()) } else { name.clone() };
                let from = if at == 0 { from(name) } else { vec![KeptColumn::new(part.alias(), name)] };
                columns.push((format!("j{at}.{}", quote(name)), CombinedColumn { name: own, is_key: false, from }));
            }
        }
        columns
    }
}

/// The column of the first part that is the same as a group of another: by what is said to be equal, or by its name where both
/// are grouped by it.
fn find_same(parts: &[Part], equal: &[(KeptColumn, KeptColumn)], of: &Part, key: &str) -> Option<String> {
    let base = parts.first()?;
    let mut known = vec![KeptColumn::new(of.alias(), key)];
    let mut next = 0;
    while let Some(one) = known.get(next).cloned() {
        if one.alias == base.alias() {
            return Some(one.column);
        }
        let said = equal.iter().flat_map(|(left, right)| [(left, right), (right, left)]);
        let said = said.filter(|(from, _)| **from == one).map(|(_, to)| to.clone());
        let is_grouped = |part: &&Part| part.keys.contains(&one.column);
        let is_key = parts.iter().filter(is_grouped).any(|part| part.alias() == one.alias);
        let named = parts.iter().filter(|_| is_key).filter(is_grouped);
        let named = named.map(|part| KeptColumn::new(part.alias(), &one.column));
        let found: Vec<KeptColumn> = said.chain(named).filter(|other| !known.contains(other)).collect();
        known.extend(found);
        next += 1;
    }
    None
}

/// The column as it is kept; none where there is no such part or column.
fn find_kept(parts: &[Part], named: &KeptColumn) -> Option<KeptColumn> {
    let part = parts.iter().find(|part| part.alias().eq_ignore_ascii_case(&named.alias))?;
    let column = part.columns().find(|column| column.eq_ignore_ascii_case(&named.column))?;
    Some(KeptColumn::new(part.alias(), column))
}

/// A list of rows has the columns that are said to be equal to others for its keys, where no two rows have the same. A single row
/// stands beside all others, and is compared with them.
fn find_paired_keys(parts: &mut [Part], equal: &[(KeptColumn, KeptColumn)]) -> Result<(), Failure> {
    for part in parts.iter_mut().filter(|part| part.keys.is_empty() && part.rows() > 1) {
        let sides = equal.iter().flat_map(|(one, other)| [one, other]);
        let mut keys: Vec<String> =
            sides.filter(|side| side.alias == part.alias()).map(|side| side.column.clone()).collect();
        keys.sort();
        keys.dedup();
        if !keys.is_empty() && part.tells_apart(&keys)? {
            part.keys = keys;
        }
    }
    Ok(())
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

fn not_connected(base: &Part, other: &Part) -> Failure {
    let told = |part: &Part| match part.keys.as_slice() {
        [] => format!("{} is a list of rows", part.subset.table.name),
        keys => format!("{} is grouped by {}", part.subset.table.name, keys.join(", ")),
    };
    Failure::new(FailureCode::NoJoin, format!("{}, and {}", told(base), told(other)))
        .advise(
            "group both by the same, or one of them by fewer of the same; columns that are called otherwise are made equal in \
             `filter`, as `step_1_results.channel = step_2_results.source`",
        )
}
