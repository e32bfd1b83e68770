//! The join graph of a database: tables and the declared keys between them, in both directions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use prospector_connect::sql::Dialect;
use prospector_connect::table::joins::KeyGraph;
use prospector_connect::table::{ForeignKey, Table};
use serde::{Serialize, Serializer};

use crate::{
    families::Families,
    likely_keys::{self, LikelyKey},
};

/// Maximum number of tables of a bridge; longer ones are not obvious and not proposed.
const MAX_BRIDGE: usize = 2;

/// Maximum number of bridge tables proposed for one set of tables.
const MAX_BRIDGES: usize = 4;

/// Two columns that are equal in a join. A key of several columns is several joins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Join {
    /// `table.column`
    pub from: String,
    /// `table.column`
    pub to: String,
}

/// A key between two tables: the pairs of equal columns. In JSON and for models it is one text, `a.x = b.x and a.y =
/// b.y`, followed by ` (1:1)`, ` (n:m)`, ` (shared keys)` or ` (inferred)` if applicable; otherwise many rows of the
/// first table match one of the second.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyJoin {
    /// The pairs of columns.
    pub pairs: Vec<(JoinEnd, JoinEnd)>,
    /// The origin and cardinality of the key.
    pub nature: KeyNature,
}

/// A column of a join, displayed as `table.column`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JoinEnd {
    /// The table, without the database.
    pub table: String,
    /// The column.
    pub column: String,
}

impl JoinEnd {
    pub(crate) fn new(table: &str, column: &str) -> Self {
        JoinEnd { table: table.to_owned(), column: column.to_owned() }
    }
}

impl fmt::Display for JoinEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.table, self.column)
    }
}

/// The certainty of a key, and its cardinality.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum KeyNature {
    /// Declared: each row of the referencing table matches at most one row.
    #[default]
    Declared,
    /// Declared over the whole primary key of both tables: one row matches one.
    OneToOne,
    /// Declared, but the referenced columns are not the whole primary key: several rows may match one, in both
    /// directions.
    Several,
    /// Not declared: both tables reference the same rows of others, in combinations that are unique in one of them.
    Shared,
    /// Not declared, but inferred from column names.
    Inferred {
        /// The percentage of values of the referencing column found in the other, if known.
        matching: Option<u8>,
    },
}

impl fmt::Display for KeyJoin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (from, to)) in self.pairs.iter().enumerate() {
            write!(f, "{}{from} = {to}", if at == 0 { "" } else { " and " })?;
        }
        match self.nature {
            KeyNature::Declared => Ok(()),
            KeyNature::OneToOne => f.write_str(" (1:1)"),
            KeyNature::Several => f.write_str(" (n:m)"),
            KeyNature::Shared => f.write_str(" (shared keys)"),
            KeyNature::Inferred { matching: None } => f.write_str(" (inferred)"),
            KeyNature::Inferred { matching: Some(share) } => write!(f, " (inferred, {share} % match)"),
        }
    }
}

impl KeyJoin {
    /// Iterates over the columns of its pairs.
    pub fn ends(&self) -> impl Iterator<Item = &JoinEnd> {
        self.pairs.iter().flat_map(|(from, to)| [from, to])
    }

    /// Renders the key for a query in this dialect.
    pub fn spell(&self, dialect: Dialect) -> String {
        let end = |end: &JoinEnd| JoinEnd { table: dialect.spell(&end.table), column: dialect.spell(&end.column) };
        let pairs = self.pairs.iter().map(|(from, to)| (end(from), end(to))).collect();
        KeyJoin { pairs, nature: self.nature }.to_string()
    }
}

impl Serialize for KeyJoin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The undeclared keys between the tables of a database, verified by their values.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct InferredJoins {
    /// The joins, each of one column to a unique one.
    pub joins: Vec<KeyJoin>,
    /// Whether all likely columns of all tables were compared within the limits.
    pub is_complete: bool,
}

/// Iterates over the columns of the foreign keys of a table, each with the table and the column that it references.
pub(crate) fn references(table: &Table) -> impl Iterator<Item = (&str, &str, &str)> {
    table.foreign_keys.iter().flat_map(|key| {
        let pairs = key.columns.iter().zip(&key.references);
        pairs.map(move |(own, other)| (own.as_str(), key.table.as_str(), other.as_str()))
    })
}

