//! The results of locating sources.

use std::{fmt, path::PathBuf};

use prospector_connect::source::SourceKind;
use prospector_core::problem::conceal;
use serde::{Serialize, Serializer};

/// A located source: one entry of a catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its section and type.
    #[serde(flatten)]
    pub kind: FindingKind,
    /// Its name in the catalog. Documents and skills have names of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its location.
    #[serde(flatten)]
    pub address: Address,
    /// Number of files; 0 if it is not made of files.
    pub files: usize,
    /// The source as given, without secrets.
    #[serde(skip)]
    pub source: String,
}

/// The kinds of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "section", content = "type", rename_all = "lowercase")]
pub enum FindingKind {
    /// Data, or a schema.
    Databases(SourceKind),
    /// The description of an API.
    Apis(ApiForm),
    /// A document, or a folder of them.
    Documents,
    /// A folder of skills.
    Skills,
}

/// How an API is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApiForm {
    /// By a text whose format is detected.
    Description,
    /// By a GraphQL server, which is introspected.
    GraphqlServer,
}

/// The location of a source.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// A file, a folder or a pattern, absolute or relative to the current folder.
    Path(PathBuf),
    /// A URL, which may contain a secret.
    Url(String),
    /// The environment variable that contains the URL.
    Variable(String),
}

impl fmt::Display for Address {
    /// Displays it without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Path(path) => write!(f, "{}", path.display()),
            Address::Url(url) => f.write_str(&conceal(url)),
            Address::Variable(name) => write!(f, "${{{name}}}"),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let key = match self {
            Address::Path(_) => "path",
            Address::Url(_) | Address::Variable(_) => "url",
        };
        let mut fields = serializer.serialize_struct("Address", 1)?;
        fields.serialize_field(key, &self.to_string())?;
        fields.end()
    }
}
