//! Profiles of tables: column statistics and sample values, read on request.

use std::{collections::HashMap, time::Duration};

use futures::{StreamExt, stream};
use prospector_connect::rows::{SampleRequest, Statistics};
use prospector_connect::table::{Column, Table};
use prospector_connect::{ConnectError, Connector};
use prospector_text::{cut, identifiers::words};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    Database,
    codes::read_codes,
    naming::is_title,
    value_list::{MAX_FIRST, MAX_WHOLE, are_telling, count_shown},
};

/// Maximum number of columns of a table with statistics; for wider ones they cost too much.
pub(crate) const MAX_COLUMNS: usize = 60;

/// A column with at most this number of distinct values shows its first values if they repeat: at most half as many as
/// rows. Columns with more show them only if all statistics are requested and the table has few rows.
const LOW_CARDINALITY: u64 = 30;
const MAX_SAMPLED_ROWS: u64 = 10_000;

/// Maximum number of sampled columns of a table, and of displayed characters of a value.
const SAMPLED: usize = 20;
const CHARACTERS: usize = 60;

/// Time limit after which a table is returned without statistics.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Why a table has no profile, as a clause.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProfileError {
    /// The database is only a schema.
    #[error("the database is a schema without data")]
    NoData,
    /// The database has no connector.
    #[error("the database cannot be read")]
    NoConnector,
    /// The table has too many columns.
    #[error("the table has {columns} columns; call get_sample_values for one of them")]
    TooWide { columns: usize },
    /// The time limit was reached.
    #[error("reading them took longer than {} s", timeout.as_secs())]
    Timeout { timeout: Duration },
    /// The source failed.
    #[error(transparent)]
    Source(ConnectError),
}

impl From<ConnectError> for ProfileError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::NoData { .. } => ProfileError::NoData,
            other => ProfileError::Source(other),
        }
    }
}

/// The displayed statistics of one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ColumnValues {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cardinality: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max: Option<Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) estimated: bool,
    /// The number of rows without a value.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) nulls: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The displayed values of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Profile {
    /// Statistics by column.
    pub(crate) statistics: HashMap<String, ColumnValues>,
    /// Samples by column, in table order.
    pub(crate) samples: Map<String, Value>,
}

impl Profile {
    /// Returns the subset useful for planning and filtering: values of low-cardinality columns with the number of omitted
    /// ones, and date ranges. Ranges of numbers and counts of texts are omitted.
    pub(crate) fn brief(&self) -> Profile {
        let mut brief = Profile::default();
        let samples = |column: &str| self.samples.get(column).and_then(Value::as_array);
        for (column, shown) in &self.statistics {
            let count = samples(column).map(|values| values.len() as u64);
            let distinct = shown.cardinality.unwrap_or_default();
            let is_listed = count.is_some_and(|count| count >= distinct || distinct <= LOW_CARDINALITY);
            if let Some(values) = self.samples.get(column).filter(|_| is_listed) {
                brief.samples.insert(column.clone(), values.clone());
            }
            let is_period = shown.min.as_ref().is_some_and(Value::is_string);
            let is_part = is_listed && count.is_some_and(|count| count < distinct);
            if is_period || is_part {
                let cardinality = shown.cardinality.filter(|_| is_part);
                brief.statistics.insert(column.clone(), ColumnValues { cardinality, nulls: 0, ..shown.clone() });
            }
        }
        brief
    }
}

/// Reads the profile of a table. Keys, free text, nested columns and personal columns are skipped, except for codes of small
/// tables, which have samples with names.
///
/// # Errors
/// The reason why there is no profile.
pub(crate) async fn profile(
    connector: &dyn Connector,
    database: &Database,
    table: &Table,
) -> Result<Profile, ProfileError> {
    profile_within(connector, database, table, TIMEOUT).await
}

