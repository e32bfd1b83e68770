//! Errors of lookups. Loading reports `Problem`s instead.

use crate::Refusal;

/// A failed operation on skills.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// A link points outside the folder of its skill.
    #[error("`{target}` is outside the folder of skill `{skill}`; only files inside it are read")]
    LeaveFolder {
        /// The skill.
        skill: String,
        /// The requested link.
        target: String,
    },
    /// The target is a URL, not a file.
    #[error("`{target}` is a URL; URLs are not fetched")]
    FetchUrl {
        /// The requested link.
        target: String,
    },
    /// A URL that the instructions do not link to.
    #[error("skill `{skill}` does not link to `{target}`; only URLs that it links to are fetched")]
    FindUrl {
        /// The skill.
        skill: String,
        /// The requested URL.
        target: String,
    },
    /// A page could not be fetched.
    #[error("cannot fetch the page that skill `{skill}` links to: {}", refusal.reason)]
    FetchPage {
        /// The skill.
        skill: String,
        /// The reason and advice.
        refusal: Refusal,
    },
    /// The file does not exist.
    #[error("skill `{skill}` has no file `{target}`")]
    FindFile {
        /// The skill.
        skill: String,
        /// The requested file.
        target: String,
        /// The existing files, up to the scan depth.
        files: Vec<String>,
    },
    /// The target is a folder.
    #[error("`{target}` of skill `{skill}` is a folder")]
    ReadFolder {
        /// The skill.
        skill: String,
        /// The requested path.
        target: String,
        /// The files in it, up to the scan depth.
        files: Vec<String>,
    },
    /// The file is not a text file, is too large, or cannot be read.
    #[error("cannot read `{target}` of skill `{skill}`: {reason}")]
    ReadFile {
        /// The skill.
        skill: String,
        /// The requested file.
        target: String,
        /// The reason.
        reason: String,
    },
    /// The skill cannot be given to other programs.
    #[error("skill `{skill}` cannot be published: {reason}")]
    Publish {
        /// The skill.
        skill: String,
        /// The reason.
        reason: String,
    },
}
