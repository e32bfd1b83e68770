//! The columns that a query returns, from its text and the described columns of its tables.

use prospector_connect::table::ColumnType;
use sqlparser::ast::{
    Cte, Expr, Ident, ObjectName, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias,
    TableFactor, TableWithJoins, WildcardAdditionalOptions,
};

use crate::Dialect;

/// A column of a query, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct OutputColumn {
    /// Its name; none where the source makes one up.
    pub(crate) name: Option<String>,
    /// Its type, where it is a column of a table as it is.
    pub(crate) column_type: Option<ColumnType>,
}

/// The columns of a query; none where they cannot be told. `table` gives the described columns of a table as it is written.
pub(crate) fn list_columns(
    dialect: Dialect,
    query: &Query,
    table: &dyn Fn(&ObjectName) -> Option<Vec<OutputColumn>>,
) -> Option<Vec<OutputColumn>> {
    Reader { dialect, table, common: Vec::new() }.query(query)
}

struct Reader<'a> {
    dialect: Dialect,
    table: &'a dyn Fn(&ObjectName) -> Option<Vec<OutputColumn>>,
    /// The queries under WITH that are visible, the innermost last.
    common: Vec<(String, Option<Vec<OutputColumn>>)>,
}

/// Something in FROM: what the query calls it, and its columns.
struct Relation {
    name: Option<String>,
    columns: Vec<OutputColumn>,
}

impl Reader<'_> {
    fn query(&mut self, query: &Query) -> Option<Vec<OutputColumn>> {
        let visible = self.common.len();
        for Cte { alias, query, .. } in query.with.iter().flat_map(|with| &with.cte_tables) {
            let columns = self.query(query).map(|columns| self.rename(alias, columns));
            self.common.push((self.dialect.fold(&alias.name), columns));
        }
        let columns = self.body(&query.body);
        self.common.truncate(visible);
        columns
    }

    fn body(&mut self, body: &SetExpr) -> Option<Vec<OutputColumn>> {
        let mut first = body;
        while let SetExpr::SetOperation { left, .. } = first {
            first = left;
        }
        match first {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            _ => None,
        }
    }

    fn select(&mut self, select: &Select) -> Option<Vec<OutputColumn>> {
        let relations = self.from(&select.from);
        let mut columns = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(expr) => columns.push(self.value(expr, relations.as_deref())),
                SelectItem::ExprWithAlias { expr, alias } => {
                    let value = self.value(expr, relations.as_deref());
                    columns.push(OutputColumn { name: Some(self.dialect.name_of(alias)), ..value });
                }
                SelectItem::Wildcard(options) if is_plain(options) => {
                    columns.extend(relations.iter().flatten().flat_map(|relation| relation.columns.clone()));
                    relations.as_ref()?;
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options)
                    if is_plain(options) =>
                {
                    let wanted = last_of(name).map(|last| self.dialect.fold(last));
                    let relation = relations.as_ref()?.iter().find(|relation| relation.name == wanted)?;
                    columns.extend(relation.columns.clone());
                }
                _ => return None,
            }
        }
        Some(columns)
    }

    /// What is known of a value: that of a column by its name.
    fn value(&self, expr: &Expr, relations: Option<&[Relation]>) -> OutputColumn {
        let (table, name) = match expr {
            Expr::Identifier(name) => (None, name),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [.., table, name] => (Some(self.dialect.fold(table)), name),
                _ => return OutputColumn::default(),
            },
            _ => return OutputColumn::default(),
        };
        let wanted = self.dialect.fold(name);
        let is_it = |column: &&OutputColumn| {
            let own = column.name.as_ref().map(|name| self.dialect.fold(&Ident::with_quote('"', name)));
            own.as_ref() == Some(&wanted)
        };
        let mut relations = relations.into_iter().flatten().filter(|known| table.is_none() || known.name == table);
        let found = relations.find_map(|relation| relation.columns.iter().find(is_it));
        OutputColumn { name: Some(self.dialect.name_of(name)), column_type: found.and_then(|known| known.column_type) }
    }

    fn from(&mut self, tables: &[TableWithJoins]) -> Option<Vec<Relation>> {
        let factors = tables
            .iter()
            .flat_map(|table| std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)));
        let mut relations = Vec::new();
        for factor in factors {
            relations.extend(self.factor(factor)?);
        }
        Some(relations)
    }

    fn factor(&mut self, factor: &TableFactor) -> Option<Vec<Relation>> {
        let (columns, alias, own) = match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let common = match name.0.as_slice() {
                    [only] => only.as_ident().map(|only| self.dialect.fold(only)),
                    _ => None,
                };
                let known = self.common.iter().rev().find(|(name, _)| Some(name) == common.as_ref());
                let columns = match known {
                    Some((_, columns)) => columns.clone()?,
                    None => (self.table)(name)?,
                };
                (columns, alias, last_of(name).map(|last| self.dialect.fold(last)))
            }
            TableFactor::Derived { subquery, alias, .. } => (self.query(subquery)?, alias, None),
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                return self.from(std::slice::from_ref(table_with_joins));
            }
            _ => return None,
        };
        let Some(alias) = alias else { return Some(vec![Relation { name: own, columns }]) };
        let columns = self.rename(alias, columns);
        Some(vec![Relation { name: Some(self.dialect.fold(&alias.name)), columns }])
    }

    /// The columns with the names that an alias gives the first of them.
    fn rename(&self, alias: &TableAlias, mut columns: Vec<OutputColumn>) -> Vec<OutputColumn> {
        for (column, name) in columns.iter_mut().zip(&alias.columns) {
            column.name = Some(self.dialect.name_of(&name.name));
        }
        columns
    }
}

