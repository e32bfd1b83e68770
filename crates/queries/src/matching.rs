//! Matches questions to verified queries and parameter values.
//!
//! Values are extracted from the question first; the remaining words are compared with the question of each query and its synonyms. A
//! query answers a question only if every significant word is matched and every value is assigned to a parameter that accepts it:
//! questions that ask for more, for less, or for another value are not answered by it.

mod values;
mod words;

use std::collections::{BTreeSet, HashMap};

use prospector_engine::query::Literal;

use crate::model::{Parameter, VerifiedQuery};
use crate::value::Domain;
use values::{Filled, PREPOSITIONS, fill};
use words::{SHAPES, Word, meanings, words};

/// Longer questions are not matched.
const MAX_QUESTION_CHARS: usize = 600;
/// Queries within this margin of similarity are ambiguous.
const MARGIN: f64 = 0.08;

/// A query that may answer a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate<'a> {
    /// The query.
    pub query: &'a VerifiedQuery,
    /// The similarity of the question and the query, 0 to 1.
    pub similarity: f64,
    /// The values from the question, by parameter.
    pub parameters: Vec<(String, Literal)>,
    /// Why the query may not answer the question, judged by wording; empty if it answers it.
    pub doubts: Vec<Doubt>,
}

/// Why a query may not answer a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// Words that the query does not cover.
    Unexplained(Vec<String>),
    /// The question covers too little of the query.
    TooLittle,
    /// Parameters without a value.
    Missing(Vec<String>),
    /// Another query is similarly close.
    Ambiguous(String),
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Doubt::Unexplained(words) => write!(f, "the query does not cover: {}", words.join(", ")),
            Doubt::TooLittle => f.write_str("the question asks for only part of what the query answers"),
            Doubt::Missing(names) => write!(f, "no value for: {}", names.join(", ")),
            Doubt::Ambiguous(name) => write!(f, "`{name}` matches similarly well"),
        }
    }
}

/// Returns the queries that share words with a question, the most similar first; at most one of them has no doubts. The domains are those
/// of the parameters of each query, in order.
pub(crate) fn rank<'a>(question: &str, queries: &[(&'a VerifiedQuery, Vec<Domain>)]) -> Vec<Candidate<'a>> {
    if question.chars().count() > MAX_QUESTION_CHARS {
        return Vec::new();
    }
    let question = words(question);
    let rarity = Rarity::of(queries);
    let mut found: Vec<Candidate<'a>> =
        queries.iter().filter_map(|(query, domains)| compare(&question, query, domains, &rarity)).collect();
    found.sort_by(|a, b| {
        (a.doubts.is_empty().cmp(&b.doubts.is_empty()).reverse())
            .then(b.similarity.total_cmp(&a.similarity))
            .then_with(|| a.query.name.cmp(&b.query.name))
    });
    if let [first, second, ..] = found.as_mut_slice()
        && first.doubts.is_empty()
        && second.doubts.is_empty()
        && first.similarity - second.similarity < MARGIN
    {
        let (one, other) = (first.query.name.clone(), second.query.name.clone());
        first.doubts.push(Doubt::Ambiguous(other));
        second.doubts.push(Doubt::Ambiguous(one));
    }
    // Among the other possible queries, only the most similar remains without a doubt.
    for other in found.iter_mut().skip(1).filter(|other| other.doubts.is_empty()) {
        other.doubts.push(Doubt::TooLittle);
    }
    found
}

/// Weights of words: the fewer queries contain a word, the higher.
struct Rarity {
    counts: HashMap<String, usize>,
    queries: usize,
}

impl Rarity {
    fn of(queries: &[(&VerifiedQuery, Vec<Domain>)]) -> Self {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for (query, _) in queries {
            for word in vocabulary(query) {
                *counts.entry(word).or_default() += 1;
            }
        }
        Rarity { counts, queries: queries.len() }
    }