async fn profile_within(
    connector: &dyn Connector,
    database: &Database,
    table: &Table,
    timeout: Duration,
) -> Result<Profile, ProfileError> {
    let read = tokio::time::timeout(timeout, read(connector, database, table)).await;
    Ok(read.map_err(|_| ProfileError::Timeout { timeout })??)
}

async fn read(connector: &dyn Connector, database: &Database, table: &Table) -> Result<Profile, ConnectError> {
    let mut profile = read_columns(connector, database, table).await?;
    if table.row_count != Some(0) {
        let mut samples = std::mem::take(&mut profile.samples);
        let codes = read_codes(connector, database, table).await;
        samples.extend(codes.into_iter().map(|(column, values)| (column, Value::Array(values))));
        let in_order = |column: &Column| Some((column.name.clone(), samples.shift_remove(&column.name)?));
        profile.samples = table.columns.iter().filter_map(in_order).collect();
    }
    Ok(profile)
}

async fn read_columns(connector: &dyn Connector, database: &Database, table: &Table) -> Result<Profile, ConnectError> {
    let telling: Vec<String> = (table.columns.iter())
        .filter(|column| !is_key(table, &column.name) && !column.column_type.is_opaque())
        .filter(|column| !database.is_personal(&table.name, &column.name))
        .map(|column| column.name.clone())
        .collect();
    if telling.is_empty() || table.row_count == Some(0) {
        return Ok(Profile::default());
    }
    let mut profile = Profile::default();
    let (mut sampled, mut more) = (Vec::new(), Vec::new());
    let all = connector.statistics(&table.name, &telling).await?;
    for column in telling {
        let Some(statistics) = all.iter().find(|statistics| statistics.column == column) else { continue };
        let part = profile_part(statistics, table.row_count);
        if part == ProfilePart::Nothing {
            continue;
        }
        profile.statistics.insert(column.clone(), column_values(statistics, part == ProfilePart::Range));
        match part {
            ProfilePart::Values => sampled.push(column),
            ProfilePart::Count if table.row_count.is_some_and(|rows| rows <= MAX_SAMPLED_ROWS) => more.push(column),
            _ => {}
        }
    }
    sampled.extend(more);
    sampled.truncate(SAMPLED);
    let request = SampleRequest { contains: None, limit: MAX_WHOLE };
    // Collected first: the compiler cannot prove `Send` for a stream that maps borrowed items to futures.
    let reading: Vec<_> = sampled.iter().map(|column| connector.sample(&table.name, column, &request)).collect();
    let samples: Vec<_> = stream::iter(reading).buffered(4).collect().await;
    let mut listed: HashMap<String, Vec<Value>> = HashMap::new();
    for (column, samples) in sampled.into_iter().zip(samples) {
        let samples = samples?;
        if let Some(statistics) = profile.statistics.get_mut(&column) {
            // Exact counts override estimates.
            let distinct = statistics.cardinality.unwrap_or_default().max(samples.distinct);
            statistics.cardinality = Some(distinct);
            statistics.estimated &= !samples.complete;
            listed.insert(column.clone(), list_values(table, &column, samples.values, distinct));
        }
    }
    for column in &table.columns {
        if let Some(values) = listed.remove(&column.name).filter(|values| !values.is_empty()) {
            profile.samples.insert(column.name.clone(), Value::Array(values));
        }
    }
    Ok(profile)
}

/// Returns the displayed values of a column: all if there are few, else the first ones; none if they are not informative.
fn list_values(table: &Table, column: &str, values: Vec<Value>, distinct: u64) -> Vec<Value> {
    let repeat = table.row_count.is_none_or(|rows| distinct <= rows / 2);
    let is_telling = {
        let texts = values.iter().filter_map(Value::as_str);
        repeat || distinct > MAX_WHOLE as u64 || are_telling(texts, is_title(&table.name, column))
    };
    let shown = if is_telling { count_shown(distinct, MAX_FIRST) } else { 0 };
    values.into_iter().take(shown).map(short).collect()
}

