//! Parses numbers in text: `1,234.50`, `1.234,50`, `1 234,50`, `9.8 thousand`, `43 %`, `-5`.

use std::ops::Range;

use prospector_text::{
    codes::{find_currency, is_currency_code},
    numbers::parse_word,
    sentences::{continues_word, is_unspaced},
};

/// A number in a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Written {
    pub(super) span: Range<usize>,
    /// Its digits, as written.
    pub(super) text: String,
    /// Possible values, each with half of its last digit as tolerance: `1,234` has two. Empty for a time or a version.
    readings: Vec<(f64, f64)>,
    pub(super) is_percent: bool,
    /// Whether it has the sign, the name or the code of a currency.
    pub(super) is_money: bool,
    /// Whether it is a rank: `#2`.
    pub(super) is_rank: bool,
}

/// Words that multiply a number.
const SCALES: [(&str, f64); 23] = [
    ("k", 1e3),
    ("thousand", 1e3),
    ("tausend", 1e3),
    ("tsd", 1e3),
    ("mille", 1e3),
    ("m", 1e6),
    ("mio", 1e6),
    ("million", 1e6),
    ("millions", 1e6),
    ("millionen", 1e6),
    ("bn", 1e9),
    ("mrd", 1e9),
    ("billion", 1e9),
    ("milliard", 1e9),
    ("milliards", 1e9),
    ("milliarden", 1e9),
    ("千", 1e3),
    ("万", 1e4),
    ("萬", 1e4),
    ("만", 1e4),
    ("亿", 1e8),
    ("億", 1e8),
    ("억", 1e8),
];

impl Written {
    /// Returns whether it equals the value at its written precision.
    pub(super) fn is_near(&self, value: f64) -> bool {
        self.readings.iter().any(|(read, slack)| (value - read).abs() <= slack * 1.000_001 + read.abs() * 1e-12)
    }

    /// Returns whether it equals the value or its absolute value: a drop of 5 has no sign.
    pub(super) fn is_size(&self, value: f64) -> bool {
        self.is_near(value) || self.is_near(value.abs())
    }

    /// Returns whether it is exactly this value.
    pub(super) fn is_equal(&self, value: f64) -> bool {
        self.readings.iter().any(|(read, _)| (value - read).abs() <= read.abs() * 1e-12)
    }

    /// Returns whether it is a time or a version.
    pub(super) fn is_literal(&self) -> bool {
        self.readings.is_empty()
    }

    pub(super) fn is_whole(&self) -> bool {
        self.readings.iter().any(|(read, slack)| *slack == 0.5 && read.fract() == 0.0)
    }

    /// Returns its most likely value.
    pub(super) fn value(&self) -> Option<f64> {
        self.readings.first().map(|(value, _)| *value)
    }
}

/// Finds the numbers of a text outside of `masked`. Groups of three digits after a space are one number with the digits before them if
/// decimals follow (`1 234,50`), if `exists` accepts the number, or if the text has another such number.
pub(super) fn find_numbers(text: &str, masked: &[Range<usize>], exists: &dyn Fn(&Written) -> bool) -> Vec<Written> {
    let is_certain = |number: &Written| number.text.contains(['.', ',']) || exists(number);
    let found = scan(text, masked, &is_certain);
    let is_spaced = found.iter().any(|number| number.text.contains(' '));
    if is_spaced { scan(text, masked, &|_| true) } else { found }
}

/// Finds the numbers of a text. `is_one` decides whether groups of digits separated by spaces are one number.
fn scan(text: &str, masked: &[Range<usize>], is_one: &dyn Fn(&Written) -> bool) -> Vec<Written> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find(|c: char| c.is_ascii_digit()).map(|begin| at + begin) {
        if let Some(mask) = masked.iter().find(|mask| mask.contains(&begin)) {
            at = mask.end;
            continue;
        }
        let narrow = find_end(text, begin, &['.', ',', '\'', '’', '\u{a0}', '\u{202f}', '\u{2009}']);
        let wide = find_end(text, begin, &[' ']);
        let read = |end| read_number(text, begin, end);
        let is_grouped = |number: &Written| {
            let first = number.text.split(' ').next().unwrap_or_default();
            first.len() <= 3 && !first.starts_with('0') && !number.is_literal()
        };
        let number = match read(wide).filter(|number| wide > narrow && is_grouped(number) && is_one(number)) {
            Some(number) => Some(number),
            None => read(narrow),
        };
        at = number.as_ref().map_or_else(|| skip_word(text, begin), |number| number.span.end.max(begin + 1));
        found.extend(
            number.filter(|number| {
                !masked.iter().any(|mask| mask.start < number.span.end && number.span.start < mask.end)
            }),
        );
    }
    found
}

