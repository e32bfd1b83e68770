//! `planner sql` over the sample catalog: one source in its dialect, two in one query, and rejected queries.

use crate::support::{self, Estate, Ran, items};
use serde_json::{Value, json};

fn check(sql: &str, exit: i32, executed: &str, rows: Value) {
    let answer = Estate::sample().run(["sql", sql]).json(exit);
    assert_eq!((&answer[0]["executed"], &answer[0]["rows"]), (&json!(executed), &rows), "{answer:#}");
}

#[test]
fn one_database_uses_its_own_dialect() {
    check("SELECT COUNT(*) FROM music_store.customers WHERE country_cd = 'BR'", 0, "native", json!([[69]]));
}

#[test]
fn two_sources_are_joined() {
    let sql = "SELECT c.country_cd, COUNT(DISTINCT c.customer_id) AS customers, COUNT(DISTINCT w.channel) AS channels \
               FROM music_store.customers c JOIN web_metrics.web_metrics w ON w.country = c.country_cd \
               WHERE w.country IN ('US', 'DE') GROUP BY c.country_cd ORDER BY customers DESC";
    check(sql, 0, "joined", json!([["US", 175, 5], ["DE", 86, 5]]));
}

#[test]
fn writes_and_unknown_names_are_rejected() {
    for (sql, error) in [
        ("DROP TABLE music_store.customers", "refused"),
        ("SELECT 1; DELETE FROM music_store.customers", "refused"),
        ("SELECT nam FROM music_store.genres", "unknown_column"),
        ("SELECT * FROM music_store.custmers", "unknown_table"),
    ] {
        let answer = Estate::sample().run(["sql", sql]).json(1);
        assert_eq!(answer[0]["error"], error, "{answer:#}");
        assert!(answer[0]["message"].is_string(), "{answer:#}");
    }
}

