//! Which words of the texts mean about what a word of the question means, by vectors of words where there are some.
//!
//! Vectors of words cannot tell opposites and sisters from synonyms (`open` and `closed`, `gold` and `silver`), so a word
//! that is only near counts for less than the word itself, and names and numbers are never near anything.

use std::collections::{HashMap, HashSet};

use crate::{
    evidence::{Evidence, Passage},
    words::{is_stop_word, regex, stem, words},
};

/// Cosines up to this say nothing.
const UNRELATED: f32 = 0.28;
/// From this on words mean the same.
const SYNONYM: f32 = 0.68;
/// What a synonym counts for.
const SYNONYM_WEIGHT: f64 = 0.85;
/// More words than this are not compared.
const MAX_WORDS: usize = 5_000;
const MAX_ASKED: usize = 24;

/// Stem of the question to the stems of the texts that are near it, and how near, 0 to 1.
#[derive(Debug, Default)]
pub(crate) struct Near(HashMap<String, HashMap<String, f64>>);

impl Near {
    pub(crate) fn of(question: &str, passages: &[Passage], evidence: &dyn Evidence) -> Near {
        // `Germany` is near `France`, and something else.
        let proper: HashSet<String> =
            regex!(r"[^.?!\s]\s+(\p{Lu}\w*)").captures_iter(question).flat_map(|found| words(&found[1])).collect();
        let counts =
            |word: &String| word.chars().count() > 2 && word.chars().all(char::is_alphabetic) && !is_stop_word(word);
        let asked: Vec<String> =
            words(question).into_iter().filter(|w| counts(w) && !proper.contains(w)).take(MAX_ASKED).collect();
        let mut seen = HashSet::new();
        let texts = passages.iter().flat_map(|passage| [passage.name.as_str(), &passage.text]);
        let said: Vec<String> =
            texts.flat_map(words).filter(|w| counts(w) && seen.insert(w.clone())).take(MAX_WORDS).collect();
        let all: Vec<&str> = asked.iter().chain(&said).map(String::as_str).collect();
        let vectors = evidence.vectors(&all);
        if vectors.len() != all.len() {
            return Near::default();
        }
        let (of_asked, of_said) = vectors.split_at(asked.len());
        let mut near: HashMap<String, HashMap<String, f64>> = HashMap::new();
        for (word, a) in asked.iter().zip(of_asked) {
            let own = stem(word);
            for (other, b) in said.iter().zip(of_said) {
                let share = share(cosine(a, b));
                let other = stem(other);
                if share > 0.0 && other != own && !are_opposites(word, &other) {
                    let known = near.entry(own.clone()).or_default().entry(other).or_insert(0.0);
                    *known = known.max(share);
                }
            }
        }
        Near(near)
    }

    /// How near the nearest of `said` is to `asked`.
    pub(crate) fn nearest(&self, asked: &str, said: &HashSet<String>) -> f64 {
        let Some(near) = self.0.get(asked) else { return 0.0 };
        near.iter().filter(|(stem, _)| said.contains(*stem)).map(|(_, share)| *share).fold(0.0, f64::max)
    }
}

fn share(cosine: f32) -> f64 {
    SYNONYM_WEIGHT * f64::from(((cosine - UNRELATED) / (SYNONYM - UNRELATED)).clamp(0.0, 1.0))
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

/// Opposites that questions turn on.
fn are_opposites(word: &str, stem_of_other: &str) -> bool {
    const PAIRS: &[(&str, &str)] = &[
        ("open", "close"),
        ("start", "end"),
        ("begin", "end"),
        ("minimum", "maximum"),
        ("active", "inactive"),
        ("first", "last"),
        ("new", "old"),
        ("gross", "net"),
        ("buy", "sell"),
        ("high", "low"),
        ("early", "late"),
        ("increase", "decrease"),
        ("include", "exclude"),
        ("approve", "reject"),
        ("accept", "reject"),
        ("win", "lose"),
        ("arrive", "leave"),
        ("before", "after"),
        ("inside", "outside"),
        ("day", "night"),
        ("weekday", "weekend"),
        ("internal", "external"),
        ("private", "public"),
        ("allow", "forbid"),
    ];
    let word = stem(word);
    PAIRS.iter().any(|(a, b)| {
        let (a, b) = (stem(a), stem(b));
        (word == a && stem_of_other == b) || (word == b && stem_of_other == a)
    })
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;

    /// Every word is a direction in the plane.
    struct Plane;

    #[async_trait]
    impl Evidence for Plane {
        async fn passages(&self, _question: &str, _limit: usize) -> Vec<Passage> {
            Vec::new()
        }

        fn vectors(&self, words: &[&str]) -> Vec<Vec<f32>> {
            let angle = |word: &&str| match *word {
                "buy" | "sell" | "germany" => 0.0_f32,
                "purchase" | "france" => 0.2,
                "order" => 1.1,
                _ => 1.5,
            };
            words.iter().map(|word| vec![angle(word).cos(), angle(word).sin()]).collect()
        }
    }

    #[test]
    fn synonyms_are_near_and_opposites_and_names_are_not() {
        let text = "A purchase, an order, a sale that they sell in France.";
        let passage =
            Passage { source_type: "document".into(), name: "rules".into(), text: text.into(), relevance: 1.0 };
        let near = Near::of("Who may buy in Germany?", &[passage], &Plane);
        let check = |asked: &str, said: &str, least: f64, most: f64| {
            let share = near.nearest(&stem(asked), &HashSet::from([stem(said)]));
            assert!((least..=most).contains(&share), "{asked} {said}: {share}");
        };
        check("buy", "purchase", SYNONYM_WEIGHT, SYNONYM_WEIGHT);
        check("buy", "order", 0.1, 0.8);
        check("buy", "sell", 0.0, 0.0);
        check("germany", "france", 0.0, 0.0);
    }
}
