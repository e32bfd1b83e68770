//! The files that dbt writes: <https://docs.getdbt.com/reference/artifacts/manifest-json> and `catalog-json` beside it.
//!
//! Only what describes tables is read, the same for every version of the two schemas, and a node that is not what it
//! should be costs no other.

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny};
use serde_json::Value;

/// What of `manifest.json` is read.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Manifest {
    pub(super) nodes: Option<Nodes<Node>>,
    /// Apart from the nodes since dbt 0.17.
    #[serde(default)]
    pub(super) sources: Nodes<Node>,
}

/// What of `catalog.json` is read.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Catalog {
    #[serde(default)]
    pub(super) nodes: Nodes<CatalogTable>,
    #[serde(default)]
    pub(super) sources: Nodes<CatalogTable>,
}

/// A larger file is not read.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// Why a file is not one that dbt writes, as a clause.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArtifactError {
    #[error("there is no such file")]
    Missing,
    #[error("it has {0} bytes, and {MAX_BYTES} are read")]
    TooLarge(u64),
    #[error("it is no manifest of dbt: there are no `nodes` in it")]
    NoNodes,
    #[error("it is not the JSON that dbt writes: it is no object")]
    NoObject,
    #[error("it is not the JSON that dbt writes: {0}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Manifest {
    /// # Errors
    /// Why the text is no manifest, as a clause.
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
    /// Why the text is no catalog, as a clause.
    pub(super) fn read(text: &str) -> Result<Catalog, ArtifactError> {
        object(text)
    }
}

fn object<T: DeserializeOwned>(text: &str) -> Result<T, ArtifactError> {
    // A list of fields would be taken for an object too.
    if !text.trim_start().starts_with('{') {
        return Err(ArtifactError::NoObject);
    }
    Ok(serde_json::from_str(text)?)
}

/// Nodes by their ids, and the ids of those that are none.
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

/// A model, seed, snapshot, source or test. What is missing in a version, or null, is empty.
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
    // Of a test.
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

/// Which test it is.
#[derive(Debug, Default, Deserialize)]
pub(super) struct TestMetadata {
    pub(super) name: String,
    #[serde(default)]
    pub(super) namespace: Option<String>,
    #[serde(default)]
    pub(super) kwargs: Value,
}

impl TestMetadata {
    /// An argument of the test.
    pub(super) fn argument(&self, name: &str) -> Option<&Value> {
        self.kwargs.get(name).or_else(|| self.kwargs.get("arguments")?.get(name))
    }
}

/// A table as it was found in the warehouse.
#[derive(Debug, Default, Deserialize)]
pub(super) struct CatalogTable {
    #[serde(default)]
    pub(super) metadata: Value,
    #[serde(default)]
    pub(super) columns: IndexMap<String, CatalogColumn>,
    #[serde(default)]
    pub(super) stats: Value,
}

/// A column as it was found.
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

/// The texts of a list, or a text alone.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
