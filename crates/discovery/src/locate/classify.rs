//! Classifies files by name and initial content.

use std::{fs::File, io::Read, path::Path};

use prospector_api::ApiSource;
use prospector_connect::source::SourceKind;
use prospector_documents::Format;
use prospector_skills::SkillFolder;

/// Number of bytes that are read of a file.
const HEAD: u64 = 64 << 10;

/// Maximum size of text files with rows, unless given explicitly, in bytes.
const MAX_TEXT_DATA: u64 = 2 << 30;

/// Maximum size of documents, unless given explicitly, in bytes.
const MAX_DOCUMENT: u64 = 32 << 20;

/// Texts without knowledge about a project.
const PLAIN_TEXTS: [&str; 5] = ["cmakelists", "license", "requirements", "robots", "requirements-dev"];

/// Additional extensions of files that are inspected, including none.
const OTHERS: [&str; 8] = ["", "bz2", "ddb", "duckdb", "gz", "xz", "zip", "zst"];

/// The type of a file.
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
    /// It resembles a supported file, but cannot be used.
    Refused {
        /// Why it cannot be used.
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

/// Classifies a file. Ambiguous files are accepted if `named` explicitly, and skipped in folders.
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
    // Most source files of a program need no inspection.
    let is_inspected = OTHERS.contains(&extension.as_str()) || ApiSource::is_extension(&extension);
    if !named && kind.is_none() && format.is_none() && !is_inspected {
        return Class::Unknown;
    }
    let (head, bytes) = match read_head(path) {
        Ok(read) => read,
        Err(_) => return refuse("unreadable file", "grant yourself read permission"),
    };
    if let Some(class) = by_content(&head) {
        return class;
    }
    match (kind, extension.as_str()) {
        (_, "duckdb" | "ddb") => DUCKDB,
        (Some(kind), "gz") => match head.starts_with(&[0x1f, 0x8b]) {
            true => Class::Data(kind),
            false => refuse("not a gzip file", "correct its extension"),
        },
        (_, "gz" | "zst" | "bz2" | "xz" | "zip") if is_named_like_data(path) => {
            refuse("unsupported compression", "decompress it, or compress it with gzip")
        }
        (None, extension) if ApiSource::is_extension(extension) => match ApiSource::describes(path) {
            true => Class::Api,
            false if named => refuse("not an API description", "specify an OpenAPI or GraphQL description"),
            false => Class::Unknown,
        },
        (Some(kind), _) if head.is_empty() && format.is_none() => match kind {
            SourceKind::Sqlite => refuse("empty file", "specify a file with tables"),
            _ => refuse("empty file", "specify a file with rows"),
        },
        (Some(SourceKind::Json), _) => json(path, &head, named),
        (Some(SourceKind::Ddl), _) => match find_in(&head, "create table") || find_in(&head, "create or replace table")
        {
            true => Class::Data(SourceKind::Ddl),
            false => refuse("no CREATE TABLE statements", "specify the scripts that create the tables"),
        },
        (Some(SourceKind::Sqlite), _) => refuse("not a SQLite file", "specify a SQLite 3 database"),
        (Some(SourceKind::Xlsx), _) if !head.starts_with(b"PK") => {
            refuse("not an XLSX workbook, or encrypted", "save it as XLSX without a password")
        }
        (Some(SourceKind::Parquet), _) => refuse("not a Parquet file", "export it again"),
        (Some(SourceKind::Csv | SourceKind::Jsonl), _) if !named && bytes > MAX_TEXT_DATA => {
            refuse("larger than 2 GB", "specify the file itself, or convert it to Parquet")
        }
        (Some(kind), _) => Class::Data(kind),
        (None, _) => document(format, &name, &head, bytes, named),
    }
}

const DUCKDB: Class = Class::Refused {
    reason: "DuckDB files are not supported",
    advice: "export it with `EXPORT DATABASE 'folder' (FORMAT parquet)` and specify the folder",
};

