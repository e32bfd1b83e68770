//! Named queries: queries of the catalog that statements read as tables: `segments.vip_customer`, `queries.vip_customers`. The
//! text of a statement is edited here; [`crate::plan`] decides how each of them is read.

use std::ops::{ControlFlow, Range};

use prospector_core::named_enum;
use sqlparser::ast::{
    Expr, Ident, ObjectName, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, Spanned, TableFactor, Visit,
    Visitor,
};
use sqlparser::tokenizer::{Location, Span, Token, Tokenizer};

use crate::position::Positions;
use crate::source::LIST_TABLES;
use crate::syntax::{idents, last_part};
use crate::{Dialect, Failure, FailureCode};

/// A query that statements read as a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedQuery {
    /// The schema that qualifies its name.
    pub schema: NamedSchema,
    /// The name. Statements write it in any case, with `_` in place of characters that are not letters or digits.
    pub name: String,
    /// The database in whose SQL it is written; `None` if it may read several.
    pub database: Option<String>,
    /// The query, with its parameters filled in.
    pub sql: String,
    /// The values of its parameters: `year = 2025`.
    pub parameters: Vec<String>,
    /// The names of the columns that it returns; empty if unknown.
    pub columns: Vec<String>,
    /// Why it cannot be read: it is stale, or a parameter has no default.
    pub refusal: Option<String>,
}

named_enum! {
    /// The schema that qualifies the name of a named query.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum NamedSchema {
        /// The keys of the members of a segment.
        Segments = "segments",
        /// The rows of a verified query.
        Queries = "queries",
    }
}

impl NamedSchema {
    /// Returns the qualified name in statements: `queries.vip_customers`.
    pub fn write(self, name: &str) -> String {
        format!("{}.{}", self.as_str(), plain_name(name))
    }
}

impl NamedQuery {
    /// Returns the qualified name in statements: `queries.vip_customers`.
    pub fn id(&self) -> String {
        self.schema.write(&self.name)
    }
}

/// The schema of the tables that describe the databases, see [`crate::information_schema`].
pub(crate) const INFORMATION_SCHEMA: &str = "information_schema";

/// Normalises a name for comparison and for use without quotes.
pub(crate) fn plain_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

/// Splits a table name into schema and name, if the schema is one of named queries or the information schema.
fn split<'a>(written: &[&'a Ident]) -> Option<(&'static str, &'a Ident)> {
    let [schema, name, ..] = written else { return None };
    let mut known = NamedSchema::ALL.into_iter().map(NamedSchema::as_str).chain([INFORMATION_SCHEMA]);
    Some((known.find(|known| schema.value.eq_ignore_ascii_case(known))?, *name))
}

/// Returns the index of the named query that a table name refers to; `None` for a table of another schema.
///
/// # Errors
/// If the schema has no named query of that name, with the nearest names.
pub(crate) fn find(named: &[NamedQuery], written: &ObjectName) -> Result<Option<usize>, Failure> {
    let parts = idents(written);
    let Some((schema, name)) = split(&parts).filter(|_| parts.len() == 2 && !named.is_empty()) else {
        return Ok(None);
    };
    let Some(schema) = NamedSchema::ALL.into_iter().find(|known| known.as_str() == schema) else { return Ok(None) };
    let of_schema = || named.iter().enumerate().filter(|(_, query)| query.schema == schema);
    let wanted = plain_name(&name.value);
    let exact = of_schema().find(|(_, query)| query.name == name.value);
    if let Some((at, _)) = exact.or_else(|| of_schema().find(|(_, query)| plain_name(&query.name) == wanted)) {
        return Ok(Some(at));
    }
    let all: Vec<String> = of_schema().map(|(_, query)| query.id()).collect();
    let id = format!("{}.{wanted}", schema.as_str());
    let failure = Failure::new(FailureCode::UnknownTable, format!("unknown table `{written}`"));
    let otherwise = match all.is_empty() {
        true => format!("the catalog has no {schema}"),
        false => LIST_TABLES.to_owned(),
    };
    Err(failure.suggest_nearest(&id, all.iter().map(String::as_str), &otherwise))
}

/// Returns the name of the subset for a named query whose rows are read first.
pub(crate) fn write_read_first(written: &ObjectName) -> Option<String> {
    let parts = idents(written);
    split(&parts).map(|_| parts.iter().map(|part| part.value.to_lowercase()).collect::<Vec<_>>().join("."))
}

/// A table in FROM.
struct TableInFrom {
    name: ObjectName,
    has_alias: bool,
}

