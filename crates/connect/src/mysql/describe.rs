//! The tables of a MySQL server, with a handful of queries for each database however many tables there are.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use prospector_core::Problem;
use sqlx::mysql::MySqlConnection;

use super::dialect::Dialect;
use super::table::{Scope, texts};
use crate::keys;
use crate::statement::Dialect as _;
use crate::table::{Column, ColumnType, ForeignKey, Table, TablePath};

/// Tables of at most so many rows, as the server estimates, are counted exactly.
const SMALL: u64 = 20_000;

/// How many tables are counted by one statement.
const TABLES_A_QUERY: usize = 250;

/// Counting stops after this.
const COUNTING: Duration = Duration::from_secs(10);

/// Sequences of MariaDB are no tables.
const TABLES: &str = "SELECT CAST(TABLE_NAME AS CHAR), CAST(TABLE_TYPE AS CHAR), CAST(ENGINE AS CHAR), \
     CAST(TABLE_ROWS AS CHAR), CAST(TABLE_COMMENT AS CHAR) \
     FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE <> 'SEQUENCE' ORDER BY TABLE_NAME";

const COLUMNS: &str = "SELECT CAST(TABLE_NAME AS CHAR), CAST(COLUMN_NAME AS CHAR), CAST(COLUMN_TYPE AS CHAR), \
     CAST(IS_NULLABLE AS CHAR), CAST(COLUMN_KEY AS CHAR), CAST(COLUMN_COMMENT AS CHAR) \
     FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? ORDER BY TABLE_NAME, ORDINAL_POSITION";

const KEYS: &str = "SELECT CAST(TABLE_NAME AS CHAR), CAST(CONSTRAINT_NAME AS CHAR), CAST(COLUMN_NAME AS CHAR), \
     CAST(REFERENCED_TABLE_SCHEMA AS CHAR), CAST(REFERENCED_TABLE_NAME AS CHAR), CAST(REFERENCED_COLUMN_NAME AS CHAR) \
     FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = ? AND REFERENCED_TABLE_NAME IS NOT NULL \
     ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION";