/// Returns the end of digits with these separators; spaces separate groups of three digits only.
fn find_end(text: &str, begin: usize, between: &[char]) -> usize {
    let is_digit = |at: usize| text[at..].starts_with(|c: char| c.is_ascii_digit());
    let mut end = begin;
    loop {
        end += text[end..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - end);
        let Some(sign) = text[end..].chars().next().filter(|sign| between.contains(sign)) else { break };
        let next = end + sign.len_utf8();
        let digits = text[next..].bytes().take_while(u8::is_ascii_digit).count();
        let is_group = matches!(sign, '.' | ',') || digits == 3;
        if !is_digit(next) || !is_group {
            break;
        }
        end = next;
    }
    let is_decimal = between == [' '] && text[end..].starts_with([',', '.']) && is_digit(end + 1);
    if is_decimal { find_end(text, end + 1, &[]) } else { end }
}

/// Returns the end of the word that contains a digit.
fn skip_word(text: &str, begin: usize) -> usize {
    begin + text[begin..].find(|c: char| !continues_word(c)).unwrap_or(text.len() - begin).max(1)
}

fn read_number(text: &str, begin: usize, end: usize) -> Option<Written> {
    let (before, after) = (&text[..begin], &text[end..]);
    let last = before.chars().next_back().unwrap_or(' ');
    let earlier = before[..before.len() - if begin == 0 { 0 } else { last.len_utf8() }].chars().next_back();
    // Digits in a name are not a number, as in `第2` and `7月`.
    let is_joined = last == '-' && earlier.is_some_and(char::is_alphabetic);
    if continues_word(last) || last == '第' || is_joined || after.starts_with(['月', '월']) {
        return None;
    }
    if after.starts_with(':') && after[1..].starts_with(|c: char| c.is_ascii_digit()) {
        let end = end + after.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(after.len());
        let text = text[begin..end].trim_end_matches([':', '.']);
        return Some(Written::literal(begin..begin + text.len(), text));
    }
    let digits = &text[begin..end];
    let (unit, unit_end) = read_unit(text, end);
    let scale = SCALES.iter().find(|(name, _)| *name == unit.to_lowercase()).map(|(_, scale)| *scale);
    let is_word_next = after.starts_with(continues_word);
    if is_word_next && scale.is_none() {
        return None;
    }
    let (end, scale) = if let Some(scale) = scale { (unit_end, scale) } else { (end, 1.0) };
    let is_negative = matches!(last, '-' | '−') && earlier.is_none_or(|c| " ($€£(|".contains(c));
    let (unit, unit_end) = read_unit(text, end);
    let is_percent = matches!(unit, "%" | "％") || matches!(unit.to_lowercase().as_str(), "percent" | "prozent");
    let sign = if is_negative { -1.0 } else { 1.0 };
    let readings: Vec<(f64, f64)> = read_digits(digits)
        .into_iter()
        .map(|(value, decimals)| (sign * scale * value, 0.5 * scale * 10f64.powi(-decimals)))
        .collect();
    let end = if is_percent { unit_end } else { end };
    if readings.is_empty() {
        return match digits.find(',') {
            // Consecutive numbers.
            Some(comma) => read_number(text, begin, begin + comma),
            None => Some(Written::literal(begin..end, digits)),
        };
    }
    Some(Written {
        span: begin..end,
        text: digits.to_owned(),
        readings,
        is_percent,
        is_money: is_currency_after(text, end) || is_currency_before(before),
        is_rank: last == '#',
    })
}

impl Written {
    fn literal(span: Range<usize>, text: &str) -> Self {
        let text = text.to_owned();
        Written { span, text, readings: Vec::new(), is_percent: false, is_money: false, is_rank: false }
    }
}

