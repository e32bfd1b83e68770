//! Extracts phrases that may be values from a question, and literals that must occur in the data.

use std::ops::Range;

use chrono::{Month, Weekday};
use prospector_text::stop_words::{OF_QUERIES, OF_TABLE_QUERIES};

use super::fold::{Word, join, key, words};

/// Maximum number of words of a question that are looked up.
const MAX_WORDS: usize = 256;

/// Maximum number of words of an unquoted phrase.
const MAX_PHRASE_WORDS: usize = 6;

/// Maximum length of a quotation, in bytes.
const MAX_QUOTED_BYTES: usize = 200;

/// Opening and closing quotation marks.
const QUOTES: [(char, char); 7] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('«', '»'), ('„', '“')];

/// Capitalised words that are not names, in addition to months and weekdays.
const NO_NAMES: [&str; 8] = ["i", "id", "sql", "json", "csv", "api", "url", "pdf"];

/// Returns whether a capitalised word is not a name.
fn names_nothing(word: &str) -> bool {
    word.parse::<Month>().is_ok() || word.parse::<Weekday>().is_ok() || NO_NAMES.contains(&word)
}

/// The form of a phrase, strongest evidence first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// In quotation marks.
    Quoted,
    /// Letters and digits: `INV-2024`.
    Code,
    /// With capitals.
    Name,
    /// In lower case, the plural of an acronym, or in a question where most words are capitalised.
    Plain,
    /// Digits alone.
    Number,
}

/// A phrase of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase {
    /// The lookup key.
    pub(super) key: String,
    /// The positions of its words.
    pub(super) words: Range<usize>,
    pub(super) form: Form,
}

/// An analysed question.
pub(super) struct Question<'a> {
    text: &'a str,
    words: Vec<Word>,
    /// The word positions of each quotation.
    quoted: Vec<Range<usize>>,
    /// Whether capitals carry no information, because most words have them.
    is_title: bool,
}

