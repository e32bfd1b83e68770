//! Verifies arguments of operations: names, required arguments, types, and references to earlier steps.

use prospector_api::{Api, ApiKind, Operation, model::Parameter};
use prospector_core::name::nearest;
use prospector_core::record::ResourceKind;
use serde_json::Value;

use super::{
    Action, Check, Code, Finding, Step,
    columns::{MissingField, check_path, list_columns},
    queries::Queries,
};
use crate::plan::step::{OperationCall, reference};

impl Check<'_> {
    /// Verifies the call of a step.
    pub(super) fn call(
        &mut self,
        path: &str,
        step: &mut Step,
        call: OperationCall,
        earlier: &[Step],
        queries: Option<&mut Queries<'_>>,
    ) {
        let path = format!("{path}.call");
        let mut name = vec![call.operation.clone()];
        self.names(&format!("{path}.operation"), ResourceKind::Operation, &mut name);
        let id = name.concat();
        step.resources.operations = vec![id.clone()];
        if let Action::Call(own) = &mut step.action {
            own.operation.clone_from(&id);
        }
        if self.names.writes(&id) == Some(true) {
            step.writes = true;
            let finding =
                Finding::new(path.as_str(), Code::Writes, format!("`{id}` has side effects, and runs are read-only"));
            self.fail(finding.suggest("remove the step, and say in `clarifications` which change is to be made"));
        }
        for (argument, output, column) in call.references() {
            let is_output = |step: &&Step| step.outputs.iter().any(|own| own.eq_ignore_ascii_case(output));
            let Some(from) = earlier.iter().filter(|step| step.has_rows()).find(is_output) else {
                let message = format!("argument `{argument}`: no earlier step has the output `{output}`");
                self.fail(Finding::new(format!("{path}.arguments"), Code::UnknownInput, message));
                continue;
            };
            if !step.inputs.contains(&from.output()) {
                step.inputs.push(from.output());
            }
            let columns = queries.as_ref().and_then(|queries| queries.columns(&from.output()));
            if let Some(missing) = self.find_missing(from, column, columns) {
                let owner = if missing.parent.is_empty() { output } else { &missing.parent };
                let message = format!("argument `{argument}`: `{owner}` has no column `{}`", missing.name);
                let near = nearest(&missing.name, missing.known.iter().map(String::as_str), 3);
                self.fail(Finding::new(format!("{path}.arguments"), Code::UnknownInput, message).suggest_names(&near));
            }
        }
        let operation = self.names.catalog().and_then(|catalog| catalog.apis.find_operation(&id));
        if let Some(queries) = queries {
            queries.assume(&step.output(), &operation.map(|(api, own)| list_columns(api, own)).unwrap_or_default());
        }
        let Some((api, operation)) = operation else { return };
        if let Some(finding) = self.find_obstacle(&path, api, operation) {
            self.outcome.executable = false;
            self.outcome.warnings.push(finding);
        }
        self.outcome.failed.extend(check_arguments(&path, operation, &call));
        self.outcome.checked += call.arguments.len();
    }

    /// Returns why the call cannot run.
    fn find_obstacle(&self, path: &str, api: &Api, operation: &Operation) -> Option<Finding> {
        let id = api.id_of(operation);
        let not_executable = |message| Finding::new(path, Code::NotExecutable, message);
        let is_sent = api.kind == ApiKind::Mcp || matches!(operation.method.as_str(), "GET" | "QUERY");
        if !is_sent {
            let message = format!(
                "`{id}` is a {}; a run calls only GET operations, GraphQL queries and MCP tools",
                operation.method
            );
            return Some(not_executable(message));
        }
        let refused = self.names.catalog()?.permits_call(api, operation).err()?;
        Some(not_executable(refused.reason).suggest(refused.advice))
    }

    /// Returns the first field of a path that the output of a step lacks, by its columns or by the response schema of a call.
    fn find_missing(&self, from: &Step, column: &str, columns: Option<&[String]>) -> Option<MissingField> {
        if let Action::Call(call) = &from.action {
            let (api, operation) = self.names.catalog()?.apis.find_operation(&call.operation)?;
            return check_path(api, operation, column).err();
        }
        let known = columns?;
        let is_known = known.iter().any(|own| own.eq_ignore_ascii_case(column));
        let missing = MissingField { name: column.to_owned(), parent: String::new(), known: known.to_vec() };
        (!is_known).then_some(missing)
    }
}

