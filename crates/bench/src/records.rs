//! Records from a file instead of a catalog, to measure the ranking independently of the sources: one JSON object per
//! line, in one of these layouts; unknown keys are ignored.
//!
//! ```text
//! {"id", "db", "table", "columns": [{"name", "name_nl"?, "description"?, "value_description"?}], "name_nl"?, "description"?}
//! {"id", "api", "method", "path", "operationId"?, "summary"?, "description"?, "tags"?, "parameters"?: [{"name", "description"?}]}
//! {"id", "server", "tool", "description"?, "inputSchema"}                  a tool of an MCP server
//! {"id", "name"?, "description"?, "body"?}                                  a skill
//! {"kind", "id", "name", ...}                                              a record as it is indexed
//! ```

mod tools;

use std::path::Path;

use prospector_core::Kind;
use prospector_core::name::normalize;
use prospector_core::record::Record;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    error::{BenchError, LineError},
    jsonl,
};
pub(crate) use tools::Definition;
use tools::ToolLine;

#[derive(Deserialize)]
struct TableLine {
    id: String,
    db: String,
    table: String,
    name_nl: Option<String>,
    description: Option<String>,
    columns: Vec<ColumnLine>,
}

#[derive(Deserialize)]
struct ColumnLine {
    name: String,
    name_nl: Option<String>,
    description: Option<String>,
    value_description: Option<String>,
}

#[derive(Deserialize)]
struct OperationLine {
    id: String,
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
    description: Option<String>,
}

#[derive(Deserialize)]
struct SkillLine {
    id: String,
    name: Option<String>,
    description: Option<String>,
    body: Option<String>,
}

/// Reads the records of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<Record>, BenchError> {
    jsonl::read(path, "records", parse)
}

/// A line that describes a tool or operation.
#[derive(Debug, Clone)]
pub(crate) struct ToolRecord {
    /// Its index record.
    pub(crate) record: Record,
    /// Its definition for a model.
    pub(crate) definition: Definition,
}

/// Reads the tools and operations of a file.
pub(crate) fn read_tools(path: &Path) -> Result<Vec<ToolRecord>, BenchError> {
    jsonl::read(path, "records", parse_tool)
}

fn parse_tool(line: &str) -> Result<ToolRecord, LineError> {
    let value: Value = serde_json::from_str(line).map_err(LineError::Json)?;
    if value.get("inputSchema").is_some() {
        let line: ToolLine = from_value(value, "tool")?;
        Ok(ToolRecord { definition: line.definition(), record: line.record() })
    } else if value.get("method").is_some() {
        let line: OperationLine = from_value(value, "operation")?;
        Ok(ToolRecord { definition: line.definition(), record: operation(line) })
    } else {
        Err(LineError::NotATool)
    }
}

fn parse(line: &str) -> Result<Record, LineError> {
    let value: Value = serde_json::from_str(line).map_err(LineError::Json)?;
    let has = |key: &str| value.get(key).is_some();
    if has("columns") {
        from_value::<TableLine>(value, "table").map(table)
    } else if has("method") {
        from_value::<OperationLine>(value, "operation").map(operation)
    } else if has("inputSchema") {
        from_value::<ToolLine>(value, "tool").map(ToolLine::record)
    } else if has("kind") {
        from_value::<Record>(value, "record")
    } else {
        from_value::<SkillLine>(value, "skill").map(skill)
    }
}

fn from_value<T: DeserializeOwned>(value: Value, what: &'static str) -> Result<T, LineError> {
    serde_json::from_value(value).map_err(|source| LineError::Shape { what, source })
}

fn table(line: TableLine) -> Record {
    let mut record = Record::new(Kind::Table, line.id, &line.table);
    record.parent = line.db;
    record.description = describe(&line.table, line.name_nl.as_deref(), line.description.as_deref());
    record.members = join_nonempty(line.columns.iter().map(|column| column.name.as_str()), " ");
    let columns: Vec<String> = (line.columns.iter())
        .map(|column| {
            let said = describe(&column.name, column.name_nl.as_deref(), column.description.as_deref());
            join_nonempty([said.as_str(), column.value_description.as_deref().unwrap_or_default()], " ")
        })
        .collect();
    record.body = join_nonempty(columns.iter().map(String::as_str), "\n");
    record
}

/// Returns the natural name, if it is more informative than the identifier, and the description.
fn describe(name: &str, natural: Option<&str>, description: Option<&str>) -> String {
    let natural = natural.filter(|natural| normalize(natural) != normalize(name)).unwrap_or_default();
    join_nonempty([natural, description.unwrap_or_default()], ": ")
}

