//! Verified queries as candidates. The wording of a query has to cover the question, and the question the wording: what only one of them
//! says makes them different questions.

use std::collections::HashSet;

use chrono::{Datelike, NaiveDate};
use serde_json::{Map, Value, json};

use super::compose::{FAINT, MARK_WEIGHT, UNUSED_OPERATOR, measure};
use super::intent::to_number;
use super::matching::{MAX_SPAN, match_value};
use super::naming::lower_words;
use super::operators::{self, Operator};
use super::question::{Mark, Question, Span, stems};
use super::{Candidate, CandidateQuery, Glossary, ParameterValues, QueryParameter, VerifiedQuery, Vocabulary};

/// The start of a word that stands for a parameter in a wording: a letter, so that it is read as a word.
const SLOT: char = 'ℵ';
/// The weight of a value, a number or a period that a query has no parameter for.
const UNUSED_VALUE: f64 = 1.0;

/// What a word or a phrase of a question or of a wording says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Sense {
    Operator(Operator),
    Stem(String),
    Slot(usize),
}

/// A part of a question or of a wording that has to be covered.
struct Unit {
    span: Span,
    sense: Sense,
    weight: f64,
}

/// A value in a question that a parameter accepts.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    parameter: usize,
    value: Value,
    span: Span,
}

/// A query with its wordings.
struct Reader<'a> {
    question: &'a Question,
    query: &'a VerifiedQuery,
    wordings: Vec<Question>,
}

/// Returns the verified queries of a vocabulary whose required parameters all have a value in the question.
pub(super) fn list(
    question: &Question,
    vocabulary: &Vocabulary,
    today: NaiveDate,
    glossary: &dyn Glossary,
) -> Vec<Candidate> {
    let read = |query: &VerifiedQuery| {
        let wording = |text: &String| {
            let slots = query.parameters.iter().enumerate();
            let text = slots.fold(text.clone(), |text, (at, one)| {
                text.replace(&format!("{{{}}}", one.name), &format!(" {SLOT}{at} "))
            });
            Question::read(&text, today, glossary)
        };
        let wordings = query.wordings.iter().map(wording).collect();
        Reader { question, query, wordings }.judge(vocabulary)
    };
    vocabulary.queries.iter().filter_map(read).collect()
}

