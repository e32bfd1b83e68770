//! First use: sources on the command line without a catalog, `init` and `add`, diagnostics, and output formats.

use std::{fs, path::PathBuf};

use crate::support::{self, Estate, Ran, VIP, assert_holds, items, sample_file};
use serde_json::{Value, json};

/// A folder with data of the sample catalog, in a home folder without a catalog.
struct Folder(Estate);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(Estate::new(""));
        folder.write("data/music_store.sqlite", &sample_file("databases/music_store.sqlite"));
        folder.write("data/web_metrics.csv", &sample_file("files/web_metrics.csv"));
        folder.write("data/rules/business_rules.md", &sample_file("documents/business_rules.md"));
        folder.write("data/notes.xyz", b"?");
        folder
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path("../home").join(path)
    }

    fn write(&self, path: &str, content: &[u8]) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), content).unwrap();
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.0.bare().args(args))
    }
}

#[test]
fn a_folder_answers_without_a_catalog() {
    let folder = Folder::new();
    let hits = folder.run(&["search", "customer country", "--on", "data"]).json(0);
    assert!(items(&hits).iter().any(|hit| hit["id"] == "music_store.customers"), "{hits:#}");
    let sql = "SELECT count(*) AS n FROM music_store.customers";
    let rows = folder.run(&["sql", sql, "--on", "data/music_store.sqlite"]).json(0);
    let on_folder = folder.run(&["--on", "data", "sql", sql]).json(0);
    assert_eq!(rows[0]["rows"], on_folder[0]["rows"]);
    let plan: Value = serde_json::from_str(&folder.run(&["plan", VIP, "--on", "data"]).out).unwrap();
    assert_holds(&plan["discovered_context"]["documents"], &["business_rules"]);
    let chat = Ran::of(folder.0.bare().args(["chat", "--on", "data"]).write_stdin("How many customers are there?\n"));
    assert!(chat.out.contains("customers"), "{chat:?}");
    // Nothing is written next to the data; the index is in the cache, once for the same sources.
    let mut found: Vec<_> =
        fs::read_dir(folder.path("data")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, ["music_store.sqlite", "notes.xyz", "rules", "web_metrics.csv"]);
    assert_eq!(fs::read_dir(folder.path(".cache/prospector")).unwrap().count(), 2);
    assert!(!folder.path(".prospector").exists());
}

#[test]
fn sources_have_names_and_skipped_files_are_reported() {
    let folder = Folder::new();
    let listed = folder.run(&["call", "list_databases", "--on", "shop=data/music_store.sqlite"]).json(0);
    assert_eq!(listed[0]["name"], "shop");
    folder.write("other/music_store.sqlite", &sample_file("databases/music_store.sqlite"));
    let args = ["refresh", "--on", "data", "--on", "other/music_store.sqlite"];
    let report = folder.run(&args).json(0);
    let reasons: Vec<&str> =
        items(&report["problems"]).iter().filter_map(|problem| problem["reason"].as_str()).collect();
    let has = |part: &str| assert!(reasons.iter().any(|reason| reason.contains(part)), "{part}: {reasons:?}");
    has("skipped 1 file of unsupported type: 1 .xyz");
    has("another source is named `music_store` too; this one is renamed to `other_music_store`");
}

#[test]
fn files_in_folders_of_keys_are_one_table() {
    let folder = Folder::new();
    let rates = sample_file("files/exchange_rates.parquet");
    for bank in ["year=2024/bank=a%2Fb", "year=2024/bank=c", "year=2025/bank=c"] {
        folder.write(&format!("lake/rates/{bank}/part.parquet"), &rates);
    }
    let sql = |query: &str, on: &[&str]| folder.run(&[&["sql", query][..], on].concat()).json(0)[0]["rows"].clone();
    let of_one = sql("SELECT count(*) FROM part.rates", &["--on", "part=lake/rates/year=2025/bank=c/part.parquet"]);
    let grouped = "SELECT year, bank, count(*) AS n FROM rates.rates GROUP BY year, bank ORDER BY year, bank";
    let count = &of_one[0][0];
    let expected = json!([[2024, "a/b", count], [2024, "c", count], [2025, "c", count]]);
    assert_eq!(sql(grouped, &["--on", "lake"]), expected);
    let one = sql("SELECT count(*) FROM rates.rates WHERE year = 2025", &["--on", "lake"]);
    assert_eq!(&one[0][0], count);

    // A catalog has the same table, with or without a name for the database.
    for entry in ["{path: 'lake/rates/*=*/*=*/*.parquet'}", "{name: rates, path: 'lake/**/*.parquet'}"] {
        folder.write("catalog.yaml", format!("databases:\n  - {entry}\n").as_bytes());
        assert_eq!(sql(grouped, &["--catalog", "catalog.yaml"]), expected, "{entry}");
    }
}

