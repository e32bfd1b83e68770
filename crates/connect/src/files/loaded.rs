//! Loads a whole JSON file, with types that fit all rows. Invalid records are skipped and reported.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, RecordBatch, StringBuilder};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use indexmap::IndexSet;
use prospector_core::Problem;
use serde_json::{Map, Value};

use super::delimited::unpack_file;
use super::failure::FileError;
use super::naming::column_names;
use super::narrow::{MAX_COLUMNS, left_out};
use crate::encoding::decode;

/// Maximum number of values loaded from a file of fewer bytes.
const MAX_CELLS: usize = 64_000_000;

/// The common type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Nothing,
    Bool,
    Int,
    Float,
    Text,
}

impl Kind {
    fn of_value(value: &Value) -> Kind {
        match value {
            Value::Null => Kind::Nothing,
            Value::Bool(_) => Kind::Bool,
            Value::Number(number) if number.is_i64() => Kind::Int,
            Value::Number(number) if number.is_f64() => Kind::Float,
            _ => Kind::Text,
        }
    }

    fn and(self, other: Kind) -> Kind {
        match (self, other) {
            (same, other) if same == other => same,
            (Kind::Nothing, kind) | (kind, Kind::Nothing) => kind,
            (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => Kind::Float,
            _ => Kind::Text,
        }
    }
}

/// A column under construction.
enum Filling {
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Float(Float64Builder),
    Text(StringBuilder),
}

impl Filling {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Bool => Filling::Bool(BooleanBuilder::new()),
            Kind::Int => Filling::Int(Int64Builder::new()),
            Kind::Float => Filling::Float(Float64Builder::new()),
            Kind::Nothing | Kind::Text => Filling::Text(StringBuilder::new()),
        }
    }

    fn push_value(&mut self, value: &Value) {
        match self {
            Filling::Bool(column) => column.append_option(value.as_bool()),
            Filling::Int(column) => column.append_option(value.as_i64()),
            Filling::Float(column) => column.append_option(value.as_f64()),
            Filling::Text(column) => match value {
                Value::Null => column.append_null(),
                Value::String(text) => column.append_value(text),
                other => column.append_value(other.to_string()),
            },
        }
    }

    fn done(self) -> ArrayRef {
        match self {
            Filling::Bool(mut column) => Arc::new(column.finish()),
            Filling::Int(mut column) => Arc::new(column.finish()),
            Filling::Float(mut column) => Arc::new(column.finish()),
            Filling::Text(mut column) => Arc::new(column.finish()),
        }
    }
}

fn batch(names: Vec<String>, columns: Vec<Filling>) -> Result<RecordBatch, FileError> {
    let columns: Vec<ArrayRef> = columns.into_iter().map(Filling::done).collect();
    let field = |(name, column): (String, &ArrayRef)| Field::new(name, column.data_type().clone(), true);
    let schema: Vec<Field> = names.into_iter().zip(&columns).map(field).collect();
    debug_assert!(schema.iter().all(|field| *field.data_type() != DataType::Null));
    Ok(RecordBatch::try_new(Arc::new(Schema::new(schema)), columns)?)
}

/// Converts rows to a batch with types that fit all values of each column.
pub(super) fn rows(columns: &[String], rows: &[Vec<Value>]) -> Result<RecordBatch, FileError> {
    let names = column_names(columns.iter().map(String::as_str));
    let mut kinds = vec![Kind::default(); names.len()];
    for row in rows {
        for (kind, value) in kinds.iter_mut().zip(row) {
            *kind = kind.and(Kind::of_value(value));
        }
    }
    let mut filled: Vec<Filling> = kinds.into_iter().map(Filling::new).collect();
    for row in rows {
        for (at, column) in filled.iter_mut().enumerate() {
            column.push_value(row.get(at).unwrap_or(&Value::Null));
        }
    }
    batch(names, filled)
}

/// Reads the text of a file of at most `most` decompressed bytes.
fn read(path: &Path, most: u64) -> Result<(String, Vec<Problem>), FileError> {
    let mut bytes = Vec::new();
    unpack_file(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let reason = format!("it decompresses to more than the limit of {} MB; decompress the file", most >> 20);
        return Err(FileError::Unreadable(reason));
    }
    let (text, encoding) = decode(bytes);
    let note = |encoding| {
        let problem =
            Problem::warning(path.display().to_string(), format!("it is not UTF-8; it was read as {encoding}"));
        problem.advise("save the file as UTF-8")
    };
    Ok((text, encoding.map(note).into_iter().collect()))
}

fn at_line(path: &Path, line: impl std::fmt::Display, reason: String) -> Problem {
    Problem::warning(format!("{}:{line}", path.display()), reason)
}