impl<'a> Question<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut words = words(text);
        words.truncate(MAX_WORDS);
        let mut asked = Question { text, words, quoted: Vec::new(), is_title: false };
        asked.quoted = quotations(text).into_iter().filter_map(|range| asked.places(&range)).collect();
        let letters = asked.words.iter().filter(|word| begins_with(asked.slice(word), char::is_alphabetic)).count();
        let capitals = asked.words.iter().filter(|word| begins_with(asked.slice(word), char::is_uppercase)).count();
        asked.is_title = letters >= 4 && capitals * 10 >= letters * 7;
        asked
    }

    fn slice(&self, word: &Word) -> &'a str {
        &self.text[word.range.clone()]
    }

    /// Returns the original text of these words.
    pub(super) fn text_of(&self, words: &Range<usize>) -> &'a str {
        match self.words.get(words.clone()) {
            Some([first, .., last]) => &self.text[first.range.start..last.range.end],
            Some([one]) => self.slice(one),
            _ => "",
        }
    }

    /// Iterates over the normalised words of a phrase.
    pub(super) fn keys(&self, words: &Range<usize>) -> impl Iterator<Item = &str> {
        self.words.get(words.clone()).unwrap_or_default().iter().map(|word| word.folded.as_str())
    }

    /// Returns the number of content words.
    pub(super) fn telling(&self) -> usize {
        self.words.iter().filter(|word| !is_common(&word.folded)).count()
    }

    /// Returns the positions of the words within a byte range.
    fn places(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let start = self.words.iter().position(|word| word.range.start >= range.start)?;
        let end = self.words.iter().take_while(|word| word.range.end <= range.end).count();
        (start < end).then_some(start..end)
    }

    /// Returns the phrases to look up, longest first: quotations, then every run of words with a content word.
    pub(super) fn phrases(&self) -> Vec<Phrase> {
        let quoted = self.quoted.iter().map(|words| self.phrase(words.clone()));
        let runs = (1..=MAX_PHRASE_WORDS.min(self.words.len()))
            .rev()
            .flat_map(|length| (0..=self.words.len() - length).map(move |start| self.phrase(start..start + length)));
        let says = |phrase: &Phrase| {
            phrase.form == Form::Quoted || phrase.key.chars().count() > 1 && !self.keys(&phrase.words).all(is_common)
        };
        let mut seen = std::collections::HashSet::new();
        quoted.chain(runs).filter(says).filter(|phrase| seen.insert(phrase.words.clone())).collect()
    }

    fn phrase(&self, words: Range<usize>) -> Phrase {
        Phrase { key: join(&self.words[words.clone()]), form: self.form(&words), words }
    }

    fn form(&self, words: &Range<usize>) -> Form {
        let written = self.text_of(words);
        let has = |test: fn(char) -> bool| written.chars().any(test);
        if self.quoted.contains(words) {
            return Form::Quoted;
        }
        if !has(char::is_alphabetic) {
            return Form::Number;
        }
        let is_code = has(|c| c.is_ascii_digit()) && !written.contains(char::is_whitespace);
        if is_code && written.chars().any(char::is_uppercase) {
            return Form::Code;
        }
        let is_inside = self.quoted.iter().any(|quoted| quoted.start <= words.start && words.end <= quoted.end);
        // `DVDs` is a plural like `books`, and not a name.
        let is_plural = written.strip_suffix('s').is_some_and(|stem| stem.chars().all(char::is_uppercase));
        if is_inside || self.is_name(words) && !is_plural { Form::Name } else { Form::Plain }
    }

    /// Returns whether capitals mark these words as a name; at the start of a sentence, the first capital does not
    /// count.
    fn is_name(&self, words: &Range<usize>) -> bool {
        let own = &self.words[words.clone()];
        let capital = |word: &Word| begins_with(self.slice(word), char::is_uppercase);
        let [first, .., last] = own else {
            return own.iter().all(capital) && !self.begins_sentence(words.start) && !self.is_title;
        };
        let starts = self.begins_sentence(words.start) && is_common(&first.folded);
        capital(first) && capital(last) && !starts && !self.is_title
    }

    fn begins_sentence(&self, at: usize) -> bool {
        let before = self.text[..self.words[at].range.start]
            .trim_end_matches(|c: char| !".?!:;\n".contains(c) && !c.is_alphanumeric());
        before.is_empty() || before.ends_with(['.', '?', '!', ':', ';', '\n'])
    }

    /// Returns the literals that must occur in the data: quotations, codes and names, longest first, without nested
    /// ones.
    pub(super) fn literals(&self) -> Vec<Range<usize>> {
        let mut literals = self.quoted.clone();
        let mut at = 0;
        while at < self.words.len() {
            // `Is INV-2024`: the capital is due to the start of the sentence.
            if is_common(&self.words[at].folded) {
                at += 1;
                continue;
            }
            let mut end = at + 1;
            while end < self.words.len() && self.continues(at, end) {
                end += 1;
            }
            let run = at..end;
            let is_free = literals.iter().all(|other| run.end <= other.start || other.end <= run.start);
            if is_free && self.is_literal(&run) {
                literals.push(run);
            }
            at = end;
        }
        literals.retain(|words| self.text_of(words).chars().any(char::is_alphabetic));
        literals
    }

    /// Returns whether the word at `end` continues the name that starts at `start`.
    fn continues(&self, start: usize, end: usize) -> bool {
        let between = &self.text[self.words[end - 1].range.end..self.words[end].range.start];
        let capital = |at: usize| begins_with(self.slice(&self.words[at]), char::is_uppercase);
        let digits = |at: usize| begins_with(self.slice(&self.words[at]), char::is_numeric);
        // A genitive does not belong to the name.
        let glued = matches!(between, "-" | "/" | "_" | ".") && (capital(start) || digits(start));
        glued || between == " " && capital(start) && capital(end) && !self.begins_sentence(end)
    }

    fn is_literal(&self, words: &Range<usize>) -> bool {
        let own = &self.words[words.clone()];
        if own.iter().all(|word| names_nothing(&word.folded) || is_common(&word.folded)) {
            return false;
        }
        let written = self.text_of(words);
        match self.form(words) {
            Form::Quoted => true,
            // `COVID-19` is a word; `INV-2024` is an identifier.
            Form::Code => {
                begins_with(written, char::is_alphabetic) && written.chars().filter(char::is_ascii_digit).count() >= 3
            }
            Form::Name => written.chars().count() >= 3 && !own.iter().any(|word| names_nothing(&word.folded)),
            Form::Plain | Form::Number => false,
        }
    }
}

