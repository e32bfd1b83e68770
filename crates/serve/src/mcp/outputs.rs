//! What each tool answers, as a JSON Schema. An answer is always an object: a list stands in `items`.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// What stands beside the fields of an answer, where there is something to be said about it.
const BESIDE: &str = "truncated:boolean total:integer next:string note:string nearest:array left_out:array handle:string error:string \
     message:string suggestion:string";

/// What a tool answers.
enum Shape {
    /// A list of things with these fields.
    Items(&'static str),
    /// One thing with these fields.
    Fields(&'static str),
    /// A list, or one thing with these fields, by what is asked for.
    Either(&'static str),
}

use Shape::{Either, Fields, Items};

/// Every tool of every profile, in the order of their names. A field without a type may hold anything.
const OUTPUTS: &[(&str, Shape)] = &[
    ("add_fact", Fields("term:string definition:string pending:boolean replaced:string answers:array")),
    (
        "ask",
        Fields(
            "question:string mode:string model:string answer:string best_effort:boolean classification:string \
             questions:array premises:array clarifications:array thinking:array tracing:object follow_ups:array \
             metrics:object ended:string",
        ),
    ),
    ("describe", Items("kind:string id:string answer error:string message:string suggestion:string")),
    ("extract_facts_from_text", Items("term:string definition:string")),
    ("fetch", Fields("page:integer pages:integer text:string question:string plan:object state:string")),
    ("get_document", Fields("name:string content:string format:string last_updated:string")),
    ("get_document_section", Fields("name:string section:string content:string")),
    (
        "get_operation_details",
        Fields(
            "api:string operation:string type:string method:string path:string parameters request_body response_schema \
             auth",
        ),
    ),
    ("get_sample_values", Fields("database:string table:string column:string values:array distinct complete:boolean")),
    (
        "get_skill",
        Fields(
            "name:string description:string content:string allowed_tools:array missing_tools:array references:object \
             left_out:object",
        ),
    ),
    ("get_table_relationships", Fields("references:array referenced_by:array join_path")),
    (
        "get_table_schema",
        Fields("database:string table:string description:string row_count columns:array sample_values"),
    ),
    ("get_unresolved_facts", Items("question:string")),
    (
        "list",
        Either("databases apis documents skills facts document:string sections references:array referenced_by:array"),
    ),
    ("list_api_operations", Items("name:string type:string method:string path:string description:string")),
    ("list_apis", Items("name:string type:string url:string description:string operations:integer")),
    ("list_databases", Items("name:string type:string description:string tables:integer")),
    ("list_documents", Items("name:string type:string format:string description:string tags:array sections")),
    (
        "list_known_facts",
        Items("term:string definition:string source:string confidence:number said_by:string pending:boolean"),
    ),
    ("list_skill_links", Fields("skill:string links:array")),
    ("list_skills", Items("name:string description:string path:string allowed_tools:array")),
    ("list_tables", Items("name:string row_count description:string")),
    (
        "plan",
        Fields(
            "question:string mode:string model:string reasoning:string discovered_context:object plan:object \
             clarifications:array verification:object metrics:object ended:string",
        ),
    ),
    ("resolve_fact", Either("question:string answer confidence:number sources:array needs_clarification:boolean")),
    ("resolve_skill_link", Fields("skill:string target:string content:string")),
    ("sample", Fields("database:string table:string column:string values:array distinct complete:boolean")),
    (
        "search",
        Items(
            "kind:string id:string relevance:number description:string database:string table:string api:string \
             operation:string document:string section:string name:string excerpt:string joins:array",
        ),
    ),
    ("search_documents", Items("document:string section:string excerpt:string relevance:number")),
    ("search_operations", Items("api:string operation:string relevance:number description:string")),
    ("search_skills", Items("name:string relevance:number description:string")),
    ("search_tables", Items("database:string table:string relevance:number description:string joins:array")),
];

/// The schema of what a tool answers; of one that is not known here, that it is an object.
pub(super) fn schema(tool: &str) -> JsonObject {
    let mut properties = fields(BESIDE);
    let items = |names: &str| json!({"type": "array", "items": {"type": "object", "properties": fields(names)}});
    match OUTPUTS.iter().find(|(name, _)| *name == tool).map(|(_, shape)| shape) {
        Some(Items(names)) => {
            properties.insert("items".into(), items(names));
        }
        Some(Fields(names)) => properties.extend(fields(names)),
        Some(Either(names)) => {
            properties.insert("items".into(), json!({"type": "array"}));
            properties.extend(fields(names));
        }
        None => {}
    }
    let mut schema = JsonObject::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    schema
}

fn fields(names: &str) -> JsonObject {
    let mut properties = JsonObject::new();
    for name in names.split_whitespace() {
        let (name, schema) = match name.split_once(':') {
            Some((name, kind)) => (name, json!({"type": kind})),
            None => (name, json!({})),
        };
        properties.insert(name.to_owned(), schema);
    }
    properties
}

/// An answer as an object.
pub(super) fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        Value::Array(items) => [("items".to_owned(), Value::Array(items))].into_iter().collect(),
        other => [("value".to_owned(), other)].into_iter().collect(),
    }
}

/// The names of the tools whose answers are known.
#[cfg(test)]
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    OUTPUTS.iter().map(|(name, _)| *name)
}
