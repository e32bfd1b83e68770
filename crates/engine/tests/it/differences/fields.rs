//! Functions and types of PostgreSQL after a dot, in every position that can contain a name: whatever the server would call is
//! rejected by each of two safeguards alone, and columns are answered.
//!
//! The server itself decides: the tree of a view shows what a statement calls.

use std::collections::{BTreeMap, BTreeSet};

use prospector_connect::Connector;
use prospector_connect::error::Cause;
use prospector_connect::rows::{FieldNames, SqlQuery};
use prospector_engine::FailureCode;
use prospector_test_support::server;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

use super::postgres;
use super::random::Random;

/// The maximum number of statements.
const MAX_STATEMENTS: usize = 20_000;

/// The statements, see [`Places`].
const PLACES: &str = include_str!("../../corpus/differences/fields.sql");

/// Names that are tried in every position; others are tried in a few.
const EVERYWHERE: [&str; 20] = [
    "nap",
    "Nap",
    "peek",
    "total",
    "pg_sleep",
    "pg_advisory_lock",
    "pg_get_functiondef",
    "pg_read_file",
    "pg_ls_dir",
    "regclass",
    "regtype",
    "oid",
    "text",
    "name",
    "date",
    "count",
    "lower",
    "row_to_json",
    "hash_record",
    "query_to_xml",
];

/// A column of the listed tables that has the name of a function.
const DESCRIBED: &str = "name";

/// User-defined functions for rows of each kind.
const FUNCTIONS: &str = r#"
    CREATE FUNCTION total(anyelement) RETURNS text LANGUAGE sql AS $$ SELECT 's3cret' $$;
    CREATE FUNCTION "Nap"(record) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 's3cret'; END $$;
"#;

/// Types of values in rows that are passed to functions.
const TYPES: [&str; 22] = [
    "bigint",
    "boolean",
    "bytea",
    "cidr",
    "date",
    "double precision",
    "inet",
    "int4range",
    "integer",
    "interval",
    "json",
    "jsonb",
    "macaddr",
    "money",
    "numeric",
    "path",
    "point",
    "smallint",
    "text",
    "timestamp",
    "tsvector",
    "xml",
];

/// Lists the names of functions and types that may be called after a dot, with rows for which the server accepts the name; null
/// if it accepts none of the tried ones.
const LIST_NAMES: &str = "
    CREATE FUNCTION pg_temp.list_names(sources text[]) RETURNS TABLE (name text, source text) LANGUAGE plpgsql AS $$
    BEGIN
        FOR name IN
            SELECT proname::text FROM pg_proc UNION SELECT typname::text FROM pg_type WHERE typrelid = 0 ORDER BY 1
        LOOP
            source := NULL;
            FOR at IN 1 .. cardinality(sources) LOOP
                BEGIN
                    EXECUTE format('PREPARE judged AS SELECT a.%I FROM %s a', name, sources[at]);
                    DEALLOCATE judged;
                    source := sources[at];
                    EXIT;
                EXCEPTION WHEN others THEN
                    NULL;
                END;
            END LOOP;
            RETURN NEXT;
        END LOOP;
    END $$";

/// The positions in which a name can occur.
struct Places {
    all: Vec<&'static str>,
    /// The number of leading positions over rows without such a column.
    refused: usize,
}

impl Places {
    fn read() -> Places {
        let (refused, columns) = PLACES.split_once("\n## columns").unwrap();
        let lines = |text: &'static str| text.lines().filter(|line| line.starts_with(|c: char| "SW(".contains(c)));
        let refused: Vec<&str> = lines(refused).collect();
        let count = refused.len();
        Places { all: refused.into_iter().chain(lines(columns)).collect(), refused: count }
    }
}

/// Asks the server what statements would call.
struct Judge {
    connection: PgConnection,
    /// The names of all functions and types by their object ids.
    names: BTreeMap<i64, String>,
}

impl Judge {
    async fn new(url: &url::Url) -> Self {
        let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
        let sql = "SELECT oid::int8, proname::text FROM pg_proc UNION ALL SELECT oid::int8, typname::text FROM pg_type";
        let rows = connection.fetch_all(sql).await.unwrap();
        let names = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        Judge { connection, names }
    }

    /// Returns whether the server accepts the statement and calls the function, or casts to the type in the form of a call.
    async fn calls(&mut self, sql: &str, name: &str) -> bool {
        let judged = format!(
            "BEGIN; CREATE VIEW judged AS SELECT 1 AS one FROM (\n{sql}\n) AS judged; \
             SELECT ev_action::text FROM pg_rewrite WHERE ev_class = 'judged'::regclass; ROLLBACK"
        );
        let tree: String = match sqlx::raw_sql(AssertSqlSafe(judged)).fetch_one(&mut self.connection).await {
            Ok(row) => row.get(0),
            Err(_) => {
                self.connection.execute("ROLLBACK").await.unwrap();
                return false;
            }
        };
        list_numbers(&tree).iter().any(|number| self.names.get(number).is_some_and(|called| called == name))
    }
}

/// Returns the object ids that are called in the tree of a query. The server records the form of casts and functions; 0 is that
/// of a call.
fn list_numbers(tree: &str) -> BTreeSet<i64> {
    let words: Vec<&str> = tree.split_ascii_whitespace().collect();
    let is_call = |at: usize, forms: &[&str]| {
        let near = &words[at..(at + 10).min(words.len())];
        near.windows(2).any(|pair| forms.contains(&pair[0]) && pair[1] == "0")
    };
    let mut found = BTreeSet::new();
    for at in 0..words.len().saturating_sub(1) {
        let is_called = match words[at] {
            ":aggfnoid" | ":winfnoid" => true,
            ":funcid" => is_call(at, &[":funcformat"]),
            ":resulttype" => is_call(at, &[":relabelformat", ":coerceformat", ":convertformat", ":coercionformat"]),
            _ => false,
        };
        found.extend(words[at + 1].parse::<i64>().ok().filter(|_| is_called));
    }
    found
}