    fn weight(&self, word: &str) -> f64 {
        let count = self.counts.get(word).copied().unwrap_or(1) as f64;
        1.0 + ((self.queries as f64 + 1.0) / (count + 0.5)).ln().max(0.0) / 2.0
    }
}

/// Returns all words of the question and the synonyms of a query.
fn vocabulary(query: &VerifiedQuery) -> BTreeSet<String> {
    let of_names = query.parameters.iter().map(|parameter| words(&parameter.name.replace('_', " ")));
    let of_texts = query.phrasings().map(phrase_words);
    of_names.chain(of_texts).flat_map(|words| meanings(&words)).flatten().collect()
}

/// Returns the words of a phrasing without its slots and the prepositions before them, which belong to the values.
fn phrase_words(phrasing: &str) -> Vec<Word> {
    let (mut text, mut rest) = (String::new(), phrasing);
    while let Some((before, after)) = rest.split_once('{') {
        let last = before.trim_end().rsplit(' ').next().unwrap_or_default();
        let end = if PREPOSITIONS.contains(&last) { before.trim_end().len() - last.len() } else { before.len() };
        text.push_str(&before[..end]);
        text.push_str(" , ");
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    words(&text)
}

fn compare<'a>(
    question: &[Word],
    query: &'a VerifiedQuery,
    domains: &[Domain],
    rarity: &Rarity,
) -> Option<Candidate<'a>> {
    let known = vocabulary(query);
    let Filled { parameters, used } = fill(question, query, domains);
    let left = question.iter().zip(meanings(question)).enumerate().filter(|(at, _)| !used.contains(at));
    let said: Vec<(&Word, String)> = left.filter_map(|(_, (word, meaning))| Some((word, meaning?))).collect();
    let asked: BTreeSet<&str> = said.iter().map(|(_, meaning)| meaning.as_str()).collect();
    let weigh = |words: &mut dyn Iterator<Item = &str>| words.map(|word| rarity.weight(word)).sum::<f64>();
    if !asked.iter().any(|word| known.contains(*word)) {
        return None;
    }
    let unexplained: Vec<String> =
        said.iter().filter(|(_, meaning)| !known.contains(meaning)).map(|(word, _)| word.text.clone()).collect();
    // For each phrasing: its similarity, and whether it is fully covered with the same aggregation. A partial match would answer a
    // question about all customers with those who signed up online.
    let compare = |phrasing: &str| {
        let words: BTreeSet<String> = meanings(&phrase_words(phrasing)).into_iter().flatten().collect();
        let words: BTreeSet<&str> = words.iter().map(String::as_str).collect();
        let common = weigh(&mut words.intersection(&asked).copied());
        let all = weigh(&mut words.union(&asked).copied());
        let has_shape = SHAPES.iter().all(|shape| words.contains(shape) == asked.contains(shape));
        (common / all.max(f64::MIN_POSITIVE), has_shape && !words.is_empty() && words.is_subset(&asked))
    };
    let all: Vec<(f64, bool)> = query.phrasings().map(compare).collect();
    let is_said = all.iter().any(|(_, is_said)| *is_said);
    let similarity = all.iter().filter(|one| one.1 == is_said).map(|one| one.0).fold(0.0, f64::max);
    let mut doubts = Vec::new();
    if !unexplained.is_empty() {
        doubts.push(Doubt::Unexplained(unexplained));
    }
    if !is_said {
        doubts.push(Doubt::TooLittle);
    }
    let has_value = |parameter: &&Parameter| {
        parameter.default.is_some() || parameters.iter().any(|(name, _)| *name == parameter.name)
    };
    let missing: Vec<String> =
        query.parameters.iter().filter(|one| !has_value(one)).map(|one| one.name.clone()).collect();
    if !missing.is_empty() {
        doubts.push(Doubt::Missing(missing));
    }
    Some(Candidate { query, similarity, parameters, doubts })
}

#[cfg(test)]
mod tests;
