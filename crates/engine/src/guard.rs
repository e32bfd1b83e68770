//! The first of three locks: a statement is taken apart, and must be plainly one query.
//!
//! What cannot be parsed is refused, not passed on. Comments and the closing semicolon are cut out of what is sent, so that
//! nothing hides in what two parsers read differently.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Ident, ObjectName, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    Spanned, Statement, TableFactor, Visit, Visitor,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Whitespace};

use crate::functions::is_refused;
use crate::typo::misspelled;
use crate::{Dialect, Failure};

/// A longer text is no query that somebody wrote.
const LONGEST: usize = 20_000;

/// The same for its words, numbers and signs.
const MOST_TOKENS: usize = 4_000;

/// Each of them can nest what it connects in what is connected already.
const MOST_OPERATORS: usize = 500;

/// A statement that is one query.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub(crate) query: Box<Query>,
    /// The tables that it names, without those that it makes itself.
    pub(crate) reads: Vec<ObjectName>,
    /// Columns of three parts and more: the first may be a database.
    pub(crate) qualified: Vec<Vec<Ident>>,
    /// What is left out of the text, by its place in bytes.
    pub(crate) cuts: Vec<(usize, usize)>,
}

/// Refuses what is not plainly one query that only reads.
///
/// # Errors
/// [`Failure`] with the code `refused` or `syntax`: what, where, and what to do instead.
pub fn check(dialect: Dialect, sql: &str) -> Result<(), Failure> {
    examine(dialect, sql).map(drop)
}

pub(crate) fn examine(dialect: Dialect, sql: &str) -> Result<Checked, Failure> {
    if sql.len() > LONGEST {
        let message = format!("the statement has {} characters, and {LONGEST} are allowed", sql.len());
        return Err(refused(message).advise("ask for less at once"));
    }
    if sql.contains('\0') {
        return Err(refused("there is a zero byte in the statement").advise("leave it out"));
    }
    if sql.contains("/*!") || sql.to_ascii_uppercase().contains("/*M!") {
        let message = "a comment of the form `/*! ... */` is run by MySQL";
        return Err(refused(message).advise("leave the comment out"));
    }
    if dialect == Dialect::Postgres && sql.to_ascii_uppercase().contains("U&\"") {
        let message = "a name of the form `U&\"...\"` may be any other";
        return Err(refused(message).advise("write the name as it is"));
    }
    let mut tokens = Tokenizer::new(dialect.grammar(), sql)
        // What is sent to a source stays as it is written.
        .with_unescape(dialect == Dialect::Joined)
        .tokenize_with_location()
        .map_err(|error| {
            Failure::new("syntax", format!("{}: {error}", dialect.as_str())).advise("close what is open")
        })?;
    if tokens.len() > MOST_TOKENS {
        let message = format!("the statement has {} words and signs, and {MOST_TOKENS} are allowed", tokens.len());
        return Err(refused(message).advise("ask for less at once"));
    }
    if tokens.iter().filter(|token| is_operator(&token.token)).count() > MOST_OPERATORS {
        let message = format!("the statement has more than {MOST_OPERATORS} operators");
        return Err(refused(message).advise("ask for less at once; write long lists with IN (...)"));
    }
    let places = Places::new(sql);
    let mut cuts = Vec::new();
    for token in &mut tokens {
        match &mut token.token {
            Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_))
            | Token::SemiColon => {
                cuts.push(places.range(token.span));
            }
            // Names of the engine's own dialect match whatever their case.
            Token::Word(word) if dialect == Dialect::Joined => word.value = word.value.to_lowercase(),
            _ => {}
        }
    }
    let written = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).count();
    if written == 0 {
        return Err(Failure::new("syntax", "the statement is empty").advise("write one SELECT"));
    }
    let words = tokens.clone();
    let statements = Parser::new(dialect.grammar())
        .with_tokens_with_locations(tokens)
        .parse_statements()
        .map_err(|error| unparsed(dialect, &error.to_string(), &words))?;
    let mut statements = statements.into_iter();
    let (Some(statement), rest) = (statements.next(), statements.count()) else {
        return Err(Failure::new("syntax", "the statement is empty").advise("write one SELECT"));
    };
    if rest > 0 {
        let message = format!("there are {} statements, and one is allowed", rest + 1);
        return Err(refused(message).advise("send each as a query of its own"));
    }
    let Statement::Query(query) = statement else {
        return Err(not_a_query(&start(&words)));
    };
    let mut judge = Judge { dialect, start: start(&words), ..Judge::default() };
    if let ControlFlow::Break(failure) = query.visit(&mut judge) {
        return Err(*failure);
    }
    Ok(Checked { query, reads: judge.reads, qualified: judge.qualified, cuts })
}

pub(crate) fn refused(message: impl Into<String>) -> Failure {
    Failure::new("refused", message)
}

