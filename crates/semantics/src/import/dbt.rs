//! Imports the dbt semantic manifest, as written by MetricFlow: semantic models become entities with their joins and dimensions, measures
//! and metrics become metrics. Unsupported features are reported with their location.

use prospector_connect::query::Aggregation;
use prospector_connect::table::ColumnType;
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
    let (simple, over): (Vec<&Value>, Vec<&Value>) =
        list(reader.document, "metrics").iter().partition(|metric| text_of(metric, "type") == "simple");
    for metric in simple.into_iter().chain(over) {
        let name = text_of(metric, "name");
        match read_metric(reader, metric) {
            Ok(metric) => reader.found.metrics.push(metric),
            Err(reason) => reader.note(&format!("metrics.{name}"), reason),
        }
    }
}

/// Returns the expression of an element, or the column with its name.
fn expression(value: &Value) -> String {
    match &value["expr"] {
        Value::String(text) if !text.trim().is_empty() => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => text_of(value, "name").to_owned(),
    }
}

/// Returns the column of a time expression: `day`, `date(day)`, `cast(day as date)`, `day::date`, `date_trunc('day', day)`.
fn time_column(dimension: &Value) -> Option<String> {
    let text = expression(dimension);
    let lower = text.to_ascii_lowercase();
    let cut = |before: &str, after: &str| {
        let is_so = lower.len() > before.len() + after.len() && lower.starts_with(before) && lower.ends_with(after);
        is_so.then(|| text[before.len()..text.len() - after.len()].trim())
    };
    let around = [("", ""), ("", "::date"), ("date(", ")"), ("to_date(", ")"), ("cast(", " as date)")];
    let inner = around.into_iter().filter_map(|(before, after)| cut(before, after)).find(|inner| is_column(inner));
    let truncated = || {
        let mut parts = cut("date_trunc(", ")")?.split(',').map(str::trim);
        parts.find(|part| is_column(part) && Grain::find(part).is_none())
    };
    inner.or_else(truncated).map(str::to_owned)
}

/// Returns the column of a time dimension of a model, if it contains dates.
fn time_of(reader: &Reader<'_>, model: &Value, name: &str) -> Option<String> {
    let dimension = list(model, "dimensions").iter().find(|dimension| text_of(dimension, "name") == name);
    let column = dimension.map_or_else(|| is_column(name).then(|| name.to_owned()), time_column)?;
    let entity = reader.found.entities.iter().find(|entity| entity.name == text_of(model, "name"));
    let database = entity.and_then(|entity| reader.sources.iter().find(|source| source.database == entity.database));
    let table = database.zip(entity).and_then(|(source, entity)| source.tables.iter().find(|t| t.name == entity.table));
    let kind = table.and_then(|table| table.column(&column)).map(|column| column.column_type);
    let is_date = |kind: ColumnType| {
        matches!(kind, ColumnType::Date | ColumnType::Timestamp | ColumnType::DateText | ColumnType::Text)
    };
    kind.is_none_or(is_date).then_some(column)
}

