//! Verification of field names after a dot: PostgreSQL calls a function of that name, or casts to a type, if the row has
//! no such column.

use sqlx::Row;
use sqlx::postgres::PgConnection;

use crate::rows::FieldNames;

/// Selects of the names `$1` those of a function callable with one argument, whether or not it is on the search path, or
/// of a type that values can be cast to, unless one of the tables has such a column: the table `$3` of the schema `$2`,
/// and so on. System columns count for tables, which have them, but not for views.
const CALLABLE: &str = "SELECT w.name FROM unnest($1::text[]) AS w (name) \
    WHERE (EXISTS (SELECT FROM pg_proc p \
            WHERE p.proname = w.name::name AND p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1) \
        OR EXISTS (SELECT FROM pg_type t WHERE t.typname = w.name::name AND t.typrelid = 0)) \
    AND NOT EXISTS (SELECT FROM unnest($2::text[], $3::text[]) AS r (schema, name) \
        JOIN pg_namespace n ON n.nspname = r.schema::name \
        JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = r.name::name \
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = w.name::name AND NOT a.attisdropped) \
    ORDER BY 1";

/// Returns the names that PostgreSQL may resolve to functions or types.
pub(super) async fn find_callable(
    connection: &mut PgConnection,
    fields: &FieldNames,
) -> Result<Vec<String>, sqlx::Error> {
    let (schemas, tables): (Vec<&str>, Vec<&str>) =
        fields.tables.iter().map(|path| (path.schema.as_str(), path.name.as_str())).unzip();
    let query = sqlx::query(CALLABLE).bind(&fields.names).bind(schemas).bind(tables);
    let rows = query.persistent(false).fetch_all(connection).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}
