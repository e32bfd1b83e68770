//! The table of a request that omits its database or name.

use prospector_connect::table::Table;

use crate::source::Source;
use crate::{Engine, Failure, FailureCode};

/// The maximum number of candidate tables in a message.
const MAX_NAMED: usize = 8;

impl Engine {
    /// Returns the only table that satisfies `is_meant`, of this database and name unless they are empty.
    ///
    /// # Errors
    /// If there is no such table, or several; the candidates are listed.
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
                .advise("specify both; list_sources lists the databases")),
            (Some(_), _) => {
                let message = "`database` and `table` are missing, and several tables match";
                Err(Failure::new(FailureCode::InvalidArguments, message)
                    .advise(format!("specify one: {}", others.join(", "))))
            }
        }
    }
}
