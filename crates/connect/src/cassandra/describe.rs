//! Describes the tables of keyspaces from the system tables, with a constant number of statements.

use std::collections::HashMap;

use prospector_core::Problem;
use scylla::value::CqlValue;
use serde_json::Value;

use super::plan::{CqlColumn, Role};
use super::{Cassandra, Read};
use crate::ConnectError;
use crate::document::Node;
use crate::table::{Column, ColumnType, Table};

/// Maximum number of rows of a description.
const MAX_ROWS: usize = 500_000;

/// Whether a keyspace belongs to the cluster itself.
pub(super) fn is_own(keyspace: &str) -> bool {
    keyspace == "system" || keyspace.starts_with("system_") || keyspace.starts_with("dse_")
}

type Place = (String, String);

/// One row, by column position.
struct Cells(Vec<Value>);

impl Cells {
    fn word(&self, at: usize) -> String {
        self.0.get(at).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn number(&self, at: usize) -> i64 {
        self.0.get(at).and_then(Value::as_i64).unwrap_or(0)
    }

    fn place(&self) -> Place {
        (self.word(0), self.word(1))
    }
}

impl Cassandra {
    async fn cells(&self, what: &str, cql: &str, values: Vec<CqlValue>) -> Result<Vec<Cells>, ConnectError> {
        let Read { rows, .. } = self.read(what, cql, values, MAX_ROWS).await?;
        Ok(rows.into_iter().map(|row| Cells(row.into_iter().map(Node::json).collect())).collect())
    }

    /// Returns the columns of one table.
    pub(super) async fn columns(&self, place: &Place) -> Result<Vec<CqlColumn>, ConnectError> {
        let (keyspace, table) = place;
        let only = || {
            let text = |text: &String| CqlValue::Text(text.clone());
            vec![text(keyspace), text(table)]
        };
        let of = "keyspace_name = ? AND table_name = ?";
        let columns = self.cells(table, &format!("{COLUMNS} WHERE {of}"), only()).await?;
        // If the indexes cannot be read, none is used.
        let indexes = self.cells(table, &format!("{INDEXES} WHERE {of}"), only()).await.unwrap_or_default();
        let indexed: Vec<String> = indexes.iter().filter_map(|row| target(&row.0)).collect();
        let known = |row: &Cells| CqlColumn {
            is_indexed: indexed.contains(&row.word(2)),
            name: row.word(2),
            data_type: row.word(3),
            role: role(row),
        };
        let mut known: Vec<CqlColumn> = columns.iter().map(known).collect();
        known.sort_by(|a, b| (a.role, &a.name).cmp(&(b.role, &b.name)));
        Ok(known)
    }

