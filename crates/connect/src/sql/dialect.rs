//! The dialects of SQL that sources speak.

use sqlparser::ast::Ident;
use sqlparser::dialect::{
    BigQueryDialect, Dialect as Grammar, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};

/// A dialect of SQL that queries are written in.
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
    /// DataFusion's: for files, for sources without SQL of their own, and for joins over several sources.
    #[default]
    Joined,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Dialect; 5] =
        [Dialect::Postgres, Dialect::Mysql, Dialect::Sqlite, Dialect::Bigquery, Dialect::Joined];

    /// The name of the dialect in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::Postgres => "PostgreSQL",
            Dialect::Mysql => "MySQL",
            Dialect::Sqlite => "SQLite",
            Dialect::Bigquery => "BigQuery",
            Dialect::Joined => "SQL over several sources",
        }
    }

    /// The dialect of sqlparser that reads it.
    pub fn grammar(self) -> &'static dyn Grammar {
        match self {
            Dialect::Postgres => &PostgreSqlDialect {},
            Dialect::Mysql => &MySqlDialect {},
            Dialect::Sqlite => &SQLiteDialect {},
            Dialect::Bigquery => &BigQueryDialect {},
            Dialect::Joined => &GenericDialect {},
        }
    }

    /// The name as a quoted identifier, which has the same meaning whatever the settings of the source.
    pub fn quote(self, name: &str) -> String {
        match self {
            Dialect::Mysql => format!("`{}`", name.replace('`', "``")),
            Dialect::Bigquery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
            Dialect::Postgres | Dialect::Sqlite | Dialect::Joined => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// The name that an identifier stands for. PostgreSQL folds identifiers without quotes to lower case.
    pub fn name_of(self, ident: &Ident) -> String {
        match self {
            Dialect::Postgres if ident.quote_style.is_none() => ident.value.to_ascii_lowercase(),
            Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery | Dialect::Joined => {
                ident.value.clone()
            }
        }
    }

    /// The name in the form in which the dialect compares it with other names of the same statement. PostgreSQL, SQLite
    /// and DataFusion ignore the case of ASCII letters only. In MySQL that depends on the server, so the case of all
    /// letters is ignored.
    pub fn fold(self, ident: &Ident) -> String {
        match self {
            Dialect::Postgres => self.name_of(ident),
            Dialect::Mysql => ident.value.to_lowercase(),
            Dialect::Bigquery => ident.value.clone(),
            Dialect::Sqlite | Dialect::Joined => ident.value.to_ascii_lowercase(),
        }
    }
}
