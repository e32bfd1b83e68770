//! Describes the tables of a SQLite database with a constant number of queries.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use prospector_core::Problem;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::pool::{Database, is_interrupted, limit, reason};
use super::value::{integer, text};
use super::{STATEMENT_TIMEOUT, quote};
use crate::table::{Column, ColumnType, ForeignKey, Table};
use crate::{ConnectError, keys};

/// SQLite joins at most 500 selects in one statement.
const TABLES_A_QUERY: usize = 200;

/// Time limit for counting all views together, because views may compute anything.
const VIEWS_TIMEOUT: Duration = Duration::from_secs(5);

/// User-created tables and views, in creation order. Shadow tables of virtual tables are excluded.
const OBJECTS: &str = "FROM sqlite_schema s JOIN pragma_table_list l ON l.schema = 'main' AND l.name = s.name \
     WHERE s.type IN ('table', 'view') AND l.type <> 'shadow' AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";

/// Their columns; hidden ones are arguments of virtual tables.
const COLUMNS: &str = "SELECT s.name, c.name, c.type, c.\"notnull\", c.pk \
     FROM sqlite_schema s, pragma_table_xinfo(s.name, 'main') c WHERE s.type IN ('table', 'view') AND c.hidden <> 1";

/// Their foreign keys; SQLite numbers them in reverse.
const KEYS: &str = "SELECT s.name, f.id, f.\"table\", f.\"from\", f.\"to\" \
     FROM sqlite_schema s, pragma_foreign_key_list(s.name, 'main') f WHERE s.type = 'table' \
     ORDER BY s.rowid, f.id DESC, f.seq";

pub(super) async fn describe(database: &Database) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
    let place = database.path().display().to_string();
    let mut connection = database.connection(STATEMENT_TIMEOUT).await?;
    // Catalogs describe many databases but query few of them.
    connection.close_on_drop();
    let connection = &mut *connection;
    let mut problems: Vec<Problem> =
        database.warning().await.map(|reason| Problem::warning(&place, reason)).into_iter().collect();

    let objects = sqlx::query(AssertSqlSafe(format!(
        "SELECT s.name, l.type = 'table', s.type = 'view' {OBJECTS} ORDER BY s.rowid"
    )))
    .fetch_all(&mut *connection)
    .await
    .map_err(|error| database.to_connect_error(error))?;
    let stored: Vec<bool> = objects.iter().map(|row| integer(row, 1) == 1).collect();
    let mut tables: Vec<Table> = objects
        .iter()
        .map(|row| Table { name: text(row, 0), is_view: integer(row, 2) == 1, ..Table::default() })
        .collect();

    let mut columns = columns(connection, &tables, &place, &mut problems).await;
    for table in &mut tables {
        table.columns = columns.remove(&table.name).unwrap_or_default();
    }
    match sqlx::query(KEYS).fetch_all(&mut *connection).await {
        Ok(rows) => add_keys(&mut tables, &rows),
        Err(error) => {
            problems.push(Problem::warning(&place, format!("cannot read the foreign keys: {}", reason(&error))))
        }
    }
    let names = |wanted: bool| -> Vec<usize> {
        (0..tables.len()).filter(|i| stored[*i] == wanted && !tables[*i].columns.is_empty()).collect()
    };
    let (kept, computed) = (names(true), names(false));
    count(connection, &mut tables, &kept, &place, &mut problems).await;
    count_each(connection, &mut tables, &computed, VIEWS_TIMEOUT, &place, &mut problems).await;

    tables.retain(|table| !table.columns.is_empty());
    problems.extend(keys::resolve(&mut tables, &place));
    Ok((tables, problems))
}

/// Returns the columns by table. One broken view fails the combined query, so each table is then queried separately.
async fn columns(
    connection: &mut SqliteConnection,
    tables: &[Table],
    place: &str,
    problems: &mut Vec<Problem>,
) -> HashMap<String, Vec<Column>> {
    let all = format!("{COLUMNS} ORDER BY s.rowid, c.cid");
    let rows = match sqlx::query(AssertSqlSafe(all)).fetch_all(&mut *connection).await {
        Ok(rows) => rows,
        Err(_) => {
            let mut rows = Vec::new();
            let one = format!("{COLUMNS} AND s.name = ?1 ORDER BY c.cid");
            for table in tables {
                match sqlx::query(AssertSqlSafe(one.clone())).bind(&table.name).fetch_all(&mut *connection).await {
                    Ok(some) => rows.extend(some),
                    Err(error) => problems.push(
                        Problem::error(format!("{place}: {}", table.name), reason(&error))
                            .advise("the view or table is broken and is skipped"),
                    ),
                }
            }
            rows
        }
    };
    let mut columns: HashMap<String, Vec<Column>> = HashMap::new();
    for row in &rows {
        let primary_key = integer(row, 4) > 0;
        let data_type = text(row, 2);
        columns.entry(text(row, 0)).or_default().push(Column {
            name: text(row, 1),
            column_type: column_type(&data_type),
            data_type,
            nullable: integer(row, 3) == 0 && !primary_key,
            primary_key,
            description: String::new(),
            ..Column::default()
        });
    }
    columns
}

