//! From a [`TableQuery`] to its SQL.

use std::sync::Arc;

use prospector_connect::filter::{FilterCondition, FilterOp};
use prospector_connect::query::{Condition, DatePart, Measure, Order};
use prospector_connect::table::joins::Mention;
use serde_json::{Value, json};

use super::joint::{Member, add_joins, join_members};
use super::measure::Computed;
use super::{CompiledQuery, Criterion, TableQuery, Within};
use crate::build::{
    Arithmetic, Calculation, Choice, Clause, Dimension, Membership, Names, QueryRequest, Relations, Writer, invalid,
    join_tables, write_conditions, write_joins, write_query,
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
    /// DataFusion's. Tables are joined along declared keys and joins; those of different sources between which there is none,
    /// where one has the primary key of the other. Tables that the query names go before others on the way. Rows are counted and
    /// summed once each, or not at all.
    ///
    /// # Errors
    /// An unknown name, an expression that is no arithmetic, tables that no key connects, a sum that would count rows
    /// more than once, a measure that would miss rows, or a condition on groups where there are none.
    pub async fn compile(&self, query: &TableQuery) -> Result<CompiledQuery, Failure> {
        let view = View::new(&self.sources, &self.scope);
        let members: Vec<Member<'_>> =
            query.tables.iter().map(|name| self.member(&view, name)).collect::<Result<_, _>>()?;
        let Some(first) = members.first() else { return Err(invalid("there is no table")) };
        let sets = self.find_sets(query).await?;
        let is_apart = sets.iter().any(|(_, values)| values.is_none());
        let only = first.source.filter(|_| !is_apart && members.iter().all(|other| other.source == first.source));
        let source = only.map(|at| &self.sources[at]);
        let relations = match source {
            Some(source) => {
                let mut relations = Relations::of(source);
                let own = |table: &str| strip_database(table, &source.name).unwrap_or_default().to_owned();
                add_joins(&mut relations, &query.joins, &own);
                let place =
                    |member: &Member<'_>| source.tables.iter().position(|table| table.name == member.table.name);
                relations.mention(members.iter().filter_map(place), Mention::Named);
                relations.choice = Choice::Columns;
                relations
            }
            None => join_members(&members, &query.joins),
        };
        let speller = Speller { members: &members, source };
        let outputs: Vec<&str> = match query.lists_rows() {
            true => Vec::new(),
            false => query.compute.iter().filter_map(|measure| measure.name.as_deref()).collect(),
        };
        let read = |condition: &Condition<Criterion>| condition.map(&mut |one| speller.read(one, &sets, &outputs));
        let conditions = query.filter.iter().map(read).collect();
        let compiler = Compiler { query, conditions, speller, relations };
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

    /// What the columns that were kept hold, for each condition on being among it.
    async fn find_sets<'q>(&self, query: &'q TableQuery) -> Result<Vec<(&'q Within, Option<Vec<Value>>)>, Failure> {
        let criteria: Vec<&Criterion> = query.filter.iter().flat_map(|condition| condition.singles()).collect();
        let mut sets = Vec::new();
        for criterion in criteria {
            if let Criterion::Within(within) = criterion {
                sets.push((within, self.few_values(within).await?));
            }
        }
        Ok(sets)
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
        if let Some(rest) = self.source.and_then(|source| strip_database(name, &source.name)) {
            return rest.to_owned();
        }
        let mut having = self.members.iter().filter(|member| member.table.column(name).is_some());
        match (having.next(), having.next()) {
            (Some(member), None) => format!("{}.{name}", relation(member)),
            _ => name.to_owned(),
        }
    }
}

