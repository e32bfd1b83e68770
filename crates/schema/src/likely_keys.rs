//! Inference of undeclared keys from column names.
//!
//! `customer_id` refers to the table of customers; without such a table, to the one table whose primary key has that
//! name; otherwise the few tables with such a column join on it. Only names are compared, which is sufficient for finding
//! tables, but not for joining them unverified: `inferred_joins` compares their values.

use std::collections::{BTreeSet, HashMap};

use prospector_connect::table::{Column, ColumnType, Table};
use prospector_text::{
    identifiers::{self, KEY_WORDS},
    stem::{snowball, strip_plural},
};

use crate::families::Families;

/// Maximum number of tables that share a column without an owner; more share a word rather than a key.
const MAX_SHARING: usize = 5;

/// Maximum number of columns of a table that name the same other one; more are a list rather than roles.
const MAX_ROLES: usize = 3;

/// Returns for each table the tables that its columns seem to reference or be referenced by. Date-sharded tables are
/// represented by the displayed one.
pub(crate) fn neighbours(tables: &[Table], families: &Families) -> Vec<BTreeSet<usize>> {
    let mut by_name: HashMap<String, usize> = HashMap::new();
    let shown = || tables.iter().enumerate().filter(|(at, _)| families.is_shown(*at));
    for (at, table) in shown() {
        let words = words(&table.name);
        // `dim_customer` is also a table of customers, unless another one has that name.
        for from in 0..words.len() {
            by_name.entry(words[from..].concat()).or_insert(at);
        }
    }
    let mut sharing: HashMap<String, Vec<usize>> = HashMap::new();
    let mut owners: HashMap<String, Vec<usize>> = HashMap::new();
    let mut named: Vec<(usize, usize)> = Vec::new();
    for (at, table) in shown() {
        let keys = table.columns.iter().filter(|column| column.primary_key).count();
        for column in &table.columns {
            let Some(stem) = key_stem(column).filter(|stem| !stem.is_empty()) else { continue };
            let own = (0..stem.len()).find_map(|from| by_name.get(&stem[from..].concat()));
            match own {
                Some(target) if *target != at => named.push((at, *target)),
                _ => {
                    let name = words(&column.name).concat();
                    if column.primary_key && keys == 1 || own == Some(&at) {
                        owners.entry(name.clone()).or_default().push(at);
                    }
                    sharing.entry(name).or_default().push(at);
                }
            }
        }
    }
    let mut neighbours = vec![BTreeSet::new(); tables.len()];
    let mut join = |a: usize, b: usize| {
        if a != b {
            neighbours[a].insert(b);
            neighbours[b].insert(a);
        }
    };
    for (from, to) in named {
        join(from, to);
    }
    for (name, tables) in &sharing {
        match owners.get(name).map(Vec::as_slice) {
            Some([owner]) => tables.iter().for_each(|table| join(*owner, *table)),
            _ if tables.len() <= MAX_SHARING => {
                for (at, a) in tables.iter().enumerate() {
                    tables[at + 1..].iter().for_each(|b| join(*a, *b));
                }
            }
            _ => {}
        }
    }
    neighbours
}

/// An inferred key between two tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LikelyKey {
    /// Whether the second table references the first.
    pub(crate) is_reversed: bool,
    /// The referencing column.
    pub(crate) from: String,
    /// The column of the other table.
    pub(crate) to: String,
}

/// Returns the inferred keys between two tables: columns that name the other table with its primary key, or one key
/// column of the same name.
pub(crate) fn columns(a: &Table, b: &Table) -> Vec<LikelyKey> {
    let by_name = |column: &Column, target: &[String]| {
        key_stem(column).is_some_and(|stem| !stem.is_empty() && target.ends_with(&stem))
    };
    // `start_station_id` and `end_station_id` each name a station.
    let by_role = |column: &Column, target: &[String]| key_stem(column).is_some_and(|stem| stem.ends_with(target));
    let naming = either_way(a, b, &by_name).map_or_else(|| in_roles(a, b, &by_role), |key| vec![key]);
    if !naming.is_empty() {
        return naming;
    }
    let mut shared =
        a.columns.iter().filter(|column| is_key(column)).filter_map(|column| Some((column, b.column(&column.name)?)));
    let (Some((ours, theirs)), None) = (shared.next(), shared.next()) else { return Vec::new() };
    // The table whose primary key it is, is the referenced one.
    let is_reversed = ours.primary_key && !theirs.primary_key;
    let (from, to) = if is_reversed { (theirs, ours) } else { (ours, theirs) };
    vec![LikelyKey { is_reversed, from: from.name.clone(), to: to.name.clone() }]
}

