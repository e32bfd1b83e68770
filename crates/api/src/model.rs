//! What an API description is read into: plain structs that the catalog can keep on disk.

use std::{collections::BTreeMap, path::PathBuf};

use prospector_text::identifiers;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The language that an API is described in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApiKind {
    /// OpenAPI 3 or Swagger 2.0, in JSON or YAML.
    OpenApi,
    /// GraphQL, in its schema definition language or as the JSON answer to an introspection query.
    GraphQl,
    /// Definitions of tools: the answer of a Model Context Protocol server to `tools/list`, or functions as a language model is
    /// given them.
    Mcp,
}

/// One API and its operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Api {
    /// The name under which the catalog knows it.
    pub name: String,
    /// The language of its description.
    pub kind: ApiKind,
    /// Where it is served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What it can do, in the order of its description.
    pub operations: Vec<Operation>,
    /// How many more operations the description has that the catalog does not allow.
    #[serde(default)]
    pub withheld: usize,
    /// The types that its operations name, each one level deep.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, Shape>,
    /// The files that its description refers to, beside its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathBuf>,
}

/// One operation: a method on a path, a field of a GraphQL root type, or a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Unique within the API: the operation's own id, or one made of method and path.
    pub name: String,
    /// `GET`, `POST`, ..., or `QUERY`, `MUTATION`, `SUBSCRIPTION`. Of a tool `READ` where it says that it changes nothing,
    /// `WRITE` where it says that it does, else `CALL`.
    pub method: String,
    /// The path, or the name of the field or the tool.
    pub path: String,
    /// The summary and the description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The groups that it belongs to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether it should no longer be used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// What it takes besides a body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// What is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_body: Option<Shape>,
    /// What a call that succeeds gets: of the lowest 2xx that describes a body, or of the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Shape>,
    /// The ways to be authorised, any one of which is enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auth: Vec<String>,
}

/// One parameter of an operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where it is passed.
    pub location: Location,
    /// Its type, such as `integer`, `array of string` or `ID!`.
    pub r#type: String,
    /// Whether it must be passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// What it means.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The values that it can take, where they are listed.
    #[serde(rename = "enum", default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
    /// The value that is taken where none is passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// Where a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// In the path.
    Path,
    /// After the `?`.
    Query,
    /// As a header.
    Header,
    /// As a cookie.
    Cookie,
    /// As an argument of a GraphQL field or of a tool.
    Argument,
}

/// What a call does to what its API keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It changes nothing.
    Reads,
    /// It may change something.
    Writes,
}

/// What a value looks like. A type with a name of its own is named and stands in [`Api::types`], so that what contains
/// itself ends, and what is used often is kept once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A value without parts: `string (date) or null`, `enum: open | closed`, `String!`.
    Word(String),
    /// A list of values of one shape.
    List(Box<Shape>),
    /// An object.
    Object {
        /// The fields that are known by name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fields: Vec<Field>,
        /// What any other key holds, where that is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rest: Option<Box<Shape>>,
        /// What may be said besides: `OneOf` or `AnyOf` with more fields, or where something was left out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        besides: Vec<Shape>,
    },
    /// A type of [`Api::types`].
    Named(String),
    /// Exactly one of these.
    OneOf(Vec<Shape>),
    /// One or more of these.
    AnyOf(Vec<Shape>),
    /// A body that is not JSON: its media type, and its parts where they are described.
    Content(String, Option<Box<Shape>>),
    /// A type that leads back to itself and says nothing else.
    Cycle(String),
    /// Left out when it was read, for it was too much.
    Cut(String),
    /// A reference that leads nowhere.
    Unresolved(String),
}

/// One field of an object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub shape: Shape,
    /// Whether it must be there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Whether only the server sets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// Whether it is sent, but never returned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub write_only: bool,
}

impl ApiKind {
    /// Every kind that can be read.
    pub const ALL: [ApiKind; 3] = [ApiKind::OpenApi, ApiKind::GraphQl, ApiKind::Mcp];

    /// The word for it in JSON and in the catalog.
    pub fn as_str(self) -> &'static str {
        match self {
            ApiKind::OpenApi => "openapi",
            ApiKind::GraphQl => "graphql",
            ApiKind::Mcp => "mcp",
        }
    }
}

impl Api {
    /// The full id of one of its operations, as a plan writes it.
    pub fn id_of(&self, operation: &Operation) -> String {
        format!("{}.{}", self.name, operation.name)
    }

    /// `rest`, `query`, `mutation`, `subscription` or `tool`.
    pub fn type_of(&self, operation: &Operation) -> &'static str {
        match (self.kind, operation.method.as_str()) {
            (ApiKind::OpenApi, _) => "rest",
            (ApiKind::GraphQl, "MUTATION") => "mutation",
            (ApiKind::GraphQl, "SUBSCRIPTION") => "subscription",
            (ApiKind::GraphQl, _) => "query",
            (ApiKind::Mcp, _) => "tool",
        }
    }
}

impl Access {
    /// Whether something may change.
    pub fn is_write(self) -> bool {
        self == Access::Writes
    }
}

impl Operation {
    /// Whether a call reads or writes, by its method; `None` where that does not tell. A search that is sent as a POST reads, by
    /// its name, or by its description where the name says nothing of a change.
    pub fn access(&self) -> Option<Access> {
        match self.method.to_uppercase().as_str() {
            "GET" | "HEAD" | "OPTIONS" | "QUERY" | "SUBSCRIPTION" | "READ" => Some(Access::Reads),
            "POST" => {
                let reads = has_reading_name(&self.name)
                    || has_reading_description(&self.description) && !has_changing_name(&self.name, &self.path);
                Some(if reads { Access::Reads } else { Access::Writes })
            }
            "PUT" | "PATCH" | "DELETE" | "MUTATION" | "WRITE" => Some(Access::Writes),
            _ => None,
        }
    }

