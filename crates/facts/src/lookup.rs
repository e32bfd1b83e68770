//! Sentences that answer a question without defining anything: they cover its words, and hold what it wants.
//!
//! A word counts in full where the sentence says it. What it stands under (its heading, the label at the front of its
//! paragraph) counts for nearly as much, the sentence before and the names of section and document for less. A word that
//! is only near in meaning counts as far as it is near, see [`crate::near`]. Rare words weigh more, words that most
//! questions are made of little.
//!
//! The score is `coverage ^ 1.5`, times a part for each of these:
//!
//! - the word that is covered least, from 0.4: a question for a property that the text does not give covers everything but
//!   that one word;
//! - the share of the words that the sentence says itself, from 0.5; all where it points back with a pronoun;
//! - 0.95 where it begins with something that the question does not name;
//! - 0.75 where the number that is wanted stands in a part of it that says nothing else of the question;
//! - 0.8 where the reason that is wanted can only be the sentence before.

use std::collections::HashSet;

use crate::{
    expectation::{Kind, Wanted},
    fit::{Asking, Statement},
    near::Near,
    question::{Question, Shape},
    sentences::{Form, Unit},
    words::{regex, same, stem, stems, words},
};

/// What is said by the heading, the sentence before, and the names of section and document.
const HEADING: f64 = 0.85;
const BEFORE: f64 = 0.6;
const OUTER: f64 = 0.6;
/// What a word weighs of which questions are made.
const LIGHT: f64 = 0.25;
/// The share of the least covered word from which on nothing is missing.
const ENOUGH: f64 = 0.5;

/// So many words after a number it counts something.
const MAX_BETWEEN: usize = 2;

/// A question as it is looked up.
pub(crate) struct Lookup<'a> {
    words: Vec<Word>,
    wanted: Wanted,
    all: Vec<String>,
    near: &'a Near,
    /// One of many is asked for by what sets it apart: `the strongest channel`.
    superlative: bool,
    /// It asks how many there are of something.
    counts: bool,
}

struct Word {
    stem: String,
    weight: f64,
    light: bool,
}

/// A unit with what surrounds it.
pub(crate) struct Place<'a> {
    pub(crate) unit: &'a Unit,
    pub(crate) text: &'a Statement,
    /// The sentence before under the same heading.
    pub(crate) before: Option<&'a Unit>,
    /// The stems of the names of section and document.
    pub(crate) outer: &'a HashSet<String>,
}

/// How a unit answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) coverage: f64,
    pub(crate) score: f64,
    /// What is wanted stands in the sentence before.
    pub(crate) with_before: bool,
}