impl Reader<'_> {
    fn judge(&self, vocabulary: &Vocabulary) -> Option<Candidate> {
        let all: Vec<Found> = (self.query.parameters.iter().enumerate())
            .flat_map(|(at, parameter)| find_values(self.question, at, parameter, vocabulary))
            .collect();
        let filled = self.fill(&all);
        let is_filled = |at: usize| filled.iter().any(|one| one.parameter == at);
        let mut required = self.query.parameters.iter().enumerate().filter(|(_, one)| !one.is_optional);
        if !required.all(|(at, _)| is_filled(at)) {
            return None;
        }
        let wordings: Vec<Vec<Unit>> = self.wordings.iter().map(list_units).collect();
        let (coverage, unused) = self.cover(&wordings, &filled, &all, vocabulary);
        let asked: HashSet<Sense> = list_units(self.question).into_iter().map(|unit| unit.sense).collect();
        let lack = |units: &Vec<Unit>| {
            let is_said = |unit: &Unit| match &unit.sense {
                Sense::Slot(_) => true,
                sense => asked.contains(sense),
            };
            let weigh = |units: &mut dyn Iterator<Item = &Unit>| units.map(|unit| unit.weight).sum::<f64>();
            let missing = weigh(&mut units.iter().filter(|unit| !is_said(unit)));
            missing / weigh(&mut units.iter()).max(f64::MIN_POSITIVE)
        };
        let lack = wordings.iter().filter(|units| !units.is_empty()).map(lack).fold(1.0, f64::min);
        let name = |one: &&Found| (self.query.parameters[one.parameter].name.clone(), one.value.clone());
        let parameters: Map<String, Value> = filled.iter().map(name).collect();
        let query = CandidateQuery::Verified {
            name: self.query.name.clone(),
            parameters: parameters.clone(),
            tables: self.query.tables.clone(),
        };
        let text = self.query.ask(&parameters);
        let (database, follow_ups) = (String::new(), Vec::new());
        Some(Candidate { score: coverage - lack, unused, apart: None, text, database, follow_ups, query })
    }

    /// Returns the share of the question that the texts and the parameters of the query cover, and the other words.
    fn cover(
        &self,
        wordings: &[Vec<Unit>],
        filled: &[&Found],
        all: &[Found],
        vocabulary: &Vocabulary,
    ) -> (f64, Vec<String>) {
        let known: HashSet<&Sense> = wordings.iter().flatten().map(|unit| &unit.sense).collect();
        let described: Vec<String> = stems(&format!("{} {}", self.query.name, self.query.description));
        let tokens = &self.question.tokens;
        let (mut covered, mut weights) = (vec![0.0_f64; tokens.len()], vec![0.0_f64; tokens.len()]);
        for unit in list_units(self.question) {
            let is_described = matches!(&unit.sense, Sense::Stem(stem) if described.contains(stem));
            let score = match (known.contains(&unit.sense), is_described) {
                (true, _) => 1.0,
                // Only its name or its description contains the word.
                (false, true) => FAINT,
                (false, false) => 0.0,
            };
            // What a query computes otherwise than asked costs more than a word that it does not use.
            let is_met = score > 0.0 && unit.weight > MARK_WEIGHT && matches!(unit.sense, Sense::Operator(_));
            let weight = if is_met { MARK_WEIGHT } else { unit.weight } / unit.span.length as f64;
            for at in unit.span.at..unit.span.end() {
                covered[at] += score * weight;
                weights[at] += weight;
            }
        }
        (0..covered.len()).for_each(|at| covered[at] /= weights[at].max(f64::MIN_POSITIVE));
        for span in filled.iter().map(|one| one.span) {
            covered[span.at..span.end()].fill(1.0);
            weights[span.at..span.end()].iter_mut().for_each(|weight| *weight = weight.max(MARK_WEIGHT));
        }
        let named = vocabulary.values.iter().flat_map(|named| spans(self.question, &lower_words(&named.value)));
        let marks = self.question.marks.iter().filter(|(_, mark)| matches!(mark, Mark::Period(..) | Mark::Number(_)));
        for span in named.chain(marks.map(|(span, _)| *span)).chain(all.iter().map(|one| one.span)) {
            if covered[span.at..span.end()].iter().all(|score| *score < 1.0) {
                let weight = UNUSED_VALUE / span.length as f64;
                weights[span.at..span.end()].iter_mut().for_each(|own| *own = own.max(weight));
            }
        }
        measure(self.question, &covered, weights)
    }

    /// Assigns values to parameters. Where a value fits two of them, or two values fit one, the words before the values decide; otherwise
    /// nothing is assigned, and the value remains uncovered.
    fn fill<'f>(&self, all: &'f [Found]) -> Vec<&'f Found> {
        // `United Kingdom` is not `United`.
        let is_within = |one: &Found, other: &Found| {
            other.span.at <= one.span.at && one.span.end() <= other.span.end() && one.span.length < other.span.length
        };
        let whole: Vec<&Found> = all.iter().filter(|one| !all.iter().any(|other| is_within(one, other))).collect();
        let mut filled = Vec::new();
        for (at, parameter) in self.query.parameters.iter().enumerate() {
            let is_contested = |one: &Found| {
                let meets = |other: &Found| other.span.at < one.span.end() && one.span.at < other.span.end();
                whole.iter().any(|other| other.parameter != at && meets(other))
            };
            // A number that may be any number is identified by its place.
            let is_free = matches!(&parameter.values, ParameterValues::Numbers(allowed) if allowed.is_empty());
            let fits = |one: &&&Found| {
                one.parameter == at
                    && (!is_contested(one) && !is_free || self.is_beside(one))
                    && (!parameter.values.is_text() || self.is_related(one))
            };
            let mut own: Vec<&Found> = whole.iter().filter(fits).copied().collect();
            if own.iter().any(|one| one.value != own[0].value) {
                own.retain(|one| self.is_beside(one));
                own.truncate(usize::from(own.len() == 1));
            }
            filled.extend(own);
        }
        filled
    }

    /// Returns the wordings with a parameter, and its position in each.
    fn places(&self, parameter: usize) -> impl Iterator<Item = (&Question, usize)> {
        let slot = format!("{SLOT}{parameter}");
        self.wordings.iter().filter_map(move |wording| {
            let at = wording.tokens.iter().position(|token| token.text == slot)?;
            Some((wording, at))
        })
    }

    /// Returns whether the word before a value is also before its parameter in a wording; the word after it if the wording starts with the
    /// parameter.
    fn is_beside(&self, found: &Found) -> bool {
        let word = |question: &Question, at: Option<usize>| Some(question.tokens.get(at?)?.lower.clone());
        let (before, after) = (found.span.at.checked_sub(1), Some(found.span.end()));
        self.places(found.parameter).any(|(wording, at)| match at.checked_sub(1) {
            Some(left) => word(wording, Some(left)) == word(self.question, before),
            None => word(wording, Some(at + 1)).is_some_and(|own| Some(own) == word(self.question, after)),
        })
    }

    /// Returns whether the stop words before a value and before its parameter in a wording agree in the nearest of one of them: artists sold
    /// *in* Brazil are not artists *from* Brazil.
    fn is_related(&self, found: &Found) -> bool {
        let stops = |question: &Question, at: usize| {
            let tokens = question.tokens[..at].iter().rev().take_while(|token| token.weight == 0.0);
            tokens.map(|token| token.lower.clone()).collect::<Vec<String>>()
        };
        let said = stops(self.question, found.span.at);
        let is_same = |(wording, at): (&Question, usize)| {
            let own = stops(wording, at);
            own.first().is_some_and(|word| said.contains(word)) || said.first().is_some_and(|word| own.contains(word))
        };
        said.is_empty() || self.places(found.parameter).any(is_same)
    }
}

