//! Reads rows by conditions, or for a user query.

use rusqlite::Statement as Compiled;
use rusqlite::types::ValueRef;
use serde_json::Value;

use super::failure::SessionFailure;
use super::guard::Phase;
use super::outline::compile;
use super::session::Purpose;
use super::value::json;
use super::{STATEMENT_TIMEOUT, Sqlite, known_columns, quote};
use crate::ConnectError;
use crate::budget::Budget;
use crate::filter::{ConditionError, FilterCondition, text};
use crate::rows::{BlockSender, Rows, SqlQuery};
use crate::statement::{BoundValue, Dialect as SqlDialect, Statement, TypedColumn, columns, select};

/// What user queries are about, in messages.
const ANSWER: &str = "the answer to a query";

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
        wanted: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let (name, wanted, conditions) = (table.to_owned(), wanted.to_vec(), conditions.to_vec());
        self.read(table, Purpose::Reading, STATEMENT_TIMEOUT, move |session| {
            let known = known_columns(session, &name)?;
            let wanted = columns(&session.place, &name, &known, &wanted)?;
            let from = format!("main.{}", quote(&name));
            let statement = select(&Dialect, &name, &from, &wanted, &known, &conditions, limit)?;
            let mut compiled = session.connection.prepare(&statement.sql)?;
            bind(&mut compiled, &statement)?;
            read(&mut compiled, Budget::of_rows(), limit)
        })
        .await
    }

    pub(super) async fn answer_query(&self, query: &SqlQuery<'_>, cap: usize) -> Result<Rows, ConnectError> {
        let (sql, tables) = to_owned_parts(query);
        self.read(ANSWER, Purpose::Reading, STATEMENT_TIMEOUT, move |session| {
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
        self.read(ANSWER, Purpose::Reading, STATEMENT_TIMEOUT, move |session| {
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
        let plan = "the plan of a query";
        self.read(plan, Purpose::Reading, STATEMENT_TIMEOUT, move |session| compile(session, &tables, &sql).map(drop))
            .await
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
            values.push(json(value));
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