/// Returns the unit after a number, at most one space from it, and the end of the unit.
fn read_unit(text: &str, at: usize) -> (&str, usize) {
    let is_blank = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{202f}');
    let begin = at + text[at..].chars().next().filter(|c| is_blank(*c)).map_or(0, char::len_utf8);
    let rest = &text[begin..];
    let end = match rest.chars().next() {
        Some(first) if matches!(first, '%' | '％') || is_unspaced(first) => first.len_utf8(),
        _ => rest.find(|c: char| !continues_word(c)).unwrap_or(rest.len()),
    };
    (&rest[..end], begin + end)
}

pub(super) fn is_currency_sign(c: char) -> bool {
    matches!(c, '$' | '¢'..='¥' | '\u{20a0}'..='\u{20cf}')
}

/// Returns whether a word after a number names a currency: in the plural, with a capital, or as a code.
fn is_currency(word: &str) -> bool {
    let is_form = word.ends_with('s') || word.starts_with(char::is_uppercase);
    is_currency_code(word) || (is_form && find_currency(&word.to_lowercase()).is_some())
}

fn is_currency_after(text: &str, at: usize) -> bool {
    let rest = text[at..].trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    rest.starts_with(is_currency_sign) || is_currency(read_unit(text, at).0)
}

fn is_currency_before(before: &str) -> bool {
    let before = before.trim_end_matches(['-', '−']).trim_end_matches([' ', '\u{a0}', '\u{202f}']);
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    before.ends_with(is_currency_sign) || is_currency_code(word)
}

/// Returns the possible values of digits with separators, each with its number of decimals; the most likely first.
fn read_digits(digits: &str) -> Vec<(f64, i32)> {
    let is_grouping = |c: char| !c.is_ascii_digit() && c != '.' && c != ',';
    let plain: String = digits.chars().filter(|c| !is_grouping(*c)).collect();
    let parse = |text: &str| -> Option<(f64, i32)> {
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Some((text.parse().ok()?, i32::try_from(decimals).ok()?))
    };
    let (points, commas) = (plain.matches('.').count(), plain.matches(',').count());
    let grouped = |sign: char| {
        let mut groups = plain.split(sign);
        let first = groups.next().unwrap_or_default();
        ((1..=3).contains(&first.len()) && !first.starts_with('0') && groups.all(|group| group.len() == 3))
            .then(|| plain.replace(sign, ""))
    };
    let forms: Vec<Option<String>> = match (points, commas) {
        (0, 0) => vec![Some(plain.clone())],
        (0, 1) => vec![grouped(','), Some(plain.replace(',', "."))],
        (1, 0) => vec![Some(plain.clone()), grouped('.').filter(|_| plain.len() == digits.len())],
        (_, 0) => vec![grouped('.')],
        (0, _) => vec![grouped(',')],
        // The last separator is the decimal one.
        (1, _) if plain.rfind('.') > plain.rfind(',') => vec![Some(plain.replace(',', ""))],
        (_, 1) if plain.rfind(',') > plain.rfind('.') => vec![Some(plain.replace('.', "").replace(',', "."))],
        _ => Vec::new(),
    };
    forms.into_iter().flatten().filter_map(|form| parse(&form)).collect()
}

/// The numbers of a text, for lookup.
#[derive(Debug, Default)]
pub(super) struct Values(Vec<f64>);

