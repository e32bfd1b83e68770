//! The words of a question with their weights, and the parts that do not depend on the catalog: operators, periods, grains and numbers.

use chrono::NaiveDate;
use prospector_engine::query::aggregate::Grain;
use prospector_text::{identifiers, numbers, periods, stem, stop_words};

use super::Glossary;
use super::operators::{self, Operator};

/// A larger number is a value, not a number of rows to show.
const MAX_LIMIT: u32 = 1_000;

/// A word of a question.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// As it is matched, in its own case: `long` for `longest`.
    pub(super) text: String,
    /// As it is spelled in the question, with all tokens of the same word.
    written: String,
    pub(super) lower: String,
    /// The stems of its parts: two for `at-risk`.
    pub(super) stems: Vec<String>,
    /// The penalty for not using it, 0 to 1: its rarity in general language.
    pub(super) weight: f64,
}

/// A part of a question whose meaning does not depend on the catalog.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mark {
    Operator(Operator),
    /// The first day, and the day after the last one.
    Period(String, String),
    Grain(Grain),
    /// A grain that implies grouping: `monthly`, `month by month`.
    Series(Grain),
    Number(f64),
}

/// A run of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) at: usize,
    pub(super) length: usize,
}

impl Span {
    pub(super) fn end(self) -> usize {
        self.at + self.length
    }
}

pub(super) struct Question {
    pub(super) tokens: Vec<Token>,
    pub(super) marks: Vec<(Span, Mark)>,
    /// Names that are written as one word: `revenue_usd`.
    pub(super) identifiers: Vec<Span>,
    /// The texts in quotation marks.
    pub(super) quotations: Vec<String>,
}

impl Question {
    /// Returns the year of the first period.
    pub(super) fn year(&self) -> Option<String> {
        self.marks.iter().find_map(|(_, mark)| match mark {
            Mark::Period(from, _) => from.get(..4).map(str::to_owned),
            Mark::Operator(_) | Mark::Grain(_) | Mark::Series(_) | Mark::Number(_) => None,
        })
    }

    pub(super) fn read(text: &str, today: NaiveDate, glossary: &dyn Glossary) -> Question {
        let quoted: Vec<&str> = text.split(['"', '“', '”']).collect();
        let quotations = (1..quoted.len() - 1).step_by(2).map(|at| quoted[at].to_owned()).collect();
        let words = operators::expand(text);
        let text = words.iter().map(|(word, _)| join_digits(word)).collect::<Vec<_>>().join(" ");
        let (mut identifiers, mut at) = (Vec::new(), 0);
        for word in periods::words(&text) {
            let length = word.split('_').filter(|part| !part.is_empty()).count();
            identifiers.extend((length > 1).then_some(Span { at, length }));
            at += length;
        }
        let text = text.replace('_', " ");
        let has_lower = text.contains(char::is_lowercase);
        let token = |(word, written): (String, String)| {
            let lower = word.to_lowercase().replace('’', "'");
            let is_stop =
                stop_words::OF_QUERIES.contains(&lower.as_str()) || stop_words::OF_TERMS.contains(&lower.as_str());
            // `US` and `IT` are codes, `us` and `it` are not.
            let is_code = word.len() > 1 && word != lower && word.to_uppercase() == word;
            let weight = if is_stop && !(is_code && has_lower) { 0.0 } else { glossary.weigh(&lower) };
            Token { stems: stems(&word), text: word, written, lower, weight }
        };
        let mut tokens: Vec<Token> = words.iter().flat_map(split).map(token).collect();
        // `Return all tracks` asks for rows; elsewhere, returns are meant.
        for token in tokens.iter_mut().skip(1).filter(|token| token.lower == "return") {
            token.weight = glossary.weigh("return");
        }
        let mut marks = list_periods(&text, today, &tokens);
        let lower: Vec<&str> = tokens.iter().map(|token| token.lower.as_str()).collect();
        for at in 0..lower.len() {
            if let Some((operator, length)) = operators::find(&lower[at..]) {
                marks.push((Span { at, length }, Mark::Operator(operator)));
            }
            if let Some(mark) = find_grain(lower[at]) {
                marks.push((Span { at, length: 1 }, mark));
            }
            if let Some(number) = read_number(lower[at]) {
                marks.push((Span { at, length: 1 }, Mark::Number(number)));
                // `95 or higher`
                let bound = operators::find_bound(&lower[at + 1..]);
                let bound = bound.filter(|bound| operators::find(&lower[at + 1..]) != Some(*bound));
                marks.extend(bound.map(|(operator, length)| (Span { at: at + 1, length }, Mark::Operator(operator))));
            }
        }
        // `2025` as part of a period is not also a number.
        let periods: Vec<Span> =
            marks.iter().filter(|(_, mark)| matches!(mark, Mark::Period(..))).map(|(span, _)| *span).collect();
        marks.retain(|(span, mark)| {
            matches!(mark, Mark::Period(..))
                || !periods.iter().any(|period| period.at <= span.at && span.end() <= period.end())
        });
        let mut question = Question { tokens, marks, identifiers, quotations };
        question.mark_series();
        question
    }