/// The keys between the tables of one database, by table position.
#[derive(Default)]
pub(crate) struct JoinGraph {
    /// For each table: its neighbours, each with its keys as `(own column, its column)`.
    edges: Vec<BTreeMap<usize, Vec<Key>>>,
    /// The inferred neighbours of tables without declared keys.
    likely: Vec<BTreeSet<usize>>,
    ways: KeyGraph,
}

struct Key {
    columns: Vec<(String, String)>,
    /// Whether the current table declares the key, not the neighbour.
    own: bool,
    nature: KeyNature,
}

/// Returns the cardinality of a key.
fn nature_of(key: &ForeignKey, own: &Table, target: &Table) -> KeyNature {
    let covers = |table: &Table, columns: &[String]| {
        let primary = || table.columns.iter().filter(|column| column.primary_key);
        primary().next().map(|_| primary().all(|column| columns.contains(&column.name)))
    };
    match (covers(own, &key.columns), covers(target, &key.references)) {
        (_, Some(false)) => KeyNature::Several,
        (Some(true), Some(true)) => KeyNature::OneToOne,
        (_, Some(true) | None) => KeyNature::Declared,
    }
}

impl JoinGraph {
    /// Builds the graph of tables whose keys use the exact names of their targets.
    pub(crate) fn new(tables: &[Table], families: &Families) -> Self {
        let mut edges: Vec<BTreeMap<usize, Vec<Key>>> = tables.iter().map(|_| BTreeMap::new()).collect();
        for (from, table) in tables.iter().enumerate() {
            for key in &table.foreign_keys {
                let Some(to) = tables.iter().position(|table| table.name == key.table) else { continue };
                if to == from {
                    continue;
                }
                let columns: Vec<(String, String)> =
                    key.columns.iter().cloned().zip(key.references.iter().cloned()).collect();
                let back = columns.iter().map(|(own, other)| (other.clone(), own.clone())).collect();
                let nature = nature_of(key, table, &tables[to]);
                edges[from].entry(to).or_default().push(Key { columns, own: true, nature });
                edges[to].entry(from).or_default().push(Key { columns: back, own: false, nature });
            }
        }
        JoinGraph { edges, likely: likely_keys::neighbours(tables, families), ways: KeyGraph::new(tables) }
    }

    /// Returns the tables joined by a declared key, or without declared keys, those that column names refer to.
    pub(crate) fn find_related(&self, table: usize) -> Vec<usize> {
        let declared: Vec<usize> = self.edges[table].keys().copied().collect();
        if declared.is_empty() { self.likely[table].iter().copied().collect() } else { declared }
    }

    /// Returns the keys between two tables, from the referencing table: `invoices.customer_id = customers.id`.
    pub(crate) fn keys(&self, a: (usize, &str), b: (usize, &str)) -> Vec<KeyJoin> {
        let keys = self.edges[a.0].get(&b.0).map(Vec::as_slice).unwrap_or_default();
        let join = |key: &Key| {
            let pair = |(own, other): &(String, String)| {
                let (own, other) = (JoinEnd::new(a.1, own), JoinEnd::new(b.1, other));
                if key.own { (own, other) } else { (other, own) }
            };
            KeyJoin { pairs: key.columns.iter().map(pair).collect(), nature: key.nature }
        };
        // A key of a table to itself is an edge in both directions.
        keys.iter().filter(|key| a.0 != b.0 || key.own).map(join).collect()
    }

    /// Returns the inferred keys between two tables without declared ones.
    pub(crate) fn likely_keys(&self, a: (usize, &Table), b: (usize, &Table)) -> Vec<LikelyKey> {
        if self.edges[a.0].contains_key(&b.0) {
            return Vec::new();
        }
        match self.likely[a.0].contains(&b.0) {
            true => likely_keys::columns(a.1, b.1),
            false => likely_keys::named_after(a.1, b.1).into_iter().collect(),
        }
    }

    /// Returns the joins of a path of tables, over the first declared key of each pair.
    pub(crate) fn joins(&self, path: &[usize], tables: &[Table]) -> Vec<Join> {
        let mut joins = Vec::new();
        for step in path.windows(2) {
            let Some(key) = self.edges[step[0]].get(&step[1]).and_then(|keys| keys.first()) else { continue };
            joins.extend(key.columns.iter().map(|(own, other)| Join {
                from: format!("{}.{own}", tables[step[0]].name),
                to: format!("{}.{other}", tables[step[1]].name),
            }));
        }
        joins
    }

    /// Whether a key joins two tables directly.
    pub(crate) fn are_joined(&self, a: usize, b: usize) -> bool {
        self.edges[a].contains_key(&b)
    }

