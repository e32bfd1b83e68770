//! Queries from measures, dimensions and filters: the SQL is rendered here, in the dialect of the source, with every name
//! resolved and quoted and every value escaped.
//!
//! A general query builder such as sea-query renders statements, but neither resolves names nor follows keys.

mod arithmetic;
mod asked;
mod counts;
mod finish;
mod joins;
mod names;
mod relations;
mod request;
mod write;

use std::collections::BTreeSet;

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::Aggregation;
use prospector_connect::table::Table;
use serde::Serialize;

use crate::engine::column;
use crate::source::Source;
use crate::{Engine, Failure, FailureCode};
pub(crate) use arithmetic::{Arithmetic, Operands};
pub(crate) use asked::{AskedQuery, AskedStatement};
use finish::Finish;
use joins::Tree;
pub(crate) use joins::{Tree as JoinTree, tree as join_tables};
pub(crate) use names::Names;
pub(crate) use relations::{Choice, Relations};
pub(crate) use request::{Measure, QueryRequest};
pub(crate) use write::Class;
pub(crate) use write::Writer;

/// A request and its SQL.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct BuiltQuery {
    /// The request with every name filled in.
    pub(crate) query: QueryRequest,
    /// The dialect of the SQL.
    pub(crate) dialect: &'static str,
    pub(crate) sql: String,
    /// The names of the columns of the answer.
    pub(crate) columns: Vec<String>,
    /// Always true: an invalid request is an error.
    is_valid: bool,
}

pub(crate) fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(FailureCode::InvalidArguments, message)
}

/// Renders the SQL of a request.
///
/// # Errors
/// - If a name is unknown.
/// - If an expression is not an arithmetic expression.
/// - If no key connects the tables.
/// - If a sum or count would count rows more than once (fan-out).
/// - If a measure over several tables would miss rows.
pub(crate) fn build(engine: &Engine, request: &QueryRequest) -> Result<BuiltQuery, Failure> {
    let request = complete(engine, request)?;
    let (source, root) = engine.table(&request.database, &request.table)?;
    let root = source.tables.iter().position(|table| table.name == root.name).unwrap_or(0);
    let mut query = QueryRequest { database: source.name.clone(), table: source.tables[root].name.clone(), ..request };
    let relations = Relations::of(source);
    let names = Names::new(&relations, root, &query.calculations)?;
    if query.measures.is_empty() && query.dimensions.is_empty() {
        return Err(invalid("the query has neither a measure nor a dimension")
            .advise("name a column as a dimension, or count rows with {\"aggregation\": \"count\"}"));
    }
    let outputs = names::outputs(&mut query, &names)?;
    let is_computed = |filter: &&FilterCondition| outputs.iter().any(|output| output.is_computed(&filter.column));
    let (after, before): (Vec<_>, Vec<_>) = query.filters.iter().partition(is_computed);
    let tree = tree(&relations, &names, &query, &before)?;
    let joined = counts::Joined { relations: &relations, names: &names, tree: &tree };
    joined.check_repeats(&query)?;
    joined.check_missing(&query, &before)?;
    let writer = Writer { dialect: relations.dialect };
    let grouped = group_query(&writer, &relations, &names, &tree, &query, &before)?;
    let sql = Finish { writer: &writer, query: &query, outputs: &outputs }.sql(&after, &grouped)?;
    let columns = outputs.into_iter().map(|output| output.name).collect();
    Ok(BuiltQuery { query, dialect: source.dialect().as_str(), sql, columns, is_valid: true })
}

