//! Resolution of declared foreign keys to the exact names of existing tables and columns.

use std::collections::HashMap;

use prospector_core::Problem;

use crate::table::{ForeignKey, Table};

/// Why a declared key is skipped.
#[derive(Debug, thiserror::Error)]
enum KeyError {
    #[error("a foreign key refers to the table {0}, which does not exist")]
    UnknownTable(String),
    #[error("a foreign key names the column {column} of {table}, which does not exist")]
    UnknownColumn { table: String, column: String },
    #[error("a foreign key refers to the primary key of {table}, which has {has} columns, not {wanted}")]
    PrimaryKey { table: String, has: usize, wanted: usize },
    #[error("a foreign key has {columns} columns but refers to {references}")]
    Widths { columns: usize, references: usize },
}

/// Resolves the foreign keys to exact names; keys without columns refer to the primary key. Keys with unknown references
/// are skipped and reported.
pub(crate) fn resolve(tables: &mut [Table], place: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let names = Names::new(tables);
    let resolved: Vec<Vec<ForeignKey>> = tables
        .iter()
        .map(|table| {
            let mut keys: Vec<ForeignKey> = Vec::new();
            for key in &table.foreign_keys {
                match resolve_key(table, key, tables, &names) {
                    // Dumps may declare a key twice: inside the table and after it.
                    Ok(key) if keys.contains(&key) => {}
                    Ok(key) => keys.push(key),
                    Err(error) => problems.push(
                        Problem::warning(format!("{place}: {}", table.name), error.to_string())
                            .advise("the foreign key is skipped"),
                    ),
                }
            }
            keys
        })
        .collect();
    for (table, keys) in tables.iter_mut().zip(resolved) {
        table.foreign_keys = keys;
    }
    problems
}

fn resolve_key(from: &Table, key: &ForeignKey, tables: &[Table], names: &Names) -> Result<ForeignKey, KeyError> {
    let Some(to) = names.find(&key.table, &from.name).map(|index| &tables[index]) else {
        return Err(KeyError::UnknownTable(key.table.clone()));
    };
    let references = if key.references.is_empty() {
        let primary: Vec<String> = to.columns.iter().filter(|c| c.primary_key).map(|c| c.name.clone()).collect();
        if primary.len() != key.columns.len() {
            return Err(KeyError::PrimaryKey { table: to.name.clone(), has: primary.len(), wanted: key.columns.len() });
        }
        primary
    } else {
        spell_columns(to, &key.references)?
    };
    let columns = spell_columns(from, &key.columns)?;
    if columns.len() != references.len() {
        return Err(KeyError::Widths { columns: columns.len(), references: references.len() });
    }
    Ok(ForeignKey { columns, table: to.name.clone(), references })
}

fn spell_columns(table: &Table, columns: &[String]) -> Result<Vec<String>, KeyError> {
    columns
        .iter()
        .map(|name| match table.columns.iter().find(|c| c.name == *name).or_else(|| table.column(name)) {
            Some(column) => Ok(column.name.clone()),
            None => Err(KeyError::UnknownColumn { table: table.name.clone(), column: name.clone() }),
        })
        .collect()
}

/// Index of tables by name, case-insensitive and with optional schema.
#[derive(Default)]
pub(crate) struct Names {
    exact: HashMap<String, usize>,
    folded: HashMap<String, usize>,
    /// By name without schema; `None` if ambiguous.
    bare: HashMap<String, Option<usize>>,
}

impl Names {
    fn new(tables: &[Table]) -> Names {
        let mut names = Names::default();
        for (index, table) in tables.iter().enumerate() {
            names.add(&table.name, index);
        }
        names
    }

    pub(crate) fn add(&mut self, name: &str, index: usize) {
        self.exact.entry(name.to_owned()).or_insert(index);
        let folded = name.to_lowercase();
        if let Some((_, bare)) = folded.rsplit_once('.') {
            self.bare.entry(bare.to_owned()).and_modify(|known| *known = None).or_insert(Some(index));
        }
        self.folded.entry(folded).or_insert(index);
    }

    /// Returns the table that `name` refers to in a statement about the table `beside`.
    pub(crate) fn find(&self, name: &str, beside: &str) -> Option<usize> {
        if let Some(index) = self.exact.get(name) {
            return Some(*index);
        }
        let name = name.to_lowercase();
        let sibling = beside.rsplit_once('.').map(|(schema, _)| format!("{}.{name}", schema.to_lowercase()));
        sibling
            .and_then(|sibling| self.folded.get(&sibling))
            .or_else(|| self.folded.get(&name))
            .or_else(|| self.bare.get(&name).and_then(Option::as_ref))
            .copied()
    }

    /// Whether a table of exactly that name exists.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.exact.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    fn table(name: &str, columns: &[&str], keys: &[(&str, &str, &str)]) -> Table {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        Table {
            name: name.into(),
            columns: columns
                .iter()
                .map(|c| Column {
                    name: c.trim_end_matches('*').into(),
                    primary_key: c.ends_with('*'),
                    ..Column::default()
                })
                .collect(),
            foreign_keys: keys
                .iter()
                .map(|(columns, table, references)| ForeignKey {
                    columns: words(columns),
                    table: (*table).into(),
                    references: words(references),
                })
                .collect(),
            ..Table::default()
        }
    }

    fn check(mut tables: Vec<Table>, keys: &[&str], problems: &[&str]) {
        let found = resolve(&mut tables, "x.sql");
        let written: Vec<String> = tables
            .iter()
            .flat_map(|t| t.foreign_keys.iter().map(move |key| (t, key)))
            .map(|(t, key)| format!("{}.{:?} -> {}.{:?}", t.name, key.columns, key.table, key.references))
            .collect();
        assert_eq!(written, keys);
        assert_eq!(found.len(), problems.len(), "{found:?}");
        for (problem, part) in found.iter().zip(problems) {
            assert!(problem.reason.contains(part), "{problem}");
        }
    }

    #[test]
    fn a_key_without_columns_refers_to_the_primary_key() {
        check(
            vec![table("Artist", &["Id*", "name"], &[]), table("album", &["artist"], &[("ARTIST", "artist", "")])],
            &[r#"album.["artist"] -> Artist.["Id"]"#],
            &[],
        );
    }

    #[test]
    fn skips_keys_with_unknown_targets() {
        check(
            vec![table(
                "a",
                &["x", "y*", "z*"],
                &[("x", "gone", "id"), ("x", "a", ""), ("x", "a", "gone"), ("gone", "a", "x"), ("x y", "a", "x")],
            )],
            &[],
            &[
                "table gone",
                "has 2 columns, not 1",
                "column gone of a",
                "column gone of a",
                "2 columns but refers to 1",
            ],
        );
    }

    #[test]
    fn keys_prefer_tables_of_their_own_schema() {
        check(
            vec![
                table("one.t", &["id*"], &[]),
                table("two.t", &["id*"], &[]),
                table("two.u", &["t"], &[("t", "t", "id"), ("t", "t", "id")]),
                table("three.v", &["u"], &[("u", "u", "t"), ("u", "t", "id")]),
            ],
            &[r#"two.u.["t"] -> two.t.["id"]"#, r#"three.v.["u"] -> two.u.["t"]"#],
            &["table t,"],
        );
    }
}
