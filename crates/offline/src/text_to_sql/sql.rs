//! From an intent to a query, in the SQL of its source.

use super::{
    intent::{Aggregate, Condition, Group, Intent, Measure, Place, Test, path},
    period::Unit,
    turn_state::Table,
};

/// The SQL that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaks {
    Sqlite,
    Postgres,
    Mysql,
    /// The engine's own.
    Joined,
}

impl Speaks {
    pub(super) fn of(name: &str) -> Speaks {
        match name {
            "SQLite" => Speaks::Sqlite,
            "PostgreSQL" => Speaks::Postgres,
            "MySQL" => Speaks::Mysql,
            _ => Speaks::Joined,
        }
    }

    fn name(self, name: &str) -> String {
        let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && !RESERVED.contains(&name);
        match self {
            _ if plain => name.to_owned(),
            Speaks::Mysql => format!("`{}`", name.replace('`', "``")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    fn unit(self, unit: Unit, column: &str) -> String {
        match (self, unit) {
            (Speaks::Sqlite, Unit::Year) => format!("strftime('%Y', {column})"),
            (Speaks::Sqlite, Unit::Quarter) => {
                format!("strftime('%Y', {column}) || '-Q' || ((CAST(strftime('%m', {column}) AS INTEGER) + 2) / 3)")
            }
            (Speaks::Sqlite, Unit::Month) => format!("strftime('%Y-%m', {column})"),
            (Speaks::Sqlite, Unit::Day) => format!("date({column})"),
            (Speaks::Postgres, unit) => {
                let form = match unit {
                    Unit::Year => "YYYY",
                    Unit::Quarter => "YYYY-\"Q\"Q",
                    Unit::Month => "YYYY-MM",
                    Unit::Day => "YYYY-MM-DD",
                };
                format!("to_char({column}, '{form}')")
            }
            (Speaks::Mysql, Unit::Year) => format!("DATE_FORMAT({column}, '%Y')"),
            (Speaks::Mysql, Unit::Quarter) => format!("CONCAT(YEAR({column}), '-Q', QUARTER({column}))"),
            (Speaks::Mysql, Unit::Month) => format!("DATE_FORMAT({column}, '%Y-%m')"),
            (Speaks::Mysql, Unit::Day) => format!("DATE_FORMAT({column}, '%Y-%m-%d')"),
            (Speaks::Joined, Unit::Year) => format!("substr(CAST({column} AS VARCHAR), 1, 4)"),
            (Speaks::Joined, Unit::Quarter) => format!(
                "concat(substr(CAST({column} AS VARCHAR), 1, 4), '-Q', \
                 CAST((CAST(substr(CAST({column} AS VARCHAR), 6, 2) AS INT) + 2) / 3 AS VARCHAR))"
            ),
            (Speaks::Joined, Unit::Month) => format!("substr(CAST({column} AS VARCHAR), 1, 7)"),
            (Speaks::Joined, Unit::Day) => format!("substr(CAST({column} AS VARCHAR), 1, 10)"),
        }
    }
}

const RESERVED: &[&str] = &[
    "date",
    "month",
    "year",
    "day",
    "order",
    "group",
    "by",
    "table",
    "user",
    "value",
    "values",
    "key",
    "index",
    "position",
    "rank",
    "count",
    "sum",
    "select",
    "from",
    "where",
    "to",
    "time",
    "timestamp",
    "primary",
    "references",
    "check",
    "default",
    "desc",
    "asc",
    "case",
    "end",
    "limit",
    "rows",
    "row",
    "language",
    "type",
    "current",
    "interval",
    "year_month",
];

/// Why a query cannot be written; its text is a clause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum JoinError {
    /// No keys join two of its tables.
    #[error("no key leads from {from} to {to}")]
    NoKey { from: String, to: String },
    /// A table would be needed twice, for different rows.
    #[error("{table} would be joined in two ways")]
    TwoWays { table: String },
}

/// The query of an intent.
pub(super) fn write(intent: &Intent, tables: &[&Table], speaks: Speaks) -> Result<String, JoinError> {
    let mut writer = Writer { tables, speaks, joins: Vec::new(), joined: vec![(intent.subject, None)] };
    writer.query(intent)
}

struct Writer<'a> {
    tables: &'a [&'a Table],
    speaks: Speaks,
    joins: Vec<String>,
    /// The tables that are joined, and by which column of which table.
    joined: Vec<(usize, Option<Place>)>,
}

