//! Replacements of SQLite text functions that run in linear instead of quadratic time.
//!
//! One call is one instruction of the SQLite virtual machine, which cannot be interrupted. The built-in `instr`,
//! `replace`, `trim`, `ltrim`, `rtrim` and `unhex` compare every position of one argument with all of another: for eight
//! megabytes that takes hours. On connections for user statements they are replaced by these functions, which return the
//! same results.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use memchr::memmem;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, ffi};

/// Replaces the built-in functions.
pub(super) fn replace_slow_ones(connection: &Connection) -> Result<(), Error> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    let most = usize::try_from(connection.limit(Limit::SQLITE_LIMIT_LENGTH)?).unwrap_or(0);
    connection
        .create_scalar_function("instr", 2, flags, |context| Ok(instr(context.get_raw(0), context.get_raw(1))))?;
    connection.create_scalar_function("replace", 3, flags, move |context| replace(context, most))?;
    for (name, left, right) in [("trim", true, true), ("ltrim", true, false), ("rtrim", false, true)] {
        connection.create_scalar_function(name, 2, flags, move |context| Ok(trim(context, left, right)))?;
    }
    connection.create_scalar_function("unhex", 2, flags, |context| Ok(unhex(context)))?;
    Ok(())
}

/// Converts a value to text like SQLite; `None` for null.
fn text(value: ValueRef<'_>) -> Option<Cow<'_, [u8]>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string().into_bytes().into()),
        ValueRef::Real(number) => Some(real(number).into_bytes().into()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.into()),
    }
}

/// Formats a number with 15 digits, without trailing zeros but always with a decimal point.
fn real(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Inf" } else { "-Inf" }.to_owned();
    }
    let written = format!("{:.14e}", number.abs());
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    let at = |from: usize| digits.get(from..).filter(|rest| !rest.is_empty()).unwrap_or("0");
    let first = if digits.is_empty() { "0" } else { &digits[..1] };
    let sign = if number < 0.0 { "-" } else { "" };
    match exponent {
        15.. | ..=-5 => {
            let mark = if exponent < 0 { '-' } else { '+' };
            format!("{sign}{first}.{}e{mark}{:02}", at(1), exponent.abs())
        }
        ..0 => {
            let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
            format!("{sign}0.{}{}", "0".repeat(zeros), digits)
        }
        _ => {
            let whole = usize::try_from(exponent).unwrap_or(0) + 1;
            let padded = format!("{digits:0<whole$}");
            format!("{sign}{}.{}", &padded[..whole], at(whole))
        }
    }
}

/// Whether a byte is not the first of its character.
fn continues(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Returns the position of the second value in the first, counted in characters from 1, or in bytes if both are bytes; 0
/// if it does not occur.
fn instr(whole: ValueRef<'_>, part: ValueRef<'_>) -> Option<i64> {
    let are_bytes = matches!((whole, part), (ValueRef::Blob(_), ValueRef::Blob(_)));
    let (whole, part) = (text(whole)?, text(part)?);
    if part.is_empty() {
        return Some(1);
    }
    let place = match part.first().is_some_and(|first| continues(*first)) && !are_bytes {
        // A match can only start at the start of a character.
        true => whole.starts_with(&part).then_some(0),
        false => memmem::find(&whole, &part),
    };
    let count = |before: &[u8]| match are_bytes {
        true => before.len(),
        // The first byte counts, whatever it is.
        false => before.iter().enumerate().filter(|(at, byte)| *at == 0 || !continues(**byte)).count(),
    };
    Some(place.map_or(0, |at| i64::try_from(count(&whole[..at])).map_or(i64::MAX, |before| before + 1)))
}

fn replace(context: &Context<'_>, most: usize) -> Result<Option<Value>, Error> {
    let texts = (text(context.get_raw(0)), text(context.get_raw(1)), text(context.get_raw(2)));
    let (Some(whole), Some(part)) = (texts.0, texts.1) else { return Ok(None) };
    if part.first().is_none_or(|first| *first == 0) {
        return Ok(Some(to_text(whole.into_owned())));
    }
    let Some(new) = texts.2 else { return Ok(None) };
    let too_large = || Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None);
    let (mut made, mut from) = (Vec::with_capacity(whole.len()), 0);
    for at in memmem::find_iter(&whole, &part) {
        made.extend_from_slice(&whole[from..at]);
        if made.len() + new.len() > most {
            return Err(too_large());
        }
        made.extend_from_slice(&new);
        from = at + part.len();
    }
    made.extend_from_slice(&whole[from..]);
    if made.len() > most { Err(too_large()) } else { Ok(Some(to_text(made))) }
}

