//! The entries of a catalog file, as they are written: the types that they are parsed into, and their JSON Schema, which editors and the
//! parser use.

mod meaning;

use std::{
    any::TypeId,
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use prospector_api::ApiKind;
use prospector_connect::source::SourceKind;
use prospector_schema::values::MAX_VALUES;
use prospector_text::periods::MONTHS;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) use meaning::{
    DimensionEntry, EntityEntry, JoinEntry, MetricEntry, SegmentEntry, StoredIn, Texts, list_texts,
};

/// Path of the schema relative to the folder of a catalog: in the state folder.
pub const FILE: &str = ".prospector/catalog.schema.json";

/// Returns the schema as JSON.
pub fn text() -> String {
    let schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<CatalogEntries>();
    format!("{}\n", serde_json::to_string_pretty(&schema).unwrap_or_default())
}

/// Returns the schema of a type of entry, without references.
pub(super) fn schema_of<T: JsonSchema + 'static>() -> Arc<Value> {
    static KNOWN: LazyLock<Mutex<HashMap<TypeId, Arc<Value>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let generate = || {
        let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
        Arc::new(settings.into_generator().into_root_schema_for::<T>().to_value())
    };
    known.entry(TypeId::of::<T>()).or_insert_with(generate).clone()
}

/// Returns the schemas of the keys of a mapping, in the order of the fields of its type.
pub(super) fn properties(schema: &Value) -> &Map<String, Value> {
    static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    schema.get("properties").and_then(Value::as_object).unwrap_or(&NONE)
}

/// Writes the schema where the catalogs of a folder refer to it, and returns its path.
///
/// # Errors
/// If the file cannot be written, or its folder is a symbolic link.
pub fn write(folder: &Path) -> std::io::Result<PathBuf> {
    let path = folder.join(FILE);
    if let Some(parent) = Path::new(FILE).parent() {
        prospector_state::folder::refuse_links(folder, [parent])?;
        prospector_state::create_folder(&folder.join(parent))?;
    }
    prospector_state::replace(&path, text().as_bytes())?;
    Ok(path)
}

/// The sources and definitions that planner can use.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "Catalog of planner")]
#[allow(dead_code, reason = "each section is parsed separately")]
pub(super) struct CatalogEntries {
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
    skills: Option<Vec<FolderEntry>>,
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
    verified_queries: Option<Vec<FolderEntry>>,
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
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [
    {"required": ["path"]}, {"required": ["url"]}, {"required": ["elasticsearch"]}, {"required": ["bigquery"]}
], "dependencies" = {
    "schemas": ["url"], "indices": ["elasticsearch"], "token": ["elasticsearch"], "api_key": ["elasticsearch"],
    "user": ["elasticsearch", "password"], "password": ["elasticsearch", "user"]
}))]
pub(super) struct DatabaseEntry {
    /// A file or a pattern; a pattern without a name creates one database per file.
    pub(super) path: Option<String>,
    /// Name used in questions and plans. Defaults to the name of the file.
    pub(super) name: Option<String>,
    /// Optional if the extension or the URL determines it.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = SourceKind::ALL.map(SourceKind::as_str)))]
    pub(super) kind: Option<String>,
    /// One or two sentences for the catalog overview shown to models.
    pub(super) description: Option<String>,
    /// JSON file with descriptions of tables and columns.
    pub(super) descriptions: Option<String>,
    /// Only these tables; all others are hidden.
    pub(super) tables: Option<Vec<String>>,
    /// Functions that queries may call in addition to the built-in allow-list.
    pub(super) functions: Option<Vec<String>>,
    /// Which column values are indexed, if any.
    pub(super) values: Option<ValuesEntry>,
    /// Columns with personal data: table.column, *.column or table.*.
    pub(super) personal: Option<Vec<String>>,
    /// CSV files and spreadsheets: a column has a type only if every cell has it. By default, cells that do not have the type of 95 % of
    /// the column are NULL, and reported.
    pub(super) strict: Option<bool>,
    /// Or the address of a server: postgres://, mysql://, mariadb://, mongodb://, dynamodb:// or cassandra://. ${NAME} is replaced from the
    /// environment.
    pub(super) url: Option<String>,
    /// Servers: only these schemas.
    pub(super) schemas: Option<Vec<String>>,
    /// Or a BigQuery project.
    pub(super) bigquery: Option<BigqueryEntry>,
    /// Or Elasticsearch or OpenSearch: https://host:9200.
    pub(super) elasticsearch: Option<String>,
    /// Elasticsearch: only these indices.
    pub(super) indices: Option<Vec<String>>,
    /// Elasticsearch: bearer token.
    pub(super) token: Option<String>,
    /// Elasticsearch: API key.
    pub(super) api_key: Option<String>,
    /// Elasticsearch: user, with `password`.
    pub(super) user: Option<String>,
    /// Elasticsearch: password of `user`.
    pub(super) password: Option<String>,
}

