//! Answer modes.

use prospector_core::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// How a question is answered.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Mode {
        /// Definitions with source and confidence, and a derivation that can be checked, without personal assumptions.
        Auditable = "auditable",
        /// Answers from the data.
        #[default]
        Exploratory = "exploratory",
        /// Answers from definitions and documents, without data.
        Knowledge = "knowledge",
    }
}

/// Trigger phrases of the specification, used if neither a flag nor a field sets the mode: those of the auditable mode anywhere in a
/// question, the others at its start.
const TRIGGERS: [(Trigger, &[&str]); 3] = [
    (Trigger::Mode(Mode::Auditable), &["prove", "verify", "derivation", "true that", "is it true"]),
    (Trigger::Mode(Mode::Knowledge), &["explain", "how does", "what is a", "what is an"]),
    (Trigger::Redo, &["redo", "re-do", "re-run", "rerun", "again", "repeat", "retry"]),
];

/// What a trigger phrase requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trigger {
    Mode(Mode),
    /// Repeats the last question in its mode.
    Redo,
}

impl Trigger {
    /// Whether a question in lower case contains a phrase of this trigger.
    fn is_in(self, question: &str) -> bool {
        let is_word = |at: usize, end: usize| {
            !question[..at].ends_with(char::is_alphanumeric) && !question[end..].starts_with(char::is_alphanumeric)
        };
        let is_said = |phrase: &&str| match self {
            // Matches `derivation` and `proves`, but not `improve`.
            Trigger::Mode(Mode::Auditable) => {
                question.match_indices(*phrase).any(|(at, _)| !question[..at].ends_with(char::is_alphanumeric))
            }
            _ => question.starts_with(*phrase) && is_word(0, phrase.len()),
        };
        TRIGGERS.iter().filter(|(trigger, _)| *trigger == self).flat_map(|(_, phrases)| *phrases).any(is_said)
    }
}

impl Mode {
    /// Returns the mode whose trigger phrase a question contains; exploratory without one.
    pub fn of(question: &str) -> Mode {
        let question = question.trim().to_lowercase();
        let modes = [Mode::Auditable, Mode::Knowledge];
        modes.into_iter().find(|mode| Trigger::Mode(*mode).is_in(&question)).unwrap_or_default()
    }

    /// Returns the mode in which a question repeats one that was answered in `before`: the same, or the one that it names; `None` if it is
    /// not a repetition.
    pub fn of_redo(question: &str, before: Mode) -> Option<Mode> {
        let question = question.trim().to_lowercase();
        if !Trigger::Redo.is_in(&question) {
            return None;
        }
        let is_named = |mode: &Mode| question.contains(&format!("{} mode", mode.as_str()));
        let compared = || question.contains("compare").then_some(Mode::Exploratory);
        Some(Mode::ALL.into_iter().find(is_named).or_else(compared).unwrap_or(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigger_phrases_choose_the_mode() {
        for (question, mode) in [
            ("Prove that VIP customers spend more", Mode::Auditable),
            ("Is it true that refunds rose in 2024?", Mode::Auditable),
            ("Show the derivation of net revenue", Mode::Auditable),
            ("Isn't it true that refunds fell?", Mode::Auditable),
            ("What is a VIP customer?", Mode::Knowledge),
            ("How does churn come about?", Mode::Knowledge),
            ("Show me VIP customer spending trends by quarter", Mode::Exploratory),
            ("What is the total revenue per country?", Mode::Exploratory),
            ("improve the checkout", Mode::Exploratory),
        ] {
            assert_eq!(Mode::of(question), mode, "{question}");
        }
    }

    #[test]
    fn a_redo_keeps_the_mode_unless_it_names_another() {
        let mode = |question| Mode::of_redo(question, Mode::Auditable);
        assert_eq!(mode("redo with 2024"), Some(Mode::Auditable));
        assert_eq!(mode("Again, for Germany"), Some(Mode::Auditable));
        assert_eq!(mode("redo in exploratory mode"), Some(Mode::Exploratory));
        assert_eq!(mode("redo and compare to previous"), Some(Mode::Exploratory));
        assert_eq!(mode("Against whom?"), None);
        assert_eq!(mode("Revenue again?"), None);
    }
}
