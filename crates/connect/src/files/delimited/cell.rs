//! Classification of single cells.

use bitflags::bitflags;

use super::date;
use super::number::{self, Unit};

bitflags! {
    /// Possible readings of a cell, and evidence for or against them. An empty set is a text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub(super) struct Traits: u32 {
        /// A number with a decimal point, and the same with a fraction.
        const POINT = 1;
        const POINT_FRACTION = 1 << 1;
        /// A number with a decimal comma, and the same with a fraction.
        const COMMA = 1 << 2;
        const COMMA_FRACTION = 1 << 3;
        /// Both group and decimal separators are present, so they are unambiguous.
        const CLEAR = 1 << 4;
        /// Groups of thousands separated by blanks or apostrophes.
        const SPACED = 1 << 5;
        /// Digits that are not a quantity: with a leading zero, a telephone number, or too many digits for a number.
        const CODE = 1 << 6;
        /// Letters and digits in one word, such as `10050-A`.
        const WORD_WITH_DIGITS = 1 << 7;
        const BOOLEAN = 1 << 8;
        const YEAR_FIRST = 1 << 9;
        const DAY_FIRST = 1 << 10;
        const MONTH_FIRST = 1 << 11;
        const TIME = 1 << 12;
        /// A date whose parts are separated by dots.
        const DOTTED = 1 << 13;
        /// Machine format: `-1.5`, `true`, `2025-03-01`.
        const PLAIN = 1 << 14;
        /// A placeholder for a missing value.
        const PLACEHOLDER = 1 << 15;
        /// Any number, and any date.
        const NUMBER = Self::POINT.bits() | Self::COMMA.bits();
        const DATE = Self::YEAR_FIRST.bits() | Self::DAY_FIRST.bits() | Self::MONTH_FIRST.bits();
    }
}

/// Longer cells are texts; in bytes.
pub(super) const MAX_BYTES: usize = 64;

/// Maximum number of bytes before the first digit, and after the last, of a number or date.
const MAX_AROUND: usize = 8;

/// Representations of null in exported files; such a cell is empty.
const NULLS: [&str; 8] = ["null", "\\N", "(null)", "<null>", "[null]", "nan", "none", "nil"];

/// Placeholders that people and spreadsheets write for missing values.
const PLACEHOLDERS: [&str; 22] = [
    "n/a", "na", "n.a.", "n.a", "#n/a", "#na", "-", "--", "---", "–", "—", "?", "??", ".", "x", "tbd", "missing",
    "unknown", "#value!", "#ref!", "#div/0!", "#num!",
];

/// Strips the surrounding blanks.
pub(super) fn trim(cell: &str) -> &str {
    let is_trimmed = |end: Option<&u8>| end.is_some_and(u8::is_ascii_graphic);
    let bytes = cell.as_bytes();
    if is_trimmed(bytes.first()) && is_trimmed(bytes.last()) { cell } else { cell.trim() }
}

/// Whether a trimmed cell is empty or null.
pub(super) fn is_null(cell: &str) -> bool {
    let may_be_null = matches!(cell.as_bytes(), [b'n' | b'N' | b'\\' | b'(' | b'<' | b'[', ..]) && cell.len() <= 6;
    cell.is_empty() || may_be_null && NULLS.iter().any(|null| cell.eq_ignore_ascii_case(null))
}

/// The classification of a cell for the type of its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) traits: Traits,
    pub(super) unit: Unit,
    /// The number of fractional digits of the seconds.
    pub(super) fraction: u8,
    /// For [`Traits::SPACED`]: the number of groups, and the digits of the first.
    pub(super) groups: (u8, u8),
}

impl Cell {
    fn of(traits: Traits) -> Self {
        Cell { traits, unit: Unit::None, fraction: 0, groups: (1, 0) }
    }
}

/// Classifies a trimmed, non-null cell. `scratch` is overwritten.
pub(super) fn classify(cell: &str, scratch: &mut String) -> Cell {
    if let Some(traits) = plain_number(cell.as_bytes()) {
        return Cell::of(traits);
    }
    if cell.len() > MAX_BYTES {
        return Cell::of(Traits::default());
    }
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let (Some(first), Some(last)) = (cell.bytes().position(is_digit), cell.bytes().rposition(is_digit)) else {
        return Cell::of(match () {
            () if cell.eq_ignore_ascii_case("true") || cell.eq_ignore_ascii_case("false") => {
                Traits::BOOLEAN | Traits::PLAIN
            }
            () if is_placeholder(cell) => Traits::PLACEHOLDER,
            () => Traits::default(),
        });
    };
    // Units, signs and zones are shorter; sentences are longer.
    if first > MAX_AROUND || cell.len() - last > MAX_AROUND + 1 {
        return Cell::of(Traits::default());
    }
    if let Some(found) = date(cell).or_else(|| number(cell, scratch)) {
        return found;
    }
    if is_placeholder(cell) {
        return Cell::of(Traits::PLACEHOLDER);
    }
    let is_word = cell.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '#'));
    Cell::of(if is_word && cell.chars().any(char::is_alphabetic) {
        Traits::WORD_WITH_DIGITS
    } else {
        Traits::default()
    })
}

fn is_placeholder(cell: &str) -> bool {
    cell.len() <= 8 && PLACEHOLDERS.iter().any(|placeholder| cell.eq_ignore_ascii_case(placeholder))
}

