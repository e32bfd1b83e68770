//! A question, as far as terms are looked up in it.

use prospector_text::stop_words::OF_TABLE_QUERIES;

use crate::words::{is_stop_word, same, singular, stem, within, words};

/// What asks for the meaning of the rest of a question.
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
/// What accompanies a term whose meaning is asked for.
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

/// How far a question asks for the meaning of a term.
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
    /// The stems of all words; of stop words, the words.
    pub(crate) said: Vec<String>,
    /// The stems of the words that count.
    pub(crate) counting: Vec<String>,
    /// The words of `counting` in the singular.
    pub(crate) forms: Vec<String>,
    /// Neighbours of `counting` as one word.
    pub(crate) joined: Vec<String>,
    /// The stems of what is left without the words that ask.
    pub(crate) rest: Vec<String>,
    /// The words of `rest`, in one run of the question; empty where others are between them.
    pub(crate) term: String,
    /// The question says that it asks for a meaning.
    pub(crate) is_explicit: bool,
    /// The question is a term alone.
    is_bare: bool,
    is_question: bool,
    /// It has a word such as `mean` or `define`.
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
            is_question: matches!(first, "who" | "when" | "how" | "which"),
            counting,
        }
    }

    /// Returns how far nothing but the meaning of a term is asked for.
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

    /// Whether a short term may be all that is asked for.
    pub(crate) fn is_short(&self) -> bool {
        let most = if self.is_bare { MAX_TERM - 1 } else { MAX_TERM };
        (1..=most).contains(&self.term.split_whitespace().count())
    }

    /// Whether the meaning of a short term is asked for, so that the user has to say it where nothing defines it.
    pub(crate) fn needs_meaning(&self) -> bool {
        let is_of_data = |word: &str| OF_TABLE_QUERIES.contains(&word);
        let asks = (self.is_explicit || self.is_bare) && !self.is_question;
        asks && self.is_short() && !self.term.split(' ').any(is_of_data)
    }
}
