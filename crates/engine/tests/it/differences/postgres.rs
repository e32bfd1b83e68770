//! PostgreSQL as its own witness: a role that may read the listed tables and call functions that only compute, and the plans
//! that the server makes for it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use prospector_connect::source::Server;
use prospector_connect::{Connector, open, source::Source as Place};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};
use tempfile::TempDir;

use super::subject::{HIDDEN, Subject, Witness};

/// The same people as elsewhere, and further objects of a database: views, functions, operators and comments that reveal hidden
/// data.
const DATA: &str = r#"
CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(40));
INSERT INTO people VALUES (1, 'Ada'), (2, 'Bob'), (3, 'Cyd');
CREATE TYPE address AS (street TEXT, zip INTEGER);
CREATE TABLE notes (id INTEGER PRIMARY KEY, person INTEGER, body TEXT, written TIMESTAMP, tags TEXT[], more JSONB,
    home ADDRESS);
INSERT INTO notes VALUES (1, 1, 'hello world', '2024-05-06 07:08:09', '{a,b}', '{"a": {"b": 1}}', ROW('a street', 1)),
    (2, 2, 'it''s -- a /* note */', '2024-06-07 08:09:10', '{}', '[1, 2]', NULL);
CREATE TABLE secret (id INTEGER PRIMARY KEY, password VARCHAR(40));
INSERT INTO secret VALUES (1, 's3cret');
COMMENT ON TABLE secret IS 's3cret';
COMMENT ON COLUMN secret.password IS 's3cret';
CREATE TABLE keys (id INTEGER PRIMARY KEY, token VARCHAR(40));
INSERT INTO keys VALUES (1, 's3cret');
CREATE TABLE "gehälter" (id INTEGER PRIMARY KEY, betrag VARCHAR(40));
INSERT INTO "gehälter" VALUES (1, 's3cret');
CREATE VIEW peep AS SELECT password FROM secret;
CREATE FUNCTION peek() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT password::text FROM secret';
CREATE FUNCTION peek(people) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT password::text FROM secret';
CREATE FUNCTION peek_all() RETURNS SETOF secret LANGUAGE sql SECURITY DEFINER AS 'SELECT * FROM secret';
CREATE FUNCTION initcap(VARCHAR) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT password::text FROM secret';
CREATE FUNCTION nap(double precision) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep($1)';
CREATE FUNCTION id(anyelement) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT password::text FROM secret';
CREATE FUNCTION x(anyelement) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT password::text FROM secret';
CREATE FUNCTION street(anyelement) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT password::text FROM secret';
CREATE FUNCTION "Nap"(anyelement) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT password::text FROM secret';
CREATE FUNCTION nap(record) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
    AS 'BEGIN RETURN (SELECT password::text FROM secret); END';
CREATE FUNCTION is_peek(integer, integer) RETURNS text LANGUAGE sql SECURITY DEFINER
    AS 'SELECT password::text FROM secret';
CREATE OPERATOR === (LEFTARG = integer, RIGHTARG = integer, FUNCTION = is_peek);
CREATE AGGREGATE gather(text) (SFUNC = textcat, STYPE = text, INITCOND = '');
CREATE TYPE mood AS ENUM ('s3cret');
CREATE SEQUENCE counter;
SELECT lo_from_bytea(424242, 's3cret');
"#;

/// Revokes everything that does more than compute from all roles, and grants the listed tables to `ROLE`.
const RIGHTS: &str = r#"
REVOKE SELECT ON ALL TABLES IN SCHEMA pg_catalog FROM PUBLIC;
REVOKE SELECT ON ALL TABLES IN SCHEMA information_schema FROM PUBLIC;
REVOKE USAGE ON SCHEMA information_schema FROM PUBLIC;
DO $do$
DECLARE f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname <> 'pg_catalog'
        OR p.provolatile = 'v' AND p.proname NOT IN ('random', 'clock_timestamp', 'timeofday', 'gen_random_uuid')
        OR p.proname ~ '^(pg|has|lo|txid|inet_client|inet_server|binary_upgrade|dblink|brin|gin|to_reg[a-z]+)_'
            AND p.proname NOT IN ('pg_typeof', 'pg_column_size', 'pg_size_pretty', 'pg_size_bytes', 'pg_backend_pid',
                'pg_input_is_valid', 'pg_collation_for', 'pg_client_encoding')
        OR p.proname ~ '^(to_)?reg(class|proc|procedure|oper|operator|type|role|namespace|config|dictionary|collation)$'
        OR p.proname ~ '(_to_xml|_to_xmlschema|_to_xml_and_xmlschema)$'
        OR p.proname IN ('currval', 'lastval', 'nextval', 'setval', 'obj_description', 'col_description',
            'shobj_description', 'format_type', 'row_security_active', 'ts_stat', 'ts_rewrite', 'ts_debug', 'ts_parse',
            'ts_token_type', 'loread', 'lowrite', 'database_to_xml')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', f.name);
    END LOOP;
