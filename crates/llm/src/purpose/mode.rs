//! How a question wants to be answered.

use serde::{Deserialize, Serialize};

/// How a question is to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Premises with source and confidence, and a derivation that can be checked; nothing personal is assumed.
    Auditable,
    /// Find out from the data.
    #[default]
    Exploratory,
    /// Answer from definitions and documents, without data.
    Knowledge,
}

/// Phrases that ask for proof.
const AUDITABLE: &[&str] = &[
    "prove",
    "verify",
    "is it true",
    "true that",
    "is it correct",
    "audit",
    "derivation",
    "confirm that",
    "evidence that",
    "demonstrate that",
];

/// Beginnings that ask for an explanation.
const KNOWLEDGE: &[&str] = &[
    "what is a ",
    "what is an ",
    "what is the definition",
    "what is meant",
    "what does ",
    "what are the rules",
    "what counts as",
    "define ",
    "definition of",
    "explain ",
    "how is ",
    "how does ",
    "what do we mean",
];

/// Beginnings that ask to do the last question again.
const REPEAT: &[&str] = &[
    "redo",
    "re-do",
    "again",
    "repeat",
    "once more",
    "the same",
    "rerun",
    "re-run",
    "retry",
    "try again",
    "try it again",
    "do it again",
    "do that again",
    "run it again",
    "run that again",
];

/// What follows a word at the beginning of a text.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.strip_prefix(word).filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
}

/// Words that ask for figures, whatever the question begins with.
const FIGURES: &[&str] = &[
    "how many",
    "how much",
    "average",
    "total",
    "sum",
    "trend",
    "top ",
    "highest",
    "lowest",
    "most",
    "least",
    "per ",
    "by month",
    "by quarter",
    "by year",
    "compare",
    "count",
    "list ",
];

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::Auditable, Mode::Exploratory, Mode::Knowledge];

    /// The word for it in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Auditable => "auditable",
            Mode::Exploratory => "exploratory",
            Mode::Knowledge => "knowledge",
        }
    }

    /// The mode that a question asks for by its words.
    pub fn of(question: &str) -> Mode {
        let question = format!("{} ", question.trim().to_lowercase());
        let begins_word = |phrase: &&str| {
            question.match_indices(*phrase).any(|(at, _)| !question[..at].ends_with(char::is_alphanumeric))
        };
        if AUDITABLE.iter().any(begins_word) {
            Mode::Auditable
        } else if KNOWLEDGE.iter().any(|phrase| question.starts_with(phrase)) && !FIGURES.iter().any(begins_word) {
            Mode::Knowledge
        } else {
            Mode::Exploratory
        }
    }

    /// Whether a question asks to do the last one again, perhaps with other values: then its mode stays, unless it asks for
    /// another one: see [`Mode::of_repetition`].
    pub fn repeats(question: &str) -> bool {
        let mut question = question.trim().to_lowercase();
        let polite = ["please", "now", "and", "then", "ok", "okay", "can you", "could you"];
        while let Some(rest) = polite.iter().find_map(|word| strip_word(&question, word)) {
            question = rest.trim_start_matches([',', ' ']).to_owned();
        }
        REPEAT.iter().any(|begin| strip_word(&question, begin).is_some())
    }

    /// The mode that a question asks for which repeats another one: by its name, as in `redo in exploratory mode`, or
    /// because it is to be compared with what came out before.
    pub fn of_repetition(question: &str) -> Option<Mode> {
        let question = question.to_lowercase();
        let named = |mode: &Mode| question.contains(&format!("{} mode", mode.as_str()));
        Mode::ALL.into_iter().find(named).or_else(|| question.contains("compare").then_some(Mode::Exploratory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, mode: Mode) {
        assert_eq!(Mode::of(question), mode, "{question}");
    }

    #[test]
    fn the_words_of_a_question_choose_its_mode() {
        check("Prove that VIP customers spend more", Mode::Auditable);
        check("Is it true that refunds rose in 2024?", Mode::Auditable);
        check("Show the derivation of net revenue", Mode::Auditable);
        check("Isn't it true that refunds fell?", Mode::Auditable);
        check("How does churn come about?", Mode::Knowledge);
        check("What is a VIP customer?", Mode::Knowledge);
        check("Define churn", Mode::Knowledge);
        check("Show me VIP customer spending trends by quarter", Mode::Exploratory);
        check("What is the total revenue per country?", Mode::Exploratory);
        check("How is revenue per customer developing by month?", Mode::Exploratory);
        check("improve the checkout", Mode::Exploratory);
    }

    #[test]
    fn a_request_to_repeat_is_known_by_its_beginning() {
        for question in [
            "Redo with 2024",
            "again, please",
            "The same for Germany",
            "once more",
            "Please re-do it",
            "retry",
            "Could you run it again?",
        ] {
            assert!(Mode::repeats(question), "{question}");
        }
        let mode = Mode::of_repetition;
        assert_eq!(mode("redo in exploratory mode"), Some(Mode::Exploratory));
        assert_eq!(mode("Redo it in AUDITABLE mode, with 2024"), Some(Mode::Auditable));
        assert_eq!(mode("redo and compare to previous"), Some(Mode::Exploratory));
        assert_eq!(mode("redo with 2024"), None);
        for question in ["Against whom?", "Is it the same?", "redone invoices", "Please the others"] {
            assert!(!Mode::repeats(question), "{question}");
        }
    }
}