impl Values {
    pub(super) fn read(text: &str) -> Self {
        let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 2 && *word != "one");
        let words = words.filter_map(|word| parse_word(&word.to_lowercase())).map(f64::from);
        let numbers = find_numbers(text, &[], &|_| false);
        let mut values: Vec<f64> =
            numbers.iter().flat_map(|number| &number.readings).map(|(value, _)| value.abs()).chain(words).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        Values(values)
    }

    pub(super) fn add(&mut self, values: &[f64]) {
        self.0.extend(values);
        self.0.sort_by(f64::total_cmp);
    }

    /// Returns whether the text contains the exact number.
    pub(super) fn has(&self, number: &Written) -> bool {
        number.readings.iter().any(|(read, _)| self.lies_within(read.abs(), read.abs() * 1e-12))
    }

    /// Returns whether the text contains the number at its written precision.
    pub(super) fn has_rounded(&self, number: &Written) -> bool {
        number.readings.iter().any(|(read, slack)| self.lies_within(read.abs(), slack * 1.000_001))
    }

    fn lies_within(&self, value: f64, slack: f64) -> bool {
        let begin = self.0.partition_point(|known| *known < value - slack);
        self.0.get(begin).is_some_and(|known| *known <= value + slack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, f64)]) {
        let found = find_numbers(text, &[], &|_| true);
        let values: Vec<(&str, f64)> =
            found.iter().map(|number| (number.text.as_str(), number.value().unwrap_or(f64::NAN))).collect();
        assert_eq!(values.len(), expected.len(), "{text}: {values:?}");
        for ((text, value), (digits, expected)) in values.iter().zip(expected) {
            assert_eq!(text, digits);
            assert!(value == expected || (value.is_nan() && expected.is_nan()), "{text}: {value}");
        }
    }

    #[test]
    fn reads_numbers_in_every_format() {
        check(
            "1,234.50 and 1.234,50 and 1 234,50",
            &[("1,234.50", 1234.5), ("1.234,50", 1234.5), ("1 234,50", 1234.5)],
        );
        check("1'234.5, 1\u{202f}234 and 12,5 %", &[("1'234.5", 1234.5), ("1\u{202f}234", 1234.0), ("12,5", 12.5)]);
        check("9.8 thousand, $1.2m, 3,4 Mio. Euro", &[("9.8", 9800.0), ("1.2", 1.2e6), ("3,4", 3.4e6)]);
        check("-5 and (−7.5) and 3-4", &[("5", -5.0), ("7.5", -7.5), ("3", 3.0), ("4", 4.0)]);
        check("1.234.567 and 1,234,567", &[("1.234.567", 1_234_567.0), ("1,234,567", 1_234_567.0)]);
        check("1,2,30", &[("1", 1.0), ("2,30", 2.3)]);
        check("at 13:20:22, version 1.2.3", &[("13:20:22", f64::NAN), ("1.2.3", f64::NAN)]);
        check("the 2nd of Q4, COVID-19, t_12, 3x", &[]);
        check("有23起,占75％,共2.3万件", &[("23", 23.0), ("75", 75.0), ("2.3", 23_000.0)]);
        check("第2名, 7月, 서울은 1,234건", &[("1,234", 1234.0)]);
    }

    #[test]
    fn reads_groups_after_spaces() {
        let check = |text: &str, known: &[f64], expected: &[f64]| {
            let found = find_numbers(text, &[], &|number| known.iter().any(|value| number.is_equal(*value)));
            let values: Vec<f64> = found.iter().filter_map(Written::value).collect();
            assert_eq!(values, expected, "{text}");
        };
        check("185 573,99 et 1 234 567.5", &[], &[185_573.99, 1_234_567.5]);
        check("52 028 - 42 431 = 9 597", &[52_028.0], &[52_028.0, 42_431.0, 9_597.0]);
        check("52 028 - 42 431", &[], &[52.0, 28.0, 42.0, 431.0]);
        check("2025 573,99 et 12 34,5", &[], &[2025.0, 573.99, 12.0, 34.5]);
    }

    #[test]
    fn knows_percentages_money_and_ranks() {
        let marks = |text: &str| {
            let found = find_numbers(text, &[], &|_| false);
            (found[0].is_percent, found[0].is_money, found[0].is_rank)
        };
        assert_eq!(marks("43.2 %"), (true, false, false));
        assert_eq!(marks("43 percent"), (true, false, false));
        for money in ["$5", "5 €", "EUR 5", "5 USD", "5 dollars", "5 Euro", "-$5", "1.2 million dollars"] {
            assert_eq!(marks(money), (false, true, false), "{money}");
        }
        for other in ["86 won the prize", "5 real customers", "5 VIP customers", "5 dollar stores"] {
            assert_eq!(marks(other), (false, false, false), "{other}");
        }
        assert_eq!(marks("#2"), (false, false, true));
    }

    #[test]
    fn looks_up_numbers_at_written_precision() {
        let values = Values::read("9,834 rows; at least 45.00 within thirty days, one of them");
        let has = |text: &str| {
            let number = find_numbers(text, &[], &|_| false).remove(0);
            (values.has(&number), values.has_rounded(&number))
        };
        assert_eq!(has("9,834"), (true, true));
        assert_eq!(has("9.8 thousand"), (false, true));
        assert_eq!(
            [has("45"), has("30"), has("1"), has("44.5")],
            [(true, true), (true, true), (false, false), (false, false)]
        );
    }
}
