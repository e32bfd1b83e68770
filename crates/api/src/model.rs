//! What an API description is read into: plain structs that the catalog can keep on disk.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The language that an API is described in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApiKind {
    /// OpenAPI, in JSON or YAML.
    OpenApi,
    /// GraphQL, in its schema definition language.
    GraphQl,
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
}

/// One operation: a method on a path, or a field of a GraphQL root type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Unique within the API: the operation's own id, or one made of method and path.
    pub name: String,
    /// `GET`, `POST`, ..., or `QUERY`, `MUTATION`, `SUBSCRIPTION`.
    pub method: String,
    /// The path, or the name of the field.
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
    /// The compact shape of what is sent: objects as `{field: type}`, lists as `[type]`; keys that begin with `$` are
    /// remarks (`$required`, `$one_of`, `$any_of`, `$content`, `$cycle`, `$cut`, `$unresolved`), `*` is any key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_body: Option<Value>,
    /// The compact shape of a successful answer, written as [`Operation::request_body`] is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Value>,
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
    /// As an argument of a GraphQL field.
    Argument,
}

impl ApiKind {
    /// The word for it in JSON and in the catalog.
    pub fn as_str(self) -> &'static str {
        match self {
            ApiKind::OpenApi => "openapi",
            ApiKind::GraphQl => "graphql",
        }
    }
}

impl Api {
    /// The full id of one of its operations, as a plan writes it.
    pub fn id_of(&self, operation: &Operation) -> String {
        format!("{}.{}", self.name, operation.name)
    }

    /// `rest`, `query`, `mutation` or `subscription`.
    pub fn type_of(&self, operation: &Operation) -> &'static str {
        match (self.kind, operation.method.as_str()) {
            (ApiKind::OpenApi, _) => "rest",
            (ApiKind::GraphQl, "MUTATION") => "mutation",
            (ApiKind::GraphQl, "SUBSCRIPTION") => "subscription",
            (ApiKind::GraphQl, _) => "query",
        }
    }
}

impl Operation {
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
