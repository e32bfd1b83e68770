//! What can go wrong when skills are asked for; what goes wrong when they are loaded is a `Problem`.

use prospector_search::SearchError;

use crate::Refusal;

/// A failed act on skills.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// A link leads out of the folder of its skill.
    #[error("`{target}` is outside the folder of skill `{skill}`; only files inside it are read")]
    LeaveFolder {
        /// The skill.
        skill: String,
        /// What was asked for.
        target: String,
    },
    /// A URL, which is not a file.
    #[error("`{target}` is a URL; URLs are not fetched")]
    FetchUrl {
        /// What was asked for.
        target: String,
    },
    /// A URL that the instructions do not link to.
    #[error("skill `{skill}` does not link to `{target}`; only URLs that it links to are fetched")]
    FindUrl {
        /// The skill.
        skill: String,
        /// What was asked for.
        target: String,
    },
    /// A page that is not to be had.
    #[error("cannot fetch the page that skill `{skill}` links to: {}", refusal.reason)]
    FetchPage {
        /// The skill.
        skill: String,
        /// Why, and what to do.
        refusal: Refusal,
    },
    /// There is no such file.
    #[error("skill `{skill}` has no file `{target}`")]
    FindFile {
        /// The skill.
        skill: String,
        /// What was asked for.
        target: String,
        /// The files that there are, as far as they were looked at.
        files: Vec<String>,
    },
    /// A folder.
    #[error("`{target}` of skill `{skill}` is a folder")]
    ReadFolder {
        /// The skill.
        skill: String,
        /// What was asked for.
        target: String,
        /// The files in it, as far as they were looked at.
        files: Vec<String>,
    },
    /// The file is no text, is too large, or cannot be read.
    #[error("cannot read `{target}` of skill `{skill}`: {reason}")]
    ReadFile {
        /// The skill.
        skill: String,
        /// What was asked for.
        target: String,
        /// What went wrong, in words.
        reason: String,
    },
    /// The index could not answer.
    #[error("cannot search the skills for `{query}`: {source}")]
    Search {
        /// What was looked for.
        query: String,
        /// Why it failed.
        source: SearchError,
    },
}
