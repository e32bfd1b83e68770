//! Reads documents as rows with the scroll API, and tests them again if the index could not decide a condition.

use std::collections::HashMap;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Map, Value, json};

use super::condition::clause;
use super::mapping::{Field, Shape};
use super::{Elastic, Place};
use crate::ConnectError;
use crate::budget::{Budget, Excess};
use crate::cause::Cause;
use crate::document::compare::meets;
use crate::document::{DEEPEST, Node};
use crate::filter::{ConditionError, FilterCondition, Test};
use crate::server::{SAMPLE_ROWS, STATEMENT_TIMEOUT};
use crate::service::http::Request;

/// Documents per page.
const PAGE: usize = 2_000;

/// How long the server keeps the scroll context between two pages.
const KEPT: &str = "1m";

/// The rows that were read.
pub(super) struct ReadRows {
    /// For each document, the value of each field.
    pub(super) rows: Vec<Vec<Node>>,
    /// Whether there are more rows.
    pub(super) has_more: bool,
    /// The size limit that ended the reading, if any.
    pub(super) excess: Option<Excess>,
}

/// The request, and the conditions that are tested again here.
struct Reading<'a> {
    /// The requested fields, followed by those of conditions that are tested again.
    fields: Vec<&'a Field>,
    /// The number of requested fields.
    wanted: usize,
    filters: Vec<Value>,
    /// The positions of their fields, with the tests.
    tested: Vec<(usize, Test<'a>)>,
}

impl<'a> Reading<'a> {
    fn new(
        table: &str,
        place: &'a Place,
        wanted: &[&'a Field],
        conditions: &'a [FilterCondition],
        also: Option<Value>,
    ) -> Result<Self, ConnectError> {
        let mut fields: Vec<&Field> = wanted.to_vec();
        let mut tested: Vec<(usize, Test<'_>)> = Vec::new();
        let mut filters: Vec<Value> = place.only.iter().cloned().chain(also).collect();
        for condition in conditions {
            let failed = ConnectError::condition(table, &condition.column);
            let field = place.field(&condition.column).ok_or_else(|| failed(ConditionError::UnknownColumn))?;
            let test = condition.test().map_err(failed)?;
            let clause = clause(field, &test).map_err(failed)?;
            filters.push(clause.query);
            if clause.is_wider {
                tested.push((fields.len(), test));
                fields.push(field);
            }
        }
        Ok(Reading { fields, wanted: wanted.len(), filters, tested })
    }

    /// Returns the search request for the first page.
    fn body(&self, page: usize) -> Value {
        let mut body = json!({
            "query": {"bool": {"filter": self.filters}},
            "size": page,
            "sort": ["_doc"],
            "track_total_hits": false,
            "timeout": format!("{}s", STATEMENT_TIMEOUT.as_secs()),
            "_source": sources(&self.fields),
        });
        let computed: Vec<&str> =
            self.fields.iter().filter(|field| field.is_computed).map(|field| field.name.as_str()).collect();
        if !computed.is_empty() {
            body["fields"] = json!(computed);
        }
        body
    }

    /// Adds the documents that meet all conditions, within the budget.
    fn take(&self, hits: &[Value], budget: &mut Budget, found: &mut ReadRows) {
        for hit in hits {
            let document = Document::of(hit);
            let mut row: Vec<Node> = self.fields.iter().map(|field| document.value(field)).collect();
            if !self.tested.iter().all(|(at, test)| meets(&row[*at].flatten(), test)) {
                continue;
            }
            row.truncate(self.wanted);
            let mut sizes = row.iter().map(Node::size).enumerate();
            if let Err(excess) = sizes.try_for_each(|(at, size)| budget.take(at, size)) {
                (found.excess, found.has_more) = (Some(excess), true);
                break;
            }
            found.rows.push(row);
        }
    }
}

impl Elastic {
    /// Returns the values of these fields in at most `limit` documents that meet all conditions and `also`.
    pub(super) async fn read(
        &self,
        table: &str,
        place: &Place,
        wanted: &[&Field],
        conditions: &[FilterCondition],
        also: Option<Value>,
        limit: usize,
    ) -> Result<ReadRows, ConnectError> {
        let reading = Reading::new(table, place, wanted, conditions, also)?;
        // The number of documents tested here is limited, whatever the requested limit.
        let most = if reading.tested.is_empty() { limit.saturating_add(1) } else { limit.max(SAMPLE_ROWS as usize) };
        let page = if reading.tested.is_empty() { most.min(PAGE) } else { PAGE };
        let mut found = ReadRows { rows: Vec::new(), has_more: false, excess: None };
        let (mut scroll, mut seen, mut budget) = (None::<String>, 0, Budget::of_rows());
        let outcome = loop {
            let answer = match &scroll {
                None => self.search(table, place, reading.body(page), (most > page).then_some(KEPT)).await,
                Some(scroll) => {
                    let next = json!({"scroll": KEPT, "scroll_id": scroll});
                    self.post(table, vec!["_search", "scroll"], Vec::new(), next).await
                }
            };
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => break Err(error),
            };
            if let Some(id) = answer.get("_scroll_id").and_then(Value::as_str) {
                scroll = Some(id.to_owned());
            }
            let hits = answer.pointer("/hits/hits").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            reading.take(hits, &mut budget, &mut found);
            seen += hits.len();
            if hits.len() < page || found.excess.is_some() {
                break Ok(());
            }
            if found.rows.len() > limit || seen >= most || scroll.is_none() {
                found.has_more = true;
                break Ok(());
            }
        };
        if let Some(scroll) = scroll {
            self.forget(scroll).await;
        }
        outcome?;
        if found.rows.is_empty() && found.has_more && limit > 0 && found.excess.is_none() {
            let names: Vec<&str> = reading.tested.iter().map(|(at, _)| reading.fields[*at].name.as_str()).collect();
            let reason = format!(
                "too large: the index cannot filter by {}, and none of the first {seen} documents meets the condition",
                names.join(", ")
            );
            return Err(self.client.read_error(table, Cause::TooLarge, reason));
        }
        found.has_more |= found.rows.len() > limit;
        found.rows.truncate(limit);
        Ok(found)
    }

    /// Runs one search; partial results are an error.
    pub(super) async fn search(
        &self,
        table: &str,
        place: &Place,
        body: Value,
        scroll: Option<&str>,
    ) -> Result<Value, ConnectError> {
        let mut parameters = vec![("allow_partial_search_results", "false".to_owned())];
        parameters.extend(scroll.map(|kept| ("scroll", kept.to_owned())));
        self.post(table, vec![place.target.as_str(), "_search"], parameters, body).await
    }

    async fn post(
        &self,
        table: &str,
        path: Vec<&str>,
        parameters: Vec<(&str, String)>,
        body: Value,
    ) -> Result<Value, ConnectError> {
        let question =
            Request { method: Method::POST, path, parameters, body: Some(body), time_limit: STATEMENT_TIMEOUT };
        let answer = self.client.ask(question, None).await;
        let answer = answer.map_err(|error| self.client.statement_error(table, error))?;
        if answer.get("timed_out") == Some(&Value::Bool(true)) {
            return Err(ConnectError::timeout(self.client.place(), table));
        }
        if answer.pointer("/_shards/failed").and_then(Value::as_u64).is_some_and(|failed| failed > 0) {
            let reason = answer.pointer("/_shards/failures/0/reason/reason").and_then(Value::as_str);
            let reason = format!("a shard failed: {}", reason.unwrap_or("no reason given"));
            return Err(self.client.read_error(table, Cause::Other, reason));
        }
        Ok(answer)
    }

    /// Releases a scroll context, which would otherwise expire a minute later.
    async fn forget(&self, scroll: String) {
        let question = Request {
            method: Method::DELETE,
            path: vec!["_search", "scroll"],
            parameters: Vec::new(),
            body: Some(json!({"scroll_id": [scroll]})),
            time_limit: Duration::from_secs(5),
        };
        if let Err(error) = self.client.ask(question, None).await {
            tracing::debug!(?error, "cannot release a scroll context");
        }
    }
}

/// Returns the parts of documents that are requested.
fn sources(fields: &[&Field]) -> Value {
    let own = fields.iter().filter(|field| !field.is_computed && field.shape != Shape::Id);
    let names: Vec<&str> = own.map(|field| field.name.as_str()).collect();
    if names.is_empty() { Value::Bool(false) } else { json!({"includes": names}) }
}

/// One hit.
struct Document<'a> {
    id: &'a Value,
    source: Node,
    computed: HashMap<&'a str, &'a Value>,
}

