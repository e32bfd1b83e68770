//! Functions that a query may call: those known to compute from their arguments, or to give the time or a random value,
//! and to do nothing else. All others are refused: they may read tables and files, wait, hold locks, change settings, run
//! text as SQL, or tell what is hidden. The catalog can allow more for a database.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use prospector_connect::sql::SQLITE_FUNCTIONS;

use crate::Dialect;

/// Names in small letters; lines that begin with `#` are comments, and names behind `!` are not for queries.
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

/// What stands before the point in names of BigQuery's functions.
pub(crate) const BIGQUERY_FAMILIES: &[&str] = &["hll_count", "net", "safe"];

/// All of them, in small letters, in order.
pub(crate) fn list_allowed(dialect: Dialect) -> impl Iterator<Item = &'static str> {
    list(dialect).iter().copied()
}

/// Whether a query may call the function of that name, given without its schema and in small letters.
pub(crate) fn is_allowed(dialect: Dialect, name: &str) -> bool {
    list(dialect).contains(name)
}

/// What a dialect has in the place of a function of another one, given in small letters.
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

/// Whether the function of that name may stand in the place of a table. In SQLite and MariaDB a table may be called like a
/// function, so that only these few are.
pub(crate) fn gives_rows(dialect: Dialect, name: &str) -> bool {
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

    /// Functions that every engine would have to be asked about one by one: none of them may come into a list.
    #[test]
    fn what_does_more_than_compute_is_in_no_list() {
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
    fn names_are_in_small_letters() {
        for dialect in Dialect::ALL {
            assert!(list_allowed(dialect).count() > 100, "{dialect:?}");
            for name in list_allowed(dialect) {
                let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.');
                assert!(name.chars().all(is_plain), "{name}");
            }
        }
    }
}
