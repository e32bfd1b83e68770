//! Conditions that compare times with whole days: `<= '2025-12-14'` holds until that day is over.

use chrono::NaiveDate;
use prospector_agent::plan::Step;
use prospector_connect::{
    filter::{FilterCondition, FilterOp},
    query::{Aggregation, Condition, Measure},
    table::{Column, ColumnType},
};
use prospector_core::record::ResourceKind;
use prospector_engine::query::{Criterion, TableQuery};
use serde_json::{Value, json};

use super::StepRunner;

impl StepRunner<'_> {
    /// Takes whole days in conditions of a query as all times of these days, where a column of its tables holds times.
    pub(super) async fn cover_days(&self, query: &mut TableQuery, tables: &[String]) {
        if query.filter.iter().flat_map(|condition| condition.singles()).any(compares_day) {
            self.catalog.schema.read_values(tables).await;
            cover(&mut query.filter, &|name: &str| self.holds_times(name, tables));
        }
    }

    /// The same for conditions on metrics, each of which is to be met; alternatives stay as they are.
    pub(super) async fn cover_filters(&self, step: &Step, filters: &mut Vec<FilterCondition>) {
        self.catalog.schema.read_values(&step.tables).await;
        for filter in std::mem::take(filters) {
            // Other names than those of columns are dimensions, whose days the metrics know.
            match cover_filter(&filter).filter(|_| self.holds_times(&filter.column, &[])) {
                Some(Condition::One(one)) => filters.push(one),
                Some(all @ Condition::All(_)) => filters.extend(all.singles().cloned()),
                Some(Condition::Any(_)) | None => filters.push(filter),
            }
        }
    }

    /// Whether a column of the catalog holds times, by its type or by what is known of its values.
    fn holds_times(&self, name: &str, tables: &[String]) -> bool {
        let beside = tables.iter().flat_map(|table| {
            let database = table.split('.').next().unwrap_or_default();
            [format!("{table}.{name}"), format!("{database}.{name}")]
        });
        let mut ids = std::iter::once(name.to_owned()).chain(beside);
        let Some(id) = ids.find_map(|id| self.catalog.resolve(ResourceKind::Column, &id)) else { return false };
        let schema = &self.catalog.schema;
        let found = schema.databases().find_map(|database| {
            let rest = id.strip_prefix(database.name.as_str())?.strip_prefix('.')?;
            database.tables.iter().find_map(|table| {
                let column = table.column(rest.strip_prefix(table.name.as_str())?.strip_prefix('.')?)?;
                Some((database.name.as_str(), table.name.as_str(), column))
            })
        });
        found.is_some_and(|(database, table, column)| {
            let known = || schema.known_values(database, table, &column.name);
            may_hold_times(column) == Some(true)
                || may_hold_times(column).is_none()
                    && known().is_some_and(|known| {
                        let ends = known.range.iter().flat_map(|(first, last)| [first, last]);
                        ends.chain(&known.values).any(is_time)
                    })
        })
    }
}

/// Whether a column holds times, as its type says; none where its values have to be looked at.
fn may_hold_times(column: &Column) -> Option<bool> {
    match column.column_type {
        ColumnType::Timestamp => Some(true),
        ColumnType::DateText if !column.holds_days() => Some(true),
        ColumnType::DateText | ColumnType::Text | ColumnType::Other => None,
        ColumnType::Boolean
        | ColumnType::Integer
        | ColumnType::Decimal { .. }
        | ColumnType::Float
        | ColumnType::Date
        | ColumnType::Bytes
        | ColumnType::Nested => Some(false),
    }
}

/// Takes whole days in conditions on columns that hold times as all times of these days.
pub(super) fn cover(conditions: &mut [Condition<Criterion>], holds_times: &dyn Fn(&str) -> bool) {
    let is_of_times = |filter: &FilterCondition| match Measure::read_aggregate(&filter.column) {
        Some(Measure { aggregation: Some(Aggregation::Min | Aggregation::Max), column: Some(column), .. }) => {
            holds_times(&column)
        }
        Some(_) => false,
        None => holds_times(&filter.column),
    };
    for condition in conditions {
        *condition = condition.map(&mut |criterion| {
            let covered = match criterion {
                Criterion::Compare(filter) => cover_filter(filter).filter(|_| is_of_times(filter)),
                Criterion::Within(_) => None,
            };
            match covered {
                Some(covered) => covered.map(&mut |one| Condition::One(Criterion::Compare(one.clone()))),
                None => Condition::One(criterion.clone()),
            }
        });
    }
}

