//! Loads documents from files, folders and inline texts.

use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use prospector_core::Problem;

use crate::{
    Document, Format, folder,
    formats::{self, Refused, limits},
    markdown,
    model::{Converted, KINDS, Source},
    passage, plain,
    read::{self, FileStat},
    sections,
};

/// A document, or a folder of documents, as configured in a catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentSource {
    /// The name. Defaults to the file name without extension. Documents in a folder are named by their relative path,
    /// `guides/refunds`, prefixed with the name of the folder if it has one.
    pub name: Option<String>,
    /// The location of the text.
    pub origin: Origin,
    /// The description. Takes precedence over that of the file, except for folders.
    pub description: Option<String>,
    /// Tags, in addition to those in the file.
    pub tags: Vec<String>,
}

/// The location of the text of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file or a folder. The format is determined by the content if it is distinctive, otherwise by the extension.
    Path(PathBuf),
    /// An inline text.
    Inline {
        /// The text.
        text: String,
        /// Its format; anything that needs a parser is treated as plain text.
        format: Format,
    },
    /// A page or file that was downloaded before.
    Url {
        /// The URL for display, without secrets.
        url: String,
        /// The local copy.
        copy: PathBuf,
    },
}

impl DocumentSource {
    /// Creates a source from a file or folder.
    pub fn path(path: impl Into<PathBuf>) -> Self {
        DocumentSource { name: None, origin: Origin::Path(path.into()), description: None, tags: Vec::new() }
    }

    /// Creates a source from a Markdown text.
    pub fn inline(name: impl Into<String>, text: impl Into<String>) -> Self {
        let origin = Origin::Inline { text: text.into(), format: Format::Markdown };
        DocumentSource { name: Some(name.into()), origin, description: None, tags: Vec::new() }
    }

    /// Lists the texts of this source: one, or one per file of a folder. Returns none for a folder after cancellation.
    pub(crate) fn items(&self, problems: &mut Vec<Problem>, is_wanted: &dyn Fn() -> bool) -> Vec<Item> {
        match &self.origin {
            Origin::Inline { text, format } => {
                let Some(name) = self.given_name() else {
                    problems
                        .push(Problem::error("inline document", "an inline document has no name").advise("set `name`"));
                    return Vec::new();
                };
                let format = if format.is_converted() { Format::Text } else { *format };
                vec![self.item(name, Origin::Inline { text: read::plain_lines(text), format })]
            }
            Origin::Url { url, .. } => {
                let name = self.given_name().unwrap_or_else(|| name_of_url(url));
                vec![self.item(name, self.origin.clone())]
            }
            Origin::Path(path) if path.is_dir() => self.folder(path, problems, is_wanted),
            Origin::Path(path) => {
                let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                vec![self.item(self.given_name().unwrap_or(stem), self.origin.clone())]
            }
        }
    }

    fn folder(&self, path: &Path, problems: &mut Vec<Problem>, is_wanted: &dyn Fn() -> bool) -> Vec<Item> {
        let prefix = self.given_name().map(|name| format!("{}/", name.trim_end_matches('/'))).unwrap_or_default();
        let named = |file: folder::File| {
            let item = self.item(format!("{prefix}{}", file.name), Origin::Path(file.path));
            // The description of a folder does not describe each of its documents: the file takes precedence.
            Item { description: None, otherwise: self.description.clone(), ..item }
        };
        folder::walk(path, problems, is_wanted).into_iter().map(named).collect()
    }

    fn item(&self, name: String, origin: Origin) -> Item {
        Item { name, origin, description: self.description.clone(), otherwise: None, tags: self.tags.clone() }
    }

    fn given_name(&self) -> Option<String> {
        self.name.as_deref().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
    }
}

/// A text to load.
pub(crate) struct Item {
    name: String,
    /// A file instead of a folder.
    pub(crate) origin: Origin,
    description: Option<String>,
    /// The fallback if the text has no description.
    otherwise: Option<String>,
    tags: Vec<String>,
}

impl Item {
    fn source(&self) -> Source {
        match &self.origin {
            Origin::Path(path) => Source::Path(path.clone()),
            Origin::Inline { .. } => Source::Inline,
            Origin::Url { url, .. } => Source::Url(url.clone()),
        }
    }

