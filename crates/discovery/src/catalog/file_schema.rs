//! The JSON Schema of a catalog file, for editors: made of types that say what the readers of the sections take. A test holds
//! the keys of both against each other, so that a new key is in both or in neither.
#![allow(dead_code, reason = "the types are read by schemars alone")]

mod meaning;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use prospector_api::ApiKind;
use prospector_connect::source::SourceKind;
use prospector_text::periods::MONTHS;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};

use meaning::{DimensionEntry, EntityEntry, JoinEntry, MetricEntry, SegmentEntry, VerifiedEntry};

/// Where the schema is written, from the folder of a catalog: in the state folder.
pub const FILE: &str = ".prospector/catalog.schema.json";

/// The schema as JSON.
pub fn text() -> String {
    let schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<CatalogEntries>();
    format!("{}\n", serde_json::to_string_pretty(&schema).unwrap_or_default())
}

/// Writes the schema where the catalogs of a folder look for it, and says where that is.
///
/// # Errors
/// When it cannot be written.
pub fn write(folder: &Path) -> std::io::Result<PathBuf> {
    let path = folder.join(FILE);
    if let Some(parent) = path.parent() {
        prospector_state::create_folder(parent)?;
    }
    prospector_state::replace(&path, text().as_bytes())?;
    Ok(path)
}

/// What planner may discover.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "Catalog of planner")]
struct CatalogEntries {
    /// Whatever has tables with columns: servers, files, schemas.
    databases: Option<Vec<DatabaseEntry>>,
    /// OpenAPI, Swagger and GraphQL descriptions, and definitions of MCP tools.
    apis: Option<Vec<ApiEntry>>,
    /// MCP servers: processes, URLs, or the configurations of MCP clients.
    mcp: Option<Vec<McpEntry>>,
    /// Files, folders, web pages and wikis.
    documents: Option<Vec<DocumentEntry>>,
    /// Single definitions.
    facts: Option<Vec<FactEntry>>,
    /// Folders with a SKILL.md.
    skills: Option<Vec<SkillEntry>>,
    /// What rows of tables are, for metrics.
    entities: Option<Vec<EntityEntry>>,
    /// Joins that no schema declares, for metrics.
    joins: Option<Vec<JoinEntry>>,
    /// What metrics are told by.
    dimensions: Option<Vec<DimensionEntry>>,
    /// Figures, and how they are computed.
    metrics: Option<Vec<MetricEntry>>,
    /// Named sets of the rows of an entity.
    segments: Option<Vec<SegmentEntry>>,
    /// The month that fiscal years begin with, such as april. Each is called by the year in which it ends.
    #[schemars(extend("enum" = MONTHS))]
    fiscal_year_starts: Option<String>,
    /// The zone that days, months and years of metrics are of, such as Europe/Berlin.
    time_zone: Option<String>,
    /// Queries that somebody has checked, with the questions that they answer.
    verified_queries: Option<Vec<VerifiedEntry>>,
    /// Tables that are worth having in every prompt.
    context_preload: Option<PreloadEntry>,
    /// A text that every model is told.
    instructions: Option<String>,
    /// Whether clients of a server may run queries of their own.
    queries: Option<bool>,
    /// Hosts on your own network that may be asked.
    fetch: Option<FetchEntry>,
    /// A search engine for facts that nothing in the catalog holds.
    web_search: Option<WebSearchEntry>,
}

/// One database: a file, a server or a service.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [
    {"required": ["path"]}, {"required": ["url"]}, {"required": ["elasticsearch"]}, {"required": ["bigquery"]}
], "dependencies" = {
    "schemas": ["url"], "indices": ["elasticsearch"], "token": ["elasticsearch"], "api_key": ["elasticsearch"],
    "user": ["elasticsearch", "password"], "password": ["elasticsearch", "user"]
}))]
struct DatabaseEntry {
    /// How questions and plans call it. May be left out for a file, whose name it then has.
    #[schemars(default)]
    name: Option<String>,
    /// A file or a pattern; a pattern without a name makes one database of each file.
    #[schemars(default)]
    path: Option<String>,
    /// Or the address of a server: postgres://, mysql://, mariadb://, mongodb://, dynamodb:// or cassandra://. ${NAME} is
    /// taken from the environment.
    #[schemars(default)]
    url: Option<String>,
    /// Or Elasticsearch or OpenSearch: https://host:9200.
    #[schemars(default)]
    elasticsearch: Option<String>,
    /// Of Elasticsearch: only these indices.
    #[schemars(default)]
    indices: Option<Vec<String>>,
    /// Of Elasticsearch: what lets one in.
    #[schemars(default)]
    token: Option<String>,
    /// Of Elasticsearch: what lets one in.
    #[schemars(default)]
    api_key: Option<String>,
    /// Of Elasticsearch: who asks, with `password`.
    #[schemars(default)]
    user: Option<String>,
    /// Of Elasticsearch: the password of `user`.
    #[schemars(default)]
    password: Option<String>,
    /// Or a project of BigQuery.
    #[schemars(default)]
    bigquery: Option<BigqueryEntry>,
    /// May be left out where the extension or the URL tells.
    #[schemars(default, rename = "type")]
    kind: Option<DatabaseType>,
    /// One or two sentences that a model reads in the map of what exists.
    #[schemars(default)]
    description: Option<String>,
    /// A JSON file that describes tables and columns.
    #[schemars(default)]
    descriptions: Option<String>,
    /// Only these tables; all others are treated as if they did not exist.
    #[schemars(default)]
    tables: Option<Vec<String>>,
    /// Of a server: only these schemas.
    #[schemars(default)]
    schemas: Option<Vec<String>>,
    /// Functions that queries may call, besides those that only compute.
    #[schemars(default)]
    functions: Option<Vec<String>>,
    /// Whether and which values of columns are indexed.
    #[schemars(default)]
    values: Option<ValuesEntry>,
    /// Columns whose values are about persons: table.column, *.column or table.*.
    #[schemars(default)]
    personal: Option<Vec<String>>,
    /// Of CSV files and spreadsheets: a column has a type only if every cell of it has. Without it, cells that are not of the type of
    /// 95 % of the column are NULL, and reported.
    #[schemars(default)]
    strict: Option<bool>,
}