#[test]
fn unusable_source_is_an_error() {
    let folder = Folder::new();
    fs::create_dir(folder.path("empty")).unwrap();
    folder.write("data.duckdb", b"01234567DUCK");
    let check = |source: &str, expected: &str| {
        let ran = folder.run(&["search", "customers", "--on", source]);
        let complaint = ran.complaint(2);
        assert!(complaint.contains(expected) && !complaint.contains("s3cret"), "{complaint}");
    };
    check("dat", "no such file or folder: `dat`; did you mean `data`?");
    check("empty", "no usable files in `empty`");
    check("data/notes.xyz", "unsupported file type");
    check("data.duckdb", "DuckDB files are not supported");
    check("data/*.parquet", "no file matches it");
    check("postgres://me:s3cret@127.0.0.1:9/crm", "cannot connect to postgres://me@127.0.0.1:9/crm");
    check("http://me:s3cret@127.0.0.1:9/openapi.json", "none of the sources can be opened");
    check("redis://me:s3cret@127.0.0.1", "unsupported scheme `redis://`");

    let both = folder.run(&["search", "x", "--on", "data", "--catalog", "catalog.yaml"]);
    assert!(both.err.contains("cannot be used with"), "{both:?}");
    // The cache cannot be created, because a file has its name.
    let folder = Folder::new();
    folder.write(".cache", b"");
    let ran = folder.run(&["search", "customers", "--on", "data"]);
    assert!(ran.complaint(2).contains("--state FOLDER"), "{ran:?}");
    let elsewhere = folder.run(&["search", "customers", "--on", "data", "--state", "state"]).json(0);
    assert!(!items(&elsewhere).is_empty());
}

#[test]
fn init_adds_detected_sources() {
    let folder = Folder::new();
    folder.write(".env", b"CRM_DATABASE_URL=postgres://me:s3cret@127.0.0.1:9/crm\n");
    folder.write("data/shop.openapi.yaml", &sample_file("apis/shop.openapi.yaml"));
    folder.write("data/2024/january.csv", b"day,visits\n1,20\n");
    folder.write("data/2024/february.csv", b"day,visits\n1,30\n");
    folder.write("shop/templates/cart.html", b"<h1>{{ cart }}</h1>");
    let ran = folder.run(&["init"]);
    let begun = ran.json(0);
    assert_eq!(begun["created"], "catalog.yaml");
    let written = fs::read_to_string(folder.path("catalog.yaml")).unwrap();
    for line in [
        "# yaml-language-server: $schema=.prospector/catalog.schema.json",
        "  - {name: music_store, path: data/music_store.sqlite}",
        "  - {name: web_metrics, path: data/web_metrics.csv}",
        "  - {name: data_2024, path: \"data/2024/*.csv\"}   # 2 files, one table each",
        "  - {name: crm, url: \"${CRM_DATABASE_URL}\"}   # postgres, from .env",
        "  - {name: shop, path: data/shop.openapi.yaml}",
        "  - {path: data/rules}",
        "#  .: 1 file of unsupported type: 1 .xyz",
        "skills: []",
    ] {
        assert!(written.lines().any(|found| found.starts_with(line)), "{line} is not in\n{written}");
    }
    assert!(written.contains("cart.html: a template or application page") && !written.contains(".env: hidden"));
    assert!(!format!("{written}{ran:?}").contains("s3cret"));
    assert!(ran.err.contains("set CRM_DATABASE_URL"), "{}", ran.err);
    let schema: Value =
        serde_json::from_slice(&fs::read(folder.path(".prospector/catalog.schema.json")).unwrap()).unwrap();
    assert!(schema["properties"]["databases"].is_object());

    // The variable is not set, which affects only its entry.
    let report = folder.run(&["refresh"]).json(2);
    let problems = items(&report["problems"]);
    let errors: Vec<&Value> = problems.iter().filter(|problem| problem["severity"] == "error").collect();
    assert_eq!(errors.len(), 1, "{problems:#?}");
    let again = folder.run(&["init"]);
    assert!(again.complaint(2).contains("nothing was changed"), "{again:?}");
}

