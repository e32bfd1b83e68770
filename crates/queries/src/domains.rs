//! Domains of the parameters of a query: from its file, or from the column that contains their values.

use prospector_engine::{Engine, query::Literal};
use serde_json::Value;

use crate::{
    VerifiedQuery,
    model::{AllowedValue, Parameter, ParameterType},
    value::{Domain, read},
};

/// Columns with more values are not compared with the words of a question: any text is accepted, and an unknown value returns no rows.
const MAX_VALUES: usize = 5_000;

/// Returns the domain of each parameter, in order. If a column cannot be read, its parameter accepts no value: values that cannot be
/// validated are not used.
pub(crate) async fn find_domains(query: &VerifiedQuery, engine: &Engine) -> Vec<Domain> {
    let mut domains = Vec::new();
    for parameter in &query.parameters {
        domains.push(match &parameter.column {
            _ if !parameter.allowed.is_empty() => Domain::OneOf(parameter.allowed.clone()),
            Some(column) => of_column(parameter, column, engine).await.unwrap_or(Domain::OneOf(Vec::new())),
            None => Domain::Any,
        });
    }
    domains
}

async fn of_column(parameter: &Parameter, column: &str, engine: &Engine) -> Option<Domain> {
    let (table, name) = column.rsplit_once('.')?;
    let source = engine.sources().iter().find(|source| table.starts_with(&format!("{}.", source.name)))?;
    let dialect = source.dialect();
    let parts: Vec<String> = table[source.name.len() + 1..].split('.').map(|part| dialect.quote(part)).collect();
    let (table, name) = (parts.join("."), dialect.quote(name));
    let is_text = matches!(parameter.kind, ParameterType::Text | ParameterType::Boolean);
    let sql = if is_text {
        format!("SELECT {name} FROM {table} WHERE {name} IS NOT NULL GROUP BY {name} LIMIT {}", MAX_VALUES + 1)
    } else {
        format!("SELECT MIN({name}), MAX({name}) FROM {table}")
    };
    let outcome = engine.run(&sql, Some(&source.name), MAX_VALUES + 1).await.ok()?;
    let rows = outcome.rows.rows;
    if is_text {
        if rows.len() > MAX_VALUES {
            return Some(Domain::Any);
        }
        let values = rows.into_iter().filter_map(|row| row.into_iter().next()).filter(|value| !value.is_null());
        let values = values.filter_map(|value| read(parameter.kind, &value));
        return Some(Domain::OneOf(values.map(|value| AllowedValue { value, words: Vec::new() }).collect()));
    }
    let row = rows.into_iter().next()?;
    let [least, greatest] = row.get(..2)? else { return None };
    Some(Domain::Between(read_end(parameter.kind, least)?, read_end(parameter.kind, greatest)?))
}

/// Parses a bound of a range; of a timestamp, its date.
fn read_end(kind: ParameterType, value: &Value) -> Option<Literal> {
    match (kind, value) {
        (ParameterType::Date, Value::String(text)) => read(kind, &Value::String(text.chars().take(10).collect())),
        _ => read(kind, value),
    }
}
