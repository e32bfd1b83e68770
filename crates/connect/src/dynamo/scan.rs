//! Reads items page by page: by partition key if a condition specifies it, else the whole table.

use serde_json::{Map, Value, json};

use super::condition::{Expression, key_value};
use super::value::items;
use super::wire::{Action, Wire};
use super::{Names, Shape};
use crate::ConnectError;
use crate::document::Node;
use crate::filter::{FilterOp, Test};
use crate::statement::TypedColumn;

/// A `Scan` or a `Query`.
pub(super) struct Scan<'a> {
    wire: &'a Wire,
    table: &'a str,
    action: Action,
    request: Map<String, Value>,
    names: Names,
    is_done: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(wire: &'a Wire, table: &'a str) -> Self {
        let request = Map::from_iter([("TableName".to_owned(), json!(table))]);
        Scan { wire, table, action: Action::Scan, request, names: Names::default(), is_done: false }
    }

    /// Limits the attributes to the first segments of these paths.
    pub(super) fn showing(mut self, paths: &[String]) -> Self {
        let mut shown: Vec<String> = Vec::new();
        for path in paths {
            let bound = self.names.one(path.split('.').next().unwrap_or(path));
            if !shown.contains(&bound) {
                shown.push(bound);
            }
        }
        if !shown.is_empty() {
            self.request.insert("ProjectionExpression".to_owned(), json!(shown.join(", ")));
        }
        self
    }

    /// Limits the items to those that may meet the tests; tests without an expression are left to the caller.
    pub(super) fn meeting(mut self, shape: &Shape, tests: &[(&TypedColumn, Test<'_>)]) -> Self {
        let mut expression = Expression::default();
        let mut filters = Vec::new();
        for (field, test) in tests {
            let key = shape.partition.as_ref().filter(|(name, _)| *name == field.name);
            match (key, test) {
                (Some((name, letter)), Test::Compare(FilterOp::Eq, value)) if self.action == Action::Scan => {
                    match key_value(letter, value) {
                        Some(value) => {
                            let condition = format!("{} = {}", self.names.one(name), expression.bind(value));
                            self.request.insert("KeyConditionExpression".to_owned(), json!(condition));
                            self.action = Action::Query;
                        }
                        // No item has such a key.
                        None => self.is_done = true,
                    }
                }
                // The filter of a query must not contain key attributes.
                (Some(_), _) => {}
                _ => filters.extend(expression.filter(field, test, &mut self.names)),
            }
        }
        if !filters.is_empty() && !self.has_key_filter(shape, tests) {
            self.request.insert("FilterExpression".to_owned(), json!(filters.join(" AND ")));
        }
        if let Some(values) = expression.json(&self.request) {
            self.request.insert("ExpressionAttributeValues".to_owned(), values);
        }
        self
    }

    /// Whether a filter would contain a key attribute, which a query rejects.
    fn has_key_filter(&self, shape: &Shape, tests: &[(&TypedColumn, Test<'_>)]) -> bool {
        self.action == Action::Query
            && tests.iter().any(|(field, _)| shape.sort.as_ref().is_some_and(|sort| *sort == field.name))
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Returns the next items, at most `first`; `None` at the end.
    pub(super) async fn page(&mut self, first: Option<usize>) -> Result<Option<Vec<Node>>, ConnectError> {
        if self.is_done {
            return Ok(None);
        }
        if let Some(first) = first {
            self.request.insert("Limit".to_owned(), json!(first.clamp(1, 10_000)));
        }
        if !self.names.0.is_empty() {
            self.request.insert("ExpressionAttributeNames".to_owned(), self.names.json(&self.request));
        }
        let mut answer = self.wire.ask(self.action, self.table, &self.request).await?;
        match answer.get_mut("LastEvaluatedKey").map(Value::take).filter(Value::is_object) {
            Some(last) => {
                self.request.insert("ExclusiveStartKey".to_owned(), last);
            }
            None => self.is_done = true,
        }
        Ok(Some(items(answer)))
    }
}