/// Collects the parts of a statement that name tables.
#[derive(Default)]
struct Mentions {
    tables: Vec<TableInFrom>,
    /// The first two parts, schema and table, of qualified column names and wildcards.
    columns: Vec<[Ident; 2]>,
}

impl Mentions {
    fn of(query: &Query) -> Self {
        let mut mentions = Mentions::default();
        let _ = query.visit(&mut mentions);
        mentions
    }
}

impl Visitor for Mentions {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias, args: None, .. } = factor {
            self.tables.push(TableInFrom { name: name.clone(), has_alias: alias.is_some() });
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        for item in &select.projection {
            if let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) = item
                && let [schema, table] = idents(name).as_slice()
            {
                self.columns.push([(*schema).clone(), (*table).clone()]);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expression
            && let [schema, table, _, ..] = parts.as_slice()
        {
            self.columns.push([schema.clone(), table.clone()]);
        }
        ControlFlow::Continue(())
    }
}

/// Edits of a text, by its tokens.
struct Edits<'a> {
    sql: &'a str,
    positions: Positions<'a>,
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Edits<'a> {
    fn new(sql: &'a str) -> Self {
        Edits { sql, positions: Positions::new(sql), edits: Vec::new() }
    }

    fn range(&self, span: Span) -> Range<usize> {
        let (start, end) = self.positions.range(span);
        start..end.max(start)
    }

    fn start(&self, at: Location) -> usize {
        self.range(Span::new(at, at)).start
    }

    /// Returns the last part of a name, as it is written.
    fn last_part(&self, name: &ObjectName) -> &'a str {
        last_part(name).map_or("", |last| self.sql.get(self.range(last.span)).unwrap_or_default())
    }

    fn apply(mut self) -> String {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let (mut text, mut at) = (String::with_capacity(self.sql.len()), 0);
        for (range, new) in self.edits {
            text.push_str(self.sql.get(at..range.start).unwrap_or_default());
            text.push_str(&new);
            at = range.end.max(at);
        }
        text.push_str(self.sql.get(at..).unwrap_or_default());
        text
    }
}

/// Inlines named queries: `texts` returns the replacement of a table as it is written, and `None` for a table that remains. A
/// derived table has the name of the table as its alias, unless the statement defines another.
pub(crate) fn insert(sql: &str, query: &Query, texts: &dyn Fn(&ObjectName) -> Option<String>) -> String {
    let mentions = Mentions::of(query);
    let mut edits = Edits::new(sql);
    let mut read: Vec<(&str, String)> = Vec::new();
    for TableInFrom { name, has_alias } in &mentions.tables {
        let Some(text) = texts(name) else { continue };
        let alias = if *has_alias { String::new() } else { format!(" AS {}", edits.last_part(name)) };
        edits.edits.push((edits.range(name.span()), text + &alias));
        read.extend(split(&idents(name)).map(|(schema, name)| (schema, plain_name(&name.value))));
    }
    for [schema, table] in &mentions.columns {
        let is_read =
            split(&[schema, table]).is_some_and(|(schema, name)| read.contains(&(schema, plain_name(&name.value))));
        if is_read {
            let (from, until) = (edits.start(schema.span.start), edits.start(table.span.start));
            edits.edits.push((from..until.max(from), String::new()));
        }
    }
    edits.apply()
}

/// Returns the statement as a derived table, with every table qualified by its database, so that it is independent of its
/// context. `databases` returns the database of an unqualified table.
pub(crate) fn derive_table(
    dialect: Dialect,
    sql: &str,
    query: &Query,
    databases: &dyn Fn(&ObjectName) -> Option<String>,
) -> String {
    let mut edits = Edits::new(&sql[..end_of_query(dialect, sql)]);
    for TableInFrom { name, has_alias } in Mentions::of(query).tables {
        let Some(database) = databases(&name) else { continue };
        let range = edits.range(name.span());
        edits.edits.push((range.start..range.start, format!("{}.", dialect.quote(&database))));
        if !has_alias {
            edits.edits.push((range.end..range.end, format!(" AS {}", edits.last_part(&name))));
        }
    }
    format!("(\n{}\n)", edits.apply())
}

/// Returns the end of a query, without the semicolon and the comments after it.
fn end_of_query(dialect: Dialect, sql: &str) -> usize {
    let tokens = Tokenizer::new(dialect.grammar(), sql).tokenize_with_location().unwrap_or_default();
    let is_behind = |token: &Token| matches!(token, Token::Whitespace(_) | Token::SemiColon | Token::EOF);
    let last = tokens.iter().rfind(|token| !is_behind(&token.token));
    last.map_or(sql.len(), |last| Positions::new(sql).range(last.span).1)
}
