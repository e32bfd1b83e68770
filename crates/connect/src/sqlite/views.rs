//! Rejects databases whose views SQLite would expand to very many reads. It expands each reference to a view or a `WITH`
//! while it compiles a statement, which cannot be interrupted, and listing the tables compiles all views. The reads are
//! therefore counted from the texts of the views.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{ObjectName, Query, Visit, Visitor};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::failure::{OpenError, SessionFailure};
use super::session::Session;
use super::value::text;
use crate::cause::Cause;
use crate::sql::{Dialect, parse_tokens};

/// Maximum number of tables that a view reads, counting each view and each `WITH` once per reference.
const MAX_READS: u64 = 1_000;

/// Maximum number of tables that all views read.
const MAX_READS_OF_ALL: u64 = 20_000;

/// Maximum length of the texts of all views in bytes.
const MAX_TEXT: usize = 4 << 20;

/// Checks the views of a database without compiling any of them.
///
/// # Errors
/// [`SessionFailure::Refused`] with the name of a view that exceeds the limits.
pub(super) fn check(session: &Session) -> Result<(), SessionFailure> {
    let sql = "SELECT name, sql FROM main.sqlite_schema WHERE type = 'view' ORDER BY rowid";
    let views = session.ask(sql, (), |row| (text(row, 0), text(row, 1))).map_err(OpenError::from)?;
    find_excess(&views).map_or(Ok(()), |reason| Err(SessionFailure::Refused(Cause::TooLarge, reason)))
}

/// Returns which limit the views exceed, given their names and texts.
fn find_excess(views: &[(String, String)]) -> Option<String> {
    if views.iter().map(|(_, sql)| sql.len()).sum::<usize>() > MAX_TEXT {
        return Some(format!("the texts of its views are longer than {} MB together", MAX_TEXT >> 20));
    }
    let mut references = References::default();
    for (name, sql) in views {
        let node = references.add();
        references.views.insert(name.to_ascii_lowercase(), node);
        references.collect(node, sql);
    }
    let mut costs = vec![Cost::Unknown; references.nodes.len()];
    let mut all = 0_u64;
    for (name, _) in views {
        let Some(node) = references.views.get(&name.to_ascii_lowercase()) else { continue };
        let reads = references.cost(*node, &mut costs, 0);
        all = all.saturating_add(reads);
        let (what, most) = match reads > MAX_READS {
            true => (format!("the view `{name}` reads"), MAX_READS),
            false if all > MAX_READS_OF_ALL => (format!("the views up to `{name}` read"), MAX_READS_OF_ALL),
            false => continue,
        };
        return Some(format!(
            "{what} more than {most} tables, counting each view and WITH once per reference; use a copy of the file without it"
        ));
    }
    None
}

/// What a view or a `WITH` reads.
enum Read {
    /// A `WITH`.
    Node(usize),
    /// A view, or a table.
    Named(String),
    /// A view, if there is one of that name.
    Perhaps(String),
}

/// The number of tables that a view or `WITH` reads.
#[derive(Clone, Copy)]
enum Cost {
    Unknown,
    /// It is being computed.
    Pending,
    Known(u64),
}

/// The references between views, and between the parts of each `WITH`.
#[derive(Default)]
struct References {
    /// What each view and `WITH` reads, and how often.
    nodes: Vec<Vec<(Read, u64)>>,
    /// The views, by their names in lower case; SQLite folds ASCII letters only.
    views: HashMap<String, usize>,
    /// Whether the references of a view are estimated.
    is_estimated: bool,
}

impl References {
    fn add(&mut self) -> usize {
        self.nodes.push(Vec::new());
        self.nodes.len() - 1
    }

    /// Adds what a view reads.
    fn collect(&mut self, view: usize, sql: &str) {
        let grammar = Dialect::Sqlite.grammar();
        let Ok(tokens) = Tokenizer::new(grammar, sql).tokenize_with_location() else {
            // SQLite has parsed it, so that anything may be in it.
            self.nodes[view].push((Read::Named(String::new()), u64::MAX));
            return;
        };
        match parse_tokens(grammar, tokens.clone()) {
            Ok(statements) => {
                let mut collector = Collector { references: self, view, open: Vec::new(), definitions: HashMap::new() };
                let _ = statements.visit(&mut collector);
            }
            Err(_) => {
                self.is_estimated = true;
                let is_other =
                    |read: &Read| !matches!(read, Read::Perhaps(name) if self.views.get(name) == Some(&view));
                let reads = estimate(&tokens).into_iter().filter(|(read, _)| is_other(read)).collect();
                self.nodes[view] = reads;
            }
        }
    }

