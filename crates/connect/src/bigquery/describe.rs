//! Describes datasets with a constant number of statements per dataset.
//! <https://cloud.google.com/bigquery/docs/information-schema-intro>

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::job::{Answer, Jobs};
use super::sql::{SUFFIX, Statement, quote};
use super::value::{Parameter, base, rows};
use crate::ConnectError;
use crate::budget::Budget;
use crate::table::{Column, ColumnType, ForeignKey, Table};

/// Maximum number of rows read of a description.
const MAX_ROWS: usize = 500_000;

/// Maximum number of columns per table; further columns are omitted.
const MAX_COLUMNS: usize = 2_000;

/// Maximum length of a displayed type in characters.
const MAX_TYPE: usize = 120;

/// Describes the tables of one dataset.
pub(super) async fn dataset(jobs: &Arc<Jobs>, project: &str, dataset: &str) -> Result<Vec<Table>, ConnectError> {
    let place = format!("{}.{}", quote(project), quote(dataset));
    let info = format!("{place}.INFORMATION_SCHEMA");
    let ask = async |sql: String, parameters: Vec<Parameter>| -> Result<Vec<Vec<Value>>, ConnectError> {
        let Answer { fields, rows: cells, .. } = jobs
            .run(&format!("the dataset {dataset}"), &Statement { sql, parameters }, Budget::of_rows(), MAX_ROWS)
            .await?;
        Ok(rows(&fields, &cells))
    };
    let named = ask(
        format!(
            "SELECT t.table_name, t.table_type, o.option_value FROM {info}.TABLES t LEFT JOIN {info}.TABLE_OPTIONS o \
             ON o.table_name = t.table_name AND o.option_name = 'description' ORDER BY 1"
        ),
        Vec::new(),
    )
    .await?;
    let names: Vec<String> = named.iter().map(|row| word(row, 0)).collect();
    let groups = group_shards(&names);
    let newest: Vec<&str> = groups.iter().filter_map(|group| group.members.first()).map(String::as_str).collect();
    let described = ask(
        format!(
            "SELECT p.table_name, p.field_path, p.data_type, p.description, c.is_nullable, c.is_partitioning_column, \
             c.clustering_ordinal_position FROM {info}.COLUMN_FIELD_PATHS p JOIN {info}.COLUMNS c \
             ON c.table_name = p.table_name AND c.column_name = p.column_name \
             WHERE NOT REGEXP_CONTAINS(p.table_name, r'[0-9]{{8}}$') OR p.table_name IN UNNEST(SPLIT(@p1, ',')) \
             OR p.table_name IN UNNEST(SPLIT(@p2, ',')) ORDER BY p.table_name, c.ordinal_position"
        ),
        vec![Parameter::text(newest.join(",")), Parameter::text(alone(&names, &groups).join(","))],
    )
    .await?;
    let counted = ask(format!("SELECT table_id, row_count FROM {place}.__TABLES__"), Vec::new()).await?;
    let keys = ask(
        format!(
            "SELECT k.constraint_name, k.table_name, t.constraint_type, k.column_name, k.ordinal_position, \
             k.position_in_unique_constraint, u.table_name FROM {info}.KEY_COLUMN_USAGE k \
             JOIN {info}.TABLE_CONSTRAINTS t ON t.constraint_name = k.constraint_name AND t.table_name = k.table_name \
             LEFT JOIN (SELECT DISTINCT constraint_name, table_name FROM {info}.CONSTRAINT_COLUMN_USAGE) u \
             ON u.constraint_name = k.constraint_name AND t.constraint_type = 'FOREIGN KEY' \
             ORDER BY k.table_name, k.constraint_name, k.ordinal_position"
        ),
        Vec::new(),
    )
    .await?;
    Ok(tables(dataset, &named, &groups, &described, &counted, &keys))
}

/// Returns the text of a cell.
fn word(row: &[Value], at: usize) -> String {
    row.get(at).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).unwrap_or_default()
}

/// Date-sharded tables that are shown as one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    /// The name with `*` in place of the date.
    pub(super) name: String,
    /// The shards, newest first.
    pub(super) members: Vec<String>,
}

/// Groups tables whose names differ only by an eight-digit date, unless their wildcard would match other tables too.
pub(super) fn group_shards(names: &[String]) -> Vec<Group> {
    let mut found: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for name in names {
        if let Some(stem) = stem(name) {
            found.entry(stem).or_default().push(name);
        }
    }
    let group = |(stem, mut members): (&str, Vec<&String>)| {
        let own: HashSet<&str> = members.iter().map(|name| name.as_str()).collect();
        let is_own = |prefix: &str| !names.iter().any(|name| name.starts_with(prefix) && !own.contains(name.as_str()));
        members.sort_by(|a, b| b.cmp(a));
        // If other tables share the prefix, the century keeps the wildcard from matching them.
        let century = &members[0][stem.len()..stem.len() + 2];
        let narrow = format!("{stem}{century}");
        let prefix = match () {
            () if is_own(stem) => stem.to_owned(),
            () if is_own(&narrow) && members.iter().all(|name| name.starts_with(&narrow)) => narrow,
            () => return None,
        };
        let members: Vec<String> = members.into_iter().cloned().collect();
        (members.len() > 1).then_some(Group { name: format!("{prefix}*"), members })
    };
    found.into_iter().filter_map(group).collect()
}

