//! The tool `get_sample_values`.

use std::sync::Arc;

use prospector_connect::rows::SampleRequest;
use prospector_core::record::Resource;
use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{column, database, find_column, find_table, table};
use crate::{
    discovery::SchemaDiscovery,
    profile::ProfileError,
    value_list::{MAX_FIRST_ALONE, MAX_WHOLE, count_shown},
};

/// Maximum number of values shown.
const MAX_VALUES: usize = 200;

pub(super) struct GetSampleValues(pub(super) Arc<SchemaDiscovery>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The database.
    database: String,
    /// The table.
    table: String,
    /// The column.
    column: String,
    /// Only values that contain this text.
    contains: Option<String>,
    /// Maximum number of values; default: all if at most 20, else 10.
    limit: Option<usize>,
}

#[derive(Clone, Serialize)]
pub(super) struct SampleValues {
    database: String,
    table: String,
    column: String,
    values: Vec<Value>,
    distinct: u64,
    complete: bool,
}

impl Tool for GetSampleValues {
    const NAME: &'static str = "get_sample_values";
    const DESCRIPTION: &'static str =
        "Returns distinct values of a column, most frequent first. Call it to check the spelling of a value.";
    const MORE: &'static str = "narrow it with contains, or call again with a larger max_tokens";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = SampleValues;

    async fn call(&self, args: Args) -> Result<SampleValues, ToolError> {
        let (known, at) = find_table(&self.0, &args.database, &args.table)?;
        let (id, table) = (known.id(at), &known.database.tables[at]);
        let column = find_column(table, &id, &args.column)?;
        let database = &known.database.name;
        let unavailable = |why: &str| {
            let message = format!("cannot show values of `{id}.{column}`: {why}");
            ToolError::unavailable(message, Some("use the type and the description of the column".into()))
        };
        let Some(connector) = known.connector.as_deref() else {
            return Err(unavailable(&format!("database `{database}` cannot be read")));
        };
        if !connector.has_data() {
            return Err(unavailable(&format!("database `{database}` is a schema without data")));
        }
        if known.database.is_personal(&table.name, column) {
            return Err(unavailable("the catalog marks them as personal data"));
        }
        let limit = args.limit.map_or(MAX_WHOLE, |limit| limit.clamp(1, MAX_VALUES));
        let request = SampleRequest { contains: args.contains.filter(|text| !text.is_empty()), limit };
        let samples = connector.sample(&table.name, column, &request).await;
        let mut samples = samples.map_err(|error| unavailable(&ProfileError::from(error).to_string()))?;
        if args.limit.is_none() && !samples.complete {
            samples.values.truncate(count_shown(samples.distinct, MAX_FIRST_ALONE));
        }
        Ok(SampleValues {
            database: database.clone(),
            table: table.name.clone(),
            column: column.to_owned(),
            values: samples.values,
            distinct: samples.distinct,
            complete: samples.complete,
        })
    }
}

impl ToolOutput for SampleValues {
    fn reveals(&self) -> Vec<Resource> {
        vec![
            database(&self.database),
            table(&self.database, &self.table),
            column(&self.database, &format!("{}.{}", self.table, self.column)),
        ]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("values", Part::entries(&mut self.values))]
    }
}
