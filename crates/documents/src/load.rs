//! Files, folders and inline texts to documents.

use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use prospector_core::Problem;

use crate::{Document, Format, Source, folder, front_matter, markdown, passage, plain, read, sections};

/// What is read, as advice.
pub(crate) const KINDS: &str = "Markdown (.md, .markdown) and plain text (.txt) are read";

/// What a catalog says about a document, or about a folder of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentSource {
    /// The name; without one, the file's name without extension, or for a folder nothing. The documents of a folder are
    /// called by their path in it, `guides/refunds`, below the name of the folder where it has one.
    pub name: Option<String>,
    /// Where the text is.
    pub origin: Origin,
    /// What the document is about; goes before what the file says itself, but for a folder.
    pub description: Option<String>,
    /// Tags, added to those in the file.
    pub tags: Vec<String>,
}

/// Where the text of a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file, or a folder with files.
    Path(PathBuf),
    /// The text itself.
    Inline {
        /// The text.
        text: String,
        /// What it is written in.
        format: Format,
    },
}

impl DocumentSource {
    /// A file, or a folder with files.
    pub fn path(path: impl Into<PathBuf>) -> Self {
        DocumentSource { name: None, origin: Origin::Path(path.into()), description: None, tags: Vec::new() }
    }

    /// A Markdown text.
    pub fn inline(name: impl Into<String>, text: impl Into<String>) -> Self {
        let origin = Origin::Inline { text: text.into(), format: Format::Markdown };
        DocumentSource { name: Some(name.into()), origin, description: None, tags: Vec::new() }
    }

    /// The documents of this source. Names may repeat; [`crate::DocumentDiscovery::new`] sees to that.
    pub fn load(&self) -> (Vec<Document>, Vec<Problem>) {
        let mut problems = Vec::new();
        let documents = match &self.origin {
            Origin::Inline { text, format } => self.inline_text(text, *format, &mut problems).into_iter().collect(),
            Origin::Path(path) if path.is_dir() => self.folder(path, &mut problems),
            Origin::Path(path) => self.file(path, &mut problems).into_iter().collect(),
        };
        (documents, problems)
    }

    fn inline_text(&self, text: &str, format: Format, problems: &mut Vec<Problem>) -> Option<Document> {
        let Some(name) = self.given_name() else {
            problems.push(
                Problem::error("inline document", "a document without a file has no name").advise("give it a `name`"),
            );
            return None;
        };
        let raw = Raw { name, source: Source::Inline, format, last_updated: None, text: read::plain_lines(text) };
        Some(self.describe(raw, problems))
    }

    fn file(&self, path: &Path, problems: &mut Vec<Problem>) -> Option<Document> {
        let place = path.display().to_string();
        if !path.exists() {
            problems.push(Problem::error(place, "there is no such file or folder").advise("correct the path"));
            return None;
        }
        let Some(format) = format_of(path) else {
            problems.push(Problem::error(place, "this kind of file cannot be read").advise(KINDS));
            return None;
        };
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let name = self.given_name().unwrap_or(stem);
        let raw = read_file(path, name, format, problems)?;
        Some(self.describe(raw, problems))
    }

    fn folder(&self, path: &Path, problems: &mut Vec<Problem>) -> Vec<Document> {
        let prefix = self.given_name().map(|name| format!("{}/", name.trim_end_matches('/'))).unwrap_or_default();
        // What a folder is about is not what each of its documents is about: the file goes first.
        let each = DocumentSource { description: None, ..self.clone() };
        let mut documents = Vec::new();
        for file in folder::walk(path, problems) {
            let name = format!("{prefix}{}", file.name);
            let Some(raw) = read_file(&file.path, name, file.format, problems) else { continue };
            let mut document = each.describe(raw, problems);
            if document.description.is_empty() {
                document.description = self.description.clone().unwrap_or_default();
            }
            documents.push(document);
        }
        documents
    }

    fn given_name(&self) -> Option<String> {
        self.name.as_deref().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
    }

