//! Validates declarations: every name exists, and every expression can be parsed. Invalid declarations are skipped and reported with
//! their location.

mod segments;

use std::collections::BTreeSet;

use prospector_connect::query::Aggregation;
use prospector_connect::sql::Dialect;
use prospector_connect::table::{Column, ColumnType, Table};
use prospector_core::Problem;
use prospector_engine::query::aggregate::{read_expression, read_formula};

use crate::model::{Declarations, Dimension, DimensionColumn, Entity, Join, Measure, Metric, MetricKind, StoredIn};

/// The tables of a database, as described by its source.
#[derive(Debug, Clone, Copy)]
pub struct Tables<'a> {
    /// The name of the database.
    pub database: &'a str,
    /// The SQL dialect of its expressions.
    pub dialect: Dialect,
    /// Its tables.
    pub tables: &'a [Table],
}

/// A problem, and how to fix it.
struct Wrong {
    reason: String,
    advice: String,
}

fn wrong(reason: impl Into<String>, advice: impl Into<String>) -> Wrong {
    Wrong { reason: reason.into(), advice: advice.into() }
}

fn suggest<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    prospector_core::name::suggest(name, known).unwrap_or_else(|| "correct the name".to_owned())
}

fn declare_entity(name: &str, database: &str, table: &str) -> String {
    format!("declare the table under `entities`: `{{name: {name}, table: {database}.{table}, key: COLUMN}}`")
}

