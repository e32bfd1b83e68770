//! The query around the grouped one: calculations over aggregates, conditions on them, top N, and the order.

use prospector_connect::filter::FilterCondition;

use super::names::{self, Output};
use super::request::{QueryRequest, Top};
use super::write::{Class, Writer};
use super::{Operands, write_where};
use crate::Failure;

/// Renders the outer queries of a request.
pub(super) struct Finish<'a> {
    pub(super) writer: &'a Writer,
    pub(super) query: &'a QueryRequest,
    pub(super) outputs: &'a [Output],
}

impl Operands for Finish<'_> {
    fn write(&self, name: &str) -> Result<String, Failure> {
        self.grouped_column(name)
    }

    fn class(&self, name: &str) -> Result<Class, Failure> {
        let found = self.outputs.iter().find(|output| output.name.eq_ignore_ascii_case(name));
        found.map(|output| output.class).ok_or_else(|| self.unknown(name))
    }
}

impl Finish<'_> {
    /// Renders the whole query over `grouped`; `conditions` are those on computed values.
    ///
    /// # Errors
    /// - If a name is not a column of the answer.
    /// - If a condition does not fit its column.
    pub(super) fn sql(&self, conditions: &[&FilterCondition], grouped: &str) -> Result<String, Failure> {
        let top = &self.query.top;
        let mut sql = self.calculate(conditions, grouped)?;
        let mut limit = self.query.limit;
        match top.as_slice() {
            [] => {}
            // A single top over all rows is expressed by ORDER BY and LIMIT; otherwise rows are ranked.
            [only] if only.per.is_none() => limit = Some(limit.unwrap_or(usize::MAX).min(only.n)),
            several => sql = self.rank(several, &sql)?,
        }
        sql = format!("SELECT * FROM (\n{sql}\n) AS o");
        let order = self.order(top.first())?;
        if !order.is_empty() {
            sql += &format!("\nORDER BY {order}");
        }
        if let Some(limit) = limit {
            sql += &format!("\nLIMIT {limit}");
        }
        Ok(sql)
    }

    /// Renders the columns of the answer from those of `grouped`, with the conditions on them.
    fn calculate(&self, conditions: &[&FilterCondition], grouped: &str) -> Result<String, Failure> {
        let mut list = Vec::new();
        for output in self.outputs {
            list.push(match &output.formula {
                Some(formula) => {
                    format!("{} AS {}", formula.write(self.writer, self)?, self.writer.quote(&output.name))
                }
                None => self.grouped_column(&output.name)?,
            });
        }
        let clauses = conditions.iter().map(|one| self.write_clause(one)).collect::<Result<Vec<_>, _>>()?;
        Ok(format!("SELECT {}\nFROM (\n{grouped}\n) AS g{}", list.join(", "), write_where(&clauses)))
    }

    /// Renders a condition on a computed value.
    fn write_clause(&self, clause: &FilterCondition) -> Result<String, Failure> {
        let output = self.output(&clause.column)?;
        let value = match &output.formula {
            Some(formula) => format!("({})", formula.write(self.writer, self)?),
            None => self.grouped_column(&output.name)?,
        };
        self.writer.clause(&value, output.class, clause)
    }

    /// Renders the column of the grouped query; it has no calculations.
    fn grouped_column(&self, name: &str) -> Result<String, Failure> {
        let is_named = |output: &&Output| output.name.eq_ignore_ascii_case(name) && output.formula.is_none();
        let found = self.outputs.iter().find(is_named);
        found.map(|output| format!("g.{}", self.writer.quote(&output.name))).ok_or_else(|| self.unknown(name))
    }

    /// Restricts the rows of `sql` to the top by each of these measures.
    fn rank(&self, tops: &[Top], sql: &str) -> Result<String, Failure> {
        let mut ranks = Vec::new();
        for (at, top) in tops.iter().enumerate() {
            let measure = &self.output(&top.measure)?.name;
            let per = match &top.per {
                Some(name) => format!("PARTITION BY c.{} ", self.writer.quote(&self.output(name)?.name)),
                None => String::new(),
            };
            let order = self.order_by("c", measure, top.lowest, None);
            ranks.push(format!("ROW_NUMBER() OVER ({per}ORDER BY {order}) AS rank_{at}"));
        }
        let all: Vec<String> = self.outputs.iter().map(|output| self.writer.quote(&output.name)).collect();
        let inside: Vec<String> = all.iter().map(|name| format!("c.{name}")).collect();
        let outside: Vec<String> = all.iter().map(|name| format!("r.{name}")).collect();
        let within: Vec<String> =
            tops.iter().enumerate().map(|(at, top)| format!("r.rank_{at} <= {}", top.n)).collect();
        Ok(format!(
            "SELECT {}\nFROM (\nSELECT {}, {}\nFROM (\n{sql}\n) AS c\n) AS r\nWHERE {}",
            outside.join(", "),
            inside.join(", "),
            ranks.join(", "),
            within.join(" AND ")
        ))
    }

    /// Renders the order of the answer: by the first top, or else by the dimensions.
    fn order(&self, top: Option<&Top>) -> Result<String, Failure> {
        let Some(top) = top else {
            let names = self.query.dimensions.iter().map(|dimension| dimension.name());
            return Ok(names.map(|name| format!("o.{}", self.writer.quote(&name))).collect::<Vec<_>>().join(", "));
        };
        let measure = &self.output(&top.measure)?.name;
        Ok(match &top.per {
            None => self.order_by("o", measure, top.lowest, None),
            Some(per) => {
                let per = &self.output(per)?.name;
                let rest = self.order_by("o", measure, top.lowest, Some(per));
                format!("o.{}, {rest}", self.writer.quote(per))
            }
        })
    }

    /// Renders an order by a measure with nulls last; ties are ordered by all dimensions except `except`.
    fn order_by(&self, from: &str, measure: &str, lowest: bool, except: Option<&str>) -> String {
        let value = format!("{from}.{}", self.writer.quote(measure));
        let mut order = vec![format!("({value} IS NULL)"), if lowest { value } else { format!("{value} DESC") }];
        let dimensions = self.query.dimensions.iter().map(|dimension| dimension.name());
        let dimensions = dimensions.filter(|name| except != Some(name.as_str()));
        order.extend(dimensions.map(|name| format!("{from}.{}", self.writer.quote(&name))));
        order.join(", ")
    }

    fn output(&self, name: &str) -> Result<&Output, Failure> {
        let found = self.outputs.iter().find(|output| output.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Failure {
        names::unknown("output", name, self.outputs.iter().map(|output| output.name.as_str()))
    }
}
