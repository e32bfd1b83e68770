//! Files with one JSON object per line.

use std::path::Path;

use serde::de::DeserializeOwned;

use crate::error::{BenchError, LineError};

/// Reads a file whose lines are each a `what`, and parses them.
///
/// # Errors
/// If the file cannot be read or is empty, or for its first invalid line.
pub(crate) fn read<T>(
    path: &Path,
    what: &'static str,
    parse: impl Fn(&str) -> Result<T, LineError>,
) -> Result<Vec<T>, BenchError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| BenchError::Read { what, path: path.to_owned(), source })?;
    let parsed: Result<Vec<T>, BenchError> = lines(&text)
        .map(|(line, text)| parse(text).map_err(|fault| BenchError::Line { path: path.to_owned(), line, fault }))
        .collect();
    let parsed = parsed?;
    if parsed.is_empty() {
        return Err(BenchError::Empty { what, path: path.to_owned() });
    }
    Ok(parsed)
}

/// Iterates over the non-blank lines of a text, with their numbers from 1.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())).filter(|(_, line)| !line.is_empty())
}

/// Parses a line as a `what`.
///
/// # Errors
/// If it has another structure.
pub(crate) fn parse<T: DeserializeOwned>(line: &str, what: &'static str) -> Result<T, LineError> {
    serde_json::from_str(line).map_err(|source| LineError::Shape { what, source })
}
