//! What was found, typed.

use std::{fmt, path::PathBuf};

use prospector_connect::source::SourceKind;
use prospector_core::problem::conceal;
use serde::{Serialize, Serializer};

/// Something that a catalog can name: one entry of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    #[serde(flatten)]
    pub kind: FindingKind,
    /// How the catalog calls it. Documents and skills bring their own names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it is.
    #[serde(flatten)]
    pub address: Address,
    /// How many files it stands for; none of what is not in files.
    pub files: usize,
    /// What was named and led to it, as it may be shown.
    #[serde(skip)]
    pub source: String,
}

/// The kinds of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApiForm {
    /// By a text, whose kind it tells itself.
    Description,
    /// By a GraphQL server, which is asked for its schema.
    GraphqlServer,
}

/// Where something is.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// A file, a folder or a pattern, absolute or relative to the current folder.
    Path(PathBuf),
    /// A URL, which may hold a secret.
    Url(String),
    /// The environment variable that holds the URL.
    Variable(String),
}

impl fmt::Display for Address {
    /// Without secrets.
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
