//! Describes tables: keys, the fields of their first items, and counts.

use std::collections::HashMap;

use futures::{StreamExt, stream};
use prospector_core::Problem;
use serde_json::{Map, Value, json};

use super::scan::Scan;
use super::wire::Action;
use super::{Dynamo, Shape};
use crate::ConnectError;
use crate::document::column_type;
use crate::document::inferred::InferredFields;
use crate::statement::TypedColumn;
use crate::table::{Column, Table};

/// Maximum number of items sampled, at most one page.
const SAMPLED: usize = 500;

/// Maximum number of tables described concurrently.
const AT_ONCE: usize = 8;

/// Far above the number of tables that an account can have.
const MAX_PAGES: usize = 1_000;

impl Dynamo {
    /// Returns the names of all tables.
    pub(super) async fn names(&self) -> Result<Vec<String>, ConnectError> {
        let mut names = Vec::new();
        let mut request = Map::new();
        for _ in 0..MAX_PAGES {
            let answer = self.wire.ask(Action::ListTables, "the list of tables", &request).await?;
            let page = answer.get("TableNames").and_then(Value::as_array).cloned().unwrap_or_default();
            names.extend(page.into_iter().filter_map(|name| name.as_str().map(str::to_owned)));
            match answer.get("LastEvaluatedTableName").filter(|name| name.is_string()) {
                Some(last) => request.insert("ExclusiveStartTableName".to_owned(), last.clone()),
                None => break,
            };
        }
        Ok(names)
    }

    /// Returns the service's description of a table.
    async fn facts(&self, table: &str) -> Result<Value, ConnectError> {
        let request = Map::from_iter([("TableName".to_owned(), json!(table))]);
        let mut answer = self.wire.ask(Action::DescribeTable, table, &request).await?;
        Ok(answer.get_mut("Table").map(Value::take).unwrap_or_default())
    }

    pub(super) async fn all_described(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        let names = self.names().await?;
        let asked: Vec<_> = names.iter().map(|name| self.describe_table(name)).collect();
        let described: Vec<_> = stream::iter(asked).buffered(AT_ONCE).collect().await;
        let (mut tables, mut problems, mut first) = (Vec::new(), Vec::new(), None);
        for (name, described) in names.iter().zip(described) {
            match described {
                Ok((table, shape, notes)) => {
                    self.remember(name, shape);
                    tables.push(table);
                    problems.extend(notes);
                }
                Err(error) => {
                    let here = format!("{}: {name}", self.wire.place());
                    let advice = "grant dynamodb:DescribeTable and dynamodb:Scan to the access key";
                    problems.push(Problem::error(here, error.to_string()).advise(advice));
                    first.get_or_insert(error);
                }
            }
        }
        match first {
            Some(error) if tables.is_empty() => Err(error),
            _ => Ok((tables, problems)),
        }
    }

    /// Returns a text that changes with the tables, their keys and, by powers of two, their sizes.
    pub(super) async fn stamp(&self) -> Result<String, ConnectError> {
        let names = self.names().await?;
        let asked: Vec<_> = names.iter().map(|name| self.facts(name)).collect();
        let facts: Vec<_> = stream::iter(asked).buffered(AT_ONCE).collect().await;
        let mut stamp = String::new();
        for (name, facts) in names.iter().zip(facts) {
            let facts = facts.unwrap_or_default();
            let items = facts.get("ItemCount").and_then(Value::as_u64).unwrap_or(0);
            let keys =
                (facts.get("KeySchema"), facts.get("GlobalSecondaryIndexes").and_then(Value::as_array).map(Vec::len));
            stamp += &format!("{name}\u{1}{keys:?}\u{1}{}\u{2}", u64::BITS - items.leading_zeros());
        }
        Ok(stamp)
    }

    pub(super) async fn describe_table(&self, name: &str) -> Result<(Table, Shape, Vec<Problem>), ConnectError> {
        let facts = self.facts(name).await?;
        let mut scan = Scan::new(&self.wire, name);
        let mut inferred = InferredFields::default();
        scan.page(Some(SAMPLED)).await?.unwrap_or_default().iter().for_each(|item| inferred.add(item));
        // A fully scanned table has an exact count; the service updates its count every six hours.
        let row_count_estimated = !scan.is_done();
        let row_count = match row_count_estimated {
            false => Some(inferred.documents()),
            true => facts.get("ItemCount").and_then(Value::as_u64).map(|items| items.max(inferred.documents())),
        };
        let (mut columns, problems) = inferred.columns(&format!("{}: {name}", self.wire.place()));
        let types: HashMap<&str, &str> = list(&facts, "AttributeDefinitions")
            .iter()
            .filter_map(|one| Some((one.get("AttributeName")?.as_str()?, one.get("AttributeType")?.as_str()?)))
            .collect();
        let (mut partition, mut sort) = (None, None);
        for (role, key) in keys(&facts) {
            let column = key_column(&mut columns, &key, types.get(key.as_str()).copied());
            (column.primary_key, column.nullable) = (true, false);
            column.description = format!("{role} key");
            match role {
                "partition" => {
                    partition = Some((key.clone(), types.get(key.as_str()).copied().unwrap_or("S").to_owned()))
                }
                _ => sort = Some(key.clone()),
            }
        }
        for index in list(&facts, "GlobalSecondaryIndexes").iter().chain(list(&facts, "LocalSecondaryIndexes")) {
            let of = index.get("IndexName").and_then(Value::as_str).unwrap_or_default();
            for (role, key) in keys(index) {
                let column = key_column(&mut columns, &key, types.get(key.as_str()).copied());
                let gap = if column.description.is_empty() { "" } else { "; " };
                column.description += &format!("{gap}{role} key of the index {of}");
            }
        }
        // Key columns come first.
        columns.sort_by_key(|column| match &column.name {
            name if partition.as_ref().is_some_and(|(key, _)| key == name) => 0,
            name if sort.as_ref() == Some(name) => 1,
            _ => 2,
        });
        let fields =
            columns.iter().map(|c| TypedColumn { name: c.name.clone(), data_type: c.data_type.clone() }).collect();
        let shape = Shape { name: name.to_owned(), fields, partition, sort };
        let table = Table { name: name.to_owned(), row_count, row_count_estimated, columns, ..Table::default() };
        Ok((table, shape, problems))
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the keys of a table or index with their roles.
fn keys(value: &Value) -> Vec<(&'static str, String)> {
    let key = |key: &Value| {
        let role = if key.get("KeyType")?.as_str()? == "HASH" { "partition" } else { "sort" };
        Some((role, key.get("AttributeName")?.as_str()?.to_owned()))
    };
    list(value, "KeySchema").iter().filter_map(key).collect()
}

/// Returns the column of a key; an empty table has no items to infer it from, so it is added.
fn key_column<'a>(columns: &'a mut Vec<Column>, name: &str, letter: Option<&str>) -> &'a mut Column {
    let at = columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
        let data_type = match letter {
            Some("N") => "number",
            Some("B") => "binary",
            _ => "string",
        };
        columns.push(Column {
            name: name.to_owned(),
            data_type: data_type.to_owned(),
            column_type: column_type(data_type),
            nullable: true,
            ..Column::default()
        });
        columns.len() - 1
    });
    &mut columns[at]
}