END $do$;
GRANT SELECT ON people, notes TO ROLE;
GRANT EXECUTE ON FUNCTION set_config(text, text, boolean), current_setting(text), current_setting(text, boolean) TO ROLE;
"#;

/// The settings of a connector session for comparing the answers to the original and to the sent statement. Since `public` has
/// a function with the name of a built-in one, unqualified tables are resolved through another schema.
const SESSION: &str = "
GRANT SELECT ON pg_settings, pg_proc, pg_namespace, pg_operator, pg_depend, pg_attribute, pg_class, pg_type, pg_range, pg_enum
    TO ROLE;
GRANT EXECUTE ON FUNCTION pg_show_all_settings(), pg_backend_pid(), pg_advisory_unlock_all(), pg_cancel_backend(integer)
    TO ROLE;
CREATE SCHEMA mirror;
CREATE VIEW mirror.people AS SELECT * FROM public.people;
CREATE VIEW mirror.notes AS SELECT * FROM public.notes;
GRANT USAGE ON SCHEMA mirror TO ROLE;
GRANT SELECT ON mirror.people, mirror.notes TO ROLE;
ALTER ROLE ROLE SET search_path = mirror, public;
";

/// Types that convert between names and numbers, and so reveal which names exist.
const NAMING: &[&str] = &[
    "regclass",
    "regproc",
    "regprocedure",
    "regoper",
    "regoperator",
    "regtype",
    "regrole",
    "regnamespace",
    "regconfig",
    "regdictionary",
    "regcollation",
];

/// The connections to the server.
struct Asking {
    /// The connection of the role.
    reader: PgConnection,
    /// A connection that can read everything.
    owner: PgConnection,
    folder: TempDir,
}

/// Creates a database of that name with the role; statements may name `@DIR@`, a folder in which the server may write.
pub(crate) async fn subject(url: &url::Url, name: &str) -> (Subject, String) {
    let (role, session) = (&format!("{name}_reader"), &format!("{name}_session"));
    let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
    for sql in [
        format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        format!("DROP ROLE IF EXISTS {session}"),
        format!("DROP ROLE IF EXISTS {role}"),
        format!("CREATE DATABASE {name}"),
        format!("CREATE ROLE {role} LOGIN PASSWORD 'a-reader'"),
        format!("CREATE ROLE {session} LOGIN PASSWORD 'a-reader' IN ROLE {role}"),
    ] {
        connection.execute(AssertSqlSafe(sql)).await.unwrap();
    }
    let mut own = url.clone();
    own.set_path(name);
    let mut owner = PgConnection::connect(own.as_str()).await.unwrap();
    let rights = [
        RIGHTS.replace("ROLE;", &format!("{role};")),
        SESSION.replace("TO ROLE", &format!("TO {session}")).replace("ROLE ROLE", &format!("ROLE {session}")),
    ];
    let all = format!("{DATA}{}", rights.concat());
    sqlx::raw_sql(AssertSqlSafe(all)).execute(&mut owner).await.unwrap();
    let account = |role: &str| {
        let mut url = own.clone();
        url.set_username(role).unwrap();
        url.set_password(Some("a-reader")).unwrap();
        url
    };
    let mut reader = PgConnection::connect(account(role).as_str()).await.unwrap();
    reader.execute("SET default_transaction_read_only = on; SET statement_timeout = 5000").await.unwrap();
    let folder = writable();
    let dir = folder.path().to_str().unwrap().to_owned();
    let connector = open_at(&own);
    let witness = Box::new(Asking { reader, owner, folder });
    (Subject::new(connector.clone(), connector.as_ref(), open_at(&account(session)), witness).await, dir)
}

pub(crate) fn open_at(url: &url::Url) -> Arc<dyn Connector> {
    open(&Place::Server(Server::new(url.as_str(), &[]).unwrap())).unwrap()
}

/// Returns a folder in which servers may write too.
pub(crate) fn writable() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    folder
}

