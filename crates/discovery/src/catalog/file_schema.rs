//! The JSON Schema of a catalog file, for editors. A test compares its keys with those that the parsers of the sections accept.
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

/// Path of the schema relative to the folder of a catalog: in the state folder.
pub const FILE: &str = ".prospector/catalog.schema.json";

/// Returns the schema as JSON.
pub fn text() -> String {
    let schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<CatalogEntries>();
    format!("{}\n", serde_json::to_string_pretty(&schema).unwrap_or_default())
}

/// Writes the schema where the catalogs of a folder refer to it, and returns its path.
///
/// # Errors
/// If the file cannot be written.
pub fn write(folder: &Path) -> std::io::Result<PathBuf> {
    let path = folder.join(FILE);
    if let Some(parent) = path.parent() {
        prospector_state::create_folder(parent)?;
    }
    prospector_state::replace(&path, text().as_bytes())?;
    Ok(path)
}

/// The sources and definitions that planner can use.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "Catalog of planner")]
struct CatalogEntries {
    /// Tabular sources: database servers, data files, schemas.
    databases: Option<Vec<DatabaseEntry>>,
    /// OpenAPI, Swagger and GraphQL descriptions, and MCP tool definitions.
    apis: Option<Vec<ApiEntry>>,
    /// MCP servers: processes, URLs, or the configurations of MCP clients.
    mcp: Option<Vec<McpEntry>>,
    /// Files, folders, web pages and wikis.
    documents: Option<Vec<DocumentEntry>>,
    /// Definitions of terms.
    facts: Option<Vec<FactEntry>>,
    /// Folders of skills (SKILL.md).
    skills: Option<Vec<SkillEntry>>,
    /// Entities: what the rows of a table represent, for metrics.
    entities: Option<Vec<EntityEntry>>,
    /// Joins not declared in any schema, for metrics.
    joins: Option<Vec<JoinEntry>>,
    /// Dimensions: what metrics can be grouped by.
    dimensions: Option<Vec<DimensionEntry>>,
    /// Metrics and how they are computed.
    metrics: Option<Vec<MetricEntry>>,
    /// Named sets of rows of an entity.
    segments: Option<Vec<SegmentEntry>>,
    /// First month of fiscal years, such as april. A fiscal year is named after the calendar year in which it ends.
    #[schemars(extend("enum" = MONTHS))]
    fiscal_year_starts: Option<String>,
    /// Time zone of the days, months and years of metrics, such as Europe/Berlin.
    time_zone: Option<String>,
    /// Verified queries, with the questions that they answer.
    verified_queries: Option<Vec<VerifiedEntry>>,
    /// Tables to include in every prompt.
    context_preload: Option<PreloadEntry>,
    /// Instructions added to every prompt.
    instructions: Option<String>,
    /// Whether clients of a server may run their own queries.
    queries: Option<bool>,
    /// Hosts on your own network that may be contacted.
    fetch: Option<FetchEntry>,
    /// A search engine for terms that the catalog does not define.
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
    /// Name used in questions and plans. Defaults to the name of the file.
    #[schemars(default)]
    name: Option<String>,
    /// A file or a pattern; a pattern without a name creates one database per file.
    #[schemars(default)]
    path: Option<String>,
    /// Or the address of a server: postgres://, mysql://, mariadb://, mongodb://, dynamodb:// or cassandra://. ${NAME} is replaced from the
    /// environment.
    #[schemars(default)]
    url: Option<String>,
    /// Or Elasticsearch or OpenSearch: https://host:9200.
    #[schemars(default)]
    elasticsearch: Option<String>,
    /// Elasticsearch: only these indices.
    #[schemars(default)]
    indices: Option<Vec<String>>,
    /// Elasticsearch: bearer token.
    #[schemars(default)]
    token: Option<String>,
    /// Elasticsearch: API key.
    #[schemars(default)]
    api_key: Option<String>,
    /// Elasticsearch: user, with `password`.
    #[schemars(default)]
    user: Option<String>,
    /// Elasticsearch: password of `user`.
    #[schemars(default)]
    password: Option<String>,
    /// Or a BigQuery project.
    #[schemars(default)]
    bigquery: Option<BigqueryEntry>,
    /// Optional if the extension or the URL determines it.
    #[schemars(default, rename = "type")]
    kind: Option<DatabaseType>,
    /// One or two sentences for the catalog overview shown to models.
    #[schemars(default)]
    description: Option<String>,
    /// JSON file with descriptions of tables and columns.
    #[schemars(default)]
    descriptions: Option<String>,
    /// Only these tables; all others are hidden.
    #[schemars(default)]
    tables: Option<Vec<String>>,
    /// Servers: only these schemas.
    #[schemars(default)]
    schemas: Option<Vec<String>>,
    /// Functions that queries may call in addition to the built-in allow-list.
    #[schemars(default)]
    functions: Option<Vec<String>>,
    /// Which column values are indexed, if any.
    #[schemars(default)]
    values: Option<ValuesEntry>,
    /// Columns with personal data: table.column, *.column or table.*.
    #[schemars(default)]
    personal: Option<Vec<String>>,
    /// CSV files and spreadsheets: a column has a type only if every cell has it. By default, cells that do not have the type of 95 % of
    /// the column are NULL, and reported.
    #[schemars(default)]
    strict: Option<bool>,
}

