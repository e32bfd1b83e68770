//! The tool `get_datasource_metadata`.

use std::collections::HashMap;
use std::sync::Arc;

use prospector_connect::query::DatePart;
use prospector_connect::rows::{SampleRequest, Statistics};
use prospector_connect::table::{Column, ForeignKey, Table};
use prospector_core::record::Resource;
use prospector_core::tool::{Effect, Page, Part, Tool, ToolError, ToolOutput};
use prospector_text::identifiers::{self, KEY_WORDS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Details;
use crate::Engine;
use crate::answer::table;
use crate::build::Class;
use crate::explain::parse_day;
use crate::source::Source;

/// The maximum number of column names per role in an overview.
const MAX_NAMES: usize = 30;
/// The number of sample values per column.
const MAX_SAMPLES: usize = 5;
/// The maximum number of columns that are sampled, and of those sampled at once.
const MAX_SAMPLED_COLUMNS: usize = 40;
const CONCURRENT_SAMPLES: usize = 4;

pub(super) struct GetDatasourceMetadata(pub(super) Arc<Engine>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The database; omit it for all databases.
    #[serde(default)]
    database: Option<String>,
    /// The table; omit it to list the tables.
    #[serde(default)]
    table: Option<String>,
    /// Whether to compute column statistics; large tables take longer.
    #[serde(default = "yes", alias = "include_statistics")]
    statistics: bool,
}

fn yes() -> bool {
    true
}

/// The likely role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    Measure,
    Dimension,
    Date,
}

/// The overview of a table.
#[derive(Clone, Serialize)]
pub(super) struct Overview {
    database: String,
    table: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_count: Option<u64>,
    measures: Vec<String>,
    dimensions: Vec<String>,
    dates: Vec<String>,
}

impl Overview {
    fn new(source: &Source, table: &Table) -> Overview {
        let of = |wanted: Role| {
            let columns = table.columns.iter().filter(|column| role(table, column, None) == wanted);
            columns.take(MAX_NAMES).map(|column| column.name.clone()).collect()
        };
        Overview {
            database: source.name.clone(),
            table: table.name.clone(),
            row_count: table.row_count,
            measures: of(Role::Measure),
            dimensions: of(Role::Dimension),
            dates: of(Role::Date),
        }
    }
}

/// The details of a table for writing queries.
#[derive(Clone, Serialize)]
pub(super) struct Metadata {
    database: String,
    table: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_count: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    row_count_estimated: bool,
    columns: Vec<DescribedColumn>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreign_keys: Vec<ForeignKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_statistics: Option<String>,
}

#[derive(Clone, Serialize)]
struct DescribedColumn {
    name: String,
    #[serde(rename = "type")]
    data_type: String,
    role: Role,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    primary_key: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cardinality: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nulls: Option<u64>,
    /// The most frequent values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sample_values: Vec<Value>,
}

impl Tool for GetDatasourceMetadata {
    const NAME: &'static str = "get_datasource_metadata";
    const MORE: &'static str = "pass a database, or a table";
    const DESCRIPTION: &'static str = "Returns the columns of a table with types, statistics and sample values, and infers which \
        are measures, dimensions and dates.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = Details<Metadata, Overview>;

    async fn call(&self, args: Args) -> Result<Details<Metadata, Overview>, ToolError> {
        let (database, table) = (args.database.unwrap_or_default(), args.table.unwrap_or_default());
        if table.is_empty() {
            let sources = match database.is_empty() {
                true => &self.0.sources[..],
                false => std::slice::from_ref(&self.0.sources[self.0.source(&database)?]),
            };
            let of = |source| move |table| Overview::new(source, table);
            let overviews = sources.iter().flat_map(|source| source.tables.iter().map(of(source)));
            return Ok(Details::All(Page::whole(overviews.collect())));
        }
        let (database, table) = self.0.only_table(&database, &table, &|_, _| true)?;
        let (source, table) = self.0.table(&database, &table)?;
        let (mut statistics, mut without) = (Vec::new(), None);
        if args.statistics {
            match source.connector.statistics(&table.name, &[]).await {
                Ok(found) => statistics = found,
                Err(error) => without = Some(self.0.explain_source(&error, &[table]).to_string()),
            }
        }
        let samples = match statistics.is_empty() {
            true => HashMap::new(),
            false => sample(source, table).await,
        };
        let described = |column: &Column| {
            let found = statistics.iter().find(|found| found.column == column.name);
            let range = found.filter(|_| !column.is_personal);
            DescribedColumn {
                name: column.name.clone(),
                data_type: column.data_type.clone(),
                role: role(table, column, found),
                primary_key: column.primary_key,
                description: column.description.clone(),
                cardinality: found.map(|found| found.cardinality),
                min: range.and_then(|found| found.min.clone()),
                max: range.and_then(|found| found.max.clone()),
                nulls: found.map(|found| found.nulls).filter(|nulls| *nulls > 0),
                sample_values: samples.get(column.name.as_str()).cloned().unwrap_or_default(),
            }
        };
        Ok(Details::One(Box::new(Metadata {
            database: source.name.clone(),
            table: table.name.clone(),
            description: table.description.clone(),
            row_count: table.row_count,
            row_count_estimated: table.row_count_estimated,
            columns: table.columns.iter().map(described).collect(),
            foreign_keys: table.foreign_keys.clone(),
            without_statistics: without,
        })))
    }
}

