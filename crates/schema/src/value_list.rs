//! Number of displayed values of a column: all if there are few, else the first ones.

/// Maximum number of distinct values for all of them to be shown.
pub(crate) const MAX_WHOLE: usize = 20;

/// Number of values shown of a column with more, next to other columns and alone.
pub(crate) const MAX_FIRST: usize = 5;
pub(crate) const MAX_FIRST_ALONE: usize = 10;

/// Maximum number of characters of values that do not repeat, such as names in a small table.
const MAX_CHARS: usize = 160;
const MAX_TITLE_CHARS: usize = 400;

/// Returns the number of values to show of a list that contains all of them or the first of more.
pub(crate) fn count_shown(distinct: u64, first: usize) -> usize {
    if distinct <= MAX_WHOLE as u64 { MAX_WHOLE } else { first }
}

/// Whether a few non-repeating values are informative: names of rows and words are, telephone and house numbers are not.
pub(crate) fn are_telling<'a>(values: impl Iterator<Item = &'a str> + Clone, is_title: bool) -> bool {
    let (count, chars) = (values.clone().count(), values.clone().map(|value| value.chars().count()).sum::<usize>());
    let with_digits = values.filter(|value| value.contains(|c: char| c.is_ascii_digit())).count();
    match (count <= MAX_FIRST, is_title) {
        (true, _) => true,
        (false, true) => chars <= MAX_TITLE_CHARS,
        (false, false) => chars <= MAX_CHARS && with_digits * 2 < count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[&str], is_title: bool, expected: bool) {
        assert_eq!(are_telling(values.iter().copied(), is_title), expected, "{values:?}");
    }

    #[test]
    fn names_are_shown_and_numbers_of_telephones_are_not() {
        check(&["Boston", "NYC", "Paris", "Tokyo", "Sydney", "London", "San Francisco"], false, true);
        check(&["+1 650", "+1 215", "+1 212", "+33 14", "+81 33", "+61 2"], false, false);
        check(&["a1", "b2"], false, true);
        let long = "x".repeat(30);
        check(&[long.as_str(); 8], false, false);
        check(&[long.as_str(); 8], true, true);
        check(&[], false, true);
    }

    #[test]
    fn all_of_few_values_are_shown() {
        assert_eq!([1, 20, 21].map(|distinct| count_shown(distinct, MAX_FIRST)), [20, 20, 5]);
    }
}