    /// Marks `year by year` and `from quarter to quarter`: the same grain twice with only stop words in between.
    fn mark_series(&mut self) {
        let grains = self.marks.iter().filter_map(|(span, mark)| match mark {
            Mark::Grain(grain) => Some((*span, *grain)),
            _ => None,
        });
        let grains: Vec<(Span, Grain)> = grains.collect();
        let repeated = grains.windows(2).filter(|pair| pair[0].1 == pair[1].1);
        let near = repeated.filter(|pair| pair[1].0.at - pair[0].0.end() == 1);
        let series = near.map(|pair| {
            let span = Span { at: pair[0].0.at, length: pair[1].0.end() - pair[0].0.at };
            (span, Mark::Series(pair[0].1))
        });
        self.marks.extend(series.collect::<Vec<_>>());
    }

    /// Returns whether it names a database: by its whole name, or by two consecutive words of its description.
    pub(super) fn names(&self, database: &str, about: &str) -> bool {
        let (name, about) = (stems(database), stems(about));
        let said: Vec<&String> = self.tokens.iter().flat_map(|token| &token.stems).collect();
        let is_about = |token: &Token| token.weight > 0.0 && token.stems.iter().all(|stem| about.contains(stem));
        !name.is_empty() && said.windows(name.len()).any(|run| run.iter().copied().eq(&name))
            || self.tokens.windows(2).any(|pair| pair.iter().all(is_about))
    }

