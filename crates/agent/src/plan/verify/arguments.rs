//! Arguments of operations: known, given where they are required, of a fitting type, and from earlier steps where they say so.

use prospector_api::{
    Api, Operation,
    model::{Field, Parameter, Shape},
};
use prospector_core::name::nearest;
use prospector_core::record::ResourceKind;
use prospector_discovery::Catalog;
use serde_json::Value;

use super::{Check, Code, Finding, Step, queries::Queries};
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
        if let super::Action::Call(own) = &mut step.action {
            own.operation.clone_from(&id);
        }
        if self.names.writes(&id) == Some(true) {
            step.writes = true;
            let finding =
                Finding::new(path.as_str(), Code::Writes, format!("`{id}` changes something, and a run only reads"));
            self.fail(finding.suggest("remove the step, and say in `clarifications` which change is to be made"));
        }
        let outputs = earlier.iter().filter(|step| step.has_rows());
        for (argument, output, column) in call.references() {
            let known = outputs.clone().find(|step| step.outputs.iter().any(|own| own.eq_ignore_ascii_case(output)));
            let Some(from) = known else {
                let message = format!("argument `{argument}`: no earlier step has the output `{output}`");
                self.fail(Finding::new(format!("{path}.arguments"), Code::UnknownInput, message));
                continue;
            };
            if !step.inputs.contains(&from.output()) {
                step.inputs.push(from.output());
            }
            let columns = queries.as_ref().and_then(|queries| queries.columns(&from.output()));
            if let Some(columns) = columns.filter(|all| !all.iter().any(|own| own.eq_ignore_ascii_case(column))) {
                let message = format!("argument `{argument}`: `{output}` has no column `{column}`");
                let near = nearest(column, columns.iter().map(String::as_str), 3);
                self.fail(Finding::new(format!("{path}.arguments"), Code::UnknownInput, message).suggest_names(&near));
            }
        }
        let operation = self.names.catalog().and_then(|catalog| find_operation(catalog, &id));
        if let Some(queries) = queries {
            queries.assume(&step.output(), &operation.map(|(api, own)| list_columns(api, own)).unwrap_or_default());
        }
        let Some((_, operation)) = operation else { return };
        self.outcome.failed.extend(check_arguments(&path, operation, &call));
        self.outcome.checked += call.arguments.len();
    }
}

/// What is wrong with the arguments of a call.
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
        if reference(value).is_none()
            && let Some(reason) = check_value(parameter, value)
        {
            let message = format!("argument `{name}`: {reason}");
            findings.push(Finding::new(path.as_str(), Code::InvalidArgument, message));
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

/// The operation of an id.
fn find_operation<'a>(catalog: &'a Catalog, id: &str) -> Option<(&'a Api, &'a Operation)> {
    let apis = catalog.apis.apis().iter();
    let mut own = apis.filter(|api| id.strip_prefix(api.name.as_str()).is_some_and(|rest| rest.starts_with('.')));
    own.find_map(|api| Some((api, api.operations.iter().find(|operation| api.id_of(operation) == id)?)))
}

/// The columns of the rows that an answer becomes, as far as its schema says: of a list of objects, of the only such list in
/// an object, or of the object itself.
fn list_columns(api: &Api, operation: &Operation) -> Vec<String> {
    let Some(mut shape) = operation.response_schema.as_ref() else { return Vec::new() };
    for _ in 0..MAX_SHAPES {
        match shape {
            Shape::List(inner) => shape = inner,
            Shape::Named(name) => match api.types.get(name) {
                Some(named) => shape = named,
                None => return Vec::new(),
            },
            Shape::Object { fields, .. } => {
                let is_list = |field: &&Field| matches!(field.shape, Shape::List(_));
                let lists: Vec<&Field> = fields.iter().filter(is_list).collect();
                match lists.as_slice() {
                    [only] => shape = &only.shape,
                    _ => return fields.iter().map(|field| field.name.clone()).collect(),
                }
            }
            _ => return Vec::new(),
        }
    }
    Vec::new()
}

/// Shapes that are followed to the rows of an answer.
const MAX_SHAPES: usize = 8;

/// Whether a parameter is one by which a call is authorised: the program gives it, and no plan contains it.
fn is_credential(operation: &Operation, parameter: &Parameter) -> bool {
    operation.auth.iter().any(|way| way.split(" + ").any(|one| one.ends_with(&format!(" {}", parameter.name))))
}

/// Why a value cannot be that of a parameter; `None` where it may be.
fn check_value(parameter: &Parameter, value: &Value) -> Option<String> {
    if !parameter.values.is_empty() {
        let is_listed = |known: &&Value| *known == value || known.to_string().trim_matches('"') == plain(value);
        if parameter.values.iter().find(is_listed).is_none() {
            let all: Vec<String> = parameter.values.iter().take(20).map(plain).collect();
            return Some(format!("`{}` is not among {}", plain(value), all.join(", ")));
        }
        return None;
    }
    let text = plain(value);
    let fits = match parameter.r#type.trim_end_matches('!') {
        "integer" | "Int" => text.parse::<i64>().is_ok(),
        "number" | "Float" => text.parse::<f64>().is_ok(),
        "boolean" | "Boolean" => matches!(text.as_str(), "true" | "false"),
        _ => true,
    };
    (!fits).then(|| format!("`{text}` is not of type {}", parameter.r#type))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
