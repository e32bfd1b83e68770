//! What a file is, told from its name and its beginning.

use std::{fs::File, io::Read, path::Path};

use prospector_api::ApiSource;
use prospector_connect::source::SourceKind;
use prospector_documents::Format;
use prospector_skills::SkillFolder;

/// How much of a file is looked at, in bytes.
const HEAD: u64 = 64 << 10;

/// A larger text file of rows is only read where it is named itself.
const MAX_TEXT_DATA: u64 = 2 << 30;

/// A larger document is only read where it is named itself.
const MAX_DOCUMENT: u64 = 32 << 20;

/// Texts that say nothing of what a project knows.
const PLAIN_TEXTS: [&str; 5] = ["cmakelists", "license", "requirements", "robots", "requirements-dev"];

/// Extensions of files that are looked into besides those of data and documents; none at all is one too.
const OTHERS: [&str; 13] =
    ["", "bz2", "ddb", "duckdb", "gql", "graphql", "graphqls", "gz", "xz", "yaml", "yml", "zip", "zst"];

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Rows, or a schema.
    Data(SourceKind),
    /// The description of an API.
    Api,
    /// A document.
    Document,
    /// The instructions of a skill.
    Skill,
    /// The settings of a dbt project.
    DbtProject,
    /// Like something that is read, but it is not.
    Refused {
        /// Why not.
        reason: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
    /// Anything else.
    Unknown,
}

fn refuse(reason: &'static str, advice: &'static str) -> Class {
    Class::Refused { reason, advice }
}

/// What a file is. One that somebody `named` is taken where there is doubt; in a folder it is left out.
pub(super) fn classify(path: &Path, named: bool) -> Class {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    if name.eq_ignore_ascii_case(SkillFolder::FILE) {
        return Class::Skill;
    }
    if matches!(name.as_str(), "dbt_project.yml" | "dbt_project.yaml") {
        return Class::DbtProject;
    }
    if name.ends_with(".descriptions.json") {
        return Class::Unknown;
    }
    let kind = SourceKind::from_path(path);
    let format = Format::from_extension(&extension);
    // Most files of a program are not worth looking into.
    if !named && kind.is_none() && format.is_none() && !OTHERS.contains(&extension.as_str()) {
        return Class::Unknown;
    }
    let (head, bytes) = match read_head(path) {
        Ok(read) => read,
        Err(_) => return refuse("it cannot be read", "give yourself the right to read it"),
    };
    if let Some(class) = by_content(&head) {
        return class;
    }
    match (kind, extension.as_str()) {
        (_, "duckdb" | "ddb") => DUCKDB,
        (Some(kind), "gz") => match head.starts_with(&[0x1f, 0x8b]) {
            true => Class::Data(kind),
            false => refuse("it is not packed with gzip", "correct its extension"),
        },
        (_, "gz" | "zst" | "bz2" | "xz" | "zip") if holds_data(path) => {
            refuse("it is compressed in a way that is not supported", "unpack it, or compress it with gzip")
        }
        (_, "graphql" | "graphqls" | "gql" | "yaml" | "yml") => match ApiSource::describes(path) {
            true => Class::Api,
            false if named => refuse("it describes no API", "name an OpenAPI or a GraphQL description"),
            false => Class::Unknown,
        },
        (Some(kind), _) if head.is_empty() && format.is_none() => match kind {
            SourceKind::Sqlite => refuse("it is an empty file", "name a file with tables"),
            _ => refuse("it is empty", "name a file with rows"),
        },
        (Some(SourceKind::Json), _) => json(path, &head, named),
        (Some(SourceKind::Ddl), _) => match find_in(&head, "create table") || find_in(&head, "create or replace table")
        {
            true => Class::Data(SourceKind::Ddl),
            false => refuse("it has no CREATE TABLE statements", "name the scripts that make the tables"),
        },
        (Some(SourceKind::Sqlite), _) => refuse("it is no SQLite file", "name a SQLite 3 database"),
        (Some(SourceKind::Xlsx), _) if !head.starts_with(b"PK") => {
            refuse("it is not an XLSX workbook, or it is encrypted", "save it as XLSX without a password")
        }
        (Some(SourceKind::Parquet), _) => refuse("it is no Parquet file", "write it anew"),
        (Some(SourceKind::Csv | SourceKind::Jsonl), _) if !named && bytes > MAX_TEXT_DATA => {
            refuse("it has more than 2 GB", "name the file itself, or make Parquet of it")
        }
        (Some(kind), _) => Class::Data(kind),
        (None, _) => document(format, &name, &head, bytes, named),
    }
}

const DUCKDB: Class = Class::Refused {
    reason: "it is a DuckDB file, which is not read",
    advice: "export it with `EXPORT DATABASE 'folder' (FORMAT parquet)`, and name the folder",
};

/// The kinds of files that say themselves what they are.
fn by_content(head: &[u8]) -> Option<Class> {
    match head {
        _ if head.starts_with(b"SQLite format 3\0") => Some(Class::Data(SourceKind::Sqlite)),
        _ if head.starts_with(b"PAR1") => Some(Class::Data(SourceKind::Parquet)),
        _ if head.starts_with(b"ARROW1") => Some(Class::Data(SourceKind::Arrow)),
        _ if head.get(8..12) == Some(b"DUCK") => Some(DUCKDB),
        _ => None,
    }
}