    /// Returns the words of a span as they are matched.
    pub(super) fn phrase(&self, span: Span) -> String {
        self.tokens[span.at..span.end()].iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the words at these positions as they are spelled in the question, each once.
    pub(super) fn quote(&self, positions: impl IntoIterator<Item = usize>) -> Vec<String> {
        let mut written: Vec<String> = positions.into_iter().map(|at| self.tokens[at].written.clone()).collect();
        written.dedup();
        written
    }

    /// Returns the stems of the words of a span.
    pub(super) fn stems(&self, span: Span) -> Vec<&str> {
        self.tokens[span.at..span.end()].iter().flat_map(|token| &token.stems).map(String::as_str).collect()
    }

    /// Returns the total weight of a span.
    pub(super) fn weigh(&self, span: Span) -> f64 {
        self.tokens[span.at..span.end()].iter().map(|token| token.weight).sum()
    }

    /// Returns whether there are only stop words between two positions.
    pub(super) fn are_near(&self, from: usize, to: usize) -> bool {
        from <= to && self.tokens[from..to].iter().all(|token| token.weight == 0.0)
    }

    /// Returns whether there is `and`, and otherwise only stop words, between two positions.
    pub(super) fn are_joined(&self, from: usize, to: usize) -> bool {
        self.are_near(from, to)
            && self.tokens[from..to].iter().any(|token| operators::AND.contains(&token.lower.as_str()))
    }
}

/// Splits an expanded word into tokens, each with its spelling in the question: `revenue_usd` for `revenue` and for `usd`.
fn split((expanded, written): &(String, &str)) -> Vec<(String, String)> {
    let word = join_digits(expanded);
    let parts = periods::words(&word);
    let is_one = parts.len() == 1 || word != *written;
    let token = |part: &str| {
        let written = if is_one { written.trim_matches(|c: char| !c.is_alphanumeric()) } else { part };
        let name = part.replace('_', " ");
        periods::words(&name).into_iter().map(|token| (token.to_owned(), written.to_owned())).collect::<Vec<_>>()
    };
    parts.into_iter().flat_map(token).collect()
}

/// Returns the number that a word is.
fn read_number(word: &str) -> Option<f64> {
    let number = match word {
        "once" => Some(1.0),
        "twice" => Some(2.0),
        _ => word.parse::<f64>().ok().or_else(|| numbers::parse_word(word).map(f64::from)),
    };
    number.filter(|number| number.is_finite())
}

/// Normalizes numbers: `100000` for `100,000`.
fn join_digits(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let is_separator = |at: usize| {
        chars[at] == ',' && at > 0 && is_digit(at - 1) && (1..4).all(|next| is_digit(at + next)) && !is_digit(at + 4)
    };
    (0..chars.len()).filter(|at| !is_separator(*at)).map(|at| chars[at]).collect()
}

/// Returns the number of rows that a number asks for.
pub(super) fn as_limit(number: f64) -> Option<usize> {
    (number.fract() == 0.0 && number >= 1.0 && number <= f64::from(MAX_LIMIT)).then_some(number as usize)
}

/// Returns periods with the words before them that belong to them.
fn list_periods(text: &str, today: NaiveDate, tokens: &[Token]) -> Vec<(Span, Mark)> {
    let before = |at: usize| at.checked_sub(1).map_or("", |at| tokens[at].lower.as_str());
    let mut marks: Vec<(Span, Mark)> = Vec::new();
    let mut found = periods::find_on(text, today).into_iter().peekable();
    while let Some(period) = found.next() {
        let ((at, mut length), mut lead) = (period.place, period.lead);
        let (from, mut to) = (period.from, period.to);
        // `from A to B`, `between A and B`
        if let Some(next) = found.peek() {
            let middle = tokens.get(at + length).map_or("", |token| token.lower.as_str());
            let is_range = at + length + 1 == next.place.0
                && matches!((before(at), middle), ("from", "to" | "until" | "through") | ("between", "and"));
            if is_range {
                (length, lead) = (next.place.0 + next.place.1 - at, 1);
                to.clone_from(&next.to);
                found.next();
            }
        }
        marks.push((Span { at: at - lead, length: length + lead }, Mark::Period(from, to)));
    }
    add_parts(today, tokens, &mut marks);
    marks
}

/// Handles `January and February 2025`, `Q1 versus Q2 2025`, `between March and May 2025`: the first period is in the year of the
/// following one.
fn add_parts(today: NaiveDate, tokens: &[Token], marks: &mut Vec<(Span, Mark)>) {
    for (at, length) in (0..tokens.len()).flat_map(|at| [(at, 1), (at, 2)]) {
        let Some(joint) = tokens.get(at + length) else { continue };
        let before = at.checked_sub(1).map_or("", |before| tokens[before].lower.as_str());
        let is_range =
            matches!((before, joint.lower.as_str()), ("from", "to" | "until" | "through") | ("between", "and"));
        let joins = is_range
            || operators::AND.contains(&joint.lower.as_str())
            || matches!(operators::find(&[&joint.lower]), Some((Operator::Or | Operator::Compare, _)));
        let next = marks.iter().enumerate().find_map(|(index, (span, mark))| match mark {
            Mark::Period(from, to) if joins && span.at == at + length + 1 => {
                Some((index, from.get(..4)?.to_owned(), to.clone()))
            }
            _ => None,
        });
        let Some((next, year, end)) = next else { continue };
        let words: Vec<&str> = tokens[at..at + length].iter().map(|token| token.lower.as_str()).collect();
        let found = periods::find_on(&format!("{} {year}", words.join(" ")), today);
        let whole = found.into_iter().find(|period| period.place == (0, length + 1));
        match whole {
            Some(period) if is_range => {
                let span = Span { at: at - 1, length: length + 2 + marks[next].0.length };
                marks[next] = (span, Mark::Period(period.from, end));
            }
            whole => marks.extend(whole.map(|period| (Span { at, length }, Mark::Period(period.from, period.to)))),
        }
    }
}

/// Returns the grain that a word names: `month`, `months`; `monthly` implies grouping.
fn find_grain(word: &str) -> Option<Mark> {
    const ADVERBS: [(&str, Grain); 6] = [
        ("daily", Grain::Day),
        ("weekly", Grain::Week),
        ("monthly", Grain::Month),
        ("quarterly", Grain::Quarter),
        ("yearly", Grain::Year),
        ("annually", Grain::Year),
    ];
    let adverb = ADVERBS.iter().find(|(adverb, _)| *adverb == word).map(|(_, grain)| Mark::Series(*grain));
    adverb.or_else(|| Grain::find(word).map(Mark::Grain))
}

/// Removes words from a name: `PurchaseOrder` for `PurchaseOrderHeader`.
pub(super) fn without(name: &str, words: &[&str]) -> String {
    let own = identifiers::words(name);
    own.into_iter().filter(|word| !words.contains(&word.as_str())).collect::<Vec<_>>().join(" ")
}

/// Returns the stems of a name: `InvoiceLine`, `invoice_lines` and `invoice line` are the same.
pub(super) fn stems(name: &str) -> Vec<String> {
    identifiers::words(name).iter().map(|word| stem::snowball_regular(word)).collect()
}
