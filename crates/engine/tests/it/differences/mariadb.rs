//! MariaDB as its own witness: an account that may read the listed tables, and the queries as the server parsed them.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use prospector_connect::rows::SqlQuery;
use sqlx::{AssertSqlSafe, Connection, Executor, MySqlConnection, Row};
use tempfile::TempDir;

use super::postgres::{names, open_at, writable};
use super::subject::{HIDDEN, Subject, Witness};

/// The modes that change how a text is parsed, each with the name of its accounts.
pub(crate) const MODES: &[(&str, &str)] = &[
    ("plain", "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"),
    ("slashes", "NO_BACKSLASH_ESCAPES"),
    ("ansi", "ANSI_QUOTES"),
    ("oracle", "ORACLE"),
    ("mssql", "MSSQL"),
];

const DATABASE: &str = "prospector_differences";

const DATA: &str = "
CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(40));
INSERT INTO people VALUES (1, 'Ada'), (2, 'Bob'), (3, 'Cyd');
CREATE TABLE notes (id INTEGER PRIMARY KEY, person INTEGER, body TEXT, written DATETIME, more JSON, FULLTEXT (body));
INSERT INTO notes VALUES (1, 1, 'hello world', '2024-05-06 07:08:09', '{\"a\": {\"b\": 1}}'),
    (2, 2, 'it''s -- a /* note */', '2024-06-07 08:09:10', '[1, 2]');
CREATE TABLE secret (id INTEGER PRIMARY KEY, password VARCHAR(40)) COMMENT 's3cret';
INSERT INTO secret VALUES (1, 's3cret');
CREATE TABLE `keys` (id INTEGER PRIMARY KEY, token VARCHAR(40));
INSERT INTO `keys` VALUES (1, 's3cret');
CREATE TABLE `gehälter` (id INTEGER PRIMARY KEY, betrag VARCHAR(40));
INSERT INTO `gehälter` VALUES (1, 's3cret');
CREATE VIEW peep AS SELECT password FROM secret;
CREATE FUNCTION peek() RETURNS VARCHAR(40) READS SQL DATA RETURN (SELECT password FROM secret LIMIT 1);
CREATE FUNCTION nap(n INT) RETURNS INT NO SQL RETURN sleep(n);
CREATE SEQUENCE counter;
";

/// Functions that do more than compute; the server prints them in the parsed query, regardless of the original text.
const EFFECTS: &[&str] = &[
    "sleep",
    "benchmark",
    "load_file",
    "get_lock",
    "release_lock",
    "release_all_locks",
    "is_free_lock",
    "is_used_lock",
    "master_pos_wait",
    "master_gtid_wait",
    "last_insert_id",
    "nextval",
    "lastval",
    "setval",
    "peek",
    "nap",
    "row_count",
    "found_rows",
    "name_const",
];

/// Schemas of the server itself.
const SYSTEM: &[&str] = &["information_schema", "mysql", "performance_schema", "sys"];

/// The maximum time for a plan.
const TIME_LIMIT: Duration = Duration::from_secs(5);

struct Asking {
    /// The account that may read the listed tables.
    reader: MySqlConnection,
    /// An account that can read everything.
    owner: MySqlConnection,
    /// The address of the server.
    place: url::Url,
    reader_place: url::Url,
    settings: String,
    folder: TempDir,
}

/// Returns the server in one of the modes.
pub(crate) async fn subject(url: &url::Url, mode: &str) -> (Subject, String) {
    let account = |name: &str, database: &str| {
        let mut url = url.clone();
        url.set_username(name).unwrap();
        url.set_password(Some("an-account")).unwrap();
        url.set_path(database);
        url
    };
    let own = account(&format!("differences_{mode}"), DATABASE);
    let other = account(&format!("differences_{mode}_reader"), DATABASE);
    let mut place = url.clone();
    place.set_path(DATABASE);
    let owner = connected(&place, OWNER).await;
    let connector = open_at(&own);
    // The witness parses texts as the sessions of the connector do.
    let set = connector
        .query(&SqlQuery { sql: "SELECT @@sql_mode", tables: &[], fields: None, functions: &[] }, 1)
        .await
        .unwrap();
    let set = set.rows[0][0].as_str().unwrap_or_default().to_owned();
    let settings = format!("SET SESSION sql_mode = '{set}', SESSION max_statement_time = 5, SESSION tx_read_only = 1");
    let reader = connected(&other, &settings).await;
    let folder = writable();
    let dir = folder.path().to_str().unwrap().to_owned();
    let (described, reading) = (open_at(&place), open_at(&other));
    let witness = Box::new(Asking { reader, owner, place, reader_place: other, settings, folder });
    (Subject::new(connector, described.as_ref(), reading, witness).await, dir)
}

