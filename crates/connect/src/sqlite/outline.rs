//! An empty in-memory database with only those tables that a statement may read.
//!
//! A statement that compiles here names no other table, whatever its syntax, because SQLite itself has parsed it. Hidden
//! tables do not exist here, so errors cannot distinguish them from missing ones. The authorizer alone is not sufficient:
//! SQLite reports a table that a view reads in the same way as one that a `WITH` name refers to.

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, Connection, OpenFlags, Statement};

use super::failure::SessionFailure;
use super::guard::{Guard, Phase};
use super::quote;
use super::session::{Session, harden, set_limits};
use crate::cause::Cause;

/// The empty database.
pub(super) struct Outline {
    connection: Connection,
    guard: Guard,
}

impl Outline {
    /// Creates the empty database with those of these tables that exist in a session.
    pub(super) fn of(session: &Session, tables: &[String]) -> Result<Outline, SessionFailure> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_in_memory_with_flags(flags)?;
        harden(&connection)?;
        set_limits(&connection)?;
        let guard = Guard::set(&connection)?;
        let outline = Outline { connection, guard };
        for name in tables {
            outline.make(session, name)?;
        }
        outline.guard.allow(tables, list_names(&outline.connection)?);
        Ok(outline)
    }

    /// Creates a table of the same name and columns.
    fn make(&self, session: &Session, name: &str) -> Result<(), SessionFailure> {
        let connection = &session.connection;
        let mut found = connection.prepare(
            "SELECT l.type, l.wr, s.sql FROM pragma_table_list(?1) l JOIN main.sqlite_schema s ON s.name = l.name \
             WHERE l.schema = 'main' AND s.type IN ('table', 'view')",
        )?;
        let mut rows = found.query([name])?;
        let Some(row) = rows.next()? else { return Ok(()) };
        let (kind, is_without_rowid, sql): (String, bool, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if kind == "virtual"
            && let Some(sql) = sql
            && self
                .guard
                .during(Phase::Making, || one(&self.connection, &sql)?.raw_execute().map_err(SessionFailure::Source))
                .is_ok()
        {
            return Ok(());
        }
        let mut found = connection.prepare("SELECT name, pk FROM pragma_table_xinfo(?1, 'main') ORDER BY cid")?;
        let columns: Vec<(String, i64)> =
            found.query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
        let mut parts: Vec<String> = columns.iter().map(|(column, _)| quote(column)).collect();
        let mut key: Vec<&(String, i64)> = columns.iter().filter(|(_, pk)| *pk > 0).collect();
        key.sort_by_key(|(_, place)| *place);
        if is_without_rowid && !key.is_empty() {
            let key: Vec<String> = key.iter().map(|(column, _)| quote(column)).collect();
            parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
        }
        let suffix = if is_without_rowid && !key.is_empty() { " WITHOUT ROWID" } else { "" };
        let sql = format!("CREATE TABLE main.{} ({}){suffix}", quote(name), parts.join(", "));
        self.guard
            .during(Phase::Making, || one(&self.connection, &sql)?.raw_execute().map_err(SessionFailure::Source))?;
        Ok(())
    }

    /// Checks that the statement is one query, without parameters, over the tables of this database.
    ///
    /// # Errors
    /// The error of SQLite.
    pub(super) fn judge(&self, sql: &str) -> Result<(), SessionFailure> {
        prepare_query(&self.connection, &self.guard, sql).map(drop)
    }
}

/// Returns all names in a database: tables and views of all kinds, and modules of table-valued functions.
fn list_names(connection: &Connection) -> Result<Vec<String>, SessionFailure> {
    let sql = "SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view') \
         UNION ALL SELECT name FROM pragma_module_list";
    let mut found = connection.prepare(sql)?;
    Ok(found.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Compiles a statement of a session over these tables and those that the views among them read.
///
/// # Errors
/// The error of SQLite.
pub(super) fn compile<'a>(session: &'a Session, tables: &[String], sql: &str) -> Result<Statement<'a>, SessionFailure> {
    let connection = &session.connection;
    Outline::of(session, tables)?.judge(sql)?;
    session.guard.allow(tables, list_names(connection)?);
    for name in tables {
        let mut found = connection.prepare("SELECT type FROM pragma_table_list(?1) WHERE schema = 'main'")?;
        let kinds: Vec<String> = found.query_map([name], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let phase = match kinds.first().map(String::as_str) {
            Some("view") => Phase::Viewing,
            // A virtual table reads its storage on first use, which would be checked otherwise.
            Some("virtual") => Phase::Own,
            _ => continue,
        };
        let all = format!("SELECT * FROM main.{}", quote(name));
        session.guard.during(phase, || connection.prepare(&all).map(drop))?;
    }
    prepare_query(connection, &session.guard, sql)
}

/// Prepares a user statement, if it is one query without parameters.
fn prepare_query<'a>(connection: &'a Connection, guard: &Guard, sql: &str) -> Result<Statement<'a>, SessionFailure> {
    let refused = |reason: &str| SessionFailure::Refused(Cause::Refused, reason.to_owned());
    let statement =
        guard.during(Phase::Judging, || one(connection, sql)).map_err(|failed| match guard.take_refused() {
            // Tables that may not be read are reported as missing.
            Some(table) => SessionFailure::Refused(Cause::UnknownTable, format!("no such table: {table}")),
            None => failed,
        })?;
    if statement.parameter_count() > 0 {
        return Err(refused("it has parameters, which are not supported: write values, and quote `$` and `:`"));
    }
    if !statement.readonly() || statement.column_count() == 0 || statement.is_explain() != 0 {
        return Err(refused("access is read-only, and this is not a query"));
    }
    Ok(statement)
}

/// Prepares the only statement of the text.
fn one<'a>(connection: &'a Connection, sql: &str) -> Result<Statement<'a>, SessionFailure> {
    let mut statements = Batch::new(connection, sql);
    let first = statements.next()?;
    let first = first.ok_or_else(|| SessionFailure::Refused(Cause::Syntax, "there is no statement".to_owned()))?;
    match statements.next()? {
        None => Ok(first),
        Some(_) => Err(SessionFailure::Refused(Cause::Refused, "it is more than one statement".to_owned())),
    }
}