    /// Returns the name used in problems and snapshots.
    pub(crate) fn place(&self) -> String {
        self.source().place(&self.name)
    }

    /// Divides the text into sections and adds the metadata of the source.
    pub(crate) fn describe(
        &self,
        format: Format,
        converted: Converted,
        stat: Option<FileStat>,
        problems: &mut Vec<Problem>,
    ) -> Document {
        let name = self.name.clone();
        // A page that consists of front matter alone is the index page of a chapter.
        let says_nothing =
            Converted { text: String::new(), lines_before: 0, ..converted.clone() } == Converted::default();
        if converted.text.trim().is_empty() && (says_nothing || !format.is_text()) && problems.is_empty() {
            problems.push(Problem::warning(self.place(), "the document is empty"));
        }
        let mut headings = if format.is_plain() {
            plain::headings(&converted.text, format)
        } else {
            markdown::headings(&converted.text)
        };
        headings.retain(|heading| heading.text.chars().nth(limits::MAX_HEADING_CHARS).is_none());
        if headings.len() > limits::MAX_HEADINGS {
            headings.truncate(limits::MAX_HEADINGS);
            let reason = format!("the document has over {} headings; the rest are text", limits::MAX_HEADINGS);
            problems.push(Problem::warning(self.place(), reason).advise("split it into several files"));
        }
        let title = converted
            .title
            .or_else(|| sections::title(&headings).map(str::to_owned))
            .unwrap_or_else(|| name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&name).to_owned());
        let sections = sections::divide(&converted.text, format, &title, headings, converted.lines_before);
        let first =
            || sections.iter().map(|section| passage::first_sentences(&section.text, format)).find(|s| !s.is_empty());
        let description = self.description.clone().filter(|text| !text.trim().is_empty());
        let description = description.or(converted.description).or_else(first);
        let description = description.or_else(|| self.otherwise.clone()).unwrap_or_default();
        let mut tags = self.tags.clone();
        tags.extend(converted.tags.into_iter().filter(|tag| !self.tags.contains(tag)));
        let written = stat.and_then(|stat| stat.modified);
        let written = written.map(|time| DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Secs, true));
        Document {
            source: self.source(),
            name,
            format,
            title,
            description,
            tags,
            last_updated: converted.last_updated.or(written),
            metadata: converted.metadata,
            sections,
            content: converted.text,
        }
    }
}

/// Reads an existing file.
pub(crate) fn file_bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    let limit = Format::of_path(path).map_or(limits::MAX_FILE_BYTES, formats::byte_limit);
    read::bytes(path, limit)
}

/// Determines the format of a file by name and content.
pub(crate) fn format_of_file(
    place: &str,
    path: &Path,
    bytes: &[u8],
    problems: &mut Vec<Problem>,
) -> Result<Format, Problem> {
    let named = Format::of_path(path);
    let refused = |refused: Refused| refused.at(place);
    match (formats::recognise(path, bytes).map_err(refused)?, named) {
        (Some(found), Some(named)) if found != named => {
            let reason = format!("the extension indicates {}, but the content {}", named.as_str(), found.as_str());
            problems.push(Problem::warning(place, reason).advise("use the extension of its actual format"));
            Ok(found)
        }
        (Some(found), _) => Ok(found),
        (None, Some(named)) if named.is_text() => Ok(named),
        (None, Some(named)) => Err(Refused::for_damage(named, "the file signature is missing").at(place)),
        (None, None) => Err(Problem::error(place, "unsupported file type").advise(KINDS)),
    }
}

