//! Undeclared keys of a database that declares none, verified by the values of their columns.

use std::{cmp::Reverse, collections::BTreeMap, time::Duration};

use prospector_connect::{Connector, table::Table};
use tokio::time::Instant;

use crate::{
    SchemaDiscovery,
    joins::{InferredJoins, JoinEnd, KeyJoin, KeyNature},
    key_match::{self, Extent},
    likely_keys,
};

/// Maximum number of tables whose columns are compared.
const MAX_TABLES: usize = 100;

/// Maximum number of pairs of columns whose values are read, and the time limit for all of them.
const MAX_CANDIDATES: usize = 500;
const MAX_TIME: Duration = Duration::from_secs(30);

/// Maximum number of rows of a referenced table: its values are unique if all of them are.
const MAX_ROWS: u64 = 1_000_000;

/// How much is read of each pair.
const EXTENT: Extent = Extent { rows: 10_000, keys: 1_000, wait: Duration::from_secs(5) };

/// Minimum percentage of values that occur in the referenced column.
const MIN_MATCHING: u8 = 95;

/// A pair of columns, by the positions of their tables.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    from: (usize, String),
    to: (usize, String),
}

impl SchemaDiscovery {
    /// Finds keys in the values of a database that declares none: columns of likely names whose values occur in a column of
    /// another table that is unique and has no nulls. Returns `None` if the database declares keys, has fewer than two
    /// tables, has no rows, or bills their reading by volume.
    pub async fn infer_joins(&self, database: &str) -> Option<InferredJoins> {
        let known = self.find(database)?;
        let connector = known.free_rows()?;
        let tables = &known.database.tables;
        let shown: Vec<usize> = known.representatives().collect();
        if shown.len() < 2 || tables.iter().any(|table| !table.foreign_keys.is_empty()) {
            return None;
        }
        let (candidates, mut is_complete) = list_candidates(tables, &shown);
        let end = Instant::now() + MAX_TIME;
        let Ok((unique, are_all)) = tokio::time::timeout_at(end, find_unique(connector, tables, &candidates)).await
        else {
            return Some(InferredJoins { joins: Vec::new(), is_complete: false });
        };
        is_complete &= are_all;
        let mut verified: Vec<(Candidate, u8)> = Vec::new();
        for candidate in candidates.into_iter().filter(|candidate| unique.contains(&candidate.to)) {
            let (from, to) = (join_end(tables, &candidate.from), join_end(tables, &candidate.to));
            let Ok(share) = tokio::time::timeout_at(end, key_match::measure(connector, &from, &to, EXTENT)).await
            else {
                is_complete = false;
                break;
            };
            verified.extend(share.filter(|share| *share >= MIN_MATCHING).map(|share| (candidate, share)));
        }
        Some(InferredJoins { joins: select(tables, verified), is_complete })
    }
}

fn join_end(tables: &[Table], (table, column): &(usize, String)) -> JoinEnd {
    JoinEnd::new(&tables[*table].name, column)
}

/// Returns the pairs of columns to compare, and whether these are all.
fn list_candidates(tables: &[Table], shown: &[usize]) -> (Vec<Candidate>, bool) {
    let compared = &shown[..shown.len().min(MAX_TABLES)];
    let mut candidates = Vec::new();
    for (at, &a) in compared.iter().enumerate() {
        for &b in &compared[at + 1..] {
            for key in likely_keys::candidates(&tables[a], &tables[b]) {
                let (from, to) = if key.is_reversed { (b, a) } else { (a, b) };
                candidates.push(Candidate { from: (from, key.from), to: (to, key.to) });
            }
        }
    }
    let is_complete = compared.len() == shown.len() && candidates.len() <= MAX_CANDIDATES;
    candidates.truncate(MAX_CANDIDATES);
    (candidates, is_complete)
}

