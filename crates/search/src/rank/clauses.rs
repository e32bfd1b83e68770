//! Splits a long question into clauses: "find the film, list its cast, then rate it" asks for three operations.

use std::sync::LazyLock;

use prospector_core::Kind;
use regex::Regex;

use crate::analyze::Distinct;

/// Minimum number of words of a clause; shorter ones are joined to the next.
const MIN_WORDS: usize = 3;

/// Maximum number of clauses; the last one contains the rest.
const MAX_CLAUSES: usize = 8;

/// Sentence ends and commas.
static BOUNDARY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[.;:!?\n]+\s+|,\s*").ok());

/// Returns the clauses of a question; empty if there is only one.
pub(super) fn split(text: &str, kind: Kind) -> Vec<String> {
    let Some(boundary) = BOUNDARY.as_ref() else { return Vec::new() };
    let mut clauses: Vec<String> = Vec::new();
    let mut buffer = String::new();
    let mut words = Distinct::new(kind);
    for piece in boundary.split(text).map(str::trim).filter(|piece| !piece.is_empty()) {
        if !buffer.is_empty() {
            buffer.push(' ');
        }
        buffer.push_str(piece);
        words.add(piece);
        if words.len() >= MIN_WORDS {
            clauses.push(std::mem::take(&mut buffer));
            words = Distinct::new(kind);
        }
    }
    match clauses.last_mut() {
        Some(last) if !buffer.is_empty() => {
            last.push(' ');
            last.push_str(&buffer);
        }
        _ => {}
    }
    if clauses.len() > MAX_CLAUSES {
        let rest = clauses.split_off(MAX_CLAUSES - 1).join(" ");
        clauses.push(rest);
    }
    if clauses.len() < 2 { Vec::new() } else { clauses }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(split(text, Kind::Operation), expected);
    }

    #[test]
    fn splits_long_questions_into_clauses() {
        check(
            "Find the film Dune by title, then rate the cast member with five stars. Who composed it?",
            &["Find the film Dune by title", "then rate the cast member with five stars Who composed it?"],
        );
    }

    /// Reference implementation of [`split`]: analyses all pending text again at each boundary.
    fn split_slowly(text: &str, kind: Kind) -> Vec<String> {
        let (mut clauses, mut buffer) = (Vec::<String>::new(), String::new());
        for piece in BOUNDARY.as_ref().unwrap().split(text).map(str::trim).filter(|piece| !piece.is_empty()) {
            buffer = format!("{buffer} {piece}").trim_start().to_owned();
            if analyze::query_terms(&buffer, kind).len() >= MIN_WORDS {
                clauses.push(std::mem::take(&mut buffer));
            }
        }
        if let Some(last) = clauses.last_mut().filter(|_| !buffer.is_empty()) {
            *last = format!("{last} {buffer}");
        }
        if clauses.len() > MAX_CLAUSES {
            let rest = clauses.split_off(MAX_CLAUSES - 1).join(" ");
            clauses.push(rest);
        }
        if clauses.len() < 2 { Vec::new() } else { clauses }
    }

    #[test]
    fn matches_the_reference_implementation() {
        let words =
            ["the", "and", "then", "who", "revenue", "InvoiceLine", "by", "of", "x1", "größe", "orders", "show"];
        let ends = [" ", ", ", ". ", " and ", "; then ", "! ", "\n\n", ",and then "];
        let mut seed = 7_u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for _ in 0..2_000 {
            let count = next(40);
            let question: String =
                (0..count).flat_map(|_| [words[next(words.len())], ends[next(ends.len())]]).collect();
            for kind in [Kind::Operation, Kind::Table, Kind::Document] {
                assert_eq!(split(&question, kind), split_slowly(&question, kind), "{question}");
            }
        }
    }

    #[test]
    fn run_time_is_linear_for_repetitive_questions() {
        // Repeated pairs of words never form a clause; analysing all of them again for each pair would take minutes.
        let started = std::time::Instant::now();
        check(&"revenue by country,".repeat(40_000), &[]);
        assert!(started.elapsed() < std::time::Duration::from_secs(30), "{:?}", started.elapsed());
    }

    #[test]
    fn keeps_short_questions_whole() {
        check("Who directed Dune?", &[]);
        check("", &[]);
        check("one, two, and three", &[]);
    }
}
