//! Joins of two tables that reference the same rows of others. No key connects them directly; the shared references
//! identify matching rows if their combination is unique in one of the tables.

use std::{collections::HashSet, time::Duration};

use prospector_connect::Connector;
use prospector_connect::table::Table;
use serde_json::Value;

use crate::joins::references;

/// Maximum number of shared references considered.
const MAX_REFERENCES: usize = 6;
const MAX_COLUMNS: usize = 4;

/// Maximum and minimum number of rows read to check whether references are unique.
const MAX_ROWS: usize = 20_000;
const MIN_ROWS: usize = 20;

/// A column of each of two tables that references the same column of a third.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedReference {
    pub(crate) columns: [String; 2],
    /// The referenced table.
    pub(crate) parent: String,
}

/// References whose combination is unique in one of two tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedKey {
    pub(crate) references: Vec<SharedReference>,
    /// Index of the table in which they are unique.
    pub(crate) unique_in: usize,
    /// The number of rows that were checked; `None` if the primary key guarantees it.
    pub(crate) rows: Option<usize>,
}

/// Returns the shared references of two tables. For a table referenced in several roles, columns of the same name are
/// paired.
fn find_references(tables: [&Table; 2]) -> Vec<SharedReference> {
    let [ours, theirs] = tables.map(|table| references(table).collect::<Vec<_>>());
    let mut shared: Vec<SharedReference> = Vec::new();
    for (own, parent, referenced) in &ours {
        let is_same = |(_, other, column): &&(&str, &str, &str)| other == parent && column == referenced;
        let others: Vec<&str> = theirs.iter().filter(is_same).map(|(column, ..)| *column).collect();
        let has_roles = ours.iter().filter(is_same).count() > 1 || others.len() > 1;
        let other = others.iter().find(|other| other.eq_ignore_ascii_case(own));
        let other = other.or(others.first().filter(|_| !has_roles));
        if let Some(other) = other
            && tables.iter().all(|table| table.name != *parent)
            && !shared.iter().any(|known| known.columns[0] == *own)
        {
            shared.push(SharedReference {
                columns: [(*own).to_owned(), (*other).to_owned()],
                parent: (*parent).to_owned(),
            });
        }
    }
    shared.truncate(MAX_REFERENCES);
    shared
}

/// Whether two tables share enough references to join on them.
pub(crate) fn may_join(tables: [&Table; 2]) -> bool {
    find_references(tables).len() >= 2
}

/// Returns the smallest set of shared references that is unique in one of two tables: by its primary key, or by the rows
/// that can be read within `wait`.
pub(crate) async fn find(connector: Option<&dyn Connector>, tables: [&Table; 2], wait: Duration) -> Option<SharedKey> {
    let shared = find_references(tables);
    if shared.len() < 2 {
        return None;
    }
    if let Some(declared) = find_declared(tables, &shared) {
        return Some(declared);
    }
    tokio::time::timeout(wait, measure(connector?, tables, &shared)).await.ok().flatten()
}

fn find_declared(tables: [&Table; 2], shared: &[SharedReference]) -> Option<SharedKey> {
    (0..2).find_map(|side| {
        let mut key = tables[side].columns.iter().filter(|column| column.primary_key).peekable();
        key.peek()?;
        let of = |name: &String| shared.iter().find(|reference| reference.columns[side] == *name).cloned();
        let references: Vec<SharedReference> = key.map(|column| of(&column.name)).collect::<Option<_>>()?;
        Some(SharedKey { references, unique_in: side, rows: None })
    })
}

async fn measure(connector: &dyn Connector, tables: [&Table; 2], shared: &[SharedReference]) -> Option<SharedKey> {
    let mut best: Option<SharedKey> = None;
    for (side, table) in tables.into_iter().enumerate() {
        let columns: Vec<String> = shared.iter().map(|reference| reference.columns[side].clone()).collect();
        let rows = connector.rows(&table.name, &columns, &[], MAX_ROWS).await.ok()?.rows;
        let fewest = best.as_ref().map_or(MAX_COLUMNS, |key| key.references.len() - 1);
        if let Some(places) = smallest_key(&rows, columns.len(), fewest) {
            let references = places.iter().map(|at| shared[*at].clone()).collect();
            best = Some(SharedKey { references, unique_in: side, rows: Some(rows.len()) });
        }
    }
    best
}

