//! Parsing of numbers as people and spreadsheets write them: thousands separators, decimal comma, currency signs,
//! percent.

use serde::{Deserialize, Serialize};

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub(super) enum Unit {
    #[default]
    None,
    Percent,
    /// An index into [`CURRENCIES`].
    Currency(u8),
}

/// Each currency: its ISO code, then other notations.
const CURRENCIES: [&[&str]; 32] = [
    &["USD", "US$", "$"],
    &["EUR", "€", "Euro", "euro"],
    &["GBP", "£"],
    &["JPY", "¥"],
    &["CHF", "Fr.", "SFr."],
    &["INR", "₹", "Rs.", "Rs"],
    &["BRL", "R$"],
    &["CAD", "C$", "CA$"],
    &["AUD", "A$", "AU$"],
    &["NZD", "NZ$"],
    &["SEK"],
    &["NOK"],
    &["DKK", "kr.", "kr"],
    &["PLN", "zł"],
    &["CZK", "Kč"],
    &["HUF", "Ft"],
    &["RON", "lei"],
    &["RUB", "₽"],
    &["UAH", "₴"],
    &["TRY", "₺"],
    &["ILS", "₪"],
    &["ZAR"],
    &["NGN", "₦"],
    &["KRW", "₩"],
    &["CNY", "RMB"],
    &["HKD", "HK$"],
    &["SGD", "S$"],
    &["THB", "฿"],
    &["VND", "₫"],
    &["PHP", "₱"],
    &["MXN", "MX$"],
    &["AED"],
];

impl Unit {
    /// Returns a note for the description of the column.
    pub(super) fn describe(self) -> String {
        match self {
            Unit::None => String::new(),
            Unit::Percent => "in percent".to_owned(),
            Unit::Currency(at) => {
                CURRENCIES.get(usize::from(at)).map_or_else(String::new, |names| format!("in {}", names[0]))
            }
        }
    }
}

/// A number without its sign and unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peeled<'a> {
    pub(super) is_negative: bool,
    pub(super) has_plus: bool,
    /// Digits and separators.
    pub(super) body: &'a str,
    pub(super) unit: Unit,
}

/// Strips sign and unit from a trimmed cell: `-$5`, `$-5`, `(5)`, `5-`, `5 €`, `5 %`. `None` if more than digits and
/// separators is left.
pub(super) fn peel(cell: &str) -> Option<Peeled<'_>> {
    let mut peeled = Peeled { is_negative: false, has_plus: false, body: cell, unit: Unit::None };
    let mut is_signed = false;
    if let Some(inside) = cell.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        (peeled.is_negative, is_signed, peeled.body) = (true, true, inside.trim());
    }
    while !peeled.body.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',')) {
        let sign = peeled.body.chars().next().filter(|c| matches!(c, '-' | '+' | '\u{2212}'));
        peeled.body = match sign {
            Some(_) if is_signed => return None,
            Some(sign) => {
                (is_signed, peeled.is_negative, peeled.has_plus) = (true, sign != '+', sign == '+');
                &peeled.body[sign.len_utf8()..]
            }
            None => {
                let (unit, rest) = currency(peeled.body, str::strip_prefix).filter(|_| peeled.unit == Unit::None)?;
                peeled.unit = unit;
                rest.trim_start()
            }
        };
    }
    while !peeled.body.ends_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',')) || peeled.body.ends_with("r.")
    {
        if let Some(rest) = peeled.body.strip_suffix('-').filter(|_| !is_signed) {
            (is_signed, peeled.is_negative, peeled.body) = (true, true, rest);
            continue;
        }
        let percent = peeled.body.strip_suffix('%').map(|rest| (Unit::Percent, rest));
        let (unit, rest) =
            percent.or_else(|| currency(peeled.body, str::strip_suffix)).filter(|_| peeled.unit == Unit::None)?;
        (peeled.unit, peeled.body) = (unit, rest.trim_end());
    }
    Some(peeled)
}

/// Finds the longest currency notation at one end of a text; returns it and the rest.
fn currency<'a>(text: &'a str, strip: fn(&'a str, &'static str) -> Option<&'a str>) -> Option<(Unit, &'a str)> {
    let names = CURRENCIES.iter().enumerate().flat_map(|(at, names)| names.iter().map(move |name| (at, *name)));
    let found = names.filter_map(|(at, name)| strip(text, name).map(|rest| (Unit::Currency(at as u8), rest)));
    found.min_by_key(|(_, rest)| rest.len())
}

/// The grouping of a number, and whether it has a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) has_fraction: bool,
    /// The thousands separator.
    pub(super) group: Option<char>,
    /// The number of groups, and the digits of the first.
    pub(super) groups: (u8, u8),
}

