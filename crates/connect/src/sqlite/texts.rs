//! Distinct texts of a column, from the first rows of large tables.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Row, ValueRef};

use super::value::{integer, text};
use super::{Sqlite, quote};
use crate::ConnectError;
use crate::rows::{TextRequest, Texts};

/// Maximum number of rows read.
const MAX_ROWS: i64 = 200_000;

/// Time limit of the statement.
const TIME_LIMIT: Duration = Duration::from_secs(5);

impl Sqlite {
    pub(super) async fn read_texts(
        &self,
        table: &str,
        column: &str,
        request: &TextRequest,
    ) -> Result<Texts, ConnectError> {
        let mut connection = self.database.connection(TIME_LIMIT).await?;
        let column = quote(&self.columns(&mut connection, table, &[column.to_owned()]).await?[0]);
        // Longer texts form one group, an empty blob, and other values another, null: both come first.
        let sql = format!(
            "SELECT k, sum(count(*)) OVER () FROM (SELECT CASE WHEN typeof(v) <> 'text' THEN NULL \
             WHEN length(v) > ?2 THEN x'' ELSE v END AS k FROM (SELECT {column} AS v FROM main.{table} LIMIT ?1)) \
             GROUP BY k COLLATE BINARY ORDER BY typeof(k) = 'text', count(*) DESC, k COLLATE BINARY LIMIT ?3",
            table = quote(table),
        );
        let limit = i64::try_from(request.limit).unwrap_or(i64::MAX);
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(MAX_ROWS + 1)
            .bind(i64::try_from(request.max_chars).unwrap_or(i64::MAX))
            // One more, to know whether there are others.
            .bind(limit.saturating_add(3))
            .persistent(false)
            .fetch_all(&mut *connection)
            .await
            .map_err(|error| self.statement_error(table, error))?;
        let mut found =
            Texts { texts: Vec::new(), is_complete: rows.first().is_none_or(|row| integer(row, 1) <= MAX_ROWS) };
        for row in &rows {
            let type_name =
                row.try_get_raw(0).ok().filter(|value| !value.is_null()).map(|value| value.type_info().to_string());
            match type_name.as_deref() {
                None => {}
                Some("TEXT") if found.texts.len() < request.limit => found.texts.push(text(row, 0)),
                Some(_) => found.is_complete = false,
            }
        }
        Ok(found)
    }
}