/// Fast path for most numbers.
fn plain_number(cell: &[u8]) -> Option<Traits> {
    let digits = cell.strip_prefix(b"-").unwrap_or(cell);
    let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match digits.get(whole) {
        _ if whole == 0 || whole > 18 || whole > 1 && digits[0] == b'0' => None,
        None => Some(Traits::POINT | Traits::COMMA | Traits::PLAIN),
        Some(b'.') => {
            let fraction = &digits[whole + 1..];
            let is_fraction = (1..=18).contains(&fraction.len()) && fraction.iter().all(u8::is_ascii_digit);
            let may_be_group = fraction.len() == 3 && whole <= 3 && digits[0] != b'0';
            let traits = Traits::POINT | Traits::POINT_FRACTION | Traits::PLAIN;
            is_fraction.then_some(if may_be_group { traits | Traits::COMMA } else { traits })
        }
        Some(_) => None,
    }
}

fn number(cell: &str, scratch: &mut String) -> Option<Cell> {
    let peeled = number::peel(cell)?;
    let bare = peeled.body.bytes().filter(u8::is_ascii_digit).count();
    let is_code = bare == peeled.body.len() && (bare > 1 && peeled.body.starts_with('0'))
        || peeled.has_plus && bare >= 7 && peeled.body.bytes().all(|byte| byte.is_ascii_digit() || byte == b' ');
    if is_code {
        return Some(Cell::of(Traits::CODE));
    }
    let mut found = Cell { unit: peeled.unit, ..Cell::of(Traits::default()) };
    for (decimal, is_number, has_fraction) in
        [('.', Traits::POINT, Traits::POINT_FRACTION), (',', Traits::COMMA, Traits::COMMA_FRACTION)]
    {
        let Some(shape) = number::normalize(peeled.body, decimal, scratch) else { continue };
        if shape.has_fraction {
            if number::float(scratch, peeled.is_negative).is_none() {
                continue;
            }
            found.traits |= has_fraction;
        } else if number::integer(scratch, peeled.is_negative).is_none() {
            return Some(Cell::of(Traits::CODE));
        }
        found.traits |= is_number;
        match shape.group {
            Some('.' | ',') if shape.has_fraction => found.traits |= Traits::CLEAR,
            None | Some('.' | ',') => {}
            Some(_) => (found.traits, found.groups) = (found.traits | Traits::SPACED, shape.groups),
        }
    }
    if found.traits == Traits::default() {
        return None;
    }
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    // `12` cannot be anything else with an exponent, and `1.5e3` is machine format.
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
        && found.traits.intersects(Traits::POINT)
        && found.unit == Unit::None
        && digits == peeled.body;
    if is_plain {
        found.traits |= Traits::PLAIN;
    }
    Some(found)
}

fn date(cell: &str) -> Option<Cell> {
    let written = date::parse(cell)?;
    let mut found = Cell::of(Traits::default());
    let readings = [
        (written.year_first.is_some(), Traits::YEAR_FIRST),
        (written.day_first.is_some(), Traits::DAY_FIRST),
        (written.month_first.is_some(), Traits::MONTH_FIRST),
        (written.time.is_some(), Traits::TIME),
        (written.is_dotted, Traits::DOTTED),
        (written.is_iso, Traits::PLAIN),
    ];
    readings.into_iter().filter(|(is_so, _)| *is_so).for_each(|(_, trait_)| found.traits |= trait_);
    found.fraction = written.time.map_or(0, |time| time.fraction);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cell: &str, traits: Traits) {
        assert_eq!(classify(cell, &mut String::new()).traits, traits, "{cell}");
    }

    #[test]
    fn detects_machine_format() {
        check("12", Traits::POINT | Traits::COMMA | Traits::PLAIN);
        check("-1.50", Traits::POINT | Traits::POINT_FRACTION | Traits::PLAIN);
        check("1.5e3", Traits::POINT | Traits::POINT_FRACTION | Traits::PLAIN);
        check("TRUE", Traits::BOOLEAN | Traits::PLAIN);
        check("2025-03-01", Traits::YEAR_FIRST | Traits::PLAIN);
        check("+5", Traits::POINT | Traits::COMMA);
    }

    #[test]
    fn ambiguous_values_have_all_readings() {
        check("1.234", Traits::POINT | Traits::POINT_FRACTION | Traits::COMMA | Traits::PLAIN);
        check("1,234", Traits::POINT | Traits::COMMA | Traits::COMMA_FRACTION);
        check("1,234.5", Traits::POINT | Traits::POINT_FRACTION | Traits::CLEAR);
        check("3/1/2025", Traits::DAY_FIRST | Traits::MONTH_FIRST);
        check("25.3.2025 10:00", Traits::DAY_FIRST | Traits::TIME | Traits::DOTTED);
        check("1 234", Traits::POINT | Traits::COMMA | Traits::SPACED);
    }

    #[test]
    fn codes_and_words_are_not_numbers() {
        for code in ["007", "-05", "+49301234567", "99999999999999999999"] {
            check(code, Traits::CODE);
        }
        check("10050-A", Traits::WORD_WITH_DIGITS);
        check("5 pcs", Traits::default());
        check("inf", Traits::default());
        check("030 1234567", Traits::default());
        for placeholder in ["n/a", "N/A", "-", "#N/A", "#DIV/0!"] {
            check(placeholder, Traits::PLACEHOLDER);
        }
        assert!(["", "NULL", "nan", "\\N"].into_iter().all(is_null));
    }
}