/// Returns the tables with an eight-digit suffix that belong to no group.
fn alone<'a>(names: &'a [String], groups: &[Group]) -> Vec<&'a str> {
    let grouped: HashSet<&String> = groups.iter().flat_map(|group| &group.members).collect();
    let ends = |name: &&String| name.len() >= 8 && name.bytes().rev().take(8).all(|byte| byte.is_ascii_digit());
    names.iter().filter(ends).filter(|name| !grouped.contains(name)).map(String::as_str).collect()
}

/// Returns the name before the date: `events_` of `events_20240131`.
fn stem(name: &str) -> Option<&str> {
    let at = name.len().checked_sub(8).filter(|at| *at > 0 && name.is_char_boundary(*at))?;
    let (stem, date) = name.split_at(at);
    let part = |range: std::ops::Range<usize>| date.get(range)?.parse::<u32>().ok();
    let is_date = date.bytes().all(|byte| byte.is_ascii_digit())
        && part(0..4).is_some_and(|year| (1970..2200).contains(&year))
        && part(4..6).is_some_and(|month| (1..=12).contains(&month))
        && part(6..8).is_some_and(|day| (1..=31).contains(&day));
    is_date.then_some(stem)
}

fn tables(
    dataset: &str,
    named: &[Vec<Value>],
    groups: &[Group],
    described: &[Vec<Value>],
    counted: &[Vec<Value>],
    keys: &[Vec<Value>],
) -> Vec<Table> {
    let counts: HashMap<String, u64> =
        counted.iter().filter_map(|row| Some((word(row, 0), row.get(1)?.as_u64()?))).collect();
    let mut fields: HashMap<String, Vec<&Vec<Value>>> = HashMap::new();
    described.iter().for_each(|row| fields.entry(word(row, 0)).or_default().push(row));
    let grouped: HashSet<&String> = groups.iter().flat_map(|group| &group.members).collect();
    let option: HashMap<String, (String, String)> =
        named.iter().map(|row| (word(row, 0), (word(row, 1), unquote(row.get(2))))).collect();
    let mut made = Vec::new();
    for row in named.iter().filter(|row| !grouped.contains(&word(row, 0))) {
        let name = word(row, 0);
        let (kind, description) = option.get(&name).cloned().unwrap_or_default();
        let mut table = table(&name, description, fields.get(&name).map_or(&[][..], Vec::as_slice));
        // The reported count of a view is always 0.
        table.row_count =
            counts.get(&name).copied().filter(|_| matches!(kind.as_str(), "BASE TABLE" | "CLONE" | "SNAPSHOT"));
        table.is_view = kind.ends_with("VIEW");
        if !matches!(kind.as_str(), "BASE TABLE" | "") {
            note(&mut table.description, &kind.to_lowercase());
        }
        made.push(table);
    }
    for group in groups {
        let (Some(newest), Some(oldest)) = (group.members.first(), group.members.last()) else { continue };
        let description = option.get(newest).map(|(_, description)| description.clone()).unwrap_or_default();
        let mut table = table(&group.name, description, fields.get(newest).map_or(&[][..], Vec::as_slice));
        table.row_count = group.members.iter().map(|member| counts.get(member).copied()).sum();
        let parts = group.members.len();
        note(
            &mut table.description,
            &format!("{parts} date-sharded tables, from {oldest} to {newest}; {SUFFIX} is the part matched by *"),
        );
        table.columns.push(Column {
            name: SUFFIX.to_owned(),
            data_type: "STRING".to_owned(),
            column_type: ColumnType::Text,
            description: "suffix of the table name, with its date; filter on it to scan less data".to_owned(),
            ..Column::default()
        });
        made.push(table);
    }
    add_keys(&mut made, keys);
    for table in &mut made {
        table.name = format!("{dataset}.{}", table.name);
        for key in &mut table.foreign_keys {
            key.table = format!("{dataset}.{}", key.table);
        }
    }
    made.sort_by(|a, b| a.name.cmp(&b.name));
    made
}

/// Maps a type as written in `INFORMATION_SCHEMA`.
fn column_type(data_type: &str) -> ColumnType {
    match base(data_type) {
        "INT64" => ColumnType::Integer,
        "FLOAT64" => ColumnType::Float,
        "NUMERIC" if data_type == "NUMERIC" => ColumnType::Decimal { precision: 38, scale: 9 },
        "NUMERIC" | "BIGNUMERIC" | "DECIMAL" => ColumnType::from_parameters(data_type),
        "BOOL" => ColumnType::Boolean,
        "DATE" => ColumnType::Date,
        "TIMESTAMP" | "DATETIME" => ColumnType::Timestamp,
        "STRING" => ColumnType::Text,
        "BYTES" => ColumnType::Bytes,
        "ARRAY" | "STRUCT" | "RECORD" | "JSON" => ColumnType::Nested,
        _ => ColumnType::Other,
    }
}

