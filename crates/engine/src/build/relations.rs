//! The tables that a query is written over: those of one database in its own SQL, or tables of several and what was loaded.

use std::borrow::Cow;

use prospector_connect::table::Table;
use prospector_connect::table::joins::Mention;

use crate::source::Source;
use crate::{Dialect, native};

/// Tables, and how their names are written.
pub(crate) struct Relations<'a> {
    pub(crate) tables: Cow<'a, [Table]>,
    pub(crate) dialect: Dialect,
    /// Of several databases: the database (or the word for what was loaded) and the table, for each.
    pub(crate) owners: Option<Vec<(String, String)>>,
    /// What is said of each table beside reading it; nothing of those behind the last.
    pub(crate) mentions: Vec<Mention>,
    /// Where whoever asks says which key is meant.
    pub(crate) choice: Choice,
}

/// Where a query says which of several keys is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// In `via` of a request.
    Via,
    /// In the catalog, with the dimension.
    Dimension,
}

impl Choice {
    /// What to do, before the keys that there are.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Choice::Via => "name the column of one in `via`",
            Choice::Dimension => "take another dimension, or have the catalog say with this one which is meant",
        }
    }
}

impl<'a> Relations<'a> {
    /// The tables of one source, as it names them.
    pub(crate) fn of(source: &'a Source) -> Self {
        let (tables, dialect) = (Cow::Borrowed(source.tables.as_slice()), source.dialect());
        Relations { tables, dialect, owners: None, mentions: Vec::new(), choice: Choice::Via }
    }

    /// Says of tables that they are there to be joined, whether columns of them are read or not.
    pub(crate) fn mention(&mut self, tables: impl Iterator<Item = usize>, mention: Mention) {
        self.mentions.resize(self.tables.len(), Mention::default());
        tables.for_each(|table| self.mentions[table] = mention);
    }

    /// The name of a table in the text of a query.
    pub(crate) fn write(&self, at: usize) -> String {
        match &self.owners {
            Some(owners) => {
                let (owner, table) = &owners[at];
                format!("{}.{}", native::quote(self.dialect, owner), native::quote(self.dialect, table))
            }
            None => native::write_table(self.dialect, &self.tables[at]),
        }
    }
}
