//! Measures fields with aggregations, or from the first documents if the index cannot aggregate.

use serde_json::{Map, Value, json};

use super::condition::{around, containing, either, exists, nest};
use super::mapping::{Field, Shape};
use super::{Elastic, Place};
use crate::rows::{SampleRequest, Samples, Statistics};
use crate::tally::Tally;
use crate::{ConnectError, display};

/// Maximum number of fields measured by one search.
const FIELDS_A_SEARCH: usize = 20;

/// The threshold up to which distinct counts are nearly exact.
const PRECISE: u64 = 40_000;

/// Number of documents read if the index cannot aggregate.
const FIRST_DOCUMENTS: usize = 10_000;

/// Minimum number of values requested, so that small distinct counts are exact.
const VALUES: usize = 1_000;

/// The largest integer up to which a double represents all integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Elastic {
    pub(super) async fn measure(
        &self,
        table: &str,
        place: &Place,
        wanted: &[&Field],
    ) -> Result<Vec<Statistics>, ConnectError> {
        let counted: Vec<&Field> = wanted.iter().copied().filter(|field| field.countable_path().is_some()).collect();
        let mut found: Vec<Statistics> = Vec::with_capacity(wanted.len());
        for part in counted.chunks(FIELDS_A_SEARCH) {
            let mut aggregations = Map::new();
            for (at, field) in part.iter().enumerate() {
                let missing = json!({"filter": {"bool": {"must_not": [exists(field)]}}});
                aggregations.insert(format!("missing{at}"), missing);
                aggregations.extend(field.count_ignored().map(|ignored| (format!("ignored{at}"), ignored)));
                aggregations.insert(format!("field{at}"), aggregate_nested(field, measures(field)));
            }
            let answer = self.aggregate(table, place, None, Value::Object(aggregations)).await?;
            for (at, field) in part.iter().enumerate() {
                let count = |name: &str| answer.pointer(&format!("/{name}{at}/doc_count")).and_then(Value::as_u64);
                let own = answer.get(format!("field{at}")).unwrap_or(&Value::Null);
                let mut statistics = read(field, own, count("missing").unwrap_or(0));
                statistics.estimated |= count("ignored").unwrap_or(0) > 0;
                found.push(statistics);
            }
        }
        let others: Vec<&Field> = wanted.iter().copied().filter(|field| field.countable_path().is_none()).collect();
        if !others.is_empty() {
            let first = self.read(table, place, &others, &[], None, FIRST_DOCUMENTS).await?;
            let mut tallies: Vec<Tally> = others.iter().map(|_| Tally::default()).collect();
            for row in &first.rows {
                tallies.iter_mut().zip(row).for_each(|(tally, node)| tally.add(node));
            }
            let statistics = |(field, tally): (&&Field, Tally)| tally.statistics(&field.name, !first.has_more);
            found.extend(others.iter().zip(tallies).map(statistics));
        }
        let order = |name: &str| wanted.iter().position(|field| field.name == name);
        found.sort_by_key(|statistics| order(&statistics.column));
        Ok(found)
    }

    pub(super) async fn sample_field(
        &self,
        table: &str,
        place: &Place,
        field: &Field,
        request: &SampleRequest,
    ) -> Result<Samples, ConnectError> {
        let needle = request.contains.as_deref().filter(|text| !text.is_empty());
        let Some(target) = field.countable_path() else {
            let narrowed = needle.filter(|_| field.shape == Shape::Words).map(|text| near(field, text));
            let is_narrowed = narrowed.is_some();
            let first = self.read(table, place, &[field], &[], narrowed, FIRST_DOCUMENTS).await?;
            let mut tally = Tally::default();
            first.rows.iter().flatten().for_each(|node| tally.add(node));
            // Words are truncated differently from whole texts.
            return Ok(tally.samples(needle, request.limit, !first.has_more && !is_narrowed));
        };
        let is_text = matches!(field.shape, Shape::Exact | Shape::Words);
        let size = request.limit.clamp(VALUES, 10_000);
        let mut terms = json!({
            "field": target, "size": size, "order": [{"_count": "desc"}, {"_key": "asc"}]
        });
        let mut query = None;
        if let Some(text) = needle.filter(|_| is_text) {
            terms["include"] = containing(text).into();
            let wildcard = json!({"wildcard": {target: {"value": around(text), "case_insensitive": true}}});
            query = Some(nest(field, wildcard));
        }
        let own = json!({
            "values": {"terms": terms},
            "distinct": {"cardinality": {"field": target, "precision_threshold": PRECISE}},
        });
        let mut aggregations = Map::from_iter([("field".to_owned(), aggregate_nested(field, own))]);
        aggregations.extend(field.count_ignored().map(|ignored| ("ignored".to_owned(), ignored)));
        let answer = self.aggregate(table, place, query, Value::Object(aggregations)).await?;
        let buckets = answer.pointer("/field/values/buckets").and_then(Value::as_array).cloned().unwrap_or_default();
        let rest = answer.pointer("/field/values/sum_other_doc_count").and_then(Value::as_u64).unwrap_or(0);
        let ignored = answer.pointer("/ignored/doc_count").and_then(Value::as_u64).unwrap_or(0);
        let mut values: Vec<Value> = buckets.iter().map(|bucket| key(field, bucket)).collect();
        if let Some(text) = needle.filter(|_| !is_text) {
            let lower = text.to_lowercase();
            values.retain(|value| crate::filter::text(value).to_lowercase().contains(&lower));
        }
        let distinct = match rest {
            0 => values.len() as u64,
            // The distinct count of matching texts is unknown.
            _ if needle.is_some() => values.len() as u64,
            _ => answer.pointer("/field/distinct/value").and_then(Value::as_u64).unwrap_or(0).max(values.len() as u64),
        };
        values.truncate(request.limit);
        let complete = rest == 0 && values.len() as u64 == distinct && ignored == 0;
        Ok(Samples { values, distinct, complete })
    }

    async fn aggregate(
        &self,
        table: &str,
        place: &Place,
        query: Option<Value>,
        aggregations: Value,
    ) -> Result<Value, ConnectError> {
        let filters: Vec<Value> = place.only.iter().cloned().chain(query).collect();
        let body = json!({
            "query": {"bool": {"filter": filters}}, "size": 0, "track_total_hits": false,
            "timeout": format!("{}s", crate::server::STATEMENT_TIMEOUT.as_secs()), "aggs": aggregations,
        });
        let mut answer = self.search(table, place, body, None).await?;
        Ok(answer.get_mut("aggregations").map(Value::take).unwrap_or_default())
    }
}

