//! Item-by-item parsing of a `CREATE TABLE` that no dialect parses as a whole.

use sqlparser::ast::{ColumnDef, CommentDef, CreateTable, DataType, Ident, ObjectName, Statement};

use super::parse::{Failure, ParsedStatement, parse_in_any_dialect};
use super::split::{list, word_indices, words};
use crate::sql::Budget;

/// Keywords that follow the type of a column.
const OPTIONS: [&str; 21] = [
    "not",
    "null",
    "default",
    "primary",
    "references",
    "unique",
    "check",
    "constraint",
    "collate",
    "generated",
    "comment",
    "auto_increment",
    "autoincrement",
    "identity",
    "encode",
    "as",
    "with",
    "on",
    "codec",
    "options",
    "visible",
];

/// Keywords that start an item other than a column.
const NO_COLUMNS: [&str; 12] = [
    "constraint",
    "primary",
    "foreign",
    "unique",
    "check",
    "key",
    "index",
    "exclude",
    "period",
    "like",
    "fulltext",
    "spatial",
];

/// Returns the table with all columns and keys that can be parsed individually.
pub(super) fn salvage(text: &str, failure: Failure, budget: &mut Budget) -> Result<ParsedStatement, Failure> {
    let Some((head, items, tail)) = list(text) else {
        return Err(failure);
    };
    let Some(mut created) = table(&format!("{head} (x INT)"), budget).or_else(|| read_head(head, budget)) else {
        return Err(failure);
    };
    (created.columns, created.constraints) = (Vec::new(), Vec::new());
    let (mut rough, mut lost) = (Vec::new(), 0);
    for item in &items {
        let mut pieces = vec![item.as_str()];
        let mut read = read_all(&pieces, budget);
        if read.is_none() {
            pieces = without_commas(item);
            read = read_all(&pieces, budget);
        }
        let read = read.unwrap_or_else(|| pieces.iter().map(|piece| read_one(piece, budget)).collect());
        for (table, piece) in read.into_iter().zip(pieces) {
            if let Some(table) = table {
                created.columns.extend(table.columns);
                created.constraints.extend(table.constraints);
            } else if let Some(column) = roughly(piece, budget) {
                rough.push(column.name.value.clone());
                created.columns.push(column);
            } else {
                lost += 1;
            }
        }
    }
    if created.columns.is_empty() {
        return Err(failure);
    }
    created.comment = comment(tail).map(CommentDef::WithoutEq);
    let mut warnings = Vec::new();
    if !rough.is_empty() {
        warnings.push(format!("only name and type were parsed of {}", rough.join(", ")));
    }
    if lost > 0 {
        warnings.push(format!("{lost} of {} items were skipped", items.len()));
    }
    let warning = (!warnings.is_empty()).then(|| format!("{} ({})", warnings.join("; "), failure.reason));
    Ok(ParsedStatement { statements: vec![Statement::CreateTable(created)], warning })
}

fn table(text: &str, budget: &mut Budget) -> Option<CreateTable> {
    match parse_in_any_dialect(text, budget).ok()?.pop()? {
        Statement::CreateTable(table) => Some(table),
        _ => None,
    }
}

/// Parses the statement before the items, whatever keywords precede the name.
fn read_head(head: &str, budget: &mut Budget) -> Option<CreateTable> {
    let at = head.to_ascii_lowercase().find("table")?;
    let name = head[at + 5..].trim();
    table(&format!("CREATE TABLE {name} (x INT)"), budget)
}

fn read_one(item: &str, budget: &mut Budget) -> Option<CreateTable> {
    table(&format!("CREATE TABLE t ({item})"), budget)
}

fn read_all(items: &[&str], budget: &mut Budget) -> Option<Vec<Option<CreateTable>>> {
    let read: Vec<_> = items.iter().map(|item| read_one(item, budget)).collect();
    read.iter().all(Option::is_some).then_some(read)
}

/// Splits an item where a constraint starts: SQLite requires no comma before one.
fn without_commas(item: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut begin, mut depth, mut before, mut constraint) = (0, 0, "", false);
    for (at, word) in word_indices(item) {
        match word {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ if depth > 0 => {}
            _ => {
                let is = |wanted: &str| word.eq_ignore_ascii_case(wanted);
                let begins = is("foreign")
                    || before == ")" && ["constraint", "primary", "unique", "check"].iter().any(|wanted| is(wanted));
                if begins && !constraint && at > begin {
                    pieces.push(item[begin..at].trim());
                    begin = at;
                }
                constraint = is("constraint") || constraint && !begins && !is("foreign");
            }
        }
        before = word;
    }
    pieces.push(item[begin..].trim());
    pieces
}

/// Parses name, type, nullability and primary key of a column whose name or options no dialect accepts.
fn roughly(item: &str, budget: &mut Budget) -> Option<ColumnDef> {
    let quote = match item.chars().next()? {
        '"' => Some('"'),
        '`' => Some('`'),
        '[' => Some(']'),
        _ => None,
    };
    let (name, rest) = match quote {
        Some(quote) => item[1..].split_once(quote)?,
        None => {
            let first = item.find(char::is_whitespace).unwrap_or(item.len());
            if NO_COLUMNS.contains(&item[..first].to_ascii_lowercase().as_str()) {
                return None;
            }
            // A type starts with a letter; anything before it belongs to the name.
            let letters = item[first..].char_indices().zip(item[first..].chars().skip(1));
            let mut begins = letters.filter(|((_, before), letter)| before.is_whitespace() && letter.is_alphabetic());
            item.split_at(begins.next().map_or(item.len(), |((at, before), _)| first + at + before.len_utf8()))
        }
    };
    let mut end = 0;
    for word in rest.split_inclusive(char::is_whitespace) {
        if OPTIONS.contains(&word.trim().to_ascii_lowercase().as_str()) {
            break;
        }
        end += word.len();
    }
    let (kind, options) = rest.split_at(end);
    let options: Vec<String> = words(options).map(str::to_ascii_lowercase).collect();
    let has = |first: &str, second: &str| options.windows(2).any(|pair| pair[0] == first && pair[1] == second);
    let not_null = if has("not", "null") { " NOT NULL" } else { "" };
    let primary = if has("primary", "key") { " PRIMARY KEY" } else { "" };
    let mut column = table(&format!("CREATE TABLE t (c X{not_null}{primary})"), budget)?.columns.pop()?;
    column.name = Ident::new(name.trim());
    let kind = kind.split_whitespace().collect::<Vec<_>>().join(" ");
    column.data_type = if kind.is_empty() {
        DataType::Unspecified
    } else {
        DataType::Custom(ObjectName::from(vec![Ident::new(kind)]), Vec::new())
    };
    Some(column)
}

/// Returns `COMMENT = 'x'` or `COMMENT 'x'` of the table options.
fn comment(tail: &str) -> Option<String> {
    let at = tail.to_ascii_lowercase().find("comment")?;
    let text = tail[at + 7..].trim_start_matches(|c: char| c.is_whitespace() || c == '=');
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut found = String::new();
    let mut letters = text[1..].chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == quote && letters.next_if_eq(&quote).is_none() {
            return Some(found);
        }
        found.push(letter);
    }
    None
}
