//! A query written anew from its syntax tree: what a source is sent is what was judged, and nothing else.
//!
//! The text that somebody wrote may mean one thing to our parser and another to the database: where a comment begins,
//! how a string ends, which names are the same. So that text is never sent. The tree that was parsed is spelled again, in
//! a form that leaves nothing to opinion: every name in the quotes of the dialect, every string as the dialect writes
//! strings whatever its settings, every function and type from a list of known ones, blanks around every operator. Whatever
//! of the tree has no spelling here is refused: the list of what is allowed is the code of this module.
//!
//! Parentheses stay where they were and none are added, so that the source reads operators in its own order.

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

/// Expressions, queries and joins inside one another.
const MAX_DEPTH: usize = 150;

/// Tables that a query reads, where each `WITH` counts as often as it is named.
const MAX_READS: u64 = 500;

/// What to write in the place of TOP.
pub(crate) const TOP: &str = "use LIMIT 5 at the end of the query in the place of TOP 5";

/// A query in parts: what is fixed, and the names that depend on where its tables are.
#[derive(Debug, Clone, Default)]
pub(crate) struct RewrittenQuery {
    pub(crate) pieces: Vec<Piece>,
    /// The tables that it names, one for each [`Piece::Table`], without those that it makes itself.
    pub(crate) reads: Vec<ObjectName>,
}

/// A part of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    /// The table of that number in [`RewrittenQuery::reads`].
    Table {
        at: usize,
        /// What the query calls it, in quotes already.
        alias: Option<String>,
    },
    /// A column, or all columns (`*`), of three parts and more: the first may be a database.
    Column(Vec<Ident>),
}

/// Why a query is refused; boxed, since it is passed up through many calls.
pub(crate) type WriteResult = Result<(), Box<Failure>>;

/// Spells one query.
pub(crate) struct Writer<'a> {
    dialect: Dialect,
    /// Functions that the catalog allows beyond the usual ones, as they are to be written.
    functions: &'a [String],
    /// The text that was parsed and its tokens: what a column is called that has no name of its own.
    source: Source<'a>,
    text: String,
    done: RewrittenQuery,
    /// What each query around the current one sees from `WITH`.
    scopes: Vec<Vec<CommonTable>>,
    /// How many were written; each gets a name of its own.
    common_tables: usize,
    /// As they are named in the statement.
    written_names: BTreeSet<String>,
    depth: usize,
    /// Tables read by the query that is being written.
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
    /// As the dialect compares names.
    name: String,
    /// What it is called in the text that is written: no table of the source has that name.
    written: String,
    /// Tables that it reads; one while it is being written itself.
    cost: u64,
}

/// Spells the query, or says what of it is not allowed.
///
/// # Errors
/// [`Failure`] with the code `refused`, `unknown_function` or `too_large`.
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

/// A refusal, with the place in the text where it is known.
fn no(message: impl Into<String>, span: Span, advice: &str) -> WriteResult {
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

    /// Closes the run of plain text, so that another kind of piece can follow.
    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.done.pieces.push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn piece(&mut self, piece: Piece) {
        self.end_text();
        self.done.pieces.push(piece);
    }

    /// Items with a comma between them.
    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T) -> WriteResult) -> WriteResult {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            write(self, item)?;
        }
        Ok(())
    }

    /// Runs `write` one level deeper.
    fn deeper(&mut self, write: impl FnOnce(&mut Self) -> WriteResult) -> WriteResult {
        if self.depth >= MAX_DEPTH {
            return no(
                format!("the statement is nested more than {MAX_DEPTH} deep"),
                Span::empty(),
                "put parts of it into WITH",
            );
        }
        self.depth += 1;
        write(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// A form that no dialect of ours writes.
    fn refuse_form(&self, what: &str, node: &impl Spanned) -> WriteResult {
        self.unsupported_at(what, node.span())
    }

    fn unsupported_at(&self, what: &str, span: Span) -> WriteResult {
        let advice = format!(
            "write it in another form of {}'s SQL, such as a join, a CASE or a function",
            self.dialect.as_str()
        );
        no(format!("{what} is not taken in {}", self.dialect.as_str()), span, &advice)
    }
}
