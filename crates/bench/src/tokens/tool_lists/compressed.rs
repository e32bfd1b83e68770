//! Lists of tools in the format that mcp-compressor of Atlassian Labs documents, rendered by this program.
//!
//! | level | a tool in the list |
//! |---|---|
//! | `low` | `<tool>name(parameter, parameter): description</tool>` |
//! | `medium` | `<tool>name(parameter, parameter): first sentence</tool>` |
//! | `high` | `<tool>name(parameter, parameter)</tool>` |
//! | `max` | `<tool>name</tool>`, only returned by `list_tools` |
//!
//! `get_tool_schema` returns the line of level `low`, an empty line, and the indented input schema. Sources:
//! <https://docs.rs/mcp-compressor/0.19.7/mcp_compressor/compression/engine/index.html> and
//! <https://atlassian-labs.github.io/mcp-compressor/typescript/>. The first sentence is the first line up to its first
//! full stop. The wrapper's own descriptions are short, and there is one wrapper for all servers instead of one per
//! server, so that names have their server as prefix, as in the other methods.

use std::{collections::HashMap, sync::Arc};

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_core::{tokens, tool::ToolSpec};
use prospector_search::embed::Embedder;
use prospector_search::{Index, Query};
use serde_json::{Value, json};

use super::{MAX_HITS, NeededTools, Outcome, choose, count_definitions};
use crate::{
    cost::call_text,
    error::BenchError,
    records::{Definition, ToolRecord},
};

const SCHEMA_TOOL: &str = "get_tool_schema";
const LIST_TOOL: &str = "list_tools";

/// A level of compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Names, parameters and descriptions.
    Low,
    /// Names, parameters and the first sentences.
    Medium,
    /// Names and parameters.
    High,
    /// Names, which are returned by a tool.
    Max,
}

impl Level {
    /// All levels.
    pub(super) const ALL: [Level; 4] = [Level::Low, Level::Medium, Level::High, Level::Max];

    /// Returns its published name.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Level::Low => "low",
            Level::Medium => "medium",
            Level::High => "high",
            Level::Max => "max",
        }
    }

    /// Returns what the list shows of a description.
    fn describe(self, tool: &Definition) -> &str {
        let text = tool.description.trim();
        match self {
            Level::Low => text,
            Level::Medium => {
                let line = text.lines().next().unwrap_or_default();
                line.split('.').next().unwrap_or_default().trim()
            }
            Level::High | Level::Max => "",
        }
    }

    /// Returns the parameters that the list shows.
    fn parameters(self, tool: &Definition) -> Vec<&str> {
        if self == Level::Max { Vec::new() } else { tool.parameters() }
    }

    /// Renders a tool of the list.
    fn render(self, tool: &Definition) -> String {
        let name = tool.name();
        if self == Level::Max {
            return format!("<tool>{name}</tool>");
        }
        let description = self.describe(tool);
        let colon = if description.is_empty() { "" } else { ": " };
        format!("<tool>{name}({}){colon}{description}</tool>", self.parameters(tool).join(", "))
    }

    /// Returns a record of the texts that the list shows, to rank them.
    fn record(self, tool: &ToolRecord) -> Record {
        let definition = &tool.definition;
        let mut record = Record::new(Kind::Operation, &tool.record.id, &definition.tool);
        record.parent.clone_from(&definition.server);
        record.description = self.describe(definition).to_owned();
        record.body = self.parameters(definition).join("\n");
        record
    }
}

/// Renders the result of `get_tool_schema`.
fn schema(tool: &Definition) -> String {
    format!("{}\n\n{:#}", Level::Low.render(tool), tool.input_schema)
}

/// A compressed list of tools, and an index of what it shows.
pub(super) struct CompressedList<'a> {
    /// Tokens of the wrapper's tools.
    pub(super) prompt: usize,
    /// Tokens of listing the tools, if the prompt does not contain them.
    listing: usize,
    /// By id.
    tools: HashMap<&'a str, &'a Definition>,
    index: Index,
}