/// Maps a declared type by the rules of affinity,
/// <https://www.sqlite.org/datatype3.html#determination_of_column_affinity>, with dates distinguished, which SQLite
/// stores as texts.
fn column_type(declared: &str) -> ColumnType {
    let word = declared.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    let starts = |words: &[&str]| words.iter().any(|start| word.starts_with(start));
    match () {
        () if has(&["date", "time"]) => ColumnType::DateText,
        () if has(&["int", "bool"]) && !has(&["point"]) => ColumnType::Integer,
        () if has(&["char", "clob", "text", "string"]) => ColumnType::Text,
        () if has(&["real", "floa", "doub", "numeric", "decimal"]) => ColumnType::Float,
        () if starts(&["blob", "bytea", "binary", "bytes"]) => ColumnType::Bytes,
        () if starts(&["json", "list", "array", "map", "struct", "record"]) => ColumnType::Nested,
        () => ColumnType::Other,
    }
}

fn add_keys(tables: &mut [Table], rows: &[SqliteRow]) {
    let mut keys: HashMap<String, Vec<(i64, ForeignKey)>> = HashMap::new();
    for row in rows {
        let (id, to) = (integer(row, 1), text(row, 4));
        let keys = keys.entry(text(row, 0)).or_default();
        if keys.last().is_none_or(|(last, _)| *last != id) {
            keys.push((id, ForeignKey { table: text(row, 2), ..ForeignKey::default() }));
        }
        if let Some((_, key)) = keys.last_mut() {
            key.columns.push(text(row, 3));
            // Null if the key names no columns.
            if !to.is_empty() {
                key.references.push(to);
            }
        }
    }
    for table in tables {
        let found = keys.remove(&table.name).unwrap_or_default();
        table.foreign_keys = found.into_iter().map(|(_, key)| key).collect();
    }
}

/// Counts the rows of stored tables, many in one statement; if that fails, one by one.
async fn count(
    connection: &mut SqliteConnection,
    tables: &mut [Table],
    which: &[usize],
    place: &str,
    problems: &mut Vec<Problem>,
) {
    for part in which.chunks(TABLES_A_QUERY) {
        let counts: Vec<String> = part.iter().map(|index| count_of(tables, *index)).collect();
        match count_rows(connection, counts.join(" UNION ALL "), STATEMENT_TIMEOUT).await {
            Ok(rows) => rows.iter().for_each(|row| set_count(tables, row)),
            Err(_) => count_each(connection, tables, part, STATEMENT_TIMEOUT, place, problems).await,
        }
    }
}

/// Counts one by one within the time limit, of which one table may take a fifth at most.
async fn count_each(
    connection: &mut SqliteConnection,
    tables: &mut [Table],
    which: &[usize],
    time_limit: Duration,
    place: &str,
    problems: &mut Vec<Problem>,
) {
    let end = Instant::now() + time_limit;
    let mut uncounted = 0;
    for index in which {
        let left = end.saturating_duration_since(Instant::now()).min(time_limit / 5);
        if left.is_zero() {
            uncounted += 1;
            continue;
        }
        match count_rows(connection, count_of(tables, *index), left).await {
            Ok(rows) => rows.iter().for_each(|row| set_count(tables, row)),
            Err(error) if is_interrupted(&error) => uncounted += 1,
            Err(error) => problems.push(Problem::warning(
                format!("{place}: {}", tables[*index].name),
                format!("cannot count the rows: {}", reason(&error)),
            )),
        }
    }
    if uncounted > 0 {
        let reason = format!("the rows of {uncounted} tables or views were not counted: the time limit was reached");
        problems.push(Problem::warning(place, reason));
    }
}

fn count_of(tables: &[Table], index: usize) -> String {
    format!("SELECT {index}, count(*) FROM main.{}", quote(&tables[index].name))
}

async fn count_rows(
    connection: &mut SqliteConnection,
    sql: String,
    time_limit: Duration,
) -> Result<Vec<SqliteRow>, sqlx::Error> {
    limit(connection, time_limit).await?;
    sqlx::query(AssertSqlSafe(sql)).persistent(false).fetch_all(connection).await
}

fn set_count(tables: &mut [Table], row: &SqliteRow) {
    if let Ok(index) = usize::try_from(integer(row, 0)) {
        tables[index].row_count = u64::try_from(integer(row, 1)).ok();
    }
}

#[cfg(test)]
mod type_tests {
    use super::*;

    #[test]
    fn maps_declared_types() {
        let check = |declared: &str, expected| assert_eq!(column_type(declared), expected, "{declared}");
        check("INTEGER", ColumnType::Integer);
        check("BOOLEAN", ColumnType::Integer);
        check("NVARCHAR(160)", ColumnType::Text);
        check("NUMERIC(10,2)", ColumnType::Float);
        check("DATETIME", ColumnType::DateText);
        check("TIMESTAMP", ColumnType::DateText);
        check("BLOB", ColumnType::Bytes);
        check("JSON", ColumnType::Nested);
        check("POINT", ColumnType::Other);
        check("", ColumnType::Other);
    }
}
