//! Statements over one table. A column is a path: dots lead through records, `UNNEST` through lists. Values are named
//! parameters.

use serde_json::Value;

use super::value::{Parameter, base};
use crate::ConnectError;
use crate::filter::{ConditionError, FilterCondition, FilterOp, Test};
use crate::statement::{escape_pattern, find_by_name};

/// The pseudo-column that identifies the shard of a date-sharded table.
pub(super) const SUFFIX: &str = "_TABLE_SUFFIX";

/// A column.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct PathColumn {
    /// The dotted path.
    pub(super) name: String,
    pub(super) data_type: String,
    /// For each list on the path, the number of path segments that lead to it: `1` for `items` of `items.sku`.
    pub(super) lists: Vec<usize>,
}

/// A statement with its bound parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) parameters: Vec<Parameter>,
}

impl Statement {
    fn bind(&mut self, parameter: Parameter) -> String {
        self.parameters.push(parameter);
        format!("@p{}", self.parameters.len())
    }
}

/// Quotes a name with backticks.
pub(super) fn quote(name: &str) -> String {
    format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
}

fn path<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(quote).collect::<Vec<_>>().join(".")
}

impl PathColumn {
    /// Returns the `FROM` clause and the value: no clause and the column itself, or the unnested lists on its path.
    fn unnest(&self) -> (Option<String>, String) {
        if self.name == SUFFIX {
            return (None, SUFFIX.to_owned());
        }
        let names: Vec<&str> = self.name.split('.').collect();
        let (mut from, mut start, mut before) = (Vec::new(), 0, None);
        for (depth, end) in self.lists.iter().enumerate() {
            let own = path(names[start..*end].iter().copied());
            let whole = before.map_or_else(|| own.clone(), |before| format!("{before}.{own}"));
            from.push(format!("UNNEST({whole}) AS r{depth}"));
            (start, before) = (*end, Some(format!("r{depth}")));
        }
        let rest = path(names[start..].iter().copied());
        match before {
            None => (None, rest),
            Some(before) if rest.is_empty() => (Some(from.join(", ")), before),
            Some(before) => (Some(from.join(", ")), format!("{before}.{rest}")),
        }
    }

    /// Returns the expression of the value in a row.
    pub(super) fn value(&self) -> String {
        match self.unnest() {
            (None, value) => value,
            (Some(from), value) => format!("TO_JSON_STRING(ARRAY(SELECT {value} FROM {from}))"),
        }
    }

    /// Whether values can be compared directly.
    fn is_plain(&self) -> bool {
        !matches!(base(&self.data_type), "STRUCT" | "RECORD" | "ARRAY" | "JSON" | "GEOGRAPHY" | "RANGE" | "INTERVAL")
    }

    /// Returns an expression of the value that can be grouped.
    fn key(&self, value: &str) -> String {
        if self.is_plain() { value.to_owned() } else { format!("TO_JSON_STRING({value})") }
    }

    fn text(&self, value: &str) -> String {
        match base(&self.data_type) {
            _ if !self.is_plain() => format!("TO_JSON_STRING({value})"),
            "BYTES" => format!("TO_HEX({value})"),
            _ => format!("CAST({value} AS STRING)"),
        }
    }
}

/// Selects the rows that meet the conditions, one more than `limit`.
pub(super) fn select(
    table: &str,
    from: &str,
    wanted: &[&PathColumn],
    known: &[PathColumn],
    conditions: &[FilterCondition],
    limit: usize,
) -> Result<Statement, ConnectError> {
    // Columns are aliased because two names may be equal.
    let list: Vec<String> =
        wanted.iter().enumerate().map(|(at, column)| format!("{} AS c{at}", column.value())).collect();
    let mut statement = Statement { sql: format!("SELECT {} FROM {from}", list.join(", ")), ..Statement::default() };
    for (at, condition) in conditions.iter().enumerate() {
        let failed = ConnectError::condition(table, &condition.column);
        let column = find_by_name(known, |column| &column.name, &condition.column);
        let column = column.ok_or_else(|| failed(ConditionError::UnknownColumn))?;
        let test = condition.test().map_err(failed)?;
        let clause = clause(column, &test, &mut statement).map_err(failed)?;
        statement.sql += if at == 0 { " WHERE " } else { " AND " };
        statement.sql += &clause;
    }
    statement.sql += &format!(" LIMIT {}", limit.saturating_add(1).min(i64::MAX as usize));
    Ok(statement)
}

