//! How well what is said fits what is asked: terms by their stems, sentences by the words of the question they cover.

use std::collections::{HashMap, HashSet};

use crate::{
    question::{Question, Shape},
    sentences::{Form, Unit},
    words::{adjacent, regex, same, stems, within},
};

/// A question with what it is weighed by.
pub(crate) struct Asking {
    pub(crate) asked: Question,
    /// All stems of the question in its order.
    pub(crate) order: Vec<String>,
    pub(crate) weights: Weights,
}

/// The stems of a unit.
pub(crate) struct Statement {
    pub(crate) own: HashSet<String>,
    /// Of what it stands under.
    pub(crate) around: HashSet<String>,
    /// How far it says what it stands under: `Shipping is not part of it` does in full.
    pub(crate) heading_share: f64,
}

impl Statement {
    /// Only these words.
    pub(crate) fn only(own: HashSet<String>) -> Self {
        Statement { own, around: HashSet::new(), heading_share: 0.0 }
    }

    pub(crate) fn of(unit: &Unit) -> Self {
        let headers: Vec<&str> = match &unit.form {
            Form::Row(cells) => cells.iter().map(|(header, _)| header.as_str()).collect(),
            Form::Prose | Form::Item | Form::Code => Vec::new(),
        };
        let own =
            [unit.before.as_str(), &unit.plain].into_iter().chain(headers).chain(unit.list.iter().map(String::as_str));
        let points = regex!(r"(?i)\b(?:it|its|they|them|their|this|these)\b").is_match(&unit.plain);
        Statement {
            own: own.flat_map(stems).collect(),
            around: stems(&unit.heading).into_iter().collect(),
            heading_share: if points || unit.heading.ends_with('?') { 1.0 } else { 0.6 },
        }
    }

    /// How far a stem is said.
    pub(crate) fn share(&self, stem: &String) -> f64 {
        match (self.own.contains(stem), self.around.contains(stem)) {
            (true, _) => 1.0,
            (false, true) => self.heading_share,
            (false, false) => 0.0,
        }
    }
}

/// How rare each stem is among everything that was read.
pub(crate) struct Weights(HashMap<String, usize>);

impl Weights {
    pub(crate) fn of(texts: &[Statement]) -> Self {
        let mut count = HashMap::new();
        for stem in texts.iter().flat_map(|text| text.own.union(&text.around)) {
            *count.entry(stem.clone()).or_insert(0) += 1;
        }
        Weights(count)
    }

    /// From 1 for what is nowhere down to 0 for what is everywhere.
    pub(crate) fn rarity(&self, stem: &str) -> f64 {
        let seen = self.0.get(stem).copied().unwrap_or(0) as f64;
        1.0 / (1.0 + 0.5 * (1.0 + seen).ln())
    }

    fn weight(&self, stem: &str) -> f64 {
        let rare = self.rarity(stem);
        if Question::is_light(stem) { rare * 0.25 } else { rare }
    }

    /// The share of `wanted` that is in `said`.
    fn coverage(&self, wanted: &[String], said: &Statement) -> f64 {
        let total: f64 = wanted.iter().map(|stem| self.weight(stem)).sum();
        let covered: f64 = wanted.iter().map(|stem| self.weight(stem) * said.share(stem)).sum();
        if total > 0.0 { covered / total } else { 0.0 }
    }
}

impl Asking {
    /// The share of the question that `text` covers.
    pub(crate) fn coverage(&self, text: &Statement) -> f64 {
        self.weights.coverage(&self.asked.content, text)
    }

    /// How well `head` is what is asked for; nothing where it is not asked for at all.
    pub(crate) fn fit(&self, head: &[String], text: &Statement) -> Option<f64> {
        let (asked, order) = (&self.asked, &self.order);
        let fit = match asked.shape {
            Shape::Define => asked
                .alternatives
                .iter()
                .map(|(wanted, weight)| weight * likeness(wanted, head, &self.weights, text))
                .fold(0.0, f64::max),
            Shape::Ask | Shape::Request => {
                let run = if adjacent(head, order) {
                    1.0
                } else if head.len() > 1 && within(head, order) {
                    0.85
                } else {
                    return None;
                };
                let coverage = self.coverage(text);
                run * match asked.shape {
                    Shape::Ask if asked.data && head.len() > 1 => 0.7 + 0.3 * coverage,
                    Shape::Ask => 0.15 + 0.85 * coverage * coverage,
                    _ => 1.0,
                }
            }
        };
        (fit > 0.0).then_some(fit)
    }
}

fn likeness(wanted: &[String], head: &[String], weights: &Weights, text: &Statement) -> f64 {
    if same(wanted, head) {
        1.0
    } else if within(head, wanted) {
        // The question says more than the term: does the sentence?
        let total: f64 = wanted.iter().map(|stem| weights.weight(stem)).sum();
        let share = |stem: &String| if head.contains(stem) { 1.0 } else { 0.9 * text.share(stem) };
        (wanted.iter().map(|stem| share(stem) * weights.weight(stem)).sum::<f64>() / total).powf(1.5)
    } else if within(wanted, head) {
        match (head.starts_with(wanted), head.len() - wanted.len()) {
            (true, 1) => 0.8,
            (true, 2) => 0.6,
            _ => 0.4,
        }
    } else {
        0.0
    }
}
