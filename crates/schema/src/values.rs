//! Distinct values of the text columns of a database, read once for the value index.

use std::time::Duration;

use futures::{StreamExt, stream};
use prospector_connect::rows::{TextRequest, Texts};
use prospector_connect::table::{Column, ColumnType, Table};
use prospector_connect::{ConnectError, Connector};
use prospector_core::record::{ColumnValues, MAX_VALUE_CHARS, ParentValues};

use crate::{Database, naming::is_named};

/// Default number of values per column.
pub const DEFAULT_VALUES: usize = 1_000;

/// Maximum number of values per column.
pub const MAX_VALUES: usize = 10_000;

/// Maximum number of columns read of a database, those of small tables first.
const MAX_COLUMNS: usize = 5_000;

/// Maximum size of the values of a database in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Number of columns read concurrently.
const AT_ONCE: usize = 4;

/// Time limit for reading all columns of a database; values read until then are kept.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Options for reading values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueOptions {
    /// Maximum number of values per column, by descending frequency.
    pub max_per_column: usize,
    /// Columns to skip, written as in [`Database::personal`].
    pub skip: Vec<String>,
}

impl Default for ValueOptions {
    fn default() -> Self {
        ValueOptions { max_per_column: DEFAULT_VALUES, skip: Vec::new() }
    }
}

/// The values read of a database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadValues {
    /// The values. They are complete only if they include all texts of all columns.
    pub values: ParentValues,
    /// The number of columns that could not be read.
    pub failed: usize,
    /// The reason of the first failure.
    pub reason: Option<String>,
    /// Whether the time limit was reached before all columns were read.
    pub is_late: bool,
}

/// Reads the distinct values of the text columns of a database, except personal and skipped columns and values of more
/// than [`MAX_VALUE_CHARS`] characters. Columns that cannot be read in time are omitted.
pub async fn read_values(database: &Database, connector: &dyn Connector, options: &ValueOptions) -> ReadValues {
    read_within(database, connector, options, TIME_LIMIT).await
}

async fn read_within(
    database: &Database,
    connector: &dyn Connector,
    options: &ValueOptions,
    time_limit: Duration,
) -> ReadValues {
    let mut read = ReadValues::default();
    read.values.parent.clone_from(&database.name);
    let Columns { wanted, is_whole } = columns(database, options);
    read.values.is_whole = is_whole;
    let request = TextRequest { limit: options.max_per_column.min(MAX_VALUES), max_chars: MAX_VALUE_CHARS };
    let deadline = tokio::time::Instant::now() + time_limit;
    // Collected first: the compiler cannot prove `Send` for a stream that maps borrowed items to futures.
    let reading: Vec<_> = wanted.iter().map(|(table, column)| connector.texts(table, column, &request)).collect();
    let mut reading = stream::iter(reading).buffered(AT_ONCE);
    let mut bytes = 0;
    for (table, column) in &wanted {
        let Ok(Some(found)) = tokio::time::timeout_at(deadline, reading.next()).await else {
            read.is_late = true;
            read.values.is_whole = false;
            break;
        };
        read.add(table, column, found, &mut bytes);
    }
    read
}

impl ReadValues {
    fn add(&mut self, table: &str, column: &str, found: Result<Texts, ConnectError>, bytes: &mut usize) {
        let texts = match found {
            Ok(texts) => texts,
            Err(error) => {
                self.failed += 1;
                self.reason.get_or_insert_with(|| error.to_string());
                self.values.is_whole = false;
                return;
            }
        };
        let values: Vec<String> = texts.texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
        let size: usize = values.iter().map(String::len).sum();
        let has_room = *bytes + size <= MAX_BYTES;
        self.values.is_whole &= texts.is_complete && has_room;
        if has_room && !values.is_empty() {
            *bytes += size;
            self.values.columns.push(ColumnValues { table: table.to_owned(), column: column.to_owned(), values });
        }
    }
}

/// The columns to read.
struct Columns<'a> {
    /// The columns with their tables.
    wanted: Vec<(&'a str, &'a str)>,
    /// Whether no other column contains texts.
    is_whole: bool,
}

fn columns<'a>(database: &'a Database, options: &ValueOptions) -> Columns<'a> {
    let mut tables: Vec<&Table> = database.tables.iter().filter(|table| table.row_count != Some(0)).collect();
    tables.sort_by_key(|table| table.row_count.unwrap_or(u64::MAX));
    let mut found = Columns { wanted: Vec::new(), is_whole: true };
    for table in tables {
        for column in &table.columns {
            let is_kept = !is_named(&database.personal, &table.name, &column.name)
                && !is_named(&options.skip, &table.name, &column.name)
                && found.wanted.len() < MAX_COLUMNS;
            match holds(column) {
                Holds::Texts if is_kept => found.wanted.push((&table.name, &column.name)),
                Holds::Texts | Holds::Parts => found.is_whole = false,
                Holds::NoTexts => {}
            }
        }
    }
    found
}