fn clause(column: &PathColumn, test: &Test<'_>, statement: &mut Statement) -> Result<String, ConditionError> {
    let (from, value) = column.unnest();
    let any = |test: String| match &from {
        None => test,
        Some(from) => format!("EXISTS (SELECT 1 FROM {from} WHERE {test})"),
    };
    // BigQuery neither compares nor orders values of these types.
    let compared = if column.is_plain() { value.clone() } else { column.key(&value) };
    let data_type = if column.is_plain() { column.data_type.as_str() } else { "STRING" };
    let mut bind = |value: &Value| Parameter::of(data_type, value).map(|parameter| statement.bind(parameter));
    Ok(match test {
        Test::Null => match &from {
            None => format!("{value} IS NULL"),
            Some(_) => format!("NOT {}", any(format!("{value} IS NOT NULL"))),
        },
        Test::NotNull => any(format!("{value} IS NOT NULL")),
        Test::Compare(FilterOp::Neq, wanted) if from.is_some() => {
            let equal = any(format!("{compared} = {}", bind(wanted)?));
            format!("({} AND NOT {equal})", any(format!("{value} IS NOT NULL")))
        }
        Test::Compare(op, wanted) => any(format!("{compared} {} {}", op.operator(), bind(wanted)?)),
        Test::Between(low, high) => {
            let (low, high) = (bind(low)?, bind(high)?);
            any(format!("({compared} >= {low} AND {compared} <= {high})"))
        }
        Test::In { values, or_null } => {
            let mut parts = Vec::new();
            if !values.is_empty() {
                let bound = values.iter().map(|value| bind(value)).collect::<Result<Vec<_>, _>>()?;
                parts.push(any(format!("{compared} IN ({})", bound.join(", "))));
            }
            if *or_null {
                parts.push(match &from {
                    None => format!("{value} IS NULL"),
                    Some(_) => format!("NOT {}", any(format!("{value} IS NOT NULL"))),
                });
            }
            if parts.is_empty() { "FALSE".to_owned() } else { format!("({})", parts.join(" OR ")) }
        }
        Test::Like(pattern) => {
            let pattern = statement.bind(Parameter::text(plain(pattern)));
            any(format!("LOWER({}) LIKE LOWER({pattern})", column.text(&value)))
        }
        Test::NotLike(pattern) => {
            let pattern = statement.bind(Parameter::text(plain(pattern)));
            let like = any(format!("LOWER({}) LIKE LOWER({pattern})", column.text(&value)));
            format!("({} AND NOT {like})", any(format!("{value} IS NOT NULL")))
        }
    })
}

/// Removes backslashes that escape nothing, which BigQuery rejects.
fn plain(pattern: &str) -> String {
    let mut out = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out += &letters.next().map(|taken| escape_pattern(&taken.to_string())).unwrap_or_default(),
            other => out.push(other),
        }
    }
    out
}

/// Selects the most frequent values and the number of distinct values.
pub(super) fn select_samples(column: &PathColumn, from: &str, contains: Option<&str>, limit: usize) -> Statement {
    let (lists, value) = column.unnest();
    let from = lists.map_or_else(|| from.to_owned(), |lists| format!("{from}, {lists}"));
    let mut statement = Statement::default();
    let mut filter = String::new();
    if let Some(text) = contains {
        let pattern = statement.bind(Parameter::text(format!("%{}%", escape_pattern(text))));
        filter = format!(" AND LOWER({}) LIKE LOWER({pattern})", column.text(&value));
    }
    let key = column.key(&value);
    let shown = match base(&column.data_type) {
        "BYTES" => "BYTE_LENGTH(k)",
        "STRING" => "SUBSTR(k, 1, 201)",
        _ => "k",
    };
    statement.sql = format!(
        "SELECT {shown} AS v, COUNT(*) OVER () AS d FROM (SELECT {key} AS k, COUNT(*) AS n FROM {from} \
         WHERE {value} IS NOT NULL{filter} GROUP BY 1) ORDER BY n DESC, k LIMIT {}",
        // A limit of zero rows would lose the number of distinct values.
        limit.clamp(1, 1_000_000)
    );
    statement
}

