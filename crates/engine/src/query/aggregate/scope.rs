//! The tables that a query over aggregates may read, with the keys that connect them.

use std::collections::BTreeMap;

use prospector_connect::table::joins::Mention;
use prospector_connect::table::{Column, ColumnType, ForeignKey, Table};

use super::clock::{Form, StoredTime};
use super::expression::{Expression, ExpressionName};
use super::member::Membership;
use super::request::{NamedJoin, NamedTable, StoredIn};
use super::zone::TimeZone;
use crate::build::{Choice, Class, Relations};
use crate::engine::column;
use crate::{Dialect, Engine, Failure, FailureCode};

/// A value of the rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    /// The table whose columns need no qualifier.
    pub(super) base: usize,
    pub(super) value: PlacedValue,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PlacedValue {
    Expression(Box<Expression>),
    Member(Membership),
}

impl Placed {
    fn expression(&self) -> Option<&Expression> {
        match &self.value {
            PlacedValue::Expression(expression) => Some(expression.as_ref()),
            PlacedValue::Member(_) => None,
        }
    }

    /// Returns the column, if the value is nothing else.
    fn only_name(&self) -> Option<ExpressionName> {
        self.expression()?.only_name()
    }

    /// Returns the text as it was written, or the name of a segment.
    pub(super) fn text(&self) -> &str {
        match &self.value {
            PlacedValue::Expression(expression) => expression.text(),
            PlacedValue::Member(membership) => membership.name(),
        }
    }
}

/// The named tables of all databases, and how their names are rendered.
pub(super) struct Scope<'a> {
    /// All tables, as `database.table`.
    pub(super) relations: Relations<'a>,
    /// The index of the source of each table.
    sources: Vec<usize>,
    /// The dialect of each table's source.
    dialects: Vec<Dialect>,
    /// The table or failure of each name, in lower case.
    names: BTreeMap<String, Result<usize, Failure>>,
    /// The zones of columns, with their table.
    stored_in: Vec<(usize, StoredIn)>,
}

