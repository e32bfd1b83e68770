//! Queries from measures, dimensions and filters: the SQL is written here, in the dialect of the source, with every name
//! looked up and quoted and every value escaped.

mod arithmetic;
mod joins;
mod names;
mod request;
mod write;

use prospector_connect::FilterCondition;
use serde::Serialize;

use crate::engine::column;
use crate::source::Source;
use crate::{Engine, Failure, FailureCode};
use arithmetic::Arithmetic;
use joins::Tree;
use names::{Names, Output};
pub(crate) use request::QueryRequest;
use request::{Aggregation, Measure};
pub(crate) use write::Class;
use write::Writer;

/// A query and its SQL.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Built {
    /// The request with every name filled in.
    pub(crate) query: QueryRequest,
    /// The dialect of the SQL.
    #[schemars(with = "String")]
    pub(crate) dialect: &'static str,
    pub(crate) sql: String,
    /// What the columns of the answer are called.
    pub(crate) columns: Vec<String>,
}

pub(crate) fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(FailureCode::InvalidArguments, message)
}

/// The SQL of a request.
///
/// # Errors
/// An unknown name, an expression that is no arithmetic, tables that no key connects, or a sum that would count rows more
/// than once.
pub(crate) fn build(engine: &Engine, request: &QueryRequest) -> Result<Built, Failure> {
    let (source, root) = engine.table(&request.database, &request.table)?;
    let names = Names::new(source, root, &request.calculations)?;
    let mut query = request.clone();
    (query.database, query.table) = (source.name.clone(), root.name.clone());
    if query.measures.is_empty() && query.dimensions.is_empty() {
        return Err(invalid("there is neither a measure nor a dimension")
            .advise("name a column as a dimension, or count rows with {\"aggregation\": \"count\"}"));
    }
    let outputs = names::outputs(&mut query, &names)?;
    let (after, before): (Vec<&FilterCondition>, Vec<&FilterCondition>) =
        request.filters.iter().partition(|filter| outputs.iter().any(|output| output.is_computed(&filter.column)));

    let tree = tree(source, &names, &query, &before)?;
    for measure in &query.measures {
        check_measure(&names, &tree, source, measure)?;
    }
    let writer = Writer { dialect: source.dialect() };
    let grouped = grouped(&writer, source, &names, &tree, &query, &before)?;
    let sql = finished(&writer, &query, &outputs, &after, &grouped)?;
    let columns = outputs.into_iter().map(|output| output.name).collect();
    Ok(Built { query, dialect: source.dialect().as_str(), sql, columns })
}

/// The tables that are needed, joined.
fn tree(
    source: &Source,
    names: &Names<'_>,
    query: &QueryRequest,
    filters: &[&FilterCondition],
) -> Result<Tree, Failure> {
    let mut needed = Vec::new();
    for measure in &query.measures {
        if let Some(name) = &measure.column {
            needed.extend(names.tables(name)?);
        }
    }
    for dimension in &query.dimensions {
        needed.extend(names.tables(&dimension.column)?);
    }
    for filter in filters {
        needed.extend(names.tables(&filter.column)?);
    }
    joins::tree(source, names.root, &needed, &query.via)
}

/// Whether joining leaves every row that the measure takes in just once.
fn check_measure(names: &Names<'_>, tree: &Tree, source: &Source, measure: &Measure) -> Result<(), Failure> {
    if matches!(measure.aggregation, Aggregation::Min | Aggregation::Max | Aggregation::CountDistinct) {
        return Ok(());
    }
    let tables = match &measure.column {
        Some(name) => names.tables(name)?,
        None => vec![names.root],
    };
    let repeated = tables.iter().find_map(|table| Some((*table, tree.repeats(*table)?)));
    let Some((table, other)) = repeated else { return Ok(()) };
    let (table, other) = (&source.tables[table].name, &source.tables[other].name);
    let message =
        format!("joined with {other}, a row of {table} is there several times: {} would be wrong", measure.name());
    Err(Failure::new(FailureCode::RepeatedRows, message).advise(format!(
        "leave {other} out, count with count_distinct, or write it as SQL that aggregates before the join"
    )))
}

/// The query that groups.
fn grouped(
    writer: &Writer,
    source: &Source,
    names: &Names<'_>,
    tree: &Tree,
    query: &QueryRequest,
    filters: &[&FilterCondition],
) -> Result<String, Failure> {
    let mut list = Vec::new();
    for dimension in &query.dimensions {
        let value = names.written(writer, &dimension.column)?;
        let made = writer.dimension(&value, names.class(&dimension.column)?, dimension)?;
        list.push(format!("{made} AS {}", writer.quoted(&dimension.name())));
    }
    for measure in &query.measures {
        let value = measure.column.as_deref().map(|name| names.written(writer, name)).transpose()?;
        if let (Some(name), Aggregation::Sum | Aggregation::Avg) = (&measure.column, measure.aggregation)
            && names.class(name)? != Class::Number
        {
            let message = format!("`{name}` holds no numbers: it has no {}", measure.aggregation.word());
            return Err(Failure::new(FailureCode::TypeMismatch, message).advise("count it, or take min or max"));
        }
        let made = writer.aggregated(value.as_deref(), measure.aggregation)?;
        list.push(format!("{made} AS {}", writer.quoted(&measure.name())));
    }
    let mut sql = format!("SELECT {}\nFROM {} AS t{}", list.join(", "), writer.table(source, names.root), names.root);
    for step in &tree.steps {
        let pairs = step
            .pairs
            .iter()
            .map(|(from, to)| format!("t{}.{} = t{}.{}", step.from, writer.quoted(from), step.to, writer.quoted(to)));
        let on: Vec<String> = pairs.collect();
        sql += &format!("\nLEFT JOIN {} AS t{} ON {}", writer.table(source, step.to), step.to, on.join(" AND "));
    }
    let mut clauses = Vec::new();
    for filter in filters {
        let value = names.written(writer, &filter.column)?;
        clauses.push(writer.clause(&value, names.class(&filter.column)?, filter)?);
    }
    if !clauses.is_empty() {
        sql += &format!("\nWHERE {}", clauses.join(" AND "));
    }
    if !query.dimensions.is_empty() {
        let places: Vec<String> = (1..=query.dimensions.len()).map(|at| at.to_string()).collect();
        sql += &format!("\nGROUP BY {}", places.join(", "));
    }
    Ok(sql)
}

