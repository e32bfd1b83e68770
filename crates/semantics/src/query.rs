//! Metric queries, and their translation into aggregate queries.

use std::collections::BTreeSet;

use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::query::{Order, read_filters, read_orders};
use prospector_core::name::{nearest, rank};
use prospector_engine::query::CompiledQuery;
use prospector_engine::query::aggregate::{
    Aggregate, AggregateQuery, DimensionFilter, Formula, Grain, GroupedDimension, NamedJoin, NamedTable, OutputColumn,
    OverTime, Place, Span, read_formula,
};
use prospector_engine::{Engine, Failure, FailureCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::SemanticModel;
use crate::check::fold;
use crate::model::{Dimension, Measure, Metric, MetricKind};

/// The name in filters of the time of each metric.
pub const TIME: &str = "time";

/// The maximum limit; more than any answer shows.
const MAX_LIMIT: usize = 10_000;

/// The maximum number of dimensions that are suggested for an unknown one.
const MAX_SUGGESTED: usize = 3;

/// A query over metrics.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetricQuery {
    /// Names of metrics.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Group by: a dimension, `entity.column`, or `month(entity.column)` of a date column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<String>,
    /// Include only members of these segments. To group by membership, name a segment in `dimensions` (`true` or `false`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<String>,
    /// Conditions such as `country = 'DE'`, `revenue > 100`, `time = 2025-Q4`, `time between 2025-01 and 2025-06`.
    #[serde(default, deserialize_with = "read_filters", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub filters: Vec<FilterCondition>,
    /// One row per period of this grain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grain: Option<Grain>,
    /// Sort order, such as `revenue desc`.
    #[serde(default, deserialize_with = "read_orders", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub order: Vec<Order>,
    /// Maximum number of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Whether rows that tie with the last one are included as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    pub ties: bool,
}

impl MetricQuery {
    /// Returns a one-line description.
    pub fn describe(&self) -> String {
        let mut text = self.metrics.join(", ");
        if !self.dimensions.is_empty() {
            text += &format!(" by {}", self.dimensions.join(", "));
        }
        if let Some(grain) = self.grain {
            text += &format!(" per {grain}");
        }
        if !self.segments.is_empty() {
            text += &format!(" of {}", self.segments.join(", "));
        }
        text
    }
}

impl SemanticModel {
    /// Compiles a query to SQL without running it, and returns the metrics that it computes.
    ///
    /// # Errors
    /// If a name is unknown (with the closest names), a metric cannot be grouped by a dimension, or a metric lacks the requested time.
    pub fn compile(&self, engine: &Engine, query: &MetricQuery) -> Result<(CompiledQuery, Vec<&Metric>), Failure> {
        let (query, metrics) = self.plan(query)?;
        Ok((engine.compile_aggregates(&query)?, metrics))
    }