/// Returns the parts of a question that have to be covered. `best-selling` consists of two; requests for rows and stop words need no cover.
fn list_units(question: &Question) -> Vec<Unit> {
    let mut phrases: Vec<(Span, Operator)> = Vec::new();
    let mut marks: Vec<(Span, Operator)> = (question.marks.iter())
        .filter_map(|(span, mark)| match mark {
            Mark::Operator(operator) => Some((*span, *operator)),
            Mark::Period(..) | Mark::Grain(_) | Mark::Series(_) | Mark::Number(_) => None,
        })
        .collect();
    marks.sort_by_key(|(span, _)| (std::cmp::Reverse(span.length), span.at));
    for (span, operator) in marks {
        if !phrases.iter().any(|(other, _)| other.at < span.end() && span.at < other.end()) {
            phrases.push((span, operator));
        }
    }
    let of_operator = |span: Span, operator: Operator| {
        let weight = if operator.computes() { UNUSED_OPERATOR } else { MARK_WEIGHT };
        let is_request = matches!(operator, Operator::List | Operator::Which);
        (!is_request).then_some(Unit { span, sense: Sense::Operator(operator), weight })
    };
    let mut units: Vec<Unit> = phrases.iter().filter_map(|(span, operator)| of_operator(*span, *operator)).collect();
    let is_free = |at: &usize| !phrases.iter().any(|(span, _)| (span.at..span.end()).contains(at));
    for at in (0..question.tokens.len()).filter(is_free) {
        let (token, span) = (&question.tokens[at], Span { at, length: 1 });
        if let Some(slot) = token.text.strip_prefix(SLOT).and_then(|number| number.parse().ok()) {
            units.push(Unit { span, sense: Sense::Slot(slot), weight: MARK_WEIGHT });
        } else if token.weight > 0.0 {
            let parts: Vec<&str> = token.lower.split('-').collect();
            let weight = token.weight / parts.len() as f64;
            for part in parts.iter().copied() {
                match operators::find(&[part]).filter(|_| parts.len() > 1) {
                    Some((operator, _)) => units.extend(of_operator(span, operator)),
                    None => units.extend(stems(part).into_iter().map(|stem| Unit {
                        span,
                        sense: Sense::Stem(stem),
                        weight,
                    })),
                }
            }
        }
    }
    units
}

