//! Describes the tables of a SQLite database with a constant number of queries.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use prospector_core::Problem;
use rusqlite::{ErrorCode, Row};

use super::failure::{OpenError, SessionFailure, explain};
use super::session::Session;
use super::value::{integer, text};
use super::{COLUMNS_A_QUERY, STATEMENT_TIMEOUT, quote, views};
use crate::keys;
use crate::table::{Column, ColumnType, ForeignKey, Table};

/// SQLite joins at most 500 selects in one statement.
const TABLES_A_QUERY: usize = 200;

/// Time limit for counting all views together, because views may compute anything.
const VIEWS_TIMEOUT: Duration = Duration::from_secs(5);

/// Time limit for finding the dates of all tables together.
const DATES_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of rows of a table whose texts are tested for dates.
const MAX_ROWS_OF_DATES: usize = 1000;

/// A day in ISO format, as a pattern of `GLOB`.
const DAY: &str = "[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]";

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

pub(super) fn describe(session: &Session) -> Result<(Vec<Table>, Vec<Problem>), SessionFailure> {
    session.stop_at(Instant::now() + STATEMENT_TIMEOUT)?;
    views::check(session)?;
    let place = session.place.as_str();
    let mut problems: Vec<Problem> =
        session.warning.map(|reason| Problem::warning(place, reason)).into_iter().collect();

    let objects = format!("SELECT s.name, l.type = 'table', s.type = 'view' {OBJECTS} ORDER BY s.rowid");
    let objects = session.ask(&objects, (), |row| {
        let table = Table { name: text(row, 0), is_view: integer(row, 2) == 1, ..Table::default() };
        (integer(row, 1) == 1, table)
    });
    let (stored, mut tables): (Vec<bool>, Vec<Table>) = objects.map_err(OpenError::from)?.into_iter().unzip();

    let mut columns = columns(session, &tables, &mut problems);
    for table in &mut tables {
        table.columns = columns.remove(&table.name).unwrap_or_default();
    }
    if let Err(error) = add_keys(session, &mut tables) {
        problems.push(Problem::warning(place, format!("cannot read the foreign keys: {}", explain(&error).1)));
    }
    let names = |wanted: bool| -> Vec<usize> {
        (0..tables.len()).filter(|i| stored[*i] == wanted && !tables[*i].columns.is_empty()).collect()
    };
    let (kept, computed) = (names(true), names(false));
    count(session, &mut tables, &kept, &mut problems);
    count_each(session, &mut tables, &computed, VIEWS_TIMEOUT, &mut problems);
    find_dates(session, &mut tables, &kept);

    tables.retain(|table| !table.columns.is_empty());
    problems.extend(keys::resolve(&mut tables, place));
    Ok((tables, problems))
}

/// Returns the columns by table. One broken view fails the combined query, so each table is then queried separately.
fn columns(session: &Session, tables: &[Table], problems: &mut Vec<Problem>) -> HashMap<String, Vec<Column>> {
    let rows = session.ask(&format!("{COLUMNS} ORDER BY s.rowid, c.cid"), (), read_column).unwrap_or_else(|_| {
        let one = format!("{COLUMNS} AND s.name = ?1 ORDER BY c.cid");
        let mut rows = Vec::new();
        for table in tables {
            match session.ask(&one, [&table.name], read_column) {
                Ok(some) => rows.extend(some),
                Err(error) => problems.push(
                    Problem::error(format!("{}: {}", session.place, table.name), explain(&error).1)
                        .advise("the view or table is broken and is skipped"),
                ),
            }
        }
        rows
    });
    let mut columns: HashMap<String, Vec<Column>> = HashMap::new();
    for (table, column) in rows {
        columns.entry(table).or_default().push(column);
    }
    columns
}

