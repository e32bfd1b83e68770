//! Describes the tables of a MySQL server with a constant number of queries per database.

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

/// Tables of at most this estimated number of rows are counted exactly.
const SMALL: u64 = 20_000;

/// Maximum number of tables counted by one statement.
const TABLES_A_QUERY: usize = 250;

/// Time limit for counting.
const COUNTING: Duration = Duration::from_secs(10);

/// Tables without sequences of MariaDB.
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

/// Returns a text that changes with the description: names, comments, columns, keys, and approximate row counts.
pub(super) async fn fingerprint(connection: &mut MySqlConnection, scope: &Scope) -> Result<String, sqlx::Error> {
    let mut hasher = DefaultHasher::new();
    for database in scope.databases(connection).await? {
        database.hash(&mut hasher);
        for mut row in texts(connection, TABLES, &[&database]).await? {
            // The estimate fluctuates even if a table is not changed.
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
            let reason =
                format!("the database `{database}` does not exist or has no tables that are visible to the user");
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
            let reason = "cannot read its columns: the view is broken or the user lacks permission";
            let problem = Problem::error(format!("{place}: {}", table.name), reason);
            problems.push(problem.advise("the view or table is skipped"));
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

/// The tables found so far.
#[derive(Default)]
struct Found {
    tables: Vec<Table>,
    /// The position of each table in `tables`.
    places: HashMap<TablePath, usize>,
    names: HashSet<String>,
    /// The tables to count, with their quoted names.
    countable: Vec<(usize, String)>,
}

impl Found {
    /// Adds the tables of a database; returns whether it has any.
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
                let reason = format!("another database also has a table `{name}`");
                let problem = Problem::warning(format!("{place}: {name}"), reason);
                problems.push(problem.advise("the table of the database listed first is used"));
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
            let column =
                Column { name, data_type, column_type, nullable, primary_key, description, ..Column::default() };
            self.tables[at].columns.push(column);
        }
        Ok(())
    }

    /// Adds the foreign keys. Those to other databases are skipped without a warning.
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

/// Maps a type as written in `COLUMN_TYPE`.
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
        // Includes CHAR, whose values are padded, and enumerations.
        _ => ColumnType::Other,
    }
}

/// Counts the small tables, many in one statement. A failed statement only loses its exact counts.
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
    fn maps_declared_types() {
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
