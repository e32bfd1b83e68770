//! The text that a source is sent: as it was written, without comments and without the name of the database.

use sqlparser::ast::Spanned;

use crate::guard::{Checked, Places};
use crate::source::{Found, Source};
use crate::{Dialect, Failure};

/// The statement in the names of the source.
pub(crate) fn text(sql: &str, checked: &Checked, found: &[Found], source: &Source) -> Result<String, Failure> {
    let dialect = source.dialect();
    let places = Places::new(sql);
    let mut changes: Vec<(usize, usize, String)> =
        checked.cuts.iter().map(|(start, end)| (*start, *end, " ".to_owned())).collect();
    for found in found {
        // PostgreSQL looks in other schemas first unless told.
        if !found.is_prefixed && dialect != Dialect::Postgres {
            continue;
        }
        let span = found.written.span();
        if span.start.line == 0 {
            let message = format!("`{}` cannot be placed in the statement", found.written);
            return Err(Failure::new("refused", message).advise("write the table without its database"));
        }
        let (start, end) = places.range(span);
        changes.push((start, end, written(dialect, &source.tables[found.table].name)));
    }
    for parts in checked.qualified.iter().filter(|parts| parts.len() > 2) {
        let names_source = parts[0].value.eq_ignore_ascii_case(&source.name);
        let follows = |found: &&Found| {
            let last = found.written.0.iter().rev().filter_map(|part| part.as_ident()).next();
            found.is_prefixed && last.is_some_and(|last| last.value.eq_ignore_ascii_case(&parts[parts.len() - 2].value))
        };
        if names_source && parts[0].span.start.line > 0 && found.iter().any(|found| follows(&found)) {
            let (start, end) = places.range(parts[0].span);
            let dot = sql[end..].find('.').map_or(end, |dot| end + dot + 1);
            changes.push((start, dot, String::new()));
        }
    }
    changes.sort();
    let (mut text, mut at) = (String::with_capacity(sql.len()), 0);
    for (start, end, new) in changes {
        if start < at {
            continue;
        }
        text.push_str(&sql[at..start]);
        text.push_str(&new);
        at = end;
    }
    text.push_str(&sql[at..]);
    Ok(text.trim().to_owned())
}

/// A name as an identifier.
pub(crate) fn quoted(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Mysql => format!("`{}`", name.replace('`', "``")),
        // A column inside a record is a path.
        Dialect::Bigquery => {
            let part = |part: &str| format!("`{}`", part.replace('\\', "\\\\").replace('`', "\\`"));
            name.split('.').map(part).collect::<Vec<_>>().join(".")
        }
        _ => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// The name of a table as the source has it.
pub(crate) fn written(dialect: Dialect, name: &str) -> String {
    let quoted = |name: &str| quoted(dialect, name);
    match (dialect, name.split_once('.')) {
        (Dialect::Postgres, None) => format!("public.{}", quoted(name)),
        (Dialect::Postgres | Dialect::Mysql, Some((schema, table))) => format!("{}.{}", quoted(schema), quoted(table)),
        _ => quoted(name),
    }
}
