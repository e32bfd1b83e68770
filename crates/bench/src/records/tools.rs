//! Lines that describe a tool of an MCP server, and definitions of tools.

use prospector_core::Kind;
use prospector_core::record::Record;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{OperationLine, join_nonempty};

/// A tool as listed by an MCP server.
#[derive(Deserialize)]
pub(super) struct ToolLine {
    id: String,
    server: String,
    tool: String,
    description: Option<String>,
    #[serde(rename = "inputSchema")]
    input_schema: Value,
}

/// The definition of a tool as a model receives it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
}

impl Definition {
    /// Returns the name that is unique among several servers: `server.tool`, or the tool alone if both have one name.
    pub(crate) fn name(&self) -> String {
        if self.server == self.tool { self.tool.clone() } else { format!("{}.{}", self.server, self.tool) }
    }

    /// Returns the entry of a `tools/list` document.
    pub(crate) fn list_entry(&self) -> Value {
        json!({"name": self.tool, "description": self.description, "inputSchema": self.input_schema})
    }

    /// Returns the names of its parameters, in the order of its schema.
    pub(crate) fn parameters(&self) -> Vec<&str> {
        let properties = self.input_schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str)).collect()
    }
}

impl ToolLine {
    /// Converts the line to an index record.
    pub(super) fn record(self) -> Record {
        let definition = self.definition();
        let mut record = Record::new(Kind::Operation, self.id, self.tool);
        record.aliases = vec![format!("{} {}", self.server, record.name)];
        record.parent = self.server;
        record.description = definition.description.clone();
        let describe = |name: &&str| definition.input_schema["properties"][*name]["description"].as_str();
        let parameters: Vec<String> = (definition.parameters().iter())
            .map(|name| join_nonempty([*name, describe(name).unwrap_or_default()], " "))
            .collect();
        record.body = parameters.join("\n");
        record
    }

    /// Returns the definition.
    pub(super) fn definition(&self) -> Definition {
        Definition {
            server: self.server.clone(),
            tool: self.tool.clone(),
            description: self.description.clone().unwrap_or_default(),
            input_schema: self.input_schema.clone(),
        }
    }
}

impl OperationLine {
    /// Returns the definition of a tool that calls the operation: its parameters as strings, since the line has no types.
    pub(super) fn definition(&self) -> Definition {
        let properties: Map<String, Value> = (self.parameters.iter())
            .map(|parameter| {
                let description = parameter.description.as_deref().unwrap_or_default();
                (parameter.name.clone(), json!({"type": "string", "description": description}))
            })
            .collect();
        Definition {
            server: self.api.clone(),
            tool: self.name(),
            description: self.describe(),
            input_schema: json!({"type": "object", "properties": properties}),
        }
    }
}
