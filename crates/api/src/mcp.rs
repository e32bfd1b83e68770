//! Converts definitions of tools to operations: the result of `tools/list` of an MCP server, its list alone, and
//! functions in the formats of OpenAI and Anthropic.
//!
//! The schema of each tool is a separate document, in which references start with `#`. The references are rebased
//! into one document, so that one schema parser reads all tools and equal type names do not clash.

use std::collections::HashSet;

use prospector_core::Problem;
use prospector_text::cut;
use serde_json::{Map, Value, json};

use crate::{
    Api, ApiKind, Operation,
    library::{Library, Neighbour, Node},
    model::{Field, Location, Parameter, Shape},
    naming,
    openapi::{MAX_DESCRIPTION, MAX_ID_BYTES, MAX_OPERATIONS, MAX_REMARK},
    prose,
    schema::Schemas,
    tool_list::{find_tools, function_of, schema_of},
};

/// Maximum number of parameters of a tool.
const MAX_PARAMETERS: usize = 500;

/// Maximum length of a parameter's name in bytes.
const MAX_NAME_BYTES: usize = 120;

/// Reads every tool; an invalid tool is a problem at its pointer and does not affect others.
pub(crate) fn read(root: &Value, place: &str, own: &str, neighbour: Neighbour<'_>) -> (Api, Vec<Problem>) {
    let mut problems = Vec::new();
    let (tools, pointer) = find_tools(root).map_or((&[][..], ""), |(tools, pointer)| (tools.as_slice(), pointer));
    let mut named: Vec<(String, &Value)> = Vec::new();
    let mut schemas: Vec<Value> = Vec::new();
    for (number, tool) in tools.iter().enumerate().take(MAX_OPERATIONS) {
        let place = format!("{place}#{pointer}/{number}");
        let function = function_of(tool);
        match function.get("name").and_then(Value::as_str).map(str::trim) {
            None | Some("") => problems.push(Problem::error(place, "the tool has no name")),
            Some(name) if name.len() > MAX_ID_BYTES => {
                problems
                    .push(Problem::error(place, format!("the name of the tool is longer than {MAX_ID_BYTES} bytes")));
            }
            Some(_) => {
                let at = schemas.len();
                let rebased = |side: &str, schema: Option<&Value>| {
                    let mut schema = schema.cloned().unwrap_or_else(|| json!({}));
                    rebase(&mut schema, &format!("#/{at}/{side}"));
                    schema
                };
                let output = function.get("outputSchema").or_else(|| function.get("output_schema"));
                schemas
                    .push(json!({"input": rebased("input", schema_of(function)), "output": rebased("output", output)}));
                named.push((place, function));
            }
        }
    }
    if tools.len() > MAX_OPERATIONS {
        let reason = format!("more than {MAX_OPERATIONS} tools; the rest were skipped");
        problems.push(Problem::warning(place, reason));
    }
    if tools.is_empty() {
        problems.push(Problem::error(place, "the list of tools is empty"));
    }
    let (library, more) = Library::new(Value::Array(schemas), own, neighbour);
    problems.extend(more);
    let mut reader = Reader { schemas: Schemas::new(&library), problems, warned: HashSet::new() };
    let document = library.root();
    let mut operations: Vec<Operation> = Vec::new();
    for (number, (place, tool)) in named.iter().enumerate() {
        let node = Node { value: &document.value[number], ..document };
        operations.push(reader.operation(tool, node, place));
    }
    naming::assign(&mut operations);
    let (types, _) = reader.schemas.types();
    let Reader { problems, .. } = reader;
    let said = ["description", "instructions"].into_iter().find_map(|key| root.get(key)?.as_str());
    let description = cut::sentences(&prose::plain(said.unwrap_or_default()), MAX_DESCRIPTION);
    let files = library.others().map(Into::into).collect();
    (Api { kind: ApiKind::Mcp, description, operations, types, files, ..Api::default() }, problems)
}

