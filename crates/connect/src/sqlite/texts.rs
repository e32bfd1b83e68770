//! Distinct texts of a column, from the first rows of large tables.

use std::time::Duration;

use rusqlite::types::ValueRef;

use super::failure::SessionFailure;
use super::session::Session;
use super::value::{integer, text};
use super::{known_columns, quote};
use crate::rows::{TextRequest, Texts};
use crate::statement::columns;

/// Maximum number of rows read.
const MAX_ROWS: i64 = 200_000;

/// Time limit of the statement.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(5);

pub(super) fn read_texts(
    session: &Session,
    table: &str,
    column: &str,
    request: TextRequest,
) -> Result<Texts, SessionFailure> {
    let known = known_columns(session, table)?;
    let column = quote(&columns(&session.place, table, &known, &[column.to_owned()])?[0].name);
    // Longer texts form one group, an empty blob, and other values another, null: both come first.
    let sql = format!(
        "SELECT k, sum(count(*)) OVER () FROM (SELECT CASE WHEN typeof(v) <> 'text' THEN NULL \
         WHEN length(v) > ?2 THEN x'' ELSE v END AS k FROM (SELECT {column} AS v FROM main.{table} LIMIT ?1)) \
         GROUP BY k COLLATE BINARY ORDER BY typeof(k) = 'text', count(*) DESC, k COLLATE BINARY LIMIT ?3",
        table = quote(table),
    );
    let limit = i64::try_from(request.limit).unwrap_or(i64::MAX);
    let max_chars = i64::try_from(request.max_chars).unwrap_or(i64::MAX);
    // One more text, to know whether there are others.
    let parameters = [MAX_ROWS + 1, max_chars, limit.saturating_add(3)];
    let rows = session.ask(&sql, parameters, |row| {
        let is_null = matches!(row.get_ref(0), Ok(ValueRef::Null));
        let is_text = matches!(row.get_ref(0), Ok(ValueRef::Text(_)));
        (is_null, is_text.then(|| text(row, 0)), integer(row, 1))
    })?;
    let is_complete = rows.first().is_none_or(|(_, _, count)| *count <= MAX_ROWS);
    let mut found = Texts { texts: Vec::new(), is_complete };
    for (is_null, text, _) in rows {
        match text {
            Some(text) if found.texts.len() < request.limit => found.texts.push(text),
            _ => found.is_complete &= is_null,
        }
    }
    Ok(found)
}
