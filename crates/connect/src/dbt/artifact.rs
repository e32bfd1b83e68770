//! The artifacts of dbt: <https://docs.getdbt.com/reference/artifacts/manifest-json> and `catalog-json` next to it.
//!
//! Only table metadata is parsed, in the same way for every version of the two schemas. An invalid node does not affect
//! others.

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny};
use serde_json::Value;

/// The parsed part of `manifest.json`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Manifest {
    pub(super) nodes: Option<Nodes<Node>>,
    /// Separate from the nodes since dbt 0.17.
    #[serde(default)]
    pub(super) sources: Nodes<Node>,
}

/// The parsed part of `catalog.json`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Catalog {
    #[serde(default)]
    pub(super) nodes: Nodes<CatalogTable>,
    #[serde(default)]
    pub(super) sources: Nodes<CatalogTable>,
}

/// The maximum file size in bytes.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// Why a file is not a dbt artifact, as a clause.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArtifactError {
    #[error("there is no such file")]
    Missing,
    #[error("the file has {0} bytes; at most {MAX_BYTES} are read")]
    TooLarge(u64),
    #[error("the file is not a dbt manifest: it has no `nodes`")]
    NoNodes,
    #[error("the file is not a dbt artifact: the JSON is not an object")]
    NoObject,
    #[error("the file is not a dbt artifact: {0}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Manifest {
    /// # Errors
    /// If the text is not a manifest.
    pub(super) fn read(text: &str) -> Result<Manifest, ArtifactError> {
        let manifest: Manifest = object(text)?;
        match manifest.nodes {
            Some(_) => Ok(manifest),
            None => Err(ArtifactError::NoNodes),
        }
    }
}

impl Catalog {
    /// # Errors
    /// If the text is not a catalog.
    pub(super) fn read(text: &str) -> Result<Catalog, ArtifactError> {
        object(text)
    }
}

fn object<T: DeserializeOwned>(text: &str) -> Result<T, ArtifactError> {
    // serde would accept a list of fields for an object too.
    if !text.trim_start().starts_with('{') {
        return Err(ArtifactError::NoObject);
    }
    Ok(serde_json::from_str(text)?)
}

/// Nodes by id, and the ids of invalid ones.
#[derive(Debug)]
pub(super) struct Nodes<T> {
    pub(super) good: IndexMap<String, T>,
    pub(super) bad: Vec<String>,
}

impl<T> Default for Nodes<T> {
    fn default() -> Self {
        Nodes { good: IndexMap::new(), bad: Vec::new() }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Lenient<T> {
    Good(T),
    Bad(IgnoredAny),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Nodes<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut nodes = Nodes::default();
        for (id, node) in Option::<IndexMap<String, Lenient<T>>>::deserialize(deserializer)?.unwrap_or_default() {
            match node {
                Lenient::Good(node) => {
                    nodes.good.insert(id, node);
                }
                Lenient::Bad(_) => nodes.bad.push(id),
            }
        }
        Ok(nodes)
    }
}

/// A model, seed, snapshot, source or test. Fields that are missing or null are empty.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Node {
    pub(super) resource_type: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) source_name: Option<String>,
    #[serde(default)]
    pub(super) version: Value,
    #[serde(default)]
    pub(super) database: Option<String>,
    #[serde(default)]
    pub(super) schema: Option<String>,
    #[serde(default)]
    pub(super) alias: Option<String>,
    #[serde(default)]
    pub(super) identifier: Option<String>,
    #[serde(default)]
    pub(super) config: Value,
    #[serde(default)]
    pub(super) columns: Option<IndexMap<String, DeclaredColumn>>,
    #[serde(default)]
    pub(super) constraints: Value,
    #[serde(default)]
    pub(super) primary_key: Value,
    #[serde(default)]
    pub(super) depends_on: Value,
    // Only set for tests.
    #[serde(default)]
    pub(super) test_metadata: Option<TestMetadata>,
    #[serde(default)]
    pub(super) column_name: Option<String>,
    #[serde(default)]
    pub(super) attached_node: Option<String>,
}

/// A column as the project declares it.
#[derive(Debug, Default, Clone, Deserialize)]
pub(super) struct DeclaredColumn {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) data_type: Option<String>,
    #[serde(default)]
    pub(super) constraints: Value,
}

/// The kind of a test.
#[derive(Debug, Default, Deserialize)]
pub(super) struct TestMetadata {
    pub(super) name: String,
    #[serde(default)]
    pub(super) namespace: Option<String>,
    #[serde(default)]
    pub(super) kwargs: Value,
}

impl TestMetadata {
    /// Returns an argument of the test.
    pub(super) fn argument(&self, name: &str) -> Option<&Value> {
        self.kwargs.get(name).or_else(|| self.kwargs.get("arguments")?.get(name))
    }
}

/// A table as found in the warehouse.
#[derive(Debug, Default, Deserialize)]
pub(super) struct CatalogTable {
    #[serde(default)]
    pub(super) metadata: Value,
    #[serde(default)]
    pub(super) columns: IndexMap<String, CatalogColumn>,
    #[serde(default)]
    pub(super) stats: Value,
}

/// A column as found in the warehouse.
#[derive(Debug, Default, Clone, Deserialize)]
pub(super) struct CatalogColumn {
    #[serde(default, rename = "type")]
    pub(super) data_type: Option<String>,
    #[serde(default)]
    pub(super) index: Option<f64>,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) comment: Option<String>,
}

/// Returns the texts of a list, or a single text.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
