//! Discovery of sources in typical folders, and catalogs generated from them.

use std::fs;

use prospector_discovery::{
    Catalog, CatalogOptions, DiscoveryTools, Profile,
    sources::{CatalogSource, locate, name_folder},
};
use serde_json::json;

/// Returns the entries for a folder with these files, with relative paths, and the reported problems.
fn look(files: &[(&str, &str)]) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    match locate(&[folder.path().to_str().unwrap().to_owned()]) {
        Ok((findings, problems)) => {
            let entries =
                findings.iter().map(|f| format!("{} {}", f.section(), f.entry(Some(folder.path())))).collect();
            let reported: Vec<String> = problems.iter().map(ToString::to_string).collect();
            (entries, reported.join("\n"))
        }
        Err(error) => (Vec::new(), error.to_string()),
    }
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str], skipped: &[&str]) {
    let (entries, reported) = look(files);
    // The test folder has a random name.
    let entries: Vec<String> = entries.into_iter().map(|entry| entry.replace(&random_name(&entry), "HERE")).collect();
    assert_eq!(entries, expected, "{reported}");
    for part in skipped {
        assert!(
            reported.contains(part),
            "{part} is not in
        {reported}"
        );
    }
}

/// Returns the part of an entry that is the name of a temporary folder.
fn random_name(entry: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let part = entry.split(|c| !is_part(c)).find(|part| part.starts_with("tmp"));
    part.unwrap_or("\u{0}").to_owned()
}

const ROWS: &str = "id,total\n1,2\n";
const SQLITE: &str = "SQLite format 3\0";

#[test]
fn data_files_in_a_folder_become_one_database() {
    check(
        &[("sales/a.csv", ROWS), ("sales/b.csv", ROWS), ("x/one.csv", ROWS), ("x/two.jsonl", "{\"a\": 1}")],
        &[
            "databases {name: sales, path: \"sales/*.csv\"}",
            "databases {name: one, path: x/one.csv}",
            "databases {name: two, path: x/two.jsonl}",
        ],
        &[],
    );
    let shared = [("a.csv", ROWS), ("b.tsv", "a\tb\n1\t2\n")];
    check(&shared, &["databases {name: HERE, path: \"*.{csv,tsv}\"}"], &[]);
}

#[test]
fn patterns_match_no_skipped_files() {
    let files = [(".gitignore", "secret.csv\n"), ("a.csv", ROWS), ("b.csv", ROWS), ("secret.csv", ROWS), ("c.csv", "")];
    check(
        &files,
        &["databases {name: HERE, path: \"{a.csv,b.csv}\"}"],
        &["skipped secret.csv: ignored by .gitignore", "skipped c.csv: empty file"],
    );
}

/// File names are not parsed as patterns or variables: the catalog contains exactly these files.
#[tokio::test]
async fn a_file_name_matches_only_itself_in_a_pattern() {
    let names = [
        "${HOME}",
        "${HOME:-x}",
        "$HOME",
        "a,b",
        "[a]",
        "[!a]",
        "{a,b}",
        "{a",
        "a}",
        "a*",
        "?",
        "**",
        "a]b",
        "x y",
        "(a)",
        "'a'",
        "\"a\"",
        "a#b",
        "a: b",
        "- a",
        "&a",
        "!a",
        "%a",
        "~",
        "@a",
        "ä",
        "\\a",
        "\\{a\\}",
    ];
    // With a skipped file, each file is listed; without, the pattern matches the extension.
    for (folder, has_skipped) in [("data", false), ("data", true), ("d[a]\\t", true)] {
        for name in names {
            let place = tempfile::tempdir().unwrap();
            let home = place.path().join(folder);
            fs::create_dir(&home).unwrap();
            for file in [name, "plain"] {
                fs::write(home.join(format!("{file}.csv")), ROWS).unwrap();
            }
            if has_skipped {
                fs::write(home.join("empty.csv"), "").unwrap();
            }
            let source = place.path().to_str().unwrap().to_owned();
            let (findings, _) = locate(std::slice::from_ref(&source)).unwrap();
            let entry = findings[0].entry(None);
            assert!(!entry.contains(&std::env::var("HOME").unwrap()), "{entry}");
            let (catalog, _) = open(&[&source]).await.unwrap_or_else(|error| panic!("{folder} {name}: {error}"));
            let tables: usize = catalog.schema.databases().map(|database| database.tables.len()).sum();
            assert_eq!(tables, 2, "{folder} {name}: {entry}");
        }
    }
}

#[test]
fn finds_the_sources_of_a_project_and_skips_its_code() {
    let files = [
        (".gitignore", "/dist\n"),
        (".cache/config", ""),
        ("README.md", "# Shop"),
        ("docs/guide.md", "# Guide"),
        ("docs/more/rules.md", "# Rules"),
        ("docs/picture.svg", "<svg/>"),
        ("src/README.md", "# Source"),
        ("src/main.py", "print()"),
        ("src/views.py", "print()"),
        ("src/page.html", "<p>{{ name }}"),
        ("openapi.yaml", "openapi: 3.0.0\npaths: {}\n"),
        ("db.sqlite3", SQLITE),
        ("node_modules/x/README.md", "# X"),
        ("dist/out.csv", ROWS),
        ("package.json", "{}"),
        ("skills/report/SKILL.md", "---\nname: report\n---\n"),
        ("skills/report/table.csv", ROWS),
        (".claude/skills/other/SKILL.md", "---\nname: other\n---\n"),
    ];
    check(
        &files,
        &[
            "databases {name: db, path: db.sqlite3}",
            "apis {name: HERE, path: openapi.yaml}",
            "documents {path: README.md}",
            "documents {name: src/README, path: src/README.md}",
            "documents {path: docs}",
            "skills {path: .claude/skills}",
            "skills {path: skills}",
        ],
        &[
            "node_modules: dependencies or build output",
            "dist: ignored by .gitignore",
            "package.json: a single JSON object",
            "page.html: a template",
            ".cache",
            "2 .py",
        ],
    );
}