#[test]
fn init_declares_joins_between_files() {
    let folder = Folder::new();
    folder.write("sales/customers.csv", b"customer_no,company\nC1,Acme\nC2,Brown\nC3,Clark\nC4,Dell\n");
    folder.write("sales/orders.csv", b"id,customer_no,total\n1,C1,5\n2,C3,7\n3,C2,11\n4,C1,13\n5,C4,17\n");
    let ran = folder.run(&["init", "sales"]);
    let join = "orders.customer_no = customers.customer_no (inferred, 100 % match)";
    assert_eq!(ran.json(0)["joins"], json!([{"database": "sales", "join": join}]));
    let written = fs::read_to_string(folder.path("sales/catalog.yaml")).unwrap();
    for line in [
        "  - {name: orders, table: sales.orders}",
        "  - {name: customers, table: sales.customers, key: customer_no}",
        "  - {from: orders.customer_no, to: customers.customer_no}",
    ] {
        assert!(written.lines().any(|found| found == line), "{line} is not in\n{written}");
    }
    let catalog = ["--catalog", "sales/catalog.yaml"];
    let refreshed = folder.run(&[&["refresh"][..], &catalog].concat()).json(0);
    assert_eq!(refreshed["problems"], json!([]));
    let answer = folder.run(&[&["ask", "total by company"][..], &catalog].concat());
    assert!(answer.out.contains("Acme") && answer.out.contains("18"), "{answer:?}");

    // The same column in files without a common value is no join.
    folder.write("other/customers.csv", b"customer_no,company\nC7,Acme\nC8,Brown\nC9,Clark\n");
    folder.write("other/orders.csv", &fs::read(folder.path("sales/orders.csv")).unwrap());
    let text = folder.run(&["init", "other", "--format", "text"]).out;
    assert!(text.contains("no joins were found between the tables of other"), "{text}");
    assert!(!fs::read_to_string(folder.path("other/catalog.yaml")).unwrap().contains("\njoins:"));
    assert!(!text.contains("different databases"), "{text}");

    // Folders are databases of their own.
    folder.write("both/people/customers.csv", b"customer_no,company\nC1,Acme\nC2,Brown\n");
    folder.write("both/sales/orders.csv", b"id,customer_no\n1,C1\n2,C2\n");
    let text = folder.run(&["init", "both", "--format", "text"]).out;
    assert!(text.contains("tables of different databases were not compared"), "{text}");
}

#[test]
fn interactive_init_asks_for_each_source() {
    let folder = Folder::new();
    let init = |answers: &str| Ran::of(folder.0.bare().args(["init", "--interactive"]).write_stdin(answers.to_owned()));
    let broken_off = init("y\n");
    assert!(broken_off.code == Some(2) && broken_off.err.contains("no catalog was written"), "{broken_off:?}");
    assert!(!folder.path("catalog.yaml").exists());
    // The first source is declined, after an invalid answer, and the others are added.
    let ran = init("maybe\nn\na\n");
    let begun = ran.json(0);
    assert!(ran.err.contains("answer y, n, a or q"), "{}", ran.err);
    let skipped = items(&begun["skipped"]);
    let declined: Vec<&Value> = skipped.iter().filter(|problem| problem["reason"] == "skipped by choice").collect();
    assert_eq!(declined.len(), 1, "{begun:#}");
    let written = fs::read_to_string(folder.path("catalog.yaml")).unwrap();
    let place = declined[0]["place"].as_str().unwrap();
    assert!(!written.contains(&format!("path: {place}}}")), "{written}");
    assert_eq!(items(&begun["found"]).len(), 2, "{begun:#}");
}

#[test]
fn add_keeps_comments() {
    let folder = Folder::new();
    let before = "# Mine.\ndatabases:\n  - path: data/music_store.sqlite # the shop\n# the end\n";
    folder.write("catalog.yaml", before.as_bytes());
    let added = folder.run(&["add", "data/web_metrics.csv"]).json(0);
    assert_eq!(added["added"][0]["name"], "web_metrics");
    let after = "# Mine.\ndatabases:\n  - path: data/music_store.sqlite # the shop\n  - {name: web_metrics, path: data/web_metrics.csv}\n# the end\n";
    assert_eq!(fs::read_to_string(folder.path("catalog.yaml")).unwrap(), after);
    let rules = folder.run(&["add", "data/rules"]).json(0);
    assert_eq!(rules["added"][0]["section"], "documents");
    let listed = folder.run(&["call", "list_databases"]).json(0);
    assert_eq!(items(&listed).len(), 2);

    let check = |source: &str, expected: &str| {
        let text = fs::read(folder.path("catalog.yaml")).unwrap();
        let ran = folder.run(&["add", source]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(expected) && !ran.err.contains("s3cret"), "{}", ran.err);
        assert_eq!(fs::read(folder.path("catalog.yaml")).unwrap(), text);
    };
    check("postgres://me:s3cret@127.0.0.1:9/crm", "cannot be opened; nothing was changed");
    folder.write("other.csv", b"a,b\n1,2\n");
    check("web_metrics=other.csv", "the catalog already has an entry `web_metrics`");
    check("nowhere.csv", "no such file or folder");
}