fn not_a_query(start: &str) -> Failure {
    refused(format!("`{start}` is not a query: only SELECT is run"))
        .advise("write one SELECT; nothing can be changed here")
}

/// The first words of a statement.
fn start(tokens: &[TokenWithSpan]) -> String {
    let words = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).take(2);
    let text = words.map(|token| token.token.to_string()).collect::<Vec<_>>().join(" ");
    text.chars().take(40).collect()
}

/// Whether it connects what stands before it with what stands after it.
fn is_operator(token: &Token) -> bool {
    match token {
        Token::Word(word) => matches!(
            word.keyword,
            Keyword::AND
                | Keyword::OR
                | Keyword::XOR
                | Keyword::DIV
                | Keyword::UNION
                | Keyword::EXCEPT
                | Keyword::INTERSECT
                | Keyword::MINUS
                | Keyword::IS
                | Keyword::IN
                | Keyword::LIKE
                | Keyword::ILIKE
                | Keyword::BETWEEN
                | Keyword::COLLATE
                | Keyword::AT
                | Keyword::NOT
        ),
        Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::Comma
        | Token::Period
        | Token::LParen
        | Token::RParen
        | Token::SemiColon
        | Token::Whitespace(_)
        | Token::EOF => false,
        _ => true,
    }
}

fn unparsed(dialect: Dialect, error: &str, tokens: &[TokenWithSpan]) -> Failure {
    let error = error.trim_start_matches("sql parser error: ");
    let failure = Failure::new("syntax", format!("this is not a query in {}: {error}", dialect.as_str()));
    match misspelled(tokens) {
        Some((wrong, right, line)) => {
            failure.advise(format!("did you mean `{right}` instead of `{wrong}` in line {line}?"))
        }
        None => failure.advise("write one SELECT in the SQL of the source"),
    }
}

/// From lines and columns to bytes.
pub(crate) struct Places<'a> {
    sql: &'a str,
    lines: Vec<usize>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(sql: &'a str) -> Self {
        let lines = std::iter::once(0).chain(sql.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Places { sql, lines }
    }

    fn byte(&self, at: Location) -> usize {
        let line = usize::try_from(at.line).unwrap_or(1).saturating_sub(1);
        let column = usize::try_from(at.column).unwrap_or(1).saturating_sub(1);
        let Some(start) = self.lines.get(line) else { return self.sql.len() };
        self.sql[*start..].char_indices().nth(column).map_or(self.sql.len(), |(at, _)| start + at)
    }

    /// The first byte, and the one after the last.
    pub(crate) fn range(&self, span: Span) -> (usize, usize) {
        (self.byte(span.start), self.byte(span.end))
    }
}

/// Looks at every part of a query.
#[derive(Default)]
struct Judge {
    dialect: Dialect,
    /// The first words.
    start: String,
    reads: Vec<ObjectName>,
    qualified: Vec<Vec<Ident>>,
    /// The names that each query around the current one sees from `WITH`.
    seen: Vec<Vec<String>>,
    /// What the bodies of `WITH` see, by the address of the body: only what comes before them.
    bodies: HashMap<usize, Vec<String>>,
}

type Verdict = ControlFlow<Box<Failure>>;

fn no(message: impl Into<String>, span: Span, advice: &str) -> Verdict {
    let place = match span.start.line {
        0 => String::new(),
        line => format!(" in line {line}, column {}", span.start.column),
    };
    ControlFlow::Break(Box::new(refused(format!("{}{place}", message.into())).advise(advice)))
}

impl Judge {
    fn folded(&self, name: &Ident) -> String {
        self.dialect.folded(&name.value, name.quote_style.is_some())
    }

    fn function(&self, name: &ObjectName) -> Verdict {
        let parts: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
        let Some(last) = parts.last().filter(|_| parts.len() == name.0.len()) else {
            return no(format!("`{name}` is not a plain function"), name.span(), "call a function by its name");
        };
        let lower = last.value.to_lowercase();
        let own_schema = parts.len() == 2 && parts[0].value.eq_ignore_ascii_case("pg_catalog");
        if parts.len() > 1 && !own_schema {
            return no(format!("`{name}` is a function of another schema"), name.span(), "use functions that compute");
        }
        if is_refused(self.dialect, &lower) {
            return no(
                format!("the function `{lower}` does more than compute"),
                name.span(),
                "leave it out; a query reads tables and computes",
            );
        }
        ControlFlow::Continue(())
    }

    fn body(&self, body: &SetExpr) -> Verdict {
        let span = Span::empty();
        match body {
            SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) => ControlFlow::Continue(()),
            SetExpr::SetOperation { left, right, .. } => {
                // As many as there are tokens at most; walked on the left, where chains grow.
                let (mut left, right) = (left, right);
                self.body(right)?;
                while let SetExpr::SetOperation { left: next, right, .. } = left.as_ref() {
                    self.body(right)?;
                    left = next;
                }
                self.body(left)
            }
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => no(
                "a statement that changes data is inside the query",
                span,
                "write one SELECT; nothing can be changed here",
            ),
            SetExpr::Table(_) => no("`TABLE name` is not taken", span, "write SELECT * FROM name"),
        }
    }
}

