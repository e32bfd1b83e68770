//! Join paths between tables along declared keys: selection of the intended path, and rejection of meaningless ones.
//!
//! A path leads through the tables that a query names; through others only if those do not connect. Many rows of several
//! tables refer to one row of a lookup table, such as a table of countries: it joins everything to everything. A path
//! that crosses a lookup, entering along a key and leaving against one, is invalid unless the query names the lookup, and
//! the last choice otherwise.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::Table;

/// The cost of a key between unnamed tables, followed to the one referenced row, or to the many referencing rows.
const TO_ONE: usize = 10;
const TO_MANY: usize = 100;

/// The role of a table in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Mention {
    /// Not mentioned: it may be passed through.
    #[default]
    Unnamed,
    /// Not mentioned, but its grain is declared in a catalog.
    Declared,
    /// Named by the query without reading its columns: it is there to be passed through.
    Named,
    /// Named by the query, which reads its columns.
    Read,
}

/// A key, followed in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyStep {
    /// The current table, by index.
    pub from: usize,
    /// The table that it leads to, by index.
    pub to: usize,
    /// The equal columns, of `from` and of `to`.
    pub pairs: Vec<(String, String)>,
    /// Whether `from` declares the key.
    pub refers: bool,
    /// Whether each row of `from` matches at most one of `to`.
    pub to_one: bool,
    /// Whether each row of `to` matches at most one of `from`.
    pub from_one: bool,
}

/// The declared keys of tables, as steps in both directions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KeyGraph {
    steps: Vec<Vec<KeyStep>>,
}

/// The best path to a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Way<'g> {
    /// The steps, starting at a root table.
    pub steps: Vec<&'g KeyStep>,
    /// Two equally good last steps to a table on the path, which uses the first.
    pub rivals: Option<(&'g KeyStep, &'g KeyStep)>,
}

/// The cost of a path; fields are compared in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct WayCost {
    /// The cost of its keys to or from unnamed tables.
    unnamed: usize,
    /// The number of lookups it crosses.
    crossed: usize,
    /// The number of tables it enters by another key than the chosen one.
    unchosen: usize,
    /// The number of tables on it without a declared grain.
    undeclared: usize,
    /// The cost of its keys between named tables; nearly zero if one of them is there to be passed through.
    named: usize,
}

impl WayCost {
    /// Returns the cost of a key between tables of these roles.
    fn of(step: &KeyStep, from: Mention, to: Mention) -> Self {
        let kind = if step.to_one { TO_ONE } else { TO_MANY };
        let (unnamed, named) = match from.min(to) {
            Mention::Unnamed | Mention::Declared => (kind, 0),
            Mention::Named => (0, kind - TO_ONE + 1),
            Mention::Read => (0, kind),
        };
        let undeclared = usize::from(to == Mention::Unnamed);
        WayCost { unnamed, named, undeclared, ..WayCost::default() }
    }

    fn plus(self, other: Self) -> Self {
        WayCost {
            unnamed: self.unnamed + other.unnamed,
            crossed: self.crossed + other.crossed,
            unchosen: self.unchosen + other.unchosen,
            undeclared: self.undeclared + other.undeclared,
            named: self.named + other.named,
        }
    }
}

/// A table, and whether the path entered it along a key that others may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    table: usize,
    is_lookup: bool,
}

/// The cost of the path to each place, and its last steps with their origins: several if equally good.
type Found<'g> = BTreeMap<Place, (WayCost, Vec<(Place, &'g KeyStep)>)>;

/// The best paths from root tables to all others.
#[derive(Debug, Clone)]
pub struct Ways<'g> {
    found: Found<'g>,
}