/// A file that is called JSON: a description of an API, a manifest of dbt, rows, or settings.
fn json(path: &Path, head: &[u8], named: bool) -> Class {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.contains("\"dbt_schema_version\"") {
        let is_manifest = path.file_name().is_some_and(|name| name == "manifest.json");
        return if is_manifest { Class::Data(SourceKind::Dbt) } else { Class::Unknown };
    }
    if ApiSource::describes(path) {
        return Class::Api;
    }
    if text.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{')) {
        return Class::Data(SourceKind::Json);
    }
    let mut lines = text.lines();
    let is_object = |line: Option<&str>| {
        line.is_some_and(|line| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line).is_ok())
    };
    if is_object(lines.next()) && is_object(lines.next()) {
        return Class::Data(SourceKind::Jsonl);
    }
    match text.chars().next() {
        Some('{') if named => Class::Data(SourceKind::Json),
        Some('{') => refuse("it is one JSON object and no rows", "name the file itself to read it as one row"),
        _ => refuse("it holds no JSON objects", "name a file with an array of objects"),
    }
}

fn document(format: Option<Format>, name: &str, head: &[u8], bytes: u64, named: bool) -> Class {
    let Some(format) = format else { return Class::Unknown };
    if named {
        return Class::Document;
    }
    let stem = name.split('.').next().unwrap_or_default();
    if PLAIN_TEXTS.contains(&stem) {
        return Class::Unknown;
    }
    if format == Format::Html && ["{{", "{%", "<%", "<script"].iter().any(|mark| find_in(head, mark)) {
        return refuse("it is a template or the page of a program", "name the file itself to read it as a document");
    }
    if bytes > MAX_DOCUMENT {
        return refuse("it has more than 32 MB", "name the file itself");
    }
    Class::Document
}

/// Whether what is compressed is called as data is: `orders.csv.gz`.
fn holds_data(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| SourceKind::from_path(Path::new(stem)).is_some())
}

/// Whether a text occurs, whatever its case.
fn find_in(head: &[u8], wanted: &str) -> bool {
    let text = String::from_utf8_lossy(head).to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ").contains(wanted)
}

/// The beginning of a file, and its length.
fn read_head(path: &Path) -> std::io::Result<(Vec<u8>, u64)> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head)?;
    Ok((head, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file of that name and content is in a folder, and where it is named.
    fn check(name: &str, content: &[u8], in_folder: &str, named: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let show = |class: Class| match class {
            Class::Data(kind) => kind.as_str().to_owned(),
            Class::Refused { reason, .. } => reason.to_owned(),
            class => format!("{class:?}"),
        };
        assert_eq!(
            (show(classify(&path, false)), show(classify(&path, true))),
            (in_folder.into(), named.into()),
            "{name}"
        );
    }

    fn check_both(name: &str, content: &[u8], expected: &str) {
        check(name, content, expected, expected);
    }

    #[test]
    fn a_file_is_what_it_holds_before_what_it_is_called() {
        check_both("shop.db", b"SQLite format 3\0...", "sqlite");
        check_both("shop", b"SQLite format 3\0...", "sqlite");
        check_both("shop.db", b"01234567DUCK", "it is a DuckDB file, which is not read");
        check_both("shop.duckdb", b"", "it is a DuckDB file, which is not read");
        check_both("shop.db", b"a text", "it is no SQLite file");
        check_both("shop.sqlite", b"", "it is an empty file");
        check_both("a.parquet", b"a text", "it is no Parquet file");
        check_both("a.csv", b"a,b\n1,2\n", "csv");
        check_both("a.csv", b"", "it is empty");
        check_both("a.csv.gz", b"\x1f\x8b", "csv");
        check_both("a.xlsx", b"PK\x03\x04", "xlsx");
        check_both("a.xlsx", b"\xd0\xcf", "it is not an XLSX workbook, or it is encrypted");
        check_both("a.json.gz", b"\x1f\x8b", "json");
        check_both("a.csv.gz", b"a,b\n", "it is not packed with gzip");
        check_both("a.csv.zip", b"PK", "it is compressed in a way that is not supported");
        check_both("a.parquet.gz", b"\x1f\x8b", "it is compressed in a way that is not supported");
    }

    #[test]
    fn json_is_rows_or_an_api_or_settings() {
        check_both("a.json", b" [ {\"a\": 1}]", "json");
        check_both("a.json", b"{\"a\": 1}\n{\"a\": 2}\n", "jsonl");
        check("package.json", b"{\"name\": \"x\"}", "it is one JSON object and no rows", "json");
        check_both("a.json", b"[1, 2]", "it holds no JSON objects");
        check_both("shop.json", b"{\"openapi\": \"3.0.0\", \"paths\": {}}", "Api");
        check_both("manifest.json", b"{\"metadata\": {\"dbt_schema_version\": \"v12\"}}", "dbt");
    }

    #[test]
    fn texts_are_documents_unless_they_are_of_the_program() {
        check_both("guide.md", b"# Guide", "Document");
        check_both("SKILL.md", b"---\nname: x\n---\n", "Skill");
        check("requirements.txt", b"flask", "Unknown", "Document");
        check("page.html", b"<p>{{ user }}", "it is a template or the page of a program", "Document");
        check_both("schema.sql", b"CREATE\n  TABLE a (b int);", "ddl");
        check_both("report.sql", b"SELECT 1", "it has no CREATE TABLE statements");
        check_both("shop.openapi.yaml", b"openapi: 3.0.0\npaths: {}\n", "Api");
        check("compose.yaml", b"services: {}\n", "Unknown", "it describes no API");
        check_both("main.rs", b"fn main() {}", "Unknown");
    }
}
