//! Re-rendering of a query from its syntax tree: a source is sent only what was validated.
//!
//! The original text may mean one thing to this parser and another to the database: where a comment starts, how a string ends,
//! which names are equal. So that text is never sent. The parsed tree is rendered in an unambiguous form: every name quoted for
//! the dialect, every string in a form that is independent of settings, every function and type from an allow-list, spaces
//! around every operator. Syntax without a rendering is rejected: the code of this module is the allow-list.
//!
//! Parentheses are kept and none are added, so the source applies its own operator precedence.

mod call;
mod data_type;
mod expr;
mod labels;
mod literal;
mod name;
mod operator;
mod query;
mod table;

use std::collections::BTreeSet;

use sqlparser::ast::{Ident, ObjectName, Query, Spanned};
use sqlparser::tokenizer::{Span, TokenWithSpan};

pub(crate) use call::unit_argument;
pub(crate) use labels::labels;

use crate::{Dialect, Failure};

/// The maximum nesting depth of expressions, queries and joins.
const MAX_DEPTH: usize = 150;

/// The maximum number of tables that a query reads, where each `WITH` counts for every reference.
const MAX_READS: u64 = 500;

/// The suggestion for TOP.
pub(crate) const TOP: &str = "use LIMIT 5 at the end of the query instead of TOP 5";

/// A query in pieces: fixed text, and the names that depend on the location of its tables.
#[derive(Debug, Clone, Default)]
pub(crate) struct RewrittenQuery {
    pub(crate) pieces: Vec<Piece>,
    /// The tables that it names, one for each [`Piece::Table`], without those that it defines itself.
    pub(crate) reads: Vec<ObjectName>,
    /// The built-in functions that it calls without naming their schema, in lower case.
    pub(crate) functions: BTreeSet<String>,
}

/// A part of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    /// The table of that index in [`RewrittenQuery::reads`].
    Table {
        at: usize,
        /// The implicit alias in the query, quoted.
        alias: Option<String>,
    },
    /// A column, or a wildcard (`*`), of three or more parts: the first may be a database.
    Column(Vec<Ident>),
}

/// The result of rendering; the failure is boxed, since it is passed up through many calls.
pub(crate) type WriteResult = Result<(), Box<Failure>>;

/// Renders one query.
pub(crate) struct Writer<'a> {
    dialect: Dialect,
    /// Functions that the catalog allows in addition to the allow-list, as they are rendered.
    functions: &'a [String],
    /// The text that was parsed and its tokens, for the names of unnamed columns.
    source: Source<'a>,
    text: String,
    done: RewrittenQuery,
    /// The queries under `WITH` that each enclosing query sees.
    scopes: Vec<Vec<CommonTable>>,
    /// The number of rendered queries under `WITH`; each gets a unique name.
    common_tables: usize,
    /// Their names in the statement.
    written_names: BTreeSet<String>,
    depth: usize,
    /// The number of tables that the current query reads.
    cost: u64,
}

/// The text that was parsed.
pub(crate) struct Source<'a> {
    pub(crate) sql: &'a str,
    pub(crate) tokens: &'a [TokenWithSpan],
}

/// A query under `WITH`.
#[derive(Debug, Clone)]
struct CommonTable {
    /// The name, normalised as the dialect compares names.
    name: String,
    /// The name in the rendered text: no table of the source has it.
    written: String,
    /// The number of tables that it reads; 1 while it is being rendered itself.
    cost: u64,
}

/// Renders the query, or rejects it.
///
/// # Errors
/// A [`Failure`] with the code `refused`, `unknown_function` or `too_large`.
pub(crate) fn rewrite(
    dialect: Dialect,
    functions: &[String],
    source: Source<'_>,
    query: &Query,
) -> Result<RewrittenQuery, Failure> {
    let mut writer = Writer {
        dialect,
        functions,
        source,
        text: String::new(),
        done: RewrittenQuery::default(),
        scopes: Vec::new(),
        common_tables: 0,
        written_names: BTreeSet::new(),
        depth: 0,
        cost: 0,
    };
    writer.query(query).map_err(|failure| *failure)?;
    writer.end_text();
    Ok(writer.done)
}

/// Creates a rejection, with the position in the text if it is known.
fn reject(message: impl Into<String>, span: Span, advice: &str) -> WriteResult {
    let place = match span.start.line {
        0 => String::new(),
        line => format!(" in line {line}, column {}", span.start.column),
    };
    Err(Box::new(Failure::refuse(format!("{}{place}", message.into())).advise(advice)))
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Ends the current text piece, so that another kind of piece can follow.
    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.done.pieces.push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn piece(&mut self, piece: Piece) {
        self.end_text();
        self.done.pieces.push(piece);
    }

    /// Renders the last text of a form.
    fn end(&mut self, text: &str) -> WriteResult {
        self.push(text);
        Ok(())
    }

    /// Renders items separated by commas, between two texts.
    fn list<T>(
        &mut self,
        before: &str,
        items: &[T],
        after: &str,
        mut write: impl FnMut(&mut Self, &T) -> WriteResult,
    ) -> WriteResult {
        self.push(before);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            write(self, item)?;
        }
        self.end(after)
    }

    /// Runs `write` one level deeper.
    fn deeper(&mut self, write: impl FnOnce(&mut Self) -> WriteResult) -> WriteResult {
        if self.depth >= MAX_DEPTH {
            return reject(
                format!("the statement is nested more than {MAX_DEPTH} levels deep"),
                Span::empty(),
                "move parts of it into WITH",
            );
        }
        self.depth += 1;
        write(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// Rejects a form that is unsupported in every dialect.
    fn refuse_form(&self, what: &str, node: &impl Spanned) -> WriteResult {
        self.unsupported_at(what, node.span())
    }

    fn unsupported_at(&self, what: &str, span: Span) -> WriteResult {
        let advice =
            format!("use another form of {}'s SQL, such as a join, a CASE or a function", self.dialect.as_str());
        reject(format!("{what} is not supported in {}", self.dialect.as_str()), span, &advice)
    }
}