/// Fills in what a request omits: the table, if only one has all the columns; the measure of the top, if there is only one; and
/// bins among the dimensions.
fn complete(engine: &Engine, request: &QueryRequest) -> Result<QueryRequest, Failure> {
    let mut query = request.clone();
    query.dimensions.append(&mut query.bins);
    let is_calculated = |name: &str| query.calculations.iter().any(|known| known.name.eq_ignore_ascii_case(name));
    let named = (query.measures.iter().filter_map(|measure| measure.column.as_deref()))
        .chain(query.dimensions.iter().map(|dimension| dimension.column.as_str()));
    let columns: Vec<&str> = named.filter(|name| !is_calculated(name)).collect();
    let has_all = |_: &Source, table: &Table| {
        let bare = |name: &str| name.rsplit_once('.').is_none_or(|(of, _)| of.eq_ignore_ascii_case(&table.name));
        let has = |name: &&str| bare(name) && table.column(name.rsplit('.').next().unwrap_or(name)).is_some();
        !columns.is_empty() && columns.iter().all(has)
    };
    let (database, table) = engine.only_table(&query.database, &query.table, &has_all)?;
    (query.database, query.table) = (database, table);
    let measure = query.measures.first().map(Measure::name);
    for top in query.top.iter_mut().filter(|top| top.measure.is_empty()) {
        top.measure =
            measure.clone().ok_or_else(|| invalid("a top needs a measure").advise("name the measure to rank by"))?;
    }
    Ok(query)
}

/// Returns the join tree of the required tables.
fn tree(
    relations: &Relations<'_>,
    names: &Names<'_>,
    query: &QueryRequest,
    conditions: &[&FilterCondition],
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
    for condition in conditions {
        needed.extend(names.tables(&condition.column)?);
    }
    joins::tree(relations, names.root, &needed, &query.via)
}

/// Renders the query with GROUP BY.
fn group_query(
    writer: &Writer,
    relations: &Relations<'_>,
    names: &Names<'_>,
    tree: &Tree,
    query: &QueryRequest,
    conditions: &[&FilterCondition],
) -> Result<String, Failure> {
    let mut list = Vec::new();
    for dimension in &query.dimensions {
        let value = names.write(writer, &dimension.column)?;
        let made = writer.dimension(&value, names.class(&dimension.column)?, dimension)?;
        list.push(format!("{made} AS {}", writer.quote(&dimension.name())));
    }
    for measure in &query.measures {
        let value = measure.column.as_deref().map(|name| names.write(writer, name)).transpose()?;
        if let (Some(name), Aggregation::Sum | Aggregation::Avg) = (&measure.column, measure.aggregation)
            && names.class(name)? != Class::Number
        {
            let message = format!("`{name}` is not numeric and has no {}", measure.aggregation.as_str());
            return Err(Failure::new(FailureCode::TypeMismatch, message).advise("use count, min or max"));
        }
        let made = writer.aggregate(value.as_deref(), measure.aggregation)?;
        list.push(format!("{made} AS {}", writer.quote(&measure.name())));
    }
    let mut sql = format!("SELECT {}\nFROM {} AS t{}", list.join(", "), relations.write(names.root), names.root);
    sql += &write_joins(writer, relations, tree, &BTreeSet::new());
    let clause = |filter: &&FilterCondition| {
        writer.clause(&names.write(writer, &filter.column)?, names.class(&filter.column)?, filter)
    };
    sql += &write_where(&conditions.iter().map(clause).collect::<Result<Vec<_>, _>>()?);
    Ok(sql + &write_group_by(query.dimensions.len()))
}

/// Renders the joins after the first table. `needed` are the tables without whose rows no row is kept.
pub(crate) fn write_joins(writer: &Writer, relations: &Relations<'_>, tree: &Tree, needed: &BTreeSet<usize>) -> String {
    let mut sql = String::new();
    for step in &tree.steps {
        let pairs = (step.pairs.iter())
            .map(|(from, to)| format!("t{}.{} = t{}.{}", step.from, writer.quote(from), step.to, writer.quote(to)));
        let on: Vec<String> = pairs.collect();
        let join = if needed.contains(&step.to) { "JOIN" } else { "LEFT JOIN" };
        sql += &format!("\n{join} {} AS t{} ON {}", relations.write(step.to), step.to, on.join(" AND "));
    }
    sql
}

/// Renders the grouping by the first columns.
pub(crate) fn write_group_by(count: usize) -> String {
    let places: Vec<String> = (1..=count).map(|at| at.to_string()).collect();
    if places.is_empty() { String::new() } else { format!("\nGROUP BY {}", places.join(", ")) }
}

/// Renders the conditions on rows.
pub(crate) fn write_where(conditions: &[String]) -> String {
    if conditions.is_empty() { String::new() } else { format!("\nWHERE {}", conditions.join(" AND ")) }
}
