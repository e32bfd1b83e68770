//! Splits conditions into those the cluster answers (whole partition keys, clustering keys after them, one indexed
//! column) and those tested here, because the cluster would have to scan everything for them.

use scylla::value::CqlValue;
use serde_json::Value;

use super::value::fitting;
use crate::ConnectError;
use crate::filter::{ConditionError, FilterCondition, FilterOp, Test};

/// Maximum number of partitions requested by one statement.
const MAX_PARTITIONS: usize = 100;

/// The role of a column in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Part of the partition key, at this position.
    Partition(i32),
    /// Part of the clustering key, at this position.
    Clustering(i32),
    /// One value per partition.
    Static,
    Regular,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CqlColumn {
    pub(super) name: String,
    pub(super) data_type: String,
    pub(super) role: Role,
    pub(super) is_indexed: bool,
}

/// The clause to send and the conditions to test here.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The clause including `WHERE`, or an empty string.
    pub(super) clause: String,
    pub(super) values: Vec<CqlValue>,
    /// The columns and conditions that are tested here.
    pub(super) rest: Vec<(usize, FilterCondition)>,
    /// Whether no row can meet the conditions.
    pub(super) is_empty: bool,
}

/// A condition under consideration.
struct Candidate {
    column: usize,
    /// The condition, with values as they are compared here.
    condition: FilterCondition,
    /// The values as they are bound; `None` if one of them cannot be bound.
    bound: Option<Vec<CqlValue>>,
    is_sent: bool,
}

/// Quotes a name as an identifier.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Finds the position of a column by name; an exact match is preferred to a case-insensitive one.
pub(super) fn position(known: &[CqlColumn], wanted: &str) -> Option<usize> {
    let exact = known.iter().position(|column| column.name == wanted);
    exact.or_else(|| known.iter().position(|column| column.name.to_lowercase() == wanted.to_lowercase()))
}

/// Plans the evaluation of the conditions.
pub(super) fn plan(table: &str, known: &[CqlColumn], conditions: &[FilterCondition]) -> Result<Plan, ConnectError> {
    let mut looked = Vec::with_capacity(conditions.len());
    for condition in conditions {
        let failed = ConnectError::condition(table, &condition.column);
        let column = position(known, &condition.column).ok_or_else(|| failed(ConditionError::UnknownColumn))?;
        looked.push(look(column, &known[column].data_type, condition).map_err(failed)?);
    }
    let mut plan = Plan::default();
    let is_empty_list = |condition: &FilterCondition| {
        condition.op == FilterOp::In && condition.value.as_array().is_some_and(Vec::is_empty)
    };
    plan.is_empty = looked.iter().any(|looked| is_empty_list(&looked.condition));
    send(known, &mut looked, &mut plan);
    plan.rest = looked.into_iter().filter(|l| !l.is_sent).map(|l| (l.column, l.condition)).collect();
    Ok(plan)
}

fn look(column: usize, data_type: &str, condition: &FilterCondition) -> Result<Candidate, ConditionError> {
    let mut condition = condition.clone();
    let fit = |value: &Value| fitting(data_type, value);
    let (value, bound) = match condition.test()? {
        Test::Null | Test::NotNull | Test::Like(_) | Test::NotLike(_) => (condition.value.clone(), None),
        Test::Compare(_, value) => {
            let (value, bound) = fit(value)?;
            (value, bound.map(|bound| vec![bound]))
        }
        Test::Between(low, high) => {
            let ((low, first), (high, last)) = (fit(low)?, fit(high)?);
            (Value::from(vec![low, high]), first.zip(last).map(|(first, last)| vec![first, last]))
        }
        Test::In { values, or_null } => {
            let fitted = values.into_iter().map(fit).collect::<Result<Vec<_>, _>>()?;
            let (mut values, bound): (Vec<Value>, Vec<Option<CqlValue>>) = fitted.into_iter().unzip();
            values.extend(or_null.then_some(Value::Null));
            let bound = bound.into_iter().collect::<Option<Vec<_>>>().filter(|_| !or_null);
            (Value::from(values), bound)
        }
    };
    condition.value = value;
    Ok(Candidate { column, condition, bound, is_sent: false })
}

