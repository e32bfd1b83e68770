//! Displayed names of PostgreSQL tables, and table lookup.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Row};

use super::dialect::Dialect;
use crate::sql_server::Place;
use crate::statement::{Dialect as _, TypedColumn};

/// Tables, partitioned tables, views, materialized views and foreign tables (`c`) of the requested schemas (`n`): `$1`,
/// or all but the system schemas. Excludes partitions, which belong to their table, and objects of extensions.
pub(super) const RELATIONS: &str = "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition \
     AND CASE WHEN cardinality($1::text[]) = 0 \
         THEN n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' ELSE n.nspname = ANY ($1::text[]) END \
     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid \
         AND d.deptype = 'e')";

/// The displayed name of a table: without its schema in `public`.
pub(super) const NAME: &str = "CASE WHEN n.nspname = 'public' THEN c.relname ELSE n.nspname || '.' || c.relname END";

/// Finds a table by name: an exact match, or else the only case-insensitive one. If two have the same displayed name,
/// such as `a.b` of `public` and `b` of the schema `a`, it is the described one. Columns have the types that values are
/// cast to: for a domain its base type.
pub(super) async fn find(
    connection: &mut PgConnection,
    schemas: &[String],
    name: &str,
) -> Result<Option<Place>, sqlx::Error> {
    let sql = format!(
        "SELECT n.nspname::text, c.relname::text, a.attname::text, \
         format_type(coalesce(nullif(t.typbasetype, 0), t.oid), -1)::text, ({NAME}) = $2 \
         FROM (SELECT c.*, max(e::int) OVER () AS any_exact FROM \
             (SELECT c.oid, c.relname, c.relnamespace, ({NAME}) = $2 AS e {RELATIONS} AND lower({NAME}) = lower($2)) c) c \
         JOIN pg_namespace n ON n.oid = c.relnamespace \
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
         JOIN pg_type t ON t.oid = a.atttypid \
         WHERE e::int = any_exact AND has_column_privilege(c.oid, a.attnum, 'SELECT') \
             AND has_schema_privilege(n.oid, 'USAGE') \
         ORDER BY n.nspname <> 'public', n.nspname, c.relname, a.attnum",
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).bind(schemas).bind(name).persistent(false).fetch_all(connection).await?;
    let text = |row: &sqlx::postgres::PgRow, index: usize| row.try_get::<String, _>(index).unwrap_or_default();
    let Some(first) = rows.first() else { return Ok(None) };
    let (schema, table) = (text(first, 0), text(first, 1));
    let own: Vec<_> = rows.iter().filter(|row| text(row, 0) == schema && text(row, 1) == table).collect();
    let is_exact = first.try_get::<bool, _>(4).unwrap_or(false);
    if own.len() < rows.len() && !is_exact {
        return Ok(None);
    }
    Ok(Some(Place {
        from: format!("{}.{}", Dialect.quote(&schema), Dialect.quote(&table)),
        columns: own.iter().map(|row| TypedColumn { name: text(row, 2), data_type: text(row, 3) }).collect(),
    }))
}
