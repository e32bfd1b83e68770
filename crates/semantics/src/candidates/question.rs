//! The words of a question with what each weighs, and the parts that read alike over every catalog: operators, periods, grains and
//! numbers.

use chrono::NaiveDate;
use prospector_engine::query::aggregate::Grain;
use prospector_text::{identifiers, numbers, periods, stem, stop_words};

use super::Glossary;
use super::operators::{self, Operator};

/// A larger number is a value, and no count of rows to show.
const MAX_LIMIT: u32 = 1_000;

/// A word of a question.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// As it is written.
    pub(super) text: String,
    pub(super) lower: String,
    /// The stems of its parts: two of `at-risk`.
    pub(super) stems: Vec<String>,
    /// What leaving it out costs, 0 to 1: by how rare it is in general language.
    pub(super) weight: f64,
}

/// What a part of a question says, whatever the catalog holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mark {
    Operator(Operator),
    /// The first day, and the day after the last one.
    Period(String, String),
    Grain(Grain),
    /// A grain that is a grouping by itself: `monthly`, `month by month`.
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
    /// Words of names that are written as one: `revenue_usd`.
    pub(super) identifiers: Vec<Span>,
}

impl Question {
    pub(super) fn read(text: &str, today: NaiveDate, glossary: &dyn Glossary) -> Question {
        let text = &join_digits(&operators::expand(text));
        let (mut identifiers, mut at) = (Vec::new(), 0);
        for word in periods::words(text) {
            let length = word.split('_').filter(|part| !part.is_empty()).count();
            identifiers.extend((length > 1).then_some(Span { at, length }));
            at += length;
        }
        let text = text.replace('_', " ");
        let token = |word: &str| {
            let lower = word.to_lowercase().replace('’', "'");
            let is_stop =
                stop_words::OF_QUERIES.contains(&lower.as_str()) || stop_words::OF_TERMS.contains(&lower.as_str());
            let weight = if is_stop { 0.0 } else { glossary.weigh(&lower) };
            Token { text: word.to_owned(), stems: stems(word), lower, weight }
        };
        let tokens: Vec<Token> = periods::words(&text).into_iter().map(token).collect();
        let mut marks = list_periods(&text, today, &tokens);
        let lower: Vec<&str> = tokens.iter().map(|token| token.lower.as_str()).collect();
        for at in 0..lower.len() {
            if let Some((operator, length)) = operators::find(&lower[at..]) {
                marks.push((Span { at, length }, Mark::Operator(operator)));
            }
            if let Some(mark) = find_grain(lower[at]) {
                marks.push((Span { at, length: 1 }, mark));
            }
            let number = lower[at].parse::<f64>().ok().or_else(|| numbers::parse_word(lower[at]).map(f64::from));
            if let Some(number) = number.filter(|number| number.is_finite()) {
                marks.push((Span { at, length: 1 }, Mark::Number(number)));
            }
        }
        // `2025` is a year and no number where it is part of a period.
        let periods: Vec<Span> =
            marks.iter().filter(|(_, mark)| matches!(mark, Mark::Period(..))).map(|(span, _)| *span).collect();
        marks.retain(|(span, mark)| {
            matches!(mark, Mark::Period(..))
                || !periods.iter().any(|period| period.at <= span.at && span.end() <= period.end())
        });
        let mut question = Question { tokens, marks, identifiers };
        question.mark_series();
        question
    }

    /// `year by year`, `from quarter to quarter`: the same grain twice with nothing between that says something.
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

    /// Whether it names a database: by its whole name, or by two words in a row of what it is about.
    pub(super) fn names(&self, database: &str, about: &str) -> bool {
        let (name, about) = (stems(database), stems(about));
        let said: Vec<&String> = self.tokens.iter().flat_map(|token| &token.stems).collect();
        let is_about = |token: &Token| token.weight > 0.0 && token.stems.iter().all(|stem| about.contains(stem));
        !name.is_empty() && said.windows(name.len()).any(|run| run.iter().copied().eq(&name))
            || self.tokens.windows(2).any(|pair| pair.iter().all(is_about))
    }