impl KeyGraph {
    /// Builds the graph of tables with exact names. Keys of a table to itself are skipped, and the same columns declared
    /// twice are one key.
    pub fn new(tables: &[Table]) -> Self {
        let places: BTreeMap<&str, usize> =
            tables.iter().enumerate().map(|(at, table)| (table.name.as_str(), at)).collect();
        let mut graph = KeyGraph { steps: vec![Vec::new(); tables.len()] };
        for (from, table) in tables.iter().enumerate() {
            let own: Vec<&str> =
                table.columns.iter().filter(|column| column.primary_key).map(|column| column.name.as_str()).collect();
            for key in &table.foreign_keys {
                let Some(&to) = places.get(key.table.as_str()).filter(|to| **to != from) else { continue };
                let pairs: Vec<(String, String)> =
                    key.columns.iter().cloned().zip(key.references.iter().cloned()).collect();
                let is_unique =
                    !own.is_empty() && own.iter().all(|name| key.columns.iter().any(|column| column == name));
                let swapped = pairs.iter().map(|(a, b)| (b.clone(), a.clone())).collect();
                graph.add(KeyStep { from, to, pairs, refers: true, to_one: true, from_one: is_unique });
                graph.add(KeyStep {
                    from: to,
                    to: from,
                    pairs: swapped,
                    refers: false,
                    to_one: is_unique,
                    from_one: true,
                });
            }
        }
        graph
    }

    fn add(&mut self, step: KeyStep) {
        let steps = &mut self.steps[step.from];
        match steps.iter_mut().find(|known| known.to == step.to && known.pairs == step.pairs) {
            Some(known) if step.to_one && !known.to_one => *known = step,
            Some(_) => {}
            None => steps.push(step),
        }
    }

    /// Finds the best paths from any of `roots`. `mentions` is the role of each table in the query, `is_chosen` whether
    /// the query requires a key.
    pub fn find_ways(&self, roots: &[usize], mentions: &[Mention], is_chosen: &dyn Fn(&KeyStep) -> bool) -> Ways<'_> {
        let chosen: BTreeSet<(usize, bool)> =
            (self.steps.iter().flatten()).filter(|step| is_chosen(step)).map(|step| (step.to, step.refers)).collect();
        let mention = |table: usize| mentions.get(table).copied().unwrap_or_default();
        let begin = |table: &usize| Place { table: *table, is_lookup: false };
        let mut found: Found<'_> = roots.iter().map(|root| (begin(root), (WayCost::default(), Vec::new()))).collect();
        let mut open: BinaryHeap<Reverse<(WayCost, Place)>> =
            roots.iter().map(|root| Reverse((WayCost::default(), begin(root)))).collect();
        while let Some(Reverse((so_far, place))) = open.pop() {
            if found.get(&place).is_some_and(|(known, _)| *known < so_far) {
                continue;
            }
            for step in self.steps.get(place.table).into_iter().flatten() {
                let (from, to) = (mention(step.from), mention(step.to));
                let crosses = place.is_lookup && !step.to_one;
                if crosses && from < Mention::Named {
                    continue;
                }
                let is_unchosen = chosen.contains(&(step.to, step.refers)) && !is_chosen(step);
                let own = WayCost {
                    crossed: usize::from(crosses),
                    unchosen: usize::from(is_unchosen),
                    ..WayCost::of(step, from, to)
                };
                let total = so_far.plus(own);
                let next = Place { table: step.to, is_lookup: step.to_one && (place.is_lookup || !step.from_one) };
                match found.get_mut(&next) {
                    Some((known, _)) if *known < total => {}
                    Some((known, last)) if *known == total => last.push((place, step)),
                    _ => {
                        found.insert(next, (total, vec![(place, step)]));
                        open.push(Reverse((total, next)));
                    }
                }
            }
        }
        Ways { found }
    }

    /// Returns the tables on the best path from one of `from` to one of `to`, both included, if a query names no others;
    /// the choice among equally good ones is deterministic. A lookup is between them only if nothing else is.
    pub fn find_path(&self, from: &[usize], to: &[usize]) -> Option<Vec<usize>> {
        let find = |between: Mention| -> Option<Vec<usize>> {
            let mut mentions = vec![between; self.steps.len()];
            for table in from.iter().chain(to) {
                *mentions.get_mut(*table)? = Mention::Read;
            }
            let ways = self.find_ways(from, &mentions, &|_| false);
            let ends = to.iter().filter_map(|table| Some((ways.cost_to(*table)?, *table)));
            let (_, end) = ends.min()?;
            let way = ways.way_to(end)?;
            let first = way.steps.first().map_or(end, |step| step.from);
            Some(std::iter::once(first).chain(way.steps.iter().map(|step| step.to)).collect())
        };
        find(Mention::Unnamed).or_else(|| find(Mention::Named))
    }
}

