//! Doubts about an answer: what in a query matches nothing, counts rows twice or compares what cannot be compared, as far as
//! a few small queries can tell.
//!
//! A query that runs is not yet right: a filter on a value that is written otherwise, a join whose keys differ by a blank or
//! a sum over rows that a join repeats gives an answer that looks like any other. What is suspected is tested against the rows
//! with queries of this module's own, which pass the same guard as the caller's. They are bounded in number, rows and time, and
//! whatever goes wrong with one of them means no more than that nothing is said. Sources that charge for what a query reads are
//! not asked.

mod alike;
mod dates;
mod filters;
mod joins;
mod numbers;
mod probe;
mod repeats;
mod result;
mod select;

use prospector_connect::rows::Rows;

use crate::{Dialect, Engine};
use probe::Probe;
use select::Part;

/// So many doubts are told of one query.
const MAX_DOUBTS: usize = 5;

/// The longest text of a doubt, in characters.
const MAX_DOUBT_CHARS: usize = 300;

/// What is looked into.
struct Case<'a> {
    probe: Probe<'a>,
    parts: &'a [Part<'a>],
    dialect: Dialect,
    /// Whether the answer is empty, or holds nothing but zeros or nulls in a column, or is not known yet.
    is_empty: bool,
    /// Whether the answer has more rows than are shown, or is not known yet.
    is_long: bool,
    found: Vec<String>,
}

impl Case<'_> {
    /// Keeps a doubt, unless it was told already.
    fn tell(&mut self, doubt: Option<String>) {
        let Some(doubt) = doubt else { return };
        let doubt = prospector_core::mark::clean(&doubt, MAX_DOUBT_CHARS);
        if self.found.len() < MAX_DOUBTS && !self.found.contains(&doubt) {
            self.found.push(doubt);
        }
    }
}

impl Engine {
    /// What makes the answer to a query doubtful, a sentence each, at most five; nothing where the query cannot be planned.
    /// Without rows, whatever could come out wrong is tested.
    pub(crate) async fn find_doubts(&self, sql: &str, database: Option<&str>, rows: Option<&Rows>) -> Vec<String> {
        let Ok(plan) = self.plan(sql, database).await else { return Vec::new() };
        let dialect = plan.dialect();
        if dialect == Dialect::Bigquery {
            return Vec::new();
        }
        let parts = select::parts(&plan);
        let mut case = Case {
            probe: Probe::new(self, database),
            parts: &parts,
            dialect,
            is_empty: rows.is_none_or(result::is_empty),
            is_long: rows.is_none_or(|rows| rows.has_more || rows.rows.len() > 1),
            found: Vec::new(),
        };
        filters::examine(&mut case).await;
        dates::examine(&mut case).await;
        joins::examine(&mut case).await;
        repeats::examine(&mut case).await;
        numbers::examine(&mut case).await;
        if let Some(rows) = rows {
            result::examine(&mut case, rows);
        }
        case.found
    }
}
