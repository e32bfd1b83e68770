//! Allow-lists of functions: those known to do nothing but compute from their arguments, or return the time or a random value.
//! All others are rejected: they may read tables and files, wait, hold locks, change settings, run text as SQL, or reveal
//! hidden data. The catalog can allow more functions for a database.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use prospector_connect::sql::SQLITE_FUNCTIONS;

use crate::Dialect;

/// Parses a list of lower-case names; lines that start with `#` are comments, and names after `!` are not callable in queries.
fn names(list: &'static str) -> BTreeSet<&'static str> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).filter(|name| !name.starts_with('!')).collect()
}

static POSTGRES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| names(include_str!("functions/postgres.txt")));
static MYSQL: LazyLock<BTreeSet<&str>> = LazyLock::new(|| names(include_str!("functions/mysql.txt")));
static SQLITE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| names(SQLITE_FUNCTIONS));
static BIGQUERY: LazyLock<BTreeSet<&str>> = LazyLock::new(|| names(include_str!("functions/bigquery.txt")));
static JOINED: LazyLock<BTreeSet<&str>> = LazyLock::new(|| names(include_str!("functions/joined.txt")));

fn list(dialect: Dialect) -> &'static BTreeSet<&'static str> {
    match dialect {
        Dialect::Postgres => &POSTGRES,
        Dialect::Mysql => &MYSQL,
        Dialect::Sqlite => &SQLITE,
        Dialect::Bigquery => &BIGQUERY,
        Dialect::Joined => &JOINED,
    }
}

/// The prefixes of the names of BigQuery's functions.
pub(crate) const BIGQUERY_FAMILIES: &[&str] = &["hll_count", "net", "safe"];

/// Returns all allowed functions in lower case, sorted.
pub(crate) fn list_allowed(dialect: Dialect) -> impl Iterator<Item = &'static str> {
    list(dialect).iter().copied()
}

/// Returns whether a query may call the function of that name, given in lower case without its schema.
pub(crate) fn is_allowed(dialect: Dialect, name: &str) -> bool {
    list(dialect).contains(name)
}

/// Returns what a dialect offers instead of another dialect's function, given in lower case.
pub(crate) fn equivalent(dialect: Dialect, name: &str) -> Option<&'static str> {
    use Dialect::{Joined, Mysql, Postgres, Sqlite};
    Some(match (name, dialect) {
        ("strftime", Postgres | Joined) => "date_trunc('month', x), to_char(x, ...) or EXTRACT(YEAR FROM x)",
        ("strftime", Mysql) => "DATE_FORMAT(x, '%Y-%m')",
        ("date_trunc" | "to_char" | "date_format" | "date_part", Sqlite) => "strftime('%Y-%m', x)",
        ("date_trunc" | "to_char", Mysql) => "DATE_FORMAT(x, '%Y-%m')",
        ("date_format", Postgres | Joined) => "to_char(x, ...) or date_trunc('month', x)",
        ("date_part", Mysql) => "EXTRACT(YEAR FROM x)",
        ("year" | "month" | "day" | "quarter", Postgres | Joined) => "EXTRACT(YEAR FROM x), with the part you need",
        ("year" | "month" | "day" | "hour", Sqlite) => "CAST(strftime('%Y', x) AS INTEGER), with the part you need",
        ("datediff", Sqlite) => "julianday(a) - julianday(b)",
        ("datediff", Postgres | Joined) => "a - b",
        ("julianday", Postgres | Mysql | Joined) => "the difference of two dates",
        ("group_concat", Postgres | Joined) => "string_agg(x, ', ')",
        ("string_agg", Sqlite | Mysql) => "GROUP_CONCAT(x)",
        ("now" | "getdate", Sqlite) => "datetime('now')",
        ("curdate", Postgres | Sqlite | Joined) => "CURRENT_DATE",
        ("ifnull" | "nvl" | "isnull", Postgres | Joined) | ("nvl" | "isnull", Sqlite | Mysql) => "COALESCE(a, b)",
        ("left", Sqlite) => "substr(x, 1, n)",
        ("right", Sqlite) => "substr(x, -n)",
        ("if" | "iff" | "decode", Postgres | Sqlite | Joined) => "CASE WHEN ... THEN ... ELSE ... END",
        ("len", Postgres | Mysql | Sqlite | Joined) => "length(x)",
        ("greatest", Sqlite) => "max(a, b)",
        ("least", Sqlite) => "min(a, b)",
        _ => return None,
    })
}

/// Returns whether the function of that name may be used as a table. SQLite and MariaDB allow tables with the name of a
/// function, so only these few are accepted.
pub(crate) fn returns_rows(dialect: Dialect, name: &str) -> bool {
    let known: &[&str] = match dialect {
        Dialect::Postgres => return is_allowed(dialect, name),
        Dialect::Sqlite => &["generate_series", "json_each", "json_tree"],
        Dialect::Joined => &["generate_series", "range"],
        Dialect::Mysql | Dialect::Bigquery => &[],
    };
    known.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Functions that must not be in any list, of every engine.
    #[test]
    fn lists_contain_no_function_with_side_effects() {
        let never = [
            "benchmark",
            "current_query",
            "current_setting",
            "currval",
            "database",
            "dblink",
            "eval",
            "get_lock",
            "json_populate_record",
            "lastval",
            "last_insert_id",
            "last_insert_rowid",
            "load_extension",
            "load_file",
            "lo_export",
            "name_const",
            "nextval",
            "obj_description",
            "pg_input_is_valid",
            "pg_read_file",
            "pg_sleep",
            "pg_typeof",
            "query_to_xml",
            "readfile",
            "release_lock",
            "schema",
            "session_user",
            "set_config",
            "setval",
            "sleep",
            "sqlite_source_id",
            "system_user",
            "to_regclass",
            "ts_rewrite",
            "ts_stat",
            "user",
            "version",
            "writefile",
            "zeroblob",
            "randomblob",
            "fts3_tokenizer",
            "extractvalue",
            "updatexml",
            "external_query",
            "read_csv",
        ];
        for dialect in Dialect::ALL {
            for name in never {
                assert!(!is_allowed(dialect, name), "{dialect:?}: {name}");
            }
        }
    }

    #[test]
    fn names_are_in_lower_case() {
        for dialect in Dialect::ALL {
            assert!(list_allowed(dialect).count() > 100, "{dialect:?}");
            for name in list_allowed(dialect) {
                let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.');
                assert!(name.chars().all(is_plain), "{name}");
            }
        }
    }
}
