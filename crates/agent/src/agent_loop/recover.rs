//! Recovery from provider failures: retries with all results shortened, then without tools and with the findings only.

use prospector_core::mark::as_data;
use prospector_llm::LlmError;

use super::{Run, Tools};

/// Maximum number of names, and bytes of findings, in the last request.
const MAX_NAMES: usize = 200;
const MAX_FINDINGS_BYTES: usize = 16_000;

/// The stage of recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Recovery {
    #[default]
    None,
    Shortened,
    Last,
}

impl Recovery {
    /// Returns whether the last request was sent, which has no tools.
    pub(super) fn is_last(self) -> bool {
        self == Recovery::Last
    }
}

impl<T: Tools> Run<'_, T> {
    /// Makes the next request smaller. Returns `false` if a smaller request cannot help, no rounds are left, or there are no findings to
    /// keep.
    pub(super) fn recover(&mut self, error: &LlmError) -> bool {
        if !may_depend_on_request(error) || self.metrics.model_calls >= self.limits.rounds {
            return false;
        }
        if self.recovery == Recovery::None {
            self.recovery = Recovery::Shortened;
            if self.history.shorten_all() {
                return true;
            }
        }
        if self.recovery == Recovery::Last {
            return false;
        }
        self.recovery = Recovery::Last;
        let found = self.list_findings();
        let text = format!("Findings so far:\n{}\n\n{}", as_data(&found), self.goal.finish_order());
        self.finish = true;
        !found.is_empty() && self.history.replace_all(text)
    }

    /// Returns the findings of the goal and the revealed names, truncated.
    fn list_findings(&self) -> String {
        let mut names: Vec<String> = self.seen.iter().map(ToString::to_string).collect();
        names.sort();
        names.truncate(MAX_NAMES);
        let mut text = self.goal.list_findings();
        text.truncate(text.floor_char_boundary(MAX_FINDINGS_BYTES));
        if !names.is_empty() {
            text.push_str(&format!("\nKnown names: {}", names.join(", ")));
        }
        text.trim().to_owned()
    }
}

/// Returns whether a smaller request could succeed. It cannot with an invalid key, an unknown model or no connection.
fn may_depend_on_request(error: &LlmError) -> bool {
    match error {
        LlmError::Status { status, .. } => !matches!(status, 401..=404),
        LlmError::Nonsense { .. } => true,
        LlmError::UnknownModel { .. } | LlmError::NotConfigured { .. } | LlmError::Transport { .. } => false,
    }
}
