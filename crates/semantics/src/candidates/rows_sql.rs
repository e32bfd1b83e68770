//! SQL that lists rows of a table, and counts of related rows.

use std::fmt::Write;

use prospector_connect::filter::FilterOp;
use prospector_text::periods::{NO_BEGINNING, NO_END};
use serde_json::Value;

use super::intent::{Condition, Intent, Measure, Rank, to_number};
use super::lower::write_condition;
use super::scope::{Key, Place, Scope, Time};

/// The number of columns that are listed if the question names none.
const MAX_COLUMNS: usize = 8;

/// Returns a statement, and the tables that it reads as `database.table`.
pub(super) fn write(scope: &Scope<'_>, intent: &Intent) -> Option<(String, Vec<String>)> {
    let mut statement = Statement { scope, via: intent.via.as_ref(), tables: vec![intent.subject], joins: Vec::new() };
    let mut columns: Vec<String> = Vec::new();
    let mut groups: Vec<String> = Vec::new();
    for group in &intent.groups {
        let written = statement.column(group.place)?;
        groups.extend(group.keys.iter().filter_map(|key| statement.column((group.place.0, *key))));
        groups.push(written.clone());
        columns.push(format!("{written} AS {}", scope.source.dialect.quote(&scope.column(group.place).name)));
    }
    let related = list_existences(scope, intent)?;
    let (mut order, mut measure) = (Vec::new(), "COUNT(*)".to_owned());
    match &intent.measure {
        Measure::Rows(shown) => {
            columns = list_columns(scope, intent, shown, &mut statement)?;
            if let Some(rank) = &intent.rank {
                let by = statement.column(rank.by?)?;
                order.push(format!("{by}{}", if rank.descending { " DESC" } else { "" }));
            }
        }
        Measure::Aggregate(_, None) if intent.more.is_empty() && intent.having.is_empty() => {
            let name = format!("number_of_{}", scope.table(intent.subject).name);
            columns.push(format!("{measure} AS {}", scope.source.dialect.quote(&name)));
        }
        Measure::Share(met) => {
            let write = |(place, op, value): &Condition| Some(write_condition(&statement.column(*place)?, *op, value));
            let met: Option<Vec<String>> = met.iter().map(write).collect();
            let met: Vec<String> = met?.into_iter().chain(related.iter().cloned()).collect();
            measure = format!("AVG(CASE WHEN {} THEN 1.0 ELSE 0.0 END)", met.join(" AND "));
            let name = format!("share_of_{}", scope.table(intent.subject).name);
            columns.push(format!("{measure} AS {}", scope.source.dialect.quote(&name)));
        }
        Measure::Aggregate(..) | Measure::AverageCount(_) | Measure::Metrics(_) => return None,
    }
    let mut conditions = list_conditions(scope, intent, &mut statement)?;
    if !matches!(intent.measure, Measure::Share(_)) {
        conditions.extend(related);
    }
    // A ranking limited to one row returns all rows that tie for it.
    let single = intent.rank.as_ref().filter(|rank| rank.ties && rank.limit == 1 && rank.by.is_some());
    if let (Some(Rank { descending, by: Some(by), .. }), Measure::Rows(_)) = (single, &intent.measure) {
        let by = statement.column(*by)?;
        let (best, from) = (if *descending { "MAX" } else { "MIN" }, statement.from());
        let met = conditions.join(" AND ");
        conditions.push(format!("{by} = (SELECT {best}({by}) FROM {from}{} WHERE {met})", statement.joins()));
    }
    let mut sql = format!("SELECT {} FROM {}{}", columns.join(", "), statement.from(), statement.joins());
    if !conditions.is_empty() {
        let _ = write!(sql, " WHERE {}", conditions.join(" AND "));
    }
    if !groups.is_empty() {
        let _ = write!(sql, " GROUP BY {}", groups.join(", "));
    }
    if let (Some(rank), false) = (&intent.rank, matches!(intent.measure, Measure::Rows(_))) {
        order.push(format!("{measure}{}", if rank.descending { " DESC" } else { "" }));
    }
    if !order.is_empty() {
        let _ = write!(sql, " ORDER BY {}", order.join(", "));
    }
    if let Some(rank) = intent.rank.as_ref().filter(|_| single.is_none()) {
        let _ = write!(sql, " LIMIT {}", rank.limit);
    }
    let tables = statement.tables.iter().copied().chain(intent.existences.iter().map(|one| one.table));
    let tables = tables.map(|table| format!("{}.{}", scope.source.database, scope.table(table).name)).collect();
    Some((sql, tables))
}