    /// `GET /orders/{id}`, `QUERY order`.
    pub fn route(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Whether `route` is this method and path; neither case, a slash at the end, nor the names of the placeholders
    /// matter.
    pub fn is_route(&self, route: &str) -> bool {
        let Some((method, path)) = route.trim().split_once(char::is_whitespace) else { return false };
        method.eq_ignore_ascii_case(&self.method) && template(path.trim()) == template(&self.path)
    }
}

/// Whether a name begins with a verb of reading, or its last part does (`documents.analyzeSentiment`). The method that names
/// made of a route begin with (`post_translate`) is none.
fn has_reading_name(name: &str) -> bool {
    let reads = |name: &str| {
        let words = identifiers::words(name);
        let words = match words.as_slice() {
            [method, rest @ ..] if method == "post" && !rest.is_empty() => rest,
            all => all,
        };
        words.first().is_some_and(|verb| READING.contains(&verb.as_str()))
    };
    reads(name) || name.rsplit_once('.').is_some_and(|(_, last)| reads(last))
}

/// Whether a description begins as one of what only answers (`Find jobs`), or says that it returns something and nothing of a
/// change (`The feed returns the jobs of a region`).
fn has_reading_description(description: &str) -> bool {
    let said: Vec<String> =
        description.split(|c: char| !c.is_alphabetic()).take(MAX_SAID).map(str::to_lowercase).collect();
    let base = |word: &String| {
        let word = word.as_str();
        [word, word.strip_suffix('s').unwrap_or(word), word.strip_suffix("es").unwrap_or(word)].map(str::to_owned)
    };
    let begins = said.first().is_some_and(|first| base(first).iter().any(|verb| READING.contains(&verb.as_str())));
    let returns = said.iter().any(|word| matches!(word.as_str(), "return" | "returns" | "retrieves" | "lists"));
    let changes = said.iter().any(|word| base(word).iter().any(|verb| CHANGING.contains(&verb.as_str())));
    (begins || returns) && !changes
}

/// So many words of a description are read.
const MAX_SAID: usize = 40;

/// Whether a name or a path has a verb of changing.
fn has_changing_name(name: &str, path: &str) -> bool {
    let words = [identifiers::words(name), identifiers::words(path)].concat();
    words.iter().any(|word| CHANGING.contains(&word.as_str()))
}

/// Verbs of what changes something, in the names and descriptions of operations.
const CHANGING: [&str; 31] = [
    "create", "add", "insert", "update", "delete", "remove", "set", "send", "submit", "upload", "save", "register",
    "sign", "login", "token", "cancel", "book", "pay", "order", "start", "run", "generate", "place", "change",
    "modify", "replace", "store", "make", "issue", "trigger", "schedule",
];

/// Verbs of what only answers.
const READING: [&str; 44] = [
    "get",
    "list",
    "search",
    "find",
    "query",
    "read",
    "lookup",
    "count",
    "quote",
    "calculate",
    "preview",
    "validate",
    "translate",
    "detect",
    "estimate",
    "convert",
    "analyze",
    "analyse",
    "compute",
    "compare",
    "classify",
    "recognize",
    "recognise",
    "identify",
    "predict",
    "forecast",
    "suggest",
    "recommend",
    "autocomplete",
    "geocode",
    "match",
    "parse",
    "resolve",
    "evaluate",
    "simulate",
    "summarize",
    "summarise",
    "retrieve",
    "fetch",
    "browse",
    "explore",
    "filter",
    "aggregate",
    "tokenize",
];

/// A path without the names of its placeholders.
fn template(path: &str) -> String {
    let mut out = String::new();
    let mut rest = path.trim_end_matches('/');
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        out.push_str("{}");
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out.to_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_posted_reads_where_its_name_says_so() {
        let check = |name: &str, access: Access| {
            let operation = json!({"name": name, "method": "POST", "path": "/"});
            let operation: Operation = serde_json::from_value(operation).unwrap();
            assert_eq!(operation.access(), Some(access), "{name}");
        };
        check("post_detect", Access::Reads);
        check("convertCurrency", Access::Reads);
        check("documents.analyzeEntities", Access::Reads);
        check("post_message", Access::Writes);
        check("post", Access::Writes);
        check("calendars.insert", Access::Writes);
        check("createEstimate", Access::Writes);
    }

    #[test]
    fn what_is_posted_reads_where_its_description_says_so_and_nothing_of_a_change() {
        let check = |name: &str, description: &str, access: Access| {
            let operation = json!({"name": name, "method": "POST", "path": "/jobs", "description": description});
            let operation: Operation = serde_json::from_value(operation).unwrap();
            assert_eq!(operation.access(), Some(access), "{description}");
        };
        check("post_jobs", "Job feed. The endpoint returns the jobs that satisfy the criteria.", Access::Reads);
        check("jobs", "Finds jobs near a place of work", Access::Writes);
        check("jobs", "Finds jobs near a town", Access::Reads);
        check("jobs", "Creates a job and returns it", Access::Writes);
        check("addJob", "Returns the job", Access::Writes);
        check("jobs", "", Access::Writes);
    }
}