/// Returns the positions of the smallest set of at least two columns whose combined values are unique.
fn smallest_key(rows: &[Vec<Value>], columns: usize, most: usize) -> Option<Vec<usize>> {
    let sets = (2..=most.min(columns)).flat_map(|size| {
        let all = 0_usize..1 << columns;
        all.filter(move |set| set.count_ones() as usize == size)
    });
    let places = |set: usize| -> Vec<usize> { (0..columns).filter(|at| set & (1 << at) != 0).collect() };
    sets.map(places).find(|places| is_unique(rows, places))
}

fn is_unique(rows: &[Vec<Value>], places: &[usize]) -> bool {
    let mut seen = HashSet::new();
    for row in rows {
        let values: Option<Vec<&Value>> =
            places.iter().map(|at| row.get(*at).filter(|value| !value.is_null())).collect();
        // A row with a null reference joins to nothing.
        let Some(values) = values else { continue };
        if !seen.insert(format!("{values:?}")) {
            return false;
        }
    }
    seen.len() >= MIN_ROWS
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Fake, key, table};

    /// Results and laps of drivers in races; the two references are not the primary key of either.
    fn racing() -> Vec<Table> {
        let mut tables = vec![
            table("results", &["race_id*", "place*", "driver_id", "team_id"]),
            table("laps", &["race_id", "driver_id", "team_id", "time"]),
        ];
        for table in &mut tables {
            table.foreign_keys =
                vec![key("race_id", "races", "id"), key("driver_id", "drivers", "id"), key("team_id", "teams", "id")];
        }
        tables
    }

    async fn find_in(tables: &[Table], rows: Option<Vec<Vec<Value>>>) -> Option<(Vec<String>, usize, Option<usize>)> {
        let fake =
            rows.map(|rows| Fake::new(tables.to_vec()).with_rows("results", rows.clone()).with_rows("laps", rows));
        let connector = fake.as_ref().map(|fake| fake as &dyn Connector);
        let found = find(connector, [&tables[0], &tables[1]], Duration::from_secs(60)).await?;
        let columns = found.references.iter().map(|reference| reference.columns[0].clone()).collect();
        Some((columns, found.unique_in, found.rows))
    }

    #[tokio::test]
    async fn finds_the_smallest_unique_references() {
        let rows = (0..30).map(|n| vec![json!(n / 3), json!(n % 3), json!(n % 2)]).collect();
        let expected = (vec!["race_id".to_owned(), "driver_id".to_owned()], 0, Some(30));
        assert_eq!(find_in(&racing(), Some(rows)).await, Some(expected));
    }

    #[tokio::test]
    async fn offers_no_references_that_repeat_or_cannot_be_read() {
        let repeated = (0..30).map(|n| vec![json!(n % 3), json!(n % 3), json!(1)]).collect();
        assert_eq!(find_in(&racing(), Some(repeated)).await, None);
        let few = (0..3).map(|n| vec![json!(n), json!(n), json!(n)]).collect();
        assert_eq!(find_in(&racing(), Some(few)).await, None);
        assert_eq!(find_in(&racing(), None).await, None);
        let mut apart = racing();
        apart[1].foreign_keys.truncate(1);
        assert_eq!(find_in(&apart, None).await, None);
    }

    #[tokio::test]
    async fn a_primary_key_of_references_needs_no_rows() {
        let mut tables = racing();
        tables[1].columns[..2].iter_mut().for_each(|column| column.primary_key = true);
        let expected = (vec!["race_id".to_owned(), "driver_id".to_owned()], 1, None);
        assert_eq!(find_in(&tables, None).await, Some(expected));
    }

    #[test]
    fn roles_are_matched_by_their_names() {
        let mut tables = [table("games", &["home_id", "away_id", "day_id"]), table("bets", &["away_id", "day_id"])];
        tables[0].foreign_keys =
            vec![key("home_id", "teams", "id"), key("away_id", "teams", "id"), key("day_id", "days", "id")];
        tables[1].foreign_keys = vec![key("away_id", "teams", "id"), key("day_id", "days", "id")];
        let shared = find_references([&tables[0], &tables[1]]);
        let columns: Vec<&str> = shared.iter().map(|reference| reference.columns[0].as_str()).collect();
        assert_eq!(columns, ["away_id", "day_id"]);
    }
}