/// The settings of the owner's sessions.
const OWNER: &str = "SET SESSION group_concat_max_len = 100000";

/// Opens a session with these settings. Retries while the server is down: some queries crash it, and its supervisor restarts
/// it.
async fn connected(place: &url::Url, settings: &str) -> MySqlConnection {
    for _ in 0..120 {
        if let Ok(mut connection) = MySqlConnection::connect(&plain(place)).await
            && connection.execute(AssertSqlSafe(settings.to_owned())).await.is_ok()
        {
            return connection;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("the server does not come back");
}

/// Creates the database and the accounts of all modes, once per process. The server sets the mode of an account when it logs
/// in; other accounts are unaffected.
pub(crate) async fn prepare(url: &url::Url) {
    static PREPARED: tokio::sync::OnceCell<()> = tokio::sync::OnceCell::const_new();
    PREPARED.get_or_init(|| make(url)).await;
}

async fn make(url: &url::Url) {
    let mut owner = MySqlConnection::connect(&plain(url)).await.unwrap();
    for sql in [format!("DROP DATABASE IF EXISTS {DATABASE}"), format!("CREATE DATABASE {DATABASE}")] {
        owner.execute(AssertSqlSafe(sql)).await.unwrap();
    }
    let mut place = url.clone();
    place.set_path(DATABASE);
    let mut connection = MySqlConnection::connect(&plain(&place)).await.unwrap();
    sqlx::raw_sql(DATA).execute(&mut connection).await.unwrap();
    for (name, _) in MODES {
        for (account, rights) in [
            (format!("differences_{name}"), vec!["ALL ON *.*".to_owned()]),
            (
                format!("differences_{name}_reader"),
                ["people", "notes"].map(|table| format!("SELECT ON {DATABASE}.{table}")).to_vec(),
            ),
        ] {
            owner.execute(AssertSqlSafe(format!("DROP USER IF EXISTS {account}"))).await.unwrap();
            owner.execute(AssertSqlSafe(format!("CREATE USER {account} IDENTIFIED BY 'an-account'"))).await.unwrap();
            for right in rights {
                owner.execute(AssertSqlSafe(format!("GRANT {right} TO {account}"))).await.unwrap();
            }
            // `init_connect` does not apply to accounts that manage connections.
            if !account.ends_with("_reader") {
                let less = format!("REVOKE SUPER, CONNECTION ADMIN ON *.* FROM {account}");
                owner.execute(AssertSqlSafe(less)).await.unwrap();
            }
        }
    }
    owner.execute(AssertSqlSafe(modes())).await.unwrap();
}

/// Returns the statements that set the mode of each account at login.
fn modes() -> String {
    let (mut accounts, mut modes) = (String::new(), String::new());
    for (name, mode) in MODES {
        accounts += &format!(", 'differences_{name}', 'differences_{name}_reader'");
        modes += &format!(", '{mode}', '{mode}'");
    }
    format!(
        "SET GLOBAL init_connect = \"SET sql_mode = IFNULL(ELT(FIELD(SUBSTRING_INDEX(USER(), '@', 1){accounts}){modes}), \
         @@sql_mode)\""
    )
}

fn plain(url: &url::Url) -> String {
    url.as_str().replacen("mariadb://", "mysql://", 1)
}

#[async_trait]
impl Witness for Asking {
    async fn object(&mut self, sent: &str, _: &BTreeSet<String>) -> Vec<String> {
        match tokio::time::timeout(TIME_LIMIT, self.explain(sent)).await {
            Ok(objections) => objections,
            // Some answers do not have the form that the driver expects.
            Err(_) => {
                self.connect_again().await;
                Vec::new()
            }
        }
    }

    async fn state(&mut self) -> String {
        let sql = "SELECT concat_ws('|', (SELECT group_concat(id, name ORDER BY id) FROM people), \
             (SELECT group_concat(id, body ORDER BY id) FROM notes), \
             (SELECT group_concat(id, password) FROM secret), \
             (SELECT group_concat(table_schema, table_name ORDER BY 1) FROM information_schema.tables \
              WHERE table_schema LIKE '%differences%'), \
             (SELECT group_concat(User, Host ORDER BY User, Host) FROM mysql.user WHERE User LIKE 'differences%'), \
             (SELECT next_not_cached_value FROM counter), @@global.general_log, @@global.max_connections, \
             is_free_lock('a'), is_free_lock('stolen'))";
        let row = match self.owner.fetch_one(sql).await {
            Ok(row) => row,
            Err(_) => {
                self.connect_again().await;
                self.owner.fetch_one(sql).await.unwrap()
            }
        };
        format!("{} {:?}", row.get::<String, _>(0), names(self.folder.path()))
    }
}

impl Asking {
    async fn connect_again(&mut self) {
        self.owner = connected(&self.place, OWNER).await;
        self.owner.execute(AssertSqlSafe(modes())).await.unwrap();
        self.reader = connected(&self.reader_place, &self.settings).await;
    }

    async fn explain(&mut self, sent: &str) -> Vec<String> {
        let mut objections = Vec::new();
        let explain = AssertSqlSafe(format!("EXPLAIN EXTENDED {sent}"));
        if let Err(error) = sqlx::query::<sqlx::MySql>(explain).persistent(false).fetch_all(&mut self.reader).await {
            if matches!(error, sqlx::Error::Io(_)) {
                println!("the server went away: {sent:?}");
                self.connect_again().await;
            }
            objections.extend(denial(&error));
            return objections;
        }
        // The note of `EXPLAIN EXTENDED` is the query as it was parsed.
        let notes = sqlx::raw_sql("SHOW WARNINGS").fetch_all(&mut self.reader).await.unwrap();
        for note in notes {
            if note.get::<u32, _>(1) == 1003 {
                objections.extend(inspect(&without_hexadecimals(sent, note.get(2))));
            }
        }
        objections
    }
}

/// Returns what the account was denied. Renamed queries under WITH are exempt: MariaDB 10.11 looks for a table of that name
/// when one query under WITH references an outer one.
fn denial(error: &sqlx::Error) -> Option<String> {
    let error = error.as_database_error()?.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>()?;
    let is_common_table = error.message().contains(".`with_") && error.message().contains("_of_query`");
    let is_denied = matches!(error.number(), 1044 | 1045 | 1142 | 1143 | 1227 | 1290 | 1345 | 1370);
    (is_denied && !is_common_table).then(|| error.message().to_owned())
}

/// Returns what a query reads and calls besides the listed tables, according to the server.
fn inspect(query: &str) -> Vec<String> {
    let bare = without_texts(query);
    let mut objections = Vec::new();
    // A column has a third part; names defined by the query have no database.
    let is_read = |name: &str| {
        let mark = format!("`{DATABASE}`.`{name}`");
        bare.match_indices(&mark).any(|(at, _)| !bare[at + mark.len()..].starts_with('.'))
    };
    if let Some(name) = HIDDEN.iter().find(|name| is_read(name)) {
        objections.push(format!("the server reads {name}: {query}"));
    }
    let lower = bare.to_lowercase();
    if let Some(name) = SYSTEM.iter().find(|name| lower.contains(&format!("`{name}`.`"))) {
        objections.push(format!("the server reads {name}: {query}"));
    }
    if let Some(name) = EFFECTS.iter().find(|name| calls(&bare, name)) {
        objections.push(format!("the server calls {name}: {query}"));
    }
    if bare.contains('@') || bare.contains(" into ") {
        objections.push(format!("the server reads or sets a variable: {query}"));
    }
    objections
}

/// Returns whether a function of that name is called.
fn calls(query: &str, name: &str) -> bool {
    query.match_indices(name).any(|(at, _)| {
        let is_start = !query[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let rest = query[at + name.len()..].trim_start_matches('`');
        is_start && rest.starts_with('(')
    })
}

/// Removes the texts that were sent as hexadecimal digits from the server's note: it prints them without escaping inner quotes,
/// and unprintable bytes as they are or as `\xEF`.
fn without_hexadecimals(sent: &str, mut note: String) -> String {
    for part in sent.split("X'").skip(1) {
        let digits = part.split('\'').next().unwrap_or_default();
        let bytes: Vec<u8> = (0..digits.len() / 2)
            .filter_map(|at| u8::from_str_radix(digits.get(at * 2..at * 2 + 2)?, 16).ok())
            .collect();
        let escaped = |byte: &u8| match byte {
            b' '..0x7f => char::from(*byte).to_string(),
            _ => format!("\\x{byte:02X}"),
        };
        let forms = [String::from_utf8_lossy(&bytes).into_owned(), bytes.iter().map(escaped).collect()];
        for form in forms.iter().filter(|form| form.contains('\'')) {
            note = note.replace(form, "");
        }
    }
    note
}

/// Removes texts from a query, which the server prints in single quotes with a backslash before inner quotes, and aliases,
/// which follow AS in backquotes.
fn without_texts(query: &str) -> String {
    let (mut bare, mut quote, mut letters) = (String::new(), None, query.chars().peekable());
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\\') => drop(letters.next()),
            // A doubled backquote is part of the name.
            (Some('`'), '`') if letters.peek() == Some(&'`') => drop(letters.next()),
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'') => quote = Some('\''),
            (None, '`') if bare.ends_with(" AS ") || bare.ends_with(" as ") => quote = Some('`'),
            (None, other) => bare.push(other),
        }
    }
    bare
}