impl Field {
    /// Counts documents whose value is too long for the field that indexes whole values.
    fn count_ignored(&self) -> Option<Value> {
        let (target, longest) = self.exact.as_ref()?;
        longest.map(|_| json!({"filter": {"term": {"_ignored": target}}}))
    }
}

/// Applies aggregations to the objects of the nested list that contains the field, else to the documents.
fn aggregate_nested(field: &Field, aggregations: Value) -> Value {
    match &field.nested {
        Some(path) => json!({"nested": {"path": path}, "aggs": aggregations}),
        None => json!({"filter": {"match_all": {}}, "aggs": aggregations}),
    }
}

/// Returns the aggregations of one field.
fn measures(field: &Field) -> Value {
    let target = field.countable_path().unwrap_or(&field.name);
    let mut own = json!({"distinct": {"cardinality": {"field": target, "precision_threshold": PRECISE}}});
    let (min, max) = match field.shape {
        Shape::Integer | Shape::Float | Shape::Date => {
            (json!({"min": {"field": target}}), json!({"max": {"field": target}}))
        }
        Shape::Boolean | Shape::Id | Shape::Exact | Shape::Address | Shape::Words | Shape::Opaque => {
            let end = |order: &str| json!({"terms": {"field": target, "size": 1, "order": {"_key": order}}});
            (end("asc"), end("desc"))
        }
    };
    own["min"] = min;
    own["max"] = max;
    own
}

fn read(field: &Field, own: &Value, nulls: u64) -> Statistics {
    let end = |word: &str| -> Option<Value> {
        let answer = own.get(word)?;
        if let Some(bucket) = answer.pointer("/buckets/0") {
            return Some(key(field, bucket));
        }
        let number = answer.get("value")?.as_f64()?;
        match field.shape {
            Shape::Date => answer.get("value_as_string").cloned().or_else(|| Some(number.into())),
            Shape::Integer if number.abs() < EXACT => Some((number as i64).into()),
            _ => Some(display::float(number)),
        }
    };
    let cardinality = own.pointer("/distinct/value").and_then(Value::as_u64).unwrap_or(0);
    let (min, max) = (end("min"), end("max"));
    let is_large = |value: &Option<Value>| {
        field.shape == Shape::Integer && value.as_ref().and_then(Value::as_f64).is_some_and(|n| n.abs() >= EXACT)
    };
    let estimated = cardinality > PRECISE || is_large(&min) || is_large(&max);
    Statistics { column: field.name.clone(), cardinality, min, max, nulls, estimated }
}

/// Returns the value of a bucket.
fn key(field: &Field, bucket: &Value) -> Value {
    let written = bucket.get("key_as_string");
    match (field.shape, bucket.get("key")) {
        (Shape::Boolean, _) => Value::Bool(written.and_then(Value::as_str) == Some("true")),
        (Shape::Date, key) => written.or(key).cloned().unwrap_or_default(),
        (_, Some(Value::String(text))) => display::text(text),
        (_, key) => key.cloned().unwrap_or_default(),
    }
}

/// Returns a query for documents that may contain the text, word by word.
fn near(field: &Field, text: &str) -> Value {
    let mut any = vec![json!({"match_phrase_prefix": {&field.name: text}})];
    if !text.contains(char::is_whitespace) {
        any.push(json!({"wildcard": {&field.name: {"value": around(text), "case_insensitive": true}}}));
    }
    nest(field, either(any))
}
