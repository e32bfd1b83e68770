//! Imports the Open Semantic Interchange format: datasets become entities with their fields as dimensions, relationships become joins,
//! and metrics are parsed from their expressions, such as `SUM(orders.amount) / COUNT(DISTINCT customers.id)`.

use prospector_connect::query::Aggregation;
use serde_json::Value;

use super::reader::{Reader, Unmapped, is_column, list, text_of};
use crate::model::{Dimension, DimensionColumn, Entity, Join, Measure, MetricKind};

/// The supported dialect of expressions.
const DIALECT: &str = "ANSI_SQL";

pub(super) fn read(reader: &mut Reader<'_>) {
    for model in list(reader.document, "semantic_model") {
        for dataset in list(model, "datasets") {
            if let Err(reason) = read_dataset(reader, model, dataset) {
                reader.note(&format!("datasets.{}", text_of(dataset, "name")), reason);
            }
        }
        for relationship in list(model, "relationships") {
            let side = |key: &str| -> Vec<String> {
                list(relationship, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
            };
            let place = format!("{}: relationships.{}", reader.place, text_of(relationship, "name"));
            let (from, to) = (text_of(relationship, "from").to_owned(), text_of(relationship, "to").to_owned());
            let is_known = |name: &String| reader.found.entities.iter().any(|entity| entity.name == *name);
            if is_known(&from) && is_known(&to) {
                let (columns, references) = (side("from_columns"), side("to_columns"));
                reader.found.joins.push(Join { from, columns, to, references, place });
            }
        }
        let scoped = list(model, "datasets").iter().flat_map(|dataset| {
            list(dataset, "metrics").iter().map(move |metric| (metric, Some(text_of(dataset, "name"))))
        });
        for (metric, home) in list(model, "metrics").iter().map(|metric| (metric, None)).chain(scoped) {
            if let Err(reason) = read_metric(reader, model, metric, home) {
                reader.note(&format!("metrics.{}", text_of(metric, "name")), reason);
            }
        }
    }
}

fn read_dataset(reader: &mut Reader<'_>, model: &Value, dataset: &Value) -> Result<(), Unmapped> {
    let name = text_of(dataset, "name");
    let (database, table) = reader.find_table(text_of(dataset, "source"))?;
    let fields = list(dataset, "fields");
    let times: Vec<String> =
        fields.iter().filter(|field| is_time(field)).filter_map(|field| expression(field).ok()).collect();
    let time = match times.as_slice() {
        [only] if is_column(only) => Some(only.clone()),
        _ => None,
    };
    if times.len() > 1 {
        reader.note(&format!("datasets.{name}"), "it has several time fields, so its metrics have no default time");
    }
    let place = format!("{}: datasets.{name}", reader.place);
    let key = list(dataset, "primary_key").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let description = text_of(dataset, "description").to_owned();
    reader.found.entities.push(Entity {
        name: name.to_owned(),
        database,
        table,
        key,
        time,
        grain: None,
        stored_in: Vec::new(),
        description,
        place: place.clone(),
    });
    for field in fields {
        let bare = text_of(field, "name");
        let has = |other: &&Value| list(other, "fields").iter().any(|other| text_of(other, "name") == bare);
        let is_only = list(model, "datasets").iter().filter(has).count() == 1;
        match expression(field) {
            Ok(expression) => reader.found.dimensions.push(Dimension {
                name: format!("{name}__{bare}"),
                columns: vec![DimensionColumn { entity: name.to_owned(), expression }],
                via: Vec::new(),
                keys: Vec::new(),
                description: text_of(field, "description").to_owned(),
                synonyms: is_only.then(|| bare.to_owned()).into_iter().chain(list_synonyms(field)).collect(),
                place: format!("{place}.fields.{bare}"),
            }),
            Err(reason) => reader.note(&format!("datasets.{name}.fields.{bare}"), reason),
        }
    }
    Ok(())
}

fn is_time(field: &Value) -> bool {
    let is_temporal = matches!(text_of(field, "datatype"), "Date" | "DateTime" | "DateTimeTz");
    field["dimension"]["is_time"].as_bool().unwrap_or(is_temporal)
}

fn list_synonyms(value: &Value) -> impl Iterator<Item = String> {
    list(&value["ai_context"], "synonyms").iter().filter_map(Value::as_str).map(str::to_owned)
}

/// Returns the expression of a field or a metric.
fn expression(value: &Value) -> Result<String, Unmapped> {
    let dialects = list(&value["expression"], "dialects");
    let own = dialects.iter().find(|one| text_of(one, "dialect") == DIALECT);
    let text = own.map(|one| text_of(one, "expression")).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| format!("it has no expression in {DIALECT}").into())
}

