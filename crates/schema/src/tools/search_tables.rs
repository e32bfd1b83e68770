//! The tool `search_tables`: finds the tables for a question, their joins, and the bridge tables between them.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use prospector_connect::table::Table;
use prospector_core::Kind;
use prospector_core::record::{ColumnValues, Hit, Relevance, Resource, ValueMatch, drop_tail};
use prospector_core::tool::{Budget, Cut, Effect, Page, Part, Text, Tool, ToolError, ToolOutput};
use prospector_search::{Index, Query};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answers::{TableHit, TableHits},
    column, database, detail, find_database, members, table,
};
use crate::{
    discovery::{PreparedDatabase, SchemaDiscovery},
    joins::{JoinEnd, KeyJoin, KeyNature},
    key_match::{self, Extent},
    render::brief,
    shared_keys,
};

/// Default and maximum number of hits.
const HITS: usize = 8;
const MAX_HITS: usize = 50;

/// Maximum number of keys per hit.
const MAX_JOINS: usize = 12;

/// Hits below this relevance are shown with their name and keys to likely hits only.
const UNLIKELY: f32 = 0.1;

/// Maximum number of hits shown with the columns needed to write SQL, and their minimum relevance.
const MAX_DETAILED: usize = 3;
const DETAILED: f32 = 0.25;

/// Maximum number of values read of a column, of which a few are shown.
const MAX_EXAMPLES: usize = 1_000;

/// Maximum number of inferred keys whose match rate is measured; keys below the minimum percentage are dropped.
const MAX_MEASURED: usize = 8;
const MIN_MATCHING: u8 = 10;

/// Maximum number of pairs of likely hits checked for shared references, because a search waits for it.
const MAX_SHARED: usize = 3;
const MAX_WAIT: Duration = Duration::from_millis(400);

/// The weight of a view relative to the tables it is derived from. It repeats their names and columns without adding
/// rows.
const VIEW: f32 = 0.5;

/// Minimum probability that both hits are needed for a bridge between them to be shown.
const BOTH_NEEDED: f32 = 0.25;

/// The probability that a bridge is needed if both of its hits are: the question does not mention it. About one bridge in
/// nine was needed on Spider and KaggleDBQA.
const BRIDGE: f32 = 0.25;

pub(super) struct SearchTables {
    pub(super) discovery: Arc<SchemaDiscovery>,
    pub(super) index: Index,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The question, or a description of the data.
    query: String,
    /// Maximum number; default 8.
    limit: Option<usize>,
    /// Only tables of this database.
    database: Option<String>,
}

impl ToolOutput for TableHit {
    fn reveals(&self) -> Vec<Resource> {
        let ends = self.joins.iter().flat_map(KeyJoin::ends);
        let named = self.matched_values.iter();
        let named = named.map(|found| column(&self.database, &format!("{}.{}", found.table, found.column)));
        let shown = self.columns.iter().map(|column| &column.name).chain(&self.named);
        [database(&self.database), table(&self.database, &self.table)]
            .into_iter()
            .chain(shown.map(|name| column(&self.database, &format!("{}.{name}", self.table))))
            .chain(ends.map(|end| column(&self.database, &end.to_string())))
            .chain(named)
            .chain(self.reveal_family())
            .collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![
            ("description", Part::Text(&mut self.description)),
            ("columns", Part::entries(&mut self.columns)),
            ("joins", Part::entries(&mut self.joins)),
            ("matched_values", Part::entries(&mut self.matched_values)),
        ]
    }
}

impl SchemaDiscovery {
    /// Returns the number of hits to request to show `limit` of them, because views may displace tables.
    pub fn widen_search(&self, limit: usize) -> usize {
        let has_views = self.databases().any(|database| database.tables.iter().any(|table| table.is_view));
        if has_views { limit + 2 * limit.min(MAX_HITS) } else { limit }
    }

    /// Moves views behind tables of about the same relevance; everything else keeps its order.
    pub fn prefer_tables(&self, hits: &mut Vec<Hit>) {
        // A view whose name occurs in the query is intended.
        let is_demoted = |hit: &Hit| {
            hit.kind == Kind::Table
                && hit.relevance.get() < 1.0
                && self.table(&hit.parent, &hit.name).is_some_and(|table| table.is_view)
        };
        let (views, others): (Vec<Hit>, Vec<Hit>) = std::mem::take(hits).into_iter().partition(is_demoted);
        *hits = others;
        for mut view in views {
            view.relevance = Relevance::new(view.relevance.get() * VIEW);
            let before = hits.iter().rposition(|hit| hit.relevance.get() >= view.relevance.get());
            hits.insert(before.map_or(0, |at| at + 1), view);
        }
    }
}

