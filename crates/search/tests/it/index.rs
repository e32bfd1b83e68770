//! Guarantees of an index: ranking, detection of missing matches, incremental updates, and durability.

use std::sync::Arc;

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_search::{Index, Query, RefreshReport, SearchError, StaticTable, embed::Embedder};

fn table(database: &str, name: &str, description: &str, body: &str) -> Record {
    let mut record = Record::new(Kind::Table, format!("{database}.{name}"), name);
    record.parent = database.into();
    record.description = description.into();
    record.body = body.into();
    record
}

fn store() -> Vec<Record> {
    vec![
        table("store", "invoices", "One row per purchase.", "invoice_id customer_id invoice_date total"),
        table("store", "customers", "Who buys.", "customer_id first_name country support_rep_id"),
        table("store", "tracks", "Songs for sale.", "track_id title album_id milliseconds unit_price"),
        table("zoo", "animals", "Animals and their keepers.", "animal_id species keeper_id"),
        {
            let mut record = Record::new(Kind::Operation, "shop.listOrders", "listOrders");
            record.aliases = vec!["GET /orders".into()];
            record.parent = "shop".into();
            record.description = "Lists the orders of a customer.".into();
            record
        },
    ]
}

fn embedder() -> Option<Arc<dyn Embedder>> {
    Some(Arc::new(StaticTable::shipped().unwrap()))
}

fn query(text: &str) -> Query {
    Query { text: text.into(), limit: 3, ..Query::default() }
}

/// Returns the ids found for a question; without hits, checks that the closest names are returned.
fn ids(index: &Index, query: &Query) -> Vec<String> {
    let found = index.search(query).unwrap();
    assert!(!found.hits.is_empty() || !found.nearest.is_empty() || index.is_empty());
    found.hits.into_iter().map(|hit| hit.id).collect()
}

#[test]
fn ranks_the_best_record_first() {
    for embedder in [None, embedder()] {
        let index = Index::in_memory(store(), embedder).unwrap();
        for (text, first) in [
            ("total invoice amount by purchase date", "store.invoices"),
            ("in which country do customers live", "store.customers"),
            ("which keeper looks after the animals", "zoo.animals"),
        ] {
            assert_eq!(ids(&index, &query(text)).first().map(String::as_str), Some(first), "{text}");
        }
    }
}

#[test]
fn exact_names_rank_first_with_certainty() {
    let index = Index::in_memory(store(), embedder()).unwrap();
    for (text, id) in [
        ("store.invoices", "store.invoices"),
        ("INVOICES", "store.invoices"),
        ("GET /orders", "shop.listOrders"),
        ("list_orders", "shop.listOrders"),
    ] {
        let found = index.search(&query(text)).unwrap();
        assert_eq!(found.hits[0].id, id);
        assert_eq!(found.hits[0].relevance.get(), 1.0);
    }
}

#[test]
fn filters_kinds_and_parents_before_ranking() {
    let index = Index::in_memory(store(), embedder()).unwrap();
    let only = Query { kinds: vec![Kind::Operation], ..query("orders of a customer") };
    assert_eq!(ids(&index, &only), ["shop.listOrders"]);
    let only = Query { parent: Some("zoo".into()), ..query("animals") };
    assert_eq!(ids(&index, &only), ["zoo.animals"]);
}

#[test]
fn returns_nearest_names_without_hits() {
    let index = Index::in_memory(store(), embedder()).unwrap();
    let found = index.search(&query("gravitational waves of neutron stars")).unwrap();
    assert!(found.hits.is_empty(), "{:?}", found.hits);
    assert_eq!(found.nearest.len(), 3);
}

#[test]
fn an_empty_index_and_an_empty_query_find_nothing() {
    let empty = Index::in_memory(Vec::new(), embedder()).unwrap();
    assert!(empty.search(&query("customers")).unwrap().hits.is_empty());
    let index = Index::in_memory(store(), embedder()).unwrap();
    assert!(index.search(&query("")).unwrap().hits.is_empty());
}

#[test]
fn refresh_writes_only_changes() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Index::open(folder.path(), embedder()).unwrap();
    let reader = Index::open(folder.path(), embedder()).unwrap();
    let mut records: Vec<Record> = store();
    records.extend((0..40).map(|n| table("many", &format!("table_{n}"), "", "id")));
    let refresh = |records: &[Record]| writer.refresh(records.to_vec(), &|_, _| ()).unwrap();

    let first = refresh(&records);
    assert_eq!(first, RefreshReport { added: 45, rebuilt: Some("there was no index yet".into()), ..first.clone() });
    assert_eq!(refresh(&records), RefreshReport { unchanged: 45, ..RefreshReport::default() });

    records[0].description = "Astronomy observations of quasars.".into();
    records.remove(3);
    records.push(table("lab", "telescopes", "Instruments.", "telescope_id mirror"));
    let report = refresh(&records);
    assert_eq!(report, RefreshReport { added: 1, updated: 1, removed: 1, unchanged: 43, rebuilt: None });
    assert_eq!(reader.len(), 45);
    assert_eq!(ids(&reader, &query("observations of quasars"))[0], "store.invoices");
    assert_eq!(ids(&reader, &query("telescopes"))[0], "lab.telescopes");
    assert!(!ids(&reader, &query("zoo.animals")).contains(&"zoo.animals".to_owned()));
}

#[test]
fn rebuilds_damaged_and_foreign_indexes() {
    let folder = tempfile::tempdir().unwrap();
    Index::open(folder.path(), None).unwrap().refresh(store(), &|_, _| ()).unwrap();
    let other = Index::open(folder.path(), embedder()).unwrap();
    assert!(other.is_empty(), "an index of another embedder is not used");
    let report = other.refresh(store(), &|_, _| ()).unwrap();
    assert_eq!(report.rebuilt.as_deref(), Some("the index was built by another version or embedder"));
    assert_eq!(other.len(), 5);

    let generation = std::fs::read_to_string(folder.path().join("CURRENT")).unwrap();
    std::fs::write(folder.path().join(generation).join("lexical/meta.json"), "{").unwrap();
    let damaged = Index::open(folder.path(), embedder()).unwrap();
    assert!(damaged.is_empty());
    damaged.refresh(store(), &|_, _| ()).unwrap();
    assert_eq!(ids(&damaged, &query("animals"))[0], "zoo.animals");
}

#[tokio::test]
async fn rejects_queries_beyond_the_length_limit() {
    let index = Index::in_memory(store(), embedder()).unwrap();
    for word in ["revenue by country,", "a ", "ab1", "ä", "x, y. z? ", "\n"] {
        let text: String = word.chars().cycle().take(Query::MAX_CHARS).collect();
        assert_eq!(Query::fitting(&text), text);
        index.find(query(&text)).await.unwrap();
        let longer = format!("{text}é");
        assert_eq!(Query::fitting(&longer), text);
        for refused in [index.search(&query(&longer)).map(|_| ()), index.rank(&query(&longer)).map(|_| ())] {
            let error = refused.unwrap_err();
            assert!(
                matches!(error, SearchError::TooLong { characters } if characters == Query::MAX_CHARS + 1),
                "{error}"
            );
        }
        let refused = prospector_core::tool::ToolError::from(index.find(query(&longer)).await.unwrap_err());
        assert_eq!(refused.to_json()["error"], "invalid_arguments", "{refused}");
    }
}