fn read_metric(reader: &mut Reader<'_>, model: &Value, metric: &Value, home: Option<&str>) -> Result<(), Unmapped> {
    let name = text_of(metric, "name");
    let place = format!("metrics.{name}");
    let text = expression(metric)?;
    let (formula, calls) = split_calls(&text)?;
    let mut measures = Vec::new();
    for (aggregation, inner) in calls {
        measures.push(MetricKind::Simple(read_call(reader, model, home, aggregation, &inner)?));
    }
    let kind = match (formula.as_str(), measures.len()) {
        (_, 0) => return Err(format!("`{text}` aggregates nothing").into()),
        ("{0}", _) => measures.remove(0),
        _ => {
            let mut expression = formula;
            for (at, kind) in measures.into_iter().enumerate() {
                let part = format!("{name}_part_{}", at + 1);
                expression = expression.replace(&format!("{{{at}}}"), &part);
                reader.found.metrics.push(reader.metric(&part, kind, &place));
            }
            MetricKind::Derived { expression }
        }
    };
    let mut found = reader.metric(name, kind, &place);
    found.description = text_of(metric, "description").to_owned();
    found.synonyms = list_synonyms(metric).collect();
    reader.found.metrics.push(found);
    Ok(())
}

/// Splits an expression into the arithmetic around its aggregates, `{0} / {1}`, and the aggregates.
fn split_calls(text: &str) -> Result<(String, Vec<(Aggregation, String)>), Unmapped> {
    let (mut formula, mut calls, mut rest) = (String::new(), Vec::new(), text);
    while let Some(open) = rest.find('(') {
        let word =
            rest[..open].trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let before = rest[..open].trim_end();
        let Some(mut aggregation) = Aggregation::find(word).filter(|_| !word.is_empty()) else {
            formula += &rest[..=open];
            rest = &rest[open + 1..];
            continue;
        };
        let mut depth = 0_usize;
        let close = rest[open..].find(|c: char| {
            depth = if c == '(' {
                depth + 1
            } else if c == ')' {
                depth - 1
            } else {
                depth
            };
            depth == 0
        });
        let close = open + close.ok_or_else(|| format!("`{text}` has an unclosed parenthesis"))?;
        let mut inner = rest[open + 1..close].trim();
        if let Some(distinct) = inner.get(..9).filter(|word| word.eq_ignore_ascii_case("distinct ")) {
            inner = inner[distinct.len()..].trim();
            match aggregation {
                Aggregation::Count => aggregation = Aggregation::CountDistinct,
                _ => return Err(format!("`{word}` of distinct values is unsupported").into()),
            }
        }
        formula += &before[..before.len() - word.len()];
        formula += &format!("{{{}}}", calls.len());
        calls.push((aggregation, inner.to_owned()));
        rest = &rest[close + 1..];
    }
    Ok(((formula + rest).trim().to_owned(), calls))
}

/// Parses an aggregate over the rows of the dataset whose fields it uses.
fn read_call(
    reader: &Reader<'_>,
    model: &Value,
    home: Option<&str>,
    aggregation: Aggregation,
    inner: &str,
) -> Result<Measure, Unmapped> {
    let names: Vec<&str> = list(model, "datasets").iter().map(|dataset| text_of(dataset, "name")).collect();
    let mut named: Vec<&str> = Vec::new();
    let mut written = String::new();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut rest = inner;
    while let Some(from) = rest.find(is_part) {
        let end = rest[from..].find(|c: char| !is_part(c)).map_or(rest.len(), |end| from + end);
        let word = &rest[from..end];
        written += &rest[..from];
        match word.split_once('.').and_then(|(owner, field)| Some((*names.iter().find(|name| **name == owner)?, field)))
        {
            Some((owner, field)) => {
                named.push(owner);
                written += &format!("{owner}.{field}");
            }
            None => written += word,
        }
        rest = &rest[end..];
    }
    written += rest;
    let entity = home.or(named.first().copied()).ok_or_else(|| format!("`{inner}` names no dataset"))?;
    if !reader.found.entities.iter().any(|known| known.name == entity) {
        return Err(format!("the dataset `{entity}` has no table").into());
    }
    // Columns of its own rows are written without a qualifier, and fields are replaced by their expressions.
    let own = list(model, "datasets").iter().find(|dataset| text_of(dataset, "name") == entity);
    let mut value = written.replace(&format!("{entity}."), "");
    let field = own.and_then(|own| list(own, "fields").iter().find(|field| text_of(field, "name") == value));
    if let Some(field) = field {
        value = expression(field)?;
    }
    Ok(Measure {
        entity: entity.to_owned(),
        aggregation,
        expression: (value != "*").then_some(value),
        filters: Vec::new(),
        time: None,
        grain: None,
        semi_additive: None,
    })
}