fn begins_with(text: &str, test: fn(char) -> bool) -> bool {
    text.chars().next().is_some_and(test)
}

/// Returns whether a word carries no content.
fn is_common(word: &str) -> bool {
    OF_QUERIES.contains(&word) || OF_TABLE_QUERIES.contains(&word)
}

/// Returns the quotations. A mark that is also an apostrophe opens only before a word and closes only after one.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices() {
        if found.last().is_some_and(|last| at <= last.end) {
            continue;
        }
        let Some((_, close)) = QUOTES.iter().find(|(open, _)| *open == c) else { continue };
        let before = text[..at].chars().next_back();
        let start = at + c.len_utf8();
        if before.is_some_and(char::is_alphanumeric) || text[start..].starts_with(char::is_whitespace) {
            continue;
        }
        let end = text[start..]
            .match_indices(*close)
            .map(|(length, _)| start + length)
            .find(|end| !text[end + close.len_utf8()..].chars().next().is_some_and(char::is_alphanumeric));
        if let Some(end) = end.filter(|end| end - start <= MAX_QUOTED_BYTES && !key(&text[start..*end]).is_empty()) {
            found.push(start..end);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_literals(question: &str, expected: &[&str]) {
        let asked = Question::new(question);
        let found: Vec<&str> = asked.literals().iter().map(|words| asked.text_of(words)).collect();
        assert_eq!(found, expected, "{question}");
    }

    #[test]
    fn treats_quotations_names_and_codes_as_literals() {
        check_literals("How many customers live in Brasilia?", &["Brasilia"]);
        check_literals("What is the population of 'são paulo' or \"Rio\"?", &["são paulo", "Rio"]);
        check_literals("Is INV-2024-17 paid by Acme Trading?", &["INV-2024-17", "Acme Trading"]);
        check_literals("what's Anna's address, isn't it?", &["Anna"]);
        check_literals("Show sales in July 2024 as JSON", &[]);
        check_literals("Customers of the shop. Orders of COVID-19 vaccines", &[]);
        check_literals("How Many Customers Live In Brasilia", &[]);
        check_literals("orders before '2024-01-01'", &[]);
        check_literals("", &[]);
    }

    #[track_caller]
    fn check_form(question: &str, key: &str, form: Option<Form>) {
        let phrases = Question::new(question).phrases();
        assert_eq!(phrases.iter().find(|phrase| phrase.key == key).map(|phrase| phrase.form), form, "{question} {key}");
        assert!(phrases.windows(2).all(|two| two[0].form == Form::Quoted || two[0].words.len() >= two[1].words.len()));
    }

    #[test]
    fn classifies_phrases_by_form() {
        let question = "Open invoices of São Paulo with code AB-12 in 94107 and 'in transit'";
        check_form(question, "sao paulo", Some(Form::Name));
        check_form(question, "open", Some(Form::Plain));
        check_form(question, "ab 12", Some(Form::Code));
        check_form(question, "94107", Some(Form::Number));
        check_form(question, "in transit", Some(Form::Quoted));
        check_form(question, "in", None);
        check_form(question, "of", None);
        check_form("List all orders of female customers", "female", Some(Form::Plain));
        check_form("gender 'F'", "f", Some(Form::Quoted));
        check_form("gender F", "f", None);
    }

    #[test]
    fn limits_the_number_of_phrases() {
        let long = "Paris ".repeat(5_000);
        assert!(Question::new(&long).phrases().len() <= MAX_WORDS * MAX_PHRASE_WORDS);
    }
}