impl Speller<'_> {
    /// A condition with the names of the relations; `sets` are the values that others are to be among, where they are few. What
    /// is computed of groups keeps its name, though a column may have the same.
    fn read(
        &self,
        criterion: &Criterion,
        sets: &[(&Within, Option<Vec<Value>>)],
        outputs: &[&str],
    ) -> Condition<Clause> {
        let spell = |name: &str| match outputs.iter().any(|output| output.eq_ignore_ascii_case(name)) {
            true => name.to_owned(),
            false => self.spell(name),
        };
        let within = match criterion {
            Criterion::Compare(filter) => {
                let value = match filter.reference() {
                    Some(other) => json!({"column": spell(other)}),
                    None => filter.value.clone(),
                };
                let column = spell(&filter.column);
                return Condition::One(Clause::Compare(FilterCondition { column, op: filter.op, value }));
            }
            Criterion::Within(within) => within,
        };
        let (column, is_excluded) = (self.spell(&within.column), within.is_excluded);
        let values = sets.iter().find(|(known, _)| *known == within).and_then(|(_, values)| values.clone());
        let compare =
            |op, value| Condition::One(Clause::Compare(FilterCondition { column: column.clone(), op, value }));
        match values {
            Some(values) if is_excluded => {
                Condition::All(values.into_iter().map(|value| compare(FilterOp::Neq, value)).collect())
            }
            Some(values) => compare(FilterOp::In, Value::Array(values)),
            None => {
                let quote = |name: &str| native::quote(Dialect::Joined, name);
                let of = quote(&within.of.to_lowercase());
                let set = format!("SELECT {of} FROM {SCOPED}.{} WHERE {of} IS NOT NULL", quote(&within.alias));
                Condition::One(Clause::Among(Membership { column, set, is_excluded }))
            }
        }
    }
}

/// The name of a table or a column without that of its database.
fn strip_database<'n>(name: &'n str, database: &str) -> Option<&'n str> {
    let begin = name.get(..database.len())?;
    name[begin.len()..].strip_prefix('.').filter(|_| begin.eq_ignore_ascii_case(database))
}

struct Compiler<'a> {
    query: &'a TableQuery,
    conditions: Vec<Condition<Clause>>,
    speller: Speller<'a>,
    relations: Relations<'a>,
}