    /// Returns the number of tables that a view or `WITH` reads; at least one.
    fn cost(&self, node: usize, costs: &mut [Cost], depth: u64) -> u64 {
        if let Cost::Known(known) = costs[node] {
            return known;
        }
        if depth > MAX_READS {
            return u64::MAX;
        }
        costs[node] = Cost::Pending;
        let mut reads = 1_u64;
        for (read, times) in &self.nodes[node] {
            let (inner, otherwise) = match read {
                Read::Node(inner) => (Some(*inner), 1),
                Read::Named(name) => (self.views.get(name).copied(), 1),
                Read::Perhaps(name) => (self.views.get(name).copied(), 0),
            };
            let each = match (inner, read) {
                (None, _) => otherwise,
                (Some(inner), Read::Node(_)) if matches!(costs[inner], Cost::Pending) => 1,
                // SQLite rejects circular views, unless only the estimate makes them circular.
                (Some(inner), _) if matches!(costs[inner], Cost::Pending) => {
                    if self.is_estimated {
                        u64::MAX
                    } else {
                        1
                    }
                }
                (Some(inner), _) => self.cost(inner, costs, depth + 1),
            };
            reads = reads.saturating_add(each.saturating_mul(*times));
        }
        costs[node] = Cost::Known(reads);
        reads
    }
}

/// Collects what the queries of a view read.
struct Collector<'a> {
    references: &'a mut References,
    view: usize,
    /// The surrounding queries, innermost last: the view or `WITH` that each is part of, and the names that it defines.
    open: Vec<(usize, HashMap<String, usize>)>,
    /// The queries that define a name, by address.
    definitions: HashMap<*const Query, usize>,
}

impl Visitor for Collector<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let around = self.open.last().map_or(self.view, |(node, _)| *node);
        let node = self.definitions.get(&std::ptr::from_ref(query)).copied().unwrap_or(around);
        let mut names = HashMap::new();
        for defined in query.with.iter().flat_map(|with| &with.cte_tables) {
            let inner = self.references.add();
            self.definitions.insert(std::ptr::from_ref::<Query>(&defined.query), inner);
            names.insert(defined.alias.name.value.to_ascii_lowercase(), inner);
        }
        self.open.push((node, names));
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.open.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let parts: Vec<String> =
            relation.0.iter().filter_map(|part| part.as_ident()).map(|part| part.value.to_ascii_lowercase()).collect();
        if let (Some((node, _)), Some(name)) = (self.open.last(), parts.last()) {
            let defined = self.open.iter().rev().find_map(|(_, names)| names.get(name)).filter(|_| parts.len() == 1);
            let read = defined.map_or_else(|| Read::Named(name.clone()), |defined| Read::Node(*defined));
            self.references.nodes[*node].push((read, 1));
        }
        ControlFlow::Continue(())
    }
}

/// Returns an upper limit of what a view reads whose text is not parsed: every name may be a view, and each `WITH` may
/// read the others as often as they are named.
fn estimate(tokens: &[TokenWithSpan]) -> Vec<(Read, u64)> {
    let tokens: Vec<&Token> =
        tokens.iter().map(|token| &token.token).filter(|token| !matches!(token, Token::Whitespace(_))).collect();
    let mut named: HashMap<String, u64> = HashMap::new();
    for (at, token) in tokens.iter().enumerate() {
        if tokens.get(at + 1).is_some_and(|next| **next == Token::Period) {
            continue;
        }
        match token {
            Token::Word(word) => *named.entry(word.value.to_ascii_lowercase()).or_default() += 1,
            Token::SingleQuotedString(name) => *named.entry(name.to_ascii_lowercase()).or_default() += 1,
            _ => {}
        }
    }
    let mut times = 1_u64;
    for (at, token) in tokens.iter().enumerate() {
        let name = if is_word(token, Keyword::AS) { name_before(&tokens[..at]) } else { None };
        if let Some(name) = name.filter(|_| opens_query(&tokens[at + 1..])) {
            let references = named.get(&name).map_or(1, |count| count.saturating_sub(1));
            times = times.saturating_mul(references.max(1));
        }
    }
    let views = named.into_iter().map(|(name, count)| (Read::Perhaps(name), count.saturating_mul(times)));
    std::iter::once((Read::Named(String::new()), times)).chain(views).collect()
}

/// Returns the name at the end of `name` or `name (columns)`.
fn name_before(tokens: &[&Token]) -> Option<String> {
    let end = match tokens.last()? {
        Token::RParen => tokens.iter().rposition(|token| **token == Token::LParen)?,
        _ => tokens.len(),
    };
    match tokens.get(end.checked_sub(1)?)? {
        Token::Word(word) => Some(word.value.to_ascii_lowercase()),
        Token::SingleQuotedString(name) => Some(name.to_ascii_lowercase()),
        _ => None,
    }
}

