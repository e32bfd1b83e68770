//! The semantic manifest of dbt, as MetricFlow writes it: semantic models become entities with their joins and dimensions,
//! measures and metrics become metrics. What has no counterpart is a problem with its place.

use prospector_connect::query::Aggregation;
use prospector_engine::query::aggregate::{Grain, Span};
use serde_json::Value;

use super::reader::{Reader, Unmapped, is_column, list, text_of};
use crate::model::{Dimension, DimensionColumn, Entity, Join, Measure, Metric, MetricKind, SemiAdditive};

pub(super) fn read(reader: &mut Reader<'_>) {
    for model in list(reader.document, "semantic_models") {
        read_model(reader, model);
    }
    for model in list(reader.document, "semantic_models") {
        read_joins(reader, model);
    }
    for metric in list(reader.document, "metrics") {
        let name = text_of(metric, "name");
        match read_metric(reader, metric) {
            Ok(metric) => reader.found.metrics.push(metric),
            Err(reason) => reader.note(&format!("metrics.{name}"), reason),
        }
    }
}

/// What a thing is computed of: its expression, or the column of its name.
fn expression(value: &Value) -> String {
    match &value["expr"] {
        Value::String(text) if !text.trim().is_empty() => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => text_of(value, "name").to_owned(),
    }
}

fn is_key(entity: &Value) -> bool {
    matches!(text_of(entity, "type"), "primary" | "unique")
}

fn models<'a>(reader: &Reader<'a>) -> &'a [Value] {
    list(reader.document, "semantic_models")
}

fn read_model(reader: &mut Reader<'_>, model: &Value) {
    let name = text_of(model, "name");
    let relation = &model["node_relation"];
    let relation = format!("{}.{}", text_of(relation, "schema_name"), text_of(relation, "alias"));
    let (database, table) = match reader.find_table(&relation) {
        Ok(found) => found,
        Err(reason) => return reader.note(&format!("semantic_models.{name}"), reason),
    };
    let key = list(model, "entities").iter().find(|entity| is_key(entity)).map(expression);
    let time = text_of(&model["defaults"], "agg_time_dimension");
    let time = list(model, "dimensions").iter().find(|dimension| text_of(dimension, "name") == time);
    let place = format!("{}: semantic_models.{name}", reader.place);
    reader.found.entities.push(Entity {
        name: name.to_owned(),
        database,
        table,
        key: key.into_iter().filter(|key| is_column(key)).collect(),
        time: time.map(expression).filter(|time| is_column(time)),
        grain: time.and_then(|time| Grain::find(text_of(&time["type_params"], "time_granularity"))),
        description: text_of(model, "description").to_owned(),
        place: place.clone(),
    });
    let own = owner(model);
    for dimension in list(model, "dimensions") {
        let bare = text_of(dimension, "name");
        let is_only = |other: &Value| list(other, "dimensions").iter().any(|other| text_of(other, "name") == bare);
        let is_shared = models(reader).iter().filter(|other| is_only(other)).count() > 1;
        reader.found.dimensions.push(Dimension {
            name: format!("{own}__{bare}"),
            columns: vec![DimensionColumn { entity: name.to_owned(), expression: expression(dimension) }],
            via: Vec::new(),
            keys: Vec::new(),
            description: text_of(dimension, "description").to_owned(),
            synonyms: if is_shared { Vec::new() } else { vec![bare.to_owned()] },
            place: format!("{place}.dimensions.{bare}"),
        });
    }
}

fn read_joins(reader: &mut Reader<'_>, model: &Value) {
    let from = text_of(model, "name");
    for entity in list(model, "entities").iter().filter(|entity| text_of(entity, "type") == "foreign") {
        let name = text_of(entity, "name");
        let place = format!("semantic_models.{from}.entities.{name}");
        let targets = models(reader).iter().filter_map(|other| {
            let key = list(other, "entities").iter().find(|key| text_of(key, "name") == name && is_key(key))?;
            Some((text_of(other, "name"), expression(key)))
        });
        let targets: Vec<(&str, String)> = targets.collect();
        let is_known = |model: &str| reader.found.entities.iter().any(|entity| entity.name == model);
        for (to, key) in targets.into_iter().filter(|(to, _)| is_known(to) && is_known(from)).collect::<Vec<_>>() {
            let column = expression(entity);
            if !is_column(&column) || !is_column(&key) {
                reader.note(&place, "a join over an expression has no counterpart");
                continue;
            }
            reader.found.joins.push(Join {
                from: from.to_owned(),
                columns: vec![column],
                to: to.to_owned(),
                references: vec![key],
                place: format!("{}: {place}", reader.place),
            });
        }
    }
}