impl<'g> Ways<'g> {
    /// Returns the cost of the best path to a table; `None` if there is no path.
    pub fn cost_to(&self, table: usize) -> Option<WayCost> {
        Some(self.end(table)?.1)
    }

    /// Returns the best path to a table; `None` if there is no path.
    pub fn way_to(&self, table: usize) -> Option<Way<'g>> {
        let (mut at, _) = self.end(table)?;
        let mut way = Way { steps: Vec::new(), rivals: None };
        while let Some((_, last)) = self.found.get(&at) {
            let Some((before, step)) = last.first() else { break };
            if let Some((_, other)) = last.get(1) {
                way.rivals = Some((*step, *other));
            }
            way.steps.push(*step);
            at = *before;
        }
        way.steps.reverse();
        Some(way)
    }

    /// Returns the end of the best path to a table.
    fn end(&self, table: usize) -> Option<(Place, WayCost)> {
        let ends = [false, true].map(|is_lookup| Place { table, is_lookup });
        ends.into_iter().filter_map(|end| Some((end, self.found.get(&end)?.0))).min_by_key(|(_, cost)| *cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, ForeignKey};

    /// Tables, the first column of each its key; `column>table` references another table.
    const SHOP: [(&str, &[&str]); 10] = [
        ("countries", &["code"]),
        ("employees", &["id", "country>countries"]),
        ("customers", &["id", "country>countries", "agent>employees"]),
        ("invoices", &["id", "customer>customers", "bill_country>countries"]),
        ("lines", &["id", "invoice>invoices", "track>tracks"]),
        ("tracks", &["id", "album>albums"]),
        ("albums", &["id", "artist>artists"]),
        ("artists", &["id", "country>countries"]),
        ("refunds", &["id", "invoice>invoices", "handler>employees"]),
        ("notes", &["id"]),
    ];

    fn shop() -> Vec<Table> {
        let table = |(name, columns): (&str, &[&str])| {
            let split = |text: &&str| text.split_once('>').map(|(column, table)| (column.to_owned(), table.to_owned()));
            let column = |(at, text): (usize, &&str)| Column {
                name: text.split('>').next().unwrap_or_default().to_owned(),
                primary_key: at == 0,
                ..Column::default()
            };
            let key = |(column, table): (String, String)| {
                let references = vec![if table == "countries" { "code" } else { "id" }.to_owned()];
                ForeignKey { columns: vec![column], table, references }
            };
            Table {
                name: name.to_owned(),
                columns: columns.iter().enumerate().map(column).collect(),
                foreign_keys: columns.iter().filter_map(split).map(key).collect(),
                ..Table::default()
            }
        };
        SHOP.into_iter().map(table).collect()
    }

    fn place(name: &str) -> usize {
        SHOP.iter().position(|(known, _)| *known == name).unwrap()
    }

    /// Returns the tables on the path between two tables, given the named and declared ones, and the ambiguous steps.
    fn find(
        from: &str,
        to: &str,
        named: &[&str],
        declared: &[&str],
        chosen: &str,
    ) -> Option<(Vec<&'static str>, bool)> {
        let graph = KeyGraph::new(&shop());
        let mut mentions = vec![Mention::Unnamed; SHOP.len()];
        for (names, mention) in
            [(declared, Mention::Declared), (named, Mention::Named), (&[from, to][..], Mention::Read)]
        {
            names.iter().for_each(|name| mentions[place(name)] = mention);
        }
        let ways = graph.find_ways(&[place(from)], &mentions, &|step| {
            step.refers && step.pairs.iter().any(|(own, _)| own == chosen)
        });
        let way = ways.way_to(place(to))?;
        Some((way.steps.iter().map(|step| SHOP[step.to].0).collect(), way.rivals.is_some()))
    }

    fn check(from: &str, to: &str, named: &[&str], expected: &[&str]) {
        assert_eq!(find(from, to, named, &[], ""), Some((expected.to_vec(), false)), "{from} to {to} by {named:?}");
    }

    #[test]
    fn paths_prefer_named_tables() {
        check("invoices", "artists", &["lines", "tracks", "albums"], &["lines", "tracks", "albums", "artists"]);
        check("lines", "countries", &[], &["invoices", "countries"]);
        check("lines", "countries", &["tracks", "albums", "artists"], &["tracks", "albums", "artists", "countries"]);
        check("refunds", "employees", &[], &["employees"]);
        check("refunds", "employees", &["invoices", "customers"], &["invoices", "customers", "employees"]);
        check("refunds", "customers", &[], &["invoices", "customers"]);
    }

    #[test]
    fn unnamed_lookups_connect_nothing() {
        let bridges = &["lines", "tracks", "albums", "artists"];
        check("invoices", "artists", &[], bridges);
        check("artists", "invoices", &[], &["albums", "tracks", "lines", "invoices"]);
        check("invoices", "artists", &["countries"], &["countries", "artists"]);
        check("invoices", "artists", &["countries", "lines", "tracks", "albums"], bridges);
        check("customers", "refunds", &[], &["invoices", "refunds"]);
        assert_eq!(find("invoices", "notes", &[], &[], ""), None);
        // Refunds and lines only share invoices.
        assert_eq!(find("refunds", "lines", &[], &[], ""), None);
        check("refunds", "lines", &["invoices"], &["invoices", "lines"]);
    }

    #[test]
    fn paths_use_lookups_only_as_a_last_resort() {
        let path = |from: &str, to: &str| {
            let path = KeyGraph::new(&shop()).find_path(&[place(from)], &[place(to)])?;
            Some(path.into_iter().map(|at| SHOP[at].0).collect::<Vec<_>>())
        };
        assert_eq!(path("artists", "invoices"), Some(vec!["artists", "albums", "tracks", "lines", "invoices"]));
        assert_eq!(path("customers", "refunds"), Some(vec!["customers", "invoices", "refunds"]));
        assert_eq!(path("refunds", "lines"), Some(vec!["refunds", "invoices", "lines"]));
        assert_eq!(path("notes", "notes"), Some(vec!["notes"]));
        assert_eq!(path("notes", "lines"), None);
    }

    #[test]
    fn reports_equally_good_paths() {
        let undecided = find("refunds", "countries", &[], &[], "").unwrap();
        assert!(undecided.1, "{undecided:?}");
        let by_invoice = (vec!["invoices", "countries"], false);
        assert_eq!(find("refunds", "countries", &[], &["invoices", "customers"], ""), Some(by_invoice.clone()));
        assert_eq!(find("refunds", "countries", &[], &[], "bill_country"), Some(by_invoice));
        assert_eq!(
            find("refunds", "countries", &["employees"], &[], ""),
            Some((vec!["employees", "countries"], false))
        );
    }

    #[test]
    fn supports_several_roots() {
        let graph = KeyGraph::new(&shop());
        let ways = graph.find_ways(&[place("tracks"), place("refunds")], &[], &|_| false);
        let way = ways.way_to(place("artists")).unwrap();
        assert_eq!(way.steps.iter().map(|step| step.from).collect::<Vec<_>>(), [place("tracks"), place("albums")]);
        assert!(ways.cost_to(place("albums")) < ways.cost_to(place("artists")));
        assert_eq!(ways.way_to(place("refunds")).map(|way| way.steps.len()), Some(0));
        assert_eq!(ways.cost_to(place("notes")), None);
    }
}