    /// Returns the aggregate query for an engine.
    ///
    /// # Errors
    /// Those of [`SemanticModel::compile`] that need no engine.
    pub fn plan(&self, query: &MetricQuery) -> Result<(AggregateQuery, Vec<&Metric>), Failure> {
        if query.metrics.is_empty() {
            let names: Vec<&str> = self.metrics().iter().take(20).map(|metric| metric.name.as_str()).collect();
            return Err(Failure::new(FailureCode::InvalidArguments, "no metric is named")
                .advise(format!("the metrics are {}", names.join(", "))));
        }
        let mut metrics: Vec<&Metric> = Vec::new();
        for name in &query.metrics {
            let metric = self.find_metric(name)?;
            if !metrics.iter().any(|known| known.name == metric.name) {
                metrics.push(metric);
            }
        }
        let mut planner = Planner { model: self, grain: query.grain, aggregates: Vec::new() };
        let (mut dimensions, mut filters) = (Vec::new(), Vec::new());
        for name in &query.dimensions {
            match Grain::find(name).filter(|_| self.dimension(name).is_none()) {
                Some(grain) if planner.grain.is_none_or(|known| known == grain) => planner.grain = Some(grain),
                _ => {
                    dimensions.push(self.group_by(name)?);
                    dimensions.extend(self.keep_apart(name));
                }
            }
        }
        let mut columns = Vec::new();
        for metric in &metrics {
            columns.push(OutputColumn { name: metric.name.clone(), formula: planner.formula(metric)? });
        }
        let segments = query.segments.iter().map(|name| Ok(self.key_set(self.find_segment(name)?)));
        let segments = segments.collect::<Result<_, Failure>>()?;
        let (mut period, mut having) = (Vec::new(), Vec::new());
        for filter in &query.filters {
            let folded = fold(&filter.column);
            if folded == TIME {
                period.push(filter.clone());
            } else if let Some(metric) = self.metric(&filter.column) {
                if !metrics.iter().any(|known| known.name == metric.name) {
                    let message = format!("the filter on {} needs it among the metrics", metric.name);
                    return Err(Failure::new(FailureCode::InvalidArguments, message).advise("add it to `metrics`"));
                }
                having.push(FilterCondition { column: metric.name.clone(), ..filter.clone() });
            } else {
                let dimension = self.group_by(&filter.column)?;
                let condition = if dimension.is_member() { spell_member(filter)? } else { filter.clone() };
                filters.push(DimensionFilter { dimension, condition });
            }
        }
        let order = query.order.iter().map(|order| self.spell_order(order, &dimensions, planner.grain)).collect();
        let Planner { grain, aggregates, .. } = planner;
        let grouped = dimensions.iter().chain(filters.iter().map(|filter: &DimensionFilter| &filter.dimension));
        self.check_fiscal(grouped.filter_map(|dimension| dimension.grain).chain(grain), &period)?;
        let limit = query.limit.map(|limit| limit.min(MAX_LIMIT));
        let asked = AggregateQuery {
            tables: self.named_tables(),
            joins: self.named_joins(),
            aggregates,
            dimensions,
            grain,
            filters,
            segments,
            period,
            columns,
            having,
            order,
            limit,
            ties: query.ties,
            fiscal_year: self.fiscal_year().unwrap_or_default(),
            time_zone: self.time_zone(),
        };
        Ok((asked, metrics))
    }

    /// Checks that the start of fiscal years is declared if a grain or a period needs it.
    fn check_fiscal(&self, grains: impl Iterator<Item = Grain>, period: &[FilterCondition]) -> Result<(), Failure> {
        let is_fiscal = |condition: &FilterCondition| condition.value.to_string().to_uppercase().contains("FY");
        let Some(what) = grains.filter(|grain| grain.is_fiscal()).map(|grain| grain.to_string()).next().or_else(|| {
            let fiscal = period.iter().find(|condition| is_fiscal(condition))?;
            Some(fiscal.value.to_string())
        }) else {
            return Ok(());
        };
        match self.fiscal_year() {
            Some(_) => Ok(()),
            None => Err(Failure::new(
                FailureCode::InvalidArguments,
                format!("{what} needs a fiscal year, and the catalog does not declare when it starts"),
            )
            .advise("use calendar years or quarters, or add `fiscal_year_starts: april` to the catalog")),
        }
    }

    pub(crate) fn named_tables(&self) -> Vec<NamedTable> {
        let named = |entity: &crate::model::Entity| NamedTable {
            name: entity.name.clone(),
            database: entity.database.clone(),
            table: entity.table.clone(),
            key: entity.key.clone(),
            stored_in: entity.stored_in.clone(),
        };
        self.entities().iter().map(named).collect()
    }

    pub(crate) fn named_joins(&self) -> Vec<NamedJoin> {
        let named = |join: &crate::model::Join| NamedJoin {
            from: join.from.clone(),
            columns: join.columns.clone(),
            to: join.to.clone(),
            references: join.references.clone(),
        };
        self.joins().iter().map(named).collect()
    }

    /// Returns the metric with that name or synonym.
    ///
    /// # Errors
    /// If it does not exist, with the closest names.
    pub fn find_metric(&self, name: &str) -> Result<&Metric, Failure> {
        self.metric(name).ok_or_else(|| {
            if let Some(segment) = self.segment(name) {
                let message = format!("`{}` is a segment, not a metric", segment.name);
                return Failure::new(FailureCode::InvalidArguments, message)
                    .advise("name it in `segments`, or as a dimension");
            }
            let failure = Failure::new(FailureCode::UnknownColumn, format!("there is no metric `{name}`"));
            match self.nearest_metrics(name).as_slice() {
                [] => failure.advise("look for one with search"),
                near => failure.advise(format!("did you mean {}?", near.join(", "))),
            }
        })
    }

