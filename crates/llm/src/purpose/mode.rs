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
const AUDITABLE: &[&str] =
    &["prove", "verify", "is it true", "is it correct", "audit", "confirm that", "evidence that", "demonstrate that"];

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
    "what do we mean",
];

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

    /// Whether a question asks to do the last one again, perhaps with other values: then its mode stays.
    pub fn repeats(question: &str) -> bool {
        let question = question.trim().to_lowercase();
        let begins =
            ["redo", "again", "repeat", "once more", "the same", "rerun", "re-run", "try again", "do it again"];
        begins.iter().any(|begin| {
            question.strip_prefix(begin).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        })
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
        check("What is a VIP customer?", Mode::Knowledge);
        check("Define churn", Mode::Knowledge);
        check("Show me VIP customer spending trends by quarter", Mode::Exploratory);
        check("What is the total revenue per country?", Mode::Exploratory);
        check("How is revenue per customer developing by month?", Mode::Exploratory);
        check("improve the checkout", Mode::Exploratory);
    }

    #[test]
    fn a_request_to_repeat_is_known_by_its_beginning() {
        for question in ["Redo with 2024", "again, please", "The same for Germany", "once more"] {
            assert!(Mode::repeats(question), "{question}");
        }
        for question in ["Against whom?", "Is it the same?", "redone invoices"] {
            assert!(!Mode::repeats(question), "{question}");
        }
    }
}