impl Visitor for Judge {
    type Break = Box<Failure>;

    fn pre_visit_statement(&mut self, _: &Statement) -> Verdict {
        ControlFlow::Break(Box::new(not_a_query(&self.start)))
    }

    fn pre_visit_query(&mut self, query: &Query) -> Verdict {
        // The place of a whole query would take as long to find as the query is deep.
        let span = Span::empty();
        self.body(&query.body)?;
        if !query.locks.is_empty() {
            return no("the query locks rows (FOR UPDATE or FOR SHARE)", span, "leave the lock out");
        }
        if query.for_clause.is_some()
            || query.settings.is_some()
            || query.format_clause.is_some()
            || !query.pipe_operators.is_empty()
        {
            return no("FOR XML, SETTINGS, FORMAT and pipes are not taken", span, "write a plain SELECT");
        }
        let address = std::ptr::from_ref(query) as usize;
        let around = self.bodies.remove(&address);
        let mut names = around.or_else(|| self.seen.last().cloned()).unwrap_or_default();
        for (with, cte) in query.with.iter().flat_map(|with| with.cte_tables.iter().map(move |cte| (with, cte))) {
            let name = self.folded(&cte.alias.name);
            let mut inside = names.clone();
            if with.recursive {
                inside.push(name.clone());
            }
            self.bodies.insert(std::ptr::from_ref(cte.query.as_ref()) as usize, inside);
            names.push(name);
        }
        self.seen.push(names);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> Verdict {
        self.seen.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> Verdict {
        if select.into.is_some() {
            return no("the query writes its answer somewhere (INTO)", select.select_token.0.span, "leave INTO out");
        }
        if !select.lateral_views.is_empty() || !select.optimizer_hints.is_empty() || !select.connect_by.is_empty() {
            return no(
                "LATERAL VIEW, CONNECT BY and hints are not taken",
                select.select_token.0.span,
                "write a plain SELECT",
            );
        }
        for item in &select.projection {
            if let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) = item {
                let mut parts: Vec<Ident> = name.0.iter().filter_map(|part| part.as_ident().cloned()).collect();
                parts.push(Ident::new("*"));
                self.qualified.push(parts);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Verdict {
        match factor {
            TableFactor::Table { name, args: None, .. } => {
                let parts: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
                if parts.len() != name.0.len() || parts.is_empty() {
                    return no(format!("`{name}` is not a plain table"), name.span(), "name a table");
                }
                let own =
                    parts.len() == 1 && self.seen.last().is_some_and(|names| names.contains(&self.folded(parts[0])));
                if !own {
                    self.reads.push(name.clone());
                }
                ControlFlow::Continue(())
            }
            // There they take whole tables, which are named nowhere else.
            TableFactor::Table { name, .. } | TableFactor::Function { name, .. }
                if self.dialect == Dialect::Bigquery =>
            {
                no(format!("`{name}` is a function in place of a table"), name.span(), "name a table, or use UNNEST")
            }
            TableFactor::Table { name, .. } | TableFactor::Function { name, .. } => self.function(name),
            TableFactor::Derived { .. }
            | TableFactor::TableFunction { .. }
            | TableFactor::UNNEST { .. }
            | TableFactor::JsonTable { .. }
            | TableFactor::NestedJoin { .. } => ControlFlow::Continue(()),
            _ => no("this form of table is not taken", Span::empty(), "name a table, or write a subquery"),
        }
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> Verdict {
        match expression {
            Expr::Function(function) => self.function(&function.name),
            Expr::BinaryOp { op: BinaryOperator::Assignment, .. } => {
                no("the query sets a variable", Span::empty(), "leave the variable out")
            }
            Expr::Identifier(name) if name.quote_style.is_none() && name.value.starts_with('@') => no(
                format!("`{}` is a variable of the server", name.value),
                name.span,
                "a query reads tables and computes",
            ),
            Expr::CompoundIdentifier(parts) => {
                if parts.iter().any(|part| part.quote_style.is_none() && part.value.starts_with('@')) {
                    return no("the query reads a variable of the server", parts[0].span, "leave it out");
                }
                if parts.len() > 2 {
                    self.qualified.push(parts.clone());
                }
                ControlFlow::Continue(())
            }
            Expr::QualifiedWildcard(name, _) => {
                let mut parts: Vec<Ident> = name.0.iter().filter_map(|part| part.as_ident().cloned()).collect();
                parts.push(Ident::new("*"));
                self.qualified.push(parts);
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
