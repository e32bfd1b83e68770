//! Positions in a text: from the lines and columns of its tokens to byte offsets.

use sqlparser::tokenizer::{Location, Span};

/// Converts lines and columns to byte offsets.
pub(crate) struct Positions<'a> {
    sql: &'a str,
    lines: Vec<usize>,
}

impl<'a> Positions<'a> {
    pub(crate) fn new(sql: &'a str) -> Self {
        let lines = std::iter::once(0).chain(sql.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Positions { sql, lines }
    }

    fn byte(&self, at: Location) -> usize {
        let line = usize::try_from(at.line).unwrap_or(1).saturating_sub(1);
        let column = usize::try_from(at.column).unwrap_or(1).saturating_sub(1);
        let Some(start) = self.lines.get(line) else { return self.sql.len() };
        self.sql[*start..].char_indices().nth(column).map_or(self.sql.len(), |(at, _)| start + at)
    }

    /// Returns the first byte, and the one after the last.
    pub(crate) fn range(&self, span: Span) -> (usize, usize) {
        (self.byte(span.start), self.byte(span.end))
    }
}
