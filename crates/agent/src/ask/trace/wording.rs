//! Compares wordings: periods, column names in table headers, quoted words.

use std::{collections::BTreeSet, ops::Range};

use prospector_text::periods::{CitedPeriod, Days, find_cited};

use super::source::Source;

/// Returns whether a text contains a period, in the same words, as a date, or in another notation.
pub(super) fn has_period(known: &str, text: &str, period: &CitedPeriod) -> bool {
    /// Maximum size of a text that is parsed for periods, in bytes; longer ones are searched for dates and words only.
    const MAX_READ_BYTES: usize = 20_000;
    let has_day = |days: &Days| days.part().is_none() && !period.is_year && known.contains(&days.from);
    known.contains(text)
        || period.days.iter().any(has_day)
        || (known.len() <= MAX_READ_BYTES
            && find_cited(known, &BTreeSet::new())
                .iter()
                .any(|other| other.days.iter().any(|days| period.days.contains(days))))
}

pub(super) fn has_column(source: &Source<'_>, name: &str) -> bool {
    source.query.columns.iter().any(|column| is_column(column, name))
}

/// Returns whether a name, which may be quoted, is that of a column.
pub(super) fn is_column(column: &str, name: &str) -> bool {
    column.eq_ignore_ascii_case(name.trim_matches(['`', '"', '\'']))
}

/// Returns whether a table header is a column name, exactly or with spaces.
pub(super) fn is_same_name(column: &str, head: &str) -> bool {
    let plain = |text: &str| text.replace('_', " ").trim().to_lowercase();
    plain(column) == plain(head)
}

/// Returns whether a text contains a number of a sentence with the words before or after it.
pub(super) fn quotes(known: &str, sentence: &str, span: &Range<usize>) -> bool {
    /// Minimum number of bytes next to a number; fewer match by chance.
    const MIN_BYTES: usize = 12;
    let begin = sentence.floor_char_boundary(span.start.saturating_sub(MIN_BYTES));
    let end = sentence.ceil_char_boundary((span.end + MIN_BYTES).min(sentence.len()));
    let has_before = span.start - begin >= MIN_BYTES && known.contains(&sentence[begin..span.end]);
    has_before || (end - span.end >= MIN_BYTES && known.contains(&sentence[span.start..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_number_with_adjacent_words() {
        let known = "A customer who spent at least 45.00 in a year at most.";
        let check = |sentence: &str, number: &str, expected: bool| {
            let begin = sentence.find(number).unwrap();
            assert_eq!(quotes(known, sentence, &(begin..begin + number.len())), expected, "{sentence}");
        };
        check("VIP: spent at least 45.00 (rules)", "45.00", true);
        check("That is 45.00 in a year at most.", "45.00", true);
        check("Brazil has 45.00 of them.", "45.00", false);
        check("45.00", "45.00", false);
    }
}