impl OperationLine {
    fn route(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Returns the operation id, otherwise the route.
    fn name(&self) -> String {
        self.operation_id.clone().filter(|id| !id.is_empty()).unwrap_or_else(|| self.route())
    }

    /// Returns the summary, unless the description starts with it, and the description.
    fn describe(&self) -> String {
        let summary = self.summary.as_deref().unwrap_or_default();
        let description = self.description.as_deref().unwrap_or_default();
        let stem = summary.trim().trim_end_matches('.');
        match description.to_lowercase().starts_with(&stem.to_lowercase()) {
            true => description.to_owned(),
            false => join_nonempty([stem, description.trim()], ". "),
        }
    }
}

fn operation(line: OperationLine) -> Record {
    let mut record = Record::new(Kind::Operation, &line.id, line.name());
    record.aliases = vec![line.route(), format!("{} {}", line.api, line.route())];
    record.description = line.describe();
    let parameters: Vec<String> = (line.parameters.iter())
        .map(|parameter| {
            join_nonempty([parameter.name.as_str(), parameter.description.as_deref().unwrap_or_default()], " ")
        })
        .collect();
    record.body = join_nonempty(line.tags.iter().chain(&parameters).map(String::as_str), "\n");
    record.parent = line.api;
    record
}

fn skill(line: SkillLine) -> Record {
    let last = line.id.rsplit('/').next().unwrap_or(&line.id).to_owned();
    let mut record = Record::new(Kind::Skill, &line.id, line.name.filter(|name| !name.is_empty()).unwrap_or(last));
    record.description = line.description.unwrap_or_default();
    record.body = line.body.unwrap_or_default();
    record
}

fn join_nonempty<'a>(parts: impl IntoIterator<Item = &'a str>, between: &str) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<Value, &str>) {
        let found = parse(line).map(|record| serde_json::to_value(record).unwrap()).map_err(|fault| fault.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{line}");
    }

    #[test]
    fn reads_a_table_with_columns() {
        check(
            r#"{"id": "shop.Cust", "db": "shop", "table": "Cust", "name_nl": "customers", "columns":
                [{"name": "Cust_ID", "name_nl": "cust id"}, {"name": "cty", "name_nl": "city", "description": "of birth",
                  "value_description": "upper case"}]}"#,
            Ok(serde_json::json!({"id": "shop.Cust", "kind": "table", "parent": "shop", "name": "Cust",
                "description": "customers", "members": "Cust_ID cty", "body": "city: of birth upper case"})),
        );
    }

    #[test]
    fn reads_an_operation_with_its_route() {
        check(
            r#"{"id": "shop GET /o", "api": "shop", "method": "GET", "path": "/o", "operationId": null, "summary": "Orders.",
                "description": "All of them.", "tags": ["Sales"], "parameters": [{"name": "page"}]}"#,
            Ok(serde_json::json!({"id": "shop GET /o", "kind": "operation", "parent": "shop", "name": "GET /o",
                "aliases": ["GET /o", "shop GET /o"], "description": "Orders. All of them.", "body": "Sales\npage"})),
        );
    }

    #[test]
    fn reads_a_tool_with_its_parameters() {
        check(
            r#"{"id": "git.log", "server": "git", "tool": "log", "description": "Lists commits.", "inputSchema": {"type":
                "object", "properties": {"path": {"type": "string", "description": "A file"}, "limit": {}}}}"#,
            Ok(serde_json::json!({"id": "git.log", "kind": "operation", "parent": "git", "name": "log",
                "aliases": ["git log"], "description": "Lists commits.", "body": "path A file\nlimit"})),
        );
        check(r#"{"id": "git.log", "tool": "log", "inputSchema": {}}"#, Err("not a tool: missing field `server`"));
    }

    #[test]
    fn an_operation_has_the_definition_of_a_tool() {
        let line = r#"{"id": "shop GET /o", "api": "shop", "method": "GET", "path": "/o", "operationId": "", "summary": "Orders.",
            "parameters": [{"name": "page"}]}"#;
        let schema =
            serde_json::json!({"type": "object", "properties": {"page": {"type": "string", "description": ""}}});
        assert_eq!(
            parse_tool(line).unwrap().definition,
            Definition {
                server: "shop".into(),
                tool: "GET /o".into(),
                description: "Orders".into(),
                input_schema: schema
            }
        );
        assert!(parse_tool(r#"{"id": "pdf"}"#).unwrap_err().to_string().starts_with("neither a tool"));
    }

    #[test]
    fn reads_skills_and_records() {
        let skill = serde_json::json!({"id": "owner/pdf", "kind": "skill", "name": "pdf", "description": "Reads PDF"});
        check(r#"{"id": "owner/pdf", "name": null, "description": "Reads PDF"}"#, Ok(skill.clone()));
        check(&skill.to_string(), Ok(skill));
    }

    #[test]
    fn rejects_unknown_record_layouts() {
        check("{", Err("EOF while parsing an object (column 1)"));
        check(r#"{"name": "x"}"#, Err("not a skill: missing field `id`"));
        check(r#"{"id": "x", "columns": 3}"#, Err("not a table: invalid type: integer `3`, expected a sequence"));
        check(
            r#"{"id": "x", "kind": "view"}"#,
            Err(
                "not a record: unknown variant `view`, expected one of `table`, `operation`, `document`, `fact`, `skill`, `metric`, `query`",
            ),
        );
    }
}
