//! Parsing and formatting of numbers, and axis ticks.

use serde_json::Value;

/// Parses a number; some sources return decimals as texts.
pub(crate) fn read(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let is_plain =
                text.len() < 40 && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
            // A code with leading zeros is a text.
            let is_code = text.len() > 1 && text.starts_with('0') && text.as_bytes()[1].is_ascii_digit();
            (is_plain && !is_code).then(|| text.parse().ok()).flatten()
        }
        _ => None,
    };
    number.filter(|number: &f64| number.is_finite())
}

/// Formats with digit grouping and only significant decimals.
pub(crate) fn write(value: f64) -> String {
    group(value, &trim(format!("{:.*}", telling_decimals(value), value.abs())))
}

/// Returns the number of significant decimals.
fn telling_decimals(value: f64) -> usize {
    let size = value.abs();
    match size {
        _ if (value - value.round()).abs() < 1e-9 => 0,
        _ if size >= 1_000.0 => 1,
        _ if size >= 1.0 => 2,
        // Three significant digits.
        _ => (2 - size.log10().floor().max(-9.0) as i64).unsigned_abs() as usize,
    }
}

/// Returns the common number of decimals for a column of numbers.
pub(crate) fn count_decimals(values: &[f64]) -> usize {
    let of = |value: &f64| {
        let text = trim(format!("{:.*}", telling_decimals(*value), value.abs()));
        text.split_once('.').map_or(0, |(_, rest)| rest.len())
    };
    values.iter().map(of).max().unwrap_or(0)
}

/// Formats with this number of decimals and a unit.
pub(crate) fn write_to(value: f64, decimals: usize, unit: Option<&str>) -> String {
    add_unit(group(value, &format!("{:.decimals$}", value.abs())), unit)
}

/// Formats with a unit.
pub(crate) fn write_unit(value: f64, unit: Option<&str>) -> String {
    add_unit(write(value), unit)
}

fn add_unit(number: String, unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("{number} {unit}"),
        None => number,
    }
}

/// Formats in few characters: 1.2M.
pub(crate) fn short(value: f64) -> String {
    for (size, mark) in [(1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")] {
        if value.abs() >= size && (size > 1e3 || value.abs() >= 1e4) {
            let parts = (value / size * 100.0).round() / 100.0;
            return format!("{}{mark}", trim(format!("{parts:.2}")));
        }
    }
    write(value)
}

/// Groups the digits of a value by three, with its sign.
fn group(value: f64, digits: &str) -> String {
    let (whole, rest) = digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(rest) = rest {
        out.push('.');
        out.push_str(rest);
    }
    if value < 0.0 && out.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) { format!("−{out}") } else { out }
}

/// Removes trailing zeros after a decimal point.
fn trim(text: String) -> String {
    if !text.contains('.') { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// Returns about `about` round numbers that span the range from the lowest to the highest value.
pub(crate) fn ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let (low, high) = if high > low { (low, high) } else { (low.min(0.0), low.max(0.0).max(low + 1.0)) };
    let rough = (high - low) / about.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step + 1e-9).floor() as i64, (high / step - 1e-9).ceil() as i64);
    (first..=last).map(|at| at as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parses_numbers_of_sources() {
        for (value, expected) in [
            (json!(3), Some(3.0)),
            (json!("12.50"), Some(12.5)),
            (json!("0.5"), Some(0.5)),
            (json!("007"), None),
            (json!("1e400"), None),
            (json!("nan"), None),
            (json!("2025-01"), None),
            (json!(true), None),
            (json!(null), None),
        ] {
            assert_eq!(read(&value), expected, "{value}");
        }
    }

    #[test]
    fn formats_numbers_for_display() {
        for (value, whole, short_one) in [
            (0.0, "0", "0"),
            (1234567.0, "1,234,567", "1.23M"),
            (-4500.26, "−4,500.3", "−4,500.3"),
            (0.0216, "0.0216", "0.0216"),
            (3.2061, "3.21", "3.21"),
            (128400.5, "128,400.5", "128.4k"),
            (-0.0000000001, "0", "0"),
        ] {
            assert_eq!((write(value).as_str(), short(value).as_str()), (whole, short_one));
        }
        assert_eq!(write_unit(5.0, Some("%")), "5 %");
    }

    #[test]
    fn aligns_decimals_in_a_column() {
        let values = [1290.42, 29.3, 5.0];
        let decimals = count_decimals(&values);
        assert_eq!(values.map(|value| write_to(value, decimals, None)), ["1,290.4", "29.3", "5.0"]);
        assert_eq!(count_decimals(&[3.0, 4.0]), 0);
        assert_eq!(write_to(-2.5, 2, Some("%")), "−2.50 %");
    }

    #[test]
    fn ticks_are_round_and_cover_all_values() {
        assert_eq!(ticks(0.0, 97.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(-45.0, 120.0, 5), [-50.0, 0.0, 50.0, 100.0, 150.0]);
        assert_eq!(ticks(0.0, 0.0, 4).first(), Some(&0.0));
        assert!(ticks(1e-12, 3e-12, 4).len() < 12 && ticks(7.0, 7.0, 3).len() < 12);
    }
}