/// The types of databases.
struct DatabaseType;

/// The types of APIs.
struct ApiType;

/// Implements a schema for a closed set of words.
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
    /// Maximum number of values per column.
    #[schemars(default, range(min = 1, max = 10_000))]
    max_per_column: Option<u32>,
    /// Excluded columns: table.column, *.column or table.*.
    #[schemars(default)]
    skip: Option<Vec<String>>,
}

/// A BigQuery project.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{"required": ["credentials"]}, {"required": ["token"]}]))]
struct BigqueryEntry {
    /// Project that owns the datasets.
    project: String,
    /// Only these datasets.
    #[schemars(default)]
    datasets: Option<Vec<String>>,
    /// Key file of a service account.
    #[schemars(default)]
    credentials: Option<String>,
    /// Or an access token.
    #[schemars(default)]
    token: Option<String>,
    /// Location of the data.
    #[schemars(default)]
    location: Option<String>,
    /// Maximum gigabytes billed per query.
    #[schemars(default)]
    max_gigabytes: Option<f64>,
    /// Endpoint to use instead of Google's.
    #[schemars(default)]
    endpoint: Option<String>,
}

/// One API, or a folder of them.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("anyOf" = [{"required": ["path"]}, {"required": ["url"]}], "dependencies" = {
    "headers": ["invoke"]
}))]
struct ApiEntry {
    /// Name used in plans.
    #[schemars(default)]
    name: Option<String>,
    /// A file, a folder or a pattern: OpenAPI, Swagger, GraphQL, or a list of MCP tools.
    #[schemars(default)]
    path: Option<String>,
    /// With `path`: the base URL of the API. Without it: the URL of the description, or a GraphQL endpoint.
    #[schemars(default)]
    url: Option<String>,
    /// Optional if the description determines it.
    #[schemars(default, rename = "type")]
    kind: Option<ApiType>,
    /// Purpose of the API.
    #[schemars(default)]
    description: Option<String>,
    /// Only these operations.
    #[schemars(default)]
    operations: Option<Vec<String>>,
    /// Read-only operations that are sent as POST, such as searches: names, or patterns with `*`.
    #[schemars(default)]
    reads: Option<Vec<String>>,
    /// Allows models to send GET requests and GraphQL queries: true, or only to these hosts.
    #[schemars(default)]
    invoke: Option<InvokeEntry>,
    /// Headers sent with these calls: Name: value.
    #[schemars(default)]
    headers: Option<Vec<String>>,
}

/// Whether an API may be called.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum InvokeEntry {
    /// The host named in the catalog or the description.
    Anywhere(bool),
    /// Only these hosts.
    Hosts(Vec<String>),
}

/// An MCP server, or the servers configured in an MCP client.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [
    {"required": ["name", "command"]}, {"required": ["name", "url"]}, {"required": ["import"]}
], "dependencies" = {
    "args": ["command"], "env": ["command"], "folder": ["command"], "headers": ["url"], "oauth": ["url"], "servers": ["import"]
}))]
struct McpEntry {
    /// Name used in plans: letters, digits, `_` and `-`.
    #[schemars(default)]
    name: Option<String>,
    /// A program that serves MCP over stdio, optionally with its arguments.
    #[schemars(default)]
    command: Option<CommandEntry>,
    /// Its arguments.
    #[schemars(default)]
    args: Option<Vec<String>>,
    /// Environment variables of the process: NAME to pass on its current value, or NAME=value.
    #[schemars(default)]
    env: Option<Vec<String>>,
    /// Working folder of the process.
    #[schemars(default)]
    folder: Option<String>,
    /// Or a streamable HTTP endpoint.
    #[schemars(default)]
    url: Option<String>,
    /// Headers sent with each request: Name: value.
    #[schemars(default)]
    headers: Option<Vec<String>>,
    /// Sign-in with OAuth, with `planner sources login NAME`.
    #[schemars(default)]
    oauth: Option<OAuthEntry>,
    /// Or the configuration of a client: claude_desktop, claude_code, vscode, cursor, codex or a file.
    #[schemars(default)]
    import: Option<String>,
    /// Import: only these servers, names or patterns.
    #[schemars(default)]
    servers: Option<Vec<String>>,
    /// Purpose of the server.
    #[schemars(default)]
    description: Option<String>,
    /// Only these tools, names or patterns.
    #[schemars(default)]
    tools: Option<Vec<String>>,
    /// Which tools may be called: `read`, true, or names and patterns.
    #[schemars(default)]
    invoke: Option<InvokeTools>,
    /// Timeout of the handshake, a list or a call, in seconds.
    #[schemars(default, range(min = 1, max = 600))]
    timeout: Option<u32>,
}