/// Whether all columns are meant, as they are.
fn is_plain(options: &WildcardAdditionalOptions) -> bool {
    let WildcardAdditionalOptions { opt_ilike, opt_exclude, opt_except, opt_replace, opt_rename, opt_alias, .. } =
        options;
    opt_ilike.is_none()
        && opt_exclude.is_none()
        && opt_except.is_none()
        && opt_replace.is_none()
        && opt_rename.is_none()
        && opt_alias.is_none()
}

fn last_of(name: &ObjectName) -> Option<&Ident> {
    name.0.iter().rev().find_map(|part| part.as_ident())
}

#[cfg(test)]
mod tests {
    use sqlparser::ast::Statement;

    use super::*;

    /// The names and types of columns: those of integers with `#` behind them.
    fn check(dialect: Dialect, sql: &str, expected: Option<&[&str]>) {
        let statements = prospector_connect::sql::parse_text(dialect.grammar(), sql).unwrap();
        let [Statement::Query(query)] = statements.as_slice() else { panic!("{sql}") };
        let column = |name: &str, column_type| OutputColumn { name: Some(name.into()), column_type: Some(column_type) };
        let table = |name: &ObjectName| match name.to_string().as_str() {
            "people" | "shop.people" => Some(vec![column("id", ColumnType::Integer), column("name", ColumnType::Text)]),
            _ => None,
        };
        let show = |column: OutputColumn| {
            let mark = if column.column_type == Some(ColumnType::Integer) { "#" } else { "" };
            column.name.unwrap_or_default() + mark
        };
        let found = list_columns(dialect, query, &table);
        let found = found.map(|columns| columns.into_iter().map(show).collect::<Vec<_>>());
        assert_eq!(
            found.as_deref(),
            expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).as_deref(),
            "{sql}"
        );
    }

    #[test]
    fn columns_have_the_names_of_the_projection_and_the_types_of_tables() {
        let dialect = Dialect::Sqlite;
        check(dialect, "SELECT p.id, name AS n, COUNT(*) FROM people p", Some(&["id#", "n", ""]));
        check(dialect, "SELECT * FROM shop.people", Some(&["id#", "name"]));
        check(dialect, "SELECT q.*, 1 AS one FROM (SELECT id FROM people) q", Some(&["id#", "one"]));
        check(dialect, "WITH c (k) AS (SELECT id FROM people) SELECT * FROM c UNION SELECT 1", Some(&["k#"]));
        check(dialect, "SELECT * FROM nowhere", None);
        check(dialect, "SELECT id FROM nowhere", Some(&["id"]));
        check(Dialect::Postgres, "SELECT ID, \"Id\" FROM people", Some(&["id#", "Id"]));
    }
}
