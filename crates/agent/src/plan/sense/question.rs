//! A question as it is compared with a plan: what it is about, and what it wants of it.

use chrono::NaiveDate;
use prospector_text::{
    codes, numbers,
    periods::{self, Period},
    requests::{self, Change, change_of},
    stem,
};

use super::emphasis;
pub use super::vocabulary::{alike, stems};

/// A word that a plan has to cover.
#[derive(Debug, Clone, PartialEq)]
pub struct Concept {
    /// As it is written.
    pub text: String,
    /// Its stem.
    pub stem: String,
    /// The stems of its parts, where it has several: `o'hara`, `b2b`.
    pub parts: Vec<String>,
    /// The code that data may hold in its place: `DE` for Germany.
    pub code: Option<&'static str>,
    /// Whether it is a name: written with a capital within a sentence.
    pub is_name: bool,
    /// Whether it stands where the question says what it is about: in `which tenants`, `by species` or `is overdue`, and not in
    /// `who wrote`, nor in what only begins with `if`.
    pub is_subject: bool,
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
    /// How many the words for an end of an order are said of: 10 of `the top ten`.
    pub counted: Vec<i64>,
    /// What it wants to be grouped by.
    pub groupings: Vec<Grouping>,
    /// The stem of what is to be counted.
    pub counts: Option<String>,
    /// Whether it asks for a mean.
    pub wants_average: bool,
    /// Whether it wants the first by something: the most, the best.
    pub ranks: Option<bool>,
    /// What it wants the first of.
    pub ranked: Option<Concept>,
    /// Whether it asks for something to be changed.
    pub asks_for_change: bool,
    /// Whether it asks for the least or the greatest value, or compares amounts.
    pub compares: bool,
    /// Whether it names alternatives: `in Brazil or in Portugal`.
    pub has_alternatives: bool,
    /// Whether it calls something a table.
    pub names_tables: bool,
    /// What it asks to be done, where it asks for a change and its verbs say which.
    pub changes: Vec<Change>,
    /// The stems of the verbs that it asks for a change with.
    pub verbs: Vec<String>,
    /// Whether it speaks of what did not happen.
    pub negates: bool,
    /// Whether it denies something: `isn't`, `nobody`.
    pub denies: bool,
    /// Whether it may leave something out, in any form: it denies, or says `except`, `other than`.
    pub excludes: bool,
    /// Whether it compares with another time.
    pub is_relative: bool,
}

impl Concept {
    fn new(text: &str, stems: Vec<String>, at: usize) -> Self {
        let stem = stems.concat();
        let parts = if stems.len() > 1 { stems } else { Vec::new() };
        Concept { text: text.to_owned(), stem, parts, code: None, is_name: false, is_subject: false, at }
    }
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

    /// Reads a question that is asked today, in UTC.
    pub fn parse(text: &str) -> Question {
        Question::parse_on(text, periods::today())
    }