/// Which values are indexed.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ValuesEntry {
    /// All or none.
    All(bool),
    /// Some.
    Some(ValuesSettings),
}

/// Which values are indexed.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct ValuesSettings {
    /// Maximum number of values per column.
    #[schemars(range(min = 1, max = MAX_VALUES))]
    pub(super) max_per_column: Option<usize>,
    /// Excluded columns: table.column, *.column or table.*.
    pub(super) skip: Option<Vec<String>>,
}

/// A BigQuery project.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{"required": ["credentials"]}, {"required": ["token"]}]))]
pub(super) struct BigqueryEntry {
    /// Project that owns the datasets.
    pub(super) project: String,
    /// Only these datasets.
    pub(super) datasets: Option<Vec<String>>,
    /// Key file of a service account.
    pub(super) credentials: Option<String>,
    /// Or an access token.
    pub(super) token: Option<String>,
    /// Location of the data.
    pub(super) location: Option<String>,
    /// Maximum gigabytes billed per query.
    pub(super) max_gigabytes: Option<f64>,
    /// Endpoint to use instead of Google's.
    pub(super) endpoint: Option<String>,
}

/// One API, or a folder of them.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, extend("anyOf" = [{"required": ["path"]}, {"required": ["url"]}], "dependencies" = {
    "headers": ["invoke"]
}))]
pub(super) struct ApiEntry {
    /// A file, a folder or a pattern: OpenAPI, Swagger, GraphQL, or a list of MCP tools.
    pub(super) path: Option<String>,
    /// Name used in plans.
    pub(super) name: Option<String>,
    /// With `path`: the base URL of the API. Without it: the URL of the description, or a GraphQL endpoint.
    pub(super) url: Option<String>,
    /// Optional if the description determines it.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ApiKind::ALL.map(ApiKind::as_str)))]
    pub(super) kind: Option<String>,
    /// Purpose of the API.
    pub(super) description: Option<String>,
    /// Only these operations.
    pub(super) operations: Option<Vec<String>>,
    /// Read-only operations that are sent as POST, such as searches: names, or patterns with `*`.
    pub(super) reads: Option<Vec<String>>,
    /// Allows models to send GET requests and GraphQL queries: true, or only to these hosts.
    pub(super) invoke: Option<InvokeEntry>,
    /// Headers sent with these calls: Name: value.
    pub(super) headers: Option<Vec<String>>,
}

/// Whether an API may be called.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum InvokeEntry {
    /// The host named in the catalog or the description.
    Anywhere(bool),
    /// Only these hosts.
    Hosts(Vec<String>),
}

/// An MCP server, or the servers configured in an MCP client.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [
    {"required": ["name", "command"]}, {"required": ["name", "url"]}, {"required": ["import"]}
], "dependencies" = {
    "args": ["command"], "env": ["command"], "folder": ["command"], "headers": ["url"], "oauth": ["url"], "servers": ["import"]
}))]
pub(super) struct McpEntry {
    /// Name used in plans: letters, digits, `_` and `-`.
    pub(super) name: Option<String>,
    /// A program that serves MCP over stdio, optionally with its arguments.
    pub(super) command: Option<CommandEntry>,
    /// Its arguments.
    pub(super) args: Option<Vec<String>>,
    /// Environment variables of the process: NAME to pass on its current value, or NAME=value.
    pub(super) env: Option<Vec<String>>,
    /// Working folder of the process.
    pub(super) folder: Option<String>,
    /// Or a streamable HTTP endpoint.
    pub(super) url: Option<String>,
    /// Headers sent with each request: Name: value.
    pub(super) headers: Option<Vec<String>>,
    /// Sign-in with OAuth, with `planner sources login NAME`.
    pub(super) oauth: Option<OAuthEntry>,
    /// Or the configuration of a client: claude_desktop, claude_code, vscode, cursor, codex or a file.
    pub(super) import: Option<String>,
    /// Import: only these servers, names or patterns.
    pub(super) servers: Option<Vec<String>>,
    /// Purpose of the server.
    pub(super) description: Option<String>,
    /// Only these tools, names or patterns.
    pub(super) tools: Option<Vec<String>>,
    /// Which tools may be called: `read`, true, or names and patterns.
    pub(super) invoke: Option<InvokeTools>,
    /// Timeout of the handshake, a list or a call, in seconds.
    #[schemars(range(min = 1, max = 600))]
    pub(super) timeout: Option<u32>,
}

