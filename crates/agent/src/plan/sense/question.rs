//! A question as it is compared with a plan: what it is about, and what it wants of it.

use prospector_text::{
    codes,
    periods::{self, Period},
    requests::{self, Change, change_of},
};

pub use super::vocabulary::{alike, stems};

/// A word that a plan has to cover.
#[derive(Debug, Clone, PartialEq)]
pub struct Concept {
    /// As it is written.
    pub text: String,
    /// Its stem.
    pub stem: String,
    /// The code that data may hold in its place: `DE` for Germany.
    pub code: Option<&'static str>,
    /// Whether it is a name: written with a capital within a sentence.
    pub is_name: bool,
    /// Its place among the words.
    pub at: usize,
}

/// What a question wants to be grouped by.
#[derive(Debug, Clone, PartialEq)]
pub enum Grouping {
    /// A unit of time: `quarter`.
    Unit(String),
    /// The stems of what is named.
    Of(Vec<String>),
}

/// A question.
#[derive(Debug, Default)]
pub struct Question {
    /// The stems of its words, in order.
    pub words: Vec<String>,
    /// What it is about.
    pub concepts: Vec<Concept>,
    /// The periods that it names.
    pub periods: Vec<Period>,
    /// Numbers that are in no period.
    pub numbers: Vec<String>,
    /// What it wants to be grouped by.
    pub groupings: Vec<Grouping>,
    /// The stem of what is to be counted.
    pub counts: Option<String>,
    /// Whether it asks for a mean.
    pub wants_average: bool,
    /// Whether it wants the first by something: the most, the best.
    pub ranks: Option<bool>,
    /// Whether it asks for something to be changed.
    pub asks_for_change: bool,
    /// Whether it asks for the least or the greatest value, or compares amounts.
    pub compares: bool,
    /// Whether it calls something a table.
    pub names_tables: bool,
    /// What it asks to be done, where it asks for a change and its verb says which.
    pub changes: Option<Change>,
    /// Whether it speaks of what did not happen.
    pub negates: bool,
    /// Whether it compares with another time.
    pub is_relative: bool,
}

/// So many words of a question are read, and so many things that it is about or wants to be grouped by.
const MAX_WORDS: usize = 400;
const MAX_CONCEPTS: usize = 40;
const MAX_GROUPINGS: usize = 5;

const UNITS: [(&str, &str); 8] = [
    ("quarter", "quarter"),
    ("quarterly", "quarter"),
    ("month", "month"),
    ("monthly", "month"),
    ("year", "year"),
    ("annually", "year"),
    ("day", "day"),
    ("daily", "day"),
];

/// Words for what is told from the time before.
const RELATIVE: [&str; 7] = ["previous", "last", "ago", "growth", "change", "churned", "year-over-year"];

/// Words for the upper and the lower end of an order.
const HIGHEST: [&str; 9] = ["most", "top", "highest", "largest", "biggest", "greatest", "best", "longest", "strongest"];
const LOWEST: [&str; 7] = ["fewest", "lowest", "smallest", "least", "worst", "shortest", "bottom"];

const GROUPING_WORDS: [&str; 5] = ["by", "per", "each", "every", "across"];

impl Question {
    /// Whether something has to be computed for it: it counts, compares, ranks or groups.
    pub fn computes(&self) -> bool {
        let groups = self.groupings.iter().any(|grouping| match grouping {
            Grouping::Unit(_) => true,
            // `by e-mail` may be the way that something is sent.
            Grouping::Of(_) => !self.asks_for_change,
        });
        self.counts.is_some() || self.wants_average || self.ranks.is_some() || self.compares || groups
    }

    /// Whether only data answer it: something has to be computed, or it is about a period.
    pub fn wants_data(&self) -> bool {
        self.computes() || !self.periods.is_empty()
    }

    /// Reads a question.
    pub fn parse(text: &str) -> Question {
        let words: Vec<&str> = periods::words(text).into_iter().take(MAX_WORDS).collect();
        let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let has = |wanted: &[&str]| lower.iter().any(|word| wanted.contains(&word.as_str()));
        let periods = periods::find_on(&words.join(" "), periods::today());
        let is_time =
            |at: usize| periods.iter().any(|period| (period.place.0..period.place.0 + period.place.1).contains(&at));
        let mut question = Question {
            words: words.iter().map(|word| stems(word).concat()).collect(),
            asks_for_change: requests::asks_for_change(text),
            changes: lower.iter().find_map(|word| change_of(word)).filter(|_| requests::asks_for_change(text)),
            negates: has(&["never", "without", "neither"]),
            is_relative: lower.iter().enumerate().any(|(at, word)| RELATIVE.contains(&word.as_str()) && !is_time(at)),
            ranks: if has(&HIGHEST) { Some(true) } else { has(&LOWEST).then_some(false) },
            compares: has(&["minimum", "maximum", "min", "max", "smallest", "largest", "compare", "compared"])
                || lower
                    .windows(2)
                    .any(|pair| matches!(pair[0].as_str(), "more" | "less" | "fewer") && pair[1] == "than"),
            names_tables: has(&["table", "tables", "column", "columns", "field", "fields"]),
            wants_average: has(&["average", "mean", "avg"]),
            ..Question::default()
        };
        for (at, word) in words.iter().enumerate().filter(|(at, _)| !is_time(*at)) {
            if word.chars().all(|c| c.is_ascii_digit() || c == '-') {
                question.numbers.push((*word).to_owned());
                continue;
            }
            for concept in read_concepts(word, at, &lower).into_iter().chain(read_likeness(at, &lower)) {
                if question.concepts.len() < MAX_CONCEPTS
                    && !question.concepts.iter().any(|known| known.stem == concept.stem)
                {
                    question.concepts.push(concept);
                }
            }
        }
        question.numbers.dedup();
        question.groupings = read_groupings(&lower, &question.concepts);
        question.groupings.truncate(MAX_GROUPINGS);
        question.counts = read_count(&lower, &question.concepts);
        question.periods = periods;
        question
    }
}