/// The query around it: calculations over what was grouped, conditions on it, the top of it, and an order.
fn finished(
    writer: &Writer,
    query: &QueryRequest,
    outputs: &[Output],
    filters: &[&FilterCondition],
    grouped: &str,
) -> Result<String, Failure> {
    let written = |from: &'static str| {
        move |name: &str| {
            let found =
                outputs.iter().find(|output| output.name.eq_ignore_ascii_case(name) && output.formula.is_none());
            found.map(|output| format!("{from}.{}", writer.quoted(&output.name))).ok_or_else(|| {
                let known = outputs.iter().map(|output| output.name.as_str());
                names::unknown("output", name, known)
            })
        }
    };
    let mut list = Vec::new();
    for output in outputs {
        let value = match &output.formula {
            Some(formula) => format!("{} AS {}", formula.written(&written("g"))?, writer.quoted(&output.name)),
            None => written("g")(&output.name)?,
        };
        list.push(value);
    }
    let mut clauses = Vec::new();
    for filter in filters {
        let output = outputs.iter().find(|output| output.name.eq_ignore_ascii_case(&filter.column));
        let value = match output.and_then(|output| output.formula.as_ref()) {
            Some(formula) => format!("({})", formula.written(&written("g"))?),
            None => written("g")(&filter.column)?,
        };
        clauses.push(writer.clause(&value, output.map_or(Class::Number, |output| output.class), filter)?);
    }
    let mut sql = format!("SELECT {}\nFROM (\n{grouped}\n) AS g", list.join(", "));
    if !clauses.is_empty() {
        sql += &format!("\nWHERE {}", clauses.join(" AND "));
    }
    let order = |from: &str, name: &str, lowest: bool, dimensions: &dyn Fn(&str) -> bool| {
        let value = format!("{from}.{}", writer.quoted(name));
        let mut order = vec![format!("({value} IS NULL)"), if lowest { value } else { format!("{value} DESC") }];
        order.extend(
            query
                .dimensions
                .iter()
                .map(|d| d.name())
                .filter(|d| dimensions(d))
                .map(|d| format!("{from}.{}", writer.quoted(&d))),
        );
        order.join(", ")
    };
    let mut limit = query.limit;
    // With one top of all, order and limit say it; otherwise rows are ranked.
    let is_plain = query.top.len() == 1 && query.top[0].per.is_none();
    if is_plain {
        limit = Some(limit.unwrap_or(usize::MAX).min(query.top[0].n));
    } else if !query.top.is_empty() {
        let mut ranks = Vec::new();
        for (at, top) in query.top.iter().enumerate() {
            let known = outputs.iter().any(|output| output.name.eq_ignore_ascii_case(&top.measure));
            if !known {
                return Err(names::unknown("output", &top.measure, outputs.iter().map(|output| output.name.as_str())));
            }
            let per = match &top.per {
                Some(name) => format!("PARTITION BY c.{} ", writer.quoted(&output(outputs, name)?.name)),
                None => String::new(),
            };
            let measure = &output(outputs, &top.measure)?.name;
            let order = order("c", measure, top.lowest, &|_| true);
            ranks.push(format!("ROW_NUMBER() OVER ({per}ORDER BY {order}) AS rank_{at}"));
        }
        let all: Vec<String> = outputs.iter().map(|output| writer.quoted(&output.name)).collect();
        let inside: Vec<String> = all.iter().map(|name| format!("c.{name}")).collect();
        let outside: Vec<String> = all.iter().map(|name| format!("r.{name}")).collect();
        let within: Vec<String> =
            query.top.iter().enumerate().map(|(at, top)| format!("r.rank_{at} <= {}", top.n)).collect();
        sql = format!(
            "SELECT {}\nFROM (\nSELECT {}, {}\nFROM (\n{sql}\n) AS c\n) AS r\nWHERE {}",
            outside.join(", "),
            inside.join(", "),
            ranks.join(", "),
            within.join(" AND ")
        );
    }
    sql = format!("SELECT * FROM (\n{sql}\n) AS o");
    let ordered = match query.top.first() {
        Some(top) if top.per.is_none() => order("o", &output(outputs, &top.measure)?.name, top.lowest, &|_| true),
        Some(top) => {
            let per = output(outputs, top.per.as_deref().unwrap_or_default())?.name.clone();
            let rest = order("o", &output(outputs, &top.measure)?.name, top.lowest, &|name| name != per);
            format!("o.{}, {rest}", writer.quoted(&per))
        }
        None => {
            let all: Vec<String> =
                query.dimensions.iter().map(|dimension| format!("o.{}", writer.quoted(&dimension.name()))).collect();
            all.join(", ")
        }
    };
    if !ordered.is_empty() {
        sql += &format!("\nORDER BY {ordered}");
    }
    if let Some(limit) = limit {
        sql += &format!("\nLIMIT {limit}");
    }
    Ok(sql)
}

fn output<'a>(outputs: &'a [Output], name: &str) -> Result<&'a Output, Failure> {
    let found = outputs.iter().find(|output| output.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| names::unknown("output", name, outputs.iter().map(|output| output.name.as_str())))
}
