//! Imports Cube data models in YAML: cubes become entities with their joins and dimensions, measures become metrics named
//! `cube__measure`, segments become segments.

use prospector_connect::query::Aggregation;
use prospector_engine::query::aggregate::{Grain, Span};
use serde_json::Value;

use super::reader::{Reader, Unmapped, is_column, list, text_of};
use crate::model::{Dimension, DimensionColumn, Entity, Join, Measure, MetricKind, Segment, SegmentMembers};

pub(super) fn read(reader: &mut Reader<'_>) {
    let document = reader.document;
    for cube in list(document, "cubes") {
        let name = text_of(cube, "name");
        if let Err(reason) = read_cube(reader, cube) {
            reader.note(&format!("cubes.{name}"), reason);
        }
    }
    for cube in list(document, "cubes") {
        let name = text_of(cube, "name");
        if !reader.found.entities.iter().any(|entity| entity.name == name) {
            continue;
        }
        for join in list(cube, "joins") {
            match read_join(reader, cube, join) {
                Ok(join) => reader.found.joins.push(join),
                Err(reason) => reader.note(&format!("cubes.{name}.joins.{}", text_of(join, "name")), reason),
            }
        }
        for measure in list(cube, "measures") {
            if let Err(reason) = read_measure(reader, cube, measure) {
                reader.note(&format!("cubes.{name}.measures.{}", text_of(measure, "name")), reason);
            }
        }
        for segment in list(cube, "segments") {
            match read_segment(reader, cube, segment) {
                Ok(segment) => reader.found.segments.push(segment),
                Err(reason) => reader.note(&format!("cubes.{name}.segments.{}", text_of(segment, "name")), reason),
            }
        }
        if !list(cube, "hierarchies").is_empty() {
            reader.note(&format!("cubes.{name}.hierarchies"), "hierarchies are unsupported");
        }
    }
    if !list(document, "views").is_empty() {
        reader.note("views", "views are unsupported");
    }
}

fn read_cube(reader: &mut Reader<'_>, cube: &Value) -> Result<(), Unmapped> {
    let name = text_of(cube, "name");
    if let Some(key) = ["extends", "sql"].into_iter().find(|key| !cube[*key].is_null()) {
        return Err(format!("a cube with `{key}` is unsupported: only `sql_table` is supported").into());
    }
    let (database, table) = reader.find_table(text_of(cube, "sql_table"))?;
    let own = list(cube, "dimensions");
    let times: Vec<&Value> = own.iter().filter(|dimension| text_of(dimension, "type") == "time").collect();
    let time = match times.as_slice() {
        [only] => resolve(reader.document, cube, text_of(only, "sql")).ok(),
        _ => None,
    };
    if times.len() > 1 {
        reader.note(&format!("cubes.{name}"), "it has several time dimensions, so its measures have no default time");
    }
    let keys = own.iter().filter(|dimension| dimension["primary_key"] == true);
    let keys = keys.filter_map(|key| resolve(reader.document, cube, text_of(key, "sql")).ok());
    reader.found.entities.push(Entity {
        name: name.to_owned(),
        database,
        table,
        key: keys.filter(|key| is_column(key)).collect(),
        time: time.filter(|time| is_column(time)),
        grain: None,
        stored_in: Vec::new(),
        description: text_of(cube, "description").to_owned(),
        place: format!("{}: cubes.{name}", reader.place),
    });
    for dimension in own {
        let bare = text_of(dimension, "name");
        let place = format!("cubes.{name}.dimensions.{bare}");
        match resolve(reader.document, cube, text_of(dimension, "sql")) {
            Ok(expression) if !expression.is_empty() => reader.found.dimensions.push(Dimension {
                name: format!("{name}__{bare}"),
                columns: vec![DimensionColumn { entity: name.to_owned(), expression }],
                via: Vec::new(),
                keys: Vec::new(),
                description: text_of(dimension, "description").to_owned(),
                synonyms: list_synonyms(reader.document, "dimensions", dimension),
                place: format!("{}: {place}", reader.place),
            }),
            Ok(_) => reader.note(&place, "a dimension without `sql` is unsupported"),
            Err(reason) => reader.note(&place, reason),
        }
    }
    Ok(())
}

