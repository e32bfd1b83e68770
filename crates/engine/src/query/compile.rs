//! From a [`TableQuery`] to its SQL.

use std::sync::Arc;

use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::query::{DatePart, Order};
use serde_json::{Value, json};

use super::joint::{Member, join_members};
use super::measure::{Computed, is_of_rows};
use super::{CompiledQuery, TableQuery, Within};
use crate::build::{
    Arithmetic, Dimension, Membership, Names, QueryRequest, Relations, Writer, invalid, join_tables, write_conditions,
    write_joins, write_query,
};
use crate::scope::SCOPED;
use crate::source::Source;
use crate::view::View;
use crate::{Dialect, Engine, Failure, FailureCode, native};

/// So many values are written into a query; more are looked up where they are kept.
const MAX_WRITTEN: usize = 500;

/// Of those that must not be there, each is a condition of its own.
const MAX_EXCLUDED: usize = 50;

/// So many characters of them.
const MAX_WRITTEN_CHARS: usize = 8_000;

impl Engine {
    /// Writes the SQL of a query: over one database in its own, over several and over what was loaded or kept in
    /// DataFusion's. Tables are joined along declared keys; those of different sources where one has the primary key of
    /// the other. Rows are counted and summed once each, or not at all.
    ///
    /// # Errors
    /// An unknown name, an expression that is no arithmetic, tables that no key connects, or a sum that would count rows
    /// more than once.
    pub async fn compile(&self, query: &TableQuery) -> Result<CompiledQuery, Failure> {
        let view = View::new(&self.sources, &self.scope);
        let members: Vec<Member<'_>> =
            query.tables.iter().map(|name| self.member(&view, name)).collect::<Result<_, _>>()?;
        let Some(first) = members.first() else { return Err(invalid("there is no table")) };
        let mut filters = query.filter.clone();
        let mut apart = Vec::new();
        for within in &query.within {
            match self.few_values(within).await? {
                Some(values) if within.is_excluded => {
                    let column = &within.column;
                    let apart = |value| FilterCondition { column: column.clone(), op: FilterOp::Neq, value };
                    filters.extend(values.into_iter().map(apart));
                }
                Some(values) => {
                    let (column, value) = (within.column.clone(), Value::Array(values));
                    filters.push(FilterCondition { column, op: FilterOp::In, value });
                }
                None => apart.push(within),
            }
        }
        let only =
            first.source.filter(|_| apart.is_empty() && members.iter().all(|other| other.source == first.source));
        let mut relations = match only {
            Some(at) => Relations::of(&self.sources[at]),
            None => join_members(&members),
        };
        let source = only.map(|at| &self.sources[at]);
        let speller = Speller { members: &members, source };
        let quote = |name: &str| native::quote(Dialect::Joined, name);
        relations.within = (apart.into_iter())
            .map(|within| {
                let column = quote(&within.of.to_lowercase());
                let set = format!("SELECT {column} FROM {SCOPED}.{} WHERE {column} IS NOT NULL", quote(&within.alias));
                Membership { column: speller.spell(&within.column), set, is_excluded: within.is_excluded }
            })
            .collect();
        for filter in &mut filters {
            filter.column = speller.spell(&filter.column);
            if let Some(other) = filter.reference().map(|other| speller.spell(other)) {
                filter.value = json!({"column": other});
            }
        }
        let compiler = Compiler { query, filters, speller, relations };
        let (sql, columns, groups) = compiler.write()?;
        Ok(CompiledQuery { sql, database: source.map(|source| source.name.clone()), columns, groups })
    }

    fn member<'a>(&'a self, view: &'a View, name: &str) -> Result<Member<'a>, Failure> {
        let kept = view.subset_source().map(|at| &view[at]);
        if let Some(table) =
            kept.and_then(|kept| kept.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name)))
        {
            return Ok(Member { source: None, full: table.name.clone(), table });
        }
        let (database, table) = name.split_once('.').ok_or_else(|| {
            invalid(format!("`{name}` names no table"))
                .advise("write `database.table`, or an output of an earlier step")
        })?;
        let at = self.source(database)?;
        let (source, table) = self.table(database, table)?;
        Ok(Member { source: Some(at), full: format!("{}.{}", source.name, table.name), table })
    }

    /// The different values of a column that was kept, where they are few.
    async fn few_values(&self, within: &Within) -> Result<Option<Vec<Value>>, Failure> {
        let quote = |name: &str| native::quote(Dialect::Joined, name);
        let column = quote(&within.of.to_lowercase());
        let sql = format!(
            "SELECT DISTINCT {column} FROM {SCOPED}.{} WHERE {column} IS NOT NULL ORDER BY 1",
            quote(&within.alias.to_lowercase())
        );
        let most = if within.is_excluded { MAX_EXCLUDED } else { MAX_WRITTEN };
        let found = self.run(&sql, None, most).await?.rows;
        let values: Vec<Value> = found.rows.into_iter().flatten().collect();
        let size: usize = values.iter().map(|value| value.to_string().len() + 2).sum();
        Ok((!found.has_more && size <= MAX_WRITTEN_CHARS).then_some(values))
    }
}