/// Writes a number with a decimal point and without separators, for the parsers of the standard library. `decimal` is its
/// decimal separator, `.` or `,`. `None` if it is not a number with that separator.
pub(super) fn normalize(body: &str, decimal: char, out: &mut String) -> Option<Shape> {
    out.clear();
    let (number, exponent) = match body.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (body, None),
    };
    let (whole, fraction) = match number.split_once(decimal) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    if !fraction.is_none_or(is_digits) || whole.is_empty() && fraction.is_none_or(str::is_empty) {
        return None;
    }
    let mut shape = Shape { has_fraction: fraction.is_some() || exponent.is_some(), group: None, groups: (1, 0) };
    if is_digits(whole) {
        // `007` is a code.
        if whole.len() > 1 && whole.starts_with('0') {
            return None;
        }
        out.push_str(whole);
    } else {
        shape.groups = read_groups(whole, decimal, out)?;
        shape.group = whole.chars().find(|c| !c.is_ascii_digit());
    }
    if let Some(fraction) = fraction.filter(|fraction| !fraction.is_empty()) {
        out.push('.');
        out.push_str(fraction);
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if !is_digits(digits) || !(1..=3).contains(&digits.len()) || shape.group.is_some() {
            return None;
        }
        out.push('e');
        out.push_str(exponent);
    }
    Some(shape)
}

/// Parses groups of thousands with one separator; returns the number of groups, and the digits of the first.
fn read_groups(whole: &str, decimal: char, out: &mut String) -> Option<(u8, u8)> {
    let mark = whole.chars().find(|c| !c.is_ascii_digit())?;
    let is_mark = matches!(mark, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '\u{2019}')
        || matches!(mark, '.' | ',') && mark != decimal;
    let mut groups = whole.split(mark).peekable();
    let first = groups.next()?;
    if !is_mark || !(1..=3).contains(&first.len()) || !is_digits(first) || first.starts_with('0') {
        return None;
    }
    out.push_str(first);
    let mut count = 1_u8;
    while let Some(group) = groups.next() {
        // Lakhs and crores have groups of two digits.
        let has_length = group.len() == 3 || group.len() == 2 && mark == ',' && groups.peek().is_some();
        if !has_length || !is_digits(group) {
            return None;
        }
        out.push_str(group);
        count = count.checked_add(1)?;
    }
    Some((count, first.len() as u8))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses a floating-point number with its sign, within its range.
pub(super) fn float(digits: &str, is_negative: bool) -> Option<f64> {
    let value: f64 = digits.parse().ok()?;
    let value = if is_negative { -value } else { value };
    value.is_finite().then_some(value)
}

/// Like [`float`], for integers.
pub(super) fn integer(digits: &str, is_negative: bool) -> Option<i64> {
    let value: i128 = digits.parse().ok()?;
    i64::try_from(if is_negative { -value } else { value }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the value of a cell with a decimal point, and with a decimal comma.
    fn check(cell: &str, point: Option<f64>, comma: Option<f64>) {
        let mut digits = String::new();
        let mut read = |decimal| {
            let peeled = peel(cell)?;
            normalize(peeled.body, decimal, &mut digits)?;
            float(&digits, peeled.is_negative)
        };
        assert_eq!((read('.'), read(',')), (point, comma), "{cell}");
    }

    #[test]
    fn reads_groups_and_decimal_marks() {
        check("12", Some(12.0), Some(12.0));
        check("1,234.50", Some(1234.5), None);
        check("1.234,50", None, Some(1234.5));
        check("1,234", Some(1234.0), Some(1.234));
        check("1.234", Some(1.234), Some(1234.0));
        check("1.234.567", None, Some(1_234_567.0));
        check("1 200,50", None, Some(1200.5));
        check("1\u{202f}200,50", None, Some(1200.5));
        check("1'200.50", Some(1200.5), None);
        check("12,34,567.8", Some(1_234_567.8), None);
        check(".5", Some(0.5), None);
        check("5.", Some(5.0), None);
        check("1.5e3", Some(1500.0), None);
        check("12 34", None, None);
        check("0,123", None, Some(0.123));
        check("1,23,45", None, None);
        check("007", None, None);
        check("1,", None, Some(1.0));
        check(".", None, None);
        check("1e999", None, None);
    }

    #[test]
    fn reads_signs_and_units() {
        check("-5", Some(-5.0), Some(-5.0));
        check("\u{2212}5.5", Some(-5.5), None);
        check("(1,200.50)", Some(-1200.5), None);
        check("12.50-", Some(-12.5), None);
        check("$1,200.50", Some(1200.5), None);
        check("-$5", Some(-5.0), Some(-5.0));
        check("$-5", Some(-5.0), Some(-5.0));
        check("45 €", Some(45.0), Some(45.0));
        check("45,10€", None, Some(45.1));
        check("CHF 1'200.50", Some(1200.5), None);
        check("100 kr.", Some(100.0), Some(100.0));
        check("12.5 %", Some(12.5), None);
        check("--5", None, None);
        check("(-5)", None, None);
        check("$5 €", None, None);
        check("5 pcs", None, None);
        assert_eq!(peel("R$ 5").unwrap().unit, Unit::Currency(6));
        assert_eq!(peel("US$5").unwrap().unit, peel("5 USD").unwrap().unit);
        assert_eq!(peel("$").map(|peeled| peeled.body), None);
        assert_eq!(peel(""), None);
    }
}