/// Loads a JSON file: a list of records, or a sequence of records. A list item that is not an object becomes a record
/// with the column `value`.
pub(super) fn json(path: &Path, most: u64) -> Result<(RecordBatch, Vec<Problem>), FileError> {
    let (text, mut notes) = read(path, most)?;
    let (mut names, mut kinds) = (IndexSet::<String>::new(), Vec::<Kind>::new());
    let mut records = 0;
    let faults = each_record(&text, |record| {
        records += 1;
        for (name, value) in record {
            let kind = Kind::of_value(&value);
            let (index, is_new) = names.insert_full(name);
            if is_new {
                kinds.push(Kind::default());
            }
            kinds[index] = kinds[index].and(kind);
        }
    });
    if names.len() > MAX_COLUMNS {
        notes.push(left_out(&path.display().to_string(), names.len()));
        names.truncate(MAX_COLUMNS);
        kinds.truncate(MAX_COLUMNS);
    }
    check_cells(records, names.len(), text.len())?;
    // In a file that is not JSON, some lines may still parse as records.
    if records == 0 || faults.number > records {
        return Err(FileError::Unreadable(faults.first.map_or_else(
            || "it contains no records".to_owned(),
            |(line, reason)| format!("it is not JSON: line {line}: {reason}"),
        )));
    }
    if names.is_empty() {
        return Err(FileError::NoColumns);
    }
    if let Some((line, reason)) = faults.first {
        notes.push(if faults.ended_early {
            at_line(path, line, format!("the records from here on are skipped: {reason}"))
                .advise("the file is damaged or truncated; export it again")
        } else {
            at_line(path, line, format!("{} skipped because of invalid JSON: {reason}", lines(faults.number)))
        });
    }
    let mut columns: Vec<Filling> = kinds.into_iter().map(Filling::new).collect();
    each_record(&text, |record| {
        for (name, column) in names.iter().zip(&mut columns) {
            column.push_value(record.get(name).unwrap_or(&Value::Null));
        }
    });
    Ok((batch(names.into_iter().collect(), columns)?, notes))
}

/// Checks the size of the table, which may far exceed that of the file if rows lack most columns.
fn check_cells(rows: usize, columns: usize, bytes: usize) -> Result<(), FileError> {
    match rows.saturating_mul(columns) <= bytes.max(MAX_CELLS) {
        true => Ok(()),
        false => {
            let reason = format!("its {rows} rows lack most of its {columns} columns; the table would be too large");
            Err(FileError::Unreadable(reason))
        }
    }
}

fn lines(number: usize) -> String {
    if number == 1 { "1 line was".to_owned() } else { format!("{number} lines were") }
}

/// Counts JSON values that are not objects.
#[derive(Default)]
struct Faults {
    number: usize,
    first: Option<(usize, String)>,
    ended_early: bool,
}

impl Faults {
    fn add(&mut self, before: &str, reason: String) {
        self.number += 1;
        self.first.get_or_insert_with(|| (before.matches('\n').count() + 1, reason));
    }
}

fn each_record(text: &str, mut take: impl FnMut(Map<String, Value>)) -> Faults {
    let mut faults = Faults::default();
    let mut rest = text.trim_start();
    let is_list = rest.starts_with('[');
    rest = rest.strip_prefix('[').unwrap_or(rest);
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || is_list && c == ',');
        let before = &text[..text.len() - rest.len()];
        if let Some(after) = rest.strip_prefix(']').filter(|_| is_list) {
            let after = after.trim_start();
            if !after.is_empty() {
                faults.add(&text[..text.len() - after.len()], "text follows the end of the list".to_owned());
                faults.ended_early = true;
            }
            return faults;
        }
        if rest.is_empty() {
            if is_list {
                faults.add(before, "the list does not end".to_owned());
                faults.ended_early = true;
            }
            return faults;
        }
        let line = rest.lines().next().unwrap_or_default();
        // A single line is tried first, so that an invalid one does not affect the next.
        if !is_list && let Ok(record) = serde_json::from_str(line) {
            take(record);
            rest = &rest[line.len()..];
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(record))) => {
                take(record);
                rest = &rest[values.byte_offset()..];
            }
            Some(Ok(value)) if is_list => {
                take(Map::from_iter([("value".to_owned(), value)]));
                rest = &rest[values.byte_offset()..];
            }
            Some(Ok(_)) => {
                faults.add(before, "it is not an object".to_owned());
                rest = &rest[line.len()..];
            }
            Some(Err(error)) if is_list => {
                faults.add(before, without_place(&error));
                faults.ended_early = true;
                return faults;
            }
            Some(Err(error)) => {
                faults.add(before, without_place(&error));
                rest = &rest[line.len()..];
            }
            None => return faults,
        }
    }
}

/// Removes the position, which the parser counts from the start of the record.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, records: &[&str], fault: Option<&str>) {
        let mut found = Vec::new();
        let faults = each_record(text, |record| found.push(Value::from(record).to_string()));
        assert_eq!(found, records, "{text}");
        assert_eq!(faults.first.map(|(line, reason)| format!("{line}: {reason}")).as_deref(), fault, "{text}");
    }

    #[test]
    fn loads_lists_lines_and_single_records() {
        check(r#"[{"a":1}, {"a":[2,{}]},3]"#, &[r#"{"a":1}"#, r#"{"a":[2,{}]}"#, r#"{"value":3}"#], None);
        check("\n{\"a\":1}\r\n\n{\"a\":2}\n", &[r#"{"a":1}"#, r#"{"a":2}"#], None);
        check("{\n \"a\":\n 1\n}\n{\n}", &[r#"{"a":1}"#, "{}"], None);
        check("", &[], None);
    }

    #[test]
    fn an_invalid_line_does_not_affect_others() {
        check("{\"a\":1}\n{\"a\":\n{\"a\":3}\n4\n", &[r#"{"a":1}"#, r#"{"a":3}"#], Some("2: expected `,` or `}`"));
    }

    #[test]
    fn keeps_the_records_before_a_truncation() {
        check("[{\"a\":1},\n{\"a\"", &[r#"{"a":1}"#], Some("2: EOF while parsing an object"));
        check("[{\"a\":1}\n", &[r#"{"a":1}"#], Some("2: the list does not end"));
        check("[{\"a\":1},", &[r#"{"a":1}"#], Some("1: the list does not end"));
        check("[{\"a\":1}]\n\n[{\"a\":2}]", &[r#"{"a":1}"#], Some("3: text follows the end of the list"));
    }
}
