//! The texts of the answers of this kind that cost much as JSON: a table as one line a column, hits with each key once.

use prospector_core::compact::{cell, name, render, rest, word};
use serde_json::{Map, Value, json};

use super::items;

/// A table as DDL would have it:
///
/// ```text
/// shop.invoices rows=3: One row an invoice.
/// id INTEGER key
/// customer_id INTEGER not null -> customers.id
/// total REAL distinct=3 1.25..9.5: In euros.
/// status TEXT values=[open; paid]
/// ```
///
/// `key` is of the primary key; without `not null` a column may be null. What else the answer says follows, a line a field.
/// `None` for what is no such answer.
pub(super) fn schema(answer: &Value) -> Option<String> {
    let mut fields: Map<String, Value> = answer.as_object()?.clone();
    let mut text = format!(
        "{}.{}",
        name(fields.shift_remove("database")?.as_str()?),
        name(fields.shift_remove("table")?.as_str()?)
    );
    if let Some(rows) = fields.shift_remove("row_count") {
        text.push_str(&format!(" rows={}", cell(&rows)));
    }
    describe(&mut text, fields.shift_remove("description"));
    let mut samples = match fields.shift_remove("sample_values") {
        Some(Value::Object(samples)) => samples,
        _ => Map::new(),
    };
    let Some(Value::Array(columns)) = fields.shift_remove("columns") else { return None };
    for one in columns {
        let Value::Object(mut one) = one else { return None };
        text.push('\n');
        let named = one.shift_remove("name")?;
        text.push_str(&name(named.as_str()?));
        if let Some(data_type) = one.shift_remove("type") {
            text.push_str(&format!(" {}", word(data_type.as_str()?)));
        }
        if let Some(Value::Bool(true)) = one.get("primary_key") {
            one.shift_remove("primary_key");
            text.push_str(" key");
        }
        if let Some(Value::Bool(false)) = one.get("nullable") {
            one.shift_remove("nullable");
            text.push_str(" not null");
        }
        if let Some(target) = one.shift_remove("foreign_key") {
            text.push_str(&format!(" -> {}", word(target.as_str()?)));
        }
        if let Some(Value::Object(mut statistics)) = one.shift_remove("statistics") {
            if let Some(distinct) = statistics.shift_remove("cardinality") {
                text.push_str(&format!(" distinct={}", cell(&distinct)));
            }
            if let (Some(min), Some(max)) = (statistics.shift_remove("min"), statistics.shift_remove("max")) {
                text.push_str(&format!(" {}..{}", cell(&min), cell(&max)));
            }
        }
        if let Some(values) = samples.shift_remove(named.as_str()?) {
            text.push_str(&format!(" values={}", cell(&values)));
        }
        let description = one.shift_remove("description");
        if !one.is_empty() {
            text.push_str(&format!(" {}", cell(&one.into())));
        }
        describe(&mut text, description);
    }
    if !samples.is_empty() {
        fields.insert("sample_values".into(), samples.into());
    }
    rest(&mut text, &fields);
    Some(text)
}

/// A description ends its line.
fn describe(text: &mut String, description: Option<Value>) {
    if let Some(Value::String(description)) = description {
        text.push_str(&format!(": {}", word(&description)));
    }
}

/// The hits of a search, and below them every key between them once.
pub(super) fn hits(answer: &Value) -> Option<String> {
    let (mut hits, mut joins) = (Vec::new(), Map::new());
    for item in items(answer) {
        let mut fields: Map<String, Value> = item.as_object()?.clone();
        let (database, table) = (fields.shift_remove("database")?, fields.shift_remove("table")?);
        let mut hit = Map::new();
        hit.insert("table".into(), format!("{}.{}", database.as_str()?, table.as_str()?).into());
        if let Some(Value::Array(own)) = fields.shift_remove("joins") {
            let known = joins.entry(database.as_str()?).or_insert_with(|| json!([])).as_array_mut()?;
            own.into_iter().for_each(|join| {
                if !known.contains(&join) {
                    known.push(join);
                }
            });
        }
        hit.extend(fields);
        hits.push(Value::Object(hit));
    }
    let mut all = Map::new();
    if !hits.is_empty() {
        all.insert("tables".into(), hits.into());
    }
    if !joins.is_empty() {
        all.insert("joins".into(), joins.into());
    }
    all.extend(answer.as_object().cloned().unwrap_or_default().into_iter().filter(|(key, _)| key != "items"));
    Some(render(&all.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_a_line_for_each_column() {
        let answer = json!({
            "database": "my shop", "table": "invoices", "description": "a\nb", "row_count": 3,
            "columns": [
                {"name": "id", "type": "INTEGER", "primary_key": true},
                {"name": "customer id", "type": "INTEGER", "nullable": false, "foreign_key": "customers.id"},
                {"name": "total", "type": "REAL", "statistics": {"cardinality": 3, "min": 1.25, "max": 9.5},
                 "description": "In euros: net."},
                {"name": "status", "more": 1}
            ],
            "sample_values": {"status": ["open", "paid; late"], "gone": ["x"]}, "columns_total": 9, "truncated": true
        });
        assert_eq!(
            schema(&answer).unwrap_or_default(),
            "\"my shop\".invoices rows=3: \"a\\nb\"\n\
             id INTEGER key\n\
             \"customer id\" INTEGER not null -> customers.id\n\
             total REAL distinct=3 1.25..9.5: In euros: net.\n\
             status values=[open; \"paid; late\"] ={\"more\":1}\n\
             columns_total: 9\ntruncated: true\nsample_values:\n gone: [x]"
        );
    }

    #[test]
    fn a_key_between_two_hits_is_shown_once() {
        let join = "invoices.customer_id = customers.id";
        let answer = json!({"items": [
            {"database": "shop", "table": "invoices", "relevance": 0.9, "joins": [join]},
            {"database": "shop", "table": "customers", "relevance": 0.2, "joins": [join], "via": true}
        ], "truncated": true});
        assert_eq!(
            hits(&answer).unwrap_or_default(),
            "tables:\n # table | relevance | via\n shop.invoices | .9\n shop.customers | .2 | true\n\
             joins:\n shop: [invoices.customer_id = customers.id]\ntruncated: true"
        );
        assert_eq!(hits(&json!([])).unwrap_or_default(), "={}");
    }
}
