//! Format-independent model of documents.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    ops::Range,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use prospector_core::named_enum;
use serde::{Deserialize, Serialize};

/// A document: a text addressed by its headings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its name in the catalog, `guides/refunds`.
    pub name: String,
    /// Its origin.
    pub source: Source,
    /// The format of the source.
    pub format: Format,
    /// Its title: from the front matter or file properties, otherwise the first top-level heading, otherwise the last
    /// part of its name.
    pub title: String,
    /// A description of a sentence or two; defaults to the start of the text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The tags of the source and of the file (front matter or keywords).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Date of the last change (RFC 3339 or a date) from the metadata of the file, otherwise its modification time;
    /// `None` for an inline text without such metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<String>,
    /// Other metadata, one line each: the remaining fields of the front matter, or `author`, `created`, `subject` and
    /// `pages`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Its sections, in order; at least one.
    pub sections: Vec<Section>,
    /// The whole text without front matter: Markdown, or reStructuredText, AsciiDoc, Org and plain text as written.
    pub content: String,
}

/// The text and metadata of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Converted {
    /// Markdown, or reStructuredText, AsciiDoc, Org and plain text as written. Front matter is removed.
    pub text: String,
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Its tags or keywords.
    pub tags: Vec<String>,
    /// The date of the last change according to the file, as RFC 3339 or a date.
    pub last_updated: Option<String>,
    /// Other metadata, by lower-case name: `author`, `created`, `subject`, `pages`.
    pub metadata: BTreeMap<String, String>,
    /// Number of lines of the file before `text`, if the text is taken from the file unchanged.
    pub lines_before: usize,
}

/// A heading and the text below it, up to the next heading of any level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The headings that lead to it, its own last, without the single top-level heading that is the title of the
    /// document. Text before the first heading has the title as its only heading. Unique within a document.
    pub path: Vec<String>,
    /// The level of its heading, 1 to 6; 0 for text before the first heading.
    pub level: u8,
    /// Its own text, without the heading and the sections below it.
    pub text: String,
    /// The line of its heading, from 1: in the file, or in [`Document::content`] if the source is not a text format.
    pub line: usize,
    /// The bytes of [`Document::content`] that contain its heading and own text.
    pub range: Range<usize>,
}

impl Section {
    /// Returns the headings joined, e.g. `Customers > VIP customers`.
    pub fn full_name(&self) -> String {
        self.path.join(" > ")
    }

    /// Returns the last heading, e.g. `VIP customers`.
    pub fn heading(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

/// The origin of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// An inline text of the catalog.
    Inline,
    /// A server; the URL contains no secrets.
    Url(String),
    /// A resource of an MCP server, or a template of resources; its content is what the server says of it, and its text is read when it is
    /// asked for. What such a server says is never part of a system prompt.
    Resource {
        /// The server.
        server: String,
        /// The URI or the URI template.
        uri: String,
    },
}

/// Reads texts that are not kept: the resources of MCP servers.
#[async_trait]
pub trait ResourceReader: Debug + Send + Sync {
    /// Returns the text of a document of [`Source::Resource`], or of one that a template of it makes when its variables are filled in:
    /// by its name, the server and the URI.
    ///
    /// # Errors
    /// [`Unreadable`]: no such resource, or no text.
    async fn read(&self, name: &str) -> Result<String, Unreadable>;

    /// Returns whether a name is that of a resource, or of one that a template makes.
    fn knows(&self, name: &str) -> bool;
}

/// A resource that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unreadable {
    /// Why it cannot be read.
    pub reason: String,
    /// What to do about it.
    pub advice: String,
}

impl Document {
    /// A resource of an MCP server, called by the server and the URI.
    pub fn resource(server: &str, uri: &str, title: &str, description: &str) -> Self {
        let title = if title.is_empty() { uri } else { title };
        let content = description.to_owned();
        let section =
            Section { path: vec![title.to_owned()], level: 0, text: content.clone(), line: 1, range: 0..content.len() };
        Document {
            name: format!("{server}/{uri}"),
            source: Source::Resource { server: server.to_owned(), uri: uri.to_owned() },
            format: Format::Text,
            title: title.to_owned(),
            description: description.to_owned(),
            tags: Vec::new(),
            last_updated: None,
            metadata: BTreeMap::new(),
            sections: vec![section],
            content,
        }
    }

