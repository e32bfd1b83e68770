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

/// Trigger phrases of the specification, used if neither a flag nor a field sets the mode: of the auditable mode anywhere in a question, of
/// the knowledge mode and of a repetition at its start.
const AUDITABLE: [&str; 5] = ["prove", "verify", "derivation", "true that", "is it true"];
const KNOWLEDGE: [&str; 4] = ["explain", "how does", "what is a", "what is an"];
const REDO: [&str; 7] = ["redo", "re-do", "re-run", "rerun", "again", "repeat", "retry"];

impl Mode {
    /// Returns the mode whose trigger phrase a question contains; exploratory without one.
    pub fn of(question: &str) -> Mode {
        let lower = question.to_lowercase();
        // Matches `derivation` and `proves`, but not `improve`.
        let has =
            |phrase: &&str| lower.match_indices(*phrase).any(|(at, _)| !lower[..at].ends_with(char::is_alphanumeric));
        match AUDITABLE.iter().any(has) {
            true => Mode::Auditable,
            false if strip_phrase(question, &KNOWLEDGE).is_some() => Mode::Knowledge,
            false => Mode::Exploratory,
        }
    }

    /// Returns the mode in which a question repeats one that was answered in `before`: the same, or the one that it names; `None` if it is
    /// not a repetition.
    pub fn of_redo(question: &str, before: Mode) -> Option<Mode> {
        let change = strip_redo(question)?.to_lowercase();
        let is_named = |mode: &Mode| change.contains(&format!("{} mode", mode.as_str()));
        let compared = || change.contains("compare").then_some(Mode::Exploratory);
        Some(Mode::ALL.into_iter().find(is_named).or_else(compared).unwrap_or(before))
    }
}

/// Returns what a request to repeat the last question adds to it: `for 2024` of `redo, for 2024`; `None` if it is not a repetition.
pub fn strip_redo(question: &str) -> Option<&str> {
    strip_phrase(question, &REDO).map(|rest| rest.trim_matches([' ', ',', ';', ':', '.', '!', '?']))
}

/// Returns what follows one of the phrases at the start of a question.
fn strip_phrase<'a>(question: &'a str, phrases: &[&str]) -> Option<&'a str> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    phrases.iter().find_map(|phrase| {
        let (start, rest) = question.trim().split_at_checked(phrase.len())?;
        (start.eq_ignore_ascii_case(phrase) && !rest.starts_with(is_inside)).then_some(rest)
    })
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
