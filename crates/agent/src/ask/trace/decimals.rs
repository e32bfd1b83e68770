//! The decimal separator of an answer, for the values that are filled in.

use std::ops::Range;

use super::{
    numbers::{Written, find_numbers},
    reference::find_references,
    source::Source,
};

/// Returns the decimal separator that most numbers of an answer have, a comma or a point; a point without such numbers.
pub(super) fn find_decimal_separator(answer: &str, sources: &[Source<'_>]) -> char {
    let masked: Vec<Range<usize>> = find_references(answer).into_iter().map(|reference| reference.span).collect();
    let numbers = find_numbers(answer, &masked, &|_| false);
    let separators: Vec<char> = numbers.iter().filter_map(|number| read_separator(number, sources)).collect();
    let commas = separators.iter().filter(|separator| **separator == ',').count();
    if commas * 2 > separators.len() { ',' } else { '.' }
}

/// Returns the decimal separator that a number has or, by its separator of thousands, implies. In `1,234`, it depends on the value in the
/// results; `None` where they have neither.
fn read_separator(number: &Written, sources: &[Source<'_>]) -> Option<char> {
    let text = number.text.as_str();
    let last = text.rfind(['.', ',']).filter(|_| !number.is_literal())?;
    let (sign, other) = if text[last..].starts_with(',') { (',', '.') } else { ('.', ',') };
    let (before, after) = (&text[..last], &text[last + 1..]);
    if before.contains(sign) {
        return Some(other);
    }
    let is_whole = before.bytes().all(|byte| byte.is_ascii_digit()) && !before.starts_with('0');
    if after.len() != 3 || !is_whole {
        return Some(sign);
    }
    let cells = sources.iter().flat_map(|source| source.rows.iter().flatten()).filter_map(|cell| cell.number);
    let has = |digits: String| digits.parse().is_ok_and(|value: f64| cells.clone().any(|cell| cell.abs() == value));
    match (has(format!("{before}{after}")), has(format!("{before}.{after}"))) {
        (true, false) => Some(other),
        (false, true) => Some(sign),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::answer::DataQuestion;

    #[test]
    fn most_numbers_decide() {
        let rows = vec![vec![json!(9834)], vec![json!(1.125)]];
        let query = DataQuestion { id: "Q1".into(), columns: vec!["n".into()], rows, ..DataQuestion::default() };
        let sources = [Source::read(&query)];
        for (answer, expected) in [
            ("Das sind 75,6 % [Q1], also {{Q1: n * 1.5}} und {{Q1: n * 2.5}}.", ','),
            ("Es sind 185 573,99 oder 1.234,5.", ','),
            ("Insgesamt 1.234.567.", ','),
            ("Es sind 9.834.", ','),
            ("There are 9,834.", '.'),
            ("It is 1.125, or 75.6 %.", '.'),
            ("1,5 gegen 2,5 in Version 1.2.3, laut 0.5.", ','),
            ("It is 1,234 on 04.02.2021.", '.'),
            ("There are 12.", '.'),
        ] {
            assert_eq!(find_decimal_separator(answer, &sources), expected, "{answer}");
        }
    }
}