impl<'a> Lookup<'a> {
    pub(crate) fn of(question: &str, asking: &Asking, near: &'a Near) -> Lookup<'a> {
        let wanted = Wanted::by(question);
        let all = stems(question);
        let mut seen = HashSet::new();
        let words = words(question)
            .iter()
            .filter(|word| !only_asks(word))
            .map(|word| stem(word))
            .filter(|stem| all.contains(stem) && !wanted.said_by.contains(stem) && seen.insert(stem.clone()))
            .map(|stem| {
                let light = Question::is_light(&stem) || GENERAL.contains(&stem.as_str());
                let weight = if light { LIGHT } else { 1.0 } * asking.weights.rarity(&stem);
                Word { stem, weight, light }
            })
            .collect();
        let superlative = regex!(r"(?i)\bthe \w{4,}est\b").is_match(question)
            && !regex!(r"(?i)\bthe (?:request|interest|guest|forest|contest|digest|harvest|invest)\b")
                .is_match(question);
        let counts = asking.asked.data && regex!(r"(?i)^how many\b").is_match(question.trim());
        Lookup { words, wanted, all, near, superlative, counts }
    }

    /// See [`Wanted::is_strict`].
    pub(crate) fn is_strict(&self) -> bool {
        self.wanted.is_strict()
    }

    /// Whether a sentence may answer that defines nothing. One that only covers a term says nothing of its meaning.
    pub(crate) fn answers(&self, asked: &Question) -> bool {
        match asked.shape {
            Shape::Ask => true,
            Shape::Define => self.is_strict() || self.superlative,
            Shape::Request => !asked.order,
        }
    }

    /// Whether `unit` holds what is wanted.
    pub(crate) fn is_met_by(&self, unit: &Unit) -> bool {
        self.wanted.is_in(&render_unit(unit), &self.all)
    }

    /// How `place` answers; nothing where it does not hold what is wanted.
    pub(crate) fn answer(&self, place: &Place<'_>) -> Option<Found> {
        let heavy = self.words.iter().filter(|word| !word.light).count();
        if heavy == 0 {
            return None;
        }
        let said = render_unit(place.unit);
        // A list that says a bit of everything answers nothing: what leads in to it has to be about the question.
        let lead: HashSet<String>;
        let unit_own = if place.unit.list.is_empty() {
            &place.text.own
        } else {
            lead = stems(&place.unit.plain).into_iter().collect();
            &lead
        };
        let in_own = self.wanted.is_in(&said, &self.all);
        let with_before = !in_own && self.wanted.kind == Kind::Reason && place.before.is_some();
        if !in_own && !with_before {
            return None;
        }
        // `How many customers do we have?` is answered by a number of customers, not by any sentence about one that has a number.
        if heavy == 1 && self.counts && !self.is_counted_in(&said) {
            return None;
        }
        let (shares, said_itself) = self.shares(place, unit_own);
        let total: f64 = self.words.iter().map(|word| word.weight).sum();
        let coverage = self.words.iter().zip(&shares).map(|(word, share)| word.weight * share).sum::<f64>() / total;
        let weakest =
            self.words.iter().zip(&shares).filter(|(word, _)| !word.light).map(|(_, share)| *share).fold(1.0, f64::min);
        // The sentence itself has to be about it, not only what it stands under.
        if said_itself == 0 || (heavy == 1 && self.words.len() == 1 && self.wanted.kind == Kind::Any && coverage < 0.8)
        {
            return None;
        }
        let points = regex!(r"(?i)\b(?:its?|they|them|their|this|these)\b|\bones?\W*$").is_match(&place.unit.plain);
        let own_share = if points { 1.0 } else { said_itself as f64 / heavy as f64 };
        // What a sentence begins with is what it is about.
        let first = stems(&place.unit.plain).into_iter().find(|stem| !Question::is_light(stem));
        let about = first.is_some_and(|first| self.words.iter().any(|word| word.stem == first));
        let about = if about { 1.0 } else { 0.95 };
        let near_to = |part: &str| {
            let part: HashSet<String> = stems(part).into_iter().collect();
            let mut heavy = self.words.iter().filter(|word| !word.light);
            heavy.any(|word| part.contains(&word.stem) || self.near.nearest(&word.stem, &part) > 0.4)
        };
        let apart = if self.wanted.is_said_with(&said, near_to) || points { 1.0 } else { 0.75 };
        let apart = if with_before { apart * 0.8 } else { apart };
        let score =
            about * apart * coverage.powf(1.5) * (0.4 + 0.6 * (weakest / ENOUGH).min(1.0)) * (0.5 + 0.5 * own_share);
        Some(Found { coverage, score, with_before })
    }

    /// Whether a number stands right before what is counted.
    fn is_counted_in(&self, said: &str) -> bool {
        let all = words(said);
        let is_number = |word: &String| {
            word.starts_with(|c: char| c.is_ascii_digit()) || prospector_text::numbers::parse_word(word).is_some()
        };
        let is_counted = |word: &String| self.words.iter().any(|counted| !counted.light && counted.stem == stem(word));
        (0..all.len()).any(|at| is_number(&all[at]) && all[at + 1..].iter().take(MAX_BETWEEN).any(is_counted))
    }

    /// How far each word is said, and how many of those that count the sentence says itself.
    fn shares(&self, place: &Place<'_>, unit_own: &HashSet<String>) -> (Vec<f64>, usize) {
        let before: HashSet<String> =
            place.before.map(|unit| stems(&unit.plain).into_iter().collect()).unwrap_or_default();
        let together = run_together(&place.unit.plain);
        let own_label: HashSet<String> = stems(&place.unit.label).into_iter().collect();
        let share = |word: &Word| {
            let in_set =
                |set: &HashSet<String>| if set.contains(&word.stem) { 1.0 } else { self.near.nearest(&word.stem, set) };
            let own =
                if unit_own.contains(&word.stem) || together.contains(&word.stem) { 1.0 } else { in_set(unit_own) };
            [
                own,
                HEADING * in_set(&place.text.around),
                HEADING * in_set(&own_label),
                BEFORE * in_set(&before),
                OUTER * in_set(place.outer),
            ]
            .into_iter()
            .fold(0.0, f64::max)
        };
        let said_itself = self
            .words
            .iter()
            .filter(|word| !word.light)
            .filter(|word| {
                unit_own.contains(&word.stem)
                    || own_label.contains(&word.stem)
                    || together.contains(&word.stem)
                    || self.near.nearest(&word.stem, unit_own) > 0.4
            })
            .count();
        (self.words.iter().map(share).collect(), said_itself)
    }
}

/// The sentence with what belongs to it.
fn render_unit(unit: &Unit) -> String {
    let cells = match &unit.form {
        Form::Row(cells) => cells.iter().map(|(header, cell)| format!("{header}: {cell}")).collect(),
        Form::Prose | Form::Item | Form::Code => Vec::new(),
    };
    let row = if cells.is_empty() { unit.plain.clone() } else { cells.join("; ") };
    std::iter::once(row).chain(unit.list.iter().cloned()).collect::<Vec<_>>().join(" ")
}

/// `time zone` as `timezone`.
fn run_together(text: &str) -> HashSet<String> {
    words(text).windows(2).map(|pair| stem(&pair.concat())).collect()
}

/// Stems of verbs that say little.
const GENERAL: &[&str] = &["appli", "belong", "come", "do", "give", "go", "keep", "send", "take", "work"];

/// Words of a question that no answer repeats.
fn only_asks(word: &str) -> bool {
    [
        "after",
        "must",
        "may",
        "might",
        "shall",
        "somebody",
        "someone",
        "anybody",
        "anyone",
        "something",
        "anything",
        "up",
        "down",
        "off",
        "out",
        "under",
        "does",
        "one",
        "get",
        "please",
    ]
    .contains(&word)
}

/// Whether one of two answers is about the same as the other: the words are the same but for the numbers.
pub(crate) fn about_the_same(a: &str, b: &str) -> bool {
    let count =
        |text: &str| -> HashSet<String> { stems(&regex!(r"\d[\d.,]*").replace_all(text, " ")).into_iter().collect() };
    let (left, right) = (count(a), count(b));
    same(&stems(a), &stems(b)) || 3 * left.intersection(&right).count() >= 2 * left.len().max(right.len())
}