fn read_metric(reader: &mut Reader<'_>, metric: &Value) -> Result<Metric, Unmapped> {
    let parameters = &metric["type_params"];
    let filters = read_filters(reader, &metric["filter"])?;
    let kind = match text_of(metric, "type") {
        "simple" => {
            let mut measure = read_measure(reader, &parameters["measure"])?;
            measure.filters.extend(filters);
            MetricKind::Simple(measure)
        }
        "ratio" if filters.is_empty() => MetricKind::Ratio {
            numerator: input(&parameters["numerator"])?,
            denominator: input(&parameters["denominator"])?,
        },
        "derived" if filters.is_empty() => MetricKind::Derived { expression: read_formula(parameters)? },
        "cumulative" if filters.is_empty() => read_cumulative(reader, parameters)?,
        "ratio" | "derived" | "cumulative" => {
            return Err("a filter over other metrics has no counterpart".to_owned());
        }
        other => return Err(format!("metrics of the type `{other}` have no counterpart")),
    };
    let label = text_of(metric, "label");
    let name = text_of(metric, "name");
    Ok(Metric {
        name: name.to_owned(),
        kind,
        unit: String::new(),
        format: String::new(),
        owner: String::new(),
        description: text_of(metric, "description").to_owned(),
        synonyms: if label.is_empty() { Vec::new() } else { vec![label.to_owned()] },
        source: String::new(),
        place: format!("{}: metrics.{name}", reader.place),
    })
}

/// The measure that an input names, with its own conditions.
fn read_measure(reader: &Reader<'_>, input: &Value) -> Result<Measure, Unmapped> {
    let name = input.as_str().unwrap_or_else(|| text_of(input, "name"));
    let owner = models(reader).iter().find_map(|model| {
        let measure = list(model, "measures").iter().find(|measure| text_of(measure, "name") == name)?;
        Some((model, measure))
    });
    let (model, measure) = owner.ok_or_else(|| format!("there is no measure `{name}`"))?;
    let value = expression(measure);
    let (aggregation, value) = match text_of(measure, "agg") {
        "sum_boolean" => (Aggregation::Sum, format!("CASE WHEN {value} THEN 1 ELSE 0 END")),
        word => match Aggregation::find(word) {
            Some(found) => (found, value),
            None => return Err(format!("the aggregate `{word}` has no counterpart")),
        },
    };
    let dimension = |name: &str| {
        let found = list(model, "dimensions").iter().find(|dimension| text_of(dimension, "name") == name);
        found.map(expression).unwrap_or_else(|| name.to_owned())
    };
    let time = text_of(measure, "agg_time_dimension");
    let apart = &measure["non_additive_dimension"];
    let semi_additive = apart.is_object().then(|| SemiAdditive {
        is_first: text_of(apart, "window_choice") == "min",
        per: list(apart, "window_groupings").iter().filter_map(Value::as_str).map(|name| group(model, name)).collect(),
    });
    let named = if apart.is_object() { text_of(apart, "name") } else { time };
    Ok(Measure {
        entity: text_of(model, "name").to_owned(),
        aggregation,
        expression: Some(value),
        filters: read_filters(reader, &input["filter"])?,
        time: (!named.is_empty()).then(|| dimension(named)),
        grain: None,
        semi_additive,
    })
}

/// The column of an entity or a dimension of a model.
fn group(model: &Value, name: &str) -> String {
    let all = list(model, "entities").iter().chain(list(model, "dimensions"));
    all.into_iter().find(|known| text_of(known, "name") == name).map_or_else(|| name.to_owned(), expression)
}

fn read_cumulative(reader: &mut Reader<'_>, parameters: &Value) -> Result<MetricKind, Unmapped> {
    let more = &parameters["cumulative_type_params"];
    let either = |key: &str| if more[key].is_null() { &parameters[key] } else { &more[key] };
    let named = input(&more["metric"]).ok().filter(|name| !name.is_empty());
    let metric = match named {
        Some(name) => name,
        None => name_measure(reader, &parameters["measure"])?,
    };
    let window = either("window");
    let span = match (window.is_object(), either("grain_to_date").as_str()) {
        (true, _) => {
            let unit = Grain::find(text_of(window, "granularity"));
            let count = window["count"].as_u64().and_then(|count| u32::try_from(count).ok());
            match (count, unit) {
                (Some(count), Some(unit)) => Span::Trailing(count, unit),
                _ => return Err(format!("the window {window} has no counterpart")),
            }
        }
        (false, Some(word)) => {
            Span::ToDate(Grain::find(word).ok_or_else(|| format!("the grain `{word}` has no counterpart"))?)
        }
        (false, None) => Span::Whole,
    };
    Ok(MetricKind::Cumulative { metric, span })
}

