//! `search_tables`: the tables that a question needs, how they are joined, and the bridges between them.

use std::sync::Arc;

use prospector_core::Kind;
use prospector_core::record::{Hit, Relevance, Resource, ValueMatch};
use prospector_core::tool::{Budget, Cut, Effect, Page, Part, Text, Tool, ToolError, ToolOutput};
use prospector_search::{Index, Query};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answers::{TableHit, TableHits},
    column, database, find_database, table,
};
use crate::{
    discovery::{PreparedDatabase, SchemaDiscovery},
    joins::KeyJoin,
};

/// How many hits are shown where the call does not say, and at most.
const HITS: usize = 5;
const MAX_HITS: usize = 50;

/// How many keys a hit lists.
const MAX_JOINS: usize = 6;

/// Of a hit that is less likely than this there is the name alone, and no key but those that make it a bridge.
const UNLIKELY: f32 = 0.1;

/// A bridge between hits that are less likely than this to be both needed is not worth its tokens.
const BOTH_NEEDED: f32 = 0.25;

/// How likely a bridge is to be needed where both of its hits are said to be: no word of the question names it. Measured
/// on Spider and KaggleDBQA, about one bridge in nine was.
const BRIDGE: f32 = 0.25;

pub(super) struct SearchTables {
    pub(super) discovery: Arc<SchemaDiscovery>,
    pub(super) index: Index,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The question, or what the tables hold.
    query: String,
    /// At most this many; 5.
    limit: Option<usize>,
    /// Only tables of this database.
    database: Option<String>,
}

impl ToolOutput for TableHit {
    fn reveals(&self) -> Vec<Resource> {
        let ends = self.joins.iter().flat_map(|join| &join.pairs).flat_map(|(from, to)| [from, to]);
        let named = self.matched_values.iter();
        let named = named.map(|found| column(&self.database, &format!("{}.{}", found.table, found.column)));
        [database(&self.database), table(&self.database, &self.table)]
            .into_iter()
            .chain(ends.map(|end| column(&self.database, end)))
            .chain(named)
            .collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![
            ("description", Part::Text(&mut self.description)),
            ("joins", Part::entries(&mut self.joins)),
            ("matched_values", Part::entries(&mut self.matched_values)),
        ]
    }
}

impl ToolOutput for TableHits {
    fn reveals(&self) -> Vec<Resource> {
        let mut resources = self.0.reveals();
        resources.sort();
        resources.dedup();
        resources
    }

    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        self.0.fit(budget)
    }

    fn render(&self, _: &Cut) -> Text {
        super::render::hits(&self.0).into()
    }
}

impl Tool for SearchTables {
    const NAME: &'static str = "search_tables";
    const DESCRIPTION: &'static str = "Finds the tables for a question in all databases, with the keys that join them. `via` marks tables that only \
         connect others.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = TableHits;

    async fn call(&self, args: Args) -> Result<TableHits, ToolError> {
        if args.query.trim().is_empty() {
            return Err(ToolError::invalid("query is empty", Some("say what the tables should hold".into())));
        }
        let parent = match args.database.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => Some(find_database(&self.discovery, name)?.database.name.clone()),
            None => None,
        };
        let limit = args.limit.unwrap_or(HITS).clamp(1, MAX_HITS);
        let query = Query { text: args.query, kinds: vec![Kind::Table], parent, limit, ..Query::default() };
        let found = self.index.find(query).await?;
        let items = complete(&self.discovery, found.hits);
        let missing = found.missing.iter().map(ToString::to_string);
        Ok(TableHits(Page::of_search(items, found.is_weak, found.nearest).remark(missing)))
    }
}

/// A table that is shown, by its places.
struct Place<'a> {
    known: &'a PreparedDatabase,
    table: usize,
    relevance: Relevance,
    values: Vec<ValueMatch>,
    via: bool,
}

/// The hits, then the tables that bridge those of one database, with the keys between them all.
fn complete(discovery: &SchemaDiscovery, hits: Vec<Hit>) -> Vec<TableHit> {
    let mut places: Vec<Place<'_>> = (hits.iter())
        .filter_map(|hit| {
            let known = discovery.find(&hit.parent)?;
            let values = hit.values.clone();
            Some(Place { known, table: known.table(&hit.name)?, relevance: hit.relevance, values, via: false })
        })
        .collect();
    let mut bridges = bridges(&places);
    bridges.sort_by(|a, b| b.relevance.get().total_cmp(&a.relevance.get()));
    places.extend(bridges);
    let described = |at: usize, place: &Place<'_>| at == 0 || place.relevance.get() >= UNLIKELY;
    let joined: Vec<&Place<'_>> = (places.iter().enumerate())
        .filter_map(|(at, place)| (place.via || described(at, place)).then_some(place))
        .collect();
    let joins = |at: usize, place: &Place<'_>| -> Vec<KeyJoin> {
        if !place.via && !described(at, place) {
            return Vec::new();
        }
        let known = place.known;
        let name = |at: usize| (at, known.database.tables[at].name.as_str());
        let others = joined.iter().filter(|other| std::ptr::eq(other.known, known));
        others.flat_map(|other| known.joins.keys(name(place.table), name(other.table))).take(MAX_JOINS).collect()
    };
    (places.iter().enumerate())
        .map(|(at, place)| TableHit {
            database: place.known.database.name.clone(),
            table: place.known.database.tables[place.table].name.clone(),
            relevance: place.relevance,
            description: match described(at, place) {
                true => crate::render::brief(&place.known.database.tables[place.table]),
                false => String::new(),
            },
            joins: joins(at, place),
            matched_values: place.values.clone(),
            via: place.via,
        })
        .collect()
}