impl TableHit {
    /// Returns the other tables of its family, with the columns shown.
    fn reveal_family(&self) -> Vec<Resource> {
        let shown = self.columns.iter().map(|column| &column.name).chain(&self.named);
        let shown: Vec<&str> = shown.map(String::as_str).collect();
        self.family.as_ref().map_or_else(Vec::new, |family| members(&self.database, family, &shown))
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
            return Err(ToolError::invalid(
                "query is empty",
                Some("describe the data that the tables should contain".into()),
            ));
        }
        let parent = match args.database.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => Some(find_database(&self.discovery, name)?.database.name.clone()),
            None => None,
        };
        let limit = args.limit.unwrap_or(HITS).clamp(1, MAX_HITS);
        let asked = self.discovery.widen_search(limit);
        let fill = args.limit.is_some();
        let query =
            Query { text: args.query, kinds: vec![Kind::Table], parent, limit: asked, fill, ..Query::default() };
        let question = query.text.clone();
        let mut found = self.index.find(query).await?;
        self.discovery.prefer_tables(&mut found.hits);
        found.hits.truncate(limit);
        if !fill {
            drop_tail(&mut found.hits, |hit| hit.relevance);
        }
        let places = with_bridges(&self.discovery, found.hits);
        let known: Vec<(String, String)> = places.iter().map(Place::names).collect();
        let examples = match places.iter().any(Place::has_rows) {
            true => self.index.find_examples(known, MAX_EXAMPLES).await,
            false => Vec::new(),
        };
        let inferred = infer_keys(&places).await;
        let items = hits(&places, &examples, &inferred, &question);
        let missing = found.missing.iter().map(ToString::to_string);
        Ok(TableHits(Page::of_search(items, found.is_weak, found.nearest).remark(missing)))
    }
}

/// A displayed table, by its positions.
struct Place<'a> {
    known: &'a PreparedDatabase,
    table: usize,
    relevance: Relevance,
    values: Vec<ValueMatch>,
    via: bool,
}

impl Place<'_> {
    fn table(&self) -> &Table {
        &self.known.database.tables[self.table]
    }

    /// Returns the names of the database and the table.
    fn names(&self) -> (String, String) {
        (self.known.database.name.clone(), self.table().name.clone())
    }

    /// Whether its rows can be read.
    fn has_rows(&self) -> bool {
        self.known.rows().is_some()
    }
}

/// Returns the hits, followed by the bridge tables within each database.
fn with_bridges(discovery: &SchemaDiscovery, hits: Vec<Hit>) -> Vec<Place<'_>> {
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
    places
}

