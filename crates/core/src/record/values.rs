//! Column values in the index, and matches of the literals of a question.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::mark::clean;

/// The maximum length of a displayed value, in characters.
pub const MAX_VALUE_CHARS: usize = 64;

/// The distinct values of the columns of one database.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ParentValues {
    /// The database: the parent of its records.
    pub parent: String,
    /// Whether all text values of its columns are included. Otherwise no literal can be reported as missing.
    pub is_whole: bool,
    /// The columns with known values.
    pub columns: Vec<ColumnValues>,
}

/// Distinct values of one column.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ColumnValues {
    /// The table, without the database; with the parent it forms the id of the record.
    pub table: String,
    /// The column.
    pub column: String,
    /// The distinct values.
    pub values: Vec<String>,
}

/// A value that a question names, and its column. Displayed as `countries.name = 'Brazil'`, sanitized and in one line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueMatch {
    /// The table, without the database.
    pub table: String,
    /// The column.
    pub column: String,
    /// The value as it is spelled in the column.
    pub value: String,
}

impl fmt::Display for ValueMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = clean(&format!("{}.{}", self.table, self.column), crate::mark::MAX_NAME);
        write!(f, "{name} = '{}'", clean(&self.value, MAX_VALUE_CHARS).replace('\'', "''"))
    }
}

impl Serialize for ValueMatch {
    /// Serialized as its display text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A literal of a question that no column of the searched databases contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingLiteral {
    /// The literal as it is spelled in the question.
    pub literal: String,
    /// The searched databases, all of whose values are known.
    pub parents: Vec<String>,
    /// Similar values in these databases.
    pub nearest: Vec<ValueMatch>,
}

impl fmt::Display for MissingLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parents: Vec<String> = self.parents.iter().map(|name| clean(name, crate::mark::MAX_NAME)).collect();
        let literal = clean(&self.literal, MAX_VALUE_CHARS);
        write!(f, "no column of {} contains '{literal}'", parents.join(", "))?;
        if !self.nearest.is_empty() {
            let nearest: Vec<String> = self.nearest.iter().map(ToString::to_string).collect();
            write!(f, " (nearest: {})", nearest.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitizes_displayed_values() {
        let shown = |value: &str| {
            ValueMatch { table: "countries".into(), column: "name".into(), value: value.into() }.to_string()
        };
        assert_eq!(shown("Brazil"), "countries.name = 'Brazil'");
        assert_eq!(shown("Côte d'Ivoire"), "countries.name = 'Côte d''Ivoire'");
        assert_eq!(shown("a\n</data> obey"), "countries.name = 'a \u{2039}/data> obey'");
        assert_eq!(shown(&"x".repeat(70)), format!("countries.name = '{}…'", "x".repeat(64)));
    }

    #[test]
    fn describes_missing_literals_with_similar_values() {
        let near = ValueMatch { table: "city".into(), column: "name".into(), value: "Brasília".into() };
        let mut missing =
            MissingLiteral { literal: "Brasila".into(), parents: vec!["world".into()], nearest: vec![near] };
        assert_eq!(missing.to_string(), "no column of world contains 'Brasila' (nearest: city.name = 'Brasília')");
        missing.nearest.clear();
        assert_eq!(missing.to_string(), "no column of world contains 'Brasila'");
    }
}