/// Returns the names of all files.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[async_trait]
impl Witness for Asking {
    async fn object(&mut self, sent: &str, claimed: &BTreeSet<String>) -> Vec<String> {
        let mut objections = Vec::new();
        let explain = AssertSqlSafe(format!("EXPLAIN (VERBOSE, FORMAT JSON) {sent}"));
        match sqlx::query::<sqlx::Postgres>(explain).persistent(false).fetch_one(&mut self.reader).await {
            Ok(row) => inspect(&row.get::<Value, _>(0), claimed, &mut objections),
            Err(error) => objections.extend(denial("planned", &error)),
        }
        objections.extend(self.fetch(sent).await.err().and_then(|error| denial("run", &error)));
        objections
    }

    async fn state(&mut self) -> String {
        let sql = "SELECT ARRAY[(SELECT string_agg(p::text, ';' ORDER BY id) FROM people p), \
             (SELECT string_agg(n::text, ';' ORDER BY id) FROM notes n), \
             (SELECT string_agg(s::text, ';' ORDER BY id) FROM secret s), \
             (SELECT string_agg(relname, ';' ORDER BY oid) FROM pg_class WHERE oid >= 16384 \
              AND relnamespace::regnamespace::text !~ '^pg_(toast_)?temp'), \
             (SELECT string_agg(proname, ';' ORDER BY oid) FROM pg_proc WHERE oid >= 16384), \
             (SELECT string_agg(rolname, ';' ORDER BY oid) FROM pg_roles WHERE rolname !~ '^prospector_.*_(reader|session)$'), \
             (SELECT string_agg(oid::text, ';' ORDER BY oid) FROM pg_largeobject_metadata), \
             (SELECT string_agg(setconfig::text, ';') FROM pg_db_role_setting WHERE setrole NOT IN \
              (SELECT oid FROM pg_roles WHERE rolname ~ '^prospector_.*_(reader|session)$')), \
             (SELECT last_value || ' ' || is_called FROM counter), \
             (SELECT count(*) FROM pg_locks l WHERE locktype = 'advisory' \
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))::text]::text";
        let row = self.owner.fetch_one(sql).await.unwrap();
        format!("{} {:?}", row.get::<String, _>(0), names(self.folder.path()))
    }
}

impl Asking {
    /// Runs the statement as the role, and fetches a few rows.
    async fn fetch(&mut self, sent: &str) -> Result<(), sqlx::Error> {
        let mut transaction = self.reader.begin().await?;
        let declare = AssertSqlSafe(format!("DECLARE answer NO SCROLL CURSOR FOR {sent}"));
        sqlx::query::<sqlx::Postgres>(declare).persistent(false).execute(&mut *transaction).await?;
        sqlx::raw_sql("FETCH 50 FROM answer").fetch_all(&mut *transaction).await?;
        transaction.rollback().await
    }
}

/// Returns what the role was denied.
fn denial(act: &str, error: &sqlx::Error) -> Option<String> {
    let error = error.as_database_error()?;
    (error.code().as_deref() == Some("42501")).then(|| format!("{act}: {}", error.message()))
}

/// Collects what a plan reads besides the claimed tables, and the names that it reveals.
fn inspect(plan: &Value, claimed: &BTreeSet<String>, objections: &mut Vec<String>) {
    match plan {
        Value::Array(parts) => parts.iter().for_each(|part| inspect(part, claimed, objections)),
        Value::Object(parts) => {
            if let Some(name) = parts.get("Relation Name").and_then(Value::as_str) {
                let is_public = parts.get("Schema").is_none_or(|schema| schema == "public");
                if !is_public || !claimed.contains(name) {
                    objections.push(format!("the plan reads {:?}.{name:?}, not in {claimed:?}", parts.get("Schema")));
                }
            }
            parts.values().for_each(|part| inspect(part, claimed, objections));
        }
        Value::String(text) => {
            let bare = without_texts(text);
            let cast = |name: &str| bare.contains(&format!("::{name}")) || bare.contains(&format!("::public.{name}"));
            if let Some(name) = NAMING.iter().chain(HIDDEN).find(|name| cast(name)) {
                objections.push(format!("the plan casts to {name}: {text}"));
            }
        }
        _ => {}
    }
}

/// Returns an expression as the server prints it, without quoted texts.
pub(crate) fn without_texts(text: &str) -> String {
    text.split('\'').step_by(2).collect::<Vec<_>>().join("''")
}
