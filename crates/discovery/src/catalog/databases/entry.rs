//! The entries of `databases`: a file, a server, or a service.

use prospector_connect::source::{Server, Source, SourceKind};

use super::{
    services,
    values::{COLUMN_ADVICE, ValuesEntry},
};
use crate::catalog::{
    entry::{EntryReader, optional, path, plain},
    environment::{Environment, url_environment, with_key},
    file_schema,
    node::{Fields, Placed},
};

/// Keys without which an entry reveals nothing more.
const HARMLESS: [&str; 5] = ["name", "type", "description", "descriptions", "functions"];

/// An entry of `databases`.
#[derive(Debug, Clone)]
pub(in crate::catalog) struct DatabaseEntry {
    pub(in crate::catalog) line: u64,
    pub(in crate::catalog) name: Option<String>,
    pub(in crate::catalog) kind: Option<SourceKind>,
    /// Empty if it is on a server.
    pub(in crate::catalog) path: String,
    pub(in crate::catalog) server: Option<Server>,
    pub(in crate::catalog) service: Option<Source>,
    pub(in crate::catalog) description: String,
    pub(in crate::catalog) descriptions: Option<String>,
    pub(in crate::catalog) tables: Vec<String>,
    /// Additional functions that queries may call.
    pub(in crate::catalog) functions: Vec<String>,
    /// Which values are indexed, if any.
    pub(in crate::catalog) values: ValuesEntry,
    /// Columns with personal data.
    pub(in crate::catalog) personal: Vec<String>,
    /// Whether a column of files has a type only if every cell has it.
    pub(in crate::catalog) is_strict: bool,
}

/// Parses an entry.
pub(super) fn read(reader: &mut EntryReader<'_>, at: usize, mut entry: Placed) -> Option<DatabaseEntry> {
    let lookup = reader.lookup;
    let what = format!("databases[{at}]");
    reader.ignore_misspelt::<file_schema::DatabaseEntry>(&what, &mut entry, &HARMLESS);
    let bigquery = services::bigquery(reader, &what, &mut entry).ok()?;
    let values = ValuesEntry::take(reader, &what, &mut entry)?;
    let mut fields = reader.fields::<file_schema::DatabaseEntry>(what, entry)?;
    let schemas = fields.texts("schemas");
    let server = server(&mut fields, &schemas, lookup);
    let service = bigquery.or(services::elasticsearch(&mut fields, lookup));
    if fields.has_failed() {
        return None;
    }
    let is_remote = server.is_some() || service.is_some();
    let path = match is_remote {
        true => optional(&mut fields, "path", lookup).unwrap_or_default(),
        false => path(&mut fields, "the file of the database", lookup)?,
    };
    let line = fields.line();
    let functions = fields.texts("functions");
    let is_plain =
        |name: &String| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'));
    if let Some(wrong) = functions.iter().find(|name| !is_plain(name)) {
        let reason = format!("databases[{at}] allows `{wrong}`, which is not a function name");
        fields.fail(line, reason, "write `functions: [name, schema.name]`");
    }
    let personal = fields.texts("personal");
    if let Some(wrong) = personal.iter().find(|name| !name.contains('.')) {
        let reason = format!("`personal` of databases[{at}] names `{wrong}`, which is not a column of a table");
        fields.fail(line, reason, COLUMN_ADVICE);
    }
    if is_remote && !path.is_empty() || server.is_some() && service.is_some() {
        let reason = format!("databases[{at}] has both `path` and `url`, or another address");
        fields.fail(line, reason, "write one of them");
    } else if server.is_none() && !schemas.is_empty() {
        fields.fail(line, format!("databases[{at}] has `schemas` but no `url`"), "remove `schemas`");
    }
    let entry = DatabaseEntry {
        line,
        name: plain(&mut fields, "name"),
        kind: fields.word("type", "database type", &SourceKind::ALL.map(SourceKind::as_str), SourceKind::from_name),
        path,
        server,
        service,
        description: plain(&mut fields, "description").unwrap_or_default(),
        descriptions: optional(&mut fields, "descriptions", lookup),
        tables: fields.texts("tables"),
        functions,
        values,
        personal,
        is_strict: fields.flag("strict").unwrap_or_default(),
    };
    (!fields.has_failed()).then_some(entry)
}

/// Parses the server of a `url`. The text is never shown: it may contain a password.
fn server(fields: &mut Fields<'_>, schemas: &[String], lookup: Environment<'_>) -> Option<Server> {
    let (text, line) = fields.text("url")?;
    let server = url_environment(&text, lookup)
        .map_err(|error| (error.to_string(), "set it, or write the value itself"))
        .and_then(|url| {
            Server::new(&with_key(url, lookup), schemas).map_err(|error| {
                (error.to_string(), "write postgres://, mysql:// or mongodb://user:${NAME}@host/database")
            })
        });
    let server = server.map_err(|(reason, advice)| fields.fail(line, format!("`url`: {reason}"), advice)).ok()?;
    if !server.ignored_parameters().is_empty() {
        // Names only: a value may be a secret.
        let names = server.ignored_parameters().join("`, `");
        fields.warn(line, format!("`url`: the parameters `{names}` are ignored"), "remove them from the URL");
    }
    Some(server)
}
