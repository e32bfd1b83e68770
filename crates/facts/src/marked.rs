//! Terms that documents mark, found in a question: the longest first, wherever they are in it.

use std::collections::HashMap;

use prospector_text::{cut, sentences};

use crate::{
    candidate::Candidate,
    evidence::{MarkedTerm, Passage},
    model::{Related, Source},
    question::{Question, Shape},
    words::{same, stem, stems, words},
};

/// How sure a marked term makes that what is said of it is its definition.
const CONFIDENCE: f64 = 0.95;

/// At most this many other words may be between the words of a term, in any order: `shipments that were on time`.
const MAX_BETWEEN: usize = 2;

/// A term of one word is meant where its section is at least so relevant for the question.
const MIN_RELEVANCE: f32 = 0.05;

/// The length of an excerpt, in characters.
const MAX_EXCERPT: usize = 400;

/// The marked terms of all documents, by their stems.
#[derive(Default)]
pub(crate) struct MarkedTerms {
    terms: Vec<KnownTerm>,
    by_stem: HashMap<String, Vec<usize>>,
}

struct KnownTerm {
    marked: MarkedTerm,
    /// The stems of all of its words, and of those that count.
    whole: Vec<String>,
    key: Vec<String>,
}

/// A marked term in a question.
#[derive(Debug, Clone)]
pub(crate) struct FoundTerm<'t> {
    pub(crate) marked: &'t MarkedTerm,
    pub(crate) key: &'t [String],
    /// The places of its words among those of the question that count.
    places: Vec<usize>,
    /// Whether its meaning is all that is asked for.
    pub(crate) is_asked: bool,
}

impl MarkedTerms {
    pub(crate) fn new(terms: Vec<MarkedTerm>) -> Self {
        let mut known = MarkedTerms::default();
        for marked in terms {
            let whole: Vec<String> = words(&marked.term).iter().map(|word| stem(word)).collect();
            let key = stems(&marked.term);
            let Some(first) = key.iter().max_by_key(|stem| stem.len()) else { continue };
            known.by_stem.entry(first.clone()).or_default().push(known.terms.len());
            known.terms.push(KnownTerm { marked, whole, key });
        }
        known
    }

    /// The terms that a question holds, the longest first; those of whose words a longer one has all are none. `is_of_schema` is true of
    /// names of tables and columns, which are no terms unless they are asked for.
    pub(crate) fn find(
        &self,
        question: &str,
        asked: &Question,
        passages: &[Passage],
        is_of_schema: &dyn Fn(&str) -> bool,
    ) -> Vec<FoundTerm<'_>> {
        let said: Vec<String> = words(question).iter().map(|word| stem(word)).collect();
        let counting = stems(question);
        let mut seen: Vec<usize> =
            counting.iter().filter_map(|stem| self.by_stem.get(stem)).flatten().copied().collect();
        seen.sort_unstable();
        seen.dedup();
        let mut found: Vec<FoundTerm<'_>> = Vec::new();
        for known in seen.into_iter().map(|at| &self.terms[at]) {
            let Some(places) = find_places(known, &said, &counting) else { continue };
            let is_asked = asked.shape == Shape::Define
                && asked.alternatives.iter().any(|(stems, weight)| *weight > 0.9 && same(stems, &known.key));
            let is_relevant = || {
                passages.iter().any(|passage| passage.name == known.marked.source && passage.relevance >= MIN_RELEVANCE)
            };
            if is_asked || !is_of_schema(&known.marked.term) && (known.whole.len() > 1 || is_relevant()) {
                found.push(FoundTerm { marked: &known.marked, key: &known.key, places, is_asked });
            }
        }
        found.sort_by_key(|one| (!one.is_asked, std::cmp::Reverse(one.key.len()), spread(&one.places)));
        let mut kept: Vec<FoundTerm<'_>> = Vec::new();
        for one in found {
            let is_part = |longer: &FoundTerm<'_>| {
                longer.key.len() > one.key.len() && one.places.iter().all(|at| longer.places.contains(at))
            };
            let is_duplicate =
                |known: &FoundTerm<'_>| known.marked.source == one.marked.source && same(known.key, one.key);
            if !kept.iter().any(|known| is_part(known) || is_duplicate(known)) {
                kept.push(one);
            }
        }
        kept
    }
}

/// How far the words of a term are apart.
fn spread(places: &[usize]) -> usize {
    let ends = places.iter().min().zip(places.iter().max());
    ends.map_or(0, |(first, last)| last - first)
}

