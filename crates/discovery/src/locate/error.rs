//! Why a source stands for nothing.

/// A source that was named stands for nothing that a catalog can hold. No message shows the secrets of a URL.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// Nothing is written.
    #[error("a source is empty: name a file, a folder, a pattern or a URL")]
    Blank,
    /// There is no such file or folder.
    #[error("there is no file or folder `{place}`{}", near.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    NotThere {
        /// What was named.
        place: String,
        /// The nearest name in the same folder.
        near: Option<String>,
    },
    /// A folder cannot be looked into.
    #[error("cannot look into `{place}`: {source}")]
    Read {
        /// The folder.
        place: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file is of a kind that is not read.
    #[error("`{place}` cannot be used: {reason} ({advice})")]
    Kind {
        /// The file.
        place: String,
        /// What it is.
        reason: String,
        /// What to do instead.
        advice: String,
    },
    /// A folder, or what a pattern matches, holds nothing that is read.
    #[error(
        "nothing in `{place}` can be used{}; data files, SQLite files, descriptions of APIs, documents and skills can",
        list(reasons)
    )]
    Empty {
        /// The folder or the pattern.
        place: String,
        /// What was left out of it.
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
    /// A URL of a kind that nothing reads, or that is not written as its kind asks.
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