/// Returns the valid declarations, and the problems of the others.
pub(crate) fn check(declared: Declarations, sources: &[Tables<'_>]) -> (Declarations, Vec<Problem>) {
    let Declarations { fiscal_year, time_zone, .. } = declared;
    let kept = Declarations { fiscal_year, time_zone, queries: declared.queries, ..Declarations::default() };
    let mut checker = Checker { sources, kept, problems: Vec::new() };
    for mut entity in declared.entities {
        let outcome = checker.entity(&mut entity);
        checker.keep(outcome, &entity.place.clone(), &format!("entity `{}`", entity.name), |kept| {
            kept.entities.push(entity);
        });
    }
    checker.times_elsewhere();
    for mut join in declared.joins {
        let outcome = checker.join(&mut join);
        let what = format!("join of `{}` to `{}`", join.from, join.to);
        checker.keep(outcome, &join.place.clone(), &what, |kept| kept.joins.push(join));
    }
    for dimension in declared.dimensions {
        let outcome = checker.dimension(&dimension);
        let what = format!("dimension `{}`", dimension.name);
        checker.keep(outcome, &dimension.place.clone(), &what, |kept| kept.dimensions.push(dimension));
    }
    checker.metrics(declared.metrics);
    for mut segment in declared.segments {
        let outcome = checker.segment(&mut segment);
        let what = format!("segment `{}`", segment.name);
        checker.keep(outcome, &segment.place.clone(), &what, |kept| kept.segments.push(segment));
    }
    checker.drop_shared_synonyms();
    checker.note_times();
    (checker.kept, checker.problems)
}

struct Checker<'a> {
    sources: &'a [Tables<'a>],
    kept: Declarations,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn keep(&mut self, outcome: Result<(), Wrong>, place: &str, what: &str, push: impl FnOnce(&mut Declarations)) {
        match outcome {
            Ok(()) => push(&mut self.kept),
            Err(Wrong { reason, advice }) => {
                self.problems.push(Problem::error(place, format!("{reason}, in {what}")).advise(advice));
            }
        }
    }

    fn table(&self, entity: &Entity) -> Option<(&Table, Dialect)> {
        find_table(self.sources, entity)
    }

    fn entity(&self, entity: &mut Entity) -> Result<(), Wrong> {
        if let Some(other) = self.kept.entities.iter().find(|other| other.name.eq_ignore_ascii_case(&entity.name)) {
            return Err(wrong(format!("the name is already declared at {}", other.place), "rename one of them"));
        }
        let Some((table, dialect)) = self.table(entity) else {
            let name = format!("{}.{}", entity.database, entity.table);
            let full = |source: &Tables<'_>| {
                source.tables.iter().map(|table| format!("{}.{}", source.database, table.name)).collect::<Vec<_>>()
            };
            let all: Vec<String> = self.sources.iter().flat_map(full).collect();
            return Err(wrong(format!("there is no table `{name}`"), suggest(&name, all.iter().map(String::as_str))));
        };
        for column in &entity.key {
            find_column(table, column)?;
        }
        if let Some(time) = entity.time.as_ref().filter(|time| !time.contains('.')) {
            check_time(table, time)?;
        }
        for stored in &mut entity.stored_in {
            stored.column.clone_from(&find_stored(table, dialect, &stored.column)?.name);
        }
        let spelled = table.name.clone();
        entity.table = spelled;
        for other in self.kept.entities.iter().filter(|other| is_of_same_table(other, entity)) {
            let differs = |stored: &&StoredIn| {
                entity.stored_in.iter().any(|own| own.column == stored.column && own.zone != stored.zone)
            };
            if let Some(StoredIn { column, zone }) = other.stored_in.iter().find(differs) {
                let reason = format!("`{column}` is declared as {} at {}", zone.as_str(), other.place);
                return Err(wrong(reason, "declare the same zone in both, or remove one"));
            }
        }
        Ok(())
    }

    /// Reports time columns whose time zone is unknown, if the catalog declares a time zone.
    fn note_times(&mut self) {
        let Some(zone) = self.kept.time_zone else { return };
        let own = self.kept.entities.iter().filter_map(|entity| Some((entity.name.as_str(), entity.time.as_deref()?)));
        let measures = self.kept.metrics.iter().filter_map(|metric| match &metric.kind {
            MetricKind::Simple(measure) => Some((measure.entity.as_str(), measure.time.as_deref()?)),
            MetricKind::Ratio { .. } | MetricKind::Derived { .. } | MetricKind::Cumulative { .. } => None,
        });
        let columns: BTreeSet<(&str, &str)> =
            own.chain(measures).map(|(entity, time)| time.split_once('.').unwrap_or((entity, time))).collect();
        let (mut unknown, mut first) = (Vec::new(), None);
        for (name, column) in columns {
            let Ok((entity, table, dialect)) = self.find(name) else { continue };
            let Some(column) = table.column(column) else { continue };
            let is_time = matches!(column.column_type, ColumnType::Timestamp | ColumnType::DateText);
            let mut same_table = self.kept.entities.iter().filter(|other| is_of_same_table(other, entity));
            let is_stored = same_table.any(|other| other.stored_in.iter().any(|stored| stored.column == column.name));
            if is_time && !column.holds_days() && !column.has_zone(dialect) && !is_stored {
                unknown.push(format!("`{}.{}`", entity.name, column.name));
                first.get_or_insert_with(|| entity.place.clone());
            }
        }
        if let Some(place) = first {
            let (zone, unknown) = (zone.as_str(), unknown.join(", "));
            let reason = format!(
                "the time zone of {unknown} is not declared: times are used as stored, without conversion to {zone}"
            );
            let advice = "declare it in their entities, for example `stored_in: UTC`";
            self.problems.push(Problem::warning(place, reason).advise(advice));
        }
    }

    /// Checks times that are columns of other entities, after all entities are known.
    fn times_elsewhere(&mut self) {
        for at in 0..self.kept.entities.len() {
            let entity = &self.kept.entities[at];
            let Some((other, column)) = entity.time.as_ref().and_then(|time| time.split_once('.')) else { continue };
            let outcome = self.find(other).and_then(|(_, table, _)| check_time(table, column));
            if let Err(Wrong { reason, advice }) = outcome {
                let reason = format!("{reason}, in the time of entity `{}`", entity.name);
                self.problems.push(Problem::error(&entity.place, reason).advise(advice));
                self.kept.entities[at].time = None;
            }
        }
    }

    fn find(&self, name: &str) -> Result<(&Entity, &Table, Dialect), Wrong> {
        let entities = &self.kept.entities;
        let found = entities.iter().find(|entity| entity.name.eq_ignore_ascii_case(name));
        let known = found.and_then(|entity| self.table(entity).map(|(table, dialect)| (entity, table, dialect)));
        known.ok_or_else(|| wrong(format!("there is no entity `{name}`"), self.advise_entity(name)))
    }

    /// Suggests what to write instead of an unknown entity, which may be the name of a table or of a database.
    fn advise_entity(&self, name: &str) -> String {
        let entities = &self.kept.entities;
        let is_named = |table: &&Table| table.name.eq_ignore_ascii_case(name);
        let named =
            self.sources.iter().find_map(|source| Some((source.database, source.tables.iter().find(is_named)?)));
        let is_database = self.sources.iter().any(|source| source.database.eq_ignore_ascii_case(name));
        match named {
            Some((database, table)) => {
                let is_over = |entity: &&Entity| self.table(entity).is_some_and(|(own, _)| std::ptr::eq(own, table));
                match entities.iter().find(is_over) {
                    Some(entity) => format!("write `{}`, the entity of the table `{database}.{name}`", entity.name),
                    None => declare_entity(name, database, name),
                }
            }
            None if is_database => {
                format!("write `entity.column` without the database; {}", declare_entity("NAME", name, "TABLE"))
            }
            None => suggest(name, entities.iter().map(|entity| entity.name.as_str())),
        }
    }

    /// Checks a join, and spells its columns as its tables do.
    fn join(&self, join: &mut Join) -> Result<(), Wrong> {
        let (_, table, _) = self.find(&join.from)?;
        let (entity, target, _) = self.find(&join.to)?;
        if join.columns.is_empty() || join.columns.len() != join.references.len() {
            return Err(wrong("its columns do not match in number", "name the same number of columns on both sides"));
        }
        for (table, columns) in [(table, &mut join.columns), (target, &mut join.references)] {
            for column in columns {
                let spelled = find_column(table, column)?.name.clone();
                *column = spelled;
            }
        }
        let own: BTreeSet<String> = list_key(entity, target).into_iter().map(|column| column.to_lowercase()).collect();
        let named: BTreeSet<String> = join.references.iter().map(|column| column.to_lowercase()).collect();
        if own.is_empty() || !own.is_subset(&named) {
            let key =
                if own.is_empty() { "it has none".to_owned() } else { own.into_iter().collect::<Vec<_>>().join(", ") };
            return Err(wrong(
                format!("`{}` may have several matching rows, which would be counted more than once", join.to),
                format!("join to the key of `{}` ({key}), or declare its `key`", join.to),
            ));
        }
        Ok(())
    }

    fn dimension(&self, dimension: &Dimension) -> Result<(), Wrong> {
        if let Some(other) = self.kept.dimensions.iter().find(|other| other.name.eq_ignore_ascii_case(&dimension.name))
        {
            return Err(wrong(
                format!("the name is already declared at {}", other.place),
                "declare all of its columns in one dimension",
            ));
        }
        if dimension.columns.is_empty() {
            return Err(wrong("it has no `column`", "write `column: entity.column`"));
        }
        for DimensionColumn { entity, expression } in &dimension.columns {
            self.expression(entity, expression)?;
        }
        for column in &dimension.via {
            let Some((entity, column)) = column.split_once('.') else {
                return Err(wrong(format!("`{column}` in `via` names no entity"), "write `entity.column`"));
            };
            find_column(self.find(entity)?.1, column)?;
        }
        Ok(())
    }

    /// Checks that each name in an expression over the rows of an entity is a column.
    fn expression(&self, entity: &str, text: &str) -> Result<(), Wrong> {
        let (_, home, dialect) = self.find(entity)?;
        let names = read_expression(dialect, text).map_err(|failure| {
            wrong(
                failure.message,
                failure.suggestion.unwrap_or_else(|| "write an SQL expression as in a SELECT list".to_owned()),
            )
        })?;
        for name in names {
            let table = name.table.as_ref().map_or(Ok(home), |entity| self.find(entity).map(|(_, table, _)| table))?;
            find_column(table, &name.column)?;
        }
        Ok(())
    }

    fn measure(&self, measure: &Measure) -> Result<(), Wrong> {
        let (entity, table, _) = self.find(&measure.entity)?;
        for text in measure.expression.iter().chain(&measure.filters) {
            self.expression(&measure.entity, text)?;
        }
        let word = measure.aggregation.as_str();
        match &measure.expression {
            None if measure.aggregation != Aggregation::Count => {
                return Err(wrong(format!("the {word} has no expression to aggregate"), "give it an `expression`"));
            }
            Some(text) if matches!(measure.aggregation, Aggregation::Sum | Aggregation::Avg) => {
                let is_text = |column: &Column| {
                    matches!(column.column_type, ColumnType::Text | ColumnType::Date | ColumnType::DateText)
                };
                if let Some(column) = table.column(text).filter(|column| is_text(column)) {
                    let reason = format!("`{}` is not numeric: the {word} cannot be computed", column.name);
                    return Err(wrong(reason, "use a numeric column, or a count"));
                }
            }
            _ => {}
        }
        match measure.time.as_ref().map(|time| (time, time.split_once('.'))) {
            Some((_, Some((other, column)))) => check_time(self.find(other)?.1, column)?,
            Some((time, None)) => check_time(table, time)?,
            None => {}
        }
        let per = measure.semi_additive.iter().flat_map(|at| &at.per);
        for text in per {
            self.expression(&measure.entity, text)?;
        }
        if measure.semi_additive.is_some() && measure.time.is_none() && entity.time.is_none() {
            return Err(wrong("a semi-additive metric needs `time`", "name the column in `time`"));
        }
        Ok(())
    }

    /// Checks the simple metrics first, then metrics over others, until no further one is valid.
    fn metrics(&mut self, metrics: Vec<Metric>) {
        let all: Vec<String> = metrics.iter().map(|metric| metric.name.clone()).collect();
        let mut order: Vec<String> = Vec::new();
        let mut open: Vec<Metric> = Vec::new();
        for metric in metrics {
            let same =
                self.kept.metrics.iter().chain(&open).find(|other| other.name.eq_ignore_ascii_case(&metric.name));
            let clash = self.kept.dimensions.iter().find(|other| other.name.eq_ignore_ascii_case(&metric.name));
            let other = same.map(|other| &other.place).or(clash.map(|other| &other.place));
            let outcome = match (other, &metric.kind) {
                (Some(place), _) => {
                    Err(wrong(format!("the name is already declared at {place}"), "rename one of them"))
                }
                (None, MetricKind::Simple(measure)) => self.measure(measure),
                (None, _) => {
                    order.push(metric.name.clone());
                    open.push(metric);
                    continue;
                }
            };
            order.push(metric.name.clone());
            self.keep(outcome, &metric.place.clone(), &format!("metric `{}`", metric.name), |kept| {
                kept.metrics.push(metric);
            });
        }
        loop {
            let before = open.len();
            for metric in std::mem::take(&mut open) {
                let is_ready = |name: &String| self.metric(name).is_some();
                match list_inputs(&metric) {
                    Ok(inputs) if inputs.iter().all(is_ready) => {
                        let outcome = self.over_metrics(&metric);
                        self.keep(outcome, &metric.place.clone(), &format!("metric `{}`", metric.name), |kept| {
                            kept.metrics.push(metric);
                        });
                    }
                    Ok(_) => open.push(metric),
                    Err(reason) => {
                        let what = format!("metric `{}`", metric.name);
                        self.keep(Err(reason), &metric.place.clone(), &what, |_| ());
                    }
                }
            }
            if open.is_empty() || open.len() == before {
                break;
            }
        }
        for metric in open {
            let missing = list_inputs(&metric).unwrap_or_default().into_iter().find(|name| self.metric(name).is_none());
            let name = missing.unwrap_or_default();
            let is_there = all.iter().any(|known| known.eq_ignore_ascii_case(&name));
            let outcome = match is_there {
                true => wrong(format!("`{name}` is invalid, or depends on this metric"), "fix `{name}` first"),
                false => wrong(format!("there is no metric `{name}`"), suggest(&name, all.iter().map(String::as_str))),
            };
            self.keep(Err(outcome), &metric.place.clone(), &format!("metric `{}`", metric.name), |_| ());
        }
        let place = |metric: &Metric| order.iter().position(|name| *name == metric.name);
        self.kept.metrics.sort_by_key(place);
    }

    fn metric(&self, name: &str) -> Option<&Metric> {
        self.kept.metrics.iter().find(|metric| metric.name.eq_ignore_ascii_case(name))
    }

    fn over_metrics(&self, metric: &Metric) -> Result<(), Wrong> {
        let MetricKind::Cumulative { metric: name, .. } = &metric.kind else { return Ok(()) };
        let Some(MetricKind::Simple(measure)) = self.metric(name).map(|metric| &metric.kind) else {
            return Err(wrong(
                format!("`{name}` is not a simple metric"),
                "declare cumulative metrics over its inputs, and a ratio or difference of these",
            ));
        };
        let has_time = measure.time.is_some() || self.find(&measure.entity)?.0.time.is_some();
        match (has_time, &measure.semi_additive) {
            (false, _) => Err(wrong(format!("`{name}` has no time"), "declare its `time` column")),
            (true, Some(_)) => Err(wrong(format!("`{name}` does not add up over time"), "use another metric")),
            (true, None) => Ok(()),
        }
    }

    /// Removes synonyms that several declarations share.
    fn drop_shared_synonyms(&mut self) {
        let mut known: Vec<(String, String)> = Vec::new();
        let own = self.kept.metrics.iter().map(|metric| (fold(&metric.name), metric.place.clone()));
        known.extend(own);
        known.extend(self.kept.segments.iter().map(|segment| (fold(&segment.name), segment.place.clone())));
        let mut shared = Vec::new();
        let metrics =
            (self.kept.metrics.iter_mut()).map(|metric| ("metric", &metric.name, &metric.place, &mut metric.synonyms));
        let segments = (self.kept.segments.iter_mut())
            .map(|segment| ("segment", &segment.name, &segment.place, &mut segment.synonyms));
        for (kind, name, place, synonyms) in metrics.chain(segments) {
            let own = fold(name);
            synonyms.retain(|synonym| {
                let word = fold(synonym);
                if word == own {
                    return false;
                }
                let other = known.iter().find(|(name, _)| *name == word);
                if let Some((_, other)) = other {
                    let reason = format!("the synonym `{synonym}` of {kind} `{name}` is also declared at {other}");
                    shared.push(Problem::warning(place, reason).advise("remove it from one of them"));
                }
                let is_free = other.is_none();
                if is_free {
                    known.push((word, place.clone()));
                }
                is_free
            });
        }
        self.problems.extend(shared);
    }
}