    /// Reads a question that is asked on a day.
    pub fn parse_on(text: &str, today: NaiveDate) -> Question {
        let words: Vec<&str> = periods::words(text).into_iter().take(MAX_WORDS).collect();
        let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let has = |wanted: &[&str]| lower.iter().any(|word| wanted.contains(&word.as_str()));
        let periods = periods::find_on(&words.join(" "), today);
        let is_time =
            |at: usize| periods.iter().any(|period| (period.place.0..period.place.0 + period.place.1).contains(&at));
        let verbs = requests::list_changes(text);
        let superlative = find_superlative(&lower);
        let mut question = Question {
            words: words.iter().map(|word| stems(requests::strip_ending(word)).concat()).collect(),
            asks_for_change: !verbs.is_empty(),
            changes: verbs.iter().filter_map(|verb| change_of(verb)).collect(),
            verbs: verbs.iter().map(|verb| stems(verb).concat()).collect(),
            negates: (0..lower.len()).any(|at| negates(&lower, at)),
            denies: (0..lower.len()).any(|at| denies(&lower, at)),
            excludes: (0..lower.len()).any(|at| negates(&lower, at) || denies(&lower, at) || excludes(&lower, at)),
            is_relative: lower.iter().enumerate().any(|(at, word)| RELATIVE.contains(&word.as_str()) && !is_time(at)),
            ranks: superlative.map(|(_, highest)| highest),
            counted: superlative.map_or_else(Vec::new, |(at, _)| read_counted(&lower, at)),
            compares: has(&["minimum", "maximum", "min", "max", "smallest", "largest", "compare", "compared"])
                || lower
                    .windows(2)
                    .any(|pair| matches!(pair[0].as_str(), "more" | "less" | "fewer") && pair[1] == "than"),
            has_alternatives: has(&["or", "either"]),
            names_tables: has(&["table", "tables", "column", "columns", "field", "fields"]),
            wants_average: has(&["average", "mean", "avg"]),
            ..Question::default()
        };
        let is_left_out = |at: usize| is_time(at) || is_verb_of_most(&lower, at);
        for (at, word) in words.iter().enumerate().filter(|(at, _)| !is_left_out(*at)) {
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
        question.ranked = superlative.and_then(|(at, _)| find_ranked(&lower, at, &question.concepts));
        question.groupings = read_groupings(&lower, &question);
        question.groupings.truncate(MAX_GROUPINGS);
        question.counts = read_count(&lower, &question.concepts);
        question.periods = periods;
        question
    }
}

/// Whether a word says that something did not happen, wherever it stands.
fn negates(lower: &[String], at: usize) -> bool {
    let next = lower.get(at + 1).map(String::as_str);
    match lower[at].as_str() {
        "never" | "without" | "neither" | "nobody" => true,
        "not" => next == Some("among"),
        "no" => next == Some("one"),
        "none" => next == Some("of"),
        _ => false,
    }
}

/// Whether a word denies what follows. `Not more than` is a bound, and `whether or not` leaves it open.
fn denies(lower: &[String], at: usize) -> bool {
    const OF_BOUNDS: [&str; 12] =
        ["more", "less", "fewer", "later", "earlier", "older", "over", "under", "above", "below", "only", "matter"];
    let is_open = at.checked_sub(1).is_some_and(|before| ["or", "whether", "why"].contains(&lower[before].as_str()));
    let of_bound = lower.get(at + 1).is_some_and(|next| OF_BOUNDS.contains(&next.as_str()));
    let is_plain = matches!(lower[at].as_str(), "no" | "not" | "none" | "nor") && !is_open && !of_bound;
    is_plain || requests::denies(&lower[at]) || lower[at] == "nobody"
}

/// Whether a word leaves something out of what is spoken of.
fn excludes(lower: &[String], at: usize) -> bool {
    const WORDS: [&str; 20] = [
        "except",
        "excepting",
        "exclude",
        "excludes",
        "excluded",
        "excluding",
        "omit",
        "omits",
        "omitted",
        "omitting",
        "lack",
        "lacks",
        "lacking",
        "missing",
        "absent",
        "outside",
        "unless",
        "nothing",
        "remaining",
        "rest",
    ];
    let next = lower.get(at + 1).map(String::as_str);
    match lower[at].as_str() {
        "other" | "rather" => next == Some("than"),
        "apart" | "aside" => next == Some("from"),
        "leave" | "leaves" | "leaving" | "left" => next == Some("out"),
        word => WORDS.contains(&word),
    }
}

/// The first word for the upper end of an order, or else for the lower one. `A top ten opponent` is ranked already.
fn find_superlative(lower: &[String]) -> Option<(usize, bool)> {
    let find = |list: &[&str]| {
        let is_attribute = |at: usize| at > 0 && matches!(lower[at - 1].as_str(), "a" | "an");
        lower.iter().enumerate().position(|(at, word)| list.contains(&word.as_str()) && !is_attribute(at))
    };
    find(&HIGHEST).map(|at| (at, true)).or_else(|| find(&LOWEST).map(|at| (at, false)))
}

/// The number beside a superlative.
fn read_counted(lower: &[String], at: usize) -> Vec<i64> {
    let places = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
    let words = places.filter_map(|place| lower.get(place));
    words.filter_map(|word| word.parse().ok().or_else(|| numbers::parse_word(word).map(i64::from))).collect()
}

/// What is ranked: what stands first, as in `which shops have the highest rent`; after a preposition what follows, as in `photos
/// of the ten oldest bridges`.
fn find_ranked(lower: &[String], at: usize, concepts: &[Concept]) -> Option<Concept> {
    const PREPOSITIONS: [&str; 8] = ["of", "for", "to", "from", "by", "with", "in", "about"];
    // `How much was refunded to the ten customers with ...` ranks customers.
    let mut named = concepts.iter().filter(|concept| !stem::is_past(&concept.text));
    let is_count = |word: &str| word.chars().all(|c| c.is_ascii_digit()) || numbers::parse_word(word).is_some();
    let before = lower[..at].iter().rev().find(|word| *word != "the" && !is_count(word));
    let follows = before.is_some_and(|word| PREPOSITIONS.contains(&word.as_str()));
    let after = named.clone().find(|concept| concept.at > at).filter(|_| follows);
    after.or_else(|| named.next()).cloned()
}

/// `hit` of `which player hit the most ..`: what is done the most says more than the verb, which stands for having.
fn is_verb_of_most(lower: &[String], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| lower[before].as_str());
    let follows = matches!(before, Some("who" | "that"))
        || before.is_some_and(|word| !requests::is_about_nothing(word))
            && at.checked_sub(2).is_some_and(|which| matches!(lower[which].as_str(), "which" | "what"));
    let after = |place: usize| lower.get(at + place).map(String::as_str);
    let of_something = after(3).is_some_and(|word| !requests::is_about_nothing(word));
    follows
        && of_something
        && after(1) == Some("the")
        && matches!(after(2), Some("most" | "fewest" | "highest" | "lowest" | "least"))
}