/// The bridge tables between the hits of each database.
fn bridges<'a>(places: &[Place<'a>]) -> Vec<Place<'a>> {
    let mut bridges: Vec<Place<'a>> = Vec::new();
    for (at, first) in places.iter().enumerate() {
        let same = |other: &&Place<'_>| std::ptr::eq(other.known, first.known);
        if places[..at].iter().any(|other| same(&other)) {
            continue;
        }
        let mut likely: Vec<(usize, f32)> =
            places[at..].iter().filter(same).map(|hit| (hit.table, hit.relevance.get())).collect();
        let tables: Vec<usize> = likely.iter().map(|(table, _)| *table).collect();
        for path in first.known.joins.connect(&tables) {
            let [from, between @ .., to] = path.as_slice() else { continue };
            let of = |table: usize| likely.iter().find(|(at, _)| *at == table).map_or(0.0, |(_, likely)| *likely);
            let (from, to) = (of(*from), of(*to));
            if from * to < BOTH_NEEDED {
                continue;
            }
            let relevance = Relevance::new(from * to * BRIDGE);
            for &table in between {
                // Another path may begin here.
                likely.push((table, from.min(to)));
                bridges.push(Place { known: first.known, table, relevance, values: Vec::new(), via: true });
            }
        }
    }
    bridges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::discovery;

    /// `hits` are `table relevance`; expected are `table`, `via table`, each with its joins.
    fn check(hits: &[(&str, f32)], expected: &[(&str, &[&str])]) {
        let hit = |(table, relevance): &(&str, f32)| Hit {
            id: format!("shop.{table}"),
            kind: Kind::Table,
            parent: "shop".into(),
            name: table.to_string(),
            description: String::new(),
            body: String::new(),
            relevance: Relevance::new(*relevance),
            values: Vec::new(),
        };
        let items = complete(&discovery(), hits.iter().map(hit).collect());
        let shown: Vec<(String, Vec<String>)> = (items.iter())
            .map(|item| {
                let via = if item.via { "via " } else { "" };
                (format!("{via}{}", item.table), item.joins.iter().map(ToString::to_string).collect())
            })
            .collect();
        let expected: Vec<(String, Vec<String>)> = (expected.iter())
            .map(|(name, joins)| (name.to_string(), joins.iter().map(ToString::to_string).collect()))
            .collect();
        assert_eq!(shown, expected);
        let least = hits.iter().map(|(_, relevance)| *relevance).fold(1.0, f32::min);
        assert!(items.iter().filter(|item| item.via).all(|item| item.relevance.get() < least / 2.0));
    }

    const BOUGHT: &str = "invoices.customer_id = customers.id";
    const LISTED: &str = "lines.invoice_id = invoices.id";
    const SOLD: &str = "lines.product_id = products.id";

    #[test]
    fn hits_list_the_keys_that_join_them() {
        check(&[("customers", 0.9), ("invoices", 0.8)], &[("customers", &[BOUGHT]), ("invoices", &[BOUGHT])]);
        check(&[("customers", 0.9), ("regions", 0.8)], &[("customers", &[]), ("regions", &[])]);
    }

    #[test]
    fn bridges_between_hits_are_appended_and_marked() {
        check(
            &[("customers", 0.9), ("products", 0.7)],
            &[
                ("customers", &[BOUGHT]),
                ("products", &[SOLD]),
                ("via invoices", &[BOUGHT, LISTED]),
                ("via lines", &[SOLD, LISTED]),
            ],
        );
    }

    #[test]
    fn a_bridge_is_far_less_sure_than_its_hits() {
        let (customers, lines) = (("customers", 1.0), ("lines", 0.8));
        check(
            &[customers, lines],
            &[("customers", &[BOUGHT]), ("lines", &[LISTED]), ("via invoices", &[BOUGHT, LISTED])],
        );
    }

    #[test]
    fn a_bridge_to_a_poor_hit_is_left_out_and_so_is_what_is_gone() {
        check(&[("customers", 0.6), ("products", 0.4)], &[("customers", &[]), ("products", &[])]);
        check(&[("customers", 1.0), ("dropped", 1.0)], &[("customers", &[])]);
    }
}