    /// Returns whether it is a resource of an MCP server.
    pub fn is_resource(&self) -> bool {
        matches!(self.source, Source::Resource { .. })
    }
}

impl Source {
    /// Returns the name used in lists: `file`, `inline`, `url`, `resource`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Source::Path(_) => "file",
            Source::Inline => "inline",
            Source::Url(_) => "url",
            Source::Resource { .. } => "resource",
        }
    }

    /// Returns the place of a document of this name, for problems and snapshots.
    pub(crate) fn place(&self, name: &str) -> String {
        match self {
            Source::Path(path) => path.display().to_string(),
            Source::Inline => format!("inline document `{name}`"),
            Source::Url(url) => url.clone(),
            Source::Resource { server, uri } => format!("resource {uri} of {server}"),
        }
    }
}

named_enum! {
    /// The format of a document.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Format {
        /// CommonMark with GitHub tables, task lists and footnotes.
        #[default]
        Markdown = "markdown",
        /// Markdown with components; imports and exports are removed.
        Mdx = "mdx",
        /// reStructuredText.
        Rst = "rst",
        /// AsciiDoc.
        AsciiDoc = "asciidoc",
        /// Org.
        Org = "org",
        /// Plain text.
        Text = "text",
        /// HTML.
        Html = "html",
        /// PDF with text.
        Pdf = "pdf",
        /// WordprocessingML, the format of Word since 2007.
        Docx = "docx",
        /// SpreadsheetML, the format of Excel since 2007.
        Xlsx = "xlsx",
        /// PresentationML, the format of PowerPoint since 2007.
        Pptx = "pptx",
    }
}

impl Format {
    /// Returns whether the text is shown as written, instead of as Markdown.
    pub(crate) fn is_plain(self) -> bool {
        matches!(self, Format::Rst | Format::AsciiDoc | Format::Org | Format::Text)
    }

    /// Returns whether its files are converted to Markdown by a parser.
    pub(crate) fn is_converted(self) -> bool {
        matches!(self, Format::Html | Format::Pdf | Format::Docx | Format::Xlsx | Format::Pptx)
    }

    /// Returns whether a line of a plain format is a comment, field, attribute or directive rather than prose.
    pub(crate) fn is_markup(self, line: &str) -> bool {
        let marks: &[&str] = match self {
            Format::Rst => &["..", ":"],
            Format::AsciiDoc => &["//", ":", "["],
            Format::Org => &["#", ":"],
            _ => &[],
        };
        marks.iter().any(|mark| line.starts_with(mark))
    }

    /// Returns the file name extensions, without the dot.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::Markdown => &["md", "markdown"],
            Format::Mdx => &["mdx"],
            Format::Rst => &["rst"],
            Format::AsciiDoc => &["adoc", "asciidoc"],
            Format::Org => &["org"],
            Format::Text => &["txt"],
            Format::Html => &["html", "htm", "xhtml"],
            Format::Pdf => &["pdf"],
            Format::Docx => &["docx", "docm"],
            Format::Xlsx => &["xlsx", "xlsm"],
            Format::Pptx => &["pptx", "pptm"],
        }
    }

    /// Returns whether its files are text.
    pub(crate) fn is_text(self) -> bool {
        !self.is_converted() || self == Format::Html
    }

    /// Returns the format with this file name extension, ignoring case.
    pub fn from_extension(extension: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.extensions().iter().any(|e| e.eq_ignore_ascii_case(extension)))
    }

    /// Returns the format indicated by a file name.
    pub(crate) fn of_path(path: &Path) -> Option<Format> {
        Format::from_extension(path.extension()?.to_str()?)
    }
}

/// Lists the supported formats, as advice.
pub(crate) const KINDS: &str = "supported formats: Markdown (.md, .markdown, .mdx), reStructuredText (.rst), AsciiDoc (.adoc, .asciidoc), \
    Org (.org), text (.txt), HTML (.html, .htm, .xhtml), PDF, DOCX, XLSX and PPTX";
