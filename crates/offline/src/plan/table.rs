//! A table as an answer shows it.

use prospector_agent::plan::meaning::{ColumnMeaning, TableMeaning};
use prospector_connect::table::ColumnType;
use serde_json::Value;

/// A table from the answer that shows its columns.
pub(super) fn read_table(value: &Value) -> TableMeaning {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |key: &str| value[key].as_array().into_iter().flatten();
    let (database, name) = (text(&value["database"]), text(&value["table"]));
    let shown = list("columns").map(|column| {
        let own = text(&column["name"]);
        let refers = column["foreign_key"].as_str().and_then(|to| to.split(", ").next()?.rsplit_once('.'));
        let samples = value["sample_values"][&own].as_array();
        let values: Vec<String> = samples
            .into_iter()
            .flatten()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .collect();
        let end = |end: &str| column["statistics"][end].as_str().filter(|text| text.len() >= 7).map(str::to_owned);
        let cardinality = column["statistics"]["cardinality"].as_u64();
        ColumnMeaning {
            column_type: read_type(&text(&column["type"])),
            description: text(&column["description"]),
            refers: refers.map(|(table, column)| (table.to_owned(), column.to_owned())),
            primary_key: column["primary_key"] == true,
            complete: !values.is_empty() && cardinality.is_none_or(|all| all <= values.len() as u64),
            span: end("min").zip(end("max")),
            name: own,
            values,
        }
    });
    // Of some columns a wide table shows no more than the names.
    let named = list("other_columns").map(|name| ColumnMeaning { name: text(name), ..ColumnMeaning::default() });
    let columns = shown.chain(named).collect();
    TableMeaning { id: format!("{database}.{name}"), description: text(&value["description"]), database, name, columns }
}

/// What the values of a type are, by the source's word for it.
fn read_type(word: &str) -> ColumnType {
    let word = word.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    if has(&["timestamp", "datetime"]) {
        ColumnType::Timestamp
    } else if has(&["date"]) {
        ColumnType::Date
    } else if has(&["bool"]) {
        ColumnType::Boolean
    } else if has(&["int", "serial"]) && !has(&["interval", "point"]) {
        ColumnType::Integer
    } else if has(&["numeric", "decimal", "float", "double", "real", "money"]) {
        ColumnType::Float
    } else if has(&["char", "text", "utf8", "string", "clob"]) {
        ColumnType::Text
    } else {
        ColumnType::Other
    }
}
