//! Number words, and formatting of numbers.

/// Number words.
const NUMBER_WORDS: &[(&str, u32)] = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("ninety", 90),
    ("hundred", 100),
];

/// Returns the value of a lower-case number word.
pub fn parse_word(word: &str) -> Option<u32> {
    NUMBER_WORDS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

/// Number of significant digits that are exact in a sum of binary fractions.
const SIGNIFICANT_DIGITS: usize = 15;

/// Maximum number of decimals; numbers with more are results of divisions and are rounded.
const MAX_DECIMALS: usize = 6;

/// Formats a number for display: without the error of binary fractions (`44473.00000000001`), and rounded if it has
/// many decimals (`2525.7076923076925`): to two decimals, or below 1 to four significant digits.
///
/// ```
/// use prospector_text::numbers::write_number;
/// assert_eq!([44473.00000000001, 2525.7076923076925, 1.08345, 2e-9].map(write_number), ["44473", "2525.71", "1.08345", "2e-9"]);
/// ```
pub fn write_number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || size != 0.0 && !(1e-6..1e15).contains(&size) {
        return format!("{value:?}").replace(".0e", "e");
    }
    let whole = if size >= 1.0 { size.log10().floor() as usize + 1 } else { 0 };
    let exact = trim(format!("{value:.*}", SIGNIFICANT_DIGITS.saturating_sub(whole)));
    if exact.split_once('.').map_or(0, |(_, decimals)| decimals.len()) <= MAX_DECIMALS {
        return exact;
    }
    let decimals = if size >= 1.0 { 2 } else { 3 + size.log10().floor().abs() as usize };
    trim(format!("{value:.decimals$}"))
}

/// Removes trailing zeros of a fraction, and the sign of zero.
fn trim(text: String) -> String {
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_to_significant_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (44473.00000000001, "44473"),
            (9045.199999999999, "9045.2"),
            (2525.7076923076925, "2525.71"),
            (-2525.7076923076925, "-2525.71"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.3333"),
            (0.012345678912, "0.01235"),
            (12.5, "12.5"),
            (99.99, "99.99"),
            (1.08345, "1.08345"),
            (1e20, "1e20"),
            (2e-9, "2e-9"),
        ] {
            assert_eq!(write_number(value), expected, "{value:?}");
        }
    }

    #[test]
    fn parses_number_words() {
        assert_eq!([parse_word("seven"), parse_word("hundred"), parse_word("many")], [Some(7), Some(100), None]);
    }
}