/// How the names of a query are spelled over its relations.
struct Speller<'a> {
    members: &'a [Member<'a>],
    /// The one source, where there is only one.
    source: Option<&'a Arc<Source>>,
}

impl Speller<'_> {
    /// `table.column` as the relations have it.
    fn spell(&self, name: &str) -> String {
        if let Some((part, inner)) = DatePart::read(name) {
            return format!("{}({})", part.as_str(), self.spell(inner));
        }
        let lower = name.to_lowercase();
        let relation = |member: &Member<'_>| match self.source {
            Some(_) => member.table.name.clone(),
            None => member.full.clone(),
        };
        for member in self.members {
            for known in [&member.full, &member.table.name] {
                let prefix = format!("{}.", known.to_lowercase());
                if lower.starts_with(&prefix) && name.is_char_boundary(prefix.len()) {
                    return format!("{}.{}", relation(member), &name[prefix.len()..]);
                }
            }
        }
        if let Some(source) = self.source
            && let Some(rest) = name.get(source.name.len() + 1..)
            && lower.starts_with(&format!("{}.", source.name.to_lowercase()))
        {
            return rest.to_owned();
        }
        let mut having = self.members.iter().filter(|member| member.table.column(name).is_some());
        match (having.next(), having.next()) {
            (Some(member), None) => format!("{}.{name}", relation(member)),
            _ => name.to_owned(),
        }
    }
}

struct Compiler<'a> {
    query: &'a TableQuery,
    filters: Vec<FilterCondition>,
    speller: Speller<'a>,
    relations: Relations<'a>,
}