/// Returns the granularity of a time dimension.
fn grain_of(model: &Value, name: &str) -> Option<Grain> {
    let dimension = list(model, "dimensions").iter().find(|dimension| text_of(dimension, "name") == name)?;
    Grain::find(text_of(&dimension["type_params"], "time_granularity"))
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
    let place = format!("{}: semantic_models.{name}", reader.place);
    reader.found.entities.push(Entity {
        name: name.to_owned(),
        database,
        table,
        key: key.into_iter().filter(|key| is_column(key)).collect(),
        time: None,
        grain: grain_of(model, time),
        stored_in: Vec::new(),
        description: text_of(model, "description").to_owned(),
        place: place.clone(),
    });
    let column = time_of(reader, model, time).filter(|_| !time.is_empty());
    if let Some(entity) = reader.found.entities.last_mut() {
        entity.time = column;
    }
    let own = owner(model);
    for dimension in list(model, "dimensions") {
        let bare = text_of(dimension, "name");
        if text_of(dimension, "type") == "time" && time_of(reader, model, bare).is_none() {
            let reason = format!("`{}` is not a date column and cannot be the time of metrics", expression(dimension));
            reader.note(&format!("semantic_models.{name}.dimensions.{bare}"), reason);
        }
        let column = DimensionColumn { entity: name.to_owned(), expression: expression(dimension) };
        let full = format!("{own}__{bare}");
        if let Some(known) = reader.found.dimensions.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&full)) {
            known.columns.push(column);
            continue;
        }
        let is_only = |other: &Value| list(other, "dimensions").iter().any(|other| text_of(other, "name") == bare);
        let is_shared = models(reader).iter().filter(|other| is_only(other)).count() > 1;
        reader.found.dimensions.push(Dimension {
            name: full,
            columns: vec![column],
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
                reader.note(&place, "a join over an expression is unsupported");
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
    let kind = match text_of(metric, "type") {
        "simple" => MetricKind::Simple(read_simple(reader, metric)?),
        "ratio" => MetricKind::Ratio {
            numerator: read_input(reader, metric, &parameters["numerator"])?,
            denominator: read_input(reader, metric, &parameters["denominator"])?,
        },
        "derived" => MetricKind::Derived { expression: read_formula(reader, metric)? },
        "cumulative" => read_cumulative(reader, metric)?,
        other => return Err(format!("metrics of the type `{other}` are unsupported").into()),
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

/// Returns the measure of a simple metric: the one that it names, or its own parameters, as in manifests of dbt 1.12 and Fusion.
fn read_simple(reader: &Reader<'_>, metric: &Value) -> Result<Measure, Unmapped> {
    let parameters = &metric["type_params"];
    let own = &parameters["metric_aggregation_params"];
    let mut measure = if parameters["measure"].is_null() && own.is_object() {
        let name = text_of(own, "semantic_model");
        let model = models(reader).iter().find(|model| text_of(model, "name") == name);
        let model = model.ok_or_else(|| format!("there is no semantic model `{name}`"))?;
        let said = [own, parameters].into_iter().find(|said| !said["expr"].is_null());
        aggregate(reader, model, own, expression(said.unwrap_or(metric)))?
    } else {
        read_measure(reader, &parameters["measure"])?
    };
    narrow(reader, &mut measure, &metric["filter"])?;
    Ok(measure)
}

/// Returns the measure that an input names, with the filters of the input.
fn read_measure(reader: &Reader<'_>, input: &Value) -> Result<Measure, Unmapped> {
    let name = input.as_str().unwrap_or_else(|| text_of(input, "name"));
    if name.is_empty() {
        return Err("the manifest names no measure".into());
    }
    let owner = models(reader).iter().find_map(|model| {
        let measure = list(model, "measures").iter().find(|measure| text_of(measure, "name") == name)?;
        Some((model, measure))
    });
    let (model, measure) = owner.ok_or_else(|| format!("there is no measure `{name}`"))?;
    let mut read = aggregate(reader, model, measure, expression(measure))?;
    narrow(reader, &mut read, &input["filter"])?;
    Ok(read)
}

/// Returns an aggregate over the rows of a model: a measure, or the parameters of a metric.
fn aggregate(reader: &Reader<'_>, model: &Value, said: &Value, value: String) -> Result<Measure, Unmapped> {
    let (aggregation, value) = match text_of(said, "agg") {
        "sum_boolean" => (Aggregation::Sum, Some(format!("CASE WHEN {value} THEN 1 ELSE 0 END"))),
        "count" if value == "*" => (Aggregation::Count, None),
        word => match Aggregation::find(word) {
            Some(found) => (found, Some(value)),
            None => return Err(format!("the aggregate `{word}` is unsupported").into()),
        },
    };
    let apart = &said["non_additive_dimension"];
    let semi_additive = apart.is_object().then(|| SemiAdditive {
        is_first: text_of(apart, "window_choice") != "max",
        per: list(apart, "window_groupings").iter().filter_map(Value::as_str).map(|name| group(model, name)).collect(),
    });
    let named = if apart.is_object() { text_of(apart, "name") } else { text_of(said, "agg_time_dimension") };
    Ok(Measure {
        entity: text_of(model, "name").to_owned(),
        aggregation,
        expression: value,
        filters: Vec::new(),
        time: time_of(reader, model, named).filter(|_| !named.is_empty()),
        grain: grain_of(model, named),
        semi_additive,
    })
}

/// Returns the column of an entity or a dimension of a model.
fn group(model: &Value, name: &str) -> String {
    let all = list(model, "entities").iter().chain(list(model, "dimensions"));
    all.into_iter().find(|known| text_of(known, "name") == name).map_or_else(|| name.to_owned(), expression)
}

fn read_cumulative(reader: &mut Reader<'_>, metric: &Value) -> Result<MetricKind, Unmapped> {
    let parameters = &metric["type_params"];
    let more = &parameters["cumulative_type_params"];
    let either = |key: &str| if more[key].is_null() { &parameters[key] } else { &more[key] };
    if text_of(more, "period_agg") == "average" {
        return Err("an average over the days of a period is unsupported".into());
    }
    let name = if more["metric"].is_null() {
        let wanted = &parameters["measure"];
        let mut measure = read_measure(reader, wanted)?;
        narrow(reader, &mut measure, &metric["filter"])?;
        keep(reader, wanted.as_str().unwrap_or_else(|| text_of(wanted, "name")), measure)
    } else {
        read_input(reader, metric, &more["metric"])?
    };
    let window = either("window");
    let span = match (window.is_object(), either("grain_to_date").as_str()) {
        (true, _) => {
            let unit = Grain::find(text_of(window, "granularity"));
            let count = window["count"].as_u64().and_then(|count| u32::try_from(count).ok());
            match (count, unit) {
                (Some(count), Some(unit)) => Span::Trailing(count, unit),
                _ => return Err(format!("the window {window} is unsupported").into()),
            }
        }
        (false, Some(word)) => {
            Span::ToDate(Grain::find(word).ok_or_else(|| format!("the grain `{word}` is unsupported"))?)
        }
        (false, None) => Span::Whole,
    };
    Ok(MetricKind::Cumulative { metric: name, span })
}

/// Returns the name of the simple metric over a measure, which is added if missing.
fn keep(reader: &mut Reader<'_>, wanted: &str, measure: Measure) -> String {
    let kind = MetricKind::Simple(measure);
    if let Some(known) = reader.found.metrics.iter().find(|known| known.kind == kind) {
        return known.name.clone();
    }
    let mut name = wanted.to_owned();
    let declared = list(reader.document, "metrics");
    while declared.iter().any(|metric| text_of(metric, "name") == name)
        || reader.found.metrics.iter().any(|metric| metric.name == name)
    {
        name += "_measure";
    }
    let metric = reader.metric(&name, kind, &format!("measures.{name}"));
    reader.found.metrics.push(metric);
    name
}

/// Adds filters to a measure.
fn narrow(reader: &Reader<'_>, measure: &mut Measure, filter: &Value) -> Result<(), Unmapped> {
    for template in list_templates(filter)? {
        let condition = read_template(reader, measure, template)?;
        measure.filters.push(condition);
    }
    Ok(())
}

/// Returns the conditions of a filter. Its format differs between versions: a text, an object with one, a list, an object with a list.
fn list_templates(filter: &Value) -> Result<Vec<&str>, Unmapped> {
    let inner = if filter["where_filters"].is_array() { &filter["where_filters"] } else { filter };
    let all: Vec<&Value> = match inner {
        Value::Null => Vec::new(),
        Value::Array(all) => all.iter().collect(),
        one => vec![one],
    };
    let mut found = Vec::new();
    for one in all {
        match one.as_str().or_else(|| one["where_sql_template"].as_str()) {
            Some(template) => found.push(template),
            None => return Err(format!("the filter `{one}` is unsupported").into()),
        }
    }
    Ok(found)
}

/// Parses SQL conditions with templates: `{{ Dimension('order__status') }} = 'paid'`.
fn read_template(reader: &Reader<'_>, measure: &Measure, template: &str) -> Result<String, Unmapped> {
    let (mut written, mut rest) = (String::new(), template.trim());
    while let Some((before, after)) = rest.split_once("{{") {
        let (inner, after) = after.split_once("}}").ok_or_else(|| format!("`{template}` has an unclosed `{{{{`"))?;
        written += before;
        written += &read_reference(reader, measure, inner.trim())
            .ok_or_else(|| format!("`{}` is unsupported", inner.trim()))?;
        rest = after;
    }
    Ok(written + rest)
}

/// Resolves `Dimension('order__status')` to `orders.status`; columns of the measure's own rows take precedence.
fn read_reference(reader: &Reader<'_>, measure: &Measure, text: &str) -> Option<String> {
    let function = text.split_once('(')?.0.trim().to_lowercase();
    let literals: Vec<&str> = text.split(['\'', '"']).skip(1).step_by(2).map(str::trim).collect();
    let (name, more) = literals.split_first()?;
    let has_path = text.contains("entity_path");
    let mut path: Vec<&str> = if has_path { more.to_vec() } else { Vec::new() };
    path.extend(name.split("__"));
    let mut grain = if has_path { None } else { more.first().copied() };
    let is_time = |name: &str| name == "metric_time";
    if grain.is_none() && path.len() > if is_time(path[0]) { 1 } else { 2 } {
        grain = path.last().copied().filter(|last| Grain::find(last).is_some());
        path.truncate(path.len() - usize::from(grain.is_some()));
    }
    let home = models(reader).iter().find(|model| text_of(model, "name") == measure.entity)?;
    let (last, entities) = path.split_last()?;
    if is_time(last) && entities.is_empty() {
        let default = || reader.found.entities.iter().find(|entity| entity.name == measure.entity)?.time.clone();
        let own = measure.grain.or_else(|| grain_of(home, text_of(&home["defaults"], "agg_time_dimension")));
        let column = measure.time.clone().or_else(default)?;
        return is_as_fine(own, grain).then(|| format!("{}.{column}", measure.entity));
    }
    let has = |model: &Value| entities.last().is_none_or(|entity| names_row(model, entity));
    let others =
        models(reader).iter().filter(|model| !entities.is_empty() && has(model) && !std::ptr::eq(*model, home));
    let key = match function.as_str() {
        "dimension" | "timedimension" => "dimensions",
        "entity" => "entities",
        _ => return None,
    };
    let find = |model: &Value| {
        let found = list(model, key).iter().find(|known| text_of(known, "name") == *last)?;
        let name = text_of(model, "name");
        let column =
            time_column(found).filter(|_| text_of(found, "type") == "time").unwrap_or_else(|| expression(found));
        let is_fine = text_of(found, "type") != "time" || is_as_fine(grain_of(model, last), grain);
        match is_column(&column) {
            true => is_fine.then(|| format!("{name}.{column}")),
            false => (is_fine && name == measure.entity).then(|| format!("({column})")),
        }
    };
    if let Some(own) = Some(home).filter(|home| has(home)).and_then(find) {
        return Some(own);
    }
    let mut found = others.filter_map(find);
    found.next().filter(|_| found.next().is_none())
}

/// Returns whether a time is requested at its own granularity, without truncation.
fn is_as_fine(own: Option<Grain>, asked: Option<&str>) -> bool {
    asked.is_none_or(|asked| own.is_some() && Grain::find(asked) == own)
}

/// Returns whether an entity with that name identifies the rows of a model.
fn names_row(model: &Value, entity: &str) -> bool {
    owner(model) == entity
        || list(model, "entities").iter().any(|known| text_of(known, "name") == entity && is_key(known))
}

/// Returns the primary entity of a model.
fn owner(model: &Value) -> &str {
    let primary = text_of(model, "primary_entity");
    let named = list(model, "entities").iter().find(|entity| text_of(entity, "type") == "primary");
    if primary.is_empty() { named.map_or(text_of(model, "name"), |entity| text_of(entity, "name")) } else { primary }
}

/// Returns the name of an input metric; if either has filters, that of an added metric with these.
fn read_input(reader: &mut Reader<'_>, metric: &Value, value: &Value) -> Result<String, Unmapped> {
    let name = input(value)?;
    let filters = [&value["filter"], &metric["filter"]];
    let mut is_plain = true;
    for filter in filters {
        is_plain &= list_templates(filter)?.is_empty();
    }
    if is_plain {
        return Ok(name);
    }
    let is_it = |other: &&Value| text_of(other, "name") == name && text_of(other, "type") == "simple";
    let of = list(reader.document, "metrics").iter().find(is_it);
    let of = of.ok_or_else(|| format!("a filter over `{name}`, which is not a simple metric, is unsupported"))?;
    let mut measure = read_simple(reader, of)?;
    for filter in filters {
        narrow(reader, &mut measure, filter)?;
    }
    let wanted = format!("{}_{}", text_of(metric, "name"), value["alias"].as_str().unwrap_or(&name));
    Ok(keep(reader, &wanted, measure))
}

fn input(value: &Value) -> Result<String, Unmapped> {
    if let Some(name) = value.as_str() {
        return Ok(name.to_owned());
    }
    let more = ["offset_window", "offset_to_grain"].into_iter().find(|key| !value[*key].is_null());
    match (more, value["name"].as_str()) {
        (None, Some(name)) => Ok(name.to_owned()),
        (Some(key), _) => Err(format!("the `{key}` of an input is unsupported").into()),
        (None, None) => Err("the manifest names no input".into()),
    }
}

/// Returns the arithmetic of a derived metric, with aliases replaced by the names of metrics.
fn read_formula(reader: &mut Reader<'_>, metric: &Value) -> Result<String, Unmapped> {
    let parameters = &metric["type_params"];
    if text_of(parameters, "expr").is_empty() {
        return Err("the manifest names no expression".into());
    }
    let mut names = Vec::new();
    for value in list(parameters, "metrics") {
        let alias = value["alias"].as_str().or_else(|| value["name"].as_str()).or_else(|| value.as_str());
        let alias = alias.unwrap_or_default().to_owned();
        names.push((alias, read_input(reader, metric, value)?));
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
