//! Compilation of an [`AggregateQuery`] to SQL: the parts, stacked and folded to one row per group, and the values computed
//! from them.

use prospector_connect::query::{Aggregation, Order};

use super::part::{Part, plan_parts};
use super::period::read_days;
use super::request::{AggregateQuery, Formula, OverTime};
use super::scope::Scope;
use super::segment::list_segments;
use super::write::{PartWriter, class_of};
use crate::build::{Arithmetic, Class, Writer, invalid, write_where};
use crate::query::CompiledQuery;
use crate::{Dialect, Engine, Failure, FailureCode};

impl Engine {
    /// Compiles a query over aggregates to SQL: over one database in its own, over several in DataFusion's. Tables are joined
    /// along declared keys. No row is counted more than once, or the query fails.
    ///
    /// # Errors
    /// - If a name is unknown.
    /// - If no key connects a dimension, or only one that repeats rows.
    /// - If a value does not fit its column.
    pub fn compile_aggregates(&self, query: &AggregateQuery) -> Result<CompiledQuery, Failure> {
        check_names(query)?;
        let mut scope = Scope::new(self, &query.tables, &query.joins)?;
        let parts = plan_parts(&scope, query)?;
        let mut sources: Vec<usize> = parts.iter().flat_map(Part::tables).map(|table| scope.source(table)).collect();
        let segments = list_segments(query);
        let databases: Vec<Option<usize>> =
            segments.iter().map(|segment| self.find_segment_source(segment)).collect::<Result<_, _>>()?;
        sources.extend(databases.iter().flatten());
        sources.sort_unstable();
        sources.dedup();
        let only = match sources.as_slice() {
            [only] if databases.iter().all(Option::is_some) => Some(&self.sources[*only]),
            _ => None,
        };
        let days: Vec<_> =
            query.period.iter().map(|period| read_days(period, query.fiscal_year)).collect::<Result<_, _>>()?;
        // A source that cannot compute the periods sends its rows.
        let only = only.filter(|source| {
            let writer = Writer { dialect: source.dialect() };
            PartWriter { writer, scope: &scope, query, parts: &parts, days: &days }.can_compute_periods()
        });
        let dialect = only.map_or(Dialect::Joined, |source| source.dialect());
        scope.relations.dialect = dialect;
        let parts_writer = PartWriter { writer: Writer { dialect }, scope: &scope, query, parts: &parts, days: &days };
        let written: Vec<String> = parts.iter().map(|part| parts_writer.write(part)).collect::<Result<_, _>>()?;
        let writer = AnswerWriter { writer: Writer { dialect }, scope: &scope, query };
        let mut sql = writer.write(&parts, &written)?;
        if !segments.is_empty() {
            let at = only.and_then(|only| self.sources.iter().position(|source| source.name == only.name));
            sql = self.inline_named(&sql, at)?;
        }
        let columns = writer.shown_columns().map(str::to_owned).collect();
        Ok(CompiledQuery { sql, database: only.map(|source| source.name.clone()), columns })
    }
}

/// Checks that there is something to compute, and that column names are unique.
fn check_names(query: &AggregateQuery) -> Result<(), Failure> {
    if query.aggregates.is_empty() || query.columns.is_empty() {
        return Err(invalid("there is nothing to compute"));
    }
    let columns = query.columns.iter().map(|column| column.name.as_str());
    let aggregates = query.aggregates.iter().map(|aggregate| aggregate.name.as_str());
    for names in [query.groups().chain(columns).collect::<Vec<_>>(), query.groups().chain(aggregates).collect()] {
        for (at, name) in names.iter().enumerate() {
            if names[..at].iter().any(|other| other.eq_ignore_ascii_case(name)) {
                return Err(invalid(format!("two columns of the answer have the name `{name}`"))
                    .advise("request each of them once"));
            }
        }
    }
    Ok(())
}

/// The column with the rank of a row, if ties are included.
const RANK: &str = "place_";

/// Renders the query around the parts.
struct AnswerWriter<'a> {
    writer: Writer,
    scope: &'a Scope<'a>,
    query: &'a AggregateQuery,
}

