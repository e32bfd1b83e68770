//! A search needs only the index while it is current; every change is detected.

use std::{fs, path::Path};

use prospector_discovery::{Catalog, CatalogOptions, DiscoveryTools, Profile};
use prospector_search::Query;
use serde_json::json;

/// Writes a catalog with one entry of each kind.
fn estate(folder: &Path) {
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("data/orders.csv", "id,total\n1,9.50\n");
    write("manual/returns.md", "# Returns\n\nGoods come back within 30 days.\n");
    write("skills/report/SKILL.md", "---\nname: report\ndescription: Writes the report\n---\nWrite.\n");
    write(
        "catalog.yaml",
        "databases:\n- path: data/*.csv\ndocuments:\n- path: manual\nskills:\n- path: skills\n\
         facts:\n- term: VIP\n  definition: spends over 1000 a year\n",
    );
}

fn options(folder: &Path) -> CatalogOptions<'static> {
    CatalogOptions { home: Some(folder.join("home")), ..CatalogOptions::default() }
}

async fn open(folder: &Path) -> Catalog {
    let (catalog, problems) = Catalog::open(&folder.join("catalog.yaml"), options(folder)).await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    catalog
}

/// Searches with the index alone: `None` if it is not current, otherwise whether the name was found.
fn found(folder: &Path, name: &str) -> Option<bool> {
    let index = Catalog::open_index(&folder.join("catalog.yaml"), &options(folder)).unwrap()?;
    let found = index.search(&Query { text: name.into(), limit: 1, ..Query::default() }).unwrap();
    Some(found.hits.first().is_some_and(|hit| hit.relevance.get() == 1.0))
}

#[tokio::test]
async fn the_index_is_current_until_anything_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    estate(path);
    assert_eq!(found(path, "orders"), None, "there is no index yet");
    drop(open(path).await);
    assert_eq!(found(path, "orders"), Some(true));
    assert_eq!(found(path, "clients"), Some(false));

    type Change = (&'static str, fn(&Path));
    let changes: [Change; 8] = [
        ("a file of a glob is new", |p| fs::write(p.join("data/clients.csv"), "id\n1\n").unwrap()),
        ("a file of a glob changed", |p| fs::write(p.join("data/orders.csv"), "id,sum,tax\n1,2,3\n").unwrap()),
        ("it has descriptions now", |p| fs::write(p.join("data/orders.descriptions.json"), "{}").unwrap()),
        ("a file in a folder is new", |p| fs::write(p.join("manual/b.md"), "# Payment\n\nBy card.\n").unwrap()),
        ("a file in a folder is gone", |p| fs::remove_file(p.join("manual/b.md")).unwrap()),
        ("a skill changed", |p| {
            let text = "---\nname: report\ndescription: Writes the yearly report\n---\nWrite.\n";
            fs::write(p.join("skills/report/SKILL.md"), text).unwrap();
        }),
        ("a skill of the user is new", |p| {
            fs::create_dir_all(p.join("home/.claude/skills/mine")).unwrap();
            let text = "---\nname: mine\ndescription: Does what I want\n---\nDo.\n";
            fs::write(p.join("home/.claude/skills/mine/SKILL.md"), text).unwrap();
        }),
        ("the catalog changed", |p| {
            let text = fs::read_to_string(p.join("catalog.yaml")).unwrap().replace("1000", "2000");
            fs::write(p.join("catalog.yaml"), text).unwrap();
        }),
    ];
    for (what, change) in changes {
        change(path);
        assert_eq!(found(path, "orders"), None, "{what}");
        drop(open(path).await);
        assert_eq!(found(path, "orders"), Some(true), "after the refresh: {what}");
    }
}

#[tokio::test]
async fn finds_an_added_fact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    estate(path);
    let catalog = open(path).await;
    assert_eq!(found(path, "churn"), Some(false));
    let fact = json!({"term": "churn", "definition": "customers who left in the quarter"});
    DiscoveryTools::new(&catalog, Profile::Full).call("add_fact", fact).await.unwrap();
    assert_eq!(found(path, "churn"), None);
    drop(catalog);
    drop(open(path).await);
    // Closing the store may write to it again.
    drop(open(path).await);
    assert_ne!(found(path, "churn"), Some(false));
}

#[tokio::test]
async fn an_index_of_other_catalogs_or_settings_is_not_current() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    estate(path);
    drop(open(path).await);
    fs::write(path.join("other.yaml"), "databases:\n- path: data/orders.csv\n").unwrap();
    let other = path.join("other.yaml");
    assert!(Catalog::open_index(&other, &options(path)).unwrap().is_none(), "another catalog, the same folder");
    drop(Catalog::open(&other, options(path)).await.unwrap());
    assert_eq!(found(path, "orders"), None, "the index is the other's now");
    drop(open(path).await);

    let fresh = CatalogOptions { fresh: true, ..options(path) };
    assert!(Catalog::open_index(&path.join("catalog.yaml"), &fresh).unwrap().is_none());
    let elsewhere = CatalogOptions { state: Some(path.join("state")), ..options(path) };
    assert!(Catalog::open_index(&path.join("catalog.yaml"), &elsewhere).unwrap().is_none());
    assert!(!path.join("state").exists(), "nothing is written");
}

#[tokio::test]
async fn a_catalog_with_errors_is_always_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("orders.csv"), "id\n1\n").unwrap();
    fs::write(path.join("catalog.yaml"), "databases:\n- path: orders.csv\n- path: missing.csv\n").unwrap();
    drop(Catalog::open(&path.join("catalog.yaml"), options(path)).await.unwrap());
    assert_eq!(found(path, "orders"), None);
}
