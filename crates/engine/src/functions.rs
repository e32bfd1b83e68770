//! Functions that do more than compute: they read files, wait, change settings, stop others, or run text as SQL.

use crate::Dialect;

/// Refused everywhere, whatever the source: extensions bring them along. A `*` stands for any end.
const EVERYWHERE: &[&str] = &[
    "benchmark",
    "dblink*",
    "edit",
    "eval",
    "exec",
    "http",
    "http_*",
    "load_extension",
    "load_file",
    "lo_*",
    "pg_sleep*",
    "readfile",
    "shell",
    "sleep",
    "sys_eval",
    "sys_exec",
    "sys_get",
    "sys_set",
    "system",
    "url_*",
    "writefile",
    "xp_*",
];

const POSTGRES: &[&str] = &[
    "aws_*",
    "binary_upgrade_*",
    "brin_desummarize_range",
    "brin_summarize_*",
    "connectby",
    "convert_from_file",
    "copy_*",
    "crosstab*",
    "cursor_to_xml*",
    "current_setting",
    "currval",
    "database_to_xml*",
    "file_*",
    "get_raw_page",
    "gin_clean_pending_list",
    "inet_client_*",
    "inet_server_*",
    "lastval",
    "loread",
    "lowrite",
    "nextval",
    "plperl_*",
    "plpgsql_*",
    "plpython*",
    "postgres_fdw_*",
    "query_to_xml*",
    "schema_to_xml*",
    "set_config",
    "setval",
    "table_to_xml*",
    "ts_rewrite",
    "ts_stat",
    "txid_*",
    "xpath_table",
    "xslt_process",
    "session_preload",
    "cron_*",
    "has_*_privilege",
];

/// What of `pg_*` computes, and no more.
const POSTGRES_HARMLESS: &[&str] =
    &["pg_typeof", "pg_column_size", "pg_size_pretty", "pg_size_bytes", "pg_input_is_valid", "pg_collation_for"];

const MYSQL: &[&str] = &[
    "get_lock",
    "gtid_*",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "lastval",
    "lib_mysqludf_*",
    "master_*",
    "name_const",
    "nextval",
    "asynchronous_*",
    "ps_*",
    "release_all_locks",
    "release_lock",
    "reverse_soundex",
    "setval",
    "source_pos_wait",
    "wait_*",
    "wsrep_*",
    "can_access_*",
    "get_dd_*",
    "internal_*",
    "extractvalue",
    "updatexml",
    "previous",
];

const SQLITE: &[&str] = &[
    "fts3_tokenizer",
    "fts5",
    "fts5_*",
    "fsdir",
    "geopoly_*",
    "lsdir",
    "ls_*",
    "pragma_*",
    "sqlite_*",
    "zeroblob",
    "randomblob",
    "zipfile*",
    "dbstat",
    "bytecode",
    "tables_used",
    "csv",
    "lsmode",
    "getenv",
    "define",
    "undefine",
    "changes",
    "total_changes",
    "last_insert_rowid",
    "carray",
    "stmt",
    "wholenumber",
    "completion",
    "fileio_*",
];

/// What reads other places, or a table that is no plain part of the statement.
const BIGQUERY: &[&str] = &[
    "appends",
    "changes",
    "external_*",
    "gap_fill",
    "range_sessionize",
    "vector_search",
    "ai_*",
    "ml_*",
    "load_*",
    "remote_*",
];

const JOINED: &[&str] = &["read_*", "parquet_metadata", "metadata_cache", "statistics_cache", "list_files_cache"];

/// Whether a query may not call the function of that name, given without its schema, in lower case.
pub(crate) fn is_refused(dialect: Dialect, name: &str) -> bool {
    let own = match dialect {
        Dialect::Postgres => POSTGRES,
        Dialect::Mysql => MYSQL,
        Dialect::Sqlite => SQLITE,
        Dialect::Bigquery => BIGQUERY,
        Dialect::Joined => JOINED,
    };
    let unknown = dialect == Dialect::Postgres && name.starts_with("pg_") && !POSTGRES_HARMLESS.contains(&name);
    unknown || EVERYWHERE.iter().chain(own).any(|pattern| matches(pattern, name))
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
        None => pattern == name,
    }
}