fn note(description: &mut String, more: &str) {
    if !description.is_empty() {
        description.push_str("; ");
    }
    description.push_str(more);
}

fn table(name: &str, description: String, fields: &[&Vec<Value>]) -> Table {
    let mut table = Table { name: name.to_owned(), description, ..Table::default() };
    let mut lists: Vec<String> = Vec::new();
    let (mut partition, mut clusters) = (None, Vec::new());
    for row in fields {
        let (path, data_type) = (word(row, 1), word(row, 2));
        if !path.contains('.') {
            if word(row, 5) == "YES" {
                partition = Some(path.clone());
            }
            if let Some(position) = row.get(6).and_then(Value::as_u64) {
                clusters.push((position, path.clone()));
            }
        }
        let is_list = data_type.starts_with("ARRAY<");
        let around = lists.iter().rev().find(|list| path.starts_with(&format!("{list}.")));
        let mut description = row.get(3).and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(around) = around {
            note(&mut description, &format!("repeated: one value per record of {around}, use UNNEST({around})"));
        } else if is_list {
            note(&mut description, "repeated");
        }
        let is_repeated = is_list || around.is_some();
        if is_list {
            lists.push(path.clone());
        }
        // The fields of a record follow in the next rows.
        if data_type.starts_with("STRUCT<") || table.columns.len() >= MAX_COLUMNS {
            continue;
        }
        let column_type = column_type(&data_type);
        let data_type = match data_type.chars().count() > MAX_TYPE {
            true => data_type.chars().take(MAX_TYPE).chain("...".chars()).collect(),
            false => data_type,
        };
        let nullable = word(row, 4) != "NO" || path.contains('.') || is_repeated;
        table.columns.push(Column { name: path, data_type, column_type, nullable, description, ..Column::default() });
    }
    if let Some(column) = partition {
        note(&mut table.description, &format!("partitioned by {column}: filter on it to scan less data"));
    }
    clusters.sort();
    if !clusters.is_empty() {
        let names: Vec<String> = clusters.into_iter().map(|(_, name)| name).collect();
        note(&mut table.description, &format!("clustered by {}", names.join(", ")));
    }
    table
}

/// One column of a foreign key: its name, the position of the referenced column in the primary key, and the referenced
/// table.
type Part = (String, u64, String);

/// Marks primary keys and adds foreign keys, which in BigQuery always reference primary keys.
fn add_keys(tables: &mut [Table], keys: &[Vec<Value>]) {
    let mut primary: HashMap<String, BTreeMap<u64, String>> = HashMap::new();
    // Keyed by table and constraint name.
    let mut foreign: BTreeMap<(String, String), Vec<Part>> = BTreeMap::new();
    for row in keys {
        let (table, column) = (word(row, 1), word(row, 3));
        let number = |at: usize| row.get(at).and_then(Value::as_u64).unwrap_or(0);
        match word(row, 2).as_str() {
            "PRIMARY KEY" => {
                primary.entry(table).or_default().insert(number(4), column);
            }
            "FOREIGN KEY" => {
                foreign.entry((table, word(row, 0))).or_default().push((column, number(5), word(row, 6)));
            }
            _ => {}
        }
    }
    for table in tables.iter_mut() {
        let own = primary.get(&table.name);
        for column in &mut table.columns {
            column.primary_key = own.is_some_and(|own| own.values().any(|name| *name == column.name));
        }
        for ((_, _), parts) in foreign.iter().filter(|((name, _), _)| *name == table.name) {
            let Some((_, _, to)) = parts.first() else { continue };
            let references: Option<Vec<String>> =
                parts.iter().map(|(_, position, _)| primary.get(to)?.get(position).cloned()).collect();
            let Some(references) = references else { continue };
            let columns = parts.iter().map(|(column, _, _)| column.clone()).collect();
            table.foreign_keys.push(ForeignKey { columns, table: to.clone(), references });
        }
    }
}

/// Unquotes a value of `TABLE_OPTIONS`, which is an SQL literal.
fn unquote(value: Option<&Value>) -> String {
    let Some(text) = value.and_then(Value::as_str) else { return String::new() };
    serde_json::from_str::<String>(text).unwrap_or_else(|_| text.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &[&str], expected: &[&str]) {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let groups = group_shards(&names);
        let written: Vec<String> =
            groups.iter().map(|group| format!("{} = {}", group.name, group.members.join(" "))).collect();
        assert_eq!(written, expected);
    }

    #[test]
    fn groups_date_shards_unless_their_wildcard_matches_others() {
        check(&["events_20240101", "events_20240102", "orders"], &["events_* = events_20240102 events_20240101"]);
        check(
            &["events_20240101", "events_20240102", "events_secret"],
            &["events_20* = events_20240102 events_20240101"],
        );
        check(&["events_20240101", "events_20240102", "events_2024"], &[]);
        check(&["events_20240101", "events_99999999", "20240101"], &[]);
    }
}