impl Compiler<'_> {
    /// The SQL, its columns, and how many of them are groups.
    fn write(&self) -> Result<(String, Vec<String>, usize), Failure> {
        if self.query.lists_rows() {
            let mut names = self.conditions.iter().flat_map(|condition| condition.singles()).map(Clause::column);
            if let Some(name) = names.find(|name| Measure::read_aggregate(name).is_some()) {
                return Err(no_groups(name));
            }
            let (sql, columns) = self.try_roots(&[], |root| self.write_rows(root))?;
            return Ok((sql, columns, 0));
        }
        let spell = |name: &str| self.speller.spell(name);
        let mut computed = Computed::read(&self.query.compute, &spell)?;
        let mut conditions = self.conditions.clone();
        let unseen = computed.add_compared(&mut conditions, &spell)?;
        let dimensions: Vec<Dimension> = (self.query.group_by.iter())
            .map(|group| Dimension {
                column: spell(&group.column),
                part: group.part,
                bin: None,
                name: group.name.clone(),
            })
            .collect();
        let measured = computed.columns()?;
        let request = QueryRequest {
            measures: computed.measures,
            dimensions,
            calculations: computed.calculations,
            via: self.query.columns.iter().map(|name| spell(name)).collect(),
            ..QueryRequest::default()
        };
        let (request, mut columns, sql) =
            self.try_roots(&measured, |root| write_query(&self.relations, root, request.clone(), &conditions))?;
        columns.retain(|name| !unseen.contains(name));
        let sql = self.finish(&request, &columns, sql, !unseen.is_empty())?;
        Ok((sql, columns, request.dimensions.len()))
    }

    /// The query with its order and its limit, and with these columns alone where some of `sql` are only compared with.
    fn finish(
        &self,
        request: &QueryRequest,
        columns: &[String],
        mut sql: String,
        has_unseen: bool,
    ) -> Result<String, Failure> {
        let writer = Writer { dialect: self.relations.dialect };
        let column = |at: usize| format!("q.{}", writer.quote(&columns[at]));
        let mut order = Vec::new();
        for by in &self.query.order {
            let spelled = self.speller.spell(&by.by);
            let grouped = request.dimensions.iter().position(|one| one.column.eq_ignore_ascii_case(&spelled));
            let named = columns.iter().position(|name| name.eq_ignore_ascii_case(&by.by));
            let at = named.or(grouped).ok_or_else(|| unknown_order(&by.by, columns))?;
            order.push(write_order(&column(at), by));
        }
        if has_unseen && order.is_empty() {
            order.extend((0..request.dimensions.len()).map(column));
        }
        if has_unseen || !order.is_empty() {
            let all = || (0..columns.len()).map(column).collect::<Vec<_>>().join(", ");
            let list = if has_unseen { all() } else { "*".to_owned() };
            sql = format!("SELECT {list} FROM (\n{sql}\n) AS q");
        }
        if !order.is_empty() {
            sql += &format!("\nORDER BY {}", order.join(", "));
        }
        if let Some(limit) = self.query.limit {
            sql += &format!("\nLIMIT {limit}");
        }
        Ok(sql)
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

    /// What is computed of each row, over the names of the relations.
    ///
    /// # Errors
    /// An expression that is no arithmetic, or one that is called as a column is that a condition names.
    fn row_calculations(&self) -> Result<Vec<Calculation>, Failure> {
        let mut calculations = Vec::new();
        for measure in &self.query.compute {
            let Some(text) = &measure.expression else { continue };
            let name = measure.name.clone().unwrap_or_else(|| "result".to_owned());
            let spell = |name: &str| Ok(format!("\"{}\"", self.speller.spell(name).replace('"', "\"\"")));
            let expression = Arithmetic::parse(text)?.spell(&spell)?;
            let is_column = self.speller.spell(&name) != name;
            if is_column && self.compares(&name) {
                let message = format!("both a column and a calculation are called `{name}`, and a condition is on it");
                return Err(invalid(message).advise("give the calculation another name"));
            }
            calculations.push(Calculation { name, expression });
        }
        Ok(calculations)
    }

    /// Whether a condition names just this, without a table.
    fn compares(&self, name: &str) -> bool {
        let mut criteria = self.query.filter.iter().flat_map(|condition| condition.singles());
        criteria.any(|criterion| match criterion {
            Criterion::Compare(filter) => {
                let mut names = [Some(filter.column.as_str()), filter.reference()].into_iter().flatten();
                names.any(|own| own.eq_ignore_ascii_case(name))
            }
            Criterion::Within(within) => within.column.eq_ignore_ascii_case(name),
        })
    }

    /// Rows of a table, with what its keys lead to, and with what is computed for each row.
    fn write_rows(&self, root: usize) -> Result<(String, Vec<String>), Failure> {
        let calculations = self.row_calculations()?;
        let names = Names::new(&self.relations, root, &calculations)?;
        let writer = Writer { dialect: self.relations.dialect };
        let spell = |name: &str| self.speller.spell(name);
        let mut wanted: Vec<String> = self.query.columns.iter().map(|name| spell(name)).collect();
        wanted.dedup();
        if wanted.is_empty() {
            let table = &self.relations.tables[root];
            wanted = table.columns.iter().map(|column| format!("{}.{}", table.name, column.name)).collect();
        }
        for measure in self.query.compute.iter().filter(|measure| measure.expression.is_none()) {
            match &measure.column {
                Some(column) => wanted.push(spell(column)),
                None => return Err(invalid("a measure has neither a column nor an expression")),
            }
        }
        let mut needed = Vec::new();
        let compared = self.conditions.iter().flat_map(|condition| condition.singles()).flat_map(Clause::names);
        let calculated = calculations.iter().map(|made| made.name.as_str());
        for name in wanted.iter().map(String::as_str).chain(compared).chain(calculated) {
            needed.extend(names.tables(name)?);
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
        for Calculation { name, .. } in &calculations {
            list.push(format!("{} AS {}", names.write(&writer, name)?, writer.quote(name)));
            columns.push(name.clone());
        }
        let place = self.relations.write(root);
        let mut sql = format!("SELECT {}\nFROM {place} AS t{root}", list.join(", "));
        sql += &write_joins(&writer, &self.relations, &tree);
        sql += &write_conditions(&writer, &names, &self.conditions.iter().collect::<Vec<_>>())?;
        let mut order = Vec::new();
        for by in &self.query.order {
            let is_calculated = calculations.iter().any(|made| made.name.eq_ignore_ascii_case(&by.by));
            let name = if is_calculated { by.by.clone() } else { spell(&by.by) };
            order.push(write_order(&names.write(&writer, &name)?, by));
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

fn no_groups(name: &str) -> Failure {
    invalid(format!("`{name}` is computed of groups, and there are none"))
        .advise("add `group_by`, or compute it in a step of its own, which the next one compares by its name")
}

fn unknown_order(name: &str, columns: &[String]) -> Failure {
    Failure::new(FailureCode::UnknownColumn, format!("there is no column `{name}` in the answer to order by"))
        .advise(format!("the columns are {}", columns.join(", ")))
}