/// Returns the pairs of columns that may be keys between two tables, for a comparison of their values: the inferred keys,
/// columns whose names end with that of the other table (`home_depot` and `depots.depot_code`), and keys and texts of the
/// same name and type, in both directions.
pub(crate) fn candidates(a: &Table, b: &Table) -> Vec<LikelyKey> {
    let mut found = columns(a, b);
    found.extend(in_roles(a, b, &|column, target| !target.is_empty() && words(&column.name).ends_with(target)));
    for ours in &a.columns {
        let Some(theirs) = b.column(&ours.name).filter(|theirs| theirs.column_type == ours.column_type) else {
            continue;
        };
        if !is_key(ours) && ours.column_type != ColumnType::Text {
            continue;
        }
        for (is_reversed, owner, from, to) in [(false, a, ours, theirs), (true, b, theirs, ours)] {
            if !names_own_rows(owner, from) {
                found.push(LikelyKey { is_reversed, from: from.name.clone(), to: to.name.clone() });
            }
        }
    }
    let mut candidates: Vec<LikelyKey> = Vec::new();
    for key in found {
        if !candidates.contains(&key) {
            candidates.push(key);
        }
    }
    candidates
}

/// Whether a column is the key of its table, declared or by its name.
pub(crate) fn is_own_key(table: &Table, column: &str) -> bool {
    own_key(table, &words(&table.name)).is_some_and(|key| key.name == column)
}

/// Whether a column has the name of a key of something: `customer_no`, but not `id`.
fn is_key(column: &Column) -> bool {
    key_stem(column).is_some_and(|stem| !stem.is_empty())
}

/// Whether the name of a key says that it identifies the rows of its own table: `customer_no` of `customers`.
fn names_own_rows(table: &Table, column: &Column) -> bool {
    key_stem(column).is_some_and(|stem| !stem.is_empty() && words(&table.name).ends_with(&stem))
}

/// Returns a key from a column that has the name of the other table and the type of its primary key: `flights.airline`
/// and `airlines.uid`. This is weaker evidence, so the match rate decides.
pub(crate) fn named_after(a: &Table, b: &Table) -> Option<LikelyKey> {
    either_way(a, b, &|column, target| words(&column.name) == target)
}

/// Returns the only column of a table that names the other, with the primary key of that table.
fn either_way(a: &Table, b: &Table, names: &dyn Fn(&Column, &[String]) -> bool) -> Option<LikelyKey> {
    [naming(a, b, false, names), naming(b, a, true, names)]
        .into_iter()
        .find_map(|keys| <[_; 1]>::try_from(keys).ok())
        .map(|[key]| key)
}

/// Returns the columns of a table that name the other in several roles, each with the primary key of that table.
fn in_roles(a: &Table, b: &Table, names: &dyn Fn(&Column, &[String]) -> bool) -> Vec<LikelyKey> {
    let found = [naming(a, b, false, names), naming(b, a, true, names)];
    found.into_iter().find(|keys| (1..=MAX_ROLES).contains(&keys.len())).unwrap_or_default()
}

/// Returns the columns of one table that name the other and have the type of its primary key, if that is one column.
fn naming(from: &Table, to: &Table, is_reversed: bool, names: &dyn Fn(&Column, &[String]) -> bool) -> Vec<LikelyKey> {
    let target = words(&to.name);
    let Some(key) = own_key(to, &target) else { return Vec::new() };
    let of_type = from.columns.iter().filter(|column| column.column_type == key.column_type);
    let naming = of_type.filter(|column| names(column, &target));
    naming.map(|column| LikelyKey { is_reversed, from: column.name.clone(), to: key.name.clone() }).collect()
}

/// Returns the only column of the primary key. A table without one, such as a file, has the key that is named after it, `airport_id` of
/// `airports`, or else the one that is only a key, `id`.
fn own_key<'t>(table: &'t Table, name: &[String]) -> Option<&'t Column> {
    let mut keys = table.columns.iter().filter(|column| column.primary_key).peekable();
    if keys.peek().is_some() {
        return keys.next().filter(|_| keys.next().is_none());
    }
    key_named(table, name).or_else(|| key_named(table, &[]))
}

/// Returns the only column whose name is these words and that of a key.
fn key_named<'t>(table: &'t Table, stem: &[String]) -> Option<&'t Column> {
    let is_named = |column: &&Column| key_stem(column).is_some_and(|own| own == stem);
    let mut named = table.columns.iter().filter(is_named);
    named.next().filter(|_| named.next().is_none())
}

/// Returns the words of a column named like a key, without the last: `start` and `station` of `start_station_id`.
fn key_stem(column: &Column) -> Option<Vec<String>> {
    let mut words = words(&column.name);
    words.pop_if(|last| KEY_WORDS.contains(&last.as_str()))?;
    Some(words)
}