#[test]
fn add_leaves_out_what_the_catalog_includes() {
    let folder = Folder::new();
    folder.write("data/days/one.csv", b"a,b\n1,2\n");
    let before =
        "databases:\n- path: data/music_store.sqlite\n- path: data/days/*.csv\ndocuments:\n- path: data/rules\n";
    folder.write("catalog.yaml", before.as_bytes());
    for (source, line) in [
        ("data/music_store.sqlite", 2),
        ("shop=data/days/../music_store.sqlite", 2),
        ("data/days/one.csv", 3),
        ("data/rules", 5),
        ("data/rules/business_rules.md", 5),
    ] {
        let ran = folder.run(&["add", source]);
        assert_eq!(ran.json(0)["added"], json!([]), "{source}");
        assert!(ran.err.contains(&format!("is already in catalog.yaml:{line}")), "{source}: {}", ran.err);
        assert_eq!(fs::read_to_string(folder.path("catalog.yaml")).unwrap(), before);
    }
    let ran = folder.run(&["add", "data"]);
    let added = ran.json(0);
    let names: Vec<&str> = items(&added["added"]).iter().filter_map(|entry| entry["name"].as_str()).collect();
    assert_eq!(names, ["web_metrics"], "{}", ran.err);
}

#[test]
fn doctor_reports_problems() {
    let folder = Folder::new();
    let check = |report: &Value, what: &str, status: &str, finding: &str| {
        let checks = items(&report["checks"]);
        let found = checks.iter().any(|check| {
            let text = |key: &str| check[key].as_str().unwrap_or_default();
            text("what").contains(what) && text("status") == status && text("finding").contains(finding)
        });
        assert!(found, "{what} {status} {finding}: {checks:#?}");
    };
    let none = folder.run(&["doctor"]).json(2);
    check(&none, "catalog", "error", "no catalog found");
    check(&none, "program", "ok", concat!("planner ", env!("CARGO_PKG_VERSION")));
    let well = folder.run(&["doctor", "--on", "data"]).json(0);
    check(&well, "music_store (sqlite)", "ok", "reached");
    check(&well, "model", "warning", "`offline`");
    let yaml =
        "databases:\n- path: data/music_store.sqlite\n- {name: crm, url: 'postgres://me:s3cret@127.0.0.1:9/crm'}\n";
    folder.write("catalog.yaml", yaml.as_bytes());
    let report = folder.run(&["doctor"]).json(2);
    check(&report, "catalog.yaml:3", "error", "postgres://me@127.0.0.1:9/crm");
    assert!(!report.to_string().contains("s3cret"));
    let keyed = Ran::of(folder.0.bare().arg("doctor").env("ANTHROPIC_API_KEY", "s3cret")).json(2);
    check(&keyed, "model", "ok", "ANTHROPIC_API_KEY set");
    assert!(!keyed.to_string().contains("s3cret"));
}