/// The concepts in one word, which may be an identifier of several.
fn read_concepts(word: &str, at: usize, lower: &[String]) -> Vec<Concept> {
    let whole = lower[at].trim_end_matches("'s").trim_end_matches("’s");
    if requests::is_about_nothing(whole) || whole.chars().all(|c| c.is_ascii_digit()) {
        return Vec::new();
    }
    let is_first = at == 0;
    let capital = word.chars().next().is_some_and(char::is_uppercase);
    let is_short = word.chars().filter(|c| c.is_uppercase()).count() > 1;
    let is_name = capital && !is_first && !is_short;
    let code = codes::find_country(whole).or_else(|| codes::find_currency(whole));
    let parts = if whole.contains(['_', '-']) && !is_one_word(whole) {
        whole.split(['_', '-']).filter(|part| !requests::is_about_nothing(part)).collect()
    } else {
        vec![whole]
    };
    let concept = |text: &str| Concept { text: text.to_owned(), stem: stems(text).concat(), code, is_name, at };
    parts.into_iter().map(concept).filter(|concept| !concept.stem.is_empty()).collect()
}

/// `sounds like` asks for what is similar, though neither word is about anything.
fn read_likeness(at: usize, lower: &[String]) -> Option<Concept> {
    const VERBS: [&str; 6] = ["sound", "sounds", "look", "looks", "feel", "feels"];
    let verb = at.checked_sub(1).map(|before| lower[before].as_str()).filter(|verb| VERBS.contains(verb))?;
    let (text, stem) = (format!("{verb} like"), stems("similar").concat());
    (lower[at] == "like").then_some(Concept { text, stem, code: None, is_name: false, at })
}

/// `e-mail`.
fn is_one_word(word: &str) -> bool {
    word.split_once('-').is_some_and(|(first, _)| first.chars().count() == 1)
}

/// What follows `by`, `per` or `each`, up to the next word that is about nothing.
fn read_groupings(lower: &[String], concepts: &[Concept]) -> Vec<Grouping> {
    let mut found = Vec::new();
    for (at, _) in lower.iter().enumerate().filter(|(_, word)| GROUPING_WORDS.contains(&word.as_str())) {
        let mut of = Vec::new();
        for (place, word) in lower.iter().enumerate().skip(at + 1) {
            if let Some((_, unit)) = UNITS.iter().find(|(name, _)| name == word) {
                found.push(Grouping::Unit((*unit).to_owned()));
                break;
            }
            let mut here = concepts.iter().filter(|concept| concept.at == place).peekable();
            if here.peek().is_none() {
                if of.is_empty() && ["the", "their", "its", "our"].contains(&word.as_str()) {
                    continue;
                }
                break;
            }
            of.extend(here.map(|concept| concept.stem.clone()));
        }
        // What something is sent or paid by is no group of it.
        if !of.is_empty() {
            found.push(Grouping::Of(of));
        }
    }
    found
}

/// The first thing after `how many`, `number of` or `count`.
fn read_count(lower: &[String], concepts: &[Concept]) -> Option<String> {
    let at = lower.iter().enumerate().find_map(|(at, word)| match word.as_str() {
        "many" if at > 0 && lower[at - 1] == "how" => Some(at),
        "number" if lower.get(at + 1).is_some_and(|next| next == "of") => Some(at + 1),
        "count" => Some(at),
        // `the most albums`: who has the most is found by counting them.
        "most" | "fewest" if concepts.iter().any(|concept| concept.at == at + 1) => Some(at),
        _ => None,
    })?;
    let days = lower.get(at + 1).is_some_and(|word| periods::is_time_word(word));
    let mut after = concepts.iter().filter(|concept| concept.at > at).peekable();
    // `VIP customers` counts customers: the last of what stands together.
    let mut last = after.next().filter(|_| !days)?;
    for next in after {
        if next.at != last.at + 1 {
            break;
        }
        // `tickets opened` counts tickets.
        if next.text.ends_with("ed") {
            break;
        }
        last = next;
    }
    Some(last.stem.clone())
}
