//! The tools as a catalog, found with `search` and shown with `describe`.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use prospector_agent::plan::INSTRUCTIONS;
use prospector_core::mark::as_data;
use prospector_core::tokens;
use prospector_core::tool::Answer;
use prospector_discovery::{Catalog, CatalogOptions, DiscoveryTools, Profile, prompt::PromptBuilder};
use prospector_search::Query;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{MAX_HITS, NeededTools, Outcome, Setup, choose, count_definitions};
use crate::{
    cost::call_text,
    error::BenchError,
    records::{Definition, ToolRecord},
};

/// A catalog of the tools.
pub(super) struct SearchedTools {
    /// Tokens of the compact tools and the map.
    pub(super) prompt: usize,
    tools: DiscoveryTools,
    /// The ids of the operations, by the ids of the records; without those that the catalog rejected.
    ids: HashMap<String, String>,
    /// Contains the index.
    _folder: TempDir,
}

impl SearchedTools {
    /// Opens a catalog of these tools in a temporary folder.
    pub(super) async fn open(tools: &[ToolRecord], setup: &Setup<'_>) -> Result<SearchedTools, BenchError> {
        let folder = tempfile::tempdir().map_err(BenchError::Folder)?;
        let file = write_catalog(tools, folder.path())?;
        let options = CatalogOptions {
            state: Some(folder.path().join("state")),
            home: None,
            ..(setup.options)().map_err(BenchError::Options)?
        };
        let (catalog, problems) = Catalog::open(&file, options).await?;
        (setup.notify)(&problems);
        let compact = DiscoveryTools::new(&catalog, Profile::Compact).without_user();
        let map = PromptBuilder::new(&catalog, &compact, INSTRUCTIONS).map();
        Ok(SearchedTools {
            prompt: count_definitions(&compact.specs()) + tokens::count(&map),
            ids: name_operations(tools, &catalog),
            tools: compact,
            _folder: folder,
        })
    }

    /// Searches for a question, and describes the chosen tools.
    pub(super) async fn ask(&self, question: &NeededTools) -> Result<Outcome, BenchError> {
        let arguments = json!({"query": Query::fitting(&question.query), "limit": MAX_HITS});
        let (answer, searched) = self.call("search", arguments, question).await?;
        let hits = list_ids(&answer);
        let needed: Vec<Option<&String>> = question.ids.iter().map(|id| self.ids.get(id)).collect();
        let (recall, chosen) = choose(&needed, &hits);
        let described = match chosen.is_empty() {
            true => 0,
            false => self.call("describe", json!({"ids": chosen}), question).await?.1,
        };
        Ok(Outcome { tokens: searched + described, recall })
    }

    /// Calls a tool; returns the answer, and the tokens of the call and of the answer as a model receives it.
    async fn call(
        &self,
        tool: &'static str,
        arguments: Value,
        question: &NeededTools,
    ) -> Result<(Answer, usize), BenchError> {
        let call = tokens::count(&call_text(tool, &arguments));
        let answer = self.tools.call(tool, arguments).await;
        let answer = answer.map_err(|source| BenchError::Tool { tool, question: question.id.clone(), source })?;
        let size = call + tokens::count(&as_data(&answer.text()));
        Ok((answer, size))
    }
}

/// Writes a catalog with a list of tools per server; returns the catalog file.
fn write_catalog(tools: &[ToolRecord], folder: &Path) -> Result<PathBuf, BenchError> {
    let put = |name: &str, content: Value| {
        let path = folder.join(name);
        let written = std::fs::write(&path, content.to_string());
        written.map(|()| path.clone()).map_err(|source| BenchError::Write { what: "the tools ", path, source })
    };
    let mut servers: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for ToolRecord { definition, .. } in tools {
        servers.entry(&definition.server).or_default().push(definition.list_entry());
    }
    let mut apis = Vec::with_capacity(servers.len());
    for (at, (server, tools)) in servers.into_iter().enumerate() {
        let file = format!("server_{at}.json");
        put(&file, json!({"tools": tools}))?;
        apis.push(json!({"name": server, "type": "mcp", "path": file}));
    }
    // JSON is valid YAML.
    put("catalog.yaml", json!({"apis": apis}))
}

/// Maps the ids of records to those of the operations of a catalog.
fn name_operations(tools: &[ToolRecord], catalog: &Catalog) -> HashMap<String, String> {
    let operations: HashMap<(String, String), String> =
        catalog.apis.records().into_iter().map(|record| ((record.parent, record.name), record.id)).collect();
    let id = |tool: &ToolRecord| {
        let Definition { server, tool: name, .. } = &tool.definition;
        operations.get(&(server.clone(), name.clone())).map(|id| (tool.record.id.clone(), id.clone()))
    };
    tools.iter().filter_map(id).collect()
}

/// Returns the ids of the hits.
fn list_ids(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let items = json.as_array().or_else(|| json["items"].as_array());
    items.into_iter().flatten().filter_map(|item| Some(item["id"].as_str()?.to_owned())).take(MAX_HITS).collect()
}
