//! Why a source matches nothing.

/// A given source matches nothing that a catalog can contain. No message contains the secrets of a URL.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// The source is empty.
    #[error("empty source: specify a file, a folder, a pattern or a URL")]
    Blank,
    /// The file or folder does not exist.
    #[error("no such file or folder: `{place}`{}", near.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    NotThere {
        /// The source as given.
        place: String,
        /// The closest name in the same folder.
        near: Option<String>,
    },
    /// A folder cannot be read.
    #[error("cannot read the folder `{place}`: {source}")]
    Read {
        /// The folder.
        place: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A file has an unsupported type.
    #[error("`{place}` cannot be used: {reason} ({advice})")]
    Kind {
        /// The file.
        place: String,
        /// Why it cannot be used.
        reason: String,
        /// What to do instead.
        advice: String,
    },
    /// A folder, or the files that match a pattern, contain no usable file.
    #[error(
        "no usable files in `{place}`{}; supported are data files, SQLite files, API descriptions, documents and skills",
        list(reasons)
    )]
    Empty {
        /// The folder or the pattern.
        place: String,
        /// Which files were skipped, and why.
        reasons: Vec<String>,
    },
    /// A pattern matches nothing.
    #[error("`{place}`: {reason}")]
    Pattern {
        /// The pattern.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A URL has an unsupported scheme or is invalid.
    #[error("`{place}` cannot be used: {reason}")]
    Url {
        /// The URL without its secrets.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
}

fn list(reasons: &[String]) -> String {
    if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) }
}