/// Verifies the arguments of a call.
fn check_arguments(path: &str, operation: &Operation, call: &OperationCall) -> Vec<Finding> {
    let mut findings = Vec::new();
    let path = format!("{path}.arguments");
    let body = operation.request_body.as_ref();
    for (name, value) in &call.arguments {
        let Some(parameter) = operation.parameters.iter().find(|one| one.name == *name) else {
            // The fields of a body are verified when it is sent.
            if body.is_none() {
                let names = operation.parameters.iter().map(|one| one.name.as_str());
                let message = format!("`{}` has no parameter `{name}`", call.operation);
                findings.push(
                    Finding::new(path.as_str(), Code::InvalidArgument, message).suggest_names(&nearest(name, names, 3)),
                );
            }
            continue;
        };
        if reference(value).is_none() {
            findings.extend(check_value(&path, name, parameter, value));
        }
    }
    let is_missing = |one: &&Parameter| {
        one.required
            && one.default.is_none()
            && !is_credential(operation, one)
            && !call.arguments.contains_key(&one.name)
    };
    for parameter in operation.parameters.iter().filter(is_missing) {
        let message = format!("`{}` requires the argument `{}` ({})", call.operation, parameter.name, parameter.r#type);
        let suggestion = format!(
            "write `\"arguments\": {{\"{name}\": value}}`, or `{{\"column\": \"step_1.column\"}}` for the value of an \
             earlier step, or ask for it in `clarifications`",
            name = parameter.name
        );
        findings.push(Finding::new(path.as_str(), Code::MissingArgument, message).suggest(suggestion));
    }
    findings
}

/// Returns whether a parameter authorises the call. Such parameters are set by the program, not by plans.
fn is_credential(operation: &Operation, parameter: &Parameter) -> bool {
    operation.auth.iter().any(|way| way.split(" + ").any(|one| one.ends_with(&format!(" {}", parameter.name))))
}

/// Maximum number of listed values in a message.
const MAX_LISTED: usize = 20;

/// Verifies a value of a parameter, or the elements of an array.
fn check_value(path: &str, name: &str, parameter: &Parameter, value: &Value) -> Option<Finding> {
    let invalid = |reason: String| Finding::new(path, Code::InvalidArgument, format!("argument `{name}`: {reason}"));
    let element = element_type(&parameter.r#type);
    let kind = element.unwrap_or(&parameter.r#type);
    let elements: &[Value] = match (element, value) {
        (Some(_), Value::Array(elements)) => elements,
        _ => std::slice::from_ref(value),
    };
    let texts = |values: &[Value]| values.iter().map(plain).collect::<Vec<String>>();
    if !parameter.values.is_empty() {
        let known = texts(&parameter.values);
        let unlisted = texts(elements).into_iter().find(|text| !known.contains(text))?;
        let more = known.len().saturating_sub(MAX_LISTED);
        let cut = if more == 0 {
            String::new()
        } else {
            format!(" and {more} more; describe `#{name}` of the operation to list them")
        };
        let shown: Vec<&str> = known.iter().take(MAX_LISTED).map(String::as_str).collect();
        let finding = invalid(format!("`{unlisted}` is not among {}{cut}", shown.join(", ")));
        return Some(finding.suggest_names(&nearest(&unlisted, known.iter().map(String::as_str), 3)));
    }
    let fits = |text: &str| match kind.trim_end_matches('!') {
        "integer" | "Int" => text.parse::<i64>().is_ok(),
        "number" | "Float" => text.parse::<f64>().is_ok(),
        "boolean" | "Boolean" => matches!(text, "true" | "false"),
        _ => true,
    };
    let unfit = texts(elements).into_iter().find(|text| !fits(text))?;
    Some(invalid(format!("`{unfit}` is not of type {kind}")))
}

/// Returns the element type of `array of integer` or of GraphQL's `[Int!]!`.
fn element_type(written: &str) -> Option<&str> {
    let inner = written.trim_end_matches('!').strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    written.strip_prefix("array of ").or(inner)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_compared_with_the_type_and_the_listed_values() {
        let many: Vec<String> = (0..59).map(|number| format!("value_{number}")).collect();
        let cases = [
            ("string", json!(["open", "closed"]), json!("open"), None),
            ("string", json!(["open", "closed"]), json!("opn"), Some("`opn` is not among open, closed")),
            ("array of string", json!(["open", "closed"]), json!(["open", "closed"]), None),
            ("array of string", json!(["open", "closed"]), json!("open"), None),
            ("[State!]!", json!(["OPEN"]), json!(["OPEN"]), None),
            ("array of string", json!(["open", "closed"]), json!(["open", "gone"]), Some("`gone` is not among")),
            ("string", json!(["open"]), json!(["open"]), Some("`[\"open\"]` is not among open")),
            (
                "string",
                json!(many),
                json!("value_99"),
                Some("and 39 more; describe `#p` of the operation to list them"),
            ),
            ("integer", json!([]), json!("7"), None),
            ("integer", json!([]), json!("Ada"), Some("`Ada` is not of type integer")),
            ("array of integer", json!([]), json!([1, "x"]), Some("`x` is not of type integer")),
            ("[Int!]", json!([]), json!([1, 2]), None),
        ];
        for (kind, values, value, expected) in cases {
            let fields = json!({"name": "p", "location": "query", "type": kind, "enum": values});
            let parameter: Parameter = serde_json::from_value(fields).unwrap();
            let found = check_value("plan", "p", &parameter, &value);
            match (found, expected) {
                (None, None) => {}
                (Some(finding), Some(part)) => assert!(finding.message.contains(part), "{finding}"),
                (found, expected) => panic!("{kind} {value}: {found:?} is not {expected:?}"),
            }
        }
    }
}
