//! The dialects of SQL that sources speak.

use sqlparser::dialect::{
    BigQueryDialect, Dialect as Grammar, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};

/// A dialect of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Dialect {
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// SQLite.
    Sqlite,
    /// BigQuery's GoogleSQL.
    Bigquery,
    #[default]
    /// The engine's own, for files and for joins over several sources: DataFusion's.
    Joined,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 5] =
        [Dialect::Postgres, Dialect::Mysql, Dialect::Sqlite, Dialect::Bigquery, Dialect::Joined];

    /// The dialect in which a connector of that kind takes queries.
    pub(crate) fn of(kind: &str) -> Dialect {
        match kind {
            "postgres" => Dialect::Postgres,
            "mysql" => Dialect::Mysql,
            "sqlite" => Dialect::Sqlite,
            "bigquery" => Dialect::Bigquery,
            _ => Dialect::Joined,
        }
    }

    /// Its name in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::Postgres => "PostgreSQL",
            Dialect::Mysql => "MySQL",
            Dialect::Sqlite => "SQLite",
            Dialect::Bigquery => "BigQuery",
            Dialect::Joined => "SQL over several sources",
        }
    }

    pub(crate) fn grammar(self) -> &'static dyn Grammar {
        match self {
            Dialect::Postgres => &PostgreSqlDialect {},
            Dialect::Mysql => &MySqlDialect {},
            Dialect::Sqlite => &SQLiteDialect {},
            Dialect::Bigquery => &BigQueryDialect {},
            Dialect::Joined => &GenericDialect {},
        }
    }
}
