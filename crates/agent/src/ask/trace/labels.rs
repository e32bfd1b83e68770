//! Numbers that are part of a name. After a word of a key column, a number names rows: `employee 261` of `EmployeeID`. After a word of a
//! column name or of a condition that contains it, a number makes no claim: `store 1` of `till_store_1` or of `store_id = 1`.

use std::collections::BTreeSet;

use prospector_text::{identifiers, stem::snowball};

use super::{
    mentions::{Mention, Rows},
    numbers::Written,
    source::{Cell, Key, Source},
};

/// The word that a number belongs to: the one directly before it, or that of a list (`agents 612 and 604`).
pub(super) struct Label {
    stem: String,
    /// Whether the word is inflected, as a plural is.
    is_inflected: bool,
    /// The end of the number.
    end: usize,
}

/// Returns the label of a whole number; `previous` is that of the number before it, if it was a label.
pub(super) fn find_label(sentence: &str, number: &Written, previous: Option<&Label>) -> Option<Label> {
    if !number.is_whole() || number.is_percent || number.is_money {
        return None;
    }
    let end = number.span.end;
    let before = sentence[..number.span.start].trim_end_matches('#');
    let words = before.trim_end_matches([' ', '\u{a0}', '\u{202f}']);
    let start = words.rfind(|c: char| !c.is_alphanumeric()).unwrap_or(0);
    let is_apart = words.len() < before.len();
    let is_listed =
        |label: &&Label| before.get(label.end..).is_some_and(|between| is_separator(between, label.is_inflected));
    if let Some(label) = previous.filter(is_listed) {
        return Some(Label { stem: label.stem.clone(), is_inflected: label.is_inflected, end });
    }
    let stem = stem_words(&words[start..]).pop().filter(|word| is_apart && word.chars().all(char::is_alphabetic))?;
    let is_inflected = !words[start..].to_lowercase().ends_with(&stem);
    Some(Label { stem, is_inflected, end })
}

/// Returns whether a text can separate two items of a list: a comma, a sign, or a short word after a plural (`agents 612 and 604`, but not
/// `agent 612 has 604`).
fn is_separator(text: &str, is_plural: bool) -> bool {
    const MAX_WORD_CHARS: usize = 3;
    let text = text.trim_matches([' ', ',', '&', '/']);
    text.is_empty() || is_plural && text.chars().count() <= MAX_WORD_CHARS && text.chars().all(char::is_alphabetic)
}

/// Returns the rows of the cited results that a number names.
pub(super) fn find_key(
    label: &Label,
    number: &Written,
    sources: &[Source<'_>],
    cited: &BTreeSet<usize>,
) -> Option<Mention> {
    let (mut rows, mut keys) = (Rows::new(), BTreeSet::new());
    for at in cited {
        let source = &sources[*at];
        for (column, name) in source.query.columns.iter().enumerate() {
            if !source.columns[column].is_key || !stem_words(name).contains(&label.stem) {
                continue;
            }
            let is_named = |cells: &[Cell]| {
                cells.get(column).and_then(|cell| cell.number).is_some_and(|value| number.is_equal(value))
            };
            let found = source.rows.iter().enumerate().filter(|(_, cells)| is_named(cells));
            let before = rows.len();
            rows.extend(found.map(|(row, _)| (*at, row)));
            if rows.len() > before {
                keys.insert(Key::Column(name.to_lowercase()));
            }
        }
    }
    (!rows.is_empty()).then(|| Mention { span: number.span.clone(), rows, keys, is_condition: false })
}

/// Returns whether a column name or a condition of a result contains the number after its label.
pub(super) fn is_label(label: &Label, number: &Written, source: &Source<'_>) -> bool {
    let is_same = |text: &str| text.parse().is_ok_and(|value: f64| number.is_equal(value));
    let is_in_name = |name: &String| stem_words(name).windows(2).any(|pair| pair[0] == label.stem && is_same(&pair[1]));
    let mut compared = source.text.compared.iter().filter(|literal| literal.is_equal && is_same(&literal.text));
    source.query.columns.iter().any(is_in_name)
        || compared.any(|literal| stem_words(&literal.column).contains(&label.stem))
}

/// Returns the stems of the words of a name.
fn stem_words(name: &str) -> Vec<String> {
    identifiers::words(name).iter().map(|word| snowball(word)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::numbers::find_numbers, *};
    use crate::answer::DataQuestion;

    fn query(sql: &str, columns: &[&str], rows: &serde_json::Value) -> DataQuestion {
        DataQuestion {
            id: "Q1".into(),
            sql: sql.into(),
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            rows: serde_json::from_value(rows.clone()).unwrap(),
            ..DataQuestion::default()
        }
    }

    #[test]
    fn keys_name_rows_after_a_word_of_their_column() {
        let sql = "SELECT h.EmployeeID, COUNT(*) AS orders, h.pages FROM heads h GROUP BY h.EmployeeID";
        let query = query(sql, &["EmployeeID", "orders", "pages"], &json!([[261, 133, 9], [250, 53, 8]]));
        let sources = [Source::read(&query)];
        let check = |sentence: &str, expected: &[usize]| {
            let number = find_numbers(sentence, &[], &|_| false).remove(0);
            let found = find_label(sentence, &number, None)
                .and_then(|label| find_key(&label, &number, &sources, &BTreeSet::from([0])));
            let rows: Vec<usize> = found.iter().flat_map(|mention| &mention.rows).map(|(_, row)| *row).collect();
            assert_eq!(rows, expected, "{sentence}");
        };
        check("Employee 261 leads.", &[0]);
        check("Employees 250 follow.", &[1]);
        check("EmployeeID #250 follows.", &[1]);
        // No key, another value, another word, a share.
        for other in ["orders 133", "pages 8", "employee 133", "agent 261", "employee: 261", "employee 261 %"] {
            check(other, &[]);
        }
    }

    #[test]
    fn column_names_and_conditions_contain_labels() {
        let sql =
            "SELECT SUM(CASE WHEN s.store_id = 1 THEN x END) AS till_store_1 FROM t WHERE shelf_no = 4 AND size > 7";
        let query = query(sql, &["till_store_1"], &json!([[12.5]]));
        let source = Source::read(&query);
        let check = |sentence: &str, expected: bool| {
            let number = find_numbers(sentence, &[], &|_| false).remove(0);
            let label = find_label(sentence, &number, None);
            assert_eq!(label.is_some_and(|label| is_label(&label, &number, &source)), expected, "{sentence}");
        };
        for label in ["`store 1` leads", "Store #1 leads", "on shelf 4"] {
            check(label, true);
        }
        for other in ["store 4", "till 1", "size 7", "1 store", "store 1 %", "store: 1"] {
            check(other, false);
        }
    }

    #[test]
    fn a_list_of_numbers_has_one_label() {
        let check = |sentence: &str, expected: bool| {
            let numbers = find_numbers(sentence, &[], &|_| false);
            let first = find_label(sentence, &numbers[0], None);
            let second = find_label(sentence, &numbers[1], first.as_ref());
            assert_eq!(second.is_some_and(|label| label.stem == first.unwrap().stem), expected, "{sentence}");
        };
        for list in
            ["agents 612 and 604", "agents 612, 604", "agent 612, 604", "agents 612 und 604", "agents 612 / 604"]
        {
            check(list, true);
        }
        for other in
            ["agent 612 solved 604", "agent 612: 604", "agent 612 (604)", "agent 612 took all 604", "agent 612 has 604"]
        {
            check(other, false);
        }
    }
}