impl AnswerWriter<'_> {
    /// Returns the quoted names of the group keys.
    fn groups(&self) -> Vec<String> {
        self.query.groups().map(|name| self.writer.quote(name)).collect()
    }

    /// Returns the computed columns of the answer.
    fn computed_columns(&self) -> impl Iterator<Item = &str> {
        self.query.columns.iter().map(|column| column.name.as_str())
    }

    /// Returns the columns that rows may be ordered by.
    fn columns(&self) -> impl Iterator<Item = &str> {
        self.query.groups().chain(self.computed_columns())
    }

    /// Returns the columns of the answer.
    fn shown_columns(&self) -> impl Iterator<Item = &str> {
        self.columns().filter(move |name| !self.query.dimensions.iter().any(|one| one.is_hidden && one.name == *name))
    }

    fn write(&self, parts: &[Part], written: &[String]) -> Result<String, Failure> {
        let is_plain = |column: &super::OutputColumn| match column.formula {
            Formula::Aggregate(at) => self.query.aggregates[at].name == column.name,
            Formula::Computed { .. } => false,
        };
        let in_order = (self.query.columns.iter().enumerate())
            .all(|(place, column)| column.formula == Formula::Aggregate(place) && is_plain(column));
        let order = self.order()?;
        match written {
            [only] if in_order && self.query.columns.len() == self.query.aggregates.len() => {
                self.finish(&format!("(\n{only}\n)"), "", &order, only)
            }
            _ => {
                let mut with: Vec<String> =
                    written.iter().enumerate().map(|(at, sql)| format!("part_{at} AS (\n{sql}\n)")).collect();
                let folded = match written {
                    [_] => "part_0".to_owned(),
                    _ => {
                        with.push(format!("stacked AS (\n{}\n)", self.stack(parts)));
                        with.push(format!("folded AS (\n{}\n)", self.fold()));
                        "folded".to_owned()
                    }
                };
                let mut list = self.groups();
                for column in &self.query.columns {
                    list.push(format!("{} AS {}", self.formula(&column.formula)?, self.writer.quote(&column.name)));
                }
                let whole = format!("SELECT {}\nFROM {folded}", list.join(", "));
                let with = format!("WITH {}\n", with.join(",\n"));
                self.finish(&format!("(\n{whole}\n)"), &with, &order, &whole)
            }
        }
    }

    /// Stacks the rows of all parts, each with NULL for the aggregates of the others.
    fn stack(&self, parts: &[Part]) -> String {
        let groups = self.groups();
        let select = |(at, part): (usize, &Part)| {
            let own: Vec<usize> = part.aggregates.iter().map(|(place, _)| *place).collect();
            let values = self.query.aggregates.iter().enumerate().map(|(place, aggregate)| {
                let name = self.writer.quote(&aggregate.name);
                if own.contains(&place) { name } else { format!("{} AS {name}", self.nothing(parts, place)) }
            });
            let list: Vec<String> = groups.iter().cloned().chain(values).collect();
            format!("SELECT {} FROM part_{at}", list.join(", "))
        };
        parts.iter().enumerate().map(select).collect::<Vec<_>>().join("\nUNION ALL\n")
    }

    /// Returns a NULL of the type of an aggregate: a bare NULL has no type in PostgreSQL.
    fn nothing(&self, parts: &[Part], place: usize) -> &'static str {
        let value = parts.iter().flat_map(|part| &part.aggregates).find(|(at, _)| *at == place);
        let class = value.and_then(|(_, value)| self.scope.class(value.as_ref()?));
        match (self.query.aggregates[place].aggregation, class) {
            (Aggregation::Min | Aggregation::Max, Some(Class::Date)) => "CAST(NULL AS DATE)",
            (Aggregation::Min | Aggregation::Max, Some(Class::Text)) => "NULLIF('', '')",
            _ => "NULLIF(0, 0)",
        }
    }

    /// Folds the stacked rows of each group into one: each aggregate has at most one value.
    fn fold(&self) -> String {
        let groups = self.groups();
        let values = self.query.aggregates.iter().map(|aggregate| {
            let name = self.writer.quote(&aggregate.name);
            format!("MAX({name}) AS {name}")
        });
        let list: Vec<String> = groups.iter().cloned().chain(values).collect();
        let sql = format!("SELECT {}\nFROM stacked", list.join(", "));
        if groups.is_empty() { sql } else { format!("{sql}\nGROUP BY {}", groups.join(", ")) }
    }

    /// Renders a column of the answer. A count without rows is 0.
    fn formula(&self, formula: &Formula) -> Result<String, Failure> {
        match formula {
            Formula::Aggregate(at) => {
                let aggregate = &self.query.aggregates[*at];
                let name = self.writer.quote(&aggregate.name);
                Ok(match aggregate.aggregation {
                    Aggregation::Count | Aggregation::CountDistinct => format!("COALESCE({name}, 0)"),
                    Aggregation::Sum | Aggregation::Avg | Aggregation::Min | Aggregation::Max => name,
                })
            }
            Formula::Computed { .. } => {
                let mut read = Vec::new();
                let written = self.compute(formula, &mut read)?;
                read.sort_unstable();
                read.dedup();
                // If all inputs are unknown, the result is NULL and not 0.
                let known: Vec<String> = (read.iter())
                    .map(|at| format!("{} IS NOT NULL", self.writer.quote(&self.query.aggregates[*at].name)))
                    .collect();
                Ok(format!("CASE WHEN {} THEN {written} END", known.join(" OR ")))
            }
        }
    }

    /// Renders a computed value. A sum without rows counts as 0 in it.
    fn compute(&self, formula: &Formula, read: &mut Vec<usize>) -> Result<String, Failure> {
        match formula {
            Formula::Aggregate(at) => {
                read.push(*at);
                let aggregate = &self.query.aggregates[*at];
                let name = self.writer.quote(&aggregate.name);
                let is_additive = !matches!(aggregate.over_time, OverTime::At { .. });
                Ok(match aggregate.aggregation {
                    Aggregation::Sum if is_additive => format!("COALESCE({name}, 0)"),
                    Aggregation::Count | Aggregation::CountDistinct => format!("COALESCE({name}, 0)"),
                    Aggregation::Sum | Aggregation::Avg | Aggregation::Min | Aggregation::Max => name,
                })
            }
            Formula::Computed { text, of } => {
                let mut parts = Vec::new();
                for (name, formula) in of {
                    parts.push((name, self.compute(formula, read)?));
                }
                Arithmetic::parse(text)?.write(&self.writer, &|name: &str| {
                    let found = parts.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                    found.map(|(_, written)| written.clone()).ok_or_else(|| {
                        Failure::new(
                            FailureCode::UnknownColumn,
                            format!("`{text}` refers to the unknown name `{name}`"),
                        )
                    })
                })
            }
        }
    }

    /// Returns the order of the rows, if there can be more than one.
    fn order(&self) -> Result<Vec<Order>, Failure> {
        if self.query.order.is_empty() {
            let by = |by: &str, descending| Order { by: by.to_owned(), descending };
            if self.query.groups().next().is_none() {
                return Ok(Vec::new());
            }
            let dimensions = self.query.dimensions.iter().map(|dimension| by(&dimension.name, false));
            let largest = self.query.columns.first().filter(|_| !self.query.dimensions.is_empty());
            let period = self.query.grain.map(|grain| by(grain.as_str(), false));
            let first = period.into_iter().chain(largest.map(|column| by(&column.name, true)));
            return Ok(first.chain(dimensions).collect());
        }
        for order in &self.query.order {
            if !self.columns().any(|column| column.eq_ignore_ascii_case(&order.by)) {
                return Err(unknown_column(&order.by, self.columns()));
            }
        }
        Ok(self.query.order.clone())
    }

    /// Renders the whole query, with the conditions on its columns, the order and the limit.
    fn finish(&self, rows: &str, with: &str, order: &[Order], plain: &str) -> Result<String, Failure> {
        let mut conditions = Vec::new();
        for condition in &self.query.having {
            let name = self.computed_columns().find(|name| name.eq_ignore_ascii_case(&condition.column));
            let name = name.ok_or_else(|| unknown_column(&condition.column, self.computed_columns()))?;
            let value = format!("q.{}", self.writer.quote(name));
            conditions.push(self.writer.clause(&value, class_of(&condition.value), condition)?);
        }
        let by = |order: &Order| {
            let name = self.columns().find(|name| name.eq_ignore_ascii_case(&order.by)).unwrap_or(&order.by);
            let value = format!("q.{}", self.writer.quote(name));
            format!("({value} IS NULL), {value}{}", if order.descending { " DESC" } else { "" })
        };
        let shows_all = self.query.dimensions.iter().all(|dimension| !dimension.is_hidden);
        let shown = || self.shown_columns().map(|name| format!("q.{}", self.writer.quote(name))).collect::<Vec<_>>();
        let list = if shows_all { "*".to_owned() } else { shown().join(", ") };
        let conditions = write_where(&conditions);
        // Rows tied with the last one are included.
        let last = self.query.limit.zip(order.first()).filter(|_| self.query.ties);
        let mut sql = match last {
            Some((limit, first)) => format!(
                "{with}SELECT {} FROM (\nSELECT q.*, RANK() OVER (ORDER BY {}) AS {RANK} FROM {rows} AS q{conditions}\n) AS q\n\
                 WHERE q.{RANK} <= {limit}",
                shown().join(", "),
                by(first)
            ),
            None if conditions.is_empty() && order.is_empty() && shows_all => format!("{with}{plain}"),
            None => format!("{with}SELECT {list} FROM {rows} AS q{conditions}"),
        };
        if !order.is_empty() {
            sql += &format!("\nORDER BY {}", order.iter().map(by).collect::<Vec<_>>().join(", "));
        }
        if let Some(limit) = self.query.limit.filter(|_| last.is_none()) {
            sql += &format!("\nLIMIT {limit}");
        }
        Ok(sql)
    }
}

fn unknown_column<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> Failure {
    let failure = Failure::new(FailureCode::UnknownColumn, format!("unknown column `{name}` in the answer"));
    failure.suggest_nearest(name, columns, "")
}

/// Returns the names in arithmetic over aggregates.
///
/// # Errors
/// If the text is not an arithmetic expression.
pub fn read_formula(text: &str) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = Vec::new();
    for name in Arithmetic::parse(text)?.names() {
        if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}