    fn describe(&self, raw: Raw, problems: &mut Vec<Problem>) -> Document {
        let Raw { name, source, format, last_updated, text } = raw;
        let place = match &source {
            Source::Path(path) => path.display().to_string(),
            Source::Inline => format!("inline document `{name}`"),
        };
        let split = match format {
            Format::Markdown => front_matter::split(&text),
            Format::Text => front_matter::Split { body: &text, ..Default::default() },
        };
        if let Some((line, reason)) = split.problem {
            problems.push(
                Problem::warning(format!("{place}:{line}"), reason)
                    .advise("correct the block between the first two `---` lines; quote values that hold a colon"),
            );
        }
        // A page of front matter alone is the cover of a chapter.
        if split.body.trim().is_empty() && split.fields == front_matter::FrontMatter::default() {
            problems.push(Problem::warning(&place, "the document is empty"));
        }
        let headings = match format {
            Format::Markdown => markdown::headings(split.body),
            Format::Text => plain::headings(split.body),
        };
        let title = split
            .fields
            .title
            .or_else(|| sections::title(&headings).map(str::to_owned))
            .unwrap_or_else(|| name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&name).to_owned());
        let sections = sections::divide(split.body, &title, headings, split.lines_before);
        let first =
            || sections.iter().map(|section| passage::first_sentences(&section.text, format)).find(|s| !s.is_empty());
        let description = self.description.clone().filter(|text| !text.trim().is_empty());
        let description = description.or(split.fields.description).or_else(first).unwrap_or_default();
        let mut tags = self.tags.clone();
        tags.extend(split.fields.tags.into_iter().filter(|tag| !self.tags.contains(tag)));
        Document {
            name,
            source,
            format,
            title,
            description,
            tags,
            last_updated,
            sections,
            content: split.body.to_owned(),
        }
    }
}

/// A document before it is divided.
struct Raw {
    name: String,
    source: Source,
    format: Format,
    last_updated: Option<String>,
    text: String,
}

fn read_file(path: &Path, name: String, format: Format, problems: &mut Vec<Problem>) -> Option<Raw> {
    let read = match read::read(path) {
        Ok(read) => read,
        Err(problem) => {
            problems.push(problem);
            return None;
        }
    };
    if read.lossy {
        problems.push(
            Problem::warning(path.display().to_string(), "the file is not UTF-8; some characters were replaced")
                .advise("save it as UTF-8"),
        );
    }
    let last_updated = read.modified.map(|time| DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Secs, true));
    Some(Raw { name, source: Source::Path(path.to_owned()), format, last_updated, text: read.text })
}

/// The format that a file's name tells.
pub(crate) fn format_of(path: &Path) -> Option<Format> {
    Format::from_extension(path.extension()?.to_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads from a fresh folder with these files: names of the documents, then what the problems say.
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
    fn a_folder_gives_a_document_for_each_text_file_named_by_its_path() {
        let files: [(&str, &[u8]); 5] =
            [("b.md", b"# B"), ("a/x.txt", b"x"), ("a/y.MARKDOWN", b"y"), ("a/z.pdf", b"%PDF"), (".git/c.md", b"c")];
        check(
            &files,
            |root| DocumentSource::path(root),
            &["a/x", "a/y", "b"],
            &["1 file of other kinds was left out: 1 .pdf"],
        );
        let named =
            |root: &Path| DocumentSource { name: Some("handbook".into()), ..DocumentSource::path(root.join("a")) };
        check(&files, named, &["handbook/x", "handbook/y"], &[".pdf"]);
    }

    #[test]
    fn a_file_that_is_missing_or_of_another_kind_is_a_problem() {
        check(&[], |root| DocumentSource::path(root.join("no.md")), &[], &["there is no such file"]);
        check(&[("a.pdf", b"%PDF")], |root| DocumentSource::path(root.join("a.pdf")), &[], &[KINDS]);
        check(&[], |root| DocumentSource::path(root), &[], &["no documents"]);
        check(&[], |_| DocumentSource { name: None, ..DocumentSource::inline("", "x") }, &[], &["no name"]);
    }

    #[test]
    fn one_bad_file_does_not_cost_the_rest() {
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
    fn the_catalog_goes_before_the_file_and_tags_are_joined() {
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
    fn a_file_tells_when_it_was_changed() {
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
