//! MariaDB sessions under any server settings: parsing of texts, traces left by queries, and size limits.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{connector, query};
use prospector_connect::error::Cause;
use prospector_connect::rows::{MAX_ANSWER_BYTES, MAX_CELL_BYTES, SqlQuery};
use prospector_connect::{ConnectError, Connector};
use prospector_test_support::server;
use serde_json::{Value, json};
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Connection, Row};

async fn run(url: &url::Url, sql: &str) {
    let mut connection = MySqlConnection::connect(url.as_str()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Creates a database with these statements.
async fn made(name: &str, sql: &str) -> Option<url::Url> {
    let mut url = server("PROSPECTOR_TEST_MARIADB")?;
    run(&url, &format!("DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name}")).await;
    url.set_path(name);
    run(&url, sql).await;
    Some(url)
}

async fn one(source: &Arc<dyn Connector>, sql: &str) -> Vec<Value> {
    query(source.as_ref(), sql, 5).await.unwrap().rows.swap_remove(0)
}

/// A separate server, whose settings do not affect other tests.
struct Private {
    process: Child,
    folder: tempfile::TempDir,
    url: url::Url,
}

impl Private {
    /// Returns `None` if the programs are not installed.
    async fn start() -> Option<Private> {
        let program = |name: &str| -> Option<PathBuf> {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            let folders =
                std::env::split_paths(&folders).chain([PathBuf::from("/usr/sbin"), PathBuf::from("/usr/bin")]);
            folders.map(|folder| folder.join(name)).find(|path| path.is_file())
        };
        let (Some(install), Some(mariadbd)) = (program("mariadb-install-db"), program("mariadbd")) else {
            assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "there is no mariadbd");
            let _ = writeln!(std::io::stderr(), "skipped: a test needs mariadbd");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let data = format!("--datadir={}", folder.path().join("data").display());
        let is_root = Command::new("id").arg("-u").output().is_ok_and(|said| said.stdout.starts_with(b"0\n"));
        let user = is_root.then_some("--user=root");
        let mut installing = Command::new(install);
        installing
            .args(["--no-defaults", &data, "--auth-root-authentication-method=normal", "--skip-test-db"])
            .args(user);
        let installed = installing.stdin(Stdio::null()).output().unwrap();
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let socket = format!("--socket={}", folder.path().join("s").display());
        let port_argument = format!("--port={port}");
        let mut serving = Command::new(mariadbd);
        serving.args(["--no-defaults", &data, &socket, &port_argument, "--bind-address=127.0.0.1", "--skip-log-bin"]);
        serving.args(["--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0"]).args(user);
        serving.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = serving.spawn().unwrap();
        let url = url::Url::parse(&format!("mariadb://root@127.0.0.1:{port}/mysql")).unwrap();
        let private = Private { process, folder, url };
        let end = Instant::now() + Duration::from_secs(60);
        while MySqlConnection::connect(private.url.as_str()).await.is_err() {
            assert!(Instant::now() < end, "mariadbd does not start");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Some(private)
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn sessions_override_server_settings() {
    let Some(private) = Private::start().await else { return };
    a_text_is_read_in_one_way_whatever_the_mode(&private).await;
    failures_have_a_cause_and_reveal_nothing_hidden(&private).await;
}

async fn a_text_is_read_in_one_way_whatever_the_mode(private: &Private) {
    let file = private.folder.path().join("written");
    let attack = format!("SELECT 'a\\' INTO OUTFILE \"{}\" -- '", file.display());
    let attack_value = format!("a' INTO OUTFILE \"{}\" -- ", file.display());
    for mode in [
        "",
        "NO_BACKSLASH_ESCAPES",
        "ANSI_QUOTES",
        "ORACLE",
        "MSSQL",
        "PIPES_AS_CONCAT",
        "HIGH_NOT_PRECEDENCE",
        "IGNORE_SPACE",
        "EMPTY_STRING_IS_NULL",
        "ANSI,NO_BACKSLASH_ESCAPES",
    ] {
        run(&private.url, &format!("SET GLOBAL sql_mode = '{mode},PAD_CHAR_TO_FULL_LENGTH,ONLY_FULL_GROUP_BY'")).await;
        let source = connector(&private.url, &[]);
        let sql = r#"SELECT 'it\'s', "text", 1 || 0, NOT 1 BETWEEN -5 AND 5, '' IS NULL, @@sql_mode"#;
        let modes = "ONLY_FULL_GROUP_BY,PAD_CHAR_TO_FULL_LENGTH";
        assert_eq!(
            one(&source, sql).await,
            [json!("it's"), json!("text"), json!(1), json!(0), json!(0), json!(modes)],
            "{mode}"
        );
        assert_eq!(one(&source, &attack).await, [json!(attack_value)], "{mode}");
        source.explain(&SqlQuery { sql: &attack, tables: &[], fields: None, functions: &[] }).await.unwrap();
    }
    assert!(!file.exists());

    let globals = "SET GLOBAL sort_buffer_size = 256 * 1024 * 1024, GLOBAL join_buffer_size = 1024 * 1024, \
         GLOBAL tmp_table_size = 512 * 1024 * 1024, GLOBAL group_concat_max_len = 1024, GLOBAL max_statement_time = 5";
    run(&private.url, globals).await;
    let source = connector(&private.url, &[]);
    let sql = "SELECT @@sort_buffer_size, @@join_buffer_size, @@tmp_table_size, @@group_concat_max_len, \
         @@tmp_disk_table_size, @@max_statement_time + 0, @@character_set_connection";
    let megabyte = 1 << 20;
    let expected = json!([8 * megabyte, megabyte, 64 * megabyte, 1024, 4_u64 << 30, 5.0, "utf8mb4"]);
    let found = one(&source, sql).await;
    assert_eq!(json!(found[..5]), json!(expected.as_array().unwrap()[..5]));
    assert_eq!((found[5].as_f64(), &found[6]), (Some(5.0), &json!("utf8mb4")));
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn queries_leave_nothing_in_the_session() {
    let Some(url) = made("session_left", "CREATE TABLE t (c int)").await else { return };
    let source = connector(&url, &[]);
    one(&source, "SELECT GET_LOCK('prospector_left', 0), @left := 5").await;
    assert_eq!(one(&source, "SELECT @left").await, [json!(null)]);
    let mut watch = MySqlConnection::connect(url.as_str()).await.unwrap();
    let end = Instant::now() + Duration::from_secs(15);
    // The server notices the closed connection a moment later.
    while sqlx::query("SELECT IS_FREE_LOCK('prospector_left')").fetch_one(&mut watch).await.unwrap().get::<i32, _>(0)
        != 1
    {
        assert!(Instant::now() < end, "the lock is still held");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn a_query_is_explained_without_being_run() {
    let Some(url) = made("session_explained", "CREATE TABLE t (c int)").await else { return };
    let source = connector(&url, &[]);
    let explain =
        async |sql: &str| source.explain(&SqlQuery { sql, tables: &["t"], fields: None, functions: &[] }).await;
    explain("SELECT SLEEP(50), c FROM t").await.unwrap();
    explain("SELECT c FROM (SELECT SLEEP(50) AS c) s;").await.unwrap();
    for sql in ["DELETE FROM t", "SELECT 1; SELECT 2", "SELECT d FROM t", "SET @a = 1"] {
        assert!(explain(sql).await.is_err(), "{sql}");
    }
}

#[tokio::test]
async fn values_and_answers_have_limits_in_bytes() {
    let Some(url) =
        made("session_large", "CREATE TABLE t (c longtext); INSERT INTO t VALUES (REPEAT('x', 5000000))").await
    else {
        return;
    };
    let source = connector(&url, &[]);
    let over = MAX_CELL_BYTES + 1;
    for (sql, named) in [
        ("SELECT 1, c FROM t".to_owned(), "c"),
        (format!("SELECT REPEAT('x', {over}) AS `a b`"), "a b"),
        (format!("SELECT CAST(REPEAT('x', {}) AS BINARY) AS b", MAX_CELL_BYTES / 2 + 1), "b"),
    ] {
        match query(source.as_ref(), &sql, 5).await {
            Err(ConnectError::TooLarge { column: Some(column), .. }) => assert_eq!(column, named, "{sql}"),
            other => panic!("{sql}: {:?}", other.map(|rows| rows.rows.len())),
        }
    }
    let error = source.rows("t", &["c".into()], &[], 5).await.unwrap_err();
    assert!(matches!(&error, ConnectError::TooLarge { column: Some(column), .. } if column == "c"), "{error}");
    for sql in ["SELECT REPEAT('x', 100000) FROM seq_1_to_100000", "SELECT seq FROM seq_1_to_5000000"] {
        match query(source.as_ref(), sql, 10_000_000).await {
            Err(ConnectError::TooLarge { column: None, limit, .. }) => assert_eq!(limit, MAX_ANSWER_BYTES, "{sql}"),
            other => panic!("{sql}: {:?}", other.map(|rows| rows.rows.len())),
        }
    }
    assert_eq!(one(&source, "SELECT LEFT(c, 2) FROM t").await, [json!("xx")]);
    assert_eq!(
        one(&source, &format!("SELECT REPEAT('x', {MAX_CELL_BYTES})")).await,
        [json!("x".repeat(MAX_CELL_BYTES))]
    );
}

async fn failures_have_a_cause_and_reveal_nothing_hidden(private: &Private) {
    let sql = "CREATE DATABASE causes; CREATE TABLE causes.t (c int); CREATE TABLE causes.veiled (token text);
         CREATE USER reader IDENTIFIED BY 'reading'; GRANT SELECT ON causes.t TO reader;
         SET GLOBAL max_statement_time = 1";
    run(&private.url, sql).await;
    let mut url = private.url.clone();
    url.set_username("reader").unwrap();
    url.set_password(Some("reading")).unwrap();
    url.set_path("causes");
    let source = connector(&url, &[]);
    let check = async |sql: &str, expected: Cause, number: &str| match query(source.as_ref(), sql, 5).await {
        Err(ConnectError::Read { cause, code, reason, .. }) => {
            assert_eq!((cause, code.as_deref()), (expected, Some(number)), "{sql}: {reason}");
            assert!(!reason.contains("veiled") && !reason.contains("reader"), "{sql}: {reason}");
        }
        other => panic!("{sql}: {other:?}"),
    };
    check("SELECT nosuch FROM t", Cause::UnknownColumn, "1054").await;
    check("SELECT nosuch()", Cause::Refused, "1370").await;
    check("SELEC 1", Cause::Syntax, "1064").await;
    // Hidden and missing tables are indistinguishable.
    check("SELECT 1 FROM veiled", Cause::Refused, "1142").await;
    check("SELECT 1 FROM nosuch", Cause::Refused, "1142").await;
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) \
         SELECT count(*) FROM n a, n b, n c, n d";
    check(endless, Cause::TimedOut, "1969").await;
}
