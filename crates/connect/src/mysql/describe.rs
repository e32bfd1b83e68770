//! The tables of a MySQL server, with a handful of queries for each database however many tables there are.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use prospector_core::Problem;
use sqlx::mysql::MySqlConnection;

use super::dialect::Dialect;
use super::table::{Scope, texts};
use crate::keys;
use crate::statement::Dialect as _;
use crate::table::{Column, ColumnType, ForeignKey, Table};

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
    let mut problems = Vec::new();
    let mut tables: Vec<Table> = Vec::new();
    let mut countable: Vec<(usize, String)> = Vec::new();
    for database in scope.databases(connection).await? {
        let first = tables.len();
        let mut places: HashMap<String, usize> = HashMap::new();
        for row in texts(connection, TABLES, &[&database]).await? {
            let [name, kind, engine, rows, comment] = <[String; 5]>::try_from(row).unwrap_or_default();
            let stored = kind != "VIEW" && kind != "SYSTEM VIEW";
            let row_count = rows.parse().ok().filter(|_| stored);
            let estimated = row_count.is_some() && !matches!(engine.as_str(), "MyISAM" | "Aria" | "MEMORY");
            if estimated && row_count.is_some_and(|rows: u64| rows <= SMALL) {
                countable.push((tables.len(), format!("{}.{}", Dialect.quote(&database), Dialect.quote(&name))));
            }
            places.insert(name.clone(), tables.len());
            tables.push(Table {
                name: scope.name(&database, &name),
                description: if stored { comment } else { String::new() },
                row_count,
                row_count_estimated: estimated,
                ..Table::default()
            });
        }
        if tables.len() == first {
            let reason = format!("there is no database `{database}`, or no table in it that the user may see");
            problems.push(Problem::warning(place, reason).advise("correct its name, or grant SELECT on its tables"));
        }
        for row in texts(connection, COLUMNS, &[&database]).await? {
            let [table, name, data_type, nullable, key, description] = <[String; 6]>::try_from(row).unwrap_or_default();
            let Some(at) = places.get(&table) else { continue };
            let primary_key = key == "PRI";
            let nullable = nullable == "YES" && !primary_key;
            let column_type = column_type(&data_type);
            tables[*at].columns.push(Column { name, data_type, column_type, nullable, primary_key, description });
        }
        let mut last = (String::new(), String::new());
        for row in texts(connection, KEYS, &[&database]).await? {
            let [table, key, column, to_database, to, to_column] = <[String; 6]>::try_from(row).unwrap_or_default();
            let Some(at) = places.get(&table) else { continue };
            let keys = &mut tables[*at].foreign_keys;
            if last != (table.clone(), key.clone()) {
                keys.push(ForeignKey { table: scope.name(&to_database, &to), ..ForeignKey::default() });
                last = (table, key);
            }
            if let Some(key) = keys.last_mut() {
                key.columns.push(column);
                key.references.push(to_column);
            }
        }
    }
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
    // Keys into databases that are not wanted are left out without a word.
    let known: std::collections::HashSet<String> = tables.iter().map(|table| table.name.clone()).collect();
    for table in &mut tables {
        table.foreign_keys.retain(|key| known.contains(&key.table));
    }
    problems.extend(keys::resolve(&mut tables, place));
    Ok((tables, problems))
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