/// Converts bytes to a text.
fn to_text(bytes: Vec<u8>) -> Value {
    Value::Text(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Returns the characters up to the first NUL: a byte with its continuation bytes.
fn characters(text: &[u8]) -> HashSet<&[u8]> {
    let mut found = HashSet::new();
    let mut rest = text.split(|byte| *byte == 0).next().unwrap_or_default();
    while let Some(first) = rest.first() {
        let more = if *first >= 0xc0 { rest[1..].iter().take_while(|byte| continues(**byte)).count() } else { 0 };
        let (character, after) = rest.split_at(1 + more);
        found.insert(character);
        rest = after;
    }
    found
}

fn trim(context: &Context<'_>, left: bool, right: bool) -> Option<Value> {
    let (whole, set) = (text(context.get_raw(0))?, text(context.get_raw(1))?);
    let set = characters(&set);
    let lengths: BTreeSet<usize> = set.iter().map(|character| character.len()).collect();
    let mut kept: &[u8] = &whole;
    while left && let Some(length) = lengths.iter().find(|length| kept.get(..**length).is_some_and(|c| set.contains(c)))
    {
        kept = &kept[*length..];
    }
    let ends = |kept: &[u8], length: usize| kept.len().checked_sub(length).is_some_and(|at| set.contains(&kept[at..]));
    while right && let Some(length) = lengths.iter().find(|length| ends(kept, **length)) {
        kept = &kept[..kept.len() - length];
    }
    Some(to_text(kept.to_vec()))
}

/// Decodes pairs of hexadecimal digits, ignoring characters of the second value between the pairs.
fn unhex(context: &Context<'_>) -> Option<Vec<u8>> {
    let (digits, between) = (text(context.get_raw(0))?, text(context.get_raw(1))?);
    let between: HashSet<char> = String::from_utf8_lossy(&between).chars().collect();
    let digits = String::from_utf8_lossy(&digits);
    let mut characters = digits.chars().take_while(|character| *character != '\0');
    let mut made = Vec::new();
    while let Some(first) = characters.next() {
        let Some(high) = first.to_digit(16) else { if between.contains(&first) { continue } else { return None } };
        let low = characters.next()?.to_digit(16)?;
        made.push(u8::try_from(high * 16 + low).ok()?);
    }
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deterministic pseudo-random number generator.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, most: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % most
        }

        /// Returns a value of any type with few distinct characters.
        fn value(&mut self) -> Value {
            let letters = ["a", "b", "ab", "ä", "€", "😀", " ", "1", "f", ".", "A"];
            let text: String = (0..self.below(8)).map(|_| letters[self.below(letters.len())]).collect();
            match self.below(10) {
                0 => Value::Null,
                1 => Value::Integer(self.below(2_000) as i64 - 1_000),
                2 => {
                    Value::Real((self.below(20_000) as f64 - 10_000.0) / 64.0 * 10_f64.powi(self.below(60) as i32 - 30))
                }
                3 => Value::Blob(text.into_bytes()),
                _ => Value::Text(text),
            }
        }
    }

    #[test]
    fn returns_the_same_results_as_sqlite() {
        let (own, ours) = (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
        replace_slow_ones(&ours).unwrap();
        let mut numbers = Numbers(7);
        for (call, arguments) in [
            ("instr(?1, ?2)", 2),
            ("replace(?1, ?2, ?3)", 3),
            ("trim(?1, ?2)", 2),
            ("ltrim(?1, ?2)", 2),
            ("rtrim(?1, ?2)", 2),
            ("unhex(?1, ?2)", 2),
        ] {
            let sql = format!("SELECT quote({call}), typeof({call})");
            let (mut expected, mut found) = (own.prepare(&sql).unwrap(), ours.prepare(&sql).unwrap());
            for _ in 0..20_000 {
                let values: Vec<Value> = (0..arguments).map(|_| numbers.value()).collect();
                let get = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
                let bound = || rusqlite::params_from_iter(&values);
                assert_eq!(
                    found.query_row(bound(), get).unwrap(),
                    expected.query_row(bound(), get).unwrap(),
                    "{call} {values:?}"
                );
            }
        }
    }

    #[test]
    fn formats_numbers_like_sqlite() {
        let own = Connection::open_in_memory().unwrap();
        for number in
            [0.0, -0.0, 1.0, -1.5, 1e14, 1e15, 123_456_789_012_345.0, 1e-4, 1e-5, 0.1, 1e300, -2.5e-300, f64::INFINITY]
        {
            let expected: String = own.query_row("SELECT CAST(?1 AS TEXT)", [number], |row| row.get(0)).unwrap();
            assert_eq!(real(number), expected);
        }
    }
}