#[test]
fn a_dbt_project_becomes_its_manifest() {
    let manifest = "{\"metadata\": {\"dbt_schema_version\": \"x\"}}";
    let files = [
        ("shop/dbt_project.yml", "name: shop"),
        ("shop/target/manifest.json", manifest),
        ("shop/models/a.sql", "select 1"),
        ("shop/target/compiled/a.csv", ROWS),
    ];
    check(&files, &["databases {name: shop, type: dbt, path: shop/target/manifest.json}"], &["a.sql: no CREATE TABLE"]);
    let files = [("shop/dbt_project.yml", "name: shop"), ("a.csv", ROWS)];
    check(
        &files,
        &["databases {name: a, path: a.csv}"],
        &["dbt_project.yml: the dbt project has no target/manifest.json"],
    );
}

#[test]
fn renames_sources_with_the_same_name() {
    let files = [("a/crm.sqlite", SQLITE), ("b/crm.sqlite", SQLITE)];
    let expected = ["databases {name: crm, path: a/crm.sqlite}", "databases {name: b_crm, path: b/crm.sqlite}"];
    check(&files, &expected, &["another source is named `crm` too; this one is renamed to `b_crm`"]);
}

#[test]
fn reports_why_a_source_is_unusable() {
    check(&[], &[], &["no usable files in `", "data files, SQLite files"]);
    check(&[("a.duckdb", "x"), ("b.py", "")], &[], &["skipped a.duckdb: DuckDB files are not supported", "1 .py"]);
    let check = |source: &str, expected: &str| {
        let error = locate(&[source.to_owned()]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("no/such/file.csv", "no such file or folder: `no/such/file.csv`");
    check("src/locat", "did you mean `locate`?");
    check("src/lib.rs", "unsupported file type");
    check("src/*.csv", "no file matches it");
    check("src/locate/*.rs", "no usable files in `src/locate/*.rs`");
    check("", "empty source");
    check("redis://me:s3cret@cache", "unsupported scheme `redis://`");
}

#[test]
fn names_sources_and_removes_duplicates() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("orders.csv");
    fs::write(&file, ROWS).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let (findings, problems) = locate(&[format!("sales={file}"), file.clone()]).unwrap();
    assert_eq!((findings.len(), findings[0].name.as_deref(), problems.len()), (1, Some("sales"), 0));
}

/// Opens a catalog generated from sources.
async fn open(sources: &[&str]) -> Result<(Catalog, String), String> {
    let state = tempfile::tempdir().unwrap();
    let options = CatalogOptions { state: Some(state.path().to_owned()), ..CatalogOptions::default() };
    let sources = CatalogSource::Sources(sources.iter().map(|source| (*source).to_owned()).collect());
    match Catalog::open(&sources, options).await {
        Ok((catalog, problems)) => {
            Ok((catalog, problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))
        }
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn opens_sources_without_a_catalog_file() {
    let folder = tempfile::tempdir().unwrap();
    // The name of a folder may contain wildcards.
    let data = folder.path().join("q[1]");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("orders.csv"), "id,total\n1,9.5\n2,12\n").unwrap();
    fs::write(data.join("rules.md"), "# Rules\n\nA whale spends over 500 USD.").unwrap();
    fs::write(data.join("broken.parquet"), "PAR1 and no more").unwrap();
    let (catalog, reported) = open(&[data.to_str().unwrap()]).await.unwrap();
    let tools = DiscoveryTools::new(&catalog, Profile::Full);
    let table = tools.call("list_tables", json!({"database": "orders"})).await.unwrap();
    assert_eq!(table.json()[0]["row_count"], 2);
    assert_eq!(catalog.documents.documents().len(), 1);
    assert!(catalog.skills.skills().is_empty());
    assert!(
        reported.contains("broken.parquet") && reported.contains(&format!("error: {}: ", data.display())),
        "{reported}"
    );
}

#[tokio::test]
async fn unusable_sources_are_an_error_without_secrets() {
    let check = async |sources: &[&str], expected: &str| {
        let error = open(sources).await.map(|_| ()).unwrap_err();
        assert!(error.contains(expected) && !error.contains("s3cret"), "{error}");
    };
    check(&["postgres://me:s3cret@127.0.0.1:9/crm"], "postgres://me@127.0.0.1:9/crm").await;
    check(&["http://127.0.0.1:9/openapi.json?key=s3cret"], "http://127.0.0.1:9/openapi.json").await;
    check(&["no-such-file.csv"], "no such file or folder: `no-such-file.csv`").await;
}

#[test]
fn the_folder_name_depends_only_on_the_sources() {
    let name = |sources: &[&str]| name_folder(&sources.iter().map(|source| (*source).to_owned()).collect::<Vec<_>>());
    assert_eq!(name(&["src", "tests"]), name(&["tests", "./src/../src"]).replace("tests-", "src-"));
    assert_ne!(name(&["src"]), name(&["tests"]));
    let (a, b) = (name(&["postgres://me:s3cret@db/crm"]), name(&["postgres://me:other@db/crm"]));
    assert_eq!(a, b);
    assert!(a.starts_with("crm-") && !a.contains("s3cret"), "{a}");
}