/// Returns its title, and its own name unless another cube has a member with that name.
fn list_synonyms(document: &Value, kind: &str, member: &Value) -> Vec<String> {
    let (name, title) = (text_of(member, "name"), text_of(member, "title"));
    let has = |cube: &&Value| list(cube, kind).iter().any(|other| text_of(other, "name") == name);
    let is_only = list(document, "cubes").iter().filter(has).count() == 1 && name != "count";
    [title, name].into_iter().filter(|word| !word.is_empty() && (*word != name || is_only)).map(str::to_owned).collect()
}

fn read_join(reader: &Reader<'_>, cube: &Value, join: &Value) -> Result<Join, Unmapped> {
    let (own, other) = (text_of(cube, "name"), text_of(join, "name"));
    // The cube and the column of one side.
    let side = |text: &str| -> Result<(String, String), Unmapped> {
        let written = resolve(reader.document, cube, text.trim())?;
        let (entity, column) = written.split_once('.').unwrap_or((own, &written));
        match is_column(column) {
            true => Ok((entity.to_owned(), column.to_owned())),
            false => Err(format!("`{}` is not a column", text.trim()).into()),
        }
    };
    let (mut columns, mut references) = (Vec::new(), Vec::new());
    for text in text_of(join, "sql").split(" AND ").flat_map(|part| part.split(" and ")) {
        let (left, right) = text.split_once('=').ok_or_else(|| format!("`{text}` is not an equality of columns"))?;
        let (left, right) = (side(left)?, side(right)?);
        let (here, there) = if left.0 == own { (left, right) } else { (right, left) };
        if here.0 != own || there.0 != other {
            return Err(format!("`{text}` does not join {own} with {other}").into());
        }
        columns.push(here.1);
        references.push(there.1);
    }
    let place = format!("{}: cubes.{own}.joins.{other}", reader.place);
    match text_of(join, "relationship") {
        "many_to_one" | "belongs_to" | "belongsTo" | "one_to_one" | "has_one" | "hasOne" => {
            Ok(Join { from: own.to_owned(), columns, to: other.to_owned(), references, place })
        }
        "one_to_many" | "has_many" | "hasMany" => {
            Ok(Join { from: other.to_owned(), columns: references, to: own.to_owned(), references: columns, place })
        }
        word => Err(format!("the relationship `{word}` is unsupported").into()),
    }
}

fn read_segment(reader: &Reader<'_>, cube: &Value, segment: &Value) -> Result<Segment, Unmapped> {
    let (entity, bare) = (text_of(cube, "name"), text_of(segment, "name"));
    let condition = resolve(reader.document, cube, text_of(segment, "sql"))?;
    if bare.is_empty() || condition.is_empty() {
        return Err("a segment without `name` and `sql` is unsupported".into());
    }
    Ok(Segment {
        name: format!("{entity}__{bare}"),
        entity: entity.to_owned(),
        members: SegmentMembers::Filter(vec![condition]),
        description: text_of(segment, "description").to_owned(),
        synonyms: list_synonyms(reader.document, "segments", segment),
        place: format!("{}: cubes.{entity}.segments.{bare}", reader.place),
        ..Segment::default()
    })
}

fn read_measure(reader: &mut Reader<'_>, cube: &Value, measure: &Value) -> Result<(), Unmapped> {
    let (entity, bare) = (text_of(cube, "name"), text_of(measure, "name"));
    let name = format!("{entity}__{bare}");
    let place = format!("cubes.{entity}.measures.{bare}");
    let kind = match text_of(measure, "type") {
        "number" => MetricKind::Derived { expression: read_formula(reader.document, cube, text_of(measure, "sql"))? },
        word => {
            let aggregation = match word {
                "count_distinct_approx" => Aggregation::CountDistinct,
                word => {
                    Aggregation::find(word).ok_or_else(|| format!("measures of the type `{word}` are unsupported"))?
                }
            };
            let value = resolve(reader.document, cube, text_of(measure, "sql"))?;
            let filters =
                list(measure, "filters").iter().map(|filter| resolve(reader.document, cube, text_of(filter, "sql")));
            MetricKind::Simple(Measure {
                entity: entity.to_owned(),
                aggregation,
                expression: (!value.is_empty()).then_some(value),
                filters: filters.collect::<Result<_, _>>()?,
                time: None,
                grain: None,
                semi_additive: None,
            })
        }
    };
    let kind = match &measure["rolling_window"] {
        Value::Null => kind,
        window => {
            let span = read_window(window)?;
            let base = format!("{name}_in_period");
            reader.found.metrics.push(reader.metric(&base, kind, &place));
            MetricKind::Cumulative { metric: base, span }
        }
    };
    let mut metric = reader.metric(&name, kind, &place);
    metric.description = text_of(measure, "description").to_owned();
    metric.synonyms = list_synonyms(reader.document, "measures", measure);
    metric.format = match text_of(measure, "format") {
        "percent" => "0.0%".to_owned(),
        "currency" => "0.00".to_owned(),
        _ => String::new(),
    };
    reader.found.metrics.push(metric);
    Ok(())
}