/// The types of databases.
struct DatabaseType;

/// The types of APIs.
struct ApiType;

/// A schema of its own for a closed set, whose words stand where the set does.
macro_rules! words {
    ($name:ident, $words:expr) => {
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "enum": $words})
            }
        }
    };
}

words!(DatabaseType, SourceKind::ALL.map(|kind| kind.as_str()));
words!(ReadWord, ["read"]);
words!(ApiType, ApiKind::ALL.map(|kind| kind.as_str()));

/// Which values are indexed.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum ValuesEntry {
    /// All or none.
    All(bool),
    /// Some.
    Some(ValuesSettings),
}

/// Which values are indexed.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ValuesSettings {
    /// At most so many of a column.
    #[schemars(default, range(min = 1, max = 10_000))]
    max_per_column: Option<u32>,
    /// Not those of these columns: table.column, *.column or table.*.
    #[schemars(default)]
    skip: Option<Vec<String>>,
}

/// A project of BigQuery.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{"required": ["credentials"]}, {"required": ["token"]}]))]
struct BigqueryEntry {
    /// Whose data sets they are.
    project: String,
    /// Only these.
    #[schemars(default)]
    datasets: Option<Vec<String>>,
    /// The key file of a service account.
    #[schemars(default)]
    credentials: Option<String>,
    /// Or a token.
    #[schemars(default)]
    token: Option<String>,
    /// Where the data is.
    #[schemars(default)]
    location: Option<String>,
    /// What one query may be billed for.
    #[schemars(default)]
    max_gigabytes: Option<f64>,
    /// Another address than Google's.
    #[schemars(default)]
    endpoint: Option<String>,
}

/// One API, or a folder of them.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("anyOf" = [{"required": ["path"]}, {"required": ["url"]}], "dependencies" = {
    "headers": ["invoke"]
}))]
struct ApiEntry {
    /// How plans call it.
    #[schemars(default)]
    name: Option<String>,
    /// A file, a folder or a pattern: OpenAPI, Swagger, GraphQL, or a list of MCP tools.
    #[schemars(default)]
    path: Option<String>,
    /// With `path`: where the API is served. Without it: the description itself, or a GraphQL endpoint.
    #[schemars(default)]
    url: Option<String>,
    /// May be left out where the description tells.
    #[schemars(default, rename = "type")]
    kind: Option<ApiType>,
    /// What it is for.
    #[schemars(default)]
    description: Option<String>,
    /// Only these operations.
    #[schemars(default)]
    operations: Option<Vec<String>>,
    /// Operations that change nothing although they are sent as POST, such as searches: names, or patterns with `*`.
    #[schemars(default)]
    reads: Option<Vec<String>>,
    /// Lets a model send GET requests and GraphQL queries: true, or to these hosts only.
    #[schemars(default)]
    invoke: Option<InvokeEntry>,
    /// Sent with these calls: Name: value.
    #[schemars(default)]
    headers: Option<Vec<String>>,
}

/// Whether an API may be called.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum InvokeEntry {
    /// Where the catalog or the description says that it is served.
    Anywhere(bool),
    /// These hosts.
    Hosts(Vec<String>),
}