/// Returns the stems of the words of an identifier, and words of keys in lower case and singular.
fn words(name: &str) -> Vec<String> {
    let stem = |word: String| {
        let singular = strip_plural(word);
        if KEY_WORDS.contains(&singular.as_str()) { singular } else { snowball(&singular) }
    };
    name.split(|c: char| !c.is_alphanumeric()).flat_map(identifiers::split).map(stem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::table;

    #[track_caller]
    fn check(tables: &[Table], at: usize, expected: &[usize]) {
        let found: Vec<usize> = neighbours(tables, &Families::default())[at].iter().copied().collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn infers_keys_from_column_names() {
        let tables = [
            table("Customers", &["id", "name"]),
            table("orders", &["order_id", "CustomerId", "total"]),
            table("dim_region", &["region_key"]),
            table("fact_sales", &["region_key", "customer_id", "name"]),
        ];
        check(&tables, 0, &[1, 3]);
        check(&tables, 3, &[0, 2]);
    }

    #[test]
    fn infers_keys_from_columns_named_after_tables() {
        let (flights, airlines) =
            (table("flights", &["Airline", "flight_no"]), table("airlines", &["uid*", "Airline TEXT"]));
        let key = |is_reversed| LikelyKey { is_reversed, from: "Airline".into(), to: "uid".into() };
        assert_eq!(named_after(&flights, &airlines), Some(key(false)));
        assert_eq!(named_after(&airlines, &flights), Some(key(true)));
        assert_eq!(columns(&flights, &airlines), []);
    }

    #[test]
    fn a_table_may_refer_to_another_in_several_roles() {
        let (trips, stations) = (
            table("trip", &["id*", "start_station_id", "end_station_id", "zip_code"]),
            table("station", &["id*", "name"]),
        );
        let key = |from: &str| LikelyKey { is_reversed: false, from: from.into(), to: "id".into() };
        assert_eq!(columns(&trips, &stations), [key("start_station_id"), key("end_station_id")]);
        // A file has no primary key, but a column that is named after it.
        let (routes, airports) = (
            table("routes", &["airline_id", "source_airport_id", "destination_airport_id", "source_airport TEXT"]),
            table("airports", &["airport_id", "name TEXT"]),
        );
        let key = |from: &str, is_reversed| LikelyKey { is_reversed, from: from.into(), to: "airport_id".into() };
        let expected = |is_reversed| ["source_airport_id", "destination_airport_id"].map(|from| key(from, is_reversed));
        assert_eq!(columns(&routes, &airports), expected(false));
        assert_eq!(columns(&airports, &routes), expected(true));
        let weather = table("weather", &["date", "zip_code"]);
        assert_eq!(columns(&trips, &weather).len(), 1);
    }

    #[test]
    fn a_file_may_have_a_key_that_is_only_called_id() {
        let (orders, customers) = (table("orders", &["id", "customer_id"]), table("customers", &["id", "name TEXT"]));
        let key = LikelyKey { is_reversed: false, from: "customer_id".into(), to: "id".into() };
        assert_eq!(columns(&orders, &customers), [key]);
        assert!(is_own_key(&customers, "id") && !is_own_key(&orders, "customer_id"));
        let (products, categories) = (table("products", &["id", "category_id"]), table("categories", &["id"]));
        assert_eq!(columns(&products, &categories).len(), 1);
    }

    #[test]
    fn candidates_are_keys_and_texts_of_the_same_name_and_columns_named_after_tables() {
        let text = |mut table: Table| {
            table.columns.iter_mut().filter(|column| column.data_type == "TEXT").for_each(|column| {
                column.column_type = ColumnType::Text;
            });
            table
        };
        let depots = text(table("depots", &["depot_code TEXT", "region TEXT", "id"]));
        let drivers = text(table("drivers", &["driver_no TEXT", "home_depot TEXT", "region TEXT", "id"]));
        let key = |is_reversed, from: &str, to: &str| LikelyKey { is_reversed, from: from.into(), to: to.into() };
        let expected =
            [key(false, "home_depot", "depot_code"), key(false, "region", "region"), key(true, "region", "region")];
        assert_eq!(candidates(&drivers, &depots), expected);
        // `customer_no` identifies customers, so it refers to no other table.
        let (customers, orders) =
            (table("customers", &["customer_no", "vat_no"]), table("orders", &["customer_no", "vat_no"]));
        let expected =
            [key(true, "customer_no", "customer_no"), key(false, "vat_no", "vat_no"), key(true, "vat_no", "vat_no")];
        assert_eq!(candidates(&customers, &orders), expected);
    }

    #[test]
    fn few_tables_with_the_same_key_are_joined_and_many_are_not() {
        let few: Vec<Table> = (0..3).map(|at| table(&format!("t{at}"), &["cost_center_code", "note"])).collect();
        check(&few, 0, &[1, 2]);
        let many: Vec<Table> = (0..9).map(|at| table(&format!("t{at}"), &["cost_center_code", "note"])).collect();
        check(&many, 0, &[]);
        let mut owned = many;
        owned[4].columns[0].primary_key = true;
        check(&owned, 0, &[4]);
    }
}