/// Sign-in with OAuth.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum OAuthEntry {
    /// Whether to sign in, as a client that registers itself.
    Registered(bool),
    /// A client of the provider, or scopes.
    Client(OAuthClient),
}

/// How to sign in with OAuth.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct OAuthClient {
    /// The client that the provider issued; without it, Prospector registers itself.
    #[schemars(default)]
    client_id: Option<String>,
    /// The scopes to request; those that the server names by default.
    #[schemars(default)]
    scopes: Option<Vec<String>>,
}

/// A program, optionally with its arguments.
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
    /// Tools that the server annotates as read-only and that `tools` names.
    Reading(ReadWord),
    /// These tools.
    Names(Vec<String>),
}

/// The word `read`.
struct ReadWord;

/// One or several documents.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [
    {"required": ["path"]}, {"required": ["content", "name"]}, {"required": ["url"]}, {"required": ["confluence"]}
], "dependencies" = {
    "space": ["confluence"], "label": ["confluence"], "user": ["confluence"], "token": ["confluence"]
}))]
struct DocumentEntry {
    /// Name used in plans; for a wiki, the prefix of its pages.
    #[schemars(default)]
    name: Option<String>,
    /// A file, a folder including subfolders, or a pattern.
    #[schemars(default)]
    path: Option<String>,
    /// Or the text itself, in Markdown.
    #[schemars(default)]
    content: Option<String>,
    /// Or the URL of a page.
    #[schemars(default)]
    url: Option<String>,
    /// Or the base URL of a Confluence wiki.
    #[schemars(default)]
    confluence: Option<String>,
    /// Wiki: pages of this space.
    #[schemars(default)]
    space: Option<String>,
    /// Wiki: pages with this label.
    #[schemars(default)]
    label: Option<String>,
    /// Wiki: user of a cloud account.
    #[schemars(default)]
    user: Option<String>,
    /// Wiki: API token of `user`, or a personal access token.
    #[schemars(default)]
    token: Option<String>,
    /// Subject of the document.
    #[schemars(default)]
    description: Option<String>,
    /// Tags in addition to those in the file.
    #[schemars(default)]
    tags: Option<Vec<String>>,
}

/// A definition of a term.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FactEntry {
    /// The term.
    term: String,
    /// Its definition.
    definition: String,
    /// Source of the definition.
    #[schemars(default)]
    source: Option<String>,
    /// Confidence in the definition.
    #[schemars(default, range(min = 0, max = 1))]
    confidence: Option<f64>,
}

/// A folder of skills.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct SkillEntry {
    /// Folder with one subfolder per skill.
    path: String,
}

/// Tables included in every prompt.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum PreloadEntry {
    /// Names: database.table, or patterns with `*`.
    Names(Vec<String>),
    /// The results of a search.
    Seeds(PreloadSettings),
}

/// Which tables a search returns.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct PreloadSettings {
    /// Search queries.
    #[schemars(default)]
    seed_patterns: Option<Vec<String>>,
    /// Minimum relevance.
    #[schemars(default, range(min = 0, max = 1))]
    similarity_threshold: Option<f64>,
    /// Maximum number of tables.
    #[schemars(default, range(min = 1, max = 10_000))]
    max_tables: Option<u32>,
}

/// Hosts that may be contacted.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FetchEntry {
    /// Hosts on your own network: wiki.local, 127.0.0.1:8080.
    #[schemars(default)]
    allow: Option<Vec<String>>,
    /// Whether pages not named in the catalog may be fetched from public hosts.
    #[schemars(default)]
    public: Option<bool>,
}

/// A search engine.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct WebSearchEntry {
    /// The search page of a SearXNG server.
    url: String,
    /// Bearer token.
    #[schemars(default)]
    token: Option<String>,
}

#[cfg(test)]
mod tests;