#[test]
fn query_tools_are_called_by_name_and_listed_on_request() {
    let estate = Estate::sample();
    let sql = "SELECT COUNT(*) FROM music_store.customers WHERE country_cd = 'BR'";
    let answer = estate.call("execute_sql", &json!({"queries": [{"question": "?", "sql": sql}]})).json(0);
    assert_eq!((&answer[0]["rows"], &answer[0]["tables"]), (&json!([[69]]), &json!(["music_store.customers"])));
    let request = json!({"database": "music_store", "table": "customers", "measures": [{"aggregation": "count"}],
                         "filters": [{"column": "country_cd", "op": "eq", "value": "BR"}]});
    assert_eq!(estate.call("query_datasource", &request).json(0)["rows"], json!([[69]]));

    let names = |flags: &[&str]| -> Vec<String> {
        let specs = estate.run(["tools", "--profile", "full"].iter().chain(flags)).json(0);
        specs.as_array().unwrap().iter().map(|spec| spec["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!names(&[]).contains(&"execute_sql".to_owned()));
    let all = names(&["--queries"]);
    for name in ["build_query", "execute_sql", "get_datasource_metadata", "load_scoped", "query_datasource"] {
        assert!(all.contains(&name.to_owned()), "{name} is not in {all:?}");
    }
}

#[test]
fn formats_without_warnings_print_them_on_standard_error() {
    let estate = Estate::sample();
    let request = json!({"database": "music_store", "table": "invoices", "measures": [{"aggregation": "count"}],
                         "filters": [{"column": "bill_cntry", "op": "eq", "value": "Brasil"}]});
    let request = request.to_string();
    for format in ["csv", "jsonl", "md", "table"] {
        for args in [
            vec!["sql", "SELECT COUNT(*) FROM music_store.invoices WHERE bill_cntry = 'Brasil'"],
            vec!["metrics", "query", "gross_revenue", "--filter", "country = 'Brasil'"],
            vec!["call", "query_datasource", &request],
        ] {
            let ran = estate.run(args.iter().chain(&["--format", format]));
            let warning = "warning: no value 'Brasil' in `invoices.bill_cntry`";
            assert_eq!((ran.code, ran.err.matches(warning).count()), (Some(0), 1), "{args:?} {format}: {}", ran.err);
        }
    }
}

#[test]
fn the_answers_of_a_file_of_queries_are_written() {
    let estate = Estate::sample();
    let (queries, out) = (estate.state().join("../queries.jsonl"), estate.state().join("../answers.jsonl"));
    let lines = [
        json!({"id": "a", "database": "music_store", "sql": "SELECT COUNT(*) FROM customers WHERE country_cd = 'BR'"}),
        json!({"id": "b", "database": "music_store", "sql": "DELETE FROM customers"}),
        json!({"id": "c", "database": "elsewhere", "sql": "SELECT 1"}),
    ];
    std::fs::create_dir_all(estate.state()).unwrap();
    std::fs::write(&queries, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let (queries, out) = (queries.to_str().unwrap(), out.to_str().unwrap());
    let report = estate.run(["bench", "sql", "--queries", queries, "--out", out]).json(0);
    assert_eq!(report, json!({"queries": 3, "answered": 1, "left_out": 1, "failed": {"refused": 1}}));
    let written = std::fs::read_to_string(out).unwrap();
    let answers: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers[0]["rows"], json!([[69]]));
    assert_eq!(answers[1]["error"], "refused");
}

/// A catalog of a CSV file and a SQLite database with this many rows each.
fn large(rows: usize) -> Estate {
    let estate = Estate::new("databases:\n- path: big.csv\n- {name: store, path: store.sqlite}\n");
    let lines: String = (0..rows).map(|id| format!("{id},name {id},{}.25\n", id % 100)).collect();
    estate.write("big.csv", format!("id,name,price\n{lines}"));
    estate.write("store.sqlite", support::sample_file("databases/music_store.sqlite"));
    estate
}

/// Checks that each format has all rows of a result.
#[track_caller]
fn check_count(estate: &Estate, sql: &str, rows: usize) {
    for (format, count) in [("csv", rows + 1), ("csv-safe", rows + 1), ("jsonl", rows), ("md", rows + 2)] {
        let ran = estate.run(["sql", sql, "--format", format]);
        assert_eq!((ran.code, ran.out.lines().count()), (Some(0), count), "{format}: {}", ran.err);
    }
    let answer = estate.run(["sql", sql]).json(0);
    let counted = items(&answer[0]["rows"]).len();
    assert_eq!((counted, &answer[0]["row_count"], &answer[0]["has_more"]), (rows, &json!(rows), &json!(false)));
    let table = estate.run(["sql", sql, "--format", "table"]);
    assert!(table.out.ends_with(&format!("\n{rows} rows\n")), "{}", &table.out[table.out.len() - 200..]);
}

#[test]
fn every_format_has_all_rows() {
    let estate = large(30_000);
    check_count(&estate, "SELECT id, name, price FROM big", 30_000);
    // In the dialect of a source, a cross join repeats the rows of a table.
    let sql = "SELECT a.track_id, a.title, b.genre_id FROM store.tracks a CROSS JOIN (SELECT 1 AS genre_id UNION ALL SELECT 2) b";
    let rows = estate.run(["sql", "SELECT 2 * count(*) FROM store.tracks"]).json(0)[0]["rows"][0][0].as_u64().unwrap();
    assert!(rows > 2_000, "{rows}");
    check_count(&estate, sql, rows as usize);
}

#[test]
fn a_limit_truncates_and_reports_more_rows() {
    let estate = large(3_000);
    let ran = estate.run(["sql", "SELECT * FROM big ORDER BY id", "--limit", "1500", "--format", "csv"]);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 1_501));
    assert!(ran.out.ends_with("\n1499,name 1499,99.25\n"), "{}", ran.out);
    assert!(ran.err.contains("stopped after 1500 rows (--limit); there are more"), "{}", ran.err);
    let answer = estate.run(["sql", "SELECT * FROM big", "--limit", "7"]).json(0);
    assert_eq!((&answer[0]["row_count"], &answer[0]["has_more"]), (&json!(7), &json!(true)));
    let all = estate.run(["sql", "SELECT * FROM big LIMIT 7", "--limit", "7"]);
    assert_eq!(all.json(0)[0]["has_more"], false);
    assert!(!all.err.contains("there are more"), "{}", all.err);
}

#[test]
fn failed_export_reports_its_last_row() {
    let estate = large(30_000);
    // The value that cannot be cast is after rows that are already printed.
    let lines: String =
        (0..60_000).map(|id| if id == 59_000 { "none\n".to_owned() } else { format!("{id}\n") }).collect();
    estate.write("dirty.csv", format!("n\n{lines}"));
    estate.write("catalog.yaml", "databases:\n- {path: dirty.csv, strict: true}\n");
    let sql = "SELECT CAST(n AS BIGINT) AS n, repeat('x', 100) AS x FROM dirty";
    let ran = estate.run(["sql", sql, "--format", "csv"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("cannot parse 'none' as integer") && ran.err.contains("TRY_CAST"), "{}", ran.err);
    let rows = ran.out.lines().count().saturating_sub(1);
    assert!(rows == 0 || ran.err.contains(&format!("it ends after {rows} rows")), "{rows}: {}", ran.err);
    let tried = estate.run(["sql", "SELECT count(TRY_CAST(n AS BIGINT)) FROM dirty"]).json(0);
    assert_eq!(tried[0]["rows"], json!([[59_999]]));
}

#[test]
fn statements_from_a_pipe_run_until_the_first_error() {
    let estate = large(3);
    let run =
        |args: &[&str], input: &str| Ran::of(estate.planner().arg("sql").args(args).write_stdin(input.to_owned()));
    let two = run(&["--format", "csv"], "-- the first;\nSELECT id FROM big\nWHERE id = 1;\nSELECT ';' AS semicolon;\n");
    assert_eq!((two.code, two.out.as_str()), (Some(0), "id\n1\n\nsemicolon\n;\n"), "{}", two.err);
    let both = run(&["-"], "SELECT 1 AS a; SELECT 2 AS b").json(0);
    assert_eq!((&both[0]["rows"], &both[1]["rows"]), (&json!([[1]]), &json!([[2]])));
    let wrong = run(&["--format", "jsonl"], "SELECT 1 AS a;\n\nSELECT nam FROM big;\nSELECT 3 AS c;\n");
    assert_eq!((wrong.code, wrong.out.as_str()), (Some(1), "{\"a\":1}\n"));
    assert!(wrong.err.contains("unknown column `nam` in `big` (did you mean `big.name`?)"), "{}", wrong.err);
    assert!(wrong.err.contains("line 3: stopped at this statement"), "{}", wrong.err);
    let json = run(&[], "SELECT 1 AS a; SELECT nam FROM big").json(1);
    assert_eq!((&json[0]["row_count"], &json[1]["error"]), (&json!(1), &json!("unknown_column")));
    assert!(run(&[], " \n-- nothing\n").complaint(2).contains("no statement"));
    let remarks = run(&["--format", "csv"], "SELECT 1 AS a; -- the end\n/* of\nit */\n");
    assert_eq!((remarks.code, remarks.out.as_str()), (Some(0), "a\n1\n"), "{}", remarks.err);
}

#[test]
fn information_schema_lists_the_catalog() {
    let estate = Estate::sample();
    let rows = |sql: &str, more: &[&str]| estate.run([&["sql", sql][..], more].concat()).json(0)[0].clone();
    let databases = rows("SHOW DATABASES", &[]);
    assert!(items(&databases["rows"]).iter().any(|row| row[0] == "music_store"), "{databases:#}");
    let tables = rows("show tables;", &["--database", "music_store"]);
    assert!(items(&tables["rows"]).iter().all(|row| row[0] == "music_store"), "{tables:#}");
    assert!(items(&tables["rows"]).iter().any(|row| row[1] == "customers"), "{tables:#}");
    assert_eq!(rows("SHOW TABLES FROM music_store", &[])["rows"], tables["rows"]);
    let columns = rows("DESCRIBE music_store.genres", &[]);
    assert_eq!(columns["columns"], json!(["column", "type", "nullable", "key", "comment"]));
    assert_eq!(columns["rows"][0][0], "genre_id");
    assert_eq!(rows("describe genres", &["--database", "music_store"])["rows"], columns["rows"]);
    let counted =
        "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'music_store' AND table_name = 'genres'";
    assert_eq!(rows(counted, &[])["rows"][0][0], items(&columns["rows"]).len());
    let joined = "SELECT t.table_name, count(*) AS n FROM information_schema.tables t JOIN information_schema.columns c \
                  ON c.table_schema = t.table_schema AND c.table_name = t.table_name WHERE t.table_name = 'genres' GROUP BY 1";
    assert_eq!(rows(joined, &["--database", "music_store"])["rows"][0][1], items(&columns["rows"]).len());
    let all = rows("FROM music_store.genres ORDER BY genre_id LIMIT 2", &[]);
    assert_eq!(all["rows"], rows("SELECT * FROM music_store.genres ORDER BY genre_id LIMIT 2", &[])["rows"]);
    // The tool for models has the same result.
    let query = json!({"queries": [{"sql": "DESCRIBE music_store.genres"}]});
    assert_eq!(estate.call("execute_sql", &query).json(0)[0]["rows"], columns["rows"]);
}

#[test]
fn errors_use_sql_terms() {
    let estate = Estate::new("databases:\n- {path: sales.csv, strict: true}\n")
        .with("sales.csv", "id,amount,player\n1,12.5,Pelé\n2,n/a,Zico\n3,none,Pelé\n4,x,Zico\n");
    for (sql, message, advice) in [
        ("SELECT sum(amount) FROM sales", "`sum` needs numbers, but `amount` is text", "TRY_CAST(amount AS DOUBLE)"),
        ("SELECT avg(s.amount) FROM sales s", "`avg` needs numbers, but `s.amount` is text", "TRY_CAST(s.amount"),
        ("SELECT CAST(amount AS DOUBLE) FROM sales", "cannot parse 'n/a' as double", "TRY_CAST"),
        ("SELECT CAST(amount AS DATE) FROM sales", "as date", "TRY_CAST"),
        ("SELECT TOP 5 * FROM sales", "TOP is not supported", "LIMIT 5"),
        ("SELECT * FROM sale", "unknown table `sale`", "did you mean `sales.sales`?"),
        ("SELECT amnt FROM sales", "unknown column `amnt` in `sales`", "`sales.amount`"),
        ("SELECT pg_sleep(3)", "function `pg_sleep` is unknown or not allowed", ""),
        ("SELECT * FROM sqlite_master", "unknown table `sqlite_master`", "SHOW TABLES"),
        ("EXPLAIN SELECT 1", "is not a query", "SHOW TABLES"),
        ("DESCRIBE sals", "unknown table `sals`", "did you mean `sales.sales`?"),
    ] {
        let ran = estate.run(["sql", sql, "--format", "table"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{sql}");
        assert!(ran.err.contains(message) && ran.err.contains(advice), "{sql}: {}", ran.err);
        for inside in ["Error during", "Internal error", "Utf8", "Int64", "Float64", "Date32", "list_tables", "degrees"]
        {
            assert!(!ran.err.contains(inside), "{sql}: {}", ran.err);
        }
    }
    let near = estate.run(["sql", "SELECT * FROM sales WHERE player = 'Pele'", "--format", "table"]);
    assert!(near.out == "0 rows\n" && near.err.contains("'Pelé'"), "{}{}", near.out, near.err);
}