/// Whether a column identifies rows: the only primary key, a foreign key, or named like one.
fn is_key(table: &Table, column: &str) -> bool {
    let primary = |name: &str| table.column(name).is_some_and(|column| column.primary_key);
    let alone = table.columns.iter().filter(|column| column.primary_key).count() == 1;
    let foreign = table.foreign_keys.iter().any(|key| key.columns.iter().any(|name| name == column));
    let words = words(column);
    let named = match words.last().map(String::as_str) {
        Some("id" | "uuid" | "guid") => true,
        // `unique_key` and `orderkey`, but not the key of a song.
        Some(last) => last.ends_with("key") && (words.len() > 1 || last.len() > 3),
        None => false,
    };
    (primary(column) && alone) || foreign || named
}

/// Which part of a profile is informative for a column.
#[derive(PartialEq)]
enum ProfilePart {
    Range,
    Values,
    Count,
    Nothing,
}

fn profile_part(statistics: &Statistics, rows: Option<u64>) -> ProfilePart {
    match (&statistics.min, &statistics.max) {
        (Some(Value::Number(_)), Some(Value::Number(_))) => ProfilePart::Range,
        (Some(Value::String(min)), Some(Value::String(max))) if is_date(min) && is_date(max) => ProfilePart::Range,
        (Some(Value::String(_) | Value::Number(_)), Some(Value::String(max))) => {
            let min = statistics.min.as_ref().and_then(Value::as_str).unwrap_or_default();
            let repeat = rows.is_none_or(|rows| statistics.cardinality <= rows / 2);
            let few = statistics.cardinality <= MAX_WHOLE as u64;
            if few || statistics.cardinality <= LOW_CARDINALITY && repeat {
                ProfilePart::Values
            } else if min.len().max(max.len()) > CHARACTERS {
                ProfilePart::Nothing
            } else {
                ProfilePart::Count
            }
        }
        _ => ProfilePart::Nothing,
    }
}

/// Whether a text starts like `2024-05-01`.
fn is_date(text: &str) -> bool {
    let digit =
        |range: std::ops::Range<usize>| text.get(range).is_some_and(|part| part.bytes().all(|b| b.is_ascii_digit()));
    digit(0..4) && text.get(4..5) == Some("-") && digit(5..7) && text.get(7..8) == Some("-") && digit(8..10)
}

fn column_values(statistics: &Statistics, range: bool) -> ColumnValues {
    let end = |value: &Option<Value>| value.clone().filter(|_| range).map(short);
    let (min, max) = (end(&statistics.min), end(&statistics.max));
    let Statistics { cardinality, estimated, nulls, .. } = *statistics;
    ColumnValues { cardinality: Some(cardinality), min, max, estimated, nulls }
}

