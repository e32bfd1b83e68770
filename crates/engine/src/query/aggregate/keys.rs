//! The query that returns the keys of the members of a segment.

use std::collections::BTreeSet;

use super::request::{Members, Segment, SegmentQuery};
use super::scope::{Placed, Scope};
use crate::build::{Writer, invalid, join_tables, write_joins, write_where};
use crate::options::{NamedQuery, NamedSchema};
use crate::query::CompiledQuery;
use crate::{Dialect, Engine, Failure, FailureCode};

impl Engine {
    /// Returns the index of the database of the members of a segment; `None` if their query reads several.
    pub(super) fn find_segment_source(&self, segment: &Segment) -> Result<Option<usize>, Failure> {
        let is_it = |named: &&NamedQuery| {
            named.schema == NamedSchema::Segments && named.name.eq_ignore_ascii_case(&segment.name)
        };
        let Some(named) = self.named_queries().iter().find(is_it) else {
            let message = format!("no query for the members of `{}`", segment.name);
            return Err(Failure::new(FailureCode::UnknownTable, message));
        };
        named.database.as_ref().map(|database| self.source(database)).transpose()
    }

    /// Compiles the query that returns the keys of the members of a segment, each once: over one database in its own SQL, over
    /// several in DataFusion's.
    ///
    /// # Errors
    /// - If a name is unknown.
    /// - If a condition is not an expression over a row.
    /// - If no key connects the tables.
    pub fn compile_segment(&self, query: &SegmentQuery) -> Result<CompiledQuery, Failure> {
        let SegmentQuery { tables, joins, segment, members } = query;
        let mut scope = Scope::new(self, tables, joins)?;
        let root = scope.table(&segment.table)?;
        let key: Vec<String> = segment
            .key
            .iter()
            .map(|name| Ok(scope.column(root, name)?.name.clone()))
            .collect::<Result<_, Failure>>()?;
        if key.is_empty() {
            return Err(invalid(format!("`{}` has no key", segment.table)).advise("declare its `key` in the catalog"));
        }
        let (sql, database) = match members {
            Members::Query { name, database, columns } => {
                let dialect = match database {
                    Some(database) => self.sources[self.source(database)?].dialect(),
                    None => Dialect::Joined,
                };
                (select_from_query(dialect, name, columns, &key), database.clone())
            }
            Members::Conditions(conditions) => select_rows(self, &mut scope, root, &key, conditions)?,
        };
        Ok(CompiledQuery { sql, database, columns: key })
    }
}

/// Renders the query for the keys that a named query returns.
fn select_from_query(dialect: Dialect, name: &str, columns: &[String], key: &[String]) -> String {
    let value = |column: &String| format!("q.{}", dialect.quote(column));
    let list = columns.iter().zip(key).map(|(column, key)| format!("{} AS {}", value(column), dialect.quote(key)));
    let conditions: Vec<String> = columns.iter().map(|column| format!("{} IS NOT NULL", value(column))).collect();
    format!(
        "SELECT DISTINCT {}\nFROM {}.{} AS q{}",
        list.collect::<Vec<_>>().join(", "),
        dialect.quote(NamedSchema::Queries.as_str()),
        dialect.quote(name),
        write_where(&conditions)
    )
}

/// Renders the query for the keys of rows that match conditions, and returns their database if it is a single one.
fn select_rows(
    engine: &Engine,
    scope: &mut Scope<'_>,
    root: usize,
    key: &[String],
    conditions: &[String],
) -> Result<(String, Option<String>), Failure> {
    let placed: Vec<Placed> = conditions.iter().map(|text| scope.place(root, text)).collect::<Result<_, _>>()?;
    let mut needed = vec![root];
    for placed in &placed {
        needed.extend(scope.tables(placed)?);
    }
    // A row is a member if it matches with any of the rows that are joined to it.
    let tree = join_tables(&scope.relations, root, &needed, &[])?;
    let mut sources =
        std::iter::once(root).chain(tree.steps.iter().map(|step| step.to)).map(|table| scope.source(table));
    let first = sources.next();
    let only = first.filter(|first| sources.all(|other| other == *first)).map(|at| &engine.sources[at]);
    let dialect = only.map_or(Dialect::Joined, |source| source.dialect());
    scope.relations.dialect = dialect;
    let writer = Writer { dialect };
    let list: Vec<String> = key.iter().map(|name| format!("t{root}.{}", writer.quote(name))).collect();
    let mut clauses: Vec<String> = Vec::new();
    for placed in &placed {
        clauses.push(format!("({})", scope.write(dialect, placed)?));
    }
    let relations = &scope.relations;
    let sql = format!(
        "SELECT DISTINCT {}\nFROM {} AS t{root}{}{}",
        list.join(", "),
        relations.write(root),
        write_joins(&writer, relations, &tree, &BTreeSet::new()),
        write_where(&clauses)
    );
    Ok((sql, only.map(|source| source.name.clone())))
}