/// Where a question has the words of a term: near each other, or exactly so where only one of them counts.
fn find_places(known: &KnownTerm, said: &[String], counting: &[String]) -> Option<Vec<usize>> {
    if let [only] = known.key.as_slice() {
        let is_said = said.windows(known.whole.len()).any(|run| run == known.whole);
        return counting.iter().position(|stem| stem == only).filter(|_| is_said).map(|at| vec![at]);
    }
    let size = known.key.len() + MAX_BETWEEN;
    let starts = 0..counting.len();
    let within = |start: usize| -> Option<Vec<usize>> {
        let window = &counting[start..counting.len().min(start + size)];
        known.key.iter().map(|stem| Some(start + window.iter().position(|other| other == stem)?)).collect()
    };
    starts.filter_map(within).min_by_key(|places| spread(places))
}

impl FoundTerm<'_> {
    /// What is said of it, as a candidate for the answer.
    pub(crate) fn to_candidate(&self) -> Candidate {
        let text = &self.marked.text;
        let first = sentences::split(text.lines().next().unwrap_or_default()).into_iter().next();
        let answer = first.filter(|first| first.ends_with(['.', '!', ';'])).unwrap_or_else(|| text.clone());
        Candidate {
            term: Some(self.marked.term.clone()),
            key: self.key.to_vec(),
            source: self.source(&answer),
            answer,
            fit: 1.0,
            covers: false,
            score: CONFIDENCE,
            probability: CONFIDENCE,
            origin: None,
            scope: String::new(),
            whole: Some(text.clone()),
        }
    }

    fn source(&self, answer: &str) -> Source {
        Source {
            source_type: "document".to_owned(),
            name: self.marked.source.clone(),
            excerpt: cut::words(answer, MAX_EXCERPT),
            confidence: CONFIDENCE,
            stale: false,
        }
    }

    /// What is said of it, beside the answer.
    pub(crate) fn to_related(&self) -> Related {
        Related {
            term: self.marked.term.clone(),
            definition: self.marked.text.clone(),
            source: self.marked.source.clone(),
            confidence: CONFIDENCE,
        }
    }

    /// Whether a candidate says of the same term what stands at the same place.
    pub(crate) fn is_same(&self, candidate: &Candidate) -> bool {
        candidate.source.name == self.marked.source && !candidate.covers && same(&candidate.key, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> MarkedTerms {
        let marked = |(term, text): (&str, &str)| MarkedTerm {
            term: term.into(),
            source: format!("rules#{term}"),
            text: text.into(),
        };
        let all = [
            ("Active customer", "A customer is active who bought. Others are not."),
            ("On-time shipment", "It came in time."),
            ("Order value", "The sum of all lines."),
            ("High-value order", "An order of more than 50."),
            ("over the limit", "More than the limit."),
            ("Podium", "Places one to three."),
            ("Orders", "How orders are taken."),
        ];
        MarkedTerms::new(all.into_iter().map(marked).collect())
    }

    fn check(question: &str, expected: &[&str]) {
        let passages = [Passage {
            source_type: "document".into(),
            name: "rules#Podium".into(),
            text: String::new(),
            relevance: if question.contains("race") { 0.3 } else { 0.0 },
        }];
        let terms = terms();
        let found = terms.find(question, &Question::parse(question), &passages, &|term| term == "Orders");
        let found: Vec<&str> = found.iter().map(|one| one.marked.term.as_str()).collect();
        assert_eq!(found, expected, "{question}");
    }

    #[test]
    fn terms_are_found_in_whole_questions() {
        check("How many active customers were there at the end of 2004?", &["Active customer"]);
        check("What share of the shipments in 2004 was on time?", &["On-time shipment"]);
        check("Show the number of high-value orders by year", &["High-value order"]);
        check("average order value of active customers", &["Active customer", "Order value"]);
        check("How many customers are over the limit?", &["over the limit"]);
        check("Who had the most podiums in the races of 2023?", &["Podium"]);
    }

    #[test]
    fn ordinary_words_are_no_terms() {
        check("How many customers live in Germany?", &[]);
        check("Which customers have a credit limit of zero?", &[]);
        check("Which order was the last?", &[]);
        check("Where does the podium stand?", &[]);
    }

    #[test]
    fn a_name_of_the_schema_is_a_term_where_its_meaning_is_asked_for() {
        check("What is an order?", &["Orders"]);
        check("define podium", &["Podium"]);
    }

    #[test]
    fn the_first_sentence_answers_and_all_is_kept() {
        let terms = terms();
        let asked = "What is an active customer?";
        let found = terms.find(asked, &Question::parse(asked), &[], &|_| false);
        let candidate = found[0].to_candidate();
        assert_eq!(candidate.answer, "A customer is active who bought.");
        assert_eq!(candidate.whole.as_deref(), Some("A customer is active who bought. Others are not."));
        assert!(found[0].is_asked);
    }
}
