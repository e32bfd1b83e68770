//! The words of a question, and which of them are understood: periods, comparisons, grains, orders and numbers read alike whatever
//! the question is about.

use chrono::NaiveDate;
use prospector_connect::filter::FilterOp;
use prospector_engine::query::aggregate::Grain;
use prospector_text::{identifiers, numbers, periods, periods::Period, stem};

use super::ReadError;
use super::superlatives::ranks;

/// Words that change nothing of what a figure is. None of them denies, compares or counts.
const SILENT: &str = "a all altogether an and any are be been bring brings broken brought by can compare compared could did do does \
    down during each earn earned every figure find for from generate generated get give grouped had has have how in is it its \
    list made make many me much of on our over per please show split tell that the their there time to trend trends us versus vs was we were \
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

/// What a number is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Comparison {
    pub(super) at: usize,
    /// All of these hold.
    pub(super) bounds: Vec<(FilterOp, i64)>,
}

/// A question while it is read.
#[derive(Debug, Clone)]
pub(super) struct Words {
    text: String,
    pub(super) list: Vec<Word>,
    /// The unit of two periods that stand side by side, each of which is one.
    sides: Option<Grain>,
}

impl Words {
    pub(super) fn new(question: &str) -> Words {
        let text = question.replace('_', " ");
        let word = |text: &str| {
            let lower = text.to_lowercase().replace('’', "'");
            Word { text: text.to_owned(), stem: stem::snowball(&lower), lower, is_taken: false }
        };
        Words { list: periods::words(&text).into_iter().map(word).collect(), text, sides: None }
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

    /// Whether figures are told by what stands there: it stands after `by`, or is what `which`, `top` or their number asks for.
    pub(super) fn is_told_by(&self, at: usize) -> bool {
        self.is_grouping(at) || self.asks_which(at)
    }

    /// Whether it stands after `by`.
    pub(super) fn is_grouping(&self, at: usize) -> bool {
        GROUPING.contains(&self.before(at))
    }

    /// Whether it is what `which`, `top` or their number asks for.
    pub(super) fn asks_which(&self, at: usize) -> bool {
        for word in self.list[..at].iter().rev() {
            let word = word.lower.as_str();
            let is_number = word.parse::<usize>().is_ok() || numbers::parse_word(word).is_some();
            match word {
                "which" | "what" => return true,
                "the" | "of" => {}
                _ if is_number => {}
                _ => return ranks(word),
            }
        }
        false
    }

    pub(super) fn phrase(&self, at: usize, length: usize) -> String {
        self.list[at..at + length].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The period: the first day and the day after the last one. It may be counted from today.
    pub(super) fn take_period(&mut self, today: NaiveDate) -> Result<Option<(String, String)>, ReadError> {
        let mut found = periods::find_on(&self.text, today);
        found.retain(|period| {
            self.list[period.place.0..period.place.0 + period.place.1].iter().all(|word| !word.is_taken)
        });
        let (from, to) = match found.as_slice() {
            [] => return Ok(None),
            [one] => (one.from.clone(), one.to.clone()),
            [first, second] if self.is_range(first.place, second.place) => (first.from.clone(), second.to.clone()),
            [one, other] if self.is_joined(one.place, other.place) => {
                let (first, second) = if one.from < other.from { (one, other) } else { (other, one) };
                self.sides =
                    find_unit(first).filter(|unit| first.to == second.from && find_unit(second) == Some(*unit));
                if self.sides.is_none() {
                    return Err(ReadError::SeveralPeriods);
                }
                (first.from.clone(), second.to.clone())
            }
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

    /// `A and B`, `A versus B`
    fn is_joined(&self, first: (usize, usize), second: (usize, usize)) -> bool {
        let middle = self.lower(Some(first.0 + first.1));
        first.0 + first.1 + 1 == second.0 && matches!(middle, "and" | "with" | "to" | "versus" | "vs" | "or")
    }

    /// `more than 5`, `at least 3`, `between 2 and 4`.
    pub(super) fn take_comparisons(&mut self) -> Vec<Comparison> {
        let mut found = Vec::new();
        let number = |word: &Word| word.lower.parse::<i64>().ok();
        for at in 0..self.list.len().saturating_sub(3) {
            let (first, middle) = (&self.list[at].lower, &self.list[at + 2].lower);
            let ends = number(&self.list[at + 1]).zip(number(&self.list[at + 3]));
            // Two years are a period.
            let Some((from, to)) = ends.filter(|(from, _)| first == "between" && middle == "and" && !is_year(*from))
            else {
                continue;
            };
            self.take(at, 4);
            found.push(Comparison { at, bounds: vec![(FilterOp::Gte, from), (FilterOp::Lte, to)] });
        }
        // `a rating of 5`
        for at in 1..self.list.len().saturating_sub(1) {
            let number = number(&self.list[at + 1]).filter(|number| self.list[at].lower == "of" && !is_year(*number));
            let Some(number) = number.filter(|_| !self.list[at + 1].is_taken) else { continue };
            self.take(at, 2);
            found.push(Comparison { at, bounds: vec![(FilterOp::Eq, number)] });
        }
        for (phrase, op) in COMPARING {
            let words: Vec<String> = phrase.iter().map(|word| (*word).to_owned()).collect();
            let Some(at) = self.find_lower(&words) else { continue };
            let Ok(number) = self.lower(Some(at + phrase.len())).parse() else { continue };
            self.take(at, phrase.len() + 1);
            found.push(Comparison { at, bounds: vec![(*op, number)] });
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
        match free.filter_map(|(at, word)| Some((at, adverb(word).or_else(|| told(at))?))).next() {
            Some((at, grain)) => {
                self.take(at, 1);
                Some((at, grain))
            }
            None => self.sides.map(|grain| (0, grain)),
        }
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

/// The unit that a period is one of.
fn find_unit(period: &Period) -> Option<Grain> {
    let month = |day: &str| Some(day.get(..4)?.parse::<i32>().ok()? * 12 + day.get(5..7)?.parse::<i32>().ok()?);
    let is_whole = period.from.ends_with("-01") && period.to.ends_with("-01");
    match month(&period.to)? - month(&period.from)? {
        12 if is_whole => Some(Grain::Year),
        3 if is_whole => Some(Grain::Quarter),
        1 if is_whole => Some(Grain::Month),
        _ => None,
    }
}

fn is_year(number: i64) -> bool {
    (1900..=2100).contains(&number)
}

/// The stems of a name: `InvoiceLine`, `invoice_lines` and `invoice line` are the same.
pub(super) fn stems(name: &str) -> Vec<String> {
    identifiers::words(name).iter().map(|word| stem::snowball(word)).collect()
}

/// The words of a value, as those of a question are compared with them.
pub(super) fn lower_words(value: &str) -> Vec<String> {
    periods::words(&value.replace('_', " ")).into_iter().map(str::to_lowercase).collect()
}
