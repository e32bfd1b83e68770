//! The words of a question, and which of them are understood: periods, comparisons, grains, orders and numbers read alike whatever
//! the question is about.

use prospector_connect::filter::FilterOp;
use prospector_engine::query::aggregate::Grain;
use prospector_text::{identifiers, numbers, periods, stem};

use super::ReadError;

/// Words that change nothing of what a figure is. None of them denies, compares or counts.
const SILENT: &str = "a all altogether an and any are be been bring brings broken brought by can compare compared could did do does \
    down during each earn earned every figure find for from generate generated get give grouped had has have how i in is it its \
    list made make many me much of on our over per please show split tell that the their there time to us versus vs was we were \
    what what's which with you";

/// Words that put the largest or the smallest first.
const DESCENDING: &[&str] = &["best", "biggest", "greatest", "highest", "largest", "most", "top"];
const ASCENDING: &[&str] = &["bottom", "fewest", "least", "lowest", "smallest", "worst"];

/// Words before what figures are told by.
pub(super) const GROUPING: &[&str] = &["by", "per", "each", "every"];

/// What compares with a number that follows.
const COMPARING: &[(&[&str], FilterOp)] = &[
    (&["more", "than"], FilterOp::Gt),
    (&["greater", "than"], FilterOp::Gt),
    (&["higher", "than"], FilterOp::Gt),
    (&["over"], FilterOp::Gt),
    (&["above"], FilterOp::Gt),
    (&["at", "least"], FilterOp::Gte),
    (&["less", "than"], FilterOp::Lt),
    (&["fewer", "than"], FilterOp::Lt),
    (&["lower", "than"], FilterOp::Lt),
    (&["under"], FilterOp::Lt),
    (&["below"], FilterOp::Lt),
    (&["at", "most"], FilterOp::Lte),
];

/// A ranking of more is not asked for in words.
const MAX_RANKED: usize = 1_000;

/// A word of a question.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// As it was written.
    pub(super) text: String,
    pub(super) lower: String,
    pub(super) stem: String,
    pub(super) is_taken: bool,
}

impl Word {
    /// Whether it changes nothing of what a figure is.
    pub(super) fn is_silent(&self) -> bool {
        SILENT.split(' ').any(|word| word == self.lower)
    }

    /// Whether a capital makes it a name.
    pub(super) fn is_capital(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }
}

/// A number that something is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Comparison {
    pub(super) at: usize,
    pub(super) op: FilterOp,
    pub(super) number: i64,
}

/// A question while it is read.
#[derive(Debug, Clone)]
pub(super) struct Words {
    text: String,
    pub(super) list: Vec<Word>,
}

impl Words {
    pub(super) fn new(question: &str) -> Words {
        let text = question.replace('_', " ");
        let word = |text: &str| {
            let lower = text.to_lowercase().replace('’', "'");
            Word { text: text.to_owned(), stem: stem::snowball(&lower), lower, is_taken: false }
        };
        Words { list: periods::words(&text).into_iter().map(word).collect(), text }
    }

    fn lower(&self, at: Option<usize>) -> &str {
        at.and_then(|at| self.list.get(at)).map_or("", |word| word.lower.as_str())
    }

    /// Where words of these stems stand that have no meaning yet.
    pub(super) fn find(&self, stems: &[String]) -> Option<usize> {
        self.find_by(stems, |word| &word.stem)
    }

    /// Where these words, in lower case, stand that have no meaning yet.
    pub(super) fn find_lower(&self, words: &[String]) -> Option<usize> {
        self.find_by(words, |word| &word.lower)
    }

    fn find_by(&self, phrase: &[String], part: impl Fn(&Word) -> &String) -> Option<usize> {
        let is_free = |(word, wanted): (&Word, &String)| !word.is_taken && part(word) == wanted;
        self.list.windows(phrase.len().max(1)).position(|window| window.iter().zip(phrase).all(is_free))
    }

    pub(super) fn take(&mut self, at: usize, count: usize) {
        self.list.iter_mut().skip(at).take(count).for_each(|word| word.is_taken = true);
    }

    /// Takes a phrase of words in lower case, and tells where it stood.
    pub(super) fn take_phrase(&mut self, phrase: &[&str]) -> Option<usize> {
        let phrase: Vec<String> = phrase.iter().map(|word| (*word).to_owned()).collect();
        let at = self.find_lower(&phrase)?;
        self.take(at, phrase.len());
        Some(at)
    }

    /// The word before a place, articles left out.
    pub(super) fn before(&self, at: usize) -> &str {
        let is_article = |word: &&Word| ["the", "a", "an", "different"].contains(&word.lower.as_str());
        self.list[..at].iter().rev().find(|word| !is_article(word)).map_or("", |word| word.lower.as_str())
    }