/// The simple metric over a measure, which is made where there is none.
fn name_measure(reader: &mut Reader<'_>, wanted: &Value) -> Result<String, Unmapped> {
    let measure = read_measure(reader, wanted)?;
    let kind = MetricKind::Simple(measure);
    if let Some(known) = reader.found.metrics.iter().find(|known| known.kind == kind) {
        return Ok(known.name.clone());
    }
    let name = wanted.as_str().unwrap_or_else(|| text_of(wanted, "name")).to_owned();
    let all = list(reader.document, "metrics").iter();
    let is_taken = all.map(|metric| text_of(metric, "name")).any(|known| known == name);
    let name = if is_taken { format!("{name}_measure") } else { name };
    let place = format!("{}: measures.{name}", reader.place);
    let text = String::new;
    let (unit, format, owner, description, source) = (text(), text(), text(), text(), text());
    let synonyms = Vec::new();
    reader.found.metrics.push(Metric {
        name: name.clone(),
        kind,
        unit,
        format,
        owner,
        description,
        synonyms,
        source,
        place,
    });
    Ok(name)
}

/// Conditions in SQL with templates: `{{ Dimension('order__status') }} = 'paid'`.
fn read_filters(reader: &Reader<'_>, filter: &Value) -> Result<Vec<String>, Unmapped> {
    let all = list(filter, "where_filters").iter().map(|one| text_of(one, "where_sql_template"));
    all.map(|template| read_template(reader, template)).collect()
}

fn read_template(reader: &Reader<'_>, template: &str) -> Result<String, Unmapped> {
    let (mut written, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once("{{") {
        let (inner, after) = after.split_once("}}").ok_or_else(|| format!("`{template}` does not end"))?;
        written += before;
        written +=
            &read_reference(reader, inner.trim()).ok_or_else(|| format!("`{}` has no counterpart", inner.trim()))?;
        rest = after;
    }
    Ok(written + rest)
}

/// `Dimension('order__status')` as `orders.status`.
fn read_reference(reader: &Reader<'_>, text: &str) -> Option<String> {
    let (function, inner) = text.split_once('(')?;
    let inner = inner.trim().strip_suffix(')')?.trim();
    let name = inner.trim_matches(['\'', '"']);
    if !matches!(function.trim(), "Dimension" | "TimeDimension")
        || !name.chars().all(|c| c.is_alphanumeric() || c == '_')
    {
        return None;
    }
    let (entity, dimension) = name.split_once("__")?;
    models(reader).iter().filter(|model| owner(model) == entity).find_map(|model| {
        let found = list(model, "dimensions").iter().find(|known| text_of(known, "name") == dimension)?;
        let column = expression(found);
        is_column(&column).then(|| format!("{}.{column}", text_of(model, "name")))
    })
}

/// The entity that a model is about.
fn owner(model: &Value) -> &str {
    let primary = text_of(model, "primary_entity");
    let named = list(model, "entities").iter().find(|entity| text_of(entity, "type") == "primary");
    if primary.is_empty() { named.map_or(text_of(model, "name"), |entity| text_of(entity, "name")) } else { primary }
}

/// A metric that another is computed of.
fn input(value: &Value) -> Result<String, Unmapped> {
    if let Some(name) = value.as_str() {
        return Ok(name.to_owned());
    }
    let more = ["filter", "offset_window", "offset_to_grain"].into_iter().find(|key| !value[*key].is_null());
    match (more, value["name"].as_str()) {
        (None, Some(name)) => Ok(name.to_owned()),
        (Some(key), _) => Err(format!("the `{key}` of an input has no counterpart")),
        (None, None) => Err("an input has no name".to_owned()),
    }
}

/// The arithmetic of a derived metric, with the names of metrics in the place of their aliases.
fn read_formula(parameters: &Value) -> Result<String, Unmapped> {
    let mut names = Vec::new();
    for metric in list(parameters, "metrics") {
        let name = input(metric)?;
        let alias = metric["alias"].as_str().unwrap_or(&name).to_owned();
        names.push((alias, name));
    }
    let (mut written, mut word) = (String::new(), String::new());
    for c in text_of(parameters, "expr").chars().chain(std::iter::once(' ')) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let name = names.iter().find(|(alias, _)| *alias == word).map_or(word.as_str(), |(_, name)| name);
        written.push_str(name);
        word.clear();
        written.push(c);
    }
    Ok(written.trim().to_owned())
}
