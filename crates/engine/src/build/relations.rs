//! The tables of a query: those of one database in its own SQL, or tables of several databases and loaded subsets.

use std::borrow::Cow;

use prospector_connect::table::Table;
use prospector_connect::table::joins::Mention;

use crate::source::Source;
use crate::{Dialect, native};

/// Tables and how their names are rendered.
pub(crate) struct Relations<'a> {
    pub(crate) tables: Cow<'a, [Table]>,
    pub(crate) dialect: Dialect,
    /// With several databases: the database (or `scoped` for loaded subsets) and the table, for each table.
    pub(crate) owners: Option<Vec<(String, String)>>,
    /// How each table is mentioned without being read; the list may be shorter than the tables.
    pub(crate) mentions: Vec<Mention>,
    /// Where the caller chooses among several keys.
    pub(crate) choice: Choice,
}

/// Where a query chooses among several keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// In `via` of the request.
    Via,
    /// In the catalog, at the dimension.
    Dimension,
}

impl Choice {
    /// Returns the suggestion that precedes the list of keys.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Choice::Via => "name the column of one key in `via`",
            Choice::Dimension => "use another dimension, or specify the key of this one in the catalog",
        }
    }
}

impl<'a> Relations<'a> {
    /// Returns the tables of one source, with the names that the source uses.
    pub(crate) fn of(source: &'a Source) -> Self {
        let (tables, dialect) = (Cow::Borrowed(source.tables.as_slice()), source.dialect());
        Relations { tables, dialect, owners: None, mentions: Vec::new(), choice: Choice::Via }
    }

    /// Marks tables as required in the join, whether their columns are read or not.
    pub(crate) fn mention(&mut self, tables: impl Iterator<Item = usize>, mention: Mention) {
        self.mentions.resize(self.tables.len(), Mention::default());
        tables.for_each(|table| self.mentions[table] = mention);
    }

    /// Renders the name of a table.
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
