//! The SQL dialects of sources.

use prospector_core::named_enum;
use sqlparser::ast::{Expr, Ident, SelectItem, SetExpr, Statement, TableFactor};
use sqlparser::dialect::{
    BigQueryDialect, Dialect as Grammar, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::keywords::{ALL_KEYWORDS, ALL_KEYWORDS_INDEX, RESERVED_FOR_COLUMN_ALIAS};

use super::parse_text;

named_enum! {
    /// An SQL dialect of queries.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
    pub enum Dialect {
        /// PostgreSQL.
        Postgres = "PostgreSQL",
        /// MySQL and MariaDB.
        Mysql = "MySQL",
        /// SQLite.
        Sqlite = "SQLite",
        /// BigQuery's GoogleSQL.
        Bigquery = "BigQuery",
        /// The dialect of DataFusion: for files, for sources without SQL of their own, and for joins across sources.
        #[default]
        Joined = "DataFusion SQL",
    }
}

impl Dialect {
    /// Returns the identifier of the dialect, as shown to models and as known to other tools.
    pub fn id(self) -> &'static str {
        match self {
            Dialect::Postgres => "postgresql",
            Dialect::Mysql => "mysql",
            Dialect::Sqlite => "sqlite",
            Dialect::Bigquery => "bigquery",
            Dialect::Joined => "datafusion",
        }
    }

    /// Returns the dialect of sqlparser.
    pub fn grammar(self) -> &'static dyn Grammar {
        match self {
            Dialect::Postgres => &PostgreSqlDialect {},
            Dialect::Mysql => &MySqlDialect {},
            Dialect::Sqlite => &SQLiteDialect {},
            Dialect::Bigquery => &BigQueryDialect {},
            Dialect::Joined => &GenericDialect {},
        }
    }

    /// Returns the name as a quoted identifier, whose meaning does not depend on the settings of the source.
    pub fn quote(self, name: &str) -> String {
        match self {
            Dialect::Mysql => format!("`{}`", name.replace('`', "``")),
            Dialect::Bigquery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
            Dialect::Postgres | Dialect::Sqlite | Dialect::Joined => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// Returns the name as written in a query: quoted only if the dialect requires it.
    pub fn spell(self, name: &str) -> String {
        if self.is_bare(name) { name.to_owned() } else { self.quote(name) }
    }

    /// Whether an unquoted name is parsed as that name, both of a table and of a column.
    fn is_bare(self, name: &str) -> bool {
        let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        // The parser accepts some words as names that databases reserve.
        let is_reserved = || {
            ALL_KEYWORDS
                .binary_search(&name.to_ascii_uppercase().as_str())
                .is_ok_and(|at| RESERVED_FOR_COLUMN_ALIAS.contains(&ALL_KEYWORDS_INDEX[at]))
        };
        is_word && !is_reserved() && self.reads_as_name(name).unwrap_or(false)
    }

    fn reads_as_name(self, name: &str) -> Option<bool> {
        let text = format!("SELECT {name} FROM {name} WHERE {name} = 1");
        let statements = parse_text(self.grammar(), &text).ok()?;
        let [Statement::Query(query)] = statements.as_slice() else { return None };
        let SetExpr::Select(select) = &*query.body else { return None };
        let ([SelectItem::UnnamedExpr(Expr::Identifier(column))], [from]) =
            (select.projection.as_slice(), select.from.as_slice())
        else {
            return None;
        };
        let TableFactor::Table { name: table, alias: None, .. } = &from.relation else { return None };
        let table = table.0.first()?.as_ident()?;
        Some(select.selection.is_some() && [column, table].iter().all(|ident| self.name_of(ident) == name))
    }

    /// Returns the name that an identifier denotes. PostgreSQL folds unquoted identifiers to lower case.
    pub fn name_of(self, ident: &Ident) -> String {
        match self {
            Dialect::Postgres if ident.quote_style.is_none() => ident.value.to_ascii_lowercase(),
            Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery | Dialect::Joined => {
                ident.value.clone()
            }
        }
    }

    /// Returns the name in the form in which the dialect compares it with other names of the same statement. PostgreSQL,
    /// SQLite and DataFusion ignore the case of ASCII letters only. In MySQL that depends on the server, so the case of
    /// all letters is ignored.
    pub fn fold(self, ident: &Ident) -> String {
        match self {
            Dialect::Postgres => self.name_of(ident),
            Dialect::Mysql => ident.value.to_lowercase(),
            Dialect::Bigquery => ident.value.clone(),
            Dialect::Sqlite | Dialect::Joined => ident.value.to_ascii_lowercase(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dialect: Dialect, name: &str, expected: &str) {
        assert_eq!(dialect.spell(name), expected, "{dialect:?}");
    }

    #[test]
    fn quotes_a_name_only_where_the_dialect_needs_it() {
        for dialect in Dialect::ALL {
            check(dialect, "orders", "orders");
            check(dialect, "order_2", "order_2");
        }
        check(Dialect::Sqlite, "Order Details", "\"Order Details\"");
        check(Dialect::Mysql, "Order Details", "`Order Details`");
        check(Dialect::Bigquery, "Order Details", "`Order Details`");
        check(Dialect::Joined, "2024", "\"2024\"");
        check(Dialect::Joined, "total.net", "\"total.net\"");
        check(Dialect::Sqlite, "where", "\"where\"");
        // Unquoted, PostgreSQL looks up another name.
        check(Dialect::Postgres, "OrderID", "\"OrderID\"");
        check(Dialect::Sqlite, "OrderID", "OrderID");
        check(Dialect::Sqlite, "", "\"\"");
    }
}