/// Truncates a value.
fn short(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(cut::line(&text, CHARACTERS)),
        Value::Array(_) | Value::Object(_) => Value::String(cut::line(&value.to_string(), CHARACTERS)),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use prospector_connect::source::SourceKind;
    use prospector_connect::table::ColumnType;
    use serde_json::json;

    use super::*;
    use crate::testing::{Fake, key, table};

    fn nothing_personal() -> Database {
        Database::new("shop", SourceKind::Sqlite)
    }

    #[tokio::test]
    async fn personal_columns_show_nothing() {
        let mut table = table("t", &["id*", "email TEXT", "city TEXT"]);
        table.columns.iter_mut().for_each(|column| column.column_type = ColumnType::Text);
        table.row_count = Some(60);
        let fake =
            Fake::new(vec![table.clone()]).holding("t", "email", texts(3, 10)).holding("t", "city", texts(3, 10));
        let database = Database { personal: vec!["t.email".into()], ..nothing_personal() };
        let profile = profile(&fake, &database, &table).await.unwrap();
        assert_eq!(profile.statistics.keys().collect::<Vec<_>>(), ["city"]);
        assert_eq!(profile.samples.keys().collect::<Vec<_>>(), ["city"]);
    }

    /// Checks the profile of one column `name` of type `column_type` with these values.
    async fn check(name: &str, column_type: ColumnType, values: Vec<Value>, statistics: Value, samples: Value) {
        let mut table = table("t", &["id*", "other_ref", name]);
        table.columns[2].column_type = column_type;
        table.row_count = Some(60);
        table.foreign_keys = vec![key("other_ref", "t", "id")];
        let fake = Fake::new(vec![table.clone()]).holding("t", name, values).holding("t", "other_ref", vec![json!(1)]);
        let profile = profile(&fake, &nothing_personal(), &table).await.unwrap();
        assert_eq!(json!(profile.statistics.get(name)), statistics, "{name}");
        assert_eq!(profile.samples.get(name).cloned().unwrap_or_default(), samples, "{name}");
        assert!(profile.statistics.keys().all(|column| column == name), "keys tell nothing");
    }

    fn texts(count: usize, length: usize) -> Vec<Value> {
        (0..count).map(|n| json!(format!("{n:03}{}", "x".repeat(length - 3)))).collect()
    }

    #[tokio::test]
    async fn numbers_and_dates_have_a_range() {
        check(
            "total",
            ColumnType::Float,
            vec![json!(2.5), json!(1)],
            json!({"cardinality": 2, "min": 1, "max": 2.5}),
            json!(null),
        )
        .await;
        let days = vec![json!("2024-01-31"), json!("2023-12-01 10:00:00")];
        let range = json!({"cardinality": 2, "min": "2023-12-01 10:00:00", "max": "2024-01-31"});
        check("day", ColumnType::Text, days, range, json!(null)).await;
    }

    #[tokio::test]
    async fn texts_of_few_values_show_some_of_them() {
        check(
            "status",
            ColumnType::Text,
            vec![json!("open"), json!("paid")],
            json!({"cardinality": 2}),
            json!(["open", "paid"]),
        )
        .await;
        check("kind", ColumnType::Text, texts(20, 10), json!({"cardinality": 20}), json!(texts(20, 10))).await;
        check("city", ColumnType::Text, texts(21, 10), json!({"cardinality": 21}), json!(texts(5, 10))).await;
        check("city", ColumnType::Text, texts(30, 10), json!({"cardinality": 30}), json!(texts(5, 10))).await;
        let long = vec![json!(format!("{}…", "0".repeat(59)))];
        check("note", ColumnType::Text, vec![json!("0".repeat(80))], json!({"cardinality": 1}), json!(long)).await;
    }

    #[tokio::test]
    async fn texts_of_many_values_show_how_many_and_free_text_nothing() {
        check("city", ColumnType::Text, texts(31, 10), json!({"cardinality": 31}), json!(texts(5, 10))).await;
        check("review", ColumnType::Text, texts(31, 100), json!(null), json!(null)).await;
    }

    #[tokio::test]
    async fn brief_profiles_list_only_low_cardinality_values() {
        let mut table = table("t", &["id*", "kind", "city", "day"]);
        table.columns.iter_mut().for_each(|column| column.column_type = ColumnType::Text);
        table.row_count = Some(60);
        let days = vec![json!("2024-01-31"), json!("2023-12-01")];
        let fake = Fake::new(vec![table.clone()])
            .holding("t", "kind", texts(16, 10))
            .holding("t", "city", texts(40, 10))
            .holding("t", "day", days);
        let whole = profile(&fake, &nothing_personal(), &table).await.unwrap();
        assert_eq!(whole.samples["city"].as_array().map(Vec::len), Some(5));
        let brief = whole.brief();
        assert_eq!(brief.samples.keys().collect::<Vec<_>>(), ["kind"]);
        assert_eq!(brief.samples["kind"].as_array().map(Vec::len), Some(16));
        assert_eq!(json!(brief.statistics), json!({"day": {"min": "2023-12-01", "max": "2024-01-31"}}));
    }

    #[tokio::test]
    async fn lists_names_but_not_telephone_numbers_of_small_tables() {
        let mut table = table("category", &["id*", "name", "phone"]);
        table.columns[1..].iter_mut().for_each(|column| column.column_type = ColumnType::Text);
        table.row_count = Some(16);
        let phones = (0..16).map(|n| json!(format!("+1 {n:04}"))).collect();
        let fake = Fake::new(vec![table.clone()])
            .holding("category", "name", texts(16, 8))
            .holding("category", "phone", phones);
        let profile = profile(&fake, &nothing_personal(), &table).await.unwrap();
        assert_eq!(profile.samples.keys().collect::<Vec<_>>(), ["name"]);
        assert_eq!(profile.samples["name"].as_array().map(Vec::len), Some(16));
    }

    #[test]
    fn values_that_hardly_repeat_are_counted_unless_all_are_shown() {
        let statistics = |cardinality| Statistics {
            cardinality,
            min: Some(json!("Ada")),
            max: Some(json!("Zoe")),
            ..Statistics::default()
        };
        let shows = |cardinality, rows| matches!(profile_part(&statistics(cardinality), rows), ProfilePart::Values);
        assert!(shows(8, Some(16)) && shows(20, Some(20)));
        assert!(shows(25, Some(50)) && !shows(25, Some(49)));
        assert!(shows(30, None) && !shows(31, None));
    }

    #[tokio::test]
    async fn keys_and_nested_columns_show_nothing() {
        check("order_id", ColumnType::Integer, vec![json!(1)], json!(null), json!(null)).await;
        check("o_orderkey", ColumnType::Integer, vec![json!(1)], json!(null), json!(null)).await;
        check("SongUUID", ColumnType::Text, vec![json!("a")], json!(null), json!(null)).await;
        check("tags", ColumnType::Nested, vec![json!(["a"])], json!(null), json!(null)).await;
        check("key", ColumnType::Text, vec![json!("C#")], json!({"cardinality": 1}), json!(["C#"])).await;
        check("empty", ColumnType::Text, vec![], json!(null), json!(null)).await;
    }

    #[tokio::test]
    async fn keys_of_small_tables_show_codes_in_table_order() {
        let mut tables = vec![table("t", &["id*", "kind_cd", "note"]), table("kinds", &["cd*", "name"])];
        tables.iter_mut().flat_map(|table| &mut table.columns).for_each(|one| one.column_type = ColumnType::Text);
        tables[0].foreign_keys = vec![key("kind_cd", "kinds", "cd")];
        tables[1].row_count = Some(1);
        let fake = Fake::new(tables.clone())
            .holding("t", "kind_cd", vec![json!("A")])
            .holding("t", "note", vec![json!("x")])
            .with_rows("kinds", vec![vec![json!("A"), json!("Adult")]]);
        let database = Database { tables, ..nothing_personal() };
        let profile = profile(&fake, &database, &database.tables[0]).await.unwrap();
        assert_eq!(profile.samples.keys().collect::<Vec<_>>(), ["kind_cd", "note"]);
        assert_eq!(profile.samples["kind_cd"], json!(["A=Adult"]));
    }

    #[tokio::test]
    async fn reports_source_failures() {
        let table = table("t", &["name"]);
        let why = profile(&Fake::broken(), &nothing_personal(), &table).await.unwrap_err().to_string();
        assert_eq!(why, "cannot read t of fake: it is gone");
        let why =
            profile(&Fake::new(vec![]).without_data(), &nothing_personal(), &table).await.unwrap_err().to_string();
        assert_eq!(why, "the database is a schema without data");
    }

    #[tokio::test]
    async fn times_out_on_slow_sources() {
        let why = profile_within(&Fake::hanging(), &nothing_personal(), &table("t", &["name"]), Duration::ZERO)
            .await
            .unwrap_err()
            .to_string();
        assert_eq!(why, "reading them took longer than 0 s");
    }
}