/// Parses `{trailing: 3 month}`, `{trailing: unbounded}`, `{type: to_date, granularity: year}`.
fn read_window(window: &Value) -> Result<Span, Unmapped> {
    let unmapped = || Unmapped::from(format!("the window {window} is unsupported"));
    if !window["leading"].is_null() || !matches!(text_of(window, "offset"), "" | "end") {
        return Err(unmapped());
    }
    match (text_of(window, "type"), text_of(window, "trailing")) {
        ("to_date", _) => Grain::find(text_of(window, "granularity")).map(Span::ToDate).ok_or_else(unmapped),
        (_, "unbounded") => Ok(Span::Whole),
        (_, trailing) => {
            let (count, unit) = trailing.split_once(' ').ok_or_else(unmapped)?;
            let read = count.parse().ok().zip(Grain::find(unit));
            read.map(|(count, unit)| Span::Trailing(count, unit)).ok_or_else(unmapped)
        }
    }
}

/// Parses arithmetic over measures: `1.0 * {completed_count} / {count}`.
fn read_formula(document: &Value, cube: &Value, text: &str) -> Result<String, Unmapped> {
    fill(text, |inner| {
        let (owner, name) = inner.split_once('.').unwrap_or(("CUBE", inner));
        let owner = if owner == "CUBE" { text_of(cube, "name") } else { owner };
        let cubes = list(document, "cubes");
        let has = |cube: &&Value| {
            text_of(cube, "name") == owner && list(cube, "measures").iter().any(|one| text_of(one, "name") == name)
        };
        cubes
            .iter()
            .find(has)
            .map(|_| format!("{owner}__{name}"))
            .ok_or_else(|| format!("there is no measure `{inner}`").into())
    })
}

/// Resolves SQL over the columns of a row: `{CUBE}.status`, `{status}` and `{CUBE.status}` are the column or the dimension of the cube,
/// `{customers.city}` and `{customers}.city` those of another.
fn resolve(document: &Value, cube: &Value, text: &str) -> Result<String, Unmapped> {
    let cubes = list(document, "cubes");
    let own = text_of(cube, "name");
    let find = |name: &str| cubes.iter().find(|known| text_of(known, "name") == name);
    let member = |cube: &Value, name: &str| {
        let all = list(cube, "dimensions").iter();
        all.into_iter().find(|one| text_of(one, "name") == name).map(|one| text_of(one, "sql").to_owned())
    };
    let filled = fill(text, |inner| match inner.split_once('.') {
        None if inner == "CUBE" || inner == own => Ok("\u{0}".to_owned()),
        None => match (member(cube, inner), find(inner)) {
            (Some(sql), _) => resolve(document, cube, &sql),
            (None, Some(_)) => Ok(inner.to_owned()),
            (None, None) => Err(format!("there is no member `{inner}`").into()),
        },
        Some((owner, name)) => {
            let is_own = owner == "CUBE" || owner == own;
            let home = if is_own { Some(cube) } else { find(owner) };
            let sql =
                home.and_then(|home| member(home, name)).ok_or_else(|| format!("there is no member `{inner}`"))?;
            let written = resolve(document, home.unwrap_or(cube), &sql)?;
            match (is_own, is_column(&written)) {
                (true, _) => Ok(written),
                (false, true) => Ok(format!("{owner}.{written}")),
                (false, false) => Err(format!("`{inner}` is an expression over another cube").into()),
            }
        }
    })?;
    Ok(filled.replace("\u{0}.", ""))
}

/// Replaces references in braces.
fn fill(text: &str, value: impl Fn(&str) -> Result<String, Unmapped>) -> Result<String, Unmapped> {
    if text.contains("{{") || text.contains("{%") {
        return Err("Jinja templates are unsupported".into());
    }
    let (mut written, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let (inner, after) = after.split_once('}').ok_or_else(|| format!("`{text}` has an unclosed brace"))?;
        written += before;
        written += &value(inner.trim())?;
        rest = after;
    }
    Ok(written + rest)
}
