//! Describes the tables of a PostgreSQL database with a constant number of queries.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use prospector_core::Problem;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Row};

use super::dialect::Dialect;
use super::table::{NAME, RELATIONS};
use crate::keys;
use crate::statement::Dialect as _;
use crate::table::{Column, ColumnType, ForeignKey, Table, TablePath};

/// Tables of at most this size in bytes are counted exactly.
const SMALL: i64 = 1 << 20;

/// Maximum number of tables counted by one statement.
const TABLES_A_QUERY: usize = 250;

/// Time limit for counting.
const COUNTING: Duration = Duration::from_secs(10);

/// Each relation: oid, schema, displayed name, kind, comment, bytes, estimated rows, and whether it may be read. A
/// partitioned table is the sum of its partitions. The estimate is scaled to the current size, as in the planner; before
/// the first `ANALYZE` it comes from the statistics collector.
const SIZES: &str = "WITH stored AS (\
     SELECT CASE WHEN c.relispartition THEN pg_partition_root(c.oid)::oid ELSE c.oid END AS root, \
         pg_relation_size(c.oid) AS bytes, \
         CASE WHEN c.reltuples >= 0 AND c.relpages > 0 \
             THEN c.reltuples::float8 / c.relpages * (pg_relation_size(c.oid) / current_setting('block_size')::int) \
             WHEN c.reltuples > 0 THEN c.reltuples::float8 \
             ELSE nullif(pg_stat_get_live_tuples(c.oid), 0)::float8 END AS tuples \
     FROM pg_class c WHERE c.relkind IN ('r', 'm')), \
     sizes AS (SELECT root, sum(bytes)::bigint AS bytes, \
         CASE WHEN bool_and(tuples IS NOT NULL OR bytes = 0) THEN coalesce(sum(tuples), 0)::bigint END AS tuples \
     FROM stored GROUP BY root)";

/// Returns a text that changes with the description: names, kinds, comments, columns, keys, and approximate row counts.
pub(super) async fn fingerprint(connection: &mut PgConnection, schemas: &[String]) -> Result<String, sqlx::Error> {
    let sql = format!(
        "{SIZES}, r AS (SELECT c.oid, n.nspname, c.relname, c.relkind {RELATIONS}) \
         SELECT md5(concat_ws('/', \
         (SELECT md5(string_agg(concat_ws(' ', r.oid, nspname, relname, relkind, \
             has_table_privilege(r.oid, 'SELECT'), round(ln(s.tuples + 1))), ',' ORDER BY r.oid)) \
          FROM r LEFT JOIN sizes s ON s.root = r.oid), \
         (SELECT md5(string_agg(concat_ws(' ', attrelid, attnum, attname, atttypid, atttypmod, attnotnull), ',' \
             ORDER BY attrelid, attnum)) \
          FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped AND attrelid IN (SELECT oid FROM r)), \
         (SELECT md5(string_agg(concat_ws(' ', oid, contype, conrelid, confrelid, conkey, confkey), ',' ORDER BY oid)) \
          FROM pg_constraint WHERE contype IN ('p', 'f') AND conrelid IN (SELECT oid FROM r)), \
         (SELECT md5(string_agg(concat_ws(' ', objoid, objsubid, description), ',' ORDER BY objoid, objsubid)) \
          FROM pg_description WHERE classoid = 'pg_class'::regclass AND objoid IN (SELECT oid FROM r)), \
         (SELECT md5(string_agg(concat_ws(' ', enumtypid, enumsortorder, enumlabel), ',' ORDER BY oid)) FROM pg_enum)))"
    );
    let row = sqlx::query(AssertSqlSafe(sql)).bind(schemas).persistent(false).fetch_one(connection).await?;
    row.try_get(0)
}

/// A relation under description.
struct Relation {
    oid: i64,
    /// The quoted name.
    from: String,
    bytes: i64,
    counted: bool,
}

