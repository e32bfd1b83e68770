//! An empty database in memory that has the tables which a statement may read, and no others.
//!
//! A statement that compiles here names nothing else, however it is written: SQLite itself has read it. Whatever is hidden
//! is missing here, and what is said of it is what is said of something that never was. The authorizer alone could not
//! tell, as SQLite tells it of a table that a view reads in the same way as of one that a name after `WITH` stands for.

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::{Batch, Connection, OpenFlags, Statement};

use super::guard::{Guard, Phase};
use super::quote;
use super::session::{Session, SessionFailure, harden, set_limits};
use crate::cause::Cause;

/// The empty database.
pub(super) struct Outline {
    connection: Connection,
    guard: Guard,
}

impl Outline {
    /// The empty database with these tables of a session, as far as they are there.
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

    /// Makes a table of the same name and columns.
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

    /// Whether the statement is one query, without parameters, over the tables that are here.
    ///
    /// # Errors
    /// What is wrong with it, as SQLite says it.
    pub(super) fn judge(&self, sql: &str) -> Result<(), SessionFailure> {
        prepare_query(&self.connection, &self.guard, sql).map(drop)
    }
}

/// Whatever has a name in a database: tables and views of all sorts, and modules that stand for tables.
fn list_names(connection: &Connection) -> Result<Vec<String>, SessionFailure> {
    let sql = "SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view') \
         UNION ALL SELECT name FROM pragma_module_list";
    let mut found = connection.prepare(sql)?;
    Ok(found.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// The statement of a session, over these tables and what the views among them read.
///
/// # Errors
/// What is wrong with it, as SQLite says it.
pub(super) fn compile<'a>(session: &'a Session, tables: &[String], sql: &str) -> Result<Statement<'a>, SessionFailure> {
    let connection = &session.connection;
    Outline::of(session, tables)?.judge(sql)?;
    session.guard.allow(tables, list_names(connection)?);
    for name in tables {
        let mut found = connection.prepare("SELECT type FROM pragma_table_list(?1) WHERE schema = 'main'")?;
        let kinds: Vec<String> = found.query_map([name], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let phase = match kinds.first().map(String::as_str) {
            Some("view") => Phase::Viewing,
            // It reads what it keeps when it is first named, and that would be asked about.
            Some("virtual") => Phase::Own,
            _ => continue,
        };
        let all = format!("SELECT * FROM main.{}", quote(name));
        session.guard.during(phase, || connection.prepare(&all).map(drop))?;
    }
    prepare_query(connection, &session.guard, sql)
}

/// The statement of somebody else, if it is one query without parameters.
fn prepare_query<'a>(connection: &'a Connection, guard: &Guard, sql: &str) -> Result<Statement<'a>, SessionFailure> {
    let refused = |reason: &str| SessionFailure::Refused(Cause::Refused, reason.to_owned());
    let statement =
        guard.during(Phase::Judging, || one(connection, sql)).map_err(|failed| match guard.take_refused() {
            // What may not be read is as good as missing.
            Some(table) => SessionFailure::Refused(Cause::UnknownTable, format!("no such table: {table}")),
            None => failed,
        })?;
    if statement.parameter_count() > 0 {
        return Err(refused("it has parameters, for which there is no value: write values, and `$` and `:` in quotes"));
    }
    if !statement.readonly() || statement.column_count() == 0 || statement.is_explain() != 0 {
        return Err(refused("it is read-only here, and this is not a query"));
    }
    Ok(statement)
}

/// The one statement of the text.
fn one<'a>(connection: &'a Connection, sql: &str) -> Result<Statement<'a>, SessionFailure> {
    let mut statements = Batch::new(connection, sql);
    let first = statements.next()?;
    let first = first.ok_or_else(|| SessionFailure::Refused(Cause::Syntax, "there is no statement".to_owned()))?;
    match statements.next()? {
        None => Ok(first),
        Some(_) => Err(SessionFailure::Refused(Cause::Refused, "it is more than one statement".to_owned())),
    }
}
