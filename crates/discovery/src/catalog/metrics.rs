//! The semantic layer of a catalog: entities, joins, dimensions and metrics, declared or imported.

use std::path::PathBuf;
use std::sync::Arc;

use prospector_connect::query::Aggregation;
use prospector_connect::table::ForeignKey;
use prospector_core::Problem;
use prospector_engine::options::NamedQuery;
use prospector_engine::query::aggregate::{Grain, Span};
use prospector_facts::{Fact, model::Origin};
use prospector_schema::SchemaDiscovery;
use prospector_semantics::model::{
    Declarations, Dimension, DimensionColumn, Entity, FiscalYear, Join, Measure, Metric, MetricKind, Segment,
    SemiAdditive, TimeZone, short_place,
};
use prospector_semantics::{SemanticModel, Tables, import::read_document};
use serde_json::Value;

use super::{
    entry::Fields,
    file_schema::{self, list_texts},
    paths::advise_path,
    section::{Folders, Opening, Section},
    time_zone,
};

/// Confidence of a metric as a definition, below that of a document with its own wording.
const CONFIDENCE: f64 = 0.9;

/// The metrics, with the definitions they use.
pub(super) struct Metrics {
    pub(super) entities: Vec<Entity>,
    pub(super) joins: Vec<Join>,
    pub(super) dimensions: Vec<Dimension>,
    pub(super) segments: Vec<Segment>,
    /// The verified queries that segments may name.
    pub(super) queries: Vec<NamedQuery>,
    pub(super) fiscal_year: Option<FiscalYear>,
    pub(super) time_zone: Option<TimeZone>,
    pub(super) schema: Arc<SchemaDiscovery>,
}

/// A metric, or a file of metrics.
#[derive(Debug)]
pub(super) enum MetricEntry {
    Declared(Box<Metric>),
    Imported(ImportEntry),
}

/// A file of another tool.
#[derive(Debug)]
pub(super) struct ImportEntry {
    line: u64,
    path: String,
    /// The database that contains its tables; without it, they are found by name.
    database: Option<String>,
}

/// Checks a metric, or a file of metrics.
pub(super) fn check_metric(fields: &mut Fields<'_>, mut written: file_schema::MetricEntry) -> Option<MetricEntry> {
    if fields.has("path") {
        let what = "a semantic_manifest.json of dbt, or a YAML file of Cube or of the Open Semantic Interchange";
        let path = fields.require("path", what, written.path)?;
        return Some(MetricEntry::Imported(ImportEntry { line: fields.line(), path, database: written.database }));
    }
    let name = fields.require("name", "the name of the metric", written.name.take());
    let kind = check_kind(fields, &mut written)?;
    Some(MetricEntry::Declared(Box::new(Metric {
        name: name?,
        kind,
        unit: written.unit.unwrap_or_default(),
        format: written.format.unwrap_or_default(),
        owner: written.owner.unwrap_or_default(),
        description: written.description.unwrap_or_default(),
        synonyms: written.synonyms.unwrap_or_default(),
        source: written.source.unwrap_or_default(),
        place: fields.place(),
    })))
}

impl Section for Metrics {
    type Entry = MetricEntry;
    type Loaded = Arc<SemanticModel>;

    fn files(entries: &[MetricEntry], folders: &Folders<'_>) -> Option<Vec<PathBuf>> {
        let imported = entries.iter().filter_map(|entry| match entry {
            MetricEntry::Imported(import) => Some(folders.base.join(&import.path)),
            MetricEntry::Declared(_) => None,
        });
        Some(imported.collect())
    }

    async fn load(self, entries: Vec<MetricEntry>, opening: &mut Opening<'_>) -> Self::Loaded {
        let Metrics { entities, joins, dimensions, segments, queries, fiscal_year, time_zone, schema } = self;
        let metrics = Vec::new();
        let sources: Vec<Tables<'_>> = (schema.databases())
            .map(|database| Tables {
                database: &database.name,
                dialect: database.kind.dialect(),
                tables: &database.tables,
            })
            .collect();
        let mut declared =
            Declarations { entities, joins, dimensions, metrics, segments, queries, fiscal_year, time_zone };
        for entry in entries {
            match entry {
                MetricEntry::Declared(metric) => declared.metrics.push(*metric),
                MetricEntry::Imported(import) => declared.extend(read_file(&import, &sources, opening)),
            }
        }
        let (model, problems) = SemanticModel::check(declared, &sources);
        opening.problems.extend(problems);
        Arc::new(model)
    }
}