    /// Returns the tables of a path that both neighbours reference: joining over them is a fan-out, where each row
    /// matches every other row of the same parent.
    pub(crate) fn find_shared_parents(&self, path: &[usize]) -> Vec<usize> {
        let refers = |from: usize, to: usize| {
            let first = self.edges[from].get(&to).and_then(|keys| keys.first());
            first.is_some_and(|key| key.own && key.nature != KeyNature::OneToOne)
        };
        let is_shared = |three: &&[usize]| refers(three[0], three[1]) && refers(three[2], three[1]);
        path.windows(3).filter(is_shared).map(|three| three[1]).collect()
    }

    /// Returns the keys of a path beyond the first of each pair of tables.
    pub(crate) fn list_other_keys(&self, path: &[usize], tables: &[Table]) -> Vec<KeyJoin> {
        let others = path.windows(2).flat_map(|step| {
            let ends = [step[0], step[1]].map(|at| (at, tables[at].name.as_str()));
            self.keys(ends[0], ends[1]).into_iter().skip(1)
        });
        others.collect()
    }

    /// Returns the path from one of `from` to one of `to` by which queries are joined.
    pub(crate) fn path(&self, from: &[usize], to: &[usize]) -> Option<Vec<usize>> {
        self.ways.find_path(from, to)
    }

