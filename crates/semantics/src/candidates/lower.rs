//! Generates the declarations that a question over tables implies: entities, dimensions and metrics that the catalog does not declare.

use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::query::{Aggregation, Order};
use prospector_engine::query::aggregate::Grain;
use prospector_text::periods::{NO_BEGINNING, NO_END};
use serde_json::{Value, json};

use super::intent::{Condition, Group, Intent, Measure as Asked, to_number};
use super::scope::{Key, Place, Scope, Time};
use crate::model::{Declarations, Dimension, DimensionColumn, Entity, Measure, Metric, MetricKind};
use crate::query::{MetricQuery, TIME};

/// Column names that many tables share; results prefix them with the name of the table.
const COMMON: [&str; 4] = ["id", "name", "title", "description"];

pub(super) struct Implied<'a> {
    scope: &'a Scope<'a>,
    pub(super) declared: Declarations,
    /// The columns of the generated dimensions.
    places: Vec<Place>,
    /// The key that tables are joined by, if several lead to a table.
    via: Option<Key>,
}

impl<'a> Implied<'a> {
    pub(super) fn new(scope: &'a Scope<'a>) -> Implied<'a> {
        Implied { scope, declared: Declarations::default(), places: Vec::new(), via: None }
    }

    /// Returns the query over the declared and the generated metrics and dimensions.
    pub(super) fn write(&mut self, intent: &Intent) -> MetricQuery {
        let mut query = MetricQuery { segments: intent.segments.clone(), ..MetricQuery::default() };
        self.via.clone_from(&intent.via);
        query.dimensions = self.dimensions(&intent.groups);
        match &intent.measure {
            Asked::Metrics(names) => query.metrics.clone_from(names),
            Asked::Aggregate(..) => {
                for (subject, aggregation, place) in intent.aggregates() {
                    let mut own = intent.clone();
                    if subject != intent.subject {
                        own.time = intent.time.as_ref().and_then(|_| self.scope.time(subject, &[]));
                    }
                    own.subject = subject;
                    query.metrics.push(self.metric(&own, aggregation, place, &[]));
                }
            }
            Asked::AverageCount(key) => query.metrics.push(self.average_count(intent, *key)),
            Asked::Share(met) => query.metrics.push(self.share(intent, met)),
            Asked::Rows(_) => {}
        }
        for (place, op, value) in &intent.filters {
            let condition = FilterCondition { column: self.dimension(*place), op: *op, value: value.clone() };
            query.filters.push(condition);
        }
        for (op, number) in &intent.having {
            let column = query.metrics[0].clone();
            query.filters.push(FilterCondition { column, op: *op, value: to_number(*number) });
        }
        match intent.time {
            Some(Time::Year(place)) => {
                query.filters.extend(self.years(place, intent));
                if intent.grain == Some(Grain::Year) {
                    let year = self.dimension(place);
                    query.order.push(Order { by: year.clone(), descending: false });
                    query.dimensions.push(year);
                }
            }
            Some(Time::Day(_) | Time::Declared(_)) | None => {
                query.filters.extend(during(intent));
                query.grain = intent.grain;
            }
        }
        if let Some(rank) = &intent.rank {
            for place in intent.ranked_columns(self.scope) {
                let column = self.dimension(place);
                query.filters.push(FilterCondition { column, op: FilterOp::Neq, value: Value::Null });
            }
            // Ties are ordered by name.
            let names = query.dimensions.iter().map(|name| Order { by: name.clone(), descending: false });
            query.order = vec![Order { by: query.metrics[0].clone(), descending: rank.descending }];
            query.order.extend(names);
            query.limit = Some(rank.limit);
            // Ties with the last row are included even if a number of rows is requested.
            query.ties = true;
        }
        query
    }

    /// Returns the metric for the number of rows that meet conditions on their own columns, divided by the number of all rows.
    fn share(&mut self, intent: &Intent, met: &[Condition]) -> String {
        let write = |(place, op, value): &Condition| write_condition(&self.quote(*place), *op, value);
        let conditions: Vec<String> = met.iter().map(write).collect();
        let numerator = self.metric(intent, Aggregation::Count, None, &conditions);
        let denominator = self.metric(intent, Aggregation::Count, None, &[]);
        let name = self.name(&format!("share_of_{}", self.scope.table(intent.subject).name));
        let kind = MetricKind::Ratio { numerator, denominator };
        self.declared.metrics.push(imply_metric(name.clone(), kind, String::new(), String::new()));
        name
    }

    /// Returns the metric for the number of rows, divided by the number of distinct keys.
    fn average_count(&mut self, intent: &Intent, key: Place) -> String {
        // Rows without a key belong to no group.
        let numerator = self.metric(intent, Aggregation::Count, Some(key), &[]);
        let denominator = self.metric(intent, Aggregation::CountDistinct, Some(key), &[]);
        let name = self.name(&format!("average_number_of_{}", self.scope.table(intent.subject).name));
        let kind = MetricKind::Ratio { numerator, denominator };
        self.declared.metrics.push(imply_metric(name.clone(), kind, String::new(), String::new()));
        name
    }

    fn dimensions(&mut self, groups: &[Group]) -> Vec<String> {
        let mut names = Vec::new();
        for Group { place, keys } in groups {
            names.push(self.dimension(*place));
            let keys: Vec<String> = keys.iter().map(|column| self.quote((place.0, *column))).collect();
            if let Some(at) = self.places.iter().position(|known| known == place) {
                self.declared.dimensions[at].keys = keys;
            }
        }
        names
    }

    /// Returns conditions on a year column for a period of whole years.
    fn years(&mut self, place: Place, intent: &Intent) -> Vec<FilterCondition> {
        let column = self.dimension(place);
        let year = |day: &Value| day.as_str().map(|day| self.scope.year_of(day, place));
        let conditions = during(intent).into_iter().map(|condition| {
            let value = match &condition.value {
                Value::Array(years) => years.iter().filter_map(year).collect(),
                day => year(day).unwrap_or_default(),
            };
            FilterCondition { column: column.clone(), value, ..condition }
        });
        conditions.collect()
    }

    fn quote(&self, place: Place) -> String {
        self.scope.source.dialect.quote(&self.scope.column(place).name)
    }

    /// Returns a name that is not used yet.
    fn name(&self, wanted: &str) -> String {
        let model = self.scope.model;
        let is_taken = |name: &str| {
            let own = self.declared.dimensions.iter().map(|known| &known.name);
            let own = own.chain(self.declared.metrics.iter().map(|known| &known.name));
            model.metric(name).is_some()
                || model.dimension(name).is_some()
                || Grain::find(name).is_some()
                || name.eq_ignore_ascii_case(TIME)
                || own.into_iter().any(|known| known.eq_ignore_ascii_case(name))
        };
        let mut name = wanted.to_owned();
        let mut count = 1;
        while is_taken(&name) {
            count += 1;
            name = format!("{wanted}_{count}");
        }
        name
    }

    fn entity(&mut self, table: usize) -> String {
        if let Some(entity) = self.scope.entity(table) {
            return entity.name.clone();
        }
        let name = &self.scope.table(table).name;
        let known = self.declared.entities.iter().find(|entity| entity.table == *name);
        if let Some(entity) = known {
            return entity.name.clone();
        }
        // Expressions use it as a qualifier: it is one word, and distinct from the names of other entities.
        let mut called: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
        let is_known =
            |name: &str| self.scope.model.entities().iter().any(|entity| entity.name.eq_ignore_ascii_case(name));
        if called.starts_with(|c: char| c.is_ascii_digit()) {
            called.insert(0, '_');
        }
        while is_known(&called) {
            called.push('_');
        }
        let entity = Entity {
            name: called.clone(),
            database: self.scope.source.database.to_owned(),
            table: name.clone(),
            ..Entity::default()
        };
        self.declared.entities.push(entity);
        called
    }

    fn dimension(&mut self, place: Place) -> String {
        if let Some(at) = self.places.iter().position(|known| *known == place) {
            return self.declared.dimensions[at].name.clone();
        }
        let is_open = |declared: &Dimension| declared.via.is_empty() && self.via.is_some();
        if let Some(declared) = self.scope.dimension_of(place).filter(|declared| !is_open(declared)) {
            return declared.name.clone();
        }
        let (table, column) = (self.scope.table(place.0).name.as_str(), self.scope.column(place).name.as_str());
        let is_common = COMMON.contains(&column.to_lowercase().as_str());
        let wanted = if is_common { format!("{table}_{column}") } else { column.to_owned() };
        let name = match self.name(&wanted) {
            name if name == wanted => name,
            _ => self.name(&format!("{table}_{column}")),
        };
        let columns = vec![DimensionColumn { entity: self.entity(place.0), expression: self.quote(place) }];
        let via = self.via.clone().map(|key| format!("{}.{}", self.entity(key.from), key.columns[0].0));
        let via = via.into_iter().collect();
        self.declared.dimensions.push(Dimension { name: name.clone(), columns, via, ..Dimension::default() });
        self.places.push(place);
        name
    }

    fn metric(
        &mut self,
        intent: &Intent,
        aggregation: Aggregation,
        place: Option<Place>,
        conditions: &[String],
    ) -> String {
        let table = &self.scope.table(intent.subject).name;
        let column = place.map_or("", |place| self.scope.column(place).name.as_str());
        let is_date = place.is_some_and(|place| self.scope.is_date(place));
        let wanted = match aggregation {
            Aggregation::Count if !conditions.is_empty() => format!("number_of_{table}_that_meet_it"),
            Aggregation::Count => format!("number_of_{table}"),
            Aggregation::CountDistinct => format!("number_of_different_{column}"),
            Aggregation::Sum if column == "total" => column.to_owned(),
            Aggregation::Sum => format!("total_{column}"),
            Aggregation::Avg => format!("average_{column}"),
            Aggregation::Min if is_date => format!("first_{column}"),
            Aggregation::Max if is_date => format!("last_{column}"),
            Aggregation::Min => format!("lowest_{column}"),
            Aggregation::Max => format!("highest_{column}"),
        };
        let wanted = wanted.replace([' ', '.'], "_");
        let name = match self.name(&wanted) {
            name if name == wanted => name,
            _ => self.name(&format!("{wanted}_of_{table}")),
        };
        let id = format!("{}.{table}", self.scope.source.database);
        let description = match place {
            Some(_) => format!("Not a declared metric: computed from {id}.{column}."),
            None => format!("Not a declared metric: computed from the rows of {id}."),
        };
        let (entity, time) = (self.entity(intent.subject), self.time(intent));
        let measure = Measure {
            entity,
            aggregation,
            expression: place.map(|place| self.quote(place)),
            filters: conditions.to_vec(),
            time,
            grain: None,
            semi_additive: None,
        };
        self.declared.metrics.push(imply_metric(name.clone(), MetricKind::Simple(measure), description, id));
        name
    }

    /// Returns the time column of the subject.
    fn time(&mut self, intent: &Intent) -> Option<String> {
        match &intent.time {
            Some(Time::Day(day)) if day.0 == intent.subject => Some(self.quote(*day)),
            Some(Time::Day(day)) => Some(format!("{}.{}", self.entity(day.0), self.quote(*day))),
            Some(Time::Declared(time)) => Some(time.clone()),
            Some(Time::Year(_)) | None => None,
        }
    }
}

