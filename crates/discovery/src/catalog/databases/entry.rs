//! The entries of `databases`: a file, a server, or a service.

use prospector_connect::source::{Server, Source, SourceKind};

use super::{
    services,
    values::{COLUMN_ADVICE, ValuesEntry},
};
use crate::catalog::{
    entry::Fields,
    environment::{url_environment, with_key},
    file_schema,
};

/// Keys without which an entry reveals nothing more.
pub(in crate::catalog) const HARMLESS: [&str; 5] = ["name", "type", "description", "descriptions", "functions"];

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

/// Checks an entry.
pub(in crate::catalog) fn check(
    fields: &mut Fields<'_>,
    mut written: file_schema::DatabaseEntry,
) -> Option<DatabaseEntry> {
    let what = fields.what.clone();
    let bigquery = written.bigquery.take().and_then(|written| services::read_bigquery(fields, written));
    let service = bigquery.or(services::read_elasticsearch(fields, &written));
    let values = ValuesEntry::read(fields, written.values);
    let schemas = written.schemas.unwrap_or_default();
    let server = written.url.and_then(|url| read_server(fields, &url, &schemas));
    if fields.has_failed() {
        return None;
    }
    let is_remote = server.is_some() || service.is_some();
    let path = match is_remote {
        true => fields.expand("path", written.path).unwrap_or_default(),
        false => fields.path("the file of the database", written.path)?,
    };
    let line = fields.line();
    let functions = written.functions.unwrap_or_default();
    let is_plain =
        |name: &String| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'));
    if let Some(wrong) = functions.iter().find(|name| !is_plain(name)) {
        let reason = format!("{what} allows `{wrong}`, which is not a function name");
        fields.fail(line, reason, "write `functions: [name, schema.name]`");
    }
    let personal = written.personal.unwrap_or_default();
    if let Some(wrong) = personal.iter().find(|name| !name.contains('.')) {
        let reason = format!("`personal` of {what} names `{wrong}`, which is not a column of a table");
        fields.fail(line, reason, COLUMN_ADVICE);
    }
    if is_remote && !path.is_empty() || server.is_some() && service.is_some() {
        let reason = format!("{what} has both `path` and `url`, or another address");
        fields.fail(line, reason, "write one of them");
    } else if server.is_none() && !schemas.is_empty() {
        fields.fail(line, format!("{what} has `schemas` but no `url`"), "remove `schemas`");
    }
    let kinds = SourceKind::ALL.map(SourceKind::as_str);
    Some(DatabaseEntry {
        line,
        name: fields.name(written.name),
        kind: fields.word("type", written.kind, "database type", &kinds, SourceKind::from_name),
        path,
        server,
        service,
        description: written.description.unwrap_or_default(),
        descriptions: fields.expand("descriptions", written.descriptions),
        tables: written.tables.unwrap_or_default(),
        functions,
        values,
        personal,
        is_strict: written.strict.unwrap_or_default(),
    })
}

/// Parses the server of a `url`. The text is never shown: it may contain a password.
fn read_server(fields: &mut Fields<'_>, url: &str, schemas: &[String]) -> Option<Server> {
    let (line, lookup) = (fields.line_of("url"), fields.reader.lookup);
    let server = url_environment(url, lookup)
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