/// Whether tokens start with `(`, `MATERIALIZED (` or `NOT MATERIALIZED (`.
fn opens_query(tokens: &[&Token]) -> bool {
    let is_hint = |token: &&&Token| is_word(token, Keyword::NOT) || is_word(token, Keyword::MATERIALIZED);
    tokens.iter().find(|token| !is_hint(token)).is_some_and(|token| **token == Token::LParen)
}

fn is_word(token: &Token, keyword: Keyword) -> bool {
    matches!(token, Token::Word(word) if word.keyword == keyword)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excess(views: &[&str]) -> Option<String> {
        let named = |sql: &&str| {
            let name = sql.split_whitespace().nth(2).unwrap_or_default();
            (name.to_owned(), (*sql).to_owned())
        };
        find_excess(&views.iter().map(named).collect::<Vec<_>>())
    }

    fn nested(count: usize, rest: &str) -> Vec<String> {
        let first = "CREATE VIEW w0 AS SELECT a.name FROM t a, t b".to_owned();
        let view = |n: usize| {
            let inner = n - 1;
            format!("CREATE VIEW w{n} AS SELECT a.name FROM w{inner} a JOIN main.W{inner} b {rest}")
        };
        std::iter::once(first).chain((1..count).map(view)).collect()
    }

    fn excess_of(views: &[String]) -> Option<String> {
        excess(&views.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn counts_views_once_per_reference() {
        assert_eq!(excess_of(&nested(7, "")), None);
        let refused = excess_of(&nested(16, "")).unwrap();
        assert!(refused.starts_with("the view `w8` reads more than 1000 tables"), "{refused}");
        // Not parsed by sqlparser.
        assert_eq!(excess_of(&nested(7, "INDEXED BY ( ")), None);
        assert!(excess_of(&nested(16, "INDEXED BY ( ")).is_some());
    }

    #[test]
    fn counts_with_once_per_reference() {
        let chain = |count: usize, rest: &str| {
            let part = |n: usize| format!("c{n} AS (SELECT x.a FROM c{0} x, c{0} y)", n + 1);
            let parts: Vec<String> = (0..count).map(part).collect();
            format!("CREATE VIEW v AS WITH {}, c{count} AS (SELECT a FROM t) SELECT * FROM c0 {rest}", parts.join(", "))
        };
        for rest in ["", "INDEXED BY ("] {
            assert_eq!(excess(&[&chain(5, rest)]), None, "{rest}");
            assert!(excess(&[&chain(16, rest)]).is_some(), "{rest}");
        }
    }

    #[test]
    fn estimates_do_not_hide_reads() {
        // Each view names the next one as an alias, which is no reference.
        let view = |n: usize| {
            let (inner, next) = (n - 1, n + 1);
            format!("CREATE VIEW w{n} AS SELECT a.name AS w{next} FROM w{inner} a, w{inner} b INDEXED BY (")
        };
        let first = "CREATE VIEW w0 AS SELECT name AS w1 FROM t INDEXED BY (".to_owned();
        let views: Vec<String> = std::iter::once(first).chain((1..16).map(view)).collect();
        assert!(excess_of(&views).is_some());
        // These are two views in SQLite.
        let mut views = nested(16, "");
        views.iter_mut().for_each(|view| *view = view.replace('w', "É").replace("main.W", "main.É"));
        views.extend((0..16).map(|n| format!("CREATE VIEW é{n} AS SELECT name FROM t")));
        assert!(excess_of(&views).is_some());
    }

    #[test]
    fn limits_all_views_together() {
        let mut views = nested(7, "");
        views.extend((0..1_000).map(|n| format!("CREATE VIEW v{n} AS SELECT * FROM w6")));
        assert!(excess_of(&views).unwrap().starts_with("the views up to `v"));
    }

    #[test]
    fn accepts_usual_and_circular_views() {
        let views = [
            "CREATE VIEW orders_by_day AS SELECT day, sum(total) AS total FROM orders GROUP BY day",
            "CREATE VIEW total AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT total, i FROM n, orders_by_day",
            "CREATE VIEW a AS SELECT * FROM b",
            "CREATE VIEW b AS SELECT * FROM a",
        ];
        assert_eq!(excess(&views), None);
        let chain: Vec<String> = (0..5_000).map(|n| format!("CREATE VIEW v{n} AS SELECT * FROM v{}", n + 1)).collect();
        assert!(excess_of(&chain).is_some());
    }
}