/// Returns the referenced columns that are unique and have no nulls, and whether all of them were measured.
async fn find_unique(
    connector: &dyn Connector,
    tables: &[Table],
    candidates: &[Candidate],
) -> (Vec<(usize, String)>, bool) {
    let mut wanted: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for Candidate { to: (table, column), .. } in candidates {
        let columns = wanted.entry(*table).or_default();
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    let (mut unique, mut are_all) = (Vec::new(), true);
    for (at, columns) in wanted {
        let table = &tables[at];
        let Some(rows) = table.row_count.filter(|rows| *rows <= MAX_ROWS && !table.row_count_estimated) else {
            are_all = false;
            continue;
        };
        let read = tokio::time::timeout(EXTENT.wait, connector.statistics(&table.name, &columns)).await;
        let Ok(Ok(statistics)) = read else {
            are_all = false;
            continue;
        };
        let is_unique = |column: &String| {
            let measured = statistics.iter().find(|measured| measured.column == *column);
            measured.is_some_and(|one| !one.estimated && one.nulls == 0 && one.cardinality == rows)
        };
        unique.extend(columns.into_iter().filter(is_unique).map(|column| (at, column)));
    }
    (unique, are_all)
}

/// Selects one join per referencing column, one key per referenced table, and one direction of a one-to-one join. Keys by
/// their names and higher match rates are preferred.
fn select(tables: &[Table], mut verified: Vec<(Candidate, u8)>) -> Vec<KeyJoin> {
    verified.sort_by_key(|(Candidate { to, .. }, matching)| {
        (Reverse(likely_keys::is_own_key(&tables[to.0], &to.1)), Reverse(*matching))
    });
    let mut selected: Vec<(Candidate, u8)> = Vec::new();
    for (join, matching) in verified {
        let excludes = |(known, _): &(Candidate, u8)| {
            let is_reverse = known.from == join.to && known.to == join.from;
            let is_other_key = known.to.0 == join.to.0 && known.to.1 != join.to.1;
            known.from == join.from || is_reverse || is_other_key
        };
        if !selected.iter().any(excludes) {
            selected.push((join, matching));
        }
    }
    selected.sort_by_key(|(join, _)| (join.from.0, join.to.0));
    let join = |(join, matching): (Candidate, u8)| KeyJoin {
        pairs: vec![(join_end(tables, &join.from), join_end(tables, &join.to))],
        nature: KeyNature::Inferred { matching: Some(matching) },
    };
    selected.into_iter().map(join).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use prospector_connect::source::SourceKind;
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        Database, Entry,
        testing::{Fake, key, table},
    };

    /// A table with this number of rows.
    fn rows(count: u64, mut table: Table) -> Table {
        table.row_count = Some(count);
        table
    }

    fn discovery(tables: Vec<Table>, fake: Fake) -> SchemaDiscovery {
        let database = Database { tables, ..Database::new("shop", SourceKind::Csv) };
        SchemaDiscovery::new(vec![Entry { database, connector: Some(Arc::new(fake)) }])
    }

    async fn infer(tables: Vec<Table>, fake: Fake) -> Vec<String> {
        let found = discovery(tables, fake).infer_joins("shop").await.unwrap();
        assert!(found.is_complete);
        found.joins.iter().map(ToString::to_string).collect()
    }

    fn numbers(values: std::ops::Range<u64>) -> Vec<Value> {
        values.map(Value::from).collect()
    }

    #[tokio::test]
    async fn keys_are_columns_whose_values_occur_in_a_unique_column() {
        let tables = || {
            vec![
                rows(20, table("customers", &["id", "name"])),
                rows(40, table("orders", &["id", "customer_id", "branch_id"])),
                rows(5, table("branches", &["branch_id"])),
            ]
        };
        let fake = |branches: u64| {
            Fake::new(tables())
                .holding("customers", "id", numbers(0..20))
                .holding("orders", "id", numbers(0..40))
                .holding("orders", "customer_id", numbers(0..20))
                .holding("orders", "branch_id", numbers(0..10))
                .holding("branches", "branch_id", numbers(0..branches))
        };
        // Half of the branches are unknown.
        let customers = "orders.customer_id = customers.id (inferred, 100 % match)";
        assert_eq!(infer(tables(), fake(5)).await, [customers]);
        let mut known = tables();
        known[2].row_count = Some(10);
        let branches = "orders.branch_id = branches.branch_id (inferred, 100 % match)";
        assert_eq!(infer(known.clone(), fake(10)).await, [customers, branches]);
        // A value of the referenced column repeats.
        known[0].row_count = Some(21);
        assert_eq!(infer(known, fake(10)).await, [branches]);
    }

    #[tokio::test]
    async fn a_column_refers_to_the_table_that_it_is_named_after() {
        let tables = vec![
            rows(4, table("grades", &["student_no", "grade"])),
            rows(4, table("students", &["student_no", "name"])),
            rows(4, table("addresses", &["student_no", "city"])),
        ];
        let mut fake = Fake::new(tables.clone());
        for name in ["grades", "students", "addresses"] {
            fake = fake.holding(name, "student_no", numbers(0..4));
        }
        let expected = ["grades", "addresses"]
            .map(|name| format!("{name}.student_no = students.student_no (inferred, 100 % match)"));
        assert_eq!(infer(tables, fake).await, expected);
    }

    #[tokio::test]
    async fn tables_beyond_the_limits_are_reported() {
        let tables = vec![rows(9, table("a", &["id", "b_id"])), rows(MAX_ROWS + 1, table("b", &["id"]))];
        let fake = Fake::new(tables.clone()).holding("a", "b_id", numbers(0..9)).holding("b", "id", numbers(0..9));
        let found = discovery(tables, fake).infer_joins("shop").await.unwrap();
        assert_eq!(found, InferredJoins { joins: Vec::new(), is_complete: false });
    }

    #[tokio::test]
    async fn only_databases_without_declared_keys_are_examined() {
        let mut tables = vec![rows(3, table("a", &["id", "b_id"])), rows(3, table("b", &["id"]))];
        assert_eq!(infer(tables.clone(), Fake::new(tables.clone())).await, [""; 0]);
        let without_rows = discovery(tables.clone(), Fake::new(tables.clone()).without_data());
        assert_eq!(without_rows.infer_joins("shop").await, None);
        let single = discovery(tables[..1].to_vec(), Fake::new(Vec::new()));
        assert_eq!(single.infer_joins("shop").await, None);
        tables[0].foreign_keys = vec![key("b_id", "b", "id")];
        let declared = discovery(tables.clone(), Fake::new(tables).holding("b", "id", vec![json!(1)]));
        assert_eq!(declared.infer_joins("shop").await, None);
    }
}
