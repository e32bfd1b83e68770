//! `list_metrics` and `get_metric`

use std::sync::Arc;

use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::{Effect, Page, Part, Tool, ToolError, ToolOutput};
use prospector_engine::Engine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SemanticModel;
use crate::check::fold;
use crate::model::{Entity, Metric, Segment, short_place};
use crate::segments::SEGMENT;

/// The maximum number of dimensions that are listed for a metric.
const MAX_DIMENSIONS: usize = 30;

pub(super) struct ListMetrics(pub(super) Arc<SemanticModel>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArgs {
    /// Only entries whose name, synonyms, kind or description contain this text.
    #[serde(default)]
    contains: Option<String>,
    /// Maximum number of entries (default 100).
    #[serde(default)]
    limit: Option<usize>,
    /// Number of entries to skip.
    #[serde(default)]
    offset: Option<usize>,
}

/// A metric or a segment in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct MetricLine {
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    unit: String,
    description: String,
}

impl Tool for ListMetrics {
    const NAME: &'static str = "list_metrics";
    const DESCRIPTION: &'static str = "Lists declared metrics and segments.";
    const MORE: &'static str = "call again with offset";
    const EFFECT: Effect = Effect::Reads;
    type Args = ListArgs;
    type Output = Page<MetricLine>;

    async fn call(&self, args: ListArgs) -> Result<Page<MetricLine>, ToolError> {
        let wanted = args.contains.map(|text| fold(&text)).unwrap_or_default();
        let holds = |texts: [&str; 3], synonyms: &[String]| {
            let texts = texts.into_iter().chain(synonyms.iter().map(String::as_str));
            wanted.is_empty() || texts.into_iter().any(|text| fold(text).contains(&wanted))
        };
        let metric = |metric: &Metric| MetricLine {
            name: metric.name.clone(),
            kind: metric.kind.as_str(),
            unit: metric.unit.clone(),
            description: match metric.description.is_empty() {
                true => self.0.formula(metric),
                false => metric.description.clone(),
            },
        };
        let segment = |segment: &Segment| MetricLine {
            name: segment.name.clone(),
            kind: SEGMENT,
            unit: String::new(),
            description: match segment.description.is_empty() {
                true => self.0.describe_members(segment),
                false => segment.description.clone(),
            },
        };
        let metrics = self.0.metrics().iter();
        let metrics = metrics.filter(|one| holds([&one.name, one.kind.as_str(), &one.description], &one.synonyms));
        let segments = self.0.segments().iter();
        let segments = segments.filter(|one| holds([&one.name, SEGMENT, &one.description], &one.synonyms));
        let lines = metrics.map(metric).chain(segments.map(segment)).collect();
        Ok(Page::cut(lines, args.offset.unwrap_or(0), args.limit.unwrap_or(100)))
    }
}

impl ToolOutput for MetricLine {
    fn reveals(&self) -> Vec<Resource> {
        vec![Resource::new(ResourceKind::Metric, &self.name)]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("description", Part::Text(&mut self.description))]
    }
}