    pub(super) fn phrase(&self, at: usize, length: usize) -> String {
        self.list[at..at + length].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The period: the first day and the day after the last one.
    pub(super) fn take_period(&mut self) -> Result<Option<(String, String)>, ReadError> {
        let mut found = periods::find(&self.text);
        found.retain(|period| {
            self.list[period.place.0..period.place.0 + period.place.1].iter().all(|word| !word.is_taken)
        });
        let (from, to) = match found.as_slice() {
            [] => return Ok(None),
            [one] => (one.from.clone(), one.to.clone()),
            [first, second] if self.is_range(first.place, second.place) => (first.from.clone(), second.to.clone()),
            _ => return Err(ReadError::SeveralPeriods),
        };
        for (at, count) in found.iter().map(|period| period.place) {
            self.take(at, count);
            // `since`, `after` and `before` are in the period already.
            let is_part =
                ["since", "after", "before", "until", "through", "between"].contains(&self.lower(at.checked_sub(1)));
            self.take(at.saturating_sub(1), usize::from(is_part));
        }
        Ok(Some((from, to)))
    }

    /// `from A to B`, `between A and B`.
    fn is_range(&self, first: (usize, usize), second: (usize, usize)) -> bool {
        let (before, middle) = (self.lower(first.0.checked_sub(1)), self.lower(Some(first.0 + first.1)));
        let is_near = first.0 + first.1 + 1 == second.0;
        is_near && matches!((before, middle), ("from", "to" | "until" | "through") | ("between", "and"))
    }

    /// `more than 5`, `at least 3`.
    pub(super) fn take_comparisons(&mut self) -> Vec<Comparison> {
        let mut found = Vec::new();
        for (phrase, op) in COMPARING {
            let words: Vec<String> = phrase.iter().map(|word| (*word).to_owned()).collect();
            let Some(at) = self.find_lower(&words) else { continue };
            let Ok(number) = self.lower(Some(at + phrase.len())).parse() else { continue };
            self.take(at, phrase.len() + 1);
            found.push(Comparison { at, op: *op, number });
        }
        found
    }

    /// `monthly`, `by month`, `per quarter`, `which year`; and where it stood.
    pub(super) fn take_grain(&mut self) -> Option<(usize, Grain)> {
        const ADVERBS: [(&str, Grain); 6] = [
            ("daily", Grain::Day),
            ("weekly", Grain::Week),
            ("monthly", Grain::Month),
            ("quarterly", Grain::Quarter),
            ("yearly", Grain::Year),
            ("annual", Grain::Year),
        ];
        let adverb = |word: &Word| ADVERBS.iter().find(|(adverb, _)| *adverb == word.lower).map(|(_, grain)| *grain);
        let told = |at: usize| {
            let before = self.lower(at.checked_sub(1));
            let is_told_by = GROUPING.contains(&before) || ["which", "what", "and"].contains(&before);
            Grain::find(&self.list[at].lower).filter(|_| is_told_by)
        };
        let free = self.list.iter().enumerate().filter(|(_, word)| !word.is_taken);
        let (at, grain) = free.filter_map(|(at, word)| Some((at, adverb(word).or_else(|| told(at))?))).next()?;
        self.take(at, 1);
        Some((at, grain))
    }

    /// Whether the largest comes first, or the smallest; and where that is said.
    pub(super) fn take_rank(&mut self) -> Option<(usize, bool)> {
        let is_rank = |word: &Word| {
            !word.is_taken && (DESCENDING.contains(&word.lower.as_str()) || ASCENDING.contains(&word.lower.as_str()))
        };
        let at = self.list.iter().position(is_rank)?;
        self.take(at, 1);
        Some((at, DESCENDING.contains(&self.list[at].lower.as_str())))
    }

    /// How many are wanted.
    pub(super) fn take_number(&mut self) -> Option<usize> {
        let read = |word: &Word| match word.lower.parse::<usize>() {
            Ok(number) => Some(number).filter(|number| (1..=MAX_RANKED).contains(number)),
            Err(_) => numbers::parse_word(&word.lower).map(|number| number as usize),
        };
        let mut free = self.list.iter().enumerate().filter(|(_, word)| !word.is_taken);
        let (at, number) = free.find_map(|(at, word)| Some((at, read(word)?)))?;
        self.take(at, 1);
        Some(number)
    }

    /// What nobody understood.
    pub(super) fn list_rest(&self) -> Vec<String> {
        let says = |word: &&Word| !word.is_taken && !word.is_silent();
        self.list.iter().filter(says).map(|word| word.text.clone()).collect()
    }

    /// Nothing, where all is understood.
    pub(super) fn check_rest(&self) -> Result<(), ReadError> {
        match self.list_rest() {
            rest if rest.is_empty() => Ok(()),
            rest => Err(ReadError::NotUnderstood(rest)),
        }
    }
}

/// The stems of a name: `InvoiceLine`, `invoice_lines` and `invoice line` are the same.
pub(super) fn stems(name: &str) -> Vec<String> {
    identifiers::words(name).iter().map(|word| stem::snowball(word)).collect()
}

/// The words of a value, as those of a question are compared with them.
pub(super) fn lower_words(value: &str) -> Vec<String> {
    periods::words(&value.replace('_', " ")).into_iter().map(str::to_lowercase).collect()
}
