//! What a document is, whatever it was written in.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    ops::Range,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// A document: a text that is addressed by its headings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its name in the catalog, `guides/refunds`.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// What it is written in.
    pub format: Format,
    /// Its title: from the front matter or the properties of the file, else its first top heading, else the last part of
    /// its name.
    pub title: String,
    /// What it is about, in a sentence or two; where nobody wrote that, how it begins.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The tags of its source, and those in the file: front matter, or keywords.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// When it was last changed (RFC 3339, or a date): as the file says itself, else when the file was written; `None`
    /// for an inline text that does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<String>,
    /// What else the file says about itself, one line each: the other fields of its front matter, or `author`,
    /// `created`, `subject` and `pages`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// Its sections, in order; at least one.
    pub sections: Vec<Section>,
    /// The whole text, without front matter: Markdown, but for [`Format::Text`].
    pub content: String,
}

/// A heading and the text below it, up to the next heading of any level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The headings that lead to it, its own last. The one top heading that is the title of the document is left out;
    /// what stands before the first heading has the title as its only heading. Unique within a document.
    pub path: Vec<String>,
    /// The level of its heading, 1 to 6; 0 for what stands before the first heading.
    pub level: u8,
    /// Its own text, without the heading and without the sections below it.
    pub text: String,
    /// The line of its heading, from 1: in the file, or in [`Document::content`] where that was made from something else
    /// than text.
    pub line: usize,
    /// The bytes of [`Document::content`] that it takes up, heading and own text.
    pub range: Range<usize>,
}

impl Section {
    /// `Customers > VIP customers`
    pub fn full_name(&self) -> String {
        self.path.join(" > ")
    }

    /// `VIP customers`
    pub fn heading(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

/// Where a document comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// A text inside the catalog.
    Inline,
    /// A server; the URL is without secrets.
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
    /// The word for it in lists: `file`, `inline`, `url`, `resource`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Source::Path(_) => "file",
            Source::Inline => "inline",
            Source::Url(_) => "url",
            Source::Resource { .. } => "resource",
        }
    }
}

/// What a document is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// CommonMark with the tables, lists and footnotes of GitHub.
    #[default]
    Markdown,
    /// Markdown with components, imports and expressions.
    Mdx,
    /// reStructuredText.
    Rst,
    /// AsciiDoc.
    AsciiDoc,
    /// Org.
    Org,
    /// Plain text.
    Text,
    /// HTML.
    Html,
    /// PDF with text.
    Pdf,
    /// WordprocessingML, the format of Word since 2007.
    Docx,
    /// SpreadsheetML, the format of Excel since 2007.
    Xlsx,
    /// PresentationML, the format of PowerPoint since 2007.
    Pptx,
}

impl Format {
    /// Every format that can be read.
    pub const ALL: [Format; 11] = [
        Format::Markdown,
        Format::Mdx,
        Format::Rst,
        Format::AsciiDoc,
        Format::Org,
        Format::Text,
        Format::Html,
        Format::Pdf,
        Format::Docx,
        Format::Xlsx,
        Format::Pptx,
    ];

    /// The name used in JSON and in the catalog.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Markdown => "markdown",
            Format::Mdx => "mdx",
            Format::Rst => "rst",
            Format::AsciiDoc => "asciidoc",
            Format::Org => "org",
            Format::Text => "text",
            Format::Html => "html",
            Format::Pdf => "pdf",
            Format::Docx => "docx",
            Format::Xlsx => "xlsx",
            Format::Pptx => "pptx",
        }
    }

    /// The file name extensions that mean it, without the dot.
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

    /// Whether a file of it is text that anybody can read.
    pub(crate) fn is_text(self) -> bool {
        match self {
            Format::Markdown
            | Format::Mdx
            | Format::Rst
            | Format::AsciiDoc
            | Format::Org
            | Format::Text
            | Format::Html => true,
            Format::Pdf | Format::Docx | Format::Xlsx | Format::Pptx => false,
        }
    }

    /// The format with that file name extension, whatever its case.
    pub fn from_extension(extension: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.extensions().iter().any(|e| e.eq_ignore_ascii_case(extension)))
    }

    /// The format that a file's name tells.
    pub(crate) fn of_path(path: &Path) -> Option<Format> {
        Format::from_extension(path.extension()?.to_str()?)
    }
}

/// What is read, as advice.
pub(crate) const KINDS: &str = "Markdown (.md, .markdown, .mdx), reStructuredText (.rst), AsciiDoc (.adoc, .asciidoc), \
    Org (.org), text (.txt), HTML (.html, .htm, .xhtml), PDF, DOCX, XLSX and PPTX are read";