/// Reads the most frequent values of the columns that are neither keys nor personal data, by column name. Columns that cannot be read are
/// skipped.
async fn sample<'a>(source: &'a Source, table: &'a Table) -> HashMap<&'a str, Vec<Value>> {
    let is_key =
        |column: &Column| column.primary_key || table.foreign_keys.iter().any(|key| key.columns.contains(&column.name));
    let is_shown = |column: &&Column| !is_key(column) && !column.is_personal;
    let columns: Vec<&Column> = table.columns.iter().filter(is_shown).take(MAX_SAMPLED_COLUMNS).collect();
    let request = SampleRequest { contains: None, limit: MAX_SAMPLES };
    let mut found = HashMap::new();
    for few in columns.chunks(CONCURRENT_SAMPLES) {
        let read = few.iter().map(|column| source.connector.sample(&table.name, &column.name, &request));
        for (column, samples) in few.iter().zip(futures::future::join_all(read).await) {
            found.extend(samples.ok().map(|samples| (column.name.as_str(), samples.values)));
        }
    }
    found
}

impl ToolOutput for Metadata {
    fn reveals(&self) -> Vec<Resource> {
        table(&self.database, &self.table)
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let mut parts = vec![
            ("description", Part::Text(&mut self.description)),
            ("columns", Part::entries(&mut self.columns)),
            ("foreign_keys", Part::entries(&mut self.foreign_keys)),
        ];
        parts.extend(self.without_statistics.as_mut().map(|text| ("without_statistics", Part::Text(text))));
        parts
    }
}

impl ToolOutput for Overview {
    fn reveals(&self) -> Vec<Resource> {
        table(&self.database, &self.table)
    }
}

/// Last words of the names of numbers that are codes, in addition to those of keys and of parts of dates.
const CODES: [&str; 3] = ["cd", "zip", "phone"];

/// Infers the role of a column from its type, keys and name: numbers are measures, unless they are keys, are named like codes, are
/// declared as boolean, or have two values.
fn role(table: &Table, column: &Column, statistics: Option<&Statistics>) -> Role {
    let class = Class::from_type(column.column_type);
    let looks_like_date = || {
        let text =
            |end: Option<&Value>| end.and_then(Value::as_str).and_then(|text| parse_day(text.get(..10)?)).is_some();
        statistics.is_some_and(|found| text(found.min.as_ref()) && text(found.max.as_ref()))
    };
    let refers = column.primary_key || table.foreign_keys.iter().any(|key| key.columns.contains(&column.name));
    let is_code = identifiers::words(&column.name).last().is_some_and(|last| {
        let is_part = DatePart::ALL.iter().any(|part| part.as_str() == last);
        is_part || KEY_WORDS.contains(&last.as_str()) || CODES.contains(&last.as_str())
    });
    // SQLite and MySQL store booleans as numbers.
    let is_flag = column.data_type.to_ascii_lowercase().starts_with("bool");
    match class {
        Class::Date => Role::Date,
        Class::Text if looks_like_date() => Role::Date,
        Class::Number if !refers && !is_code && !is_flag && statistics.is_none_or(|found| found.cardinality != 2) => {
            Role::Measure
        }
        Class::Number | Class::Text | Class::Boolean => Role::Dimension,
    }
}

#[cfg(test)]
mod tests {
    use prospector_connect::table::ColumnType;

    use super::*;

    fn check(name: &str, column_type: ColumnType, expected: Role) {
        let column = Column { name: name.into(), column_type, ..Column::default() };
        assert_eq!(role(&Table::default(), &column, None), expected, "{name}");
    }

    #[test]
    fn infers_a_role_from_type_and_name() {
        check("total", ColumnType::Decimal { precision: 10, scale: 2 }, Role::Measure);
        check("CustomerId", ColumnType::Integer, Role::Dimension);
        check("paid", ColumnType::Integer, Role::Measure);
        check("zip", ColumnType::Integer, Role::Dimension);
        check("ordered_at", ColumnType::Timestamp, Role::Date);
        check("name", ColumnType::Text, Role::Dimension);
    }

    #[test]
    fn a_number_declared_as_boolean_is_a_dimension() {
        let column = Column {
            name: "opted_in".into(),
            data_type: "BOOLEAN".into(),
            column_type: ColumnType::Integer,
            ..Column::default()
        };
        assert_eq!(role(&Table::default(), &column, None), Role::Dimension);
    }
}
