//! A step of a plan: exactly one action, and what is derived from it.
//!
//! In JSON an action is one field of the step: `sql`, `metrics`, `verified_query`, `call` or `read`. The lists of resources,
//! `inputs` and `outputs` are derived from the action and printed with it; a step without an action only names resources, and keeps its
//! lists as written.

use prospector_semantics::MetricQuery;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Step {
    /// 1, 2, 3...
    pub number: u32,
    /// The purpose of the step, in a sentence.
    pub goal: String,
    /// What is done.
    #[serde(flatten)]
    pub action: Action,
    /// The statement as a sentence, with the natural names of the catalog. Derived.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub explanation: String,
    /// The SQL of metrics or of a verified query. Derived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiled: Option<SqlQuery>,
    /// The resources that the step uses. Derived, except in a step that only names resources.
    #[serde(flatten)]
    pub resources: Resources,
    /// Whether the operation of the step changes something, according to the catalog. Derived.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
    /// Outputs of earlier steps that the step uses. Derived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// The names under which later steps use its rows: `step_1`. Derived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// Fields that no step has; they are reported by verification.
    #[serde(flatten, deserialize_with = "read_unknown")]
    pub unknown: Map<String, Value>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "ActionFields", into = "ActionFields")]
#[non_exhaustive]
pub enum Action {
    /// Runs one SELECT over catalog tables and outputs of earlier steps (`step_1`).
    Sql(SqlQuery),
    /// Queries metrics of the semantic layer.
    Metrics(MetricQuery),
    /// Runs a verified query.
    VerifiedQuery(QueryCall),
    /// Calls an operation of an API.
    Call(OperationCall),
    /// Reads documents, sections (`document#section`), skills and definitions, by their names.
    Read(Vec<String>),
    /// Does nothing: the step only names resources, and is not executable.
    #[default]
    Named,
    /// Cannot be parsed, for this reason.
    Unreadable(String),
}

/// A statement, and the database in whose SQL it is written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SqlQuery {
    /// One SELECT.
    pub sql: String,
    /// The database, where tables are named without it. Without a database, the names of the tables decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
}

/// A verified query, and the values of its parameters.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryCall {
    /// Its name.
    pub name: String,
    /// The values of its parameters by name; the others have their defaults.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
}

/// A call of an operation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationCall {
    /// `api.operation`
    pub operation: String,
    /// The arguments by name: a value, or `{"column": "step_1.customer_id"}` for the only value of a column of an earlier
    /// output.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
}

impl OperationCall {
    /// The arguments that are values of earlier outputs, as (argument, output, column). A path leads into a column with parts:
    /// `geometry.lat`.
    pub fn references(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.arguments.iter().filter_map(|(name, value)| {
            let (output, column) = reference(value)?.split_once('.')?;
            Some((name.as_str(), output, column))
        })
    }
}

/// Returns the column that an argument references, as `{"column": "step_1.customer_id"}`.
pub fn reference(value: &Value) -> Option<&str> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields.get("column")?.as_str()
}

/// The resources that a step uses, by kind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Resources {
    /// Names of databases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<String>,
    /// `database.table`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
    /// `database.table.column`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// `api.operation`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// Names of documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
    /// Names of skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
}

impl Step {
    /// A step with an action.
    pub fn new(number: u32, goal: impl Into<String>, action: Action) -> Self {
        Step { number, goal: goal.into(), action, ..Step::default() }
    }

    /// The name under which later steps use its rows.
    pub fn output(&self) -> String {
        output_of(self.number)
    }

    /// Clears the fields that are derived from the action.
    pub(super) fn forget_derived(&mut self) {
        if !matches!(self.action, Action::Named) {
            (self.resources, self.inputs, self.writes) = (Resources::default(), Vec::new(), false);
            (self.explanation, self.compiled) = (String::new(), None);
        }
    }

    /// Returns whether the step produces rows.
    pub fn has_rows(&self) -> bool {
        match self.action {
            Action::Sql(_) | Action::Metrics(_) | Action::VerifiedQuery(_) | Action::Call(_) => true,
            Action::Read(_) | Action::Named | Action::Unreadable(_) => false,
        }
    }

    /// The metrics that the step computes.
    pub fn metrics(&self) -> &[String] {
        match &self.action {
            Action::Metrics(query) => &query.metrics,
            _ => &[],
        }
    }

    /// The statement of the step, written by the model or compiled.
    pub fn statement(&self) -> Option<&SqlQuery> {
        match &self.action {
            Action::Sql(query) => Some(query),
            _ => self.compiled.as_ref(),
        }
    }
}

/// The name under which the rows of a step are used: `step_1`.
pub fn output_of(number: u32) -> String {
    format!("step_{number}")
}

/// The fields of a step that state its action.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ActionFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    sql: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", alias = "query")]
    verified_query: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    unreadable: Option<String>,
}

fn read_unknown<'de, D: Deserializer<'de>>(fields: D) -> Result<Map<String, Value>, D::Error> {
    let mut unknown = Map::deserialize(fields)?;
    unknown.retain(|_, value| says_something(value));
    Ok(unknown)
}

/// Returns whether a value is set: empty values do not count.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => items.iter().any(says_something),
        Value::Object(fields) => fields.values().any(says_something),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// Why the action of a step cannot be parsed.
