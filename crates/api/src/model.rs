//! The parsed form of API descriptions: plain structs, serialisable for the cache.

use std::{collections::BTreeMap, path::PathBuf};

use prospector_core::named_enum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

named_enum! {
    /// The format of an API description.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum ApiKind {
        /// OpenAPI 3 or Swagger 2.0, in JSON or YAML.
        #[default]
        OpenApi = "openapi",
        /// GraphQL: SDL, or the JSON result of an introspection query.
        GraphQl = "graphql",
        /// Definitions of tools: the result of `tools/list` of an MCP server, or functions in the format of a model
        /// provider.
        Mcp = "mcp",
    }
}

/// One API and its operations.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Api {
    /// Name in the catalog.
    pub name: String,
    /// Format of the description.
    pub kind: ApiKind,
    /// Base URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Purpose of the API.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its operations, in the order of the description.
    pub operations: Vec<Operation>,
    /// Number of described operations that the catalog does not allow.
    #[serde(default)]
    pub withheld: usize,
    /// Named types that its operations refer to; types inside them are references by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, Shape>,
    /// Further files that the description refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathBuf>,
    /// State of an MCP server. The descriptions of its tools are unreviewed data, and never part of a system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<LiveServer>,
}

/// The state of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveServer {
    /// States when its tools were last listed, if the server has not responded since; empty if they are current.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// One operation: a method on a path, a field of a GraphQL root type, or a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Operation {
    /// Unique within the API: the operation id of the description, or a name made from method and path.
    pub name: String,
    /// `GET`, `POST`, ..., or `QUERY`, `MUTATION`, `SUBSCRIPTION`. For a tool `READ` or `WRITE` as its annotation
    /// `readOnlyHint` declares, or `CALL` without it.
    pub method: String,
    /// The path, or the name of the GraphQL field or tool.
    pub path: String,
    /// Summary and description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Tags that group operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether it is deprecated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// Parameters, without the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// Shape of the request body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_body: Option<Shape>,
    /// Shape of a successful response: that of the lowest 2xx status with a body, or of `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Shape>,
    /// Alternatives for authorisation; any one suffices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auth: Vec<String>,
    /// Whether the catalog declares that it changes nothing. Used only for POST, whose method leaves it open.
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
    /// Whether it carries a credential, which the program adds.
    #[serde(rename = "credential", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_credential: bool,
    /// Its description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Accepted values; empty if the description lists none.
    #[serde(rename = "enum", default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
    /// The default value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// Where a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// In the path.
    Path,
    /// In the query string.
    Query,
    /// As a header.
    Header,
    /// As a cookie.
    Cookie,
    /// As an argument of a GraphQL field or of a tool.
    Argument,
}

/// Whether a call may change data of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It changes nothing.
    Reads,
    /// It may change something.
    Writes,
}

/// The shape of a value. Named types are stored once in [`Api::types`] and referred to by name, so recursive types
/// are finite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A scalar: `string (date) or null`, `enum: open | closed`, `String!`.
    Word(String),
    /// A list with items of one shape.
    List(Box<Shape>),
    /// An object.
    Object {
        /// Declared fields.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fields: Vec<Field>,
        /// Shape of additional properties, if declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rest: Option<Box<Shape>>,
        /// Further alternatives: `OneOf` or `AnyOf` with more fields, or a `Cut`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        besides: Vec<Shape>,
    },
    /// A type in [`Api::types`].
    Named(String),
    /// Exactly one of these.
    OneOf(Vec<Shape>),
    /// One or more of these.
    AnyOf(Vec<Shape>),
    /// A body that is not JSON: its media type, and its shape if described.
    Content(String, Option<Box<Shape>>),
    /// A type that only refers to itself.
    Cycle(String),
    /// Omitted by the parser because of its size.
    Cut(String),
    /// A reference without a target.
    Unresolved(String),
}

/// One field of an object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Shape of its value.
    pub shape: Shape,
    /// Whether it is required.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Whether it occurs in responses only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// Whether it occurs in requests only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub write_only: bool,
}

impl Api {
    /// Returns the note that its operations may be outdated; empty if they are current.
    pub fn note(&self) -> &str {
        self.server.as_ref().map_or("", |server| &server.note)
    }

    /// Returns the full id of one of its operations, as used in plans.
    pub fn id_of(&self, operation: &Operation) -> String {
        format!("{}.{}", self.name, operation.name)
    }

    /// Returns `rest`, `query`, `mutation`, `subscription` or `tool`.
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
    /// Returns whether the call may change data.
    pub fn is_write(self) -> bool {
        self == Access::Writes
    }
}

impl Operation {
    /// Returns whether a call reads or writes; `None` if undeclared, as for a tool without annotations. The method
    /// decides, and for POST the catalog ([`Operation::changes_nothing`]); names and descriptions are not considered.
    pub fn access(&self) -> Option<Access> {
        match self.method.to_uppercase().as_str() {
            "GET" | "HEAD" | "OPTIONS" | "QUERY" | "SUBSCRIPTION" | "READ" => Some(Access::Reads),
            "POST" if self.changes_nothing => Some(Access::Reads),
            "POST" | "PUT" | "PATCH" | "DELETE" | "MUTATION" | "WRITE" => Some(Access::Writes),
            _ => None,
        }
    }

    /// Returns method and path: `GET /orders/{id}`, `QUERY order`.
    pub fn route(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Returns whether `route` is this method and path, ignoring case, a trailing slash and the names of
    /// placeholders.
    pub fn is_route(&self, route: &str) -> bool {
        let Some((method, path)) = route.trim().split_once(char::is_whitespace) else { return false };
        method.eq_ignore_ascii_case(&self.method) && template(path.trim()) == template(&self.path)
    }
}

/// Removes the names of placeholders from a path.
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
    fn method_and_catalog_decide_access() {
        use Access::{Reads, Writes};
        // Method, access by method, access if the catalog declares `changes_nothing`.
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
    fn names_and_descriptions_do_not_decide_access() {
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