    /// Resolves a dimension: its name, `entity.column`, `database.table.column`, or a period of a date column such as
    /// `month(entity.column)`.
    fn group_by(&self, text: &str) -> Result<GroupedDimension, Failure> {
        let text = text.trim();
        let call = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let (grain, name) = match call.and_then(|(word, inner)| Some((Grain::find(word)?, inner.trim()))) {
            Some((grain, inner)) => (Some(grain), inner),
            None => (None, text),
        };
        let grouped = |name: &str, places: Vec<Place>, via: Vec<String>| {
            let name = grain.map_or_else(|| name.to_owned(), |grain| format!("{name}_{grain}"));
            GroupedDimension { name, places, grain, via, is_hidden: false }
        };
        if let Some(Dimension { name, columns, via, .. }) = self.dimension(name) {
            let place = |column: &crate::model::DimensionColumn| Place::Value {
                table: column.entity.clone(),
                expression: column.expression.clone(),
            };
            return Ok(grouped(name, columns.iter().map(place).collect(), via.clone()));
        }
        if let Some(segment) = self.segment(name) {
            if grain.is_some() {
                let message = format!("`{}` is a segment, which has no periods", segment.name);
                return Err(
                    Failure::new(FailureCode::InvalidArguments, message).advise("use the segment without a period")
                );
            }
            return Ok(grouped(&segment.name, vec![Place::Member(self.key_set(segment))], Vec::new()));
        }
        let of_table = self.entity_of_column(name).map(|(entity, column)| (entity, column, None));
        let of_entity = || {
            let (entity, column) = name.split_once('.')?;
            Some((self.entity(entity)?, column, Some(name.replace('.', "_"))))
        };
        if let Some((entity, column, written)) = of_table.or_else(of_entity) {
            let place = Place::Value { table: entity.name.clone(), expression: column.trim().to_owned() };
            let called = written.unwrap_or_else(|| format!("{}_{column}", entity.name));
            return Ok(grouped(&called, vec![place], Vec::new()));
        }
        let failure = Failure::new(FailureCode::UnknownColumn, format!("there is no dimension `{name}`"));
        Err(match self.suggest_dimensions(name).as_slice() {
            [] => failure.advise("look for one with search, or declare it in the catalog"),
            near => failure.advise(format!("did you mean {}?", near.join(", "))),
        })
    }

    /// Returns the columns of entities that an unknown dimension names, or else the closest dimensions and columns.
    fn suggest_dimensions(&self, name: &str) -> Vec<String> {
        let columns_of = |entity| {
            let columns = self.columns_of(entity).iter();
            columns.map(|column| (column.as_str(), format!("{}.{column}", entity.name))).collect::<Vec<_>>()
        };
        let columns: Vec<(&str, String)> = self.entities().iter().flat_map(columns_of).collect();
        let last = name.rsplit('.').next().unwrap_or(name);
        let named: Vec<&str> =
            columns.iter().filter(|(column, _)| fold(column) == fold(last)).map(|(_, id)| id.as_str()).collect();
        if !named.is_empty() {
            // What precedes the column, such as a table, names one of the entities.
            return rank(name, named, if name.contains('.') { 1 } else { MAX_SUGGESTED });
        }
        let segments = self.segments().iter().map(|segment| segment.name.as_str());
        let declared: BTreeSet<&str> =
            self.dimensions().iter().map(|dimension| dimension.name.as_str()).chain(segments).collect();
        let known: BTreeSet<&str> = declared.iter().copied().chain(columns.iter().map(|(column, _)| *column)).collect();
        let mut suggested = Vec::new();
        for near in nearest(last, known, MAX_SUGGESTED) {
            match declared.contains(near.as_str()) {
                true => suggested.push(near),
                false => suggested.extend(columns.iter().filter(|(name, _)| *name == near).map(|(_, id)| id.clone())),
            }
        }
        suggested.truncate(MAX_SUGGESTED);
        suggested
    }

    /// Returns the keys that distinguish equal values of a dimension.
    fn keep_apart(&self, name: &str) -> Vec<GroupedDimension> {
        let Some(Dimension { name, columns, via, keys, .. }) = self.dimension(name) else { return Vec::new() };
        let hidden = keys.iter().enumerate().map(|(at, key)| GroupedDimension {
            name: format!("{name}_key_{}", at + 1),
            places: columns
                .iter()
                .map(|place| Place::Value { table: place.entity.clone(), expression: key.clone() })
                .collect(),
            grain: None,
            via: via.clone(),
            is_hidden: true,
        });
        hidden.collect()
    }