fn imply_metric(name: String, kind: MetricKind, description: String, source: String) -> Metric {
    let text = String::new;
    Metric {
        name,
        kind,
        unit: text(),
        format: text(),
        owner: text(),
        description,
        synonyms: Vec::new(),
        source,
        place: text(),
    }
}

/// Returns a period as conditions on the time of each metric.
fn during(intent: &Intent) -> Vec<FilterCondition> {
    let Some((from, to)) = &intent.period else { return Vec::new() };
    let condition = |op, value: Value| FilterCondition { column: TIME.to_owned(), op, value };
    if !intent.others.is_empty() {
        let all = intent.period.iter().chain(&intent.others);
        let names: Vec<String> = all.filter_map(|period| find_unit(period).map(|(_, name)| name)).collect();
        return vec![condition(FilterOp::In, json!(names))];
    }
    let begin = (from != NO_BEGINNING).then(|| condition(FilterOp::Gte, json!(from)));
    let end = (to != NO_END).then(|| condition(FilterOp::Lt, json!(to)));
    begin.into_iter().chain(end).collect()
}

/// Returns the grain and the name of a period that is one month, quarter or year.
pub(super) fn find_unit(period: &(String, String)) -> Option<(Grain, String)> {
    let (year, month) = (period.0.get(..4)?, period.0.get(5..7)?.parse::<u32>().ok()?);
    let begins = period.0.ends_with("-01") && period.1.ends_with("-01");
    match count_months(period).filter(|_| begins)? {
        1 => Some((Grain::Month, period.0[..7].to_owned())),
        3 if month % 3 == 1 => Some((Grain::Quarter, format!("{year}-Q{}", month.div_ceil(3)))),
        12 if month == 1 => Some((Grain::Year, year.to_owned())),
        _ => None,
    }
}