#[test]
fn rows_are_printed_in_every_format() {
    let estate =
        Estate::new("databases:\n- path: pets.csv\n").with("pets.csv", "pet,age,note\nhamster,2,\"a, b\"\n猫,11,\n");
    let run = |format: &str| {
        let ran = estate.run(["sql", "SELECT pet, age, note FROM pets ORDER BY age", "--format", format]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.out
    };
    assert_eq!(run("csv"), "pet,age,note\nhamster,2,\"a, b\"\n猫,11,\n");
    assert_eq!(run("md"), "| pet | age | note |\n| --- | --- | --- |\n| hamster | 2 | a, b |\n| 猫 | 11 |  |\n");
    let lines: Vec<Value> = run("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], json!({"pet": "hamster", "age": 2, "note": "a, b"}));
    let table = run("table");
    assert!(table.contains("│ hamster ┆   2 ┆ a, b │") && table.ends_with("\n2 rows\n"), "{table}");
    assert_eq!(serde_json::from_str::<Value>(&run("json")).unwrap()[0]["row_count"], 2);
    let wrong = estate.run(["sql", "SELECT nothing FROM pets", "--format", "table"]);
    assert_eq!(wrong.code, Some(1));
}

#[test]
fn every_report_has_every_format() {
    let estate = Estate::sample();
    let plan = estate.plan(VIP);
    let file = estate.state().with_extension("json");
    fs::write(&file, plan.to_string()).unwrap();
    let check = |args: &[&str], columns: &[&str]| {
        let run = |format: &str| {
            let ran = estate.run([args, &["--format", format]].concat());
            assert_eq!(ran.code, Some(0), "{ran:?}");
            ran.out
        };
        for column in columns {
            let table = run("table");
            assert!(table.contains(column) || table.starts_with("the plan is verified"), "{column}: {table}");
            assert!(run("csv").lines().next().unwrap().contains(column), "{}", run("csv"));
        }
        assert!(run("md").contains("| --- |"), "{}", run("md"));
        assert!(run("jsonl").lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
        let json: Value = serde_json::from_str(&run("json")).unwrap();
        assert_eq!(json, serde_json::from_str::<Value>(&estate.run(args).out).unwrap(), "json is what a pipe gets");
    };
    check(&["search", "refund"], &["kind", "id", "relevance"]);
    check(&["tools"], &["tool", "arguments"]);
    check(&["call", "list_databases"], &["name", "tables"]);
    check(&["check", file.to_str().unwrap()], &["verdict", "path"]);
    check(&["refresh"], &["of", "added"]);
    check(&["doctor"], &["what", "finding"]);
    let text = estate.run(["plan", VIP, "--format", "text"]);
    assert!(text.out.starts_with(plan["reasoning"].as_str().unwrap()) && text.out.contains("1. "), "{}", text.out);
    assert!(text.out.contains("Verified:"), "{}", text.out);
}

#[cfg(unix)]
#[test]
fn a_running_server_reloads_its_catalog() {
    let estate = Estate::new("databases:\n- path: pets.csv\n");
    estate.write("pets.csv", "pet,age\nhamster,2\n");
    estate.write("owners.csv", "owner,pet\nAda,hamster\n");
    let server = support::serving::Server::new(&estate, &[], &[]);
    let records = || {
        let about: Value = serde_json::from_str(&server.ask("GET", "/v1/about", "").1).unwrap();
        (about["things"]["database"].clone(), about["catalog_error"].clone())
    };
    let before = records();
    assert_eq!(before.1, Value::Null);
    // An invalid catalog is reported, and the previous one is still served.
    estate.write("catalog.yaml", "databases: [\n");
    // The reason is in the log, and not visible to clients with a token.
    let said = server.until("the changed catalog cannot be opened; the previous one is served");
    assert!(said.contains("not valid YAML"), "{said}");
    let (status, ready) = server.ask("GET", "/readyz", "");
    assert!(status == 200 && ready.contains("the previous one is served"), "{status} {ready}");
    let broken = records();
    assert_eq!(broken.0, before.0);
    assert!(broken.1.as_str().unwrap().contains("the previous one is served"), "{broken:?}");
    estate.write("catalog.yaml", "databases:\n- path: pets.csv\n- path: owners.csv\n");
    let follows = |_: &i32| {
        std::thread::sleep(std::time::Duration::from_millis(200));
        records() != broken
    };
    assert!((0..300).any(|at| follows(&at)), "{:?}", records());
    assert_eq!(records().1, Value::Null);
    assert_eq!(server.ask("GET", "/readyz", ""), (200, "ready\n".to_owned()));
    assert_ne!(records().0, before.0);
}

#[test]
fn serve_accepts_sources_and_queries() {
    let folder = Folder::new();
    let query = json!({"queries": [{"question": "?", "sql": "SELECT count(*) FROM music_store.customers"}]});
    let client =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "execute_sql", "arguments": query}}),
    ];
    let input = messages.map(|message| format!("{message}\n")).concat();
    let ran = Ran::of(folder.0.bare().args(["mcp", "data"]).write_stdin(input));
    let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let instructions = answers[0]["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("music_store (19)"), "{instructions}");
    assert!(answers[1].to_string().contains("[[720]]"), "{}", answers[1]);
}
