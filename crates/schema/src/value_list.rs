//! How many values of a column are shown, wherever some are: all of few, else the first ones.

/// All values of a column are shown if it has at most this many different ones.
pub(crate) const MAX_WHOLE: usize = 20;

/// How many of the first values of a column with more of them are shown beside others, and where it is asked for alone.
pub(crate) const MAX_FIRST: usize = 5;
pub(crate) const MAX_FIRST_ALONE: usize = 10;

/// The most characters of values that do not repeat, such as names in a small table.
const MAX_CHARS: usize = 160;
const MAX_TITLE_CHARS: usize = 400;

/// How many of a list of values are shown that holds all of them or the first of more.
pub(crate) fn count_shown(distinct: u64, first: usize) -> usize {
    if distinct <= MAX_WHOLE as u64 { MAX_WHOLE } else { first }
}

/// Whether few values that do not repeat are worth their room: of what a row is called, and of words, but not of numbers of
/// telephones and houses.
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