    /// Connects tables over as few others as the best paths allow, nearest tables first. Tables without a short bridge
    /// stay unconnected. Each path starts at a table that is already connected.
    pub(crate) fn connect(&self, tables: &[usize]) -> Vec<Vec<usize>> {
        let mut apart: Vec<usize> = Vec::new();
        for table in tables {
            if !apart.contains(table) {
                apart.push(*table);
            }
        }
        let (mut paths, mut bridges): (Vec<Vec<usize>>, usize) = (Vec::new(), 0);
        while !apart.is_empty() {
            let mut joined = vec![apart.remove(0)];
            while let Some(path) = self.path(&joined, &apart) {
                let between = path.len().saturating_sub(2);
                // The nearest one is too far, so all of them are.
                if between > MAX_BRIDGE || bridges + between > MAX_BRIDGES {
                    break;
                }
                bridges += between;
                apart.retain(|table| Some(table) != path.last());
                joined.extend(&path[1..]);
                paths.push(path);
            }
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{key, shop, table};

    fn at(tables: &[Table], names: &[&str]) -> Vec<usize> {
        names.iter().map(|name| tables.iter().position(|table| table.name == *name).unwrap()).collect()
    }

    fn check(tables: &[Table], wanted: &[&str], paths: &[&[&str]]) {
        let found = JoinGraph::new(tables, &Families::default()).connect(&at(tables, wanted));
        let found: Vec<Vec<&str>> =
            found.iter().map(|path| path.iter().map(|at| tables[*at].name.as_str()).collect()).collect();
        assert_eq!(found, paths);
    }

    #[test]
    fn tables_are_connected_by_the_fewest_others() {
        let shop = shop();
        check(&shop, &["customers", "invoices"], &[&["customers", "invoices"]]);
        check(&shop, &["customers", "lines"], &[&["customers", "invoices", "lines"]]);
        check(&shop, &["customers", "products"], &[&["customers", "invoices", "lines", "products"]]);
        check(
            &shop,
            &["products", "customers", "lines"],
            &[&["products", "lines"], &["lines", "invoices", "customers"]],
        );
        check(&shop, &["customers", "customers"], &[]);
        check(&shop, &["customers", "regions", "invoices"], &[&["customers", "invoices"]]);
    }

    #[test]
    fn lookups_connect_tables_only_as_a_last_resort() {
        let mut tables = vec![
            table("countries", &["code*"]),
            table("customers", &["id*", "country"]),
            table("artists", &["id*", "country"]),
            table("albums", &["id*", "artist_id"]),
            table("reviews", &["id*", "album_id", "customer_id"]),
            table("staff", &["id*", "country"]),
        ];
        for (at, column, target) in [
            (1, "country", 0),
            (2, "country", 0),
            (3, "artist_id", 2),
            (4, "album_id", 3),
            (4, "customer_id", 1),
            (5, "country", 0),
        ] {
            let referenced = if target == 0 { "code" } else { "id" };
            let target = tables[target].name.clone();
            tables[at].foreign_keys.push(key(column, &target, referenced));
        }
        check(&tables, &["customers", "artists"], &[&["customers", "reviews", "albums", "artists"]]);
        check(&tables, &["artists", "customers"], &[&["artists", "albums", "reviews", "customers"]]);
        check(
            &tables,
            &["customers", "countries", "artists"],
            &[&["customers", "countries"], &["countries", "artists"]],
        );
        check(&tables, &["customers", "staff"], &[&["customers", "countries", "staff"]]);
    }

    #[test]
    fn a_bridge_that_is_too_long_is_not_proposed() {
        let mut chain: Vec<Table> = (0..6).map(|n| table(&format!("t{n}"), &["id*", "next"])).collect();
        for (n, table) in chain.iter_mut().enumerate().take(5) {
            table.foreign_keys = vec![key("next", &format!("t{}", n + 1), "id")];
        }
        check(&chain, &["t0", "t3"], &[&["t0", "t1", "t2", "t3"]]);
        check(&chain, &["t0", "t4"], &[]);
        let graph = JoinGraph::new(&chain, &Families::default());
        assert_eq!(graph.path(&[0], &[5]).map(|path| path.len()), Some(6));
        assert_eq!(graph.path(&[3], &[3]), Some(vec![3]));
    }

    #[test]
    fn a_key_of_two_columns_is_one_text_and_two_joins() {
        let mut tables = vec![table("a", &["x", "y"]), table("b", &["x*", "y*"])];
        tables[0].foreign_keys = vec![prospector_connect::table::ForeignKey {
            columns: vec!["x".into(), "y".into()],
            table: "b".into(),
            references: vec!["x".into(), "y".into()],
        }];
        let graph = JoinGraph::new(&tables, &Families::default());
        assert_eq!(graph.keys((1, "b"), (0, "a"))[0].to_string(), "a.x = b.x and a.y = b.y");
        assert_eq!(graph.joins(&[1, 0], &tables)[1], Join { from: "b.y".into(), to: "a.y".into() });
    }

    #[test]
    fn keys_show_their_nature() {
        let mut tables = vec![
            table("votes", &["id*", "state", "contestant_id"]),
            table("areas", &["code*", "state"]),
            table("contestants", &["id*"]),
        ];
        tables[0].foreign_keys = vec![key("state", "areas", "state")];
        let graph = JoinGraph::new(&tables, &Families::default());
        assert_eq!(graph.keys((0, "votes"), (1, "areas"))[0].to_string(), "votes.state = areas.state (n:m)");
        let likely = |a: usize, b: usize| graph.likely_keys((a, &tables[a]), (b, &tables[b]));
        let key = |is_reversed| LikelyKey { is_reversed, from: "contestant_id".into(), to: "id".into() };
        assert_eq!((likely(0, 2), likely(2, 0)), (vec![key(false)], vec![key(true)]));
        assert_eq!(likely(0, 1), []);
    }

    #[test]
    fn finds_shared_parents_of_a_path() {
        let mut tables =
            vec![table("laps", &["driver_id"]), table("drivers", &["id*"]), table("results", &["driver_id"])];
        tables[0].foreign_keys = vec![key("driver_id", "drivers", "id")];
        tables[2].foreign_keys = vec![key("driver_id", "drivers", "id")];
        let graph = JoinGraph::new(&tables, &Families::default());
        assert_eq!(graph.find_shared_parents(&[0, 1, 2]), [1]);
        let shop = shop();
        let graph = JoinGraph::new(&shop, &Families::default());
        assert!(graph.find_shared_parents(&at(&shop, &["customers", "invoices", "lines", "products"])).is_empty());
    }

    #[test]
    fn quotes_names_by_dialect() {
        let pairs = vec![(JoinEnd::new("Order Details", "OrderID"), JoinEnd::new("Orders", "OrderID"))];
        let join = KeyJoin { pairs, nature: KeyNature::Declared };
        assert_eq!(join.spell(Dialect::Sqlite), "\"Order Details\".OrderID = Orders.OrderID");
        assert_eq!(join.spell(Dialect::Mysql), "`Order Details`.OrderID = Orders.OrderID");
        assert_eq!(join.to_string(), "Order Details.OrderID = Orders.OrderID");
    }

    #[test]
    fn a_key_over_both_primary_keys_joins_one_row_to_one() {
        let mut tables = vec![table("people", &["id*"]), table("passports", &["person_id*", "number"])];
        tables[1].foreign_keys = vec![key("person_id", "people", "id")];
        let graph = JoinGraph::new(&tables, &Families::default());
        assert_eq!(graph.keys((1, "passports"), (0, "people"))[0].to_string(), "passports.person_id = people.id (1:1)");
    }
}