/// Returns the number of months from the first day of a period to the day after the last.
pub(super) fn count_months((from, to): &(String, String)) -> Option<i32> {
    let month = |day: &str| Some(day.get(..4)?.parse::<i32>().ok()? * 12 + day.get(5..7)?.parse::<i32>().ok()?);
    Some(month(to)? - month(from)?)
}

/// Renders an SQL condition on a quoted column.
pub(super) fn write_condition(column: &str, op: FilterOp, value: &Value) -> String {
    let literal = |value: &Value| match value {
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        other => other.to_string(),
    };
    match (op, value) {
        (FilterOp::Eq, Value::Null) => format!("{column} IS NULL"),
        (FilterOp::Neq, Value::Null) => format!("{column} IS NOT NULL"),
        (FilterOp::In, Value::Array(all)) => {
            format!("{column} IN ({})", all.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        (FilterOp::Neq, value) => format!("{column} <> {}", literal(value)),
        (FilterOp::Gt, value) => format!("{column} > {}", literal(value)),
        (FilterOp::Gte, value) => format!("{column} >= {}", literal(value)),
        (FilterOp::Lt, value) => format!("{column} < {}", literal(value)),
        (FilterOp::Lte, value) => format!("{column} <= {}", literal(value)),
        (_, value) => format!("{column} = {}", literal(value)),
    }
}