impl Scope<'_> {
    pub(super) fn new(engine: &Engine, of: &[NamedTable], joins: &[NamedJoin]) -> Result<Self, Failure> {
        let (mut tables, mut owners, mut sources, mut dialects) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        for named in of {
            // An unknown database is reported where it is used.
            let Ok(at) = engine.source(&named.database) else { continue };
            if first.contains_key(&at) {
                continue;
            }
            first.insert(at, tables.len());
            let source = &engine.sources[at];
            for table in &source.tables {
                let full = |table: &str| format!("{}.{table}", source.name);
                let keys = table.foreign_keys.iter();
                let keys = keys.map(|key| ForeignKey { table: full(&key.table), ..key.clone() });
                tables.push(Table { name: full(&table.name), foreign_keys: keys.collect(), ..table.clone() });
                owners.push((source.name.clone(), table.name.clone()));
                sources.push(at);
                dialects.push(source.dialect());
            }
        }
        let (mut names, mut stored_in) = (BTreeMap::new(), Vec::new());
        for named in of {
            let found = find_table(engine, &first, named);
            if let (Ok(at), false) = (&found, named.key.is_empty()) {
                for column in &mut tables[*at].columns {
                    column.primary_key = named.key.iter().any(|key| key.eq_ignore_ascii_case(&column.name));
                }
            }
            if let Ok(at) = &found {
                stored_in.extend(named.stored_in.iter().map(|stored| (*at, stored.clone())));
            }
            names.insert(named.name.to_lowercase(), found);
        }
        let mut relations = Relations {
            tables: tables.into(),
            dialect: Dialect::Joined,
            owners: Some(owners),
            mentions: Vec::new(),
            choice: Choice::Dimension,
        };
        relations.mention(names.values().filter_map(|found| found.as_ref().ok().copied()), Mention::Declared);
        let mut scope = Scope { relations, sources, dialects, names, stored_in };
        scope.add_joins(joins)?;
        Ok(scope)
    }

    fn add_joins(&mut self, joins: &[NamedJoin]) -> Result<(), Failure> {
        for join in joins {
            // A table that cannot be read joins nothing.
            let (Ok(from), Ok(to)) = (self.table(&join.from), self.table(&join.to)) else { continue };
            let spell = |table: usize, columns: &[String]| -> Result<Vec<String>, Failure> {
                columns.iter().map(|name| Ok(self.column(table, name)?.name.clone())).collect()
            };
            let (columns, references) = (spell(from, &join.columns)?, spell(to, &join.references)?);
            let key = ForeignKey { columns, table: self.relations.tables[to].name.clone(), references };
            let keys = &mut self.relations.tables.to_mut()[from].foreign_keys;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(())
    }

    /// Returns the table of that name.
    ///
    /// # Errors
    /// - If the name is unknown, with the nearest names.
    /// - If a declared table cannot be read.
    pub(super) fn table(&self, name: &str) -> Result<usize, Failure> {
        self.names.get(&name.to_lowercase()).cloned().unwrap_or_else(|| {
            let failure = Failure::new(FailureCode::UnknownTable, format!("there is no entity `{name}`"));
            Err(failure.suggest_nearest(name, self.names.keys().map(String::as_str), ""))
        })
    }

    pub(super) fn dialect(&self, table: usize) -> Dialect {
        self.dialects[table]
    }

    /// Returns the index of the source of a table.
    pub(super) fn source(&self, table: usize) -> usize {
        self.sources[table]
    }

    /// Returns the column of that name.
    ///
    /// # Errors
    /// If the name is unknown, with the nearest names.
    pub(super) fn column(&self, table: usize, name: &str) -> Result<&Column, Failure> {
        column(&self.relations.tables[table], name)
    }

    /// Parses an expression over the rows of a table.
    ///
    /// # Errors
    /// If it is not an expression, or a name is unknown.
    pub(super) fn place(&self, base: usize, text: &str) -> Result<Placed, Failure> {
        let value = PlacedValue::Expression(Box::new(Expression::parse(self.dialect(base), text)?));
        let placed = Placed { base, value };
        self.tables(&placed)?;
        Ok(placed)
    }

    fn find(&self, base: usize, name: &ExpressionName) -> Result<(usize, &Column), Failure> {
        let table = name.table.as_ref().map_or(Ok(base), |name| self.table(name))?;
        Ok((table, self.column(table, &name.column)?))
    }

    /// Returns the tables that it reads.
    ///
    /// # Errors
    /// If a name is unknown.
    pub(super) fn tables(&self, placed: &Placed) -> Result<Vec<usize>, Failure> {
        let names = placed.expression().map_or_else(|| Ok(Vec::new()), Expression::names)?;
        let mut tables = vec![placed.base];
        for name in &names {
            tables.push(self.find(placed.base, name)?.0);
        }
        Ok(tables)
    }

    /// Returns the class of the value, if it is a column.
    pub(super) fn class(&self, placed: &Placed) -> Option<Class> {
        if let PlacedValue::Member(_) = &placed.value {
            return Some(Class::Text);
        }
        let (_, column) = self.find(placed.base, &placed.only_name()?).ok()?;
        Some(Class::from_type(column.column_type))
    }

    /// Returns how its times are stored, if it is a column and that is known.
    pub(super) fn stored_time(&self, placed: &Placed) -> Option<StoredTime> {
        let (table, column) = self.find(placed.base, &placed.only_name()?).ok()?;
        if column.has_zone(self.dialect(table)) {
            return Some(StoredTime { form: Form::Moment, zone: TimeZone::UTC });
        }
        let form = match column.column_type {
            ColumnType::Timestamp => Form::Clock,
            ColumnType::DateText | ColumnType::Text if !column.holds_days() => Form::Text,
            _ => return None,
        };
        let is_it =
            |(of, stored): &&(usize, StoredIn)| *of == table && stored.column.eq_ignore_ascii_case(&column.name);
        let (_, stored) = self.stored_in.iter().find(is_it)?;
        Some(StoredTime { form, zone: stored.zone })
    }

    /// Renders the SQL.
    ///
    /// # Errors
    /// If a name is unknown.
    pub(super) fn write(&self, dialect: Dialect, placed: &Placed) -> Result<String, Failure> {
        let expression = match &placed.value {
            PlacedValue::Expression(expression) => expression,
            PlacedValue::Member(membership) => return Ok(membership.write_value(dialect, placed.base)),
        };
        expression.write(dialect, &mut |name| {
            let (table, column) = self.find(placed.base, name)?;
            Ok((format!("t{table}"), column.name.clone()))
        })
    }

    /// Returns `name.column` in the terms of the relations.
    ///
    /// # Errors
    /// If a name is unknown.
    pub(super) fn spell(&self, base: usize, name: &str) -> Result<String, Failure> {
        let (table, column) = match name.rsplit_once('.') {
            Some((table, column)) => (self.table(table)?, column),
            None => (base, name),
        };
        Ok(format!("{}.{}", self.relations.tables[table].name, self.column(table, column)?.name))
    }
}

fn find_table(engine: &Engine, first: &BTreeMap<usize, usize>, named: &NamedTable) -> Result<usize, Failure> {
    let at = engine.source(&named.database)?;
    let (source, table) = engine.table(&named.database, &named.table)?;
    let own = source.tables.iter().position(|known| known.name == table.name).unwrap_or(0);
    Ok(first.get(&at).copied().unwrap_or(0) + own)
}
