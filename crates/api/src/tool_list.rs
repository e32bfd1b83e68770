//! Locates the definitions of tools in documents of different providers.

use serde_json::Value;

/// Returns the list of tools in a document, and the JSON pointer to it.
pub(crate) fn find_tools(root: &Value) -> Option<(&Vec<Value>, &'static str)> {
    let places = ["/tools", "/result/tools", ""];
    places.into_iter().find_map(|place| Some((root.pointer(place)?.as_array()?, place)))
}

/// Returns whether a document is a list of tools: its first entry has a name and an input schema.
pub(crate) fn is_tools(root: &Value) -> bool {
    let first = find_tools(root).and_then(|(tools, _)| tools.first());
    first.is_some_and(|tool| {
        let function = function_of(tool);
        function.get("name").is_some_and(Value::is_string)
            && (schema_of(function).is_some() || function["type"] == "function")
    })
}

/// Returns the definition of a tool: the entry itself, or its `function`.
pub(crate) fn function_of(tool: &Value) -> &Value {
    tool.get("function").filter(|function| function.is_object()).unwrap_or(tool)
}

/// Returns the JSON Schema of a tool's input.
pub(crate) fn schema_of(tool: &Value) -> Option<&Value> {
    let keys = ["inputSchema", "input_schema", "parameters"];
    keys.into_iter().find_map(|key| tool.get(key)).filter(|schema| schema.is_object())
}