/// Returns the table of an entity, with the dialect of its database.
pub(crate) fn find_table<'a>(sources: &'a [Tables<'_>], entity: &Entity) -> Option<(&'a Table, Dialect)> {
    let source = sources.iter().find(|source| source.database.eq_ignore_ascii_case(&entity.database))?;
    let exact = source.tables.iter().find(|table| table.name == entity.table);
    let found = exact.or_else(|| source.tables.iter().find(|table| table.name.eq_ignore_ascii_case(&entity.table)));
    found.map(|table| (table, source.dialect))
}

/// Normalizes a name for comparison: `Net revenue` and `net_revenue` are the same.
pub(crate) fn fold(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Returns the metrics that a metric is computed from.
fn list_inputs(metric: &Metric) -> Result<Vec<String>, Wrong> {
    match &metric.kind {
        MetricKind::Simple(_) => Ok(Vec::new()),
        MetricKind::Ratio { numerator, denominator } => Ok(vec![numerator.clone(), denominator.clone()]),
        MetricKind::Cumulative { metric, .. } => Ok(vec![metric.clone()]),
        MetricKind::Derived { expression } => {
            let names = read_formula(expression).map_err(|failure| {
                wrong(failure.message, failure.suggestion.unwrap_or_else(|| "write arithmetic over metrics".to_owned()))
            })?;
            match names.is_empty() {
                true => Err(wrong("the expression contains no metric", "write arithmetic over the names of metrics")),
                false => Ok(names),
            }
        }
    }
}

fn find_column<'t>(table: &'t Table, name: &str) -> Result<&'t Column, Wrong> {
    table.column(name).ok_or_else(|| {
        let columns = table.columns.iter().map(|column| column.name.as_str());
        wrong(format!("{} has no column `{name}`", table.name), suggest(name, columns))
    })
}