/// Returns the displayed columns: the naming columns, those that the question names, or the first ones.
fn list_columns(
    scope: &Scope<'_>,
    intent: &Intent,
    shown: &[Place],
    statement: &mut Statement<'_>,
) -> Option<Vec<String>> {
    let (named, keys) = scope.name_rows(intent.subject).split();
    let mut places: Vec<Place> = keys.into_iter().chain(named).map(|column| (intent.subject, column)).collect();
    places.extend(shown.iter().copied());
    if shown.is_empty() {
        let rest = 0..scope.table(intent.subject).columns.len().min(MAX_COLUMNS);
        places.extend(rest.map(|column| (intent.subject, column)));
    }
    // The column that rows are ordered by is last, as a measure would be.
    let by = intent.rank.as_ref().and_then(|rank| rank.by);
    places.retain(|place| Some(*place) != by);
    places.extend(by);
    let mut columns: Vec<String> = Vec::new();
    for place in places {
        let column = statement.column(place)?;
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    Some(columns)
}

fn list_conditions(scope: &Scope<'_>, intent: &Intent, statement: &mut Statement<'_>) -> Option<Vec<String>> {
    let mut conditions = Vec::new();
    let ranked = intent.ranked_columns(scope).into_iter().map(|place| (place, FilterOp::Neq, Value::Null));
    for (place, op, value) in intent.filters.iter().cloned().chain(ranked) {
        conditions.push(write_condition(&statement.column(place)?, op, &value));
        if (op, value) != (FilterOp::Eq, Value::Null) {
            statement.need(place.0);
        }
    }
    if let (Some(by), Measure::Rows(_)) = (intent.rank.as_ref().and_then(|rank| rank.by), &intent.measure) {
        conditions.push(format!("{} IS NOT NULL", statement.column(by)?));
    }
    if let (Some(time), Some(period)) = (&intent.time, &intent.period) {
        conditions.extend(statement.during(time, period)?);
    }
    Some(conditions)
}

/// Returns the conditions on related rows.
fn list_existences(scope: &Scope<'_>, intent: &Intent) -> Option<Vec<String>> {
    let mut conditions = Vec::new();
    for existence in &intent.existences {
        let child = existence.table;
        let mut inner = Statement { scope, via: intent.via.as_ref(), tables: vec![child], joins: Vec::new() };
        let mut route = scope.route(child, intent.subject, intent.via.as_ref())?;
        let key = route.pop()?;
        for key in route {
            inner.tables.push(key.to);
            inner.joins.push(Join { key, is_needed: true });
        }
        let quote = |name: &str| scope.source.dialect.quote(name);
        let (from, to) = (alias(key.from), alias(intent.subject));
        let pairs = key.columns.iter().map(|(own, other)| format!("{from}.{} = {to}.{}", quote(own), quote(other)));
        let mut met: Vec<String> = pairs.collect();
        if let Some(period) = intent.period.as_ref().filter(|_| intent.time.is_none()) {
            met.extend(inner.during(&scope.time(child, &[])?, period)?);
        }
        if let Some((place, value)) = &existence.filter {
            met.push(write_condition(&inner.column(*place)?, FilterOp::Eq, value));
            inner.need(place.0);
        }
        let not = if existence.is_negated { "NOT " } else { "" };
        let from = format!("FROM {}{} WHERE {}", inner.from(), inner.joins(), met.join(" AND "));
        if existence.count.is_empty() {
            conditions.push(format!("{not}EXISTS (SELECT 1 {from})"));
        }
        let count = format!("(SELECT COUNT(*) {from})");
        let bounds = existence.count.iter().map(|(op, number)| write_condition(&count, *op, &to_number(*number)));
        conditions.extend(bounds);
    }
    Some(conditions)
}

fn alias(table: usize) -> String {
    format!("t{table}")
}

struct Statement<'a> {
    scope: &'a Scope<'a>,
    via: Option<&'a Key>,
    /// The joined tables.
    tables: Vec<usize>,
    joins: Vec<Join<'a>>,
}

/// A joined table.
struct Join<'a> {
    key: &'a Key,
    /// Whether conditions drop rows without a joined row.
    is_needed: bool,
}

impl Statement<'_> {
    fn quote(&self, name: &str) -> String {
        self.scope.source.dialect.quote(name)
    }

    /// Returns the first table with its alias.
    fn from(&self) -> String {
        let table = self.tables[0];
        format!("{} AS {}", self.name(table), alias(table))
    }

    fn name(&self, table: usize) -> String {
        let known = self.scope.table(table);
        let own = match &known.path {
            Some(path) => format!("{}.{}", self.quote(&path.schema), self.quote(&path.name)),
            None => self.quote(&known.name),
        };
        format!("{}.{own}", self.quote(self.scope.source.database))
    }

    /// Returns the joins.
    fn joins(&self) -> String {
        let write = |Join { key: Key { from, to, columns }, is_needed }: &Join<'_>| {
            let on: Vec<String> = columns
                .iter()
                .map(|(own, other)| {
                    format!("{}.{} = {}.{}", alias(*from), self.quote(own), alias(*to), self.quote(other))
                })
                .collect();
            let join = if *is_needed { "JOIN" } else { "LEFT JOIN" };
            format!(" {join} {} AS {} ON {}", self.name(*to), alias(*to), on.join(" AND "))
        };
        self.joins.iter().map(write).collect()
    }

    /// Drops the rows without a joined row of a table.
    fn need(&mut self, mut table: usize) {
        for join in self.joins.iter_mut().rev() {
            if join.key.to == table {
                join.is_needed = true;
                table = join.key.from;
            }
        }
    }

    /// Returns a column, and adds the joins that lead to it.
    fn column(&mut self, place: Place) -> Option<String> {
        for key in self.scope.route(self.tables[0], place.0, self.via)? {
            if !self.tables.contains(&key.to) {
                self.joins.push(Join { key, is_needed: false });
                self.tables.push(key.to);
            }
        }
        Some(format!("{}.{}", alias(place.0), self.quote(&self.scope.column(place).name)))
    }

    /// Returns conditions on a time.
    fn during(&mut self, time: &Time, (from, to): &(String, String)) -> Option<Vec<String>> {
        let (column, is_year) = match time {
            Time::Day(place) => (self.column(*place)?, None),
            Time::Year(place) => (self.column(*place)?, Some(*place)),
            Time::Declared(_) => return None,
        };
        let literal = |day: &String| match is_year {
            Some(place) => match self.scope.year_of(day, place) {
                Value::String(text) => format!("'{text}'"),
                other => other.to_string(),
            },
            None => format!("'{day}'"),
        };
        let begin = (from != NO_BEGINNING).then(|| format!("{column} >= {}", literal(from)));
        let end = (to != NO_END).then(|| format!("{column} < {}", literal(to)));
        Some(begin.into_iter().chain(end).collect())
    }
}
