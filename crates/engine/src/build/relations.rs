//! The tables that a query is written over: those of one database in its own SQL, or tables of several and what was loaded.

use std::borrow::Cow;

use prospector_connect::table::Table;

use crate::source::Source;
use crate::{Dialect, native};

/// Tables, and how their names are written.
pub(crate) struct Relations<'a> {
    pub(crate) tables: Cow<'a, [Table]>,
    pub(crate) dialect: Dialect,
    /// Of several databases: the database (or the word for what was loaded) and the table, for each.
    pub(crate) owners: Option<Vec<(String, String)>>,
}

impl<'a> Relations<'a> {
    /// The tables of one source, as it names them.
    pub(crate) fn of(source: &'a Source) -> Self {
        Relations { tables: Cow::Borrowed(&source.tables), dialect: source.dialect(), owners: None }
    }

    /// The name of a table in the text of a query.
    pub(crate) fn write(&self, at: usize) -> String {
        match &self.owners {
            Some(owners) => {
                let (owner, table) = &owners[at];
                format!("{}.{}", native::quote(self.dialect, owner), native::quote(self.dialect, table))
            }
            None => native::write_table(self.dialect, &self.tables[at].name),
        }
    }
}