/// Prefixes every reference within the document with `base`.
fn rebase(schema: &mut Value, base: &str) {
    match schema {
        Value::Object(parts) => {
            for (key, value) in parts.iter_mut() {
                match value {
                    Value::String(reference) if key == "$ref" => {
                        if let Some(rest) = reference.strip_prefix('#') {
                            *reference = format!("{base}{rest}");
                        }
                    }
                    value => rebase(value, base),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rebase(item, base)),
        _ => {}
    }
}

struct Reader<'a> {
    schemas: Schemas<'a>,
    problems: Vec<Problem>,
    warned: HashSet<String>,
}

impl<'a> Reader<'a> {
    /// `schemas` contains the schemas `input` and `output`.
    fn operation(&mut self, tool: &Value, schemas: Node<'a>, place: &str) -> Operation {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let hints = tool.get("annotations").unwrap_or(&Value::Null);
        let title = Some(text(tool, "title")).filter(|title| !title.is_empty()).unwrap_or_else(|| text(hints, "title"));
        let name = text(tool, "name").trim().to_owned();
        let (parameters, request_body) = self.input(Node { value: &schemas.value["input"], ..schemas }, place);
        let output = Node { value: &schemas.value["output"], ..schemas };
        let is_described = output.value.as_object().is_some_and(|parts| !parts.is_empty());
        let response_schema = is_described.then(|| self.schemas.shape(output));
        for reason in std::mem::take(&mut self.schemas.missing) {
            if self.warned.insert(reason.clone()) {
                self.problems.push(Problem::warning(place, reason));
            }
        }
        Operation {
            path: name.clone(),
            name,
            method: match hints.get("readOnlyHint").and_then(Value::as_bool) {
                Some(true) => "READ".to_owned(),
                Some(false) => "WRITE".to_owned(),
                None => "CALL".to_owned(),
            },
            description: cut::sentences(&prose::join(&title, &text(tool, "description")), MAX_DESCRIPTION),
            parameters,
            request_body,
            response_schema,
            ..Operation::default()
        }
    }

    /// Returns one parameter per argument, and a body with the arguments whose type does not fit on a line.
    fn input(&mut self, schema: Node<'a>, place: &str) -> (Vec<Parameter>, Option<Shape>) {
        let empty = Map::new();
        let properties = schema.value.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        if properties.len() > MAX_PARAMETERS {
            let reason = format!("only the first {MAX_PARAMETERS} of {} parameters are read", properties.len());
            self.problems.push(Problem::warning(place, reason));
        }
        let required: HashSet<&str> = schema
            .value
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let (mut parameters, mut fields) = (Vec::new(), Vec::new());
        for name in properties.keys().filter(|name| name.len() <= MAX_NAME_BYTES).take(MAX_PARAMETERS) {
            let value = &schema.value["properties"][name.as_str()];
            let node = Node { value, ..schema };
            let is_required = required.contains(name.as_str());
            let (values, default) = self.schemas.values(node);
            parameters.push(Parameter {
                name: name.clone(),
                location: Location::Argument,
                r#type: self.schemas.type_name(node),
                required: is_required,
                is_credential: false,
                description: cut::sentences(
                    &prose::plain(value.get("description").and_then(Value::as_str).unwrap_or_default()),
                    MAX_REMARK,
                ),
                values,
                default,
            });
            let shape = self.schemas.shape(node);
            if has_parts(&shape) {
                let name = name.clone();
                fields.push(Field { name, shape, required: is_required, read_only: false, write_only: false });
            }
        }
        (parameters, (!fields.is_empty()).then_some(Shape::Object { fields, rest: None, besides: Vec::new() }))
    }
}

/// Returns whether a shape has more than its type on one line shows.
fn has_parts(shape: &Shape) -> bool {
    match shape {
        Shape::Word(_) | Shape::Unresolved(_) | Shape::Cut(_) | Shape::Cycle(_) | Shape::Content(_, None) => false,
        Shape::List(inner) | Shape::Content(_, Some(inner)) => has_parts(inner),
        Shape::OneOf(shapes) | Shape::AnyOf(shapes) => shapes.iter().any(has_parts),
        Shape::Object { .. } | Shape::Named(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ApiDiscovery, ApiKind, ApiSource,
        details::{PartRequest, details},
    };

    const TOOLS: &str = r##"{"tools": [
        {"name": "search_issues", "title": "Search", "description": "Finds issues by <b>text</b>.",
         "inputSchema": {"type": "object", "required": ["query"], "$defs": {"Range": {"properties": {"from": {"type": "string", "format": "date"}}}},
            "properties": {"query": {"type": "string", "description": "What to look for"},
                           "state": {"enum": ["open", "closed"], "default": "open"},
                           "created": {"$ref": "#/$defs/Range"}}},
         "outputSchema": {"type": "object", "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/Issue"}}},
            "$defs": {"Issue": {"properties": {"id": {"type": "integer"}}}}},
         "annotations": {"readOnlyHint": true}},
        {"name": "close_issue", "inputSchema": {"properties": {"id": {"$ref": "#/$defs/Range"}}, "$defs": {"Range": {"type": "integer"}}},
         "annotations": {"readOnlyHint": false, "title": "Close an issue"}},
        {"description": "nameless"}, 7
    ]}"##;

    /// Checks the operations of a document as `METHOD name(parameters)`.
    fn check(text: &str, kind: Option<ApiKind>, expected: &[&str]) {
        let (api, _) = ApiSource { kind, ..ApiSource::new("tracker", "tools.json") }.read(text).unwrap();
        assert_eq!(api.kind, ApiKind::Mcp);
        let found: Vec<String> = api
            .operations
            .iter()
            .map(|o| {
                let names: Vec<&str> = o.parameters.iter().map(|p| p.name.as_str()).collect();
                format!("{} {}({})", o.method, o.name, names.join(", "))
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn reads_tools_of_every_format() {
        check(TOOLS, None, &["READ search_issues(query, state, created)", "WRITE close_issue(id)"]);
        check(
            &format!("{{\"jsonrpc\": \"2.0\", \"result\": {TOOLS}}}"),
            None,
            &["READ search_issues(query, state, created)", "WRITE close_issue(id)"],
        );
        check("- name: a\n  inputSchema: {type: object}", None, &["CALL a()"]);
        let function = r#"{"name": "a", "parameters": {"type": "object", "properties": {"b": {"type": "integer"}}}}"#;
        check(&format!("[{{\"type\": \"function\", \"function\": {function}}}]"), None, &["CALL a(b)"]);
        check(r#"{"tools": [{"type": "function", "name": "a", "parameters": {}}]}"#, None, &["CALL a()"]);
        check(r#"[{"name": "a", "input_schema": {"properties": {"c": {}}}}]"#, None, &["CALL a(c)"]);
        check(r#"[{"name": "a", "description": "A"}]"#, Some(ApiKind::Mcp), &["CALL a()"]);
    }

    #[test]
    fn shows_tools_with_types_and_reports_invalid_ones() {
        let (api, problems) = ApiSource::new("tracker", "").read(TOOLS).unwrap();
        let shown = |number: usize| json!(details(&api, &api.operations[number], PartRequest::default()).unwrap());
        assert_eq!(
            shown(0),
            json!({"api": "tracker", "operation": "search_issues", "type": "tool", "method": "READ", "path": "search_issues",
                "access": "reads", "description": "Search. Finds issues by text .",
                "parameters": [
                    {"name": "query", "location": "argument", "type": "string", "required": true, "description": "What to look for"},
                    {"name": "state", "location": "argument", "type": "string", "enum": ["open", "closed"], "default": "open"},
                    {"name": "created", "location": "argument", "type": "object"}],
                "request_body": {"created": {"from": "string (date)"}},
                "response_schema": {"items": [{"id": "integer"}]},
                "example": {"operation": "tracker.search_issues", "arguments": {"query": "..."}}})
        );
        assert_eq!(shown(1)["parameters"], json!([{"name": "id", "location": "argument", "type": "integer"}]));
        assert_eq!(shown(1)["description"], "Close an issue");
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            ["error: tracker#/tools/2: the tool has no name", "error: tracker#/tools/3: the tool has no name"]
        );
    }

    #[test]
    fn tool_records_contain_input_and_output() {
        let records = ApiDiscovery::new(vec![ApiSource::new("tracker", "").read(TOOLS).unwrap().0]).records();
        assert_eq!((records[0].id.as_str(), records[0].name.as_str()), ("tracker.search_issues", "search_issues"));
        assert_eq!(records[0].aliases, ["READ search_issues", "tracker READ search_issues"]);
        assert_eq!(records[0].body, "query What to look for\nstate\ncreated\ncreated\nitems\nfrom\nid");
    }

    #[test]
    fn rejects_other_lists() {
        for text in [r#"{"tools": ["hammer"]}"#, r#"[{"name": "a"}]"#, "[]", r#"{"tools": {}}"#] {
            assert!(ApiSource::new("x", "").read(text).is_err(), "{text}");
        }
        let source = ApiSource { kind: Some(ApiKind::Mcp), ..ApiSource::new("x", "") };
        assert!(source.read("openapi: 3.0.0\npaths: {}").is_err());
        let (api, problems) = source.read("tools: []").unwrap();
        assert!(api.operations.is_empty() && problems[0].reason.contains("empty"));
    }
}
