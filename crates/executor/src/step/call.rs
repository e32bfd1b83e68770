//! API calls of steps: made if the catalog allows it, with the response converted to rows.

use prospector_agent::plan::{
    Step,
    step::{OperationCall, reference},
};
use prospector_core::tool::{ToolError, ToolErrorCode};
use prospector_discovery::{DiscoveryTools, Profile};
use serde_json::{Map, Value, json};

use super::StepRunner;
use crate::{input::Inputs, record::StepRun};

/// Limit on the columns of a response.
const MAX_COLUMNS: usize = 100;
/// Limit on the rows of a response.
const MAX_ROWS: usize = 10_000;

impl StepRunner<'_> {
    /// Calls the operation of the step, and converts the response to rows.
    pub(super) async fn call(&self, step: &Step, call: &OperationCall, inputs: &Inputs, done: &mut StepRun) {
        let id = &call.operation;
        let Some((api, operation)) = self.catalog.apis.find_operation(id) else {
            return done.fail("not_found", format!("unknown operation `{id}`"), None);
        };
        if step.writes {
            let advice = "remove the step, and make the change manually";
            return done.fail(
                "refused",
                format!("`{id}` modifies data, but runs are read-only"),
                Some(advice.to_owned()),
            );
        }
        let arguments = match find_arguments(call, inputs).await {
            Ok(arguments) => arguments,
            Err(missing) => {
                let advice = "select one row in that step, or use a literal value".to_owned();
                return done.fail("missing_argument", missing.to_string(), Some(advice));
            }
        };
        let tools = DiscoveryTools::new(self.catalog, Profile::DEFAULT);
        let sent = json!({"api": api.name, "operation": operation.name, "arguments": arguments});
        match tools.call(DiscoveryTools::INVOKE_TOOL, sent).await {
            Ok(answer) => {
                let answer = answer.json();
                let answer =
                    if operation.method == "QUERY" { unwrap_data(&answer["answer"]) } else { &answer["answer"] };
                let (columns, rows) = make_rows(answer);
                done.notes.push(format!("called {id} with {}", Value::Object(arguments)));
                done.has_more = rows.len() > MAX_ROWS;
                done.row_count = Some(rows.len().min(MAX_ROWS));
                done.rows = rows.into_iter().take(MAX_ROWS).collect();
                done.columns = columns;
            }
            // Without callable APIs the tool does not exist.
            Err(ToolError::Respond { code: ToolErrorCode::UnknownTool, .. }) => {
                let message = format!("`{id}` was not called: the catalog does not allow calls of `{}`", api.name);
                let advice = format!("set `invoke: true` for `{}` in the catalog, or remove this step", api.name);
                done.fail(ToolErrorCode::NotCalled.to_string(), message, Some(advice));
            }
            Err(ToolError::Respond { code, message, suggestion }) => {
                done.fail(code.to_string(), format!("{id}: {message}"), suggestion);
            }
            Err(error) => done.fail("failed", format!("{id}: {error}"), None),
        }
    }
}

/// A column used as an argument does not have exactly one value.
#[derive(Debug, thiserror::Error)]
#[error("argument `{argument}`: `{column}` does not have exactly one value")]
struct NoSingleValue {
    argument: String,
    column: String,
}

/// Resolves the arguments of a call, with the values of earlier outputs.
///
/// # Errors
/// If a column does not have exactly one value.
async fn find_arguments(call: &OperationCall, inputs: &Inputs) -> Result<Map<String, Value>, NoSingleValue> {
    let mut arguments = Map::new();
    for (name, given) in &call.arguments {
        let value = match reference(given) {
            None => given.clone(),
            Some(column) => {
                let (output, own) = column.split_once('.').unwrap_or_default();
                let value = inputs.only_value(&output.to_lowercase(), own).await;
                value.ok_or_else(|| NoSingleValue { argument: name.clone(), column: column.to_owned() })?
            }
        };
        arguments.insert(name.clone(), value);
    }
    Ok(arguments)
}

/// Returns the value of the only field of a GraphQL response: `value` in `{"data": {"order": value}}`.
fn unwrap_data(answer: &Value) -> &Value {
    let fields = answer.get("data").and_then(Value::as_object).filter(|fields| fields.len() == 1);
    fields.and_then(|fields| fields.values().next()).filter(|value| !value.is_null()).unwrap_or(answer)
}

/// Converts a response to rows: a list of objects, the only such list in an object, or the object itself.
fn make_rows(answer: &Value) -> (Vec<String>, Vec<Vec<Value>>) {
    let is_list = |value: &&Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_object));
    let inner = answer.as_object().map(|fields| fields.values().filter(is_list).collect::<Vec<_>>());
    let items: Vec<&Value> = match (answer, inner.as_deref()) {
        (Value::Array(items), _) => items.iter().collect(),
        (_, Some([Value::Array(items)])) if !items.is_empty() => items.iter().collect(),
        _ => vec![answer],
    };
    let mut columns: Vec<String> = Vec::new();
    for name in items.iter().filter_map(|item| item.as_object()).flat_map(Map::keys) {
        if columns.len() < MAX_COLUMNS && !columns.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            columns.push(name.clone());
        }
    }
    if columns.is_empty() {
        return (vec!["value".to_owned()], items.into_iter().map(|item| vec![flatten(item)]).collect());
    }
    let row = |item: &&Value| columns.iter().map(|name| item.get(name).map(flatten).unwrap_or_default()).collect();
    let rows = items.iter().map(row).collect();
    (columns, rows)
}

/// Converts a value to a cell.
fn flatten(value: &Value) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) => Value::String(value.to_string()),
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: Value, columns: &[&str], rows: Value) {
        let (own, made) = make_rows(&answer);
        assert_eq!((own, json!(made)), (columns.iter().map(|name| (*name).to_owned()).collect(), rows), "{answer}");
    }

    #[test]
    fn answers_become_rows() {
        check(json!([{"id": 1}, {"id": 2, "tags": ["a"]}]), &["id", "tags"], json!([[1, null], [2, "[\"a\"]"]]));
        check(json!({"total": 2, "items": [{"id": 1}]}), &["id"], json!([[1]]));
        check(json!({"id": 7, "name": "x"}), &["id", "name"], json!([[7, "x"]]));
        check(json!({"items": []}), &["items"], json!([["[]"]]));
        check(json!("late"), &["value"], json!([["late"]]));
        check(unwrap_data(&json!({"data": {"order": {"id": 7}}})).clone(), &["id"], json!([[7]]));
        check(unwrap_data(&json!({"data": {"order": null}})).clone(), &["data"], json!([["{\"order\":null}"]]));
    }
}