/// Returns the declarations in a file of another tool.
fn read_file(import: &ImportEntry, sources: &[Tables<'_>], opening: &mut Opening<'_>) -> Declarations {
    let path = opening.folders.base.join(&import.path);
    let line = opening.place(import.line);
    let fail = |reason: String, advice: String| Problem::error(line.clone(), reason).advise(advice);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| fail(format!("cannot read {}: {error}", path.display()), advise_path(&path)));
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let unreadable =
        |error: String| fail(format!("cannot read {}: {error}", path.display()), "regenerate the file".to_owned());
    let document: Result<Value, Problem> = text.and_then(|text| match is_json {
        true => serde_json::from_str(&text).map_err(|error| unreadable(error.to_string())),
        false => serde_saphyr::from_str(&text).map_err(|error| unreadable(error.to_string())),
    });
    match document {
        Ok(document) => {
            let place = path.display().to_string();
            let (found, problems) = read_document(&document, &place, import.database.as_deref(), sources);
            opening.problems.extend(problems);
            found
        }
        Err(problem) => {
            opening.problems.push(problem);
            Declarations::default()
        }
    }
}

/// Returns the schema with the declared joins between tables of one database as keys, so that they are shown and used like those of the
/// source.
pub(super) fn declare_keys(schema: Arc<SchemaDiscovery>, model: &SemanticModel) -> Arc<SchemaDiscovery> {
    let entity = |name: &str| model.entities().iter().find(|entity| entity.name.eq_ignore_ascii_case(name));
    let key = |join: &Join| {
        let (from, to) = (entity(&join.from)?, entity(&join.to)?);
        let (columns, references) = (join.columns.clone(), join.references.clone());
        let key = ForeignKey { columns, table: to.table.clone(), references };
        let is_within = from.database.eq_ignore_ascii_case(&to.database);
        is_within.then(|| (from.database.clone(), from.table.clone(), key))
    };
    let keys: Vec<(String, String, ForeignKey)> = model.joins().iter().filter_map(key).collect();
    if keys.is_empty() { schema } else { Arc::new(schema.with_keys(keys)) }
}

/// Returns each name and synonym of a metric or segment as a term with its definition.
pub(super) fn define_terms(model: &SemanticModel) -> Vec<Fact> {
    let of = |name: &str, place: &str, synonyms: &[String], definition: String| {
        let source = format!("{name}#{}", short_place(place));
        let own = name.replace('_', " ");
        let terms = std::iter::once(own).chain(synonyms.iter().cloned());
        let fact = move |term: String| {
            let mut fact = Fact::new(term, definition.clone(), Origin::Metric);
            fact.source = source.clone();
            fact.confidence = CONFIDENCE;
            fact
        };
        terms.map(fact).collect::<Vec<_>>()
    };
    let metrics = model
        .metrics()
        .iter()
        .flat_map(|metric| of(&metric.name, &metric.place, &metric.synonyms, model.define(metric)));
    let segments = model
        .segments()
        .iter()
        .flat_map(|segment| of(&segment.name, &segment.place, &segment.synonyms, model.define_segment(segment)));
    metrics.chain(segments).collect()
}

/// Checks how a metric is computed, by `kind` or, without it, by its other keys.
fn check_kind(fields: &mut Fields<'_>, written: &mut file_schema::MetricEntry) -> Option<MetricKind> {
    let kind = if let Some(kind) = written.kind.take() {
        let find = |word: &str| MetricKind::WORDS.into_iter().find(|known| *known == word);
        fields.word("kind", Some(kind), "kind of metric", &MetricKind::WORDS, find)?
    } else if written.numerator.is_some() {
        "ratio"
    } else if written.metric.is_some() {
        "cumulative"
    } else if written.entity.is_some() || written.aggregate.is_some() || written.expression.is_none() {
        "simple"
    } else {
        "derived"
    };
    match kind {
        "ratio" => {
            let numerator = fields.require("numerator", "the metric of the numerator", written.numerator.take());
            let what = "the metric of the denominator";
            let denominator = fields.require("denominator", what, written.denominator.take());
            Some(MetricKind::Ratio { numerator: numerator?, denominator: denominator? })
        }
        "derived" => {
            let expression = fields.require("expression", "arithmetic over metrics", written.expression.take());
            Some(MetricKind::Derived { expression: expression? })
        }
        "cumulative" => {
            let metric = fields.require("metric", "the metric that is accumulated", written.metric.take());
            let span = check_span(fields, written.window.take(), written.to_date.take())?;
            Some(MetricKind::Cumulative { metric: metric?, span })
        }
        _ => check_measure(fields, written).map(MetricKind::Simple),
    }
}