impl Compiler<'_> {
    /// The SQL, its columns, and how many of them are groups.
    fn write(&self) -> Result<(String, Vec<String>, usize), Failure> {
        let is_rows = self.query.group_by.is_empty() && self.query.compute.iter().all(is_of_rows);
        if is_rows {
            let (sql, columns) = self.try_roots(&[], |root| self.write_rows(root))?;
            return Ok((sql, columns, 0));
        }
        let spell = |name: &str| self.speller.spell(name);
        let computed = Computed::read(&self.query.compute, &spell)?;
        let dimensions: Vec<Dimension> = (self.query.group_by.iter())
            .map(|group| Dimension {
                column: spell(&group.column),
                part: group.part,
                bin: None,
                name: group.name.clone(),
            })
            .collect();
        let measured: Vec<String> = computed.measures.iter().filter_map(|measure| measure.column.clone()).collect();
        let request = QueryRequest {
            measures: computed.measures,
            dimensions,
            filters: self.filters.clone(),
            calculations: computed.calculations,
            via: self.query.columns.iter().map(|name| spell(name)).collect(),
            ..QueryRequest::default()
        };
        let (request, columns, sql) =
            self.try_roots(&measured, |root| write_query(&self.relations, root, request.clone()))?;
        let groups = request.dimensions.len();
        let writer = Writer { dialect: self.relations.dialect };
        let mut sql = sql;
        if !self.query.order.is_empty() {
            let mut order = Vec::new();
            for by in &self.query.order {
                let spelled = spell(&by.by);
                let grouped = request.dimensions.iter().position(|one| one.column.eq_ignore_ascii_case(&spelled));
                let named = columns.iter().position(|name| name.eq_ignore_ascii_case(&by.by));
                let at = named.or(grouped).ok_or_else(|| unknown_order(&by.by, &columns))?;
                order.push(write_order(&format!("q.{}", writer.quote(&columns[at])), by));
            }
            sql = format!("SELECT * FROM (\n{sql}\n) AS q\nORDER BY {}", order.join(", "));
        }
        if let Some(limit) = self.query.limit {
            sql += &format!("\nLIMIT {limit}");
        }
        Ok((sql, columns, groups))
    }

    /// The first way that counts no row twice: from a table that is measured, or from any.
    fn try_roots<T>(&self, measured: &[String], write: impl Fn(usize) -> Result<T, Failure>) -> Result<T, Failure> {
        let place = |name: &str| self.relations.tables.iter().position(|table| table.name == name);
        let of_column = |name: &String| place(name.rsplit_once('.')?.0);
        let member = |member: &Member<'_>| match self.speller.source {
            Some(_) => place(&member.table.name),
            None => place(&member.full),
        };
        let mut first = None;
        for root in measured.iter().filter_map(of_column).chain(self.speller.members.iter().filter_map(member)) {
            match write(root) {
                Ok(done) => return Ok(done),
                Err(failure) => {
                    first.get_or_insert(failure);
                }
            }
        }
        Err(first.unwrap_or_else(|| invalid("there is no table")))
    }

    /// Rows of a table, with what its keys lead to, and with what is computed for each row.
    fn write_rows(&self, root: usize) -> Result<(String, Vec<String>), Failure> {
        let names = Names::new(&self.relations, root, &[])?;
        let writer = Writer { dialect: self.relations.dialect };
        let spell = |name: &str| self.speller.spell(name);
        let mut wanted: Vec<String> = self.query.columns.iter().map(|name| spell(name)).collect();
        wanted.dedup();
        if wanted.is_empty() {
            let table = &self.relations.tables[root];
            wanted = table.columns.iter().map(|column| format!("{}.{}", table.name, column.name)).collect();
        }
        let mut formulas = Vec::new();
        for measure in &self.query.compute {
            match (&measure.expression, &measure.column) {
                (Some(text), _) => {
                    let made = Arithmetic::parse(text)?;
                    formulas.push((measure.name.clone().unwrap_or_else(|| "result".to_owned()), made));
                }
                (None, Some(column)) => wanted.push(spell(column)),
                (None, None) => return Err(invalid("a measure has neither a column nor an expression")),
            }
        }
        let mut needed = Vec::new();
        let compared = self.filters.iter().filter_map(|filter| filter.reference());
        let used = wanted.iter().chain(self.filters.iter().map(|filter| &filter.column)).map(String::as_str);
        let within = self.relations.within.iter().map(|membership| membership.column.as_str());
        for name in used.chain(compared).chain(within) {
            needed.extend(names.tables(name)?);
        }
        for name in formulas.iter().flat_map(|(_, made)| made.names()) {
            needed.extend(names.tables(&spell(name))?);
        }
        let tree = join_tables(&self.relations, root, &needed, &wanted)?;
        let (mut columns, mut list): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for name in &wanted {
            let bare = name.rsplit('.').next().unwrap_or(name).to_owned();
            let is_taken = columns.iter().any(|known| known.eq_ignore_ascii_case(&bare));
            let own = if is_taken { name.replace('.', "_") } else { bare };
            if columns.iter().any(|known| known.eq_ignore_ascii_case(&own)) {
                continue;
            }
            list.push(format!("{} AS {}", names.write(&writer, name)?, writer.quote(&own)));
            columns.push(own);
        }
        for (name, made) in &formulas {
            let value = names.calculate(&writer, made, &spell)?;
            list.push(format!("{value} AS {}", writer.quote(name)));
            columns.push(name.clone());
        }
        let place = self.relations.write(root);
        let mut sql = format!("SELECT {}\nFROM {place} AS t{root}", list.join(", "));
        sql += &write_joins(&writer, &self.relations, &tree);
        sql += &write_conditions(&writer, &names, &self.relations, &self.filters.iter().collect::<Vec<_>>())?;
        let mut order = Vec::new();
        for by in &self.query.order {
            let formula = formulas.iter().find(|(name, _)| name.eq_ignore_ascii_case(&by.by));
            let value = match formula {
                Some((_, made)) => names.calculate(&writer, made, &spell)?,
                None => names.write(&writer, &spell(&by.by))?,
            };
            order.push(write_order(&value, by));
        }
        if !order.is_empty() {
            sql += &format!("\nORDER BY {}", order.join(", "));
        }
        if let Some(limit) = self.query.limit {
            sql += &format!("\nLIMIT {limit}");
        }
        Ok((sql, columns))
    }
}

/// An order with nulls last.
fn write_order(value: &str, by: &Order) -> String {
    format!("({value} IS NULL), {value}{}", if by.descending { " DESC" } else { "" })
}

fn unknown_order(name: &str, columns: &[String]) -> Failure {
    Failure::new(FailureCode::UnknownColumn, format!("there is no column `{name}` in the answer to order by"))
        .advise(format!("the columns are {}", columns.join(", ")))
}