    pub(super) async fn describe_tables(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        let what = "the schema of the cluster";
        let mut problems = Vec::new();
        let tables = "SELECT keyspace_name, table_name, comment FROM system_schema.tables";
        let tables = self.cells(what, tables, Vec::new()).await?;
        let columns = self.cells(what, COLUMNS, Vec::new()).await?;
        let mut perhaps = async |cql: &str, lost: &str| {
            self.cells(what, cql, Vec::new()).await.unwrap_or_else(|error| {
                problems.push(Problem::warning(self.server.to_string(), format!("{lost}: {error}")));
                Vec::new()
            })
        };
        let views = "SELECT keyspace_name, view_name, comment, base_table_name FROM system_schema.views";
        let views = perhaps(views, "views are skipped").await;
        let indexes = perhaps(INDEXES, "indexed columns are unknown").await;
        let sizes =
            "SELECT keyspace_name, table_name, range_start, range_end, partitions_count FROM system.size_estimates";
        let sizes = perhaps(sizes, "row counts are unknown").await;

        let mut by_table: HashMap<Place, Vec<&Cells>> = HashMap::new();
        columns.iter().for_each(|row| by_table.entry(row.place()).or_default().push(row));
        let mut indexed: HashMap<Place, Vec<String>> = HashMap::new();
        for row in &indexes {
            indexed.entry(row.place()).or_default().extend(target(&row.0));
        }
        let mut ranges: HashMap<Place, Vec<&Cells>> = HashMap::new();
        sizes.iter().for_each(|row| ranges.entry(row.place()).or_default().push(row));

        let all = tables.iter().map(|row| (row, false)).chain(views.iter().map(|row| (row, true)));
        let mut found = Vec::new();
        for (row, is_view) in all.filter(|(row, _)| self.is_described(&row.word(0))) {
            let place = row.place();
            let mut own = by_table.remove(&place).unwrap_or_default();
            own.sort_by_key(|row| (role(row), row.word(2)));
            let partitions = ranges.get(&place).and_then(|ranges| partitions(ranges));
            let mut table = table(self.name(&place), &row.word(2), &own, indexed.get(&place), partitions);
            if is_view {
                table.is_view = true;
                table.description = format!("materialized view of {}; {}", row.word(3), table.description);
            }
            found.push(table);
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        for wanted in self.keyspaces() {
            if !tables.iter().any(|row| row.word(0) == wanted) {
                let place = format!("{}: {wanted}", self.server);
                let reason = "the keyspace does not exist or has no tables";
                problems.push(Problem::error(place, reason).advise("correct the keyspace in the catalog"));
            }
        }
        Ok((found, problems))
    }
}

const COLUMNS: &str = "SELECT keyspace_name, table_name, column_name, type, kind, position, clustering_order \
     FROM system_schema.columns";

const INDEXES: &str = "SELECT keyspace_name, table_name, index_name, kind, options FROM system_schema.indexes";

fn role(row: &Cells) -> Role {
    let position = i32::try_from(row.number(5)).unwrap_or(0);
    match row.word(4).as_str() {
        "partition_key" => Role::Partition(position),
        "clustering" => Role::Clustering(position),
        "static" => Role::Static,
        _ => Role::Regular,
    }
}

/// Returns the column of an index that covers whole values.
fn target(row: &[Value]) -> Option<String> {
    let target = row.get(4)?.get("target")?.as_str()?;
    let plain = match target.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => target.to_owned(),
    };
    (!plain.contains('(')).then_some(plain)
}

fn table(
    name: String,
    comment: &str,
    rows: &[&Cells],
    indexed: Option<&Vec<String>>,
    partitions: Option<u64>,
) -> Table {
    let names = |is: fn(Role) -> bool| -> Vec<String> {
        rows.iter().filter(|row| is(role(row))).map(|row| row.word(2)).collect()
    };
    let partition = names(|role| matches!(role, Role::Partition(_)));
    let clustering = names(|role| matches!(role, Role::Clustering(_)));
    let mut notes: Vec<String> = Some(comment.trim().to_owned()).filter(|text| !text.is_empty()).into_iter().collect();
    if !partition.is_empty() {
        notes.push(format!("partition key ({}): the cluster only filters by the whole key", partition.join(", ")));
    }
    if !clustering.is_empty() {
        notes.push(format!("clustering key ({})", clustering.join(", ")));
        // A partition contains an unknown number of rows.
        notes.extend(partitions.map(|number| format!("about {number} partitions")));
    }
    let column = |row: &&Cells| {
        let (name, role) = (row.word(2), role(row));
        let is_indexed = indexed.is_some_and(|indexed| indexed.contains(&name));
        let description = match role {
            Role::Partition(_) => "partition key".to_owned(),
            Role::Clustering(_) => format!("clustering key, {}", row.word(6)),
            Role::Static => "one value per partition".to_owned(),
            Role::Regular if is_indexed => "indexed".to_owned(),
            Role::Regular => String::new(),
        };
        let primary_key = matches!(role, Role::Partition(_) | Role::Clustering(_));
        let data_type = row.word(3);
        let column_type = column_type(&data_type);
        Column { name, data_type, column_type, nullable: !primary_key, primary_key, description, ..Column::default() }
    };
    Table {
        name,
        description: notes.join("; "),
        row_count: partitions.filter(|_| clustering.is_empty()),
        row_count_estimated: partitions.is_some() && clustering.is_empty(),
        columns: rows.iter().map(column).collect(),
        ..Table::default()
    }
}

/// Maps a type as written in `system_schema`.
fn column_type(data_type: &str) -> ColumnType {
    match data_type.split('<').next().unwrap_or_default() {
        "bigint" | "int" | "smallint" | "tinyint" | "counter" => ColumnType::Integer,
        "float" | "double" | "decimal" => ColumnType::Float,
        "varint" => ColumnType::Decimal { precision: 38, scale: 0 },
        "boolean" => ColumnType::Boolean,
        "date" => ColumnType::Date,
        "timestamp" => ColumnType::Timestamp,
        "text" | "varchar" | "ascii" => ColumnType::Text,
        "blob" => ColumnType::Bytes,
        "list" | "map" => ColumnType::Nested,
        // Includes sets, whose items are counted one by one, and frozen values.
        _ => ColumnType::Other,
    }
}

/// Estimates the number of partitions. A node estimates its own token ranges; the result is scaled up by their share of
/// all tokens.
fn partitions(ranges: &[&Cells]) -> Option<u64> {
    let (mut counted, mut share) = (0.0, 0.0);
    for row in ranges {
        counted += row.number(4).max(0) as f64;
        let (start, end) = (row.word(2).parse::<i64>(), row.word(3).parse::<i64>());
        let (Ok(start), Ok(end)) = (start, end) else { continue };
        let width = end.wrapping_sub(start) as u64;
        share += if width == 0 { 1.0 } else { width as f64 / 2f64.powi(64) };
    }
    let share = if share > 0.0 { share.min(1.0) } else { 1.0 };
    (!ranges.is_empty()).then(|| (counted / share).round() as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scales_partition_estimates_by_token_share() {
        let check = |ranges: &[(i64, i64, i64)], expected: Option<u64>| {
            let rows: Vec<Cells> = ranges
                .iter()
                .map(|(start, end, count)| {
                    Cells(vec![json!("k"), json!("t"), json!(start.to_string()), json!(end.to_string()), json!(count)])
                })
                .collect();
            assert_eq!(partitions(&rows.iter().collect::<Vec<_>>()), expected);
        };
        check(&[], None);
        check(&[(i64::MIN, 0, 10), (0, i64::MIN, 14)], Some(24));
        check(&[(i64::MIN, 0, 10)], Some(20));
        check(&[(5, 5, 10)], Some(10));
        check(&[(i64::MAX - 9, i64::MIN + (1 << 62) - 10, 10)], Some(40));
    }
}
