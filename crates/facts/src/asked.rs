//! A question, prepared for the lookup of terms.

use prospector_text::{stem::singular, stop_words::OF_TABLE_QUERIES};

use crate::words::{INTERROGATIVES, is_stop_word, same, stem, within, words};

/// Words that ask for a meaning.
const MEANING: [&str; 11] = [
    "define",
    "definition",
    "definitions",
    "explain",
    "mean",
    "meaning",
    "means",
    "meant",
    "stand",
    "stands",
    "called",
];
/// Words that accompany a term in a question for its meaning.
const AROUND: [&str; 12] = [
    "calculate",
    "calculated",
    "compute",
    "computed",
    "considered",
    "count",
    "counts",
    "defined",
    "formula",
    "qualifies",
    "qualify",
    "term",
];

/// The longest term for which a clarification is asked, in words.
const MAX_TERM: usize = 3;

/// Whether and how a question asks for the meaning of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Asks {
    /// It uses the term.
    Otherwise,
    /// It asks for a meaning, of the term first.
    First,
    /// It asks for the term with words of its context: `What does reason code DMG mean?`
    InContext,
    /// It asks for the term alone.
    Alone,
}

#[derive(Debug, Default)]
pub(crate) struct QuestionWords {
    /// The stems of all words; stop words are unstemmed.
    pub(crate) said: Vec<String>,
    /// The stems of the content words.
    pub(crate) counting: Vec<String>,
    /// The content words in the singular.
    pub(crate) forms: Vec<String>,
    /// Adjacent content words joined into one word.
    pub(crate) joined: Vec<String>,
    /// The stems of the words other than those that ask.
    pub(crate) rest: Vec<String>,
    /// The words of `rest` if they are consecutive in the question; otherwise empty.
    pub(crate) term: String,
    /// Whether the question explicitly asks for a meaning.
    pub(crate) is_explicit: bool,
    /// Whether the question is a term alone.
    is_bare: bool,
    is_question: bool,
    /// Whether it contains a word such as `mean` or `define`.
    has_meaning: bool,
}

impl QuestionWords {
    pub(crate) fn parse(question: &str) -> Self {
        let all = words(question);
        let has = |list: &[&str], word: &String| list.contains(&word.as_str());
        let is_asking = |word: &String| has(&MEANING, word) || has(&AROUND, word);
        let counts = |word: &&String| !is_stop_word(word);
        let counting: Vec<String> = all.iter().filter(counts).map(|word| stem(word)).collect();
        let left: Vec<usize> = (0..all.len()).filter(|at| !is_stop_word(&all[*at]) && !is_asking(&all[*at])).collect();
        let is_run = left.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let first = all.first().map(String::as_str).unwrap_or_default();
        let has_meaning = all.iter().any(|word| has(&MEANING, word));
        let forms: Vec<String> = all.iter().filter(counts).map(|word| singular(word)).collect();
        QuestionWords {
            said: all.iter().map(|word| if is_stop_word(word) { word.clone() } else { stem(word) }).collect(),
            joined: forms.windows(2).map(|pair| pair.concat()).collect(),
            forms,
            rest: left.iter().map(|at| stem(&all[*at])).collect(),
            term: if is_run {
                left.iter().map(|at| all[*at].as_str()).collect::<Vec<_>>().join(" ")
            } else {
                String::new()
            },
            is_explicit: has_meaning || first == "what",
            is_bare: !has_meaning && left.len() == all.len(),
            has_meaning,
            is_question: first != "what" && INTERROGATIVES.contains(&first),
            counting,
        }
    }

    /// Returns to what extent the question asks for nothing but the meaning of a term.
    pub(crate) fn asks_for(&self, key: &[String], context: &[String]) -> Asks {
        if same(key, &self.rest) || same(key, &self.counting) {
            return Asks::Alone;
        }
        if !self.is_explicit || !within(key, &self.rest) {
            return Asks::Otherwise;
        }
        if self.rest.iter().all(|stem| key.contains(stem) || context.contains(stem)) {
            return Asks::InContext;
        }
        let is_first = self.has_meaning && self.rest.first().is_some_and(|first| key.contains(first));
        if is_first { Asks::First } else { Asks::Otherwise }
    }

    /// Returns whether a short term may be all that is asked for.
    pub(crate) fn is_short(&self) -> bool {
        let most = if self.is_bare { MAX_TERM - 1 } else { MAX_TERM };
        (1..=most).contains(&self.term.split_whitespace().count())
    }

    /// Returns whether the meaning of a short term is asked for, so that an undefined term needs clarification.
    pub(crate) fn needs_meaning(&self) -> bool {
        let is_of_data = |word: &str| OF_TABLE_QUERIES.contains(&word);
        let asks = (self.is_explicit || self.is_bare) && !self.is_question;
        asks && self.is_short() && !self.term.split(' ').any(is_of_data)
    }
}
