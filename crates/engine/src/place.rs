//! The table that is meant where a request names it in part, or not at all.

use prospector_connect::table::Table;

use crate::source::Source;
use crate::{Engine, Failure, FailureCode};

/// So many tables are named where several could be meant.
const MAX_NAMED: usize = 8;

impl Engine {
    /// The only table for which `is_meant` says so, of this database and of this name, where they are not empty.
    ///
    /// # Errors
    /// The tables that could be meant, where that is not one.
    pub(crate) fn only_table(
        &self,
        database: &str,
        table: &str,
        is_meant: &dyn Fn(&Source, &Table) -> bool,
    ) -> Result<(String, String), Failure> {
        if !database.is_empty() && !table.is_empty() {
            return Ok((database.to_owned(), table.to_owned()));
        }
        let sources = self.sources.iter().filter(|one| database.is_empty() || one.name.eq_ignore_ascii_case(database));
        let tables = sources.flat_map(|source| source.tables.iter().map(move |one| (source, one)));
        let mut found = tables.filter(|(source, one)| {
            (table.is_empty() || one.name.eq_ignore_ascii_case(table)) && is_meant(source, one)
        });
        let first = found.next();
        let others: Vec<String> =
            first.iter().copied().chain(found.take(MAX_NAMED)).map(|(s, t)| format!("{}.{}", s.name, t.name)).collect();
        match (first, others.len()) {
            (Some((source, table)), 1) => Ok((source.name.clone(), table.name.clone())),
            (None, _) => Err(Failure::new(FailureCode::InvalidArguments, "`database` and `table` are missing")
                .advise("name both; list_sources lists the databases")),
            (Some(_), _) => {
                let message = "`database` and `table` are missing, and several tables could be meant";
                Err(Failure::new(FailureCode::InvalidArguments, message)
                    .advise(format!("name one: {}", others.join(", "))))
            }
        }
    }
}