impl Writer<'_> {
    fn query(&mut self, intent: &Intent) -> Result<String, JoinError> {
        let mut selected = Vec::new();
        for group in &intent.groups {
            selected.push(self.group(intent.subject, group)?);
        }
        let mut conditions = Vec::new();
        for condition in intent.conditions() {
            let condition = self.condition(intent.subject, &condition)?;
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        let measure = self.measure(&intent.measure);
        let keys = selected.clone();
        let mut columns: Vec<String> = selected
            .iter()
            .zip(&intent.groups)
            .map(|(text, group)| format!("{text} AS {}", self.alias(group)))
            .collect();
        columns.push(format!("{measure} AS result"));
        let subject = self.tables[intent.subject];
        let mut sql = format!(
            "SELECT {} FROM {}.{} AS {}",
            columns.join(", "),
            self.speaks.name(&subject.database),
            self.speaks.name(&subject.name),
            self.speaks.name(&subject.name)
        );
        for join in &self.joins {
            sql.push_str(&format!(" {join}"));
        }
        if !conditions.is_empty() {
            sql.push_str(&format!(" WHERE {}", conditions.join(" AND ")));
        }
        if !keys.is_empty() {
            sql.push_str(&format!(" GROUP BY {}", keys.join(", ")));
            let by_date = intent.groups.iter().any(|group| group.unit.is_some()) && intent.rank.is_none();
            let is_largest = intent.rank.is_none_or(|(_, is_largest)| is_largest);
            let order = match by_date {
                true => keys.join(", "),
                false => format!("result {}, {}", if is_largest { "DESC" } else { "ASC" }, keys.join(", ")),
            };
            sql.push_str(&format!(" ORDER BY {order}"));
        }
        if let Some((limit, _)) = intent.rank {
            sql.push_str(&format!(" LIMIT {limit}"));
        }
        Ok(sql)
    }

    fn alias(&self, group: &Group) -> String {
        let (table, column) = (self.tables[group.place.0], &self.tables[group.place.0].columns[group.place.1]);
        let name = match group.unit {
            Some(unit) => unit.as_str().to_owned(),
            None if ["name", "title"].contains(&column.name.as_str()) => format!("{}_{}", table.name, column.name),
            None => column.name.clone(),
        };
        self.speaks.name(&name)
    }

    fn column(&self, place: Place) -> String {
        let table = self.tables[place.0];
        format!("{}.{}", self.speaks.name(&table.name), self.speaks.name(&table.columns[place.1].name))
    }

    fn measure(&self, measure: &Measure) -> String {
        match measure {
            Measure::Rows => "COUNT(*)".into(),
            Measure::Of(aggregate, place) => {
                let column = self.column(*place);
                match aggregate {
                    Aggregate::Sum => format!("SUM({column})"),
                    Aggregate::Average => format!("AVG({column})"),
                    Aggregate::Max => format!("MAX({column})"),
                    Aggregate::Min => format!("MIN({column})"),
                    Aggregate::Distinct => format!("COUNT(DISTINCT {column})"),
                }
            }
            Measure::Ratio(left, right) => {
                format!("1.0 * {} / NULLIF({}, 0)", self.measure(left), self.measure(right))
            }
        }
    }

    /// Joins what leads to a table, each from many rows to one, so that no row counts twice.
    fn reach(&mut self, subject: usize, table: usize, via: Option<usize>) -> Result<(), JoinError> {
        let through =
            via.filter(|via| path(self.tables, subject, *via).is_some() && path(self.tables, *via, table).is_some());
        let mut steps = match through {
            Some(via) => {
                let mut steps = path(self.tables, subject, via).unwrap_or_default();
                steps.extend(path(self.tables, via, table).unwrap_or_default());
                steps
            }
            None => path(self.tables, subject, table).ok_or_else(|| JoinError::NoKey {
                from: self.tables[subject].name.clone(),
                to: self.tables[table].name.clone(),
            })?,
        };
        for (from, to) in steps.drain(..) {
            match self.joined.iter().find(|(known, _)| *known == to.0) {
                Some((_, by)) if *by == Some(from) => continue,
                Some(_) => {
                    return Err(JoinError::TwoWays { table: self.tables[to.0].name.clone() });
                }
                None => {}
            }
            self.joined.push((to.0, Some(from)));
            let target = self.tables[to.0];
            self.joins.push(format!(
                "LEFT JOIN {}.{} AS {} ON {} = {}",
                self.speaks.name(&target.database),
                self.speaks.name(&target.name),
                self.speaks.name(&target.name),
                self.column(from),
                self.column(to)
            ));
        }
        Ok(())
    }

    fn group(&mut self, subject: usize, group: &Group) -> Result<String, JoinError> {
        self.reach(subject, group.place.0, group.via)?;
        let column = self.column(group.place);
        Ok(group.unit.map_or(column.clone(), |unit| self.speaks.unit(unit, &column)))
    }

    fn condition(&mut self, subject: usize, condition: &Condition<'_>) -> Result<String, JoinError> {
        let filter = condition.filter;
        self.reach(subject, filter.place.0, filter.via)?;
        let column = self.column(filter.place);
        let known = &self.tables[filter.place.0].columns[filter.place.1];
        Ok(match &filter.test {
            Test::Is(value) => {
                let literal = |value: &str| match known.is_number() && value.parse::<f64>().is_ok() {
                    true => value.to_owned(),
                    false => format!("'{}'", value.replace('\'', "''")),
                };
                let values = std::iter::once(value.as_str()).chain(condition.others.iter().copied());
                match condition.others.as_slice() {
                    [] => format!("{column} = {}", literal(value)),
                    _ => format!("{column} IN ({})", values.map(literal).collect::<Vec<_>>().join(", ")),
                }
            }
            Test::Compare(operator, number) => format!("{column} {operator} {number}"),
            Test::During(period) => {
                // Dates that are texts of another length, such as months, compare as texts of that length.
                let length = if known.min.len() == 7 { 7 } else { 10 };
                let is_date = known.data_type.to_lowercase().starts_with("date");
                let typed = is_date && matches!(self.speaks, Speaks::Joined | Speaks::Postgres);
                let day = |day: &str| format!("{}'{}'", if typed { "DATE " } else { "" }, &day[..length]);
                let mut parts = Vec::new();
                if period.from.as_str() > "0000-12-31" {
                    parts.push(format!("{column} >= {}", day(&period.from)));
                }
                if period.to.as_str() < "9999-01-01" {
                    parts.push(format!("{column} < {}", day(&period.to)));
                }
                parts.join(" AND ")
            }
        })
    }
}