fn check_measure(fields: &mut Fields<'_>, written: &mut file_schema::MetricEntry) -> Option<Measure> {
    let entity = fields.require("entity", "the entity of its rows", written.entity.take());
    if !fields.has("aggregate") {
        fields.fail(fields.line(), "`aggregate` is missing: how rows are aggregated", "write `aggregate: sum`");
    }
    let words = Aggregation::ALL.map(Aggregation::as_str);
    let aggregation = fields.word("aggregate", written.aggregate.take(), "aggregate", &words, Aggregation::find);
    let is_first = |word: &str| match word {
        "last" => Some(false),
        "first" => Some(true),
        _ => None,
    };
    let (word, what) = (written.semi_additive.take(), "value of `semi_additive`");
    let is_first = fields.word("semi_additive", word, what, &["last", "first"], is_first);
    let per = list_texts(written.per.take());
    Some(Measure {
        expression: written.expression.take(),
        filters: list_texts(written.filter.take()),
        time: written.time.take(),
        grain: check_grain(fields, "grain", written.grain.take()),
        semi_additive: is_first.map(|is_first| SemiAdditive { is_first, per }),
        entity: entity?,
        aggregation: aggregation?,
    })
}

/// Parses the window of a cumulative metric.
fn check_span(fields: &mut Fields<'_>, window: Option<String>, to_date: Option<String>) -> Option<Span> {
    let to_date = check_grain(fields, "to_date", to_date);
    let line = fields.line_of("window");
    match (window, to_date) {
        (None, None) => Some(Span::Whole),
        (None, Some(grain)) => Some(Span::ToDate(grain)),
        (Some(_), Some(_)) => {
            fields.fail(line, "both `window` and `to_date` are set", "remove one of them");
            None
        }
        (Some(text), None) => {
            let parts = text.trim().split_once(' ');
            let read = parts.and_then(|(count, unit)| {
                Some((count.parse::<u32>().ok().filter(|count| (1..=10_000).contains(count))?, Grain::find(unit)?))
            });
            if read.is_none() {
                fields.fail(line, format!("`{text}` is not a window"), "write `window: 3 months`, for example");
            }
            read.map(|(count, unit)| Span::Trailing(count, unit))
        }
    }
}

fn check_grain(fields: &mut Fields<'_>, key: &str, written: Option<String>) -> Option<Grain> {
    fields.word(key, written, "grain", &Grain::ALL.map(Grain::as_str), Grain::find)
}

/// Checks an entity.
pub(super) fn check_entity(fields: &mut Fields<'_>, written: file_schema::EntityEntry) -> Option<Entity> {
    let grain = check_grain(fields, "grain", written.grain);
    let stored_in = time_zone::read_stored_in(fields, written.time.as_deref(), written.stored_in);
    let Some((database, table)) = written.table.split_once('.') else {
        let reason = format!("`{}` has no database", written.table);
        fields.fail_missing(fields.line(), reason, "write `table: database.table`");
        return None;
    };
    Some(Entity {
        name: written.name,
        database: database.to_owned(),
        table: table.to_owned(),
        key: list_texts(written.key),
        time: written.time,
        grain,
        stored_in,
        description: written.description.unwrap_or_default(),
        place: fields.place(),
    })
}

/// Checks a join.
pub(super) fn check_join(fields: &mut Fields<'_>, written: file_schema::JoinEntry) -> Option<Join> {
    let mut side = |key: &str, named: file_schema::Texts| -> Option<(String, Vec<String>)> {
        let named = list_texts(Some(named));
        let split: Option<Vec<(&str, &str)>> = named.iter().map(|name| name.split_once('.')).collect();
        let split = split.filter(|names| !names.is_empty() && names.iter().all(|(entity, _)| *entity == names[0].0));
        if split.is_none() {
            let reason = format!("`{key}` must name columns of one entity");
            fields.fail(fields.line(), reason, format!("write `{key}: entity.column`"));
        }
        split.map(|names| (names[0].0.to_owned(), names.iter().map(|(_, column)| (*column).to_owned()).collect()))
    };
    let (from, to) = (side("from", written.from), side("to", written.to));
    let ((from, columns), (to, references)) = (from?, to?);
    Some(Join { from, columns, to, references, place: fields.place() })
}

/// Checks a dimension.
pub(super) fn check_dimension(fields: &mut Fields<'_>, written: file_schema::DimensionEntry) -> Option<Dimension> {
    let line = fields.line();
    let mut columns = Vec::new();
    for column in written.columns.into_iter().flatten().chain(written.column) {
        match column.split_once('.') {
            Some((entity, column)) => {
                columns.push(DimensionColumn { entity: entity.to_owned(), expression: column.to_owned() });
            }
            None => fields.fail(line, format!("`{column}` has no entity"), "write `entity.column`"),
        }
    }
    match (written.entity, written.expression) {
        (Some(entity), Some(expression)) => columns.push(DimensionColumn { entity, expression }),
        (None, None) => {}
        _ => fields.fail(line, "`entity` and `expression` must be set together", "write both, or a `column`"),
    }
    Some(Dimension {
        name: written.name,
        columns,
        via: list_texts(written.via),
        keys: Vec::new(),
        description: written.description.unwrap_or_default(),
        synonyms: written.synonyms.unwrap_or_default(),
        place: fields.place(),
    })
}