/// The concepts in one word, which may be an identifier of several.
fn read_concepts(word: &str, at: usize, lower: &[String]) -> Vec<Concept> {
    let whole = requests::strip_ending(&lower[at]);
    if requests::is_about_nothing(whole) || whole.chars().all(|c| c.is_ascii_digit()) {
        return Vec::new();
    }
    let is_first = at == 0;
    let capital = word.chars().next().is_some_and(char::is_uppercase);
    let is_short = word.chars().filter(|c| c.is_uppercase()).count() > 1;
    let is_name = capital && !is_first && !is_short;
    let is_subject = emphasis::is_subject(lower, at);
    let code = find_country(lower, at).or_else(|| codes::find_currency(whole));
    let parts = if whole.contains(['_', '-']) && !is_one_word(whole) {
        whole.split(['_', '-']).filter(|part| !requests::is_about_nothing(part)).collect()
    } else {
        vec![whole]
    };
    let concept = |text: &str| Concept { code, is_name, is_subject, ..Concept::new(text, stems(text), at) };
    parts.into_iter().map(concept).filter(|concept| !concept.stem.is_empty()).collect()
}

/// The code of the country that a word names, or is a part of the name of: `united` of `united states`. Swiss francs are no country.
fn find_country(lower: &[String], at: usize) -> Option<&'static str> {
    // `Won` and `real` are more often something else.
    let is_currency = |word: &String| codes::find_currency(word).is_some() && !["won", "real"].contains(&word.as_str());
    if lower.get(at + 1).is_some_and(is_currency) {
        return None;
    }
    let with_next = |at: usize| Some(format!("{} {}", lower.get(at)?, requests::strip_ending(lower.get(at + 1)?)));
    let names = [with_next(at), at.checked_sub(1).and_then(with_next)];
    let name_of_two = names.into_iter().flatten().find_map(|name| codes::find_country(&name));
    name_of_two.or_else(|| codes::find_country(requests::strip_ending(&lower[at])))
}

/// `sounds like` asks for what is similar, though neither word is about anything.
fn read_likeness(at: usize, lower: &[String]) -> Option<Concept> {
    const VERBS: [&str; 6] = ["sound", "sounds", "look", "looks", "feel", "feels"];
    let verb = at.checked_sub(1).map(|before| lower[before].as_str()).filter(|verb| VERBS.contains(verb))?;
    let concept = || Concept { is_subject: true, ..Concept::new(&format!("{verb} like"), stems("similar"), at) };
    (lower[at] == "like").then(concept)
}

/// `e-mail`.
fn is_one_word(word: &str) -> bool {
    word.split_once('-').is_some_and(|(first, _)| first.chars().count() == 1)
}

/// Whether `each` or `every` says to what all something is done, and not what is told apart: `list every ticket`, `which shops
/// sell every brand`, and whatever is to be changed.
fn is_of_all(lower: &[String], at: usize, question: &Question) -> bool {
    const BEFORE_GROUPS: [&str; 16] =
        ["for", "of", "in", "by", "at", "on", "from", "with", "to", "does", "did", "do", "has", "have", "is", "are"];
    let Some(before) = at.checked_sub(1).map(|before| (before, lower[before].as_str())) else { return false };
    match lower[at].as_str() {
        "each" | "every" if question.asks_for_change => true,
        "each" | "every" if before.0 == 0 || (before.0 == 1 && lower[0] == "please") => {
            !BEFORE_GROUPS.contains(&before.1)
        }
        "every" => question.concepts.iter().any(|concept| concept.at == before.0),
        _ => false,
    }
}

/// What follows `by`, `per` or `each`, up to the next word that is about nothing.
fn read_groupings(lower: &[String], question: &Question) -> Vec<Grouping> {
    let concepts = &question.concepts;
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
        if !of.is_empty() && !is_of_all(lower, at, question) {
            found.push(Grouping::Of(of));
        }
    }
    found
}

/// Whether a word says how things are, and of which the most are asked for: `downloaded`, `sold`, `expensive`.
fn is_quality(lower: &[String], at: usize) -> bool {
    const ADJECTIVES: [&str; 6] = ["popular", "common", "recent", "frequent", "efficient", "important"];
    const ENDINGS: [&str; 5] = ["sive", "tive", "ful", "ous", "able"];
    let Some(word) = lower.get(at).map(String::as_str) else { return false };
    stem::is_past(word)
        || ADJECTIVES.contains(&word)
        || (word.len() > 5 && ENDINGS.iter().any(|end| word.ends_with(end)))
}

/// The first thing after `how many`, `number of` or `count`.
fn read_count(lower: &[String], concepts: &[Concept]) -> Option<String> {
    let at = lower.iter().enumerate().find_map(|(at, word)| match word.as_str() {
        "many" if at > 0 && lower[at - 1] == "how" => Some(at),
        "number" if lower.get(at + 1).is_some_and(|next| next == "of") => Some(at + 1),
        "count" => Some(at),
        // `the most albums`: who has the most is found by counting them. `The most downloaded albums` are ranked by downloads.
        "most" | "fewest" if concepts.iter().any(|concept| concept.at == at + 1) && !is_quality(lower, at + 1) => {
            Some(at)
        }
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
        if stem::is_past(&next.text) {
            break;
        }
        last = next;
    }
    Some(last.stem.clone())
}
