//! Converts records to a catalog, as the planner needs tools. Tables become DDL with descriptions, operations an
//! OpenAPI document per API; other records are unsupported.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    error::{BenchError, LineError},
    jsonl::{lines, read_text},
};

/// A table or operation as described in [`super`], with additional fields for catalogs.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Table(TableLine),
    Operation(OperationLine),
}

#[derive(Deserialize)]
struct TableLine {
    db: String,
    table: String,
    description: Option<String>,
    name_nl: Option<String>,
    columns: Vec<ColumnLine>,
    #[serde(default)]
    primary_key: Vec<String>,
    #[serde(default)]
    foreign_keys: Vec<KeyLine>,
}

#[derive(Deserialize)]
struct ColumnLine {
    name: String,
    r#type: Option<String>,
    name_nl: Option<String>,
    description: Option<String>,
    value_description: Option<String>,
}

#[derive(Deserialize)]
struct KeyLine {
    column: String,
    ref_table: String,
    ref_column: String,
}

#[derive(Deserialize)]
struct OperationLine {
    api: String,
    method: String,
    path: String,
    #[serde(rename = "operationId")]
    operation_id: Option<String>,
    summary: Option<String>,
    description: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    parameters: Vec<ParameterLine>,
}

#[derive(Deserialize)]
struct ParameterLine {
    name: String,
    r#in: Option<String>,
    description: Option<String>,
}

/// Writes a catalog with the records of a file into a folder; returns the catalog file.
pub(crate) fn write_catalog(records: &Path, folder: &Path) -> Result<PathBuf, BenchError> {
    let text = read_text(records, "records")?;
    let mut databases: BTreeMap<String, Vec<TableLine>> = BTreeMap::new();
    let mut apis: BTreeMap<String, Vec<OperationLine>> = BTreeMap::new();
    for (line, text) in lines(&text) {
        let at = |fault| BenchError::Line { path: records.to_owned(), line, fault };
        let value: Value = serde_json::from_str(text).map_err(|error| at(LineError::Json(error)))?;
        match serde_json::from_value(value) {
            Ok(Line::Table(table)) => databases.entry(table.db.clone()).or_default().push(table),
            Ok(Line::Operation(operation)) => apis.entry(operation.api.clone()).or_default().push(operation),
            Err(_) => return Err(at(LineError::NotInCatalogs)),
        }
    }
    if databases.is_empty() && apis.is_empty() {
        return Err(BenchError::Empty { what: "records", path: records.to_owned() });
    }
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|source| BenchError::Write { what: "", path, source })
    };
    // JSON is valid YAML.
    let mut catalog = json!({"databases": [], "apis": []});
    for (at, (name, tables)) in databases.iter().enumerate() {
        let (ddl, descriptions) = (format!("database_{at}.sql"), format!("database_{at}.json"));
        put(&ddl, &tables.iter().map(create_table).collect::<String>())?;
        put(&descriptions, &Value::Object(tables.iter().map(describe).collect()).to_string())?;
        let entry = json!({"name": name, "type": "ddl", "path": ddl, "descriptions": descriptions});
        catalog["databases"].as_array_mut().into_iter().for_each(|list| list.push(entry.clone()));
    }
    for (at, (name, operations)) in apis.iter().enumerate() {
        let file = format!("api_{at}.json");
        put(&file, &openapi(name, operations).to_string())?;
        let entry = json!({"name": name, "type": "openapi", "path": file});
        catalog["apis"].as_array_mut().into_iter().for_each(|list| list.push(entry.clone()));
    }
    put("catalog.yaml", &catalog.to_string())?;
    Ok(folder.join("catalog.yaml"))
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', ""))
}

fn create_table(table: &TableLine) -> String {
    let mut parts: Vec<String> = (table.columns.iter())
        .map(|column| format!("{} {}", quote(&column.name), column.r#type.as_deref().unwrap_or("text")))
        .collect();
    if !table.primary_key.is_empty() {
        let names: Vec<String> = table.primary_key.iter().map(|name| quote(name)).collect();
        parts.push(format!("PRIMARY KEY ({})", names.join(", ")));
    }
    parts.extend(table.foreign_keys.iter().map(|key| {
        let (column, table, to) = (quote(&key.column), quote(&key.ref_table), quote(&key.ref_column));
        format!("FOREIGN KEY ({column}) REFERENCES {table} ({to})")
    }));
    format!("CREATE TABLE {} (\n  {}\n);\n", quote(&table.table), parts.join(",\n  "))
}

/// Renders a table in the format of `descriptions` files.
fn describe(table: &TableLine) -> (String, Value) {
    let fields = |pairs: [(&str, &Option<String>); 3]| -> Map<String, Value> {
        let said =
            pairs.into_iter().filter_map(|(key, text)| Some((key, text.as_deref().filter(|text| !text.is_empty())?)));
        said.map(|(key, text)| (key.to_owned(), json!(text))).collect()
    };
    let columns: Map<String, Value> = (table.columns.iter())
        .map(|column| {
            let said = fields([
                ("name", &column.name_nl),
                ("description", &column.description),
                ("value_description", &column.value_description),
            ]);
            (column.name.clone(), Value::Object(said))
        })
        .collect();
    let mut said = fields([("name", &table.name_nl), ("description", &table.description), ("", &None)]);
    said.insert("columns".into(), Value::Object(columns));
    (table.table.clone(), Value::Object(said))
}

fn openapi(name: &str, operations: &[OperationLine]) -> Value {
    let mut paths = Map::new();
    for one in operations {
        let parameters: Vec<Value> = (one.parameters.iter())
            .filter_map(|parameter| {
                let place = parameter.r#in.as_deref().unwrap_or("query");
                let place = Some(place).filter(|place| ["path", "query", "header", "cookie"].contains(place))?;
                Some(json!({"name": parameter.name, "in": place, "required": place == "path",
                            "description": parameter.description.as_deref().unwrap_or_default(),
                            "schema": {"type": "string"}}))
            })
            .collect();
        let mut operation = json!({"tags": one.tags, "parameters": parameters, "responses": {}});
        let texts = [("operationId", &one.operation_id), ("summary", &one.summary), ("description", &one.description)];
        for (key, text) in texts.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?))) {
            operation[key] = json!(text);
        }
        let path = paths.entry(one.path.clone()).or_insert_with(|| json!({}));
        path[one.method.to_lowercase()] = operation;
    }
    json!({"openapi": "3.0.0", "info": {"title": name, "version": "1"}, "paths": paths})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_becomes_ddl_with_its_keys() {
        let line = r#"{"id": "shop.orders", "db": "shop", "table": "orders", "columns": [{"name": "id", "type": "number"},
            {"name": "cust_id"}], "primary_key": ["id"], "foreign_keys": [{"column": "cust_id", "ref_table": "customers",
            "ref_column": "id"}]}"#;
        let table: TableLine = serde_json::from_str(line).unwrap();
        assert_eq!(
            create_table(&table),
            "CREATE TABLE \"orders\" (\n  \"id\" number,\n  \"cust_id\" text,\n  PRIMARY KEY (\"id\"),\n  \
             FOREIGN KEY (\"cust_id\") REFERENCES \"customers\" (\"id\")\n);\n"
        );
    }
}
