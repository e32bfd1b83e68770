//! What an API description is read into: plain structs that the catalog can keep on disk.

use std::{collections::BTreeMap, path::PathBuf};

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
    /// Of an MCP server: its state. What such a server says of its tools is data that nobody reviewed, and never part of a system
    /// prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<LiveServer>,
}

/// The state of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveServer {
    /// When its tools were last seen, where it did not answer after that; empty where they are current.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
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
    /// Whether the catalog declares that it changes nothing. Counts only for a POST, whose method does not say it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changes_nothing: bool,
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
    /// Whether it holds a credential, which the program adds and nobody passes.
    #[serde(rename = "credential", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_credential: bool,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
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
    /// Returns the remark that its operations may be out of date; empty where they are current.
    pub fn note(&self) -> &str {
        self.server.as_ref().map_or("", |server| &server.note)
    }

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
    /// Returns whether a call reads or writes, or `None` where nothing declares it, as of a tool without annotations. The method
    /// decides, and for a POST the catalog ([`Operation::changes_nothing`]); names and descriptions never do.
    pub fn access(&self) -> Option<Access> {
        match self.method.to_uppercase().as_str() {
            "GET" | "HEAD" | "OPTIONS" | "QUERY" | "SUBSCRIPTION" | "READ" => Some(Access::Reads),
            "POST" if self.changes_nothing => Some(Access::Reads),
            "POST" | "PUT" | "PATCH" | "DELETE" | "MUTATION" | "WRITE" => Some(Access::Writes),
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

    fn operation(name: &str, method: &str, description: &str, changes_nothing: bool) -> Operation {
        let fields = json!({"name": name, "method": method, "path": "/", "description": description,
                            "changes_nothing": changes_nothing});
        serde_json::from_value(fields).unwrap()
    }

    #[test]
    fn method_and_catalog_decide_whether_an_operation_reads() {
        use Access::{Reads, Writes};
        // Method; what it does by itself; what it does where the catalog declares that it changes nothing.
        for (method, alone, declared) in [
            ("GET", Some(Reads), Some(Reads)),
            ("get", Some(Reads), Some(Reads)),
            ("HEAD", Some(Reads), Some(Reads)),
            ("OPTIONS", Some(Reads), Some(Reads)),
            ("POST", Some(Writes), Some(Reads)),
            ("PUT", Some(Writes), Some(Writes)),
            ("PATCH", Some(Writes), Some(Writes)),
            ("DELETE", Some(Writes), Some(Writes)),
            ("QUERY", Some(Reads), Some(Reads)),
            ("SUBSCRIPTION", Some(Reads), Some(Reads)),
            ("MUTATION", Some(Writes), Some(Writes)),
            ("READ", Some(Reads), Some(Reads)),
            ("WRITE", Some(Writes), Some(Writes)),
            ("CALL", None, None),
            ("TRACE", None, None),
        ] {
            assert_eq!(operation("x", method, "", false).access(), alone, "{method}");
            assert_eq!(operation("x", method, "", true).access(), declared, "{method}");
        }
    }

    #[test]
    fn names_and_descriptions_never_decide_whether_an_operation_reads() {
        for (name, description) in [
            ("searchOrders", ""),
            ("post_detect", "Returns the language of a text"),
            ("documents.analyzeEntities", "Finds names"),
            ("jobs", "Lists jobs near a town"),
            ("suche", "Sucht Bestellungen"),
            ("createOrder", "Creates an order"),
        ] {
            assert_eq!(operation(name, "POST", description, false).access(), Some(Access::Writes), "{name}");
            assert_eq!(operation(name, "POST", description, true).access(), Some(Access::Reads), "{name}");
            assert_eq!(operation(name, "CALL", description, false).access(), None, "{name}");
        }
    }
}