/// Returns the displayed hits, with the keys between them all. Likely hits whose rows can be read include what is needed
/// to write SQL; `examples` are the known values of each.
fn hits(
    places: &[Place<'_>],
    examples: &[Vec<ColumnValues>],
    inferred: &[InferredKey],
    question: &str,
) -> Vec<TableHit> {
    let mut detailed = 0;
    let hit = |(at, place): (usize, &Place<'_>)| {
        let table = place.table();
        let is_described = at == 0 || place.relevance.get() >= UNLIKELY;
        let is_detailed = is_described
            && !place.via
            && place.has_rows()
            && (at == 0 || place.relevance.get() >= DETAILED)
            && detailed < MAX_DETAILED;
        detailed += usize::from(is_detailed);
        let values = examples.get(at).map(Vec::as_slice).unwrap_or_default();
        let (columns, left_out) = match is_detailed {
            true => detail::columns(&place.known.database, table, question, values, &place.values),
            false => (Vec::new(), 0),
        };
        let (database, name) = place.names();
        let brief = is_described.then(|| brief(table, question));
        TableHit {
            database,
            table: name,
            relevance: place.relevance,
            sql: place.known.dialect(),
            family: place.known.families.family(place.table).cloned(),
            description: brief.as_ref().map_or_else(String::new, |brief| brief.text.clone()),
            row_count: table.row_count.filter(|_| is_detailed),
            columns,
            more_columns: (left_out > 0).then_some(left_out),
            named: brief.map_or_else(Vec::new, |brief| brief.columns),
            joins: joins(places, at, inferred),
            matched_values: place.values.clone(),
            via: place.via,
            view: table.is_view,
        }
    };
    places.iter().enumerate().map(hit).collect()
}

/// Whether more than the name of a table is shown.
fn is_likely(at: usize, place: &Place<'_>) -> bool {
    at == 0 || place.via || place.relevance.get() >= UNLIKELY
}

/// Whether the key between two tables is shown: both belong to one database, and at least one of them is likely.
fn is_key_shown(places: &[Place<'_>], at: usize, other: usize) -> bool {
    at != other
        && std::ptr::eq(places[at].known, places[other].known)
        && (is_likely(at, &places[at]) || is_likely(other, &places[other]))
}

/// Returns the keys between a table and itself and the others: all declared ones, or the inferred ones if no key is declared.
fn joins(places: &[Place<'_>], at: usize, inferred: &[InferredKey]) -> Vec<KeyJoin> {
    let place = &places[at];
    let mut found = Vec::new();
    let is_shown = |other: usize| other == at && is_likely(at, place) || is_key_shown(places, at, other);
    for (other_at, other) in places.iter().enumerate().filter(|(other, _)| is_shown(*other)) {
        let (ours, theirs) = ((place.table, &*place.table().name), (other.table, &*other.table().name));
        found.extend(place.known.joins.keys(ours, theirs));
        found.extend(inferred.iter().filter(|key| key.is_between(at, other_at)).map(|key| key.join.clone()));
    }
    found.truncate(MAX_JOINS);
    found
}

/// An inferred key.
struct InferredKey {
    /// The positions of the referencing table and the other.
    places: (usize, usize),
    join: KeyJoin,
}

impl InferredKey {
    fn is_between(&self, a: usize, b: usize) -> bool {
        self.places == (a, b) || self.places == (b, a)
    }
}

/// Returns the inferred keys between tables, with the match rate if a few rows suffice. Keys below the minimum match
/// rate are dropped.
async fn infer_keys(places: &[Place<'_>]) -> Vec<InferredKey> {
    let pairs = (0..places.len()).flat_map(|a| (a + 1..places.len()).map(move |b| (a, b)));
    let likely = pairs.filter(|(a, b)| is_key_shown(places, *a, *b)).flat_map(|(a, b)| {
        let ends = ((places[a].table, places[a].table()), (places[b].table, places[b].table()));
        let keys = places[a].known.joins.likely_keys(ends.0, ends.1);
        keys.into_iter().map(move |key| (if key.is_reversed { (b, a) } else { (a, b) }, key))
    });
    let measured = likely.take(MAX_JOINS).enumerate().map(|(number, ((from, to), key))| async move {
        let (referring, other) = (&places[from], &places[to]);
        let ends = (JoinEnd::new(&referring.table().name, &key.from), JoinEnd::new(&other.table().name, &key.to));
        let matching = match referring.known.free_rows() {
            Some(source) if number < MAX_MEASURED => key_match::measure(source, &ends.0, &ends.1, Extent::SEARCH).await,
            _ => None,
        };
        let join = KeyJoin { pairs: vec![ends], nature: KeyNature::Inferred { matching } };
        matching.is_none_or(|share| share >= MIN_MATCHING).then_some(InferredKey { places: (from, to), join })
    });
    let mut found: Vec<InferredKey> = join_all(measured).await.into_iter().flatten().collect();
    found.extend(find_shared_keys(places).await);
    found
}

/// Returns the joins on shared references between likely hits that no key joins.
async fn find_shared_keys(places: &[Place<'_>]) -> Vec<InferredKey> {
    let is_apart = |a: usize, b: usize| {
        let likely = [a, b].iter().all(|at| !places[*at].via && is_likely(*at, &places[*at]));
        likely
            && is_key_shown(places, a, b)
            && !places[a].known.joins.are_joined(places[a].table, places[b].table)
            && shared_keys::may_join([places[a].table(), places[b].table()])
    };
    let pairs = (0..places.len()).flat_map(|a| (a + 1..places.len()).map(move |b| (a, b)));
    let looked_up = pairs.filter(|(a, b)| is_apart(*a, *b)).map(|(a, b)| async move {
        let tables = [places[a].table(), places[b].table()];
        let key = shared_keys::find(places[a].known.free_rows(), tables, MAX_WAIT).await?;
        let pair = |[from, to]: &[String; 2]| (JoinEnd::new(&tables[0].name, from), JoinEnd::new(&tables[1].name, to));
        let pairs = key.references.iter().map(|reference| pair(&reference.columns)).collect();
        Some(InferredKey { places: (a, b), join: KeyJoin { pairs, nature: KeyNature::Shared } })
    });
    join_all(looked_up.take(MAX_SHARED)).await.into_iter().flatten().collect()
}

/// Returns the bridge tables between the hits of each database.
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
                // Another path may start here.
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
        let discovery = discovery();
        let places = with_bridges(&discovery, hits.iter().map(hit).collect());
        let items = super::hits(&places, &[], &[], "");
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
    fn bridges_are_less_relevant_than_hits() {
        let (customers, lines) = (("customers", 1.0), ("lines", 0.8));
        check(
            &[customers, lines],
            &[("customers", &[BOUGHT]), ("lines", &[LISTED]), ("via invoices", &[BOUGHT, LISTED])],
        );
    }

    #[test]
    fn omits_bridges_to_unlikely_hits_and_removed_tables() {
        check(&[("customers", 0.6), ("products", 0.4)], &[("customers", &[]), ("products", &[])]);
        check(&[("customers", 0.9), ("invoices", 0.05)], &[("customers", &[BOUGHT]), ("invoices", &[BOUGHT])]);
        check(&[("customers", 1.0), ("dropped", 1.0)], &[("customers", &[])]);
    }
}
