//! Date-sharded tables of one database: `events_20240101`, `events_20240102` and so on.
//!
//! A family is indexed and listed as its latest member, so that a year of days takes one hit instead of all. Every member
//! remains a table of its own that is described, joined and queried like any other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use prospector_connect::table::Table;
use regex::Regex;
use serde::Serialize;

/// Minimum number of tables of a family.
const MIN_MEMBERS: usize = 3;

/// Minimum share of columns, of all that either has, that a member has in common with the latest one.
const MIN_SHARED_COLUMNS: f64 = 0.8;

/// A year, optionally with its quarter, its month, or its month and day.
static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:19|20|21)\d\d(?:[_-]?(?:0[1-9]|1[0-2])(?:[_-]?(?:0[1-9]|[12]\d|3[01]))?|[_-]?[qQ][1-4])?").ok()
});

/// Tables whose names differ only in a date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableFamily {
    /// The name with `*` for the date.
    pub name: String,
    /// The number of tables.
    pub tables: usize,
    /// The earliest table.
    pub first: String,
    /// The latest table.
    pub last: String,
    /// All tables, earliest first.
    #[serde(skip)]
    pub(crate) members: Vec<String>,
}

impl std::fmt::Display for TableFamily {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} tables {}..{}", self.tables, self.first, self.last)
    }
}

/// The families of a database, by table position.
#[derive(Default)]
pub(crate) struct Families {
    by_latest: BTreeMap<usize, TableFamily>,
    /// The latest member for each of the others.
    latest: HashMap<usize, usize>,
}

/// The parts of a table name before and after its date, and the format of the date.
type Pattern<'a> = (&'a str, &'a str, String);

impl Families {
    /// Finds the families among these tables.
    pub(crate) fn new(tables: &[Table]) -> Families {
        let mut candidates: BTreeMap<Pattern<'_>, Vec<(&str, usize)>> = BTreeMap::new();
        for (at, table) in tables.iter().enumerate() {
            if let Some(place) = date(&table.name) {
                let date = &table.name[place.clone()];
                let form = date.replace(|c: char| c.is_ascii_digit(), "0");
                let key = (&table.name[..place.start], &table.name[place.end..], form);
                candidates.entry(key).or_default().push((date, at));
            }
        }
        let mut families = Families::default();
        for ((before, after, _), mut members) in candidates {
            members.sort_unstable();
            let Some(&(_, last)) = members.last() else { continue };
            let columns = column_names(&tables[last]);
            members.retain(|(_, at)| is_similar(&columns, &column_names(&tables[*at])));
            if members.len() < MIN_MEMBERS {
                continue;
            }
            let names: Vec<String> = members.iter().map(|(_, at)| tables[*at].name.clone()).collect();
            let family = TableFamily {
                name: format!("{before}*{after}"),
                tables: names.len(),
                first: names[0].clone(),
                last: tables[last].name.clone(),
                members: names,
            };
            let others = members.iter().map(|(_, at)| *at).filter(|at| *at != last);
            families.latest.extend(others.map(|at| (at, last)));
            families.by_latest.insert(last, family);
        }
        families
    }

    /// Returns the table that represents this one: the latest of its family, or itself.
    pub(crate) fn representative(&self, at: usize) -> usize {
        self.latest.get(&at).copied().unwrap_or(at)
    }

    /// Whether the table is not represented by another one.
    pub(crate) fn is_shown(&self, at: usize) -> bool {
        self.representative(at) == at
    }

    /// Returns the family that a table represents.
    pub(crate) fn family(&self, at: usize) -> Option<&TableFamily> {
        self.by_latest.get(&at)
    }
}

/// Returns the range of the last date in a name.
fn date(name: &str) -> Option<Range<usize>> {
    let is_digit = |at: usize| name.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let whole = |place: &Range<usize>| !is_digit(place.end) && !place.start.checked_sub(1).is_some_and(is_digit);
    DATE.as_ref()?.find_iter(name).map(|found| found.range()).filter(whole).last()
}

fn column_names(table: &Table) -> BTreeSet<String> {
    table.columns.iter().map(|column| column.name.to_lowercase()).collect()
}

fn is_similar(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let shared = one.intersection(other).count();
    let all = one.len() + other.len() - shared;
    shared as f64 >= all as f64 * MIN_SHARED_COLUMNS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::table;

    /// Each table has the columns `id` and `at`, or those after a colon; expected are `name = members`.
    fn check(tables: &[&str], expected: &[&str]) {
        let tables: Vec<Table> = (tables.iter())
            .map(|text| {
                let (name, columns) = text.split_once(':').unwrap_or((text, "id at"));
                table(name, &columns.split(' ').collect::<Vec<_>>())
            })
            .collect();
        let families = Families::new(&tables);
        let found: Vec<String> = (0..tables.len())
            .filter_map(|at| families.family(at))
            .map(|family| format!("{} = {}", family.name, family.members.join(" ")))
            .collect();
        assert_eq!(found, expected);
        let shown = (0..tables.len()).filter(|at| families.is_shown(*at)).count();
        let members: usize =
            (0..tables.len()).filter_map(|at| families.family(at)).map(|family| family.tables - 1).sum();
        assert_eq!(shown + members, tables.len(), "each table is shown, or another for it");
    }

    #[test]
    fn groups_date_sharded_tables() {
        check(
            &["events_20240102", "events_20231231", "users", "events_20240101"],
            &["events_* = events_20231231 events_20240101 events_20240102"],
        );
        check(
            &["sales_2023_01", "sales_2023_02", "sales_2024_01"],
            &["sales_* = sales_2023_01 sales_2023_02 sales_2024_01"],
        );
        check(&["zip2000", "zip2010", "zip2020"], &["zip* = zip2000 zip2010 zip2020"]);
        check(&["q_2023q4_raw", "q_2024q1_raw", "q_2024q2_raw"], &["q_*_raw = q_2023q4_raw q_2024q1_raw q_2024q2_raw"]);
    }

    #[test]
    fn does_not_group_tables_that_differ_otherwise() {
        check(&["sales_2023", "sales_2024"], &[]);
        check(&["part_0001", "part_0002", "part_0003"], &[]);
        check(&["day_20241301", "day_20241302", "day_20241303"], &[]);
        check(&["a_2022", "b_2023", "c_2024"], &[]);
        check(&["log_2022", "log_202301", "log_20240101"], &[]);
        check(&["t_2022:id a", "t_2023:id b", "t_2024:id c"], &[]);
        check(&["t_2021:id a", "t_2022", "t_2023", "t_2024"], &["t_* = t_2022 t_2023 t_2024"]);
    }

    #[test]
    fn the_latest_table_represents_its_family() {
        let tables: Vec<Table> = ["s_2024", "s_2022", "other", "s_2023"].map(|name| table(name, &["id"])).into();
        let families = Families::new(&tables);
        assert_eq!((0..4).map(|at| families.representative(at)).collect::<Vec<_>>(), [0, 0, 2, 0]);
        let family = families.family(0).unwrap();
        assert_eq!(family.to_string(), "3 tables s_2022..s_2024");
    }
}