/// What would make a description different: names, comments, columns, keys, and about how many rows there are.
pub(super) async fn fingerprint(connection: &mut MySqlConnection, scope: &Scope) -> Result<String, sqlx::Error> {
    let mut hasher = DefaultHasher::new();
    for database in scope.databases(connection).await? {
        database.hash(&mut hasher);
        for mut row in texts(connection, TABLES, &[&database]).await? {
            // The estimate of a table that nobody changes wavers.
            if let Some(rows) = row.get_mut(3) {
                let magnitude = rows.parse::<f64>().map_or(0.0, |rows| (rows + 1.0).log10().round());
                *rows = magnitude.to_string();
            }
            row.hash(&mut hasher);
        }
        texts(connection, COLUMNS, &[&database]).await?.hash(&mut hasher);
        texts(connection, KEYS, &[&database]).await?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

pub(super) async fn describe(
    connection: &mut MySqlConnection,
    scope: &Scope,
    place: &str,
) -> Result<(Vec<Table>, Vec<Problem>), sqlx::Error> {
    let (mut found, mut problems) = (Found::default(), Vec::new());
    let databases = scope.databases(connection).await?;
    for database in &databases {
        if !found.add_tables(connection, scope, database, place, &mut problems).await? {
            let reason = format!("there is no database `{database}`, or no table in it that the user may see");
            problems.push(Problem::warning(place, reason).advise("correct its name, or grant SELECT on its tables"));
        }
    }
    for database in &databases {
        found.add_columns(connection, database).await?;
        found.add_keys(connection, database).await?;
    }
    let Found { mut tables, countable, .. } = found;
    count(connection, &countable, &mut tables).await?;
    tables.retain(|table| {
        let broken = table.columns.is_empty();
        if broken {
            let reason = "its columns cannot be read: a broken view, or one that the user may not use";
            let problem = Problem::error(format!("{place}: {}", table.name), reason);
            problems.push(problem.advise("the view or table is left out"));
        }
        !broken
    });
    let known: HashSet<String> = tables.iter().map(|table| table.name.clone()).collect();
    for table in &mut tables {
        table.foreign_keys.retain(|key| known.contains(&key.table));
    }
    problems.extend(keys::resolve(&mut tables, place));
    Ok((tables, problems))
}

/// The tables that were found so far.
#[derive(Default)]
struct Found {
    tables: Vec<Table>,
    /// Where each is in `tables`.
    places: HashMap<TablePath, usize>,
    names: HashSet<String>,
    /// Those that are counted, with their names in a statement.
    countable: Vec<(usize, String)>,
}

impl Found {
    /// Adds the tables of a database, and returns whether it has any.
    async fn add_tables(
        &mut self,
        connection: &mut MySqlConnection,
        scope: &Scope,
        database: &str,
        place: &str,
        problems: &mut Vec<Problem>,
    ) -> Result<bool, sqlx::Error> {
        let rows = texts(connection, TABLES, &[database]).await?;
        let is_filled = !rows.is_empty();
        for row in rows {
            let [name, kind, engine, rows, comment] = <[String; 5]>::try_from(row).unwrap_or_default();
            let path = TablePath { schema: database.to_owned(), name };
            let name = scope.name(database, &path.name);
            if !self.names.insert(name.clone()) {
                let reason = format!("a table of another database is called `{name}` too");
                let problem = Problem::warning(format!("{place}: {name}"), reason);
                problems.push(problem.advise("the one of the database that is named first is used"));
                continue;
            }
            let stored = kind != "VIEW" && kind != "SYSTEM VIEW";
            let row_count = rows.parse().ok().filter(|_| stored);
            let estimated = row_count.is_some() && !matches!(engine.as_str(), "MyISAM" | "Aria" | "MEMORY");
            if estimated && row_count.is_some_and(|rows: u64| rows <= SMALL) {
                let from = format!("{}.{}", Dialect.quote(&path.schema), Dialect.quote(&path.name));
                self.countable.push((self.tables.len(), from));
            }
            self.places.insert(path.clone(), self.tables.len());
            self.tables.push(Table {
                name,
                path: Some(path),
                description: if stored { comment } else { String::new() },
                row_count,
                row_count_estimated: estimated,
                is_view: !stored,
                ..Table::default()
            });
        }
        Ok(is_filled)
    }

    fn find(&self, schema: &str, name: &str) -> Option<usize> {
        self.places.get(&TablePath { schema: schema.to_owned(), name: name.to_owned() }).copied()
    }

    async fn add_columns(&mut self, connection: &mut MySqlConnection, database: &str) -> Result<(), sqlx::Error> {
        for row in texts(connection, COLUMNS, &[database]).await? {
            let [table, name, data_type, nullable, key, description] = <[String; 6]>::try_from(row).unwrap_or_default();
            let Some(at) = self.find(database, &table) else { continue };
            let primary_key = key == "PRI";
            let nullable = nullable == "YES" && !primary_key;
            let column_type = column_type(&data_type);
            let column = Column { name, data_type, column_type, nullable, primary_key, description };
            self.tables[at].columns.push(column);
        }
        Ok(())
    }

    /// Adds the foreign keys. Those into databases that are not wanted are left out without a word.
    async fn add_keys(&mut self, connection: &mut MySqlConnection, database: &str) -> Result<(), sqlx::Error> {
        let mut last = (String::new(), String::new());
        for row in texts(connection, KEYS, &[database]).await? {
            let [table, key, column, to_database, to, to_column] = <[String; 6]>::try_from(row).unwrap_or_default();
            let (Some(at), Some(target)) = (self.find(database, &table), self.find(&to_database, &to)) else {
                continue;
            };
            let target = self.tables[target].name.clone();
            let keys = &mut self.tables[at].foreign_keys;
            if last != (table.clone(), key.clone()) {
                keys.push(ForeignKey { table: target, ..ForeignKey::default() });
                last = (table, key);
            }
            if let Some(key) = keys.last_mut() {
                key.columns.push(column);
                key.references.push(to_column);
            }
        }
        Ok(())
    }
}

/// What a type means, as `COLUMN_TYPE` has it.
fn column_type(declared: &str) -> ColumnType {
    let word = declared.to_lowercase();
    match word.split(['(', ' ']).next().unwrap_or_default() {
        "bigint" if word.contains("unsigned") => ColumnType::Decimal { precision: 20, scale: 0 },
        "bigint" | "int" | "integer" | "mediumint" | "smallint" | "tinyint" | "year" => ColumnType::Integer,
        "float" | "double" | "real" => ColumnType::Float,
        "decimal" | "numeric" => ColumnType::from_parameters(&word),
        "bool" | "boolean" => ColumnType::Boolean,
        "timestamp" | "datetime" => ColumnType::Timestamp,
        "date" => ColumnType::Date,
        "varchar" | "text" | "tinytext" | "mediumtext" | "longtext" => ColumnType::Text,
        "binary" | "varbinary" | "blob" | "tinyblob" | "mediumblob" | "longblob" => ColumnType::Bytes,
        "json" => ColumnType::Nested,
        // Among others CHAR, whose values are padded, and enumerations.
        _ => ColumnType::Other,
    }
}

/// Counts the small tables, many in one statement. A statement that fails costs only its exact counts.
async fn count(
    connection: &mut MySqlConnection,
    countable: &[(usize, String)],
    tables: &mut [Table],
) -> Result<(), sqlx::Error> {
    let end = Instant::now() + COUNTING;
    for part in countable.chunks(TABLES_A_QUERY) {
        if Instant::now() >= end {
            break;
        }
        let counts: Vec<String> = part.iter().map(|(at, from)| format!("SELECT {at}, count(*) FROM {from}")).collect();
        match texts(connection, &counts.join(" UNION ALL "), &[]).await {
            Ok(rows) => {
                for row in rows {
                    if let [at, rows] = row.as_slice()
                        && let (Ok(at), Ok(rows)) = (at.parse::<usize>(), rows.parse())
                        && let Some(table) = tables.get_mut(at)
                    {
                        (table.row_count, table.row_count_estimated) = (Some(rows), false);
                    }
                }
            }
            Err(error) if error.as_database_error().is_some() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod type_tests {
    use super::*;

    #[test]
    fn a_declared_type_has_a_meaning() {
        let check = |declared: &str, expected| assert_eq!(column_type(declared), expected, "{declared}");
        check("int(11)", ColumnType::Integer);
        check("tinyint(1)", ColumnType::Integer);
        check("bigint(20) unsigned", ColumnType::Decimal { precision: 20, scale: 0 });
        check("decimal(10,2)", ColumnType::Decimal { precision: 10, scale: 2 });
        check("double", ColumnType::Float);
        check("datetime(6)", ColumnType::Timestamp);
        check("date", ColumnType::Date);
        check("varchar(40)", ColumnType::Text);
        check("char(2)", ColumnType::Other);
        check("enum('text','int')", ColumnType::Other);
        check("longblob", ColumnType::Bytes);
        check("json", ColumnType::Nested);
        check("point", ColumnType::Other);
    }
}