/// Returns the columns that together identify a row of an entity.
fn list_key(entity: &Entity, table: &Table) -> Vec<String> {
    match entity.key.is_empty() {
        true => table.columns.iter().filter(|column| column.primary_key).map(|column| column.name.clone()).collect(),
        false => entity.key.clone(),
    }
}

fn is_of_same_table(one: &Entity, other: &Entity) -> bool {
    one.database.eq_ignore_ascii_case(&other.database) && one.table == other.table
}

/// Returns a column whose time zone may be declared.
fn find_stored<'t>(table: &'t Table, dialect: Dialect, name: &str) -> Result<&'t Column, Wrong> {
    check_time(table, name)?;
    let column = find_column(table, name)?;
    if column.holds_days() {
        let reason = format!("`{}` contains dates without a time, to which no time zone applies", column.name);
        return Err(wrong(reason, "leave `stored_in` out"));
    }
    if column.has_zone(dialect) {
        let reason = format!("the type of `{}`, {}, already includes a time zone", column.name, column.data_type);
        return Err(wrong(reason, "leave `stored_in` out"));
    }
    Ok(column)
}

fn check_time(table: &Table, name: &str) -> Result<(), Wrong> {
    let column = find_column(table, name)?;
    match column.column_type {
        ColumnType::Date | ColumnType::Timestamp | ColumnType::DateText | ColumnType::Text => Ok(()),
        _ => Err(wrong(
            format!("`{name}` is not a date or time column, but {}", column.data_type),
            "use a date or time column",
        )),
    }
}
