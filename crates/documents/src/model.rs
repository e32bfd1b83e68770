//! What a document is, whatever it was written in.

use std::{ops::Range, path::PathBuf};

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
    /// Its title: from the front matter, else its first top heading, else the last part of its name.
    pub title: String,
    /// What it is about, in a sentence or two; where nobody wrote that, how it begins.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The tags of its source and of its front matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// When the file was last changed (RFC 3339); `None` for an inline text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<String>,
    /// Its sections, in order; at least one.
    pub sections: Vec<Section>,
    /// The whole text, without front matter.
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
    /// The line of its heading in the file, from 1.
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
}

impl Source {
    /// The word for it in lists: `file`, `inline`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Source::Path(_) => "file",
            Source::Inline => "inline",
        }
    }
}

/// What a document is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// CommonMark with the tables, lists and footnotes of GitHub.
    #[default]
    Markdown,
    /// Plain text.
    Text,
}

impl Format {
    /// Every format that can be read.
    pub const ALL: [Format; 2] = [Format::Markdown, Format::Text];

    /// The name used in JSON and in the catalog.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Markdown => "markdown",
            Format::Text => "text",
        }
    }

    /// The file name extensions that mean it, without the dot.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::Markdown => &["md", "markdown"],
            Format::Text => &["txt"],
        }
    }

    /// The format with that file name extension, whatever its case.
    pub fn from_extension(extension: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.extensions().iter().any(|e| e.eq_ignore_ascii_case(extension)))
    }
}