impl<'a> CompressedList<'a> {
    pub(super) fn new(
        tools: &'a [ToolRecord],
        level: Level,
        embedder: Option<Arc<dyn Embedder>>,
    ) -> Result<CompressedList<'a>, BenchError> {
        let list: Vec<String> = tools.iter().map(|tool| level.render(&tool.definition)).collect();
        let list = list.join("\n");
        let is_listed_on_request = level == Level::Max;
        let listing = match is_listed_on_request {
            true => tokens::count(&call_text(LIST_TOOL, &json!({}))) + tokens::count(&list),
            false => 0,
        };
        Ok(CompressedList {
            prompt: count_definitions(&wrapper((!is_listed_on_request).then_some(&list))),
            listing,
            tools: tools.iter().map(|tool| (tool.record.id.as_str(), &tool.definition)).collect(),
            index: Index::in_memory(tools.iter().map(|tool| level.record(tool)).collect(), embedder)?,
        })
    }

    /// Ranks the list for a question, and requests the schemas of the chosen tools.
    pub(super) fn ask(&self, question: &NeededTools) -> Result<Outcome, BenchError> {
        let text = Query::fitting(&question.query).to_owned();
        let query = Query { text, kinds: vec![Kind::Operation], limit: MAX_HITS, ..Query::default() };
        let hits: Vec<String> = self.index.rank(&query)?.into_iter().map(|hit| hit.id).collect();
        let (recall, chosen) = choose(&question.ids.iter().map(Some).collect::<Vec<_>>(), &hits);
        let chosen = chosen.into_iter().filter_map(|id| self.tools.get(id));
        let requests = chosen.map(|tool| {
            let call = call_text(SCHEMA_TOOL, &json!({"tool_name": tool.name()}));
            tokens::count(&call) + tokens::count(&schema(tool))
        });
        Ok(Outcome { tokens: self.listing + requests.sum::<usize>(), recall })
    }
}

/// Returns the wrapper's tools: `get_tool_schema` with the list, otherwise also `list_tools`.
fn wrapper(list: Option<&String>) -> Vec<ToolSpec> {
    let describe = "Returns the schema of a tool.";
    let tool = |name: &str, description: String, properties: Value| {
        let required: Vec<&String> = properties.as_object().into_iter().flat_map(|fields| fields.keys()).collect();
        let input_schema = json!({"type": "object", "properties": properties, "required": required});
        ToolSpec { name: name.to_owned(), description, input_schema }
    };
    let description = list.map_or_else(|| describe.to_owned(), |list| format!("{describe} Available tools:\n{list}"));
    let schema = tool(SCHEMA_TOOL, description, json!({"tool_name": {"type": "string"}}));
    let listing = list.is_none().then(|| tool(LIST_TOOL, "Lists the available tools.".to_owned(), json!({})));
    std::iter::once(schema).chain(listing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(description: &str, properties: Value) -> Definition {
        Definition {
            server: "git".into(),
            tool: "log".into(),
            description: description.into(),
            input_schema: json!({"type": "object", "properties": properties}),
        }
    }

    fn check(tool: &Definition, low: &str, medium: &str, high: &str, max: &str) {
        assert_eq!(Level::ALL.map(|level| level.render(tool)), [low, medium, high, max]);
    }

    #[test]
    fn renders_every_level() {
        check(
            &tool("Lists commits. Newest first.\nOf one branch.", json!({"path": {}, "limit": {}})),
            "<tool>git.log(path, limit): Lists commits. Newest first.\nOf one branch.</tool>",
            "<tool>git.log(path, limit): Lists commits</tool>",
            "<tool>git.log(path, limit)</tool>",
            "<tool>git.log</tool>",
        );
        check(
            &tool(" ", json!({})),
            "<tool>git.log()</tool>",
            "<tool>git.log()</tool>",
            "<tool>git.log()</tool>",
            "<tool>git.log</tool>",
        );
        let single = Definition { server: "log".into(), ..tool("Lists commits", json!({})) };
        assert_eq!(Level::Low.render(&single), "<tool>log(): Lists commits</tool>");
    }

    #[test]
    fn returns_the_schema_with_the_full_description() {
        assert_eq!(
            schema(&tool("Lists commits. Newest first.", json!({"limit": {"type": "integer"}}))),
            "<tool>git.log(limit): Lists commits. Newest first.</tool>\n\n{\n  \"type\": \"object\",\n  \"properties\": \
             {\n    \"limit\": {\n      \"type\": \"integer\"\n    }\n  }\n}"
        );
    }

    #[test]
    fn the_prompt_contains_the_list_unless_it_is_requested() {
        let list = "<tool>git.log()</tool>".to_owned();
        let names = |tools: &[ToolSpec]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
        let with = wrapper(Some(&list));
        assert_eq!(names(&with), ["get_tool_schema"]);
        assert_eq!(with[0].description, "Returns the schema of a tool. Available tools:\n<tool>git.log()</tool>");
        assert_eq!(
            with[0].input_schema,
            json!({"type": "object", "properties": {"tool_name": {"type": "string"}}, "required": ["tool_name"]})
        );
        let without = wrapper(None);
        assert_eq!(names(&without), ["get_tool_schema", "list_tools"]);
        assert!(without.iter().all(|tool| !tool.description.contains("<tool>")));
    }
}
