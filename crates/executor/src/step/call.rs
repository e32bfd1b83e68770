//! Operations of a step: called where the catalog allows it, and answers become rows.

use prospector_agent::plan::Step;
use prospector_connect::{
    filter::{FilterCondition, FilterOp},
    query::Condition,
};
use prospector_core::tool::{ToolError, ToolErrorCode};
use prospector_discovery::{DiscoveryTools, Profile};
use serde_json::{Map, Value, json};

use super::StepRunner;
use crate::{
    input::Inputs,
    record::{StepRun, StepStatus},
};

/// A parameter that an operation requires and nothing gives.
struct MissingParameter(String);

/// So many columns are made of an answer.
const MAX_COLUMNS: usize = 100;
/// So many rows are kept of an answer.
const MAX_ROWS: usize = 10_000;

impl StepRunner<'_> {
    /// Calls the operations of the step. The answer of the last becomes its rows.
    pub(super) async fn call_operations(&self, step: &Step, inputs: &Inputs, done: &mut StepRun) {
        if step.operations.is_empty() {
            return;
        }
        let tools = DiscoveryTools::new(self.catalog, Profile::DEFAULT);
        for id in &step.operations {
            let Some((api, operation)) = id.split_once('.') else { continue };
            if step.writes {
                let advice = "take the step out, and make the change by hand";
                done.fail("refused", format!("{id} changes something, and a run only reads"), Some(advice.to_owned()));
                return;
            }
            let arguments = match self.find_arguments(step, inputs, api, operation).await {
                Ok(arguments) => arguments,
                Err(MissingParameter(parameter)) => {
                    let advice = format!(
                        "give the step the filter `{parameter} = 'value'` or `{parameter} = step_1_results.column`, or an input \
                         of one row that has a column called so"
                    );
                    done.fail("missing_argument", format!("{id} needs `{parameter}`"), Some(advice));
                    return;
                }
            };
            let call = json!({"api": api, "operation": operation, "arguments": arguments});
            match tools.call(DiscoveryTools::INVOKE_TOOL, call).await {
                Ok(answer) => {
                    let (columns, rows) = make_rows(&answer.json()["answer"]);
                    done.notes.push(format!("called {id} with {}", Value::Object(arguments)));
                    done.has_more = rows.len() > MAX_ROWS;
                    done.row_count = Some(rows.len().min(MAX_ROWS));
                    done.rows = rows.into_iter().take(MAX_ROWS).collect();
                    done.columns = columns;
                }
                // Without any API that may be called there is no such tool.
                Err(ToolError::Respond { code: ToolErrorCode::UnknownTool, .. }) => {
                    let message = format!("{id} was not called: the catalog does not allow calls of `{api}`");
                    let advice = format!("write `invoke: true` for `{api}` in the catalog, or go on without this step");
                    done.fail(ToolErrorCode::NotCalled.to_string(), message, Some(advice));
                    return;
                }
                Err(ToolError::Respond { code, message, suggestion }) => {
                    done.fail(code.to_string(), format!("{id}: {message}"), suggestion);
                    return;
                }
                Err(error) => {
                    done.fail("failed", format!("{id}: {error}"), None);
                    return;
                }
            }
        }
        debug_assert!(done.status == StepStatus::Done);
    }

    /// The arguments of a call, from the step's conditions or from an input that has one row.
    ///
    /// # Errors
    /// The parameter that is required and not found.
    async fn find_arguments(
        &self,
        step: &Step,
        inputs: &Inputs,
        api: &str,
        operation: &str,
    ) -> Result<Map<String, Value>, MissingParameter> {
        let mut arguments = Map::new();
        let Ok((_, known)) = self.catalog.apis.operation(api, operation) else { return Ok(arguments) };
        for parameter in &known.parameters {
            let is_required = parameter.required && parameter.default.is_none();
            let names = |name: &str| plain(name.rsplit('.').next().unwrap_or(name)) == plain(&parameter.name);
            // Alternatives say no value.
            let stated = step.filter.iter().filter_map(|condition| match condition {
                Condition::One(filter) => Some(filter),
                Condition::All(_) | Condition::Any(_) => None,
            });
            let mut stated = stated.filter(|filter| filter.op == FilterOp::Eq && names(&filter.column));
            let stated = stated.next();
            let mut value = match stated {
                Some(filter) => self.find_value(filter, inputs).await,
                None => None,
            };
            if value.is_none() && is_required {
                for name in &step.inputs {
                    let Some(input) = inputs.find(name) else { continue };
                    let (Some(alias), Some(column)) = (&input.alias, input.columns.iter().find(|column| names(column)))
                    else {
                        continue;
                    };
                    value = self.only_value(alias, column).await;
                }
            }
            match value {
                Some(value) => {
                    arguments.insert(parameter.name.clone(), value);
                }
                None if is_required || stated.is_some() => return Err(MissingParameter(parameter.name.clone())),
                None => {}
            }
        }
        Ok(arguments)
    }

    /// What a condition equates with: a value, or the only one in the column of an input.
    async fn find_value(&self, filter: &FilterCondition, inputs: &Inputs) -> Option<Value> {
        let named = filter.reference().or_else(|| filter.value.as_str());
        match named.and_then(|name| inputs.find_column(name)) {
            Some((input, column)) => self.only_value(input.alias.as_ref()?, &column).await,
            None if filter.reference().is_some() => None,
            None => Some(filter.value.clone()),
        }
    }

    /// The value of a column that has one.
    async fn only_value(&self, alias: &str, column: &str) -> Option<Value> {
        let column = column.to_lowercase().replace('"', "\"\"");
        let sql = format!("SELECT DISTINCT \"{column}\" FROM scoped.{alias} WHERE \"{column}\" IS NOT NULL");
        let found = self.engine.run(&sql, None, 2).await.ok()?.rows;
        match found.rows.as_slice() {
            [row] if !found.has_more => row.first().cloned(),
            _ => None,
        }
    }
}

/// A name without what writers differ in.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The rows of an answer: of a list of objects, of the only such list in an object, or of the object itself.
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

/// A value that fits into a cell.
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
    }
}