/// Sign-in with OAuth.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum OAuthEntry {
    /// Whether to sign in, as a client that registers itself.
    Registered(bool),
    /// A client of the provider, or scopes.
    Client(OAuthClient),
}

/// How to sign in with OAuth.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct OAuthClient {
    /// The client that the provider issued; without it, Prospector registers itself.
    pub(super) client_id: Option<String>,
    /// The scopes to request; those that the server names by default.
    pub(super) scopes: Option<Vec<String>>,
}

/// A program, optionally with its arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum CommandEntry {
    /// The program.
    Program(String),
    /// The program and its arguments.
    Words(Vec<String>),
}

/// Which tools may be called.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum InvokeTools {
    /// All of them, or none.
    All(bool),
    /// `read`: tools that the server annotates as read-only and that `tools` names.
    #[schemars(extend("enum" = ["read"]))]
    Word(String),
    /// These tools.
    Names(Vec<String>),
}

/// One or several documents.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [
    {"required": ["path"]}, {"required": ["content", "name"]}, {"required": ["url"]}, {"required": ["confluence"]}
], "dependencies" = {
    "space": ["confluence"], "label": ["confluence"], "user": ["confluence"], "token": ["confluence"]
}))]
pub(super) struct DocumentEntry {
    /// A file, a folder including subfolders, or a pattern.
    pub(super) path: Option<String>,
    /// Name used in plans; for a wiki, the prefix of its pages.
    pub(super) name: Option<String>,
    /// Or the text itself, in Markdown.
    pub(super) content: Option<String>,
    /// Or the URL of a page.
    pub(super) url: Option<String>,
    /// Or the base URL of a Confluence wiki.
    pub(super) confluence: Option<String>,
    /// Wiki: pages of this space.
    pub(super) space: Option<String>,
    /// Wiki: pages with this label.
    pub(super) label: Option<String>,
    /// Wiki: user of a cloud account.
    pub(super) user: Option<String>,
    /// Wiki: API token of `user`, or a personal access token.
    pub(super) token: Option<String>,
    /// Subject of the document.
    pub(super) description: Option<String>,
    /// Tags in addition to those in the file.
    pub(super) tags: Option<Vec<String>>,
}

/// A definition of a term.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct FactEntry {
    /// The term.
    pub(super) term: String,
    /// Its definition.
    pub(super) definition: String,
    /// Source of the definition.
    pub(super) source: Option<String>,
    /// Confidence in the definition.
    #[schemars(range(min = 0, max = 1))]
    pub(super) confidence: Option<f64>,
}

/// A folder of skills, or of verified queries.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct FolderEntry {
    /// The line of the entry.
    #[serde(skip)]
    pub(super) line: u64,
    /// Folder with one subfolder per skill; folder of SQL files with verified queries, or one such file.
    pub(super) path: String,
}

/// Tables included in every prompt.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "each name is parsed separately")]
enum PreloadEntry {
    /// Names: database.table, or patterns with `*`.
    Names(Vec<String>),
    /// The results of a search.
    Seeds(PreloadSettings),
}

/// Which tables a search returns.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct PreloadSettings {
    /// Search queries.
    pub(super) seed_patterns: Option<Vec<String>>,
    /// Minimum relevance.
    #[schemars(range(min = 0, max = 1))]
    pub(super) similarity_threshold: Option<f64>,
    /// Maximum number of tables.
    #[schemars(range(min = 1, max = 10_000))]
    pub(super) max_tables: Option<usize>,
}

/// Hosts that may be contacted.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct FetchEntry {
    /// Hosts on your own network: wiki.local, 127.0.0.1:8080.
    pub(super) allow: Option<Vec<String>>,
    /// Whether pages not named in the catalog may be fetched from public hosts.
    pub(super) public: Option<bool>,
}

/// A search engine.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct WebSearchEntry {
    /// The search page of a SearXNG server.
    pub(super) url: String,
    /// Bearer token.
    pub(super) token: Option<String>,
}

#[cfg(test)]
mod tests;