fn compares_day(criterion: &Criterion) -> bool {
    matches!(criterion, Criterion::Compare(filter) if cover_filter(filter).is_some())
}

/// What a condition with whole days says of times; none where it says the same of them.
fn cover_filter(filter: &FilterCondition) -> Option<Condition> {
    let one = |op, value: Value| Condition::One(FilterCondition { column: filter.column.clone(), op, value });
    let within = |(day, next): (Value, Value)| Condition::All(vec![one(FilterOp::Gte, day), one(FilterOp::Lt, next)]);
    Some(match (filter.op, &filter.value) {
        (FilterOp::Lte, value) => one(FilterOp::Lt, read_day(value)?.1),
        (FilterOp::Gt, value) => one(FilterOp::Gte, read_day(value)?.1),
        (FilterOp::Eq, value) => within(read_day(value)?),
        (FilterOp::Neq, value) => {
            let (day, next) = read_day(value)?;
            Condition::Any(vec![one(FilterOp::Lt, day), one(FilterOp::Gte, next)])
        }
        (FilterOp::Between, Value::Array(ends)) if ends.len() == 2 => within((ends[0].clone(), read_day(&ends[1])?.1)),
        (FilterOp::In, Value::Array(values)) if values.iter().any(|value| read_day(value).is_some()) => {
            let each = |value: &Value| read_day(value).map_or_else(|| one(FilterOp::Eq, value.clone()), within);
            Condition::Any(values.iter().map(each).collect())
        }
        (FilterOp::Gte | FilterOp::Lt | FilterOp::Between | FilterOp::In | FilterOp::Like | FilterOp::NotLike, _) => {
            return None;
        }
    })
}

/// A value that is a day, `2025-12-14`, and the day after it.
fn read_day(value: &Value) -> Option<(Value, Value)> {
    let text = value.as_str()?.trim();
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| has_form_of_day(text))?;
    let next = day.succ_opt().map(|next| next.to_string()).filter(|next| has_form_of_day(next))?;
    Some((json!(text), json!(next)))
}

fn has_form_of_day(text: &str) -> bool {
    let is_fitting = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(is_fitting)
}

/// Whether a value is a time of a day: `2025-12-14T10:00:00Z`, `2025-12-14 10:00`.
pub(super) fn is_time(value: &Value) -> bool {
    let parts = value.as_str().and_then(|text| Some((text.get(..10)?, text.get(10..)?)));
    parts.is_some_and(|(day, rest)| has_form_of_day(day) && rest.starts_with(['T', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(op: FilterOp, value: Value, expected: Option<Value>) {
        let filter = FilterCondition { column: "at".to_owned(), op, value };
        assert_eq!(cover_filter(&filter).map(|covered| json!(covered)), expected, "{filter:?}");
    }

    #[test]
    fn a_whole_day_is_all_of_its_times() {
        let one = |op: &str, value: &str| json!({"column": "at", "op": op, "value": value});
        let day = json!({"and": [one("gte", "2025-12-31"), one("lt", "2026-01-01")]});
        check(FilterOp::Lte, json!("2025-12-31"), Some(one("lt", "2026-01-01")));
        check(FilterOp::Gt, json!("2024-02-28"), Some(one("gte", "2024-02-29")));
        check(FilterOp::Eq, json!("2025-12-31"), Some(day.clone()));
        check(
            FilterOp::Neq,
            json!("2025-12-31"),
            Some(json!({"or": [one("lt", "2025-12-31"), one("gte", "2026-01-01")]})),
        );
        check(FilterOp::Between, json!(["2025-12-31", "2025-12-31"]), Some(day.clone()));
        let other = one("eq", "2025-12-30 10:00");
        check(FilterOp::In, json!(["2025-12-31", "2025-12-30 10:00"]), Some(json!({"or": [day, other]})));
    }

    #[test]
    fn what_is_no_whole_day_stays_as_it_is() {
        check(FilterOp::Gte, json!("2025-12-31"), None);
        check(FilterOp::Lt, json!("2025-12-31"), None);
        for value in [json!("2025-12-31 10:00"), json!("2025-02-29"), json!("2025-12"), json!("9999-12-31"), json!(5)] {
            check(FilterOp::Lte, value, None);
        }
        check(FilterOp::In, json!(["paid"]), None);
        assert!(is_time(&json!("2025-12-14T10:00:00Z")) && is_time(&json!("2025-12-14 10:00")));
        assert!(!is_time(&json!("2025-12-14")) && !is_time(&json!("2025-12-14-7")) && !is_time(&json!(20251214)));
    }
}