#[derive(Debug, thiserror::Error)]
enum ActionError {
    #[error("a step has exactly one action, and this one has {0}")]
    Several(String),
    #[error(transparent)]
    Fields(#[from] serde_json::Error),
}

impl From<ActionFields> for Action {
    fn from(fields: ActionFields) -> Self {
        let named = [
            ("sql", &fields.sql),
            ("metrics", &fields.metrics),
            ("verified_query", &fields.verified_query),
            ("call", &fields.call),
            ("read", &fields.read),
        ];
        let given: Vec<(&str, &Value)> = named
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_ref().filter(|value| says_something(value))?)))
            .collect();
        let parsed = match given.as_slice() {
            [] => Ok(Action::Named),
            [("sql", value)] => read_sql(value, fields.database.as_deref()).map(Action::Sql),
            [("metrics", value)] => read_metrics(value).map(Action::Metrics),
            [("verified_query", Value::String(name))] => {
                Ok(Action::VerifiedQuery(QueryCall { name: name.clone(), parameters: Map::new() }))
            }
            [("verified_query", value)] => parse(value).map(Action::VerifiedQuery),
            [("call", value)] => parse(value).map(Action::Call),
            [(_, value)] => read_names(value).map(Action::Read),
            several => {
                let names: Vec<String> = several.iter().map(|(name, _)| format!("`{name}`")).collect();
                Err(ActionError::Several(names.join(" and ")))
            }
        };
        parsed.unwrap_or_else(|error| Action::Unreadable(error.to_string()))
    }
}

fn parse<T: DeserializeOwned>(value: &Value) -> Result<T, ActionError> {
    Ok(serde_json::from_value(value.clone())?)
}

fn read_sql(value: &Value, database: Option<&str>) -> Result<SqlQuery, ActionError> {
    match value {
        Value::String(sql) => Ok(SqlQuery { sql: sql.clone(), database: database.map(str::to_owned) }),
        _ => parse(value),
    }
}

/// A query over metrics, or the names of metrics alone.
fn read_metrics(value: &Value) -> Result<MetricQuery, ActionError> {
    match value {
        Value::String(name) => Ok(MetricQuery { metrics: vec![name.clone()], ..MetricQuery::default() }),
        Value::Array(_) => Ok(MetricQuery { metrics: parse(value)?, ..MetricQuery::default() }),
        _ => parse(value),
    }
}

/// Names in a list, one name alone, or lists of names by kind.
fn read_names(value: &Value) -> Result<Vec<String>, ActionError> {
    match value {
        Value::String(name) => Ok(vec![name.clone()]),
        Value::Object(kinds) => {
            let lists: Vec<Vec<String>> = kinds.values().map(read_names).collect::<Result<_, _>>()?;
            Ok(lists.concat())
        }
        _ => parse(value),
    }
}

impl From<Action> for ActionFields {
    fn from(action: Action) -> Self {
        let mut fields = ActionFields::default();
        match action {
            Action::Sql(query) => (fields.sql, fields.database) = (Some(query.sql.into()), query.database),
            Action::Metrics(query) => fields.metrics = serde_json::to_value(query).ok(),
            Action::VerifiedQuery(query) => fields.verified_query = serde_json::to_value(query).ok(),
            Action::Call(call) => fields.call = serde_json::to_value(call).ok(),
            Action::Read(names) => fields.read = Some(names.into()),
            Action::Named => {}
            Action::Unreadable(reason) => fields.unreadable = Some(reason),
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Step {
        serde_json::from_value(value.clone()).unwrap()
    }

    #[test]
    fn parses_each_action_and_writes_it_back() {
        let actions = [
            json!({"sql": "SELECT 1", "database": "shop"}),
            json!({"metrics": {"metrics": ["revenue"], "grain": "quarter"}}),
            json!({"verified_query": {"name": "vip-customers", "parameters": {"year": 2025}}}),
            json!({"call": {"operation": "shop.getOrder", "arguments": {"id": {"column": "step_1.id"}}}}),
            json!({"read": ["rules#VIP customer"]}),
        ];
        for action in actions {
            let mut written = json!({"number": 1, "goal": "g"});
            written.as_object_mut().unwrap().extend(action.as_object().unwrap().clone());
            let step = read(&written);
            assert!(!matches!(step.action, Action::Named | Action::Unreadable(_)), "{step:?}");
            assert_eq!(serde_json::to_value(&step).unwrap(), written);
        }
    }

    #[test]
    fn keeps_the_lists_of_a_step_without_an_action() {
        let step = read(&json!({"number": 1, "goal": "g", "tables": ["invoices"], "databases": ["chinook"],
            "inputs": ["step_1_ids"], "sql": "", "metrics": [], "read": {"documents": []}}));
        assert_eq!(step.action, Action::Named);
        assert_eq!((step.resources.tables, step.inputs), (vec!["invoices".to_owned()], vec!["step_1_ids".to_owned()]));
    }

    #[test]
    fn two_actions_and_broken_ones_are_unreadable() {
        let reason = |value: Value| match read(&value).action {
            Action::Unreadable(reason) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            reason(json!({"sql": "SELECT 1", "read": ["rules"]})),
            "a step has exactly one action, and this one has `sql` and `read`"
        );
        assert!(reason(json!({"call": {"operation": 1}})).contains("expected a string"));
        assert!(reason(json!({"metrics": {"metrics": [], "group_by": ["x"]}})).contains("group_by"));
        assert!(reason(json!({"verified_query": {"name": "x", "values": [1]}})).contains("values"));
    }

    #[test]
    fn unknown_fields_that_say_something_are_kept() {
        let step = read(&json!({"sql": "SELECT 1", "where": ["a = 1"], "notes": "", "compute": []}));
        assert_eq!(step.unknown.keys().collect::<Vec<_>>(), ["where"]);
    }
}