/// Selects for each column the number of distinct values, the minimum, the maximum and the number of nulls.
pub(super) fn select_statistics(columns: &[&PathColumn], from: &str) -> Statement {
    let measures: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let (lists, value) = column.unnest();
            let key = column.key(&value);
            let has_order = column.is_plain();
            let end = |word: &str| match base(&column.data_type) {
                _ if !has_order => "NULL".to_owned(),
                "BYTES" => format!("BYTE_LENGTH({word}({value}))"),
                "STRING" => format!("SUBSTR({word}({value}), 1, 201)"),
                _ => format!("{word}({value})"),
            };
            match lists {
                None => format!(
                    "COUNT(DISTINCT {key}) AS d{at}, {} AS s{at}, {} AS l{at}, COUNTIF({value} IS NULL) AS n{at}",
                    end("MIN"),
                    end("MAX")
                ),
                // Lists are measured per row; their combined distinct count cannot be computed along with other columns.
                Some(lists) => {
                    let of = |what: &str| format!("(SELECT {what} FROM {lists})");
                    let (min, max) = match has_order {
                        true => (format!("MIN({})", of(&end("MIN"))), format!("MAX({})", of(&end("MAX")))),
                        false => ("NULL".to_owned(), "NULL".to_owned()),
                    };
                    format!(
                        "APPROX_COUNT_DISTINCT({}) AS d{at}, {min} AS s{at}, {max} AS l{at}, \
                         COUNTIF(NOT EXISTS (SELECT 1 FROM {lists} WHERE {value} IS NOT NULL)) AS n{at}",
                        of(&format!("ANY_VALUE({key})"))
                    )
                }
            }
        })
        .collect();
    Statement { sql: format!("SELECT {} FROM {from}", measures.join(", ")), ..Statement::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known() -> Vec<PathColumn> {
        let column = |name: &str, data_type: &str, lists: &[usize]| PathColumn {
            name: name.into(),
            data_type: data_type.into(),
            lists: lists.to_vec(),
        };
        vec![
            column("id", "INT64", &[]),
            column("to.city", "STRING", &[]),
            column("items.lots.n", "INT64", &[1, 2]),
            column("tags", "STRING", &[1]),
            column("raw", "JSON", &[]),
        ]
    }

    fn check(column: &str, op: FilterOp, value: Value, expected: &str) {
        let condition = FilterCondition { column: column.into(), op, value };
        let known = known();
        let made = select("t", "`d`.`t`", &[&known[0]], &known, &[condition], 1);
        let made = made.map_or_else(|error| error.to_string(), |made| made.sql);
        let made = made.strip_prefix("SELECT `id` AS c0 FROM `d`.`t` WHERE ").unwrap_or(&made);
        assert_eq!(made.trim_end_matches(" LIMIT 2"), expected);
    }

    #[test]
    fn filters_inside_records_and_lists() {
        check("ID", FilterOp::Gt, json!(5), "`id` > @p1");
        check("to.city", FilterOp::Like, json!("a\\b%"), "LOWER(CAST(`to`.`city` AS STRING)) LIKE LOWER(@p1)");
        check(
            "items.lots.n",
            FilterOp::Eq,
            json!(5),
            "EXISTS (SELECT 1 FROM UNNEST(`items`) AS r0, UNNEST(r0.`lots`) AS r1 WHERE r1.`n` = @p1)",
        );
        check(
            "tags",
            FilterOp::Eq,
            json!(null),
            "NOT EXISTS (SELECT 1 FROM UNNEST(`tags`) AS r0 WHERE r0 IS NOT NULL)",
        );
        check("raw", FilterOp::Eq, json!("{}"), "TO_JSON_STRING(`raw`) = @p1");
        check("id", FilterOp::In, json!([]), "FALSE");
        check(
            "id` = 1 OR 1=1 --",
            FilterOp::Eq,
            json!(1),
            "cannot filter t by id` = 1 OR 1=1 --: there is no such column",
        );
    }

    #[test]
    fn escapes_names_and_patterns() {
        assert_eq!(quote("a`b\\"), "`a\\`b\\\\`");
        assert_eq!(plain("50\\%\\a%\\\\"), "50\\%a%\\\\");
        assert_eq!(
            known()[2].value(),
            "TO_JSON_STRING(ARRAY(SELECT r1.`n` FROM UNNEST(`items`) AS r0, UNNEST(r0.`lots`) AS r1))"
        );
    }
}