pub(super) async fn describe(
    connection: &mut PgConnection,
    schemas: &[String],
    place: &str,
) -> Result<(Vec<Table>, Vec<Problem>), sqlx::Error> {
    let mut problems = Vec::new();
    let sql = format!(
        "{SIZES} SELECT c.oid::int8, n.nspname::text, c.relname::text, {NAME}, c.relkind::text, \
         coalesce(obj_description(c.oid, 'pg_class'), ''), coalesce(s.bytes, 0), s.tuples, \
         has_any_column_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE') \
         FROM (SELECT c.oid {RELATIONS}) w JOIN pg_class c ON c.oid = w.oid JOIN pg_namespace n ON n.oid = c.relnamespace \
         LEFT JOIN sizes s ON s.root = c.oid ORDER BY n.nspname <> 'public', n.nspname, c.oid"
    );
    let rows = ask(connection, sql, schemas).await?;
    let (mut tables, mut relations, mut places, mut hidden) = (Vec::new(), Vec::new(), HashMap::new(), Vec::new());
    let mut names = std::collections::HashSet::new();
    for row in &rows {
        let (oid, name) = (row.try_get::<i64, _>(0)?, row.try_get::<String, _>(3)?);
        if !row.try_get::<bool, _>(8)? {
            hidden.push(name);
            continue;
        }
        if !names.insert(name.clone()) {
            let reason = format!("another schema also has a table `{name}`");
            problems.push(Problem::warning(format!("{place}: {name}"), reason).advise("the table in `public` is used"));
            continue;
        }
        let kind = row.try_get::<String, _>(4)?;
        let estimate: Option<i64> = if matches!(kind.as_str(), "v" | "f") { None } else { row.try_get(7)? };
        let path = TablePath { schema: row.try_get(1)?, name: row.try_get(2)? };
        let from = [&path.schema, &path.name].map(|part| Dialect.quote(part)).join(".");
        places.insert(oid, tables.len());
        relations.push(Relation { oid, from, bytes: row.try_get(6)?, counted: !matches!(kind.as_str(), "v" | "f") });
        tables.push(Table {
            name,
            path: Some(path),
            description: row.try_get(5)?,
            row_count: estimate.and_then(|rows| u64::try_from(rows).ok()),
            row_count_estimated: estimate.is_some(),
            is_view: matches!(kind.as_str(), "v" | "m"),
            ..Table::default()
        });
    }
    if !hidden.is_empty() {
        let some = hidden.iter().take(5).cloned().collect::<Vec<_>>().join("`, `");
        let more = if hidden.len() > 5 { format!(" and {} more", hidden.len() - 5) } else { String::new() };
        let reason = format!("the user may not read `{some}`{more}; skipped");
        problems.push(Problem::warning(place, reason).advise("grant SELECT on the required tables"));
    }
    for schema in schemas {
        if !rows.iter().any(|row| row.try_get::<&str, _>(1).is_ok_and(|known| known == schema)) {
            let reason = format!("the schema `{schema}` does not exist or has no tables");
            problems.push(Problem::warning(place, reason).advise("correct `schemas`"));
        }
    }
    let oids: Vec<i64> = relations.iter().map(|relation| relation.oid).collect();
    add_columns(connection, &oids, &places, &mut tables).await?;
    add_keys(connection, &oids, &places, &mut tables).await?;
    count(connection, &relations, &mut tables).await?;
    problems.extend(keys::resolve(&mut tables, place));
    Ok((tables, problems))
}

async fn ask(connection: &mut PgConnection, sql: String, schemas: &[String]) -> Result<Vec<PgRow>, sqlx::Error> {
    sqlx::query(AssertSqlSafe(sql)).bind(schemas).persistent(false).fetch_all(connection).await
}

/// Adds the readable columns. The type of an enum shows its labels.
async fn add_columns(
    connection: &mut PgConnection,
    oids: &[i64],
    places: &HashMap<i64, usize>,
    tables: &mut [Table],
) -> Result<(), sqlx::Error> {
    let sql = "WITH labels AS (SELECT enumtypid, \
             left(string_agg(quote_literal(enumlabel), ', ' ORDER BY enumsortorder), 200) AS labels \
         FROM pg_enum GROUP BY enumtypid), \
         wanted AS (SELECT oid::oid, has_table_privilege(oid::oid, 'SELECT') AS whole FROM unnest($1::int8[]) AS oid) \
         SELECT a.attrelid::int8, a.attname::text, \
             format_type(a.atttypid, a.atttypmod) || coalesce(' enum(' || l.labels || ')', ''), a.attnotnull, \
             coalesce(a.attnum = ANY (k.conkey), false), coalesce(d.description, '') \
         FROM wanted w JOIN pg_attribute a ON a.attrelid = w.oid \
         LEFT JOIN labels l ON l.enumtypid = a.atttypid \
         LEFT JOIN pg_constraint k ON k.conrelid = a.attrelid AND k.contype = 'p' \
         LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = a.attrelid \
             AND d.objsubid = a.attnum \
         WHERE a.attnum > 0 AND NOT a.attisdropped \
             AND (w.whole OR has_column_privilege(a.attrelid, a.attnum, 'SELECT')) \
         ORDER BY a.attrelid, a.attnum";
    for row in sqlx::query(sql).bind(oids).persistent(false).fetch_all(connection).await? {
        let Some(at) = places.get(&row.try_get(0)?) else { continue };
        let primary_key: bool = row.try_get(4)?;
        let data_type: String = row.try_get(2)?;
        tables[*at].columns.push(Column {
            name: row.try_get(1)?,
            column_type: column_type(&data_type),
            data_type,
            nullable: !row.try_get::<bool, _>(3)? && !primary_key,
            primary_key,
            description: row.try_get(5)?,
            ..Column::default()
        });
    }
    Ok(())
}

