//! Where the definitions of tools stand in a document, whoever wrote it.

use serde_json::Value;

/// The list of tools in a document, and the pointer to it. It is the only list that has the place of one.
pub(crate) fn find_tools(root: &Value) -> Option<(&Vec<Value>, &'static str)> {
    let places = ["/tools", "/result/tools", ""];
    places.into_iter().find_map(|place| Some((root.pointer(place)?.as_array()?, place)))
}

/// Whether a document is a list of tools: its first entry has a name and says what it takes.
pub(crate) fn is_tools(root: &Value) -> bool {
    let first = find_tools(root).and_then(|(tools, _)| tools.first());
    first.is_some_and(|tool| {
        let function = function_of(tool);
        function.get("name").is_some_and(Value::is_string)
            && (schema_of(function).is_some() || function["type"] == "function")
    })
}

/// What describes a tool: itself, or the `function` in it.
pub(crate) fn function_of(tool: &Value) -> &Value {
    tool.get("function").filter(|function| function.is_object()).unwrap_or(tool)
}

/// The JSON Schema of what a tool takes.
pub(crate) fn schema_of(tool: &Value) -> Option<&Value> {
    let keys = ["inputSchema", "input_schema", "parameters"];
    keys.into_iter().find_map(|key| tool.get(key)).filter(|schema| schema.is_object())
}