/// An MCP server, or those of a client.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [
    {"required": ["name", "command"]}, {"required": ["name", "url"]}, {"required": ["import"]}
], "dependencies" = {
    "args": ["command"], "env": ["command"], "folder": ["command"], "headers": ["url"], "servers": ["import"]
}))]
struct McpEntry {
    /// How plans call it: letters, digits, `_` and `-`.
    #[schemars(default)]
    name: Option<String>,
    /// A program that speaks MCP over its standard input and output, with or without its arguments.
    #[schemars(default)]
    command: Option<CommandEntry>,
    /// Its arguments.
    #[schemars(default)]
    args: Option<Vec<String>>,
    /// Environment variables of the process: NAME for the value here, or NAME=value.
    #[schemars(default)]
    env: Option<Vec<String>>,
    /// Its working folder.
    #[schemars(default)]
    folder: Option<String>,
    /// Or an endpoint of streamable HTTP.
    #[schemars(default)]
    url: Option<String>,
    /// Sent with each request: Name: value.
    #[schemars(default)]
    headers: Option<Vec<String>>,
    /// Or the configuration of a client: claude_desktop, claude_code, vscode, cursor, codex or a file.
    #[schemars(default)]
    import: Option<String>,
    /// Of an import: only these servers, names or patterns.
    #[schemars(default)]
    servers: Option<Vec<String>>,
    /// What it is for.
    #[schemars(default)]
    description: Option<String>,
    /// Only these tools, names or patterns.
    #[schemars(default)]
    tools: Option<Vec<String>>,
    /// Which tools may be called: `read`, true, or names and patterns.
    #[schemars(default)]
    invoke: Option<InvokeTools>,
    /// Seconds that the handshake, a list or a call may take.
    #[schemars(default, range(min = 1, max = 600))]
    timeout: Option<u32>,
}

/// A program, alone or with its arguments.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum CommandEntry {
    /// The program.
    Program(String),
    /// The program and its arguments.
    Words(Vec<String>),
}

/// Which tools may be called.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum InvokeTools {
    /// All of them, or none.
    All(bool),
    /// Those that the server annotates as read-only and `tools` names.
    Reading(ReadWord),
    /// These.
    Names(Vec<String>),
}

/// The word `read`.
struct ReadWord;

/// A document, or many.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [
    {"required": ["path"]}, {"required": ["content", "name"]}, {"required": ["url"]}, {"required": ["confluence"]}
], "dependencies" = {
    "space": ["confluence"], "label": ["confluence"], "user": ["confluence"], "token": ["confluence"]
}))]
struct DocumentEntry {
    /// How plans call it; of a wiki what stands in front of each page.
    #[schemars(default)]
    name: Option<String>,
    /// A file, a folder with all below it, or a pattern.
    #[schemars(default)]
    path: Option<String>,
    /// Or the text itself, in Markdown.
    #[schemars(default)]
    content: Option<String>,
    /// Or a page of a server.
    #[schemars(default)]
    url: Option<String>,
    /// Or a wiki: its address.
    #[schemars(default)]
    confluence: Option<String>,
    /// Of a wiki: the pages of this space.
    #[schemars(default)]
    space: Option<String>,
    /// Of a wiki: the pages with this label.
    #[schemars(default)]
    label: Option<String>,
    /// Of a wiki: who asks.
    #[schemars(default)]
    user: Option<String>,
    /// Of a wiki: what lets one in.
    #[schemars(default)]
    token: Option<String>,
    /// What it is about.
    #[schemars(default)]
    description: Option<String>,
    /// Added to those in the file.
    #[schemars(default)]
    tags: Option<Vec<String>>,
}

/// A definition.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FactEntry {
    /// What is defined.
    term: String,
    /// What it means.
    definition: String,
    /// Who says so.
    #[schemars(default)]
    source: Option<String>,
    /// How sure it is.
    #[schemars(default, range(min = 0, max = 1))]
    confidence: Option<f64>,
}

/// A folder of skills.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct SkillEntry {
    /// The folder, with one folder a skill.
    path: String,
}

/// Tables that are pinned.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum PreloadEntry {
    /// These: database.table, or patterns with `*`.
    Names(Vec<String>),
    /// Those that a search finds.
    Seeds(PreloadSettings),
}

/// Which tables a search finds.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct PreloadSettings {
    /// Words to search for.
    #[schemars(default)]
    seed_patterns: Option<Vec<String>>,
    /// The least relevance.
    #[schemars(default, range(min = 0, max = 1))]
    similarity_threshold: Option<f64>,
    /// At most so many tables.
    #[schemars(default, range(min = 1, max = 10_000))]
    max_tables: Option<u32>,
}

/// Which hosts may be asked.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FetchEntry {
    /// Hosts on your own network: wiki.local, 127.0.0.1:8080.
    #[schemars(default)]
    allow: Option<Vec<String>>,
    /// Whether a page that nobody named here may be fetched from any public host.
    #[schemars(default)]
    public: Option<bool>,
}

/// A search engine.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct WebSearchEntry {
    /// The search page of a SearXNG server.
    url: String,
    /// What lets one in.
    #[schemars(default)]
    token: Option<String>,
}

#[cfg(test)]
mod tests;
