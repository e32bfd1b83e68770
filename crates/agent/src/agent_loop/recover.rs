//! A model that failed is asked again with less: first with all results shortened, then without tools and with nothing but
//! what was found out.

use prospector_core::mark::as_data;
use prospector_llm::LlmError;

use super::{Run, Tools};

/// So many names, and so much of what was found out, stand in the last request.
const MAX_NAMES: usize = 200;
const MAX_FINDINGS_BYTES: usize = 16_000;

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Recovery {
    #[default]
    None,
    Shortened,
    Last,
}

impl Recovery {
    /// Whether only one answer is asked for, without tools.
    pub(super) fn is_last(self) -> bool {
        self == Recovery::Last
    }
}

impl<T: Tools> Run<'_, T> {
    /// Makes the next request smaller, where that may help. False when the run is to end with this failure: nothing was found
    /// out yet that would be lost, the rounds are used up, or no smaller request is left.
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
        let text = format!("What was found out so far:\n{}\n\n{}", as_data(&found), self.goal.finish_order());
        self.finish = true;
        !found.is_empty() && self.history.replace_all(text)
    }

    /// What is known, in a few thousand characters.
    fn list_findings(&self) -> String {
        let mut names: Vec<String> = self.seen.iter().map(ToString::to_string).collect();
        names.sort();
        names.truncate(MAX_NAMES);
        let mut text = self.goal.list_findings();
        text.truncate(text.floor_char_boundary(MAX_FINDINGS_BYTES));
        if !names.is_empty() {
            text.push_str(&format!("\nIt exists: {}", names.join(", ")));
        }
        text.trim().to_owned()
    }
}

/// Whether a smaller request could succeed: a wrong key, a missing model or no connection stay what they are.
fn may_depend_on_request(error: &LlmError) -> bool {
    match error {
        LlmError::Status { status, .. } => !matches!(status, 401..=404),
        LlmError::Nonsense { .. } => true,
        LlmError::UnknownModel { .. } | LlmError::NotConfigured { .. } | LlmError::Transport { .. } => false,
    }
}