/// Classifies files with magic numbers.
fn by_content(head: &[u8]) -> Option<Class> {
    match head {
        _ if head.starts_with(b"SQLite format 3\0") => Some(Class::Data(SourceKind::Sqlite)),
        _ if head.starts_with(b"PAR1") => Some(Class::Data(SourceKind::Parquet)),
        _ if head.starts_with(b"ARROW1") => Some(Class::Data(SourceKind::Arrow)),
        _ if head.get(8..12) == Some(b"DUCK") => Some(DUCKDB),
        _ => None,
    }
}

/// Classifies a JSON file: an API description, a dbt manifest, rows, or settings.
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
        Some('{') => refuse("a single JSON object without rows", "specify the file itself to read it as one row"),
        _ => refuse("no JSON objects", "specify a file with an array of objects"),
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
        return refuse("a template or application page", "specify the file itself to read it as a document");
    }
    if bytes > MAX_DOCUMENT {
        return refuse("larger than 32 MB", "specify the file itself");
    }
    Class::Document
}

/// Returns whether the name of a compressed file is that of data: `orders.csv.gz`.
fn is_named_like_data(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| SourceKind::from_path(Path::new(stem)).is_some())
}

/// Returns whether a text occurs, ignoring case.
fn find_in(head: &[u8], wanted: &str) -> bool {
    let text = String::from_utf8_lossy(head).to_lowercase();
    text.split_whitespace().collect::<Vec<_>>().join(" ").contains(wanted)
}

/// Reads the start of a file, and its length.
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

    /// Checks the class of a file in a folder, and given explicitly.
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
    fn content_takes_precedence_over_the_name() {
        check_both("shop.db", b"SQLite format 3\0...", "sqlite");
        check_both("shop", b"SQLite format 3\0...", "sqlite");
        check_both("shop.db", b"01234567DUCK", "DuckDB files are not supported");
        check_both("shop.duckdb", b"", "DuckDB files are not supported");
        check_both("shop.db", b"a text", "not a SQLite file");
        check_both("shop.sqlite", b"", "empty file");
        check_both("a.parquet", b"a text", "not a Parquet file");
        check_both("a.csv", b"a,b\n1,2\n", "csv");
        check_both("a.csv", b"", "empty file");
        check_both("a.csv.gz", b"\x1f\x8b", "csv");
        check_both("a.xlsx", b"PK\x03\x04", "xlsx");
        check_both("a.xlsx", b"\xd0\xcf", "not an XLSX workbook, or encrypted");
        check_both("a.json.gz", b"\x1f\x8b", "json");
        check_both("a.csv.gz", b"a,b\n", "not a gzip file");
        check_both("a.csv.zip", b"PK", "unsupported compression");
        check_both("a.parquet.gz", b"\x1f\x8b", "unsupported compression");
    }

    #[test]
    fn json_is_rows_or_an_api_or_settings() {
        check_both("a.json", b" [ {\"a\": 1}]", "json");
        check_both("a.json", b"{\"a\": 1}\n{\"a\": 2}\n", "jsonl");
        check("package.json", b"{\"name\": \"x\"}", "a single JSON object without rows", "json");
        check_both("a.json", b"[1, 2]", "no JSON objects");
        check_both("shop.json", b"{\"openapi\": \"3.0.0\", \"paths\": {}}", "Api");
        check_both("manifest.json", b"{\"metadata\": {\"dbt_schema_version\": \"v12\"}}", "dbt");
    }

    #[test]
    fn texts_are_documents_unless_they_belong_to_a_program() {
        check_both("guide.md", b"# Guide", "Document");
        check_both("SKILL.md", b"---\nname: x\n---\n", "Skill");
        check("requirements.txt", b"flask", "Unknown", "Document");
        check("page.html", b"<p>{{ user }}", "a template or application page", "Document");
        check_both("schema.sql", b"CREATE\n  TABLE a (b int);", "ddl");
        check_both("report.sql", b"SELECT 1", "no CREATE TABLE statements");
        check_both("shop.openapi.yaml", b"openapi: 3.0.0\npaths: {}\n", "Api");
        check("compose.yaml", b"services: {}\n", "Unknown", "not an API description");
        check_both("main.rs", b"fn main() {}", "Unknown");
    }
}
