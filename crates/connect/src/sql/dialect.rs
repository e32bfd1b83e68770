//! The dialects of SQL that sources speak.

use sqlparser::ast::Ident;
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
    /// DataFusion's, for files, for sources without SQL of their own, and for joins over several sources.
    #[default]
    Joined,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 5] =
        [Dialect::Postgres, Dialect::Mysql, Dialect::Sqlite, Dialect::Bigquery, Dialect::Joined];

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

    /// The dialect as sqlparser reads it.
    pub fn grammar(self) -> &'static dyn Grammar {
        match self {
            Dialect::Postgres => &PostgreSqlDialect {},
            Dialect::Mysql => &MySqlDialect {},
            Dialect::Sqlite => &SQLiteDialect {},
            Dialect::Bigquery => &BigQueryDialect {},
            Dialect::Joined => &GenericDialect {},
        }
    }

    /// The name as a quoted identifier, which means the same whatever the settings of the source.
    pub fn quote(self, name: &str) -> String {
        match self {
            Dialect::Mysql => format!("`{}`", name.replace('`', "``")),
            Dialect::Bigquery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
            Dialect::Postgres | Dialect::Sqlite | Dialect::Joined => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// The name that an identifier stands for: PostgreSQL writes one without quotes in small letters.
    pub fn name_of(self, ident: &Ident) -> String {
        match self {
            Dialect::Postgres if ident.quote_style.is_none() => ident.value.to_ascii_lowercase(),
            Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery | Dialect::Joined => {
                ident.value.clone()
            }
        }
    }

    /// The name as the dialect compares it with others of the same statement. Only ASCII letters have a case here: that
    /// is so in PostgreSQL, SQLite and DataFusion. In MySQL it depends on the server, so that all letters have one.
    pub fn fold(self, ident: &Ident) -> String {
        match self {
            Dialect::Postgres => self.name_of(ident),
            Dialect::Mysql => ident.value.to_lowercase(),
            Dialect::Bigquery => ident.value.clone(),
            Dialect::Sqlite | Dialect::Joined => ident.value.to_ascii_lowercase(),
        }
    }
}
