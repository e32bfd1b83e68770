//! Selection of the columns of a wide table that are shown in full: its keys, then those that match the question. The
//! others are only named, up to a limit; the result contains their number and how to get them.

use std::collections::HashSet;
use std::ops::Range;

use prospector_connect::table::{Column, Table};
use prospector_core::tool::ToolError;

use super::missing;
use crate::{naming::is_title, relevant_columns::matching_columns};

/// Maximum number of columns of a table that is shown in full.
const WHOLE: usize = 36;

/// Number of columns of a wider table that are shown in full.
const SHOWN: usize = 20;

/// Maximum number of keys among them.
const KEYS: usize = 12;

/// Maximum size of the names of the others in bytes.
const NAMES: usize = 1_200;

/// Maximum length of the patterns in bytes: each one is compared with every column.
const MAX_PATTERN_BYTES: usize = 4_000;

/// How to get the other columns.
pub(super) const MORE: &str = "call again with columns, such as name*; * is all";

/// Positions of columns.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Shown in full, in this order.
    pub(super) whole: Vec<usize>,
    /// Only named.
    pub(super) named: Vec<usize>,
    /// Whether some are not shown in full.
    pub(super) is_partial: bool,
}

/// Returns the columns that match a question; all columns if the table is not wide. Without a question, or if none
/// matches, the first columns.
pub(super) fn fitting(table: &Table, question: &str) -> Chosen {
    let count = table.columns.len();
    if count <= WHOLE {
        return Chosen { whole: (0..count).collect(), named: Vec::new(), is_partial: false };
    }
    let referring: HashSet<&str> = table.foreign_keys.iter().flat_map(|key| &key.columns).map(String::as_str).collect();
    let is_key = |column: &Column| {
        column.primary_key || referring.contains(column.name.as_str()) || is_title(&table.name, &column.name)
    };
    let mut whole: Vec<usize> = (0..count).filter(|at| is_key(&table.columns[*at])).take(KEYS).collect();
    let mut matching = matching_columns(table, question);
    matching.retain(|at| !whole.contains(at));
    if matching.is_empty() {
        matching = (0..count).filter(|at| !whole.contains(at)).collect();
    }
    matching.truncate(SHOWN - whole.len());
    whole.extend(matching);
    let mut room = NAMES;
    let rest = (0..count).filter(|at| !whole.contains(at)).take_while(|at| {
        // Inner members of a run are not written.
        let is_inner = *at > 0 && *at + 1 < count && {
            let name = |at: usize| table.columns[at].name.as_str();
            follows(name(*at - 1), name(*at)) && follows(name(*at), name(*at + 1))
        };
        let size = if is_inner { 0 } else { table.columns[*at].name.len() + 2 };
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    });
    let named = rest.collect();
    Chosen { whole, named, is_partial: true }
}

/// Whether a name continues the numbering of another: `measure_02` after `measure_01`.
fn follows(name: &str, next: &str) -> bool {
    let split = |name: &str| {
        let start = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, digits) = name.split_at(start);
        digits.parse::<u32>().ok().map(|number| (stem.to_owned(), number))
    };
    match (split(name), split(next)) {
        (Some((a, before)), Some((b, after))) => !a.is_empty() && a == b && before.checked_add(1) == Some(after),
        _ => false,
    }
}

/// Returns the runs among names, in order: each name is in one, alone or with at least two that continue its numbering.
pub(super) fn runs(names: &[&str]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < names.len() {
        let more = names[at..].windows(2).take_while(|pair| follows(pair[0], pair[1])).count();
        let length = if more >= 2 { more + 1 } else { 1 };
        found.push(at..at + length);
        at += length;
    }
    found
}

/// Returns the names with runs as `measure_01..measure_24`.
pub(super) fn collapse(names: &[String]) -> Vec<String> {
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let label = |run: Range<usize>| match run.len() {
        1 => names[run.start].clone(),
        _ => format!("{}..{}", names[run.start], names[run.end - 1]),
    };
    runs(&all).into_iter().map(label).collect()
}