impl<'a> Document<'a> {
    fn of(hit: &'a Value) -> Document<'a> {
        let computed = hit.get("fields").and_then(Value::as_object).into_iter().flatten();
        Document {
            id: hit.get("_id").unwrap_or(&Value::Null),
            source: hit.get("_source").map_or(Node::Null, |source| node(source, 0)),
            computed: computed.map(|(name, value)| (name.as_str(), value)).collect(),
        }
    }

    /// Returns the value of a field; a list of one item is that item.
    fn value(&self, field: &Field) -> Node {
        let found = match field.shape {
            Shape::Id => node(self.id, 0),
            _ if field.is_computed => self.computed.get(field.name.as_str()).map_or(Node::Null, |value| node(value, 0)),
            _ => self.source.at(&field.name),
        };
        match found {
            Node::List(mut items) if items.len() == 1 => items.remove(0),
            Node::List(items) if items.is_empty() => Node::Null,
            other => other,
        }
    }
}

/// Converts JSON in which a name may be a dotted path.
fn node(value: &Value, depth: usize) -> Node {
    match value {
        Value::Null => Node::Null,
        Value::Object(_) if depth >= DEEPEST => Node::Scalar("object", value.clone()),
        Value::Object(fields) => {
            let mut made: Vec<(String, Node)> = Vec::new();
            for (name, value) in unfold(fields) {
                made.push((name, node(&value, depth + 1)));
            }
            Node::Object(made)
        }
        Value::Array(items) => Node::List(items.iter().map(|item| node(item, depth + 1)).collect()),
        Value::Bool(_) => Node::Scalar("boolean", value.clone()),
        Value::Number(_) => Node::Scalar("number", value.clone()),
        Value::String(_) => Node::Scalar("text", value.clone()),
    }
}

/// Expands one level of dotted names: `{"a.b": 1, "a": {"c": 2}}` becomes `{"a": {"b": 1, "c": 2}}`.
fn unfold(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut made = Map::new();
    for (name, value) in fields {
        let (first, rest) = name.split_once('.').map_or((name.as_str(), None), |(first, rest)| (first, Some(rest)));
        let value = match rest {
            Some(rest) => Value::Object(Map::from_iter([(rest.to_owned(), value.clone())])),
            None => value.clone(),
        };
        match (made.get_mut(first), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (Some(known), value) => *known = value,
            (None, value) => {
                made.insert(first.to_owned(), value);
            }
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expands_dotted_names() {
        let source = node(&json!({"a.b": 1, "a": {"c.d": [2, 3]}, "e": [{"f": 1}]}), 0);
        assert_eq!(source.at("a.b").json(), 1);
        assert_eq!(source.at("a.c.d").json(), json!([2, 3]));
        assert_eq!(source.at("e.f").json(), json!([1]));
    }
}