/// Quotes a name as an identifier.
fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A name and the rows that it is applied to.
struct Name {
    name: String,
    /// Rows for which the server accepts it as a function or a type.
    rows: Option<String>,
}

/// Returns all names that the server knows.
async fn list_names(connection: &mut PgConnection) -> Vec<Name> {
    let mut sources: Vec<String> = TYPES.iter().map(|kind| format!("unnest(ARRAY[NULL::{kind}])")).collect();
    sources.extend(["people", "(SELECT 1 AS of_row)", "regexp_matches('a', 'a')"].map(str::to_owned));
    connection.execute(LIST_NAMES).await.unwrap();
    let asked = sqlx::query("SELECT name, source FROM pg_temp.list_names($1)").bind(sources);
    let rows = asked.fetch_all(connection).await.unwrap();
    rows.iter().map(|row| Name { name: row.get(0), rows: row.get(1) }).collect()
}

/// Chooses statements as pairs of name and position. Callable names are tried in every position that accepts their rows.
fn choose(names: &[Name], places: &Places, random: &mut Random) -> Vec<(usize, usize)> {
    let mut chosen = BTreeSet::new();
    for (at, Name { name, rows }) in names.iter().enumerate() {
        let is_everywhere = EVERYWHERE.contains(&name.as_str());
        let is_tried = |place: &usize| is_everywhere || rows.is_some() && places.all[*place].contains("{rows}");
        chosen.extend((0..places.all.len()).filter(is_tried).map(|place| (at, place)));
    }
    let each = MAX_STATEMENTS.saturating_sub(chosen.len()) / names.len();
    for at in 0..names.len() {
        chosen.extend((0..each).map(|_| (at, random.below(places.all.len()))));
    }
    assert!(chosen.len() <= MAX_STATEMENTS, "{}", chosen.len());
    chosen.into_iter().collect()
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn rejects_functions_and_types_after_a_dot() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let (subject, _) = postgres::subject(&url, "prospector_fields").await;
    let mut own = url.clone();
    own.set_path("prospector_fields");
    PgConnection::connect(own.as_str()).await.unwrap().execute(FUNCTIONS).await.unwrap();
    let mut judge = Judge::new(&own).await;
    let (names, places) = (list_names(&mut judge.connection).await, Places::read());
    let chosen = choose(&names, &places, &mut Random::new(1));
    let (mut calling, mut taken, mut wrong) = (0, 0, Vec::new());
    for (at, place) in &chosen {
        let (Name { name, rows }, form) = (&names[*at], places.all[*place]);
        // The position itself contains the call.
        if form.contains(&format!("{name}(")) {
            continue;
        }
        let rows = rows.as_deref().unwrap_or("generate_series(1, 2)");
        let sql = form.replace("{f}", &quote(name)).replace("{rows}", rows);
        let is_called = judge.calls(&sql.replace("shop.", "public."), name).await;
        calling += usize::from(is_called);
        let is_column = *place >= places.refused;
        match subject.sent(&sql).await {
            Ok(sent) => {
                taken += 1;
                let is_known = is_column || name == DESCRIBED;
                if is_called || !is_known || judge.calls(&sent, name).await {
                    wrong.push(format!("let through: {sql}\n    sent {sent}"));
                }
            }
            Err(failure) if is_column || failure.code != FailureCode::UnknownColumn => {
                wrong.push(format!("refused: {sql}\n    {failure}"));
            }
            Err(_) => {}
        }
    }
    println!(
        "{} names in {} places: {} statements, of which {calling} call what is named; {taken} let through; {} wrong",
        names.len(),
        places.all.len(),
        chosen.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(calling > chosen.len() / 4, "hardly anything would be called: {calling}");
}

/// The second safeguard alone knows every name that the server accepts as a function or a type.
#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn asks_the_server_about_every_callable_name() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    postgres::subject(&url, "prospector_names").await;
    let mut own = url.clone();
    own.set_path("prospector_names");
    let mut connection = PgConnection::connect(own.as_str()).await.unwrap();
    connection.execute(FUNCTIONS).await.unwrap();
    let (connector, mut open) = (postgres::open_at(&own), Vec::new());
    let names = list_names(&mut connection).await;
    let called: Vec<&Name> = names.iter().filter(|name| name.rows.is_some()).collect();
    for Name { name, .. } in &called {
        if !is_refused_by_server(connector.as_ref(), name).await {
            open.push(name);
        }
    }
    println!("{} of {} names can be called with rows of one kind or another", called.len(), names.len());
    assert!(called.len() > 500, "{}", called.len());
    assert!(open.is_empty(), "{open:?}");
}

/// Returns whether the second safeguard alone rejects a query with that name after a dot, which no table has.
async fn is_refused_by_server(connector: &dyn Connector, name: &str) -> bool {
    let fields = FieldNames { names: Vec::from([name.to_owned()]), tables: Vec::new() };
    let done =
        connector.explain(&SqlQuery { sql: "SELECT 1", tables: &[], fields: Some(&fields), functions: &[] }).await;
    done.is_err_and(|error| error.cause() == Cause::UnknownColumn)
}