    /// Returns the result column that an order refers to.
    fn spell_order(&self, order: &Order, dimensions: &[GroupedDimension], grain: Option<Grain>) -> Order {
        let metric = self.metric(&order.by).map(|metric| metric.name.clone());
        let dimension = self.group_by(&order.by).ok().map(|dimension| dimension.name);
        let dimension = dimension.filter(|name| dimensions.iter().any(|known| known.name == *name));
        let time = grain.filter(|_| fold(&order.by) == TIME).map(|grain| grain.as_str().to_owned());
        let by = time.or(dimension).or(metric).unwrap_or_else(|| order.by.clone());
        Order { by, descending: order.descending }
    }
}

/// Returns the condition on a segment, with `true` or `false` as the engine represents membership.
///
/// # Errors
/// If it compares with anything else.
fn spell_member(filter: &FilterCondition) -> Result<FilterCondition, Failure> {
    let word = match &filter.value {
        Value::Bool(value) => Some(*value),
        Value::String(text) => text.to_lowercase().parse().ok(),
        Value::Number(number) => number.as_u64().filter(|number| *number <= 1).map(|number| number == 1),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    match word.filter(|_| matches!(filter.op, FilterOp::Eq | FilterOp::Neq)) {
        Some(word) => Ok(FilterCondition { value: word.to_string().into(), ..filter.clone() }),
        None => {
            let message = format!("`{}` is a segment and can only be compared with true or false", filter.column);
            Err(Failure::new(FailureCode::InvalidArguments, message)
                .advise(format!("write `{0} = true` or `{0} = false`", filter.column)))
        }
    }
}

/// Collects the aggregates that metrics are computed from.
struct Planner<'a> {
    model: &'a SemanticModel,
    grain: Option<Grain>,
    aggregates: Vec<Aggregate>,
}

impl Planner<'_> {
    fn formula(&mut self, metric: &Metric) -> Result<Formula, Failure> {
        let over = |planner: &mut Self, name: &str| planner.formula(planner.model.find_metric(name)?);
        match &metric.kind {
            MetricKind::Simple(measure) => {
                let over_time = match &measure.semi_additive {
                    Some(at) => OverTime::At { is_first: at.is_first, per: at.per.clone() },
                    None => OverTime::Additive,
                };
                self.aggregate(&metric.name, measure, over_time)
            }
            MetricKind::Ratio { numerator, denominator } => {
                let of = [("numerator", numerator), ("denominator", denominator)];
                let of = of.into_iter().map(|(name, of)| Ok((name.to_owned(), over(self, of)?)));
                Ok(Formula::Computed { text: "numerator / denominator".to_owned(), of: of.collect::<Result<_, _>>()? })
            }
            MetricKind::Derived { expression } => {
                let of = read_formula(expression)?.into_iter().map(|name| Ok((name.clone(), over(self, &name)?)));
                Ok(Formula::Computed { text: expression.clone(), of: of.collect::<Result<_, _>>()? })
            }
            MetricKind::Cumulative { metric: name, span } => match &self.model.find_metric(name)?.kind {
                MetricKind::Simple(measure) => self.cumulate(&metric.name, measure, *span),
                _ => Err(Failure::new(FailureCode::InvalidArguments, format!("`{name}` is not a simple metric"))),
            },
        }
    }

    fn cumulate(&mut self, name: &str, measure: &Measure, span: Span) -> Result<Formula, Failure> {
        self.aggregate(name, measure, OverTime::Cumulative(span))
    }

    fn aggregate(&mut self, name: &str, measure: &Measure, over_time: OverTime) -> Result<Formula, Failure> {
        if let Some(at) = self.aggregates.iter().position(|known| known.name == name) {
            return Ok(Formula::Aggregate(at));
        }
        let entity = self.model.entity(&measure.entity);
        let grain = measure.grain.or(entity.filter(|_| measure.time.is_none()).and_then(|entity| entity.grain));
        if let (Some(asked), Some(own)) = (self.grain, grain)
            && !asked.holds(own)
        {
            let message = format!("{name} has the granularity {own}, and cannot be grouped by {asked}");
            return Err(Failure::new(FailureCode::InvalidArguments, message)
                .advise(format!("use the grain {own} or a coarser one")));
        }
        self.aggregates.push(Aggregate {
            name: name.to_owned(),
            table: measure.entity.clone(),
            aggregation: measure.aggregation,
            expression: measure.expression.clone(),
            filters: measure.filters.clone(),
            time: measure.time.clone().or_else(|| entity.and_then(|entity| entity.time.clone())),
            over_time,
        });
        Ok(Formula::Aggregate(self.aggregates.len() - 1))
    }
}