/// Returns a column with the name of its table.
fn read_column(row: &Row<'_>) -> (String, Column) {
    let primary_key = integer(row, 4) > 0;
    let data_type = text(row, 2);
    let column = Column {
        name: text(row, 1),
        column_type: column_type(&data_type),
        data_type,
        nullable: integer(row, 3) == 0 && !primary_key,
        primary_key,
        ..Column::default()
    };
    (text(row, 0), column)
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

fn add_keys(session: &Session, tables: &mut [Table]) -> Result<(), rusqlite::Error> {
    let mut keys: HashMap<String, Vec<(i64, ForeignKey)>> = HashMap::new();
    session.ask(KEYS, (), |row| {
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
    })?;
    for table in tables {
        let found = keys.remove(&table.name).unwrap_or_default();
        table.foreign_keys = found.into_iter().map(|(_, key)| key).collect();
    }
    Ok(())
}

/// Counts the rows of stored tables, many in one statement; if that fails, one by one.
fn count(session: &Session, tables: &mut [Table], which: &[usize], problems: &mut Vec<Problem>) {
    for part in which.chunks(TABLES_A_QUERY) {
        if count_together(session, tables, part, STATEMENT_TIMEOUT).is_err() {
            count_each(session, tables, part, STATEMENT_TIMEOUT, problems);
        }
    }
}

/// Counts one by one within the time limit, of which one table may take a fifth at most.
fn count_each(
    session: &Session,
    tables: &mut [Table],
    which: &[usize],
    time_limit: Duration,
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
        match count_together(session, tables, &[*index], left) {
            Ok(()) => {}
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => uncounted += 1,
            Err(error) => problems.push(Problem::warning(
                format!("{}: {}", session.place, tables[*index].name),
                format!("cannot count the rows: {}", explain(&error).1),
            )),
        }
    }
    if uncounted > 0 {
        let reason = format!("the rows of {uncounted} tables or views were not counted: the time limit was reached");
        problems.push(Problem::warning(&session.place, reason));
    }
}

/// Counts the rows of tables in one statement.
fn count_together(
    session: &Session,
    tables: &mut [Table],
    which: &[usize],
    time_limit: Duration,
) -> Result<(), rusqlite::Error> {
    let count = |index: &usize| format!("SELECT {index}, count(*) FROM main.{}", quote(&tables[*index].name));
    let sql = which.iter().map(count).collect::<Vec<_>>().join(" UNION ALL ");
    session.stop_at(Instant::now() + time_limit)?;
    for (index, rows) in session.ask(&sql, (), |row| (integer(row, 0), integer(row, 1)))? {
        if let Ok(index) = usize::try_from(index) {
            tables[index].row_count = u64::try_from(rows).ok();
        }
    }
    Ok(())
}

/// Finds columns of texts that contain only dates in ISO format, which compare like dates. If a table cannot be read in
/// time, its columns stay texts.
fn find_dates(session: &Session, tables: &mut [Table], which: &[usize]) {
    let end = Instant::now() + DATES_TIMEOUT;
    for index in which {
        let table = &mut tables[*index];
        let texts: Vec<usize> = (0..table.columns.len()).filter(|at| may_hold_dates(&table.columns[*at])).collect();
        for part in texts.chunks(COLUMNS_A_QUERY) {
            let left = end.saturating_duration_since(Instant::now()).min(DATES_TIMEOUT / 5);
            if left.is_zero() || session.stop_at(Instant::now() + left).is_err() {
                return;
            }
            let forms: Vec<String> =
                part.iter().map(|at| format!("{} AS c{at}", form_of(&table.columns[*at].name))).collect();
            let ends: Vec<String> = part.iter().map(|at| format!("min(c{at}), max(c{at})")).collect();
            let sql = format!(
                "SELECT {} FROM (SELECT {} FROM main.{} LIMIT {MAX_ROWS_OF_DATES})",
                ends.join(", "),
                forms.join(", "),
                quote(&table.name)
            );
            // Null, read as 0, if there are no values.
            let read = |row: &Row<'_>| (0..part.len() * 2).map(|at| integer(row, at)).collect::<Vec<i64>>();
            let rows = session.ask(&sql, (), read).unwrap_or_default();
            for (at, ends) in part.iter().zip(rows.iter().flat_map(|row| row.chunks(2))) {
                if ends[0] > 0 {
                    let column = &mut table.columns[*at];
                    column.column_type = ColumnType::DateText;
                    column.has_times = ends[1] == 2;
                }
            }
        }
    }
}

/// Whether a column is of texts, or declares no type.
fn may_hold_dates(column: &Column) -> bool {
    column.column_type == ColumnType::Text || column.data_type.is_empty()
}

/// Returns the expression for the form of a value: 1 for a day, 2 for a day with a time, 0 for anything else, null if it
/// is empty. Times with an offset do not compare as texts.
fn form_of(column: &str) -> String {
    let column = quote(column);
    format!(
        "CASE WHEN {column} IS NULL OR length({column}) = 0 THEN NULL WHEN typeof({column}) <> 'text' THEN 0 \
         WHEN {column} GLOB '{DAY}' THEN 1 \
         WHEN {column} GLOB '{DAY}[ T][0-2][0-9]:[0-5][0-9]*' AND substr({column}, 12) NOT GLOB '*[^0-9:.Z]*' THEN 2 \
         ELSE 0 END"
    )
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