pub(super) struct GetMetric {
    pub(super) model: Arc<SemanticModel>,
    /// The engine that computes metrics, if there is one.
    pub(super) engine: Option<Arc<Engine>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetArgs {
    /// Name or synonym.
    name: String,
}

/// The details of a metric or a segment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct MetricDetails {
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    /// How it is computed; for a segment, who belongs to it.
    formula: String,
    /// The tables that it reads.
    tables: Vec<String>,
    /// The dimensions that it can be grouped by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dimensions: Vec<String>,
    /// The columns that it can be grouped by as well.
    #[serde(skip_serializing_if = "String::is_empty")]
    columns: String,
    /// The number of dimensions that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    more_dimensions: usize,
    #[serde(skip_serializing_if = "String::is_empty")]
    unit: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    format: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    owner: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    synonyms: Vec<String>,
    /// For a segment: the table in FROM that contains the keys of its members.
    #[serde(skip_serializing_if = "Option::is_none")]
    reads_as: Option<String>,
    /// For a segment: the columns of that table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    key: Vec<String>,
    /// The source of its definition.
    #[serde(skip_serializing_if = "String::is_empty")]
    source: String,
    /// Where it is declared.
    declared: String,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Tool for GetMetric {
    const NAME: &'static str = "get_metric";
    const DESCRIPTION: &'static str =
        "Returns a metric's definition, formula, tables and dimensions, or a segment's definition and members.";
    const EFFECT: Effect = Effect::Reads;
    type Args = GetArgs;
    type Output = MetricDetails;

    async fn call(&self, args: GetArgs) -> Result<MetricDetails, ToolError> {
        let model = &self.model;
        if let Some(segment) = model.segment(&args.name).filter(|_| model.metric(&args.name).is_none()) {
            return Ok(MetricDetails::of_segment(model, segment));
        }
        let segments = model.segments().iter().map(|segment| segment.name.as_str());
        let known = model.metrics().iter().map(|metric| metric.name.as_str()).chain(segments);
        let metric = model.metric(&args.name).ok_or_else(|| ToolError::not_found("metric", &args.name, known))?;
        let mut told_by = model.dimensions_of(metric);
        if let Some(engine) = &self.engine {
            told_by.retain(|dimension| !model.is_refused(engine, metric, &dimension.name));
        }
        Ok(MetricDetails {
            name: metric.name.clone(),
            kind: metric.kind.as_str(),
            description: metric.description.clone(),
            formula: model.formula(metric),
            tables: model.tables(metric),
            more_dimensions: told_by.len().saturating_sub(MAX_DIMENSIONS),
            dimensions: told_by.iter().take(MAX_DIMENSIONS).map(|dimension| dimension.name.clone()).collect(),
            columns: self.describe_columns(metric),
            unit: metric.unit.clone(),
            format: metric.format.clone(),
            owner: metric.owner.clone(),
            synonyms: metric.synonyms.clone(),
            reads_as: None,
            key: Vec::new(),
            source: metric.source.clone(),
            declared: short_place(&metric.place).to_owned(),
        })
    }
}

impl GetMetric {
    /// Names the entities by whose columns a metric can be grouped, with an example.
    fn describe_columns(&self, metric: &Metric) -> String {
        let model = &self.model;
        let examples =
            model.entities_of(metric).into_iter().filter_map(|entity| Some((entity, model.example_column(entity)?)));
        let is_possible =
            |column: &str| self.engine.as_ref().is_none_or(|engine| !model.is_refused(engine, metric, column));
        let found: Vec<(&Entity, String)> =
            examples.take(MAX_DIMENSIONS).filter(|(_, example)| is_possible(example)).collect();
        let names: Vec<&str> = found.iter().map(|(entity, _)| entity.name.as_str()).collect();
        let example = found.last().map(|(_, example)| format!(", as {example}"));
        example.map(|example| format!("any column of {}{example}", names.join(", "))).unwrap_or_default()
    }
}

impl MetricDetails {
    fn of_segment(model: &SemanticModel, segment: &Segment) -> Self {
        let text = String::new;
        MetricDetails {
            name: segment.name.clone(),
            kind: SEGMENT,
            description: segment.description.clone(),
            formula: model.describe_members(segment),
            tables: model.table_of_entity(segment).into_iter().collect(),
            dimensions: Vec::new(),
            columns: text(),
            more_dimensions: 0,
            unit: text(),
            format: text(),
            owner: text(),
            synonyms: segment.synonyms.clone(),
            reads_as: Some(model.table_of(segment)),
            key: segment.key.clone(),
            source: segment.source.clone(),
            declared: short_place(&segment.place).to_owned(),
        }
    }
}

impl ToolOutput for MetricDetails {
    fn reveals(&self) -> Vec<Resource> {
        let tables = self.tables.iter().map(|table| Resource::new(ResourceKind::Table, table));
        std::iter::once(Resource::new(ResourceKind::Metric, &self.name)).chain(tables).collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![
            ("description", Part::Text(&mut self.description)),
            ("dimensions", Part::entries(&mut self.dimensions)),
            ("synonyms", Part::entries(&mut self.synonyms)),
        ]
    }
}