/// Maps a type as written by `format_type`, followed by the labels of an enum.
fn column_type(declared: &str) -> ColumnType {
    let word = declared.to_lowercase();
    let starts = |words: &[&str]| words.iter().any(|start| word.starts_with(start));
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    match () {
        () if has(&[" enum("]) => ColumnType::Other,
        () if word.ends_with("[]") || starts(&["json", "record"]) => ColumnType::Nested,
        () if has(&["range", "interval", "point"]) => ColumnType::Other,
        () if starts(&["int", "bigint", "smallint", "serial", "bigserial"]) => ColumnType::Integer,
        () if starts(&["real", "double", "float"]) => ColumnType::Float,
        () if starts(&["numeric", "decimal"]) => ColumnType::from_parameters(&word),
        () if starts(&["bool"]) => ColumnType::Boolean,
        () if starts(&["timestamp"]) => ColumnType::Timestamp,
        () if word == "date" => ColumnType::Date,
        () if starts(&["text", "character varying", "varchar", "citext"]) => ColumnType::Text,
        () if starts(&["bytea"]) => ColumnType::Bytes,
        () => ColumnType::Other,
    }
}

/// Adds the foreign keys between these tables. Those to other schemas are skipped without a warning.
async fn add_keys(
    connection: &mut PgConnection,
    oids: &[i64],
    places: &HashMap<i64, usize>,
    tables: &mut [Table],
) -> Result<(), sqlx::Error> {
    // Partitions repeat the keys of their parent.
    let sql = "SELECT k.conrelid::int8, k.confrelid::int8, \
             array_agg(own.attname::text ORDER BY u.n), array_agg(other.attname::text ORDER BY u.n) \
         FROM pg_constraint k CROSS JOIN unnest(k.conkey, k.confkey) WITH ORDINALITY u (own, other, n) \
         JOIN pg_attribute own ON own.attrelid = k.conrelid AND own.attnum = u.own \
         JOIN pg_attribute other ON other.attrelid = k.confrelid AND other.attnum = u.other \
         WHERE k.contype = 'f' AND k.conparentid = 0 AND k.conrelid = ANY (SELECT oid::oid FROM unnest($1::int8[]) oid) \
         GROUP BY k.oid, k.conrelid, k.confrelid, k.conname ORDER BY k.conrelid, k.oid";
    for row in sqlx::query(sql).bind(oids).persistent(false).fetch_all(connection).await? {
        let (Some(from), Some(to)) = (places.get(&row.try_get(0)?), places.get(&row.try_get(1)?)) else { continue };
        let table = tables[*to].name.clone();
        tables[*from].foreign_keys.push(ForeignKey { columns: row.try_get(2)?, table, references: row.try_get(3)? });
    }
    Ok(())
}

/// Counts the small tables, many in one statement. A statement that fails, because of a row policy or a lock, only loses
/// its exact counts.
async fn count(connection: &mut PgConnection, relations: &[Relation], tables: &mut [Table]) -> Result<(), sqlx::Error> {
    let end = Instant::now() + COUNTING;
    let mut wanted = Vec::new();
    for (at, relation) in relations.iter().enumerate().filter(|(_, relation)| relation.counted) {
        if relation.bytes == 0 {
            (tables[at].row_count, tables[at].row_count_estimated) = (Some(0), false);
        } else if relation.bytes <= SMALL {
            wanted.push(at);
        }
    }
    for part in wanted.chunks(TABLES_A_QUERY) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let counts: Vec<String> =
            part.iter().map(|at| format!("SELECT {at}::int8, count(*) FROM {}", relations[*at].from)).collect();
        let begin = format!("SAVEPOINT counting; SET LOCAL statement_timeout = {}", left.as_millis().max(1));
        sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut *connection).await?;
        let sql = counts.join(" UNION ALL ");
        match sqlx::query(AssertSqlSafe(sql)).persistent(false).fetch_all(&mut *connection).await {
            Ok(rows) => {
                for row in rows {
                    let (at, rows) = (row.try_get::<i64, _>(0)?, row.try_get::<i64, _>(1)?);
                    if let Some(table) = usize::try_from(at).ok().and_then(|at| tables.get_mut(at)) {
                        (table.row_count, table.row_count_estimated) = (u64::try_from(rows).ok(), false);
                    }
                }
                sqlx::raw_sql("RELEASE SAVEPOINT counting").execute(&mut *connection).await?;
            }
            Err(error) if error.as_database_error().is_some() => {
                sqlx::raw_sql("ROLLBACK TO SAVEPOINT counting").execute(&mut *connection).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod type_tests {
    use super::*;

    #[test]
    fn maps_declared_types() {
        let check = |declared: &str, expected| assert_eq!(column_type(declared), expected, "{declared}");
        check("integer", ColumnType::Integer);
        check("numeric(10,2)", ColumnType::Decimal { precision: 10, scale: 2 });
        check("numeric", ColumnType::Float);
        check("double precision", ColumnType::Float);
        check("timestamp with time zone", ColumnType::Timestamp);
        check("date", ColumnType::Date);
        check("character varying(40)", ColumnType::Text);
        check("character(2)", ColumnType::Other);
        check("mood enum('text', 'int')", ColumnType::Other);
        check("int4range", ColumnType::Other);
        check("interval", ColumnType::Other);
        check("text[]", ColumnType::Nested);
        check("jsonb", ColumnType::Nested);
        check("bytea", ColumnType::Bytes);
        check("uuid", ColumnType::Other);
    }
}
