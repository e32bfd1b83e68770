//! Names: as the dialect compares them, and as they are written.

use sqlparser::ast::{Ident, ObjectName, Spanned};

use super::{WriteResult, Writer, no};
use crate::{Dialect, Failure};

/// The longest name of each dialect, in bytes: PostgreSQL cuts a longer one, so that it is another name.
fn max_bytes(dialect: Dialect) -> usize {
    match dialect {
        Dialect::Postgres => 63,
        Dialect::Mysql => 256,
        Dialect::Sqlite | Dialect::Bigquery | Dialect::Joined => 1_000,
    }
}

impl Writer<'_> {
    /// The identifier in quotes.
    pub(super) fn quote(&self, ident: &Ident) -> Result<String, Box<Failure>> {
        let name = self.dialect.name_of(ident);
        let max = max_bytes(self.dialect);
        let fault = if name.is_empty() {
            Some("a name is empty".to_owned())
        } else if name.len() > max {
            Some(format!("a name has {} bytes, and {max} are allowed", name.len()))
        } else if name.contains('\0') {
            Some("there is a zero byte in a name".to_owned())
        } else if ident.quote_style.is_none() && name.starts_with(['@', ':', '$', '?']) {
            Some(format!("`{name}` is a variable of the server or a parameter"))
        } else if ident.quote_style == Some('\'') && self.dialect != Dialect::Mysql && self.dialect != Dialect::Sqlite {
            Some("a name is written as a text".to_owned())
        } else {
            None
        };
        if let Some(fault) = fault {
            no(fault, ident.span, "name the column or table itself")?;
        }
        // In SQLite a name in double quotes that nothing has is a text. Only one that was written so is written so again.
        Ok(match self.dialect {
            Dialect::Sqlite if ident.quote_style != Some('"') => format!("`{}`", name.replace('`', "``")),
            Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery | Dialect::Joined => {
                self.dialect.quote(&name)
            }
        })
    }

    pub(super) fn ident(&mut self, ident: &Ident) -> WriteResult {
        let text = self.quote(ident)?;
        self.push(&text);
        Ok(())
    }

    /// The parts of a name, where all of them are identifiers.
    pub(super) fn parts<'n>(&self, name: &'n ObjectName) -> Result<Vec<&'n Ident>, Box<Failure>> {
        let parts: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
        if parts.len() != name.0.len() || parts.is_empty() {
            no(format!("`{name}` is not a plain name"), name.span(), "write names as identifiers")?;
        }
        Ok(parts)
    }

    /// A column by its parts, of which the last may be `*`.
    pub(super) fn column(&mut self, parts: &[Ident]) -> WriteResult {
        if parts.len() > 2 {
            for part in &parts[..parts.len() - 1] {
                self.quote(part)?;
            }
        }
        match parts {
            [_, _, _, ..] => {
                // Checks the last part too, which may be all columns.
                let last = &parts[parts.len() - 1];
                if last.value != "*" || last.quote_style.is_some() {
                    self.quote(last)?;
                }
                self.piece(super::Piece::Column(parts.to_vec()));
                Ok(())
            }
            _ => {
                for (at, part) in parts.iter().enumerate() {
                    if at > 0 {
                        self.push(".");
                    }
                    if part.value == "*" && part.quote_style.is_none() {
                        self.push("*");
                    } else {
                        self.ident(part)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// A word of a closed set of the dialect, such as the part of a date: ASCII letters, digits and `_` alone.
    pub(super) fn word(&mut self, word: &str, what: &str) -> WriteResult {
        let is_plain = word.len() <= 40
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_plain {
            return no(
                format!("`{word}` is no {what}"),
                sqlparser::tokenizer::Span::empty(),
                "use a word of letters, digits and `_`",
            );
        }
        self.push(word);
        Ok(())
    }
}