/// Returns the last part of the path without extension, or the host.
fn name_of_url(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let last = rest.rsplit('/').next().unwrap_or_default();
    match last.rsplit_once('.') {
        Some((stem, _)) if rest.contains('/') && !stem.is_empty() => stem.to_owned(),
        _ => last.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads a new folder with these files; checks the names of the documents and the problems.
    fn check(files: &[(&str, &[u8])], source: impl Fn(&Path) -> DocumentSource, names: &[&str], problems: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let (documents, found) = source(folder.path()).load();
        let loaded: Vec<&str> = documents.iter().map(|document| document.name.as_str()).collect();
        assert_eq!(loaded, names);
        assert_eq!(found.len(), problems.len(), "{found:?}");
        for (problem, part) in found.iter().zip(problems) {
            assert!(problem.to_string().contains(part), "{problem} does not say {part}");
        }
    }

    #[test]
    fn names_copies_by_url() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("3f2a.md");
        std::fs::write(&copy, "# Rules").unwrap();
        for (url, name) in [
            ("https://example.com/docs/rules.v2.md", "rules.v2"),
            ("https://example.com/docs/rules/?…", "rules"),
            ("https://example.com", "example.com"),
        ] {
            let origin = Origin::Url { url: url.into(), copy: copy.clone() };
            let source = DocumentSource { origin, name: None, ..DocumentSource::path("") };
            let (documents, problems) = source.load();
            assert!(problems.is_empty(), "{problems:?}");
            assert_eq!((documents[0].name.as_str(), &documents[0].source), (name, &Source::Url(url.into())));
        }
        std::fs::write(&copy, "").unwrap();
        let origin = Origin::Url { url: "https://example.com/a".into(), copy };
        let (_, problems) = DocumentSource { origin, ..DocumentSource::path("") }.load();
        assert_eq!(problems[0].to_string(), "warning: https://example.com/a: the document is empty");
    }

    #[test]
    fn names_folder_documents_by_path() {
        let files: [(&str, &[u8]); 5] =
            [("b.md", b"# B"), ("a/x.txt", b"x"), ("a/y.MARKDOWN", b"y"), ("a/z.odt", b"PK"), (".git/c.md", b"c")];
        check(
            &files,
            |root| DocumentSource::path(root),
            &["a/x", "a/y", "b"],
            &["skipped 1 file of an unsupported type: 1 .odt"],
        );
        let named =
            |root: &Path| DocumentSource { name: Some("handbook".into()), ..DocumentSource::path(root.join("a")) };
        check(&files, named, &["handbook/x", "handbook/y"], &[".odt"]);
    }

    #[test]
    fn reports_missing_and_unsupported_files() {
        check(&[], |root| DocumentSource::path(root.join("no.md")), &[], &["no such file"]);
        check(&[("a.odt", b"x")], |root| DocumentSource::path(root.join("a.odt")), &[], &[KINDS]);
        check(&[], |root| DocumentSource::path(root), &[], &["no documents"]);
        check(&[], |_| DocumentSource { name: None, ..DocumentSource::inline("", "x") }, &[], &["no name"]);
    }

    #[test]
    fn isolates_invalid_files() {
        check(
            &[
                ("a.md", b"caf\xE9"),
                ("b.md", b"\0"),
                ("c.md", b"---\na: b: c\n---\nText"),
                ("d.md", b" "),
                ("e.md", b"x"),
            ],
            |root| DocumentSource::path(root),
            &["a", "c", "d", "e"],
            &[
                "a.md: the file is not UTF-8",
                "b.md: the file is binary",
                "c.md:2: the front matter",
                "d.md: the document is empty",
            ],
        );
    }

    #[test]
    fn catalog_metadata_overrides_the_file_and_tags_are_merged() {
        let text = "---\ntitle: Returns\ndescription: From the file\ntags: [a, b]\n---\n# Other\n\nFirst words. More.";
        let mut source = DocumentSource::inline("guides/returns", text);
        source.tags = vec!["b".into(), "c".into()];
        let document = &source.load().0[0];
        assert_eq!((document.title.as_str(), document.description.as_str()), ("Returns", "From the file"));
        assert_eq!(document.tags, ["b", "c", "a"]);
        assert_eq!((document.last_updated.as_deref(), document.source.as_str()), (None, "inline"));
        source.description = Some("From the catalog".into());
        assert_eq!(source.load().0[0].description, "From the catalog");
        let plain = DocumentSource::inline("a", "First *words*. More.").load();
        assert_eq!(plain.0[0].description, "First words. More.");
    }

    #[test]
    fn reads_the_modification_date() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.md");
        std::fs::write(&path, "\u{feff}# Rules\r\n\r\nText\r\n").unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let document = DocumentSource::path(&path).load().0.remove(0);
        assert_eq!(document.last_updated.as_deref(), Some("2001-09-09T01:46:40Z"));
        assert_eq!((document.name.as_str(), document.content.as_str()), ("rules", "# Rules\n\nText\n"));
        let json = serde_json::to_string(&document).unwrap();
        assert_eq!(serde_json::from_str::<Document>(&json).unwrap(), document);
    }
}