/// Moves the conditions that the cluster can answer into the clause.
fn send(known: &[CqlColumn], looked: &mut [Candidate], plan: &mut Plan) {
    let mut keys: Vec<(Role, usize)> = known.iter().enumerate().map(|(at, column)| (column.role, at)).collect();
    keys.sort();
    let partition = keys.iter().filter(|(role, _)| matches!(role, Role::Partition(_)));
    let one_of = |column: usize, looked: &[Candidate]| {
        looked.iter().position(|l| {
            let is_kind = matches!(l.condition.op, FilterOp::Eq | FilterOp::In);
            l.column == column && is_kind && l.bound.as_ref().is_some_and(|bound| !bound.is_empty())
        })
    };
    let found: Option<Vec<usize>> = partition.map(|(_, column)| one_of(*column, looked)).collect();
    let many = |found: &Vec<usize>| {
        found.iter().map(|at| looked[*at].bound.as_ref().map_or(1, Vec::len)).fold(1usize, usize::saturating_mul)
    };
    let mut parts = Vec::new();
    match found.filter(|found| !found.is_empty() && many(found) <= MAX_PARTITIONS) {
        Some(found) => {
            found.into_iter().for_each(|at| push(known, &mut looked[at], plan, &mut parts));
            for (_, column) in keys.iter().filter(|(role, _)| matches!(role, Role::Clustering(_))) {
                if let Some(at) = looked
                    .iter()
                    .position(|l| l.column == *column && l.condition.op == FilterOp::Eq && l.bound.is_some())
                {
                    push(known, &mut looked[at], plan, &mut parts);
                    continue;
                }
                let is_range = |l: &Candidate| {
                    let range = matches!(
                        l.condition.op,
                        FilterOp::Gt | FilterOp::Gte | FilterOp::Lt | FilterOp::Lte | FilterOp::Between
                    );
                    l.column == *column && range && l.bound.is_some()
                };
                if let Some(at) = looked.iter().position(is_range) {
                    push(known, &mut looked[at], plan, &mut parts);
                }
                break;
            }
        }
        None => {
            let indexed = looked
                .iter()
                .position(|l| known[l.column].is_indexed && l.condition.op == FilterOp::Eq && l.bound.is_some());
            if let Some(at) = indexed {
                push(known, &mut looked[at], plan, &mut parts);
            }
        }
    }
    if !parts.is_empty() {
        plan.clause = format!(" WHERE {}", parts.join(" AND "));
    }
}

fn push(known: &[CqlColumn], looked: &mut Candidate, plan: &mut Plan, parts: &mut Vec<String>) {
    let Some(bound) = looked.bound.take() else { return };
    let name = quote(&known[looked.column].name);
    parts.push(match looked.condition.op {
        FilterOp::In => format!("{name} IN ({})", vec!["?"; bound.len()].join(", ")),
        FilterOp::Between => format!("{name} >= ? AND {name} <= ?"),
        op => format!("{name} {} ?", op.operator()),
    });
    plan.values.extend(bound);
    looked.is_sent = true;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(conditions: &[(&str, FilterOp, Value)], clause: &str, values: usize, rest: &[&str]) {
        let column = |name: &str, data_type: &str, role: Role, is_indexed: bool| CqlColumn {
            name: name.into(),
            data_type: data_type.into(),
            role,
            is_indexed,
        };
        let known = [
            column("at", "int", Role::Clustering(0), false),
            column("n", "int", Role::Clustering(1), false),
            column("Shop", "text", Role::Partition(0), false),
            column("day", "date", Role::Partition(1), false),
            column("who", "text", Role::Regular, true),
            column("paid", "decimal", Role::Regular, false),
        ];
        let conditions: Vec<FilterCondition> = conditions
            .iter()
            .map(|(column, op, value)| FilterCondition { column: (*column).into(), op: *op, value: value.clone() })
            .collect();
        let plan = plan("t", &known, &conditions).unwrap_or_default();
        assert_eq!((plan.clause.trim_start_matches(" WHERE "), plan.values.len()), (clause, values));
        assert_eq!(plan.rest.iter().map(|(at, _)| known[*at].name.as_str()).collect::<Vec<_>>(), rest);
    }

    #[test]
    fn sends_only_conditions_that_need_no_full_scan() {
        use FilterOp::{Between, Eq, Gt, In, Like};
        let key = [("shop", Eq, json!("x")), ("day", In, json!(["2024-01-31", "2024-02-01"]))];
        let with = |more: &[(&'static str, FilterOp, Value)]| [&key[..], more].concat();
        check(&key, "\"Shop\" = ? AND \"day\" IN (?, ?)", 3, &[]);
        check(&key[..1], "", 0, &["Shop"]);
        check(
            &with(&[("at", Eq, json!(1)), ("n", Between, json!([1, 2])), ("paid", Gt, json!(1))]),
            "\"Shop\" = ? AND \"day\" IN (?, ?) AND \"at\" = ? AND \"n\" >= ? AND \"n\" <= ?",
            6,
            &["paid"],
        );
        check(&with(&[("n", Eq, json!(1))]), "\"Shop\" = ? AND \"day\" IN (?, ?)", 3, &["n"]);
        check(&[("who", Eq, json!("x' OR 1=1 --")), ("at", Eq, json!(1))], "\"who\" = ?", 1, &["at"]);
        check(&[("who", Like, json!("x%"))], "", 0, &["who"]);
        let days: Vec<Value> = (1..=200).map(|day| json!(format!("20{:02}-01-01", day % 90))).collect();
        check(&[("shop", Eq, json!("x")), ("day", In, days.into())], "", 0, &["Shop", "day"]);
    }
}
