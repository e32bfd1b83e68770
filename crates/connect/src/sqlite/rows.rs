//! Reads rows by conditions, or for a user query.

use rusqlite::Statement as Compiled;
use rusqlite::types::ValueRef;
use serde_json::Value;

use super::guard::Phase;
use super::outline::compile;
use super::session::{Session, SessionFailure, within};
use super::{STATEMENT_TIMEOUT, Sqlite, quote};
use crate::budget::Budget;
use crate::filter::{ConditionError, FilterCondition, text};
use crate::rows::{BlockSender, Rows, SqlQuery};
use crate::statement::{BoundValue, Dialect as SqlDialect, Statement, TypedColumn, select};
use crate::{ConnectError, display};

/// The SQL dialect of SQLite.
struct Dialect;

impl SqlDialect for Dialect {
    fn quote(&self, name: &str) -> String {
        quote(name)
    }

    fn bind(&self, position: usize, _: &TypedColumn, value: &Value) -> Result<(String, BoundValue), ConditionError> {
        // The affinity of the column converts a bound text.
        let bound = match value {
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => BoundValue::Integer(number),
                (None, Some(number)) => BoundValue::Float(number),
                (None, None) => BoundValue::Text(number.to_string()),
            },
            Value::Bool(yes) => BoundValue::Integer((*yes).into()),
            other => BoundValue::Text(text(other)),
        };
        let hexadecimal = matches!(&bound, BoundValue::Text(text) if text.starts_with("\\x"));
        Ok((if hexadecimal { bytes_or_text(position) } else { format!("?{position}") }, bound))
    }

    fn like(&self, column: &str, position: usize) -> String {
        format!("{column} LIKE ?{position} ESCAPE '\\'")
    }
}

/// A text such as `\x00ff` denotes bytes in a column of bytes, and itself in a column of texts.
fn bytes_or_text(position: usize) -> String {
    format!("ifnull(unhex(substr(?{position}, 3)), ?{position})")
}

impl Sqlite {
    pub(super) async fn filter_rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let mut connection = self.database.connection(STATEMENT_TIMEOUT).await?;
        let known: Vec<TypedColumn> = self
            .columns(&mut connection, table, &[])
            .await?
            .into_iter()
            .map(|name| TypedColumn { name, data_type: String::new() })
            .collect();
        drop(connection);
        let wanted = crate::statement::columns(&self.place(), table, &known, columns)?;
        let from = format!("main.{}", quote(table));
        let statement = select(&Dialect, table, &from, &wanted, &known, conditions, limit)?;
        self.within(table, move |session| {
            let mut compiled = session.connection.prepare(&statement.sql)?;
            bind(&mut compiled, &statement)?;
            read(&mut compiled, Budget::of_rows(), limit)
        })
        .await
    }

    pub(super) async fn answer_query(&self, query: &SqlQuery<'_>, cap: usize) -> Result<Rows, ConnectError> {
        let (sql, tables) = to_owned_parts(query);
        self.within("the answer to a query", move |session| {
            let mut compiled = compile(session, &tables, &sql)?;
            session.guard.during(Phase::Running, || read(&mut compiled, Budget::of_answer(), cap))
        })
        .await
    }

    pub(super) async fn stream_query(
        &self,
        query: &SqlQuery<'_>,
        limit: usize,
        blocks: &BlockSender,
    ) -> Result<(), ConnectError> {
        let (sql, tables) = to_owned_parts(query);
        let blocks = blocks.clone();
        self.within("the answer to a query", move |session| {
            let mut compiled = compile(session, &tables, &sql)?;
            let mut send = |block| blocks.blocking_send(block).is_ok();
            session
                .guard
                .during(Phase::Running, || read_blocks(&mut compiled, Budget::of_answer(), limit, Some(&mut send)))?;
            Ok(())
        })
        .await
    }

    /// Compiles the query without running it.
    pub(super) async fn plan_query(&self, query: &SqlQuery<'_>) -> Result<(), ConnectError> {
        let (sql, tables) = to_owned_parts(query);
        self.within("the plan of a query", move |session| compile(session, &tables, &sql).map(drop)).await
    }

    async fn within<T: Send + 'static>(
        &self,
        table: &str,
        act: impl FnOnce(&Session) -> Result<T, SessionFailure> + Send + 'static,
    ) -> Result<T, ConnectError> {
        let is_immutable = self.database.is_immutable().await?;
        let (path, permits) = (self.database.path(), self.database.permits());
        let done = within(path, is_immutable, permits, STATEMENT_TIMEOUT, act).await;
        done.map_err(|failed| failed.error(path.display().to_string(), table))
    }
}

/// Returns the statement, and the tables that it may read without duplicates.
fn to_owned_parts(query: &SqlQuery<'_>) -> (String, Vec<String>) {
    let mut tables: Vec<String> = query.tables.iter().map(|name| (*name).to_owned()).collect();
    tables.sort_by_key(|name| name.to_ascii_lowercase());
    tables.dedup_by(|a, b| a.eq_ignore_ascii_case(b));
    (query.sql.to_owned(), tables)
}

fn bind(compiled: &mut Compiled<'_>, statement: &Statement) -> Result<(), SessionFailure> {
    for (at, bound) in statement.values.iter().enumerate() {
        match bound {
            BoundValue::Text(text) => compiled.raw_bind_parameter(at + 1, text)?,
            BoundValue::Integer(number) => compiled.raw_bind_parameter(at + 1, number)?,
            BoundValue::Float(number) => compiled.raw_bind_parameter(at + 1, number)?,
        }
    }
    Ok(())
}

/// Reads at most `cap` rows of a statement within the budget.
fn read(compiled: &mut Compiled<'_>, budget: Budget, cap: usize) -> Result<Rows, SessionFailure> {
    read_blocks(compiled, budget, cap, None)
}

/// Like [`read`]. With `send`, the rows are passed on in blocks limited by the budget, until it returns false.
fn read_blocks(
    compiled: &mut Compiled<'_>,
    mut budget: Budget,
    cap: usize,
    mut send: Option<&mut dyn FnMut(Rows) -> bool>,
) -> Result<Rows, SessionFailure> {
    let columns: Vec<String> = compiled.column_names().into_iter().map(str::to_owned).collect();
    let (mut rows, mut has_more, mut count) = (Vec::new(), false, 0);
    let mut found = compiled.raw_query();
    while let Some(row) = found.next()? {
        if count == cap {
            has_more = true;
            break;
        }
        let mut values = Vec::with_capacity(columns.len());
        for at in 0..columns.len() {
            let value = row.get_ref(at)?;
            let bytes = match value {
                ValueRef::Text(text) => text.len(),
                // Two digits per byte.
                ValueRef::Blob(bytes) => 2 + 2 * bytes.len(),
                ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
            };
            budget.take(at, bytes).map_err(|excess| SessionFailure::TooLarge(excess, columns.clone()))?;
            values.push(match value {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => number.into(),
                ValueRef::Real(number) => display::float(number),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
                ValueRef::Blob(bytes) => display::hexadecimal(bytes).into(),
            });
        }
        rows.push(values);
        count += 1;
        if let Some(send) = &mut send
            && budget.is_block()
        {
            let block = Rows { columns: columns.clone(), rows: std::mem::take(&mut rows), has_more: false };
            if !send(block) {
                return Ok(Rows::default());
            }
            budget.renew();
        }
    }
    let last = Rows { columns, rows, has_more };
    match send {
        Some(send) => {
            send(last);
            Ok(Rows::default())
        }
        None => Ok(last),
    }
}
