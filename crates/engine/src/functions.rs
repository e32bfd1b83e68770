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