/// Returns the columns whose names match a pattern, or one of several comma-separated ones; `*` matches any text,
/// case-insensitively.
///
/// # Errors
/// `not_found` with the nearest names, if none matches.
pub(super) fn like(table: &Table, id: &str, patterns: &str) -> Result<Chosen, ToolError> {
    if patterns.len() > MAX_PATTERN_BYTES {
        let reason = format!("columns has {} bytes; at most {MAX_PATTERN_BYTES} are allowed", patterns.len());
        return Err(ToolError::invalid(reason, Some("name fewer columns, or use name*".into())));
    }
    let all: Vec<String> = patterns.split(',').map(|one| one.trim().to_lowercase()).collect();
    let fits = |column: &Column| all.iter().any(|pattern| matches(pattern, &column.name.to_lowercase()));
    let whole: Vec<usize> = (0..table.columns.len()).filter(|at| fits(&table.columns[*at])).collect();
    if whole.is_empty() {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        return Err(missing("column", patterns, &format!("in table `{id}`"), &names));
    }
    Ok(Chosen { whole, named: Vec::new(), is_partial: false })
}

fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{key, table as table_of};

    fn wide() -> Table {
        let mut names: Vec<String> = (0..200).map(|n| format!("measure_{n:03}")).collect();
        names[100] = "shippedDate".into();
        names[150] = "customer_id".into();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut wide = table_of("wide", &names);
        wide.columns.iter_mut().for_each(|column| column.primary_key = false);
        wide.columns[120].description = "When it was shipped.".into();
        wide.foreign_keys = vec![key("customer_id", "customers", "id")];
        wide
    }

    #[test]
    fn selects_keys_then_matching_columns() {
        let check = |question: &str, expected: &[usize]| {
            let chosen = fitting(&wide(), question);
            assert_eq!(chosen.whole[..expected.len()], *expected, "{question}");
            assert!(chosen.whole.len() <= SHOWN && chosen.is_partial);
            assert!(chosen.named.len() > 50 && !chosen.named.contains(&150), "{chosen:?}");
        };
        check("Which ones were shipped?", &[150, 100, 120]);
        check("At which dates were they shipped?", &[150, 100]);
        check("", &[150, 0, 1, 2]);
        check("What is of all the most?", &[150, 0, 1, 2]);
    }

    #[test]
    fn a_long_question_about_many_columns_is_read_once() {
        // Comparing each word with each column would take ten billion comparisons.
        let names: Vec<String> = (0..20_000).map(|n| format!("measure_{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        // As letters, so that none of them occurs in a name.
        let word = |n: u32| n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'k')).collect::<String>();
        let words = (10_000..70_000).map(|n| word(n) + " ");
        let question: String = words.chain(["measure 19999".to_owned()]).collect();
        assert_eq!(fitting(&table_of("wide", &names), &question).whole[0], 19_999);
    }

    #[test]
    fn collapses_runs_of_names() {
        let check = |names: &[&str], expected: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(collapse(&names), expected);
        };
        check(&["m_08", "m_09", "m_10", "m_11", "x", "q1", "q2"], &["m_08..m_11", "x", "q1", "q2"]);
        check(&["m1", "m2", "n3", "n4", "n5", "7", "8", "9"], &["m1", "m2", "n3..n5", "7", "8", "9"]);
        check(&["year_4294967295", "year_4294967296"], &["year_4294967295", "year_4294967296"]);
        let table = wide();
        let chosen = fitting(&table, "");
        assert_eq!(chosen.whole.len() + chosen.named.len(), 200, "the names of a run take little room");
    }

    #[test]
    fn always_shows_title_columns() {
        for (table, column, expected) in [
            ("products", "name", true),
            ("products", "product_name", true),
            ("products", "file_name", false),
            ("t", "title", true),
        ] {
            assert_eq!(is_title(table, column), expected, "{table}.{column}");
        }
    }

    #[test]
    fn selects_columns_by_pattern() {
        let check = |pattern: &str, expected: &[usize]| {
            let found = like(&wide(), "shop.wide", pattern).map(|chosen| chosen.whole).unwrap_or_default();
            assert_eq!(found, expected, "{pattern}");
        };
        check("SHIPPEDDATE", &[100]);
        check("measure_00*, *_id", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 150]);
        check("m*e_*99", &[99, 199]);
        check("nothing*", &[]);
        assert_eq!(like(&wide(), "shop.wide", "*").map(|chosen| chosen.whole.len()).unwrap_or_default(), 200);
        let refused = like(&wide(), "shop.wide", &"a,".repeat(500_000)).unwrap_err();
        assert_eq!(refused.to_json()["error"], "invalid_arguments");
    }
}