/// The relevance of the values of a column for a question.
enum Holds {
    /// Words and codes.
    Texts,
    /// Values that may contain texts.
    Parts,
    /// Numbers, times, opaque identifiers.
    NoTexts,
}

fn holds(column: &Column) -> Holds {
    match column.column_type {
        ColumnType::Text => Holds::Texts,
        // Enumerations, and columns without a declared type.
        ColumnType::Other if !column.data_type.to_lowercase().contains("uuid") => Holds::Texts,
        ColumnType::Nested => Holds::Parts,
        ColumnType::Other
        | ColumnType::Boolean
        | ColumnType::Integer
        | ColumnType::Decimal { .. }
        | ColumnType::Float
        | ColumnType::Date
        | ColumnType::Timestamp
        | ColumnType::DateText
        | ColumnType::Bytes => Holds::NoTexts,
    }
}

#[cfg(test)]
mod tests {
    use prospector_connect::source::SourceKind;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Fake, table};

    /// Returns a shop with text columns, and its fake connector.
    fn shop(values: &[(&str, &str, Vec<Value>)]) -> (Database, Fake) {
        let mut tables =
            vec![table("customers", &["id*", "name TEXT", "email TEXT"]), table("orders", &["id*", "status TEXT"])];
        for column in tables.iter_mut().flat_map(|table| &mut table.columns) {
            column.column_type = if column.data_type == "TEXT" { ColumnType::Text } else { ColumnType::Integer };
        }
        tables[0].row_count = Some(100);
        tables[1].row_count = Some(10);
        let fake = values.iter().fold(Fake::new(tables.clone()), |fake, (table, column, values)| {
            fake.holding(table, column, values.clone())
        });
        (Database { tables, ..Database::new("shop", SourceKind::Sqlite) }, fake)
    }

    fn texts(values: &[&str]) -> Vec<Value> {
        values.iter().map(|value| json!(value)).collect()
    }

    fn read_columns(read: &ReadValues) -> Vec<(String, usize)> {
        let name = |column: &ColumnValues| (format!("{}.{}", column.table, column.column), column.values.len());
        read.values.columns.iter().map(name).collect()
    }

    #[tokio::test]
    async fn reads_text_columns_of_small_tables_first() {
        let (database, fake) = shop(&[
            ("customers", "name", texts(&["Ada", "Grace", "", " "])),
            ("customers", "email", texts(&["a@b.example"])),
            ("orders", "status", texts(&["open", "paid"])),
            ("orders", "id", texts(&["1"])),
        ]);
        let read = read_values(&database, &fake, &ValueOptions::default()).await;
        let expected = [("orders.status", 2), ("customers.name", 2), ("customers.email", 1)];
        assert_eq!(read_columns(&read), expected.map(|(name, count)| (name.to_owned(), count)));
        assert!(read.values.is_whole && !read.is_late && read.failed == 0);
    }

    #[tokio::test]
    async fn skipped_columns_have_no_values_and_mark_the_result_incomplete() {
        for (personal, skip) in [("customers.email", ""), ("*.EMAIL", ""), ("", "Customers.Email"), ("", "customers.*")]
        {
            let (mut database, fake) =
                shop(&[("customers", "email", texts(&["a@b.example"])), ("orders", "status", texts(&["open"]))]);
            database.personal = vec![personal.to_owned()];
            let options = ValueOptions { skip: vec![skip.to_owned()], ..ValueOptions::default() };
            let read = read_values(&database, &fake, &options).await;
            assert_eq!(read_columns(&read), [("orders.status".to_owned(), 1)], "{personal} {skip}");
            assert!(!read.values.is_whole);
        }
    }

    #[tokio::test]
    async fn omits_values_beyond_limits_and_marks_the_result_incomplete() {
        let many: Vec<Value> = (0..5).map(|n| json!(format!("value {n}"))).collect();
        let long = json!("x".repeat(MAX_VALUE_CHARS + 1));
        let options = ValueOptions { max_per_column: 3, skip: Vec::new() };
        let (database, fake) = shop(&[("orders", "status", many)]);
        let read = read_values(&database, &fake, &options).await;
        assert_eq!((read_columns(&read), read.values.is_whole), (vec![("orders.status".to_owned(), 3)], false));
        let (database, fake) = shop(&[("orders", "status", vec![long, json!("open")])]);
        let read = read_values(&database, &fake, &options).await;
        assert_eq!((read_columns(&read), read.values.is_whole), (vec![("orders.status".to_owned(), 1)], false));
    }

    #[tokio::test]
    async fn slow_or_failing_sources_lose_only_their_values() {
        let (database, _) = shop(&[]);
        let read = read_within(&database, &Fake::hanging(), &ValueOptions::default(), Duration::from_millis(10)).await;
        assert!(read.is_late && !read.values.is_whole && read.values.columns.is_empty());
        let read = read_values(&database, &Fake::broken(), &ValueOptions::default()).await;
        assert!(read.failed == 3 && !read.values.is_whole && read.values.columns.is_empty());
    }
}
