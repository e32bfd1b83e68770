//! `get_table_schema`: the columns of a table, and what they hold.

use std::sync::Arc;

use prospector_core::{Resource, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{column, database, find_table, table};
use crate::{
    SchemaDiscovery,
    discovery::Known,
    profile::{NO_DATA, Profile, Shown, WIDEST, profile},
};

pub(super) struct GetTableSchema(pub(super) Arc<SchemaDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Its database.
    database: String,
    /// Its name.
    table: String,
    /// With all statistics.
    values: Option<bool>,
}

#[derive(Serialize)]
pub(super) struct TableSchema {
    database: String,
    table: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_count: Option<u64>,
    /// The source's own estimate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    row_count_estimated: bool,
    columns: Vec<ColumnSchema>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    sample_values: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize)]
struct ColumnSchema {
    name: String,
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    data_type: String,
    /// Only `false`, and not of a primary key: as in SQL, a column may be null unless it says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    nullable: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    primary_key: bool,
    /// `table.column`
    #[serde(skip_serializing_if = "String::is_empty")]
    foreign_key: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Shown>,
}

impl Tool for GetTableSchema {
    const NAME: &'static str = "get_table_schema";
    const DESCRIPTION: &'static str = "Shows the columns of a table: types, keys, descriptions, sample values. Call it before \
         planning with a table.";
    type Args = Args;
    type Output = TableSchema;

    async fn call(&self, args: Args) -> Result<TableSchema, ToolError> {
        let (known, at) = find_table(&self.0, &args.database, &args.table)?;
        let table = &known.database.tables[at];
        let all = args.values.unwrap_or(false);
        let (profile, note) = match read(known, at).await {
            Ok(profile) if all => (profile.clone(), None),
            Ok(profile) => (profile.brief(), None),
            // Who did not ask for what a schema alone never has is not told that it is missing.
            Err(why) if !all && why == NO_DATA => (Profile::default(), None),
            Err(why) => (Profile::default(), Some(format!("statistics are unavailable: {why}"))),
        };
        let Profile { mut statistics, samples } = profile;
        let columns = (table.columns.iter())
            .map(|column| ColumnSchema {
                name: column.name.clone(),
                data_type: column.data_type.clone(),
                nullable: (!column.nullable && !column.primary_key).then_some(false),
                primary_key: column.primary_key,
                foreign_key: foreign_key(table, &column.name),
                description: column.description.clone(),
                statistics: statistics.remove(&column.name),
            })
            .collect();
        Ok(TableSchema {
            database: known.database.name.clone(),
            table: table.name.clone(),
            description: table.description.clone(),
            row_count: table.row_count,
            row_count_estimated: table.row_count_estimated,
            columns,
            sample_values: samples,
            note,
        })
    }

    fn compact(answer: &Value) -> Option<String> {
        super::compact::schema(answer)
    }

    fn reveals(_: &Value, answer: &Value) -> Vec<Resource> {
        let (Some(in_database), Some(name)) = (answer["database"].as_str(), answer["table"].as_str()) else {
            return Vec::new();
        };
        let columns = answer["columns"].as_array().into_iter().flatten().filter_map(|column| column["name"].as_str());
        [database(in_database), table(in_database, name)]
            .into_iter()
            .chain(columns.map(|one| column(in_database, &format!("{name}.{one}"))))
            .collect()
    }
}

/// The profile of a table. It is read once and kept; what failed is tried again by the next call.
async fn read(known: &Known, at: usize) -> Result<&Profile, String> {
    let table = &known.database.tables[at];
    let Some(connector) = known.connector.as_deref() else {
        return Err("the database cannot be read".to_owned());
    };
    if !connector.has_data() {
        return Err(NO_DATA.to_owned());
    }
    if table.columns.len() > WIDEST {
        return Err(format!("the table has {} columns; call get_sample_values for one of them", table.columns.len()));
    }
    known.profiles[at].get_or_try_init(|| profile(connector, table)).await
}

/// What a column refers to.
fn foreign_key(table: &prospector_connect::Table, column: &str) -> String {
    let targets: Vec<String> = (table.foreign_keys.iter())
        .flat_map(|key| key.columns.iter().zip(&key.references).map(move |(own, other)| (own, &key.table, other)))
        .filter(|(own, ..)| *own == column)
        .map(|(_, table, other)| format!("{table}.{other}"))
        .collect();
    targets.join(", ")
}