    /// The words of a span as they are written.
    pub(super) fn phrase(&self, span: Span) -> String {
        self.tokens[span.at..span.end()].iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The stems of the words of a span.
    pub(super) fn stems(&self, span: Span) -> Vec<&str> {
        self.tokens[span.at..span.end()].iter().flat_map(|token| &token.stems).map(String::as_str).collect()
    }

    /// What all words weigh.
    pub(super) fn weigh(&self, span: Span) -> f64 {
        self.tokens[span.at..span.end()].iter().map(|token| token.weight).sum()
    }

    /// Whether only words that say nothing stand between two places.
    pub(super) fn are_near(&self, from: usize, to: usize) -> bool {
        from <= to && self.tokens[from..to].iter().all(|token| token.weight == 0.0)
    }

    /// Whether `and` stands between two places, and nothing that says something.
    pub(super) fn are_joined(&self, from: usize, to: usize) -> bool {
        self.are_near(from, to)
            && self.tokens[from..to].iter().any(|token| operators::AND.contains(&token.lower.as_str()))
    }
}

/// A text with numbers as digits alone: `100000` for `100,000`.
fn join_digits(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let is_separator = |at: usize| {
        chars[at] == ',' && at > 0 && is_digit(at - 1) && (1..4).all(|next| is_digit(at + next)) && !is_digit(at + 4)
    };
    (0..chars.len()).filter(|at| !is_separator(*at)).map(|at| chars[at]).collect()
}

/// The number of rows that a number asks for.
pub(super) fn as_limit(number: f64) -> Option<usize> {
    (number.fract() == 0.0 && number >= 1.0 && number <= f64::from(MAX_LIMIT)).then_some(number as usize)
}

/// Periods with the words before them that belong to them: `since`, `between`.
fn list_periods(text: &str, today: NaiveDate, tokens: &[Token]) -> Vec<(Span, Mark)> {
    let before = |at: usize| at.checked_sub(1).map_or("", |at| tokens[at].lower.as_str());
    let mut marks: Vec<(Span, Mark)> = Vec::new();
    let mut found = periods::find_on(text, today).into_iter().peekable();
    while let Some(period) = found.next() {
        let (mut at, mut length) = period.place;
        let (from, mut to) = (period.from, period.to);
        // `from A to B`, `between A and B`
        if let Some(next) = found.peek() {
            let middle = tokens.get(at + length).map_or("", |token| token.lower.as_str());
            let is_range = at + length + 1 == next.place.0
                && matches!((before(at), middle), ("from", "to" | "until" | "through") | ("between", "and"));
            if is_range {
                length = next.place.0 + next.place.1 - at;
                to.clone_from(&next.to);
                found.next();
            }
        }
        if ["since", "after", "before", "until", "through", "between", "from"].contains(&before(at)) {
            (at, length) = (at - 1, length + 1);
        }
        marks.push((Span { at, length }, Mark::Period(from, to)));
    }
    add_months(today, tokens, &mut marks);
    marks
}

/// `January and February 2025`: the month is one of the year of the period that follows it.
fn add_months(today: NaiveDate, tokens: &[Token], marks: &mut Vec<(Span, Mark)>) {
    for at in 0..tokens.len() {
        let is_joined = |span: &Span| {
            span.at == at + 2
                && (operators::AND.contains(&tokens[at + 1].lower.as_str())
                    || matches!(operators::find(&[&tokens[at + 1].lower]), Some((Operator::Or | Operator::Compare, _))))
        };
        let next = marks.iter().find_map(|(span, mark)| match mark {
            Mark::Period(from, _) if is_joined(span) => from.get(..4),
            _ => None,
        });
        let is_month = periods::MONTHS.contains(&tokens[at].lower.as_str());
        let Some(year) = next.filter(|_| is_month) else { continue };
        let text = format!("{} {year}", tokens[at].lower);
        let found = periods::find_on(&text, today).into_iter().next();
        marks.extend(found.map(|period| (Span { at, length: 1 }, Mark::Period(period.from, period.to))));
    }
}

/// The grain that a word is: `month`, `months`; `monthly` groups by itself.
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

/// The words of a name but for some: `PurchaseOrder` of `PurchaseOrderHeader`.
pub(super) fn without(name: &str, words: &[&str]) -> String {
    let own = identifiers::words(name);
    own.into_iter().filter(|word| !words.contains(&word.as_str())).collect::<Vec<_>>().join(" ")
}

/// The stems of a name: `InvoiceLine`, `invoice_lines` and `invoice line` are the same.
pub(super) fn stems(name: &str) -> Vec<String> {
    identifiers::words(name).iter().map(|word| stem::snowball_regular(word)).collect()
}