/// Returns the values of a question that a parameter accepts.
fn find_values(question: &Question, at: usize, parameter: &QueryParameter, vocabulary: &Vocabulary) -> Vec<Found> {
    let found = |value: Value, span: Span| Found { parameter: at, value, span };
    let named = |value: &String, name: &String| {
        let all = spans(question, &lower_words(name));
        all.into_iter().map(|span| found(json!(value), span)).collect::<Vec<_>>()
    };
    let marks = question.marks.iter();
    match &parameter.values {
        ParameterValues::Texts(allowed) => {
            let names =
                allowed.iter().flat_map(|(value, names)| names.iter().chain([value]).map(move |name| (value, name)));
            names.flat_map(|(value, name)| named(value, name)).collect()
        }
        ParameterValues::Column(column) => {
            let own = vocabulary.values.iter().filter(|one| format!("{}.{}", one.table, one.column) == *column);
            own.flat_map(|one| named(&one.value, &one.value)).collect()
        }
        ParameterValues::Quoted => question.quotations.iter().flat_map(|text| named(text, text)).collect(),
        ParameterValues::Numbers(allowed) => {
            let number = |mark: &Mark| match mark {
                Mark::Number(number) => Some(*number),
                Mark::Period(from, to) => read_year(from, to).map(f64::from),
                Mark::Operator(_) | Mark::Grain(_) | Mark::Series(_) => None,
            };
            let numbers = marks.filter_map(|(span, mark)| Some((number(mark)?, *span)));
            let accepted = numbers.filter(|(number, _)| allowed.is_empty() || allowed.contains(number));
            accepted.map(|(number, span)| found(to_number(number), span)).collect()
        }
        ParameterValues::Days => {
            let day = |(span, mark): &(Span, Mark)| match mark {
                Mark::Period(from, to) => is_day(from, to).then(|| found(json!(from), *span)),
                Mark::Operator(_) | Mark::Grain(_) | Mark::Series(_) | Mark::Number(_) => None,
            };
            marks.filter_map(day).collect()
        }
        ParameterValues::None => Vec::new(),
    }
}

/// Returns where a question names a value: not by stop words only, as `US` differs from `us`.
fn spans(question: &Question, value: &[String]) -> Vec<Span> {
    let count = question.tokens.len();
    let all = (0..count).flat_map(|at| (1..=MAX_SPAN.min(count - at)).map(move |length| Span { at, length }));
    let is_named = |span: &Span| {
        question.weigh(*span) > 0.0
            && match_value(value, &question.tokens[span.at..span.end()], &question.stems(*span)).is_some()
    };
    all.filter(|_| !value.is_empty()).filter(is_named).collect()
}

/// Returns the year that a period is.
fn read_year(from: &str, to: &str) -> Option<i32> {
    let year: i32 = from.strip_suffix("-01-01")?.parse().ok()?;
    (to == format!("{:04}-01-01", year + 1)).then_some(year)
}

/// Returns whether a period is a single day.
fn is_day(from: &str, to: &str) -> bool {
    let read = |day: &str| NaiveDate::parse_from_str(day, "%Y-%m-%d").ok();
    let Some(day) = read(from) else { return false };
    // The end of a period may be the 32nd of a month.
    to == format!("{}-{:02}", day.format("%Y-%m"), day.day() + 1) || read(to) == day.succ_opt()
}

#[cfg(test)]
mod tests;
