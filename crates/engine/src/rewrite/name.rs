//! Names: their comparison in the dialect, and their rendering.

use sqlparser::ast::{Ident, ObjectName, Spanned};

use super::{WriteResult, Writer, reject};
use crate::syntax::{idents, is_wildcard, is_word};
use crate::{Dialect, Failure};

/// The maximum length of a name in each dialect, in bytes: PostgreSQL truncates a longer one, which makes it another name.
fn max_bytes(dialect: Dialect) -> usize {
    match dialect {
        Dialect::Postgres => 63,
        Dialect::Mysql => 256,
        Dialect::Sqlite | Dialect::Bigquery | Dialect::Joined => 1_000,
    }
}

impl Writer<'_> {
    /// Renders the quoted identifier.
    pub(super) fn quote(&self, ident: &Ident) -> Result<String, Box<Failure>> {
        let name = self.dialect.name_of(ident);
        let max = max_bytes(self.dialect);
        let fault = if name.is_empty() {
            Some("a name is empty".to_owned())
        } else if name.len() > max {
            Some(format!("a name has {} bytes; the maximum is {max}", name.len()))
        } else if name.contains('\0') {
            Some("a name contains a zero byte".to_owned())
        } else if ident.quote_style.is_none() && name.starts_with(['@', ':', '$', '?']) {
            Some(format!("`{name}` is a variable of the server or a parameter"))
        } else if ident.quote_style == Some('\'') && self.dialect != Dialect::Mysql && self.dialect != Dialect::Sqlite {
            Some("a name is quoted as a text".to_owned())
        } else {
            None
        };
        if let Some(fault) = fault {
            reject(fault, ident.span, "use the name of the column or table")?;
        }
        // SQLite reads an unknown name in double quotes as a text, so double quotes are used only if the original had them.
        Ok(match self.dialect {
            Dialect::Sqlite if ident.quote_style != Some('"') => format!("`{}`", name.replace('`', "``")),
            Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery | Dialect::Joined => {
                self.dialect.quote(&name)
            }
        })
    }

    pub(super) fn ident(&mut self, ident: &Ident) -> WriteResult {
        let text = self.quote(ident)?;
        self.end(&text)
    }

    /// Returns the parts of a name, if all of them are identifiers.
    pub(super) fn parts<'n>(&self, name: &'n ObjectName) -> Result<Vec<&'n Ident>, Box<Failure>> {
        let parts = idents(name);
        if parts.len() != name.0.len() || parts.is_empty() {
            reject(format!("`{name}` is not a plain name"), name.span(), "write names as identifiers")?;
        }
        Ok(parts)
    }

    /// Renders a column by its parts, of which the last may be `*`.
    pub(super) fn column(&mut self, parts: &[Ident]) -> WriteResult {
        if let [qualifiers @ .., last] = parts
            && qualifiers.len() > 1
        {
            for part in qualifiers.iter().chain(Some(last).filter(|last| !is_wildcard(last))) {
                self.quote(part)?;
            }
            self.piece(super::Piece::Column(parts.to_vec()));
            return Ok(());
        }
        for (at, part) in parts.iter().enumerate() {
            self.push(if at > 0 { "." } else { "" });
            if is_wildcard(part) {
                self.push("*");
            } else {
                self.ident(part)?;
            }
        }
        Ok(())
    }

    /// Renders a keyword-like word of the dialect, such as a part of a date: ASCII letters, digits and `_` only.
    pub(super) fn word(&mut self, word: &str, what: &str) -> WriteResult {
        if word.len() > 40 || !is_word(word) {
            return reject(
                format!("`{word}` is not a valid {what}"),
                sqlparser::tokenizer::Span::empty(),
                "use a word of letters, digits and `_`",
            );
        }
        self.end(word)
    }
}
