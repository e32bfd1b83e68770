//! The semantic layer of a catalog: entities, joins, dimensions and metrics, declared or imported.

use std::path::PathBuf;
use std::sync::Arc;

use prospector_connect::query::Aggregation;
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
    entry::{EntryReader, plain, require_plain},
    file_schema,
    node::{Fields, Placed},
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

impl Section for Metrics {
    type Entry = MetricEntry;
    type Loaded = Arc<SemanticModel>;

    fn read(reader: &mut EntryReader<'_>, at: usize, entry: Placed) -> Option<MetricEntry> {
        let file = reader.file;
        let mut fields = reader.fields::<file_schema::MetricEntry>(format!("metrics[{at}]"), entry)?;
        if fields.has("path") {
            let path = require_plain(
                &mut fields,
                "path",
                "a semantic_manifest.json of dbt, or a YAML file of Cube or of the Open Semantic Interchange",
            );
            let database = plain(&mut fields, "database");
            let entry = ImportEntry { line: fields.line(), path: path?, database };
            return (!fields.has_failed()).then_some(MetricEntry::Imported(entry));
        }
        let place = format!("{file}:{}", fields.line());
        let metric = Metric {
            name: require_plain(&mut fields, "name", "the name of the metric").unwrap_or_default(),
            kind: read_kind(&mut fields)?,
            unit: plain(&mut fields, "unit").unwrap_or_default(),
            format: plain(&mut fields, "format").unwrap_or_default(),
            owner: plain(&mut fields, "owner").unwrap_or_default(),
            description: plain(&mut fields, "description").unwrap_or_default(),
            synonyms: fields.texts("synonyms"),
            source: plain(&mut fields, "source").unwrap_or_default(),
            place,
        };
        (!fields.has_failed()).then(|| MetricEntry::Declared(Box::new(metric)))
    }

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

/// Parses how a metric is computed, by `kind` or, without it, by its other keys.
fn read_kind(fields: &mut Fields<'_>) -> Option<MetricKind> {
    let kind = if fields.has("kind") {
        let find = |word: &str| MetricKind::WORDS.into_iter().find(|known| *known == word);
        fields.word("kind", "kind of metric", &MetricKind::WORDS, find)?
    } else if fields.has("numerator") {
        "ratio"
    } else if fields.has("metric") {
        "cumulative"
    } else if fields.has("entity") || fields.has("aggregate") || !fields.has("expression") {
        "simple"
    } else {
        "derived"
    };
    match kind {
        "ratio" => {
            let numerator = require_plain(fields, "numerator", "the metric of the numerator");
            let denominator = require_plain(fields, "denominator", "the metric of the denominator");
            Some(MetricKind::Ratio { numerator: numerator?, denominator: denominator? })
        }
        "derived" => {
            let expression = require_plain(fields, "expression", "arithmetic over metrics");
            Some(MetricKind::Derived { expression: expression? })
        }
        "cumulative" => {
            let metric = require_plain(fields, "metric", "the metric that is accumulated");
            let span = read_span(fields)?;
            Some(MetricKind::Cumulative { metric: metric?, span })
        }
        _ => read_measure(fields).map(MetricKind::Simple),
    }
}

fn read_measure(fields: &mut Fields<'_>) -> Option<Measure> {
    let entity = require_plain(fields, "entity", "the entity of its rows");
    let aggregation = if fields.has("aggregate") {
        let words = Aggregation::ALL.map(Aggregation::as_str);
        fields.word("aggregate", "aggregate", &words, Aggregation::find)
    } else {
        fields.fail(fields.line(), "`aggregate` is missing: how rows are aggregated", "write `aggregate: sum`");
        None
    };
    let per = read_texts(fields, "per");
    let is_first = |word: &str| match word {
        "last" => Some(false),
        "first" => Some(true),
        _ => None,
    };
    let is_first = fields.word("semi_additive", "value of `semi_additive`", &["last", "first"], is_first);
    let semi_additive = is_first.map(|is_first| SemiAdditive { is_first, per });
    Some(Measure {
        expression: plain(fields, "expression"),
        filters: read_texts(fields, "filter"),
        time: plain(fields, "time"),
        grain: read_grain(fields, "grain"),
        semi_additive,
        entity: entity?,
        aggregation: aggregation?,
    })
}

/// Parses the window of a cumulative metric.
fn read_span(fields: &mut Fields<'_>) -> Option<Span> {
    let window = fields.text("window");
    let to_date = read_grain(fields, "to_date");
    match (window, to_date) {
        (None, None) => Some(Span::Whole),
        (None, Some(grain)) => Some(Span::ToDate(grain)),
        (Some((_, line)), Some(_)) => {
            fields.fail(line, "both `window` and `to_date` are set", "remove one of them");
            None
        }
        (Some((text, line)), None) => {
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

fn read_grain(fields: &mut Fields<'_>, key: &str) -> Option<Grain> {
    fields.word(key, "grain", &Grain::ALL.map(Grain::as_str), Grain::find)
}

/// Returns a list of texts, or a single text as a list.
pub(super) fn read_texts(fields: &mut Fields<'_>, key: &str) -> Vec<String> {
    if fields.is_list(key) { fields.texts(key) } else { plain(fields, key).into_iter().collect() }
}

/// Parses an entity.
pub(super) fn read_entity(reader: &mut EntryReader<'_>, at: usize, entry: Placed) -> Option<Entity> {
    let file = reader.file;
    let mut fields = reader.fields::<file_schema::EntityEntry>(format!("entities[{at}]"), entry)?;
    let name = require_plain(&mut fields, "name", "its name in expressions");
    let table = require_plain(&mut fields, "table", "the table with one row per entity");
    let line = fields.line();
    let split = table.as_deref().and_then(|table| table.split_once('.'));
    let split = split.map(|(database, table)| (database.to_owned(), table.to_owned()));
    if let (Some(table), None) = (&table, &split) {
        fields.fail(line, format!("`{table}` has no database"), "write `table: database.table`");
    }
    let (key, time) = (read_texts(&mut fields, "key"), plain(&mut fields, "time"));
    let grain = read_grain(&mut fields, "grain");
    let stored_in = time_zone::read_stored_in(&mut fields, time.as_deref());
    let description = plain(&mut fields, "description").unwrap_or_default();
    let failed = fields.has_failed();
    let (database, table) = split?;
    let place = format!("{file}:{line}");
    let entity = Entity { name: name?, database, table, key, time, grain, stored_in, description, place };
    (!failed).then_some(entity)
}

/// Parses a join.
pub(super) fn read_join(reader: &mut EntryReader<'_>, at: usize, entry: Placed) -> Option<Join> {
    let file = reader.file;
    let mut fields = reader.fields::<file_schema::JoinEntry>(format!("joins[{at}]"), entry)?;
    let line = fields.line();
    let mut side = |key: &str| -> Option<(String, Vec<String>)> {
        let named = read_texts(&mut fields, key);
        let split: Option<Vec<(&str, &str)>> = named.iter().map(|name| name.split_once('.')).collect();
        let split = split.filter(|names| !names.is_empty() && names.iter().all(|(entity, _)| *entity == names[0].0));
        if split.is_none() {
            fields.fail(
                line,
                format!("`{key}` must name columns of one entity"),
                format!("write `{key}: entity.column`"),
            );
        }
        split.map(|names| (names[0].0.to_owned(), names.iter().map(|(_, column)| (*column).to_owned()).collect()))
    };
    let (from, to) = (side("from"), side("to"));
    let ((from, columns), (to, references)) = (from?, to?);
    let join = Join { from, columns, to, references, place: format!("{file}:{line}") };
    (!fields.has_failed()).then_some(join)
}

/// Parses a dimension.
pub(super) fn read_dimension(reader: &mut EntryReader<'_>, at: usize, entry: Placed) -> Option<Dimension> {
    let file = reader.file;
    let mut fields = reader.fields::<file_schema::DimensionEntry>(format!("dimensions[{at}]"), entry)?;
    let line = fields.line();
    let name = require_plain(&mut fields, "name", "the name of the dimension");
    let mut named = fields.texts("columns");
    named.extend(plain(&mut fields, "column"));
    let mut columns = Vec::new();
    for column in named {
        match column.split_once('.') {
            Some((entity, column)) => {
                columns.push(DimensionColumn { entity: entity.to_owned(), expression: column.to_owned() });
            }
            None => fields.fail(line, format!("`{column}` has no entity"), "write `entity.column`"),
        }
    }
    match (plain(&mut fields, "entity"), plain(&mut fields, "expression")) {
        (Some(entity), Some(expression)) => columns.push(DimensionColumn { entity, expression }),
        (None, None) => {}
        _ => fields.fail(line, "`entity` and `expression` must be set together", "write both, or a `column`"),
    }
    let dimension = Dimension {
        name: name?,
        columns,
        via: read_texts(&mut fields, "via"),
        keys: Vec::new(),
        description: plain(&mut fields, "description").unwrap_or_default(),
        synonyms: fields.texts("synonyms"),
        place: format!("{file}:{line}"),
    };
    (!fields.has_failed()).then_some(dimension)
}
