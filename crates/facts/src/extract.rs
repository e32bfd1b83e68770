//! What a text defines, read without a model: definitions, thresholds, equalities, abbreviations, units.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    definition::definitions,
    model::two_digits,
    quantity::{Bound, quantities},
    quote::Quotable,
    sentences::{MAX_SENTENCE_BYTES, Unit, units},
    term::{Definition, Pattern},
    words::{regex, stems},
};

/// No text gives more facts than this.
pub const MAX_FACTS: usize = 200;

/// The kind of thing that a text says of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExtractedKind {
    /// What the term means.
    Definition,
    /// A bound on a number: `at least 45.00`.
    Threshold,
    /// A formula: `net revenue = gross revenue - refunds`.
    Equality,
    /// The term is short for something.
    Abbreviation,
    /// In what the term is counted: `in USD`.
    Unit,
}

/// Something that a text says of a term.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ExtractedFact {
    /// The term, spelled as in the text.
    pub term: String,
    /// What is said of it.
    pub definition: String,
    /// What kind of saying that is.
    pub kind: ExtractedKind,
    /// Where the text says so, word for word: a part of it as it stands, line ends and marks included.
    pub evidence: String,
    /// How plainly it is said, 0 to 1.
    #[serde(serialize_with = "two_digits")]
    #[schemars(with = "f64")]
    pub confidence: f64,
}

/// The facts that a text states.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// What was found, in the order of the text; what only the model found comes last.
    pub facts: Vec<ExtractedFact>,
    /// What a model said and the text does not bear out, or why no model was of use.
    pub note: Option<String>,
}

/// Everything that `text` defines, in its order, at most [`MAX_FACTS`].
///
/// ```
/// use prospector_facts::extract::{ExtractedKind, extract};
///
/// let facts = extract("A **VIP customer** is a customer whose total spending is at least 45.00. We like them.");
/// assert_eq!(facts.len(), 2);
/// assert_eq!((facts[0].term.as_str(), facts[0].kind), ("VIP customer", ExtractedKind::Definition));
/// assert_eq!((facts[1].definition.as_str(), facts[1].kind), ("total spending is at least 45.00", ExtractedKind::Threshold));
/// ```
pub fn extract(text: &str) -> Vec<ExtractedFact> {
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    let quotable = Quotable::new(text);
    for unit in units(text, "") {
        let found = from_unit(&unit);
        if found.is_empty() {
            continue;
        }
        // What cannot be quoted is not claimed.
        let Some(evidence) = quotable.quote(&unit.text) else { continue };
        for mut fact in found {
            fact.evidence = evidence.to_owned();
            let key = (fact.kind, stems(&fact.term), fact.definition.to_lowercase());
            if seen.insert(key) {
                out.push(fact);
            }
            if out.len() == MAX_FACTS {
                return out;
            }
        }
    }
    out
}

fn from_unit(unit: &Unit) -> Vec<ExtractedFact> {
    let defined = definitions(unit);
    let fact = |definition: &Definition, kind| ExtractedFact {
        term: definition.term.clone(),
        definition: definition.gloss.clone(),
        kind,
        evidence: unit.text.clone(),
        confidence: definition.strength,
    };
    let mut out: Vec<ExtractedFact> = Vec::new();
    // One meaning a sentence: the plainest.
    let meaning = defined
        .iter()
        .filter(|d| {
            d.strength >= 0.6
                && !d.term.is_empty()
                && !matches!(d.pattern, Pattern::Short | Pattern::Unit | Pattern::Threshold)
        })
        .max_by(|a, b| a.strength.total_cmp(&b.strength));
    if let Some(definition) = meaning {
        let formula = definition.pattern == Pattern::Equality
            || (definition.pattern == Pattern::Explicit
                && regex!(r"(?i)\b(?:equals?|equal to)\b").is_match(&unit.plain));
        let expands = definition.pattern == Pattern::Explicit
            && regex!(r"(?i)\b(?:stands? for|short for|abbreviation|acronym)\b").is_match(&unit.plain);
        let kind = match (formula, expands) {
            (true, _) => ExtractedKind::Equality,
            (_, true) => ExtractedKind::Abbreviation,
            _ => ExtractedKind::Definition,
        };
        out.push(fact(definition, kind));
    }
    for definition in &defined {
        match definition.pattern {
            Pattern::Short => out.push(fact(definition, ExtractedKind::Abbreviation)),
            Pattern::Unit => out.push(fact(definition, ExtractedKind::Unit)),
            Pattern::Explicit
            | Pattern::Equality
            | Pattern::Label
            | Pattern::Row
            | Pattern::Copula
            | Pattern::Condition
            | Pattern::Heading
            | Pattern::Threshold
            | Pattern::Code => {}
        }
    }
    let bounded = defined.iter().find(|d| d.pattern == Pattern::Threshold).filter(|_| meaning.is_none());
    if let Some(subject) = meaning.or(bounded) {
        let lines = std::iter::once(&unit.plain).chain(&unit.list);
        for line in lines.filter(|line| line.len() <= MAX_SENTENCE_BYTES) {
            for clause in thresholds(line) {
                let threshold = Definition { gloss: clause, ..subject.clone() };
                out.push(fact(&threshold, ExtractedKind::Threshold));
            }
        }
    }
    out
}

/// The clauses of a sentence that bound a number.
fn thresholds(sentence: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let starts =
        regex!(r"(?i)\b(?:who|whose|that|which|with|without|if|when|once|where|and|or)\s+|[,;:(]\s+|\s[-–—]\s");
    for quantity in quantities(sentence).iter().filter(|q| q.bound != Bound::Exactly) {
        let start = starts.find_iter(&sentence[..quantity.span.start]).last().map_or(0, |found| found.end());
        let rest = &sentence[quantity.span.end..];
        let end = regex!(r"(?i)[,;]|\.(?:\s|$)|\s(?:and|or|who|whose)\s")
            .find(rest)
            .map_or(rest.len(), |found| found.start());
        let clause = sentence[start..quantity.span.end + end].trim();
        let clause =
            if clause.contains('(') { clause } else { clause.split(')').next().unwrap_or(clause).trim() }.to_owned();
        if !out.contains(&clause) {
            out.push(clause);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(ExtractedKind, &str, &str)]) {
        let facts = extract(text);
        let got: Vec<_> = facts.iter().map(|f| (f.kind, f.term.as_str(), f.definition.as_str())).collect();
        assert_eq!(got, expected, "{text}");
        for fact in &facts {
            assert!(text.contains(&fact.evidence), "not verbatim: {}", fact.evidence);
            assert!((0.0..=1.0).contains(&fact.confidence));
        }
    }

    use ExtractedKind::{Abbreviation, Definition, Equality, Threshold, Unit};

    #[test]
    fn each_kind_is_found() {
        check("Churn means that a subscriber leaves.", &[(Definition, "Churn", "that a subscriber leaves")]);
        check(
            "An order is large when it totals more than 500.00.",
            &[
                (Definition, "large order", "An order is large when it totals more than 500.00"),
                (Threshold, "large order", "it totals more than 500.00"),
            ],
        );
        check(
            "Refunds may not exceed 30 % of the price.",
            &[(Threshold, "Refunds", "Refunds may not exceed 30 % of the price")],
        );
        check("net_margin = profit / net revenue", &[(Equality, "net_margin", "profit / net revenue")]);
        check("Gross profit equals revenue minus cost.", &[(Equality, "Gross profit", "revenue minus cost")]);
        check("We watch the average order value (AOV).", &[(Abbreviation, "AOV", "average order value")]);
        check(
            "It starts with a lesson (PTI, power tool introduction).",
            &[(Abbreviation, "PTI", "power tool introduction")],
        );
        check("KPI stands for key performance indicator.", &[(Abbreviation, "KPI", "key performance indicator")]);
        check("All totals are in USD.", &[(Unit, "totals", "in USD")]);
    }

    #[test]
    fn a_glossary_gives_one_fact_a_row() {
        check(
            "| Term | Definition |\n|---|---|\n| Cohort | customers of one month |\n| Seat | one paid user |\n",
            &[(Definition, "Cohort", "customers of one month"), (Definition, "Seat", "one paid user")],
        );
    }

    #[test]
    fn mentions_questions_and_notes_define_nothing() {
        check("VIP customers get free shipping. What is churn? Note: closed on Sunday. We sell 5 books.", &[]);
        check("", &[]);
    }

    #[test]
    fn texts_that_are_made_to_be_slow_are_read_in_time_that_grows_with_them() {
        let started = std::time::Instant::now();
        let part = |part: &str| part.repeat(100_000 / part.len());
        let texts = [
            // Full stops that end no sentence, one after the other.
            part("No. 5 "),
            part("e.g. 5 "),
            // Numbers with bounds in one line that belongs to a definition.
            format!("A big order is one that meets any of these limits:\n\n- {}", part("at least 5 or ")),
            // A heading, or the head of a table, that stands over all of it.
            format!("# {}\n\n{}", &part("word ")[..50_000], &part("A b. ")[..50_000]),
            format!("{}?\n\n{}", &part("word ")[..50_000], &part("A b. ")[..50_000]),
            format!("| {} |\n|---|\n{}", &part("word ")[..50_000], &part("| a |\n")[..50_000]),
            // Sentences that repeat, and that cannot be quoted as they stand.
            part("Churn is a loss.\n"),
            part("x > y. A b\n: is c.\n"),
            // Marks that begin what never ends.
            part("["),
            part("**a `b "),
            part("__a ("),
            part("<!--"),
            part("(AOV "),
            part("a:\n"),
            part("- a:\n"),
        ];
        for text in texts {
            extract(&text);
        }
        // Minutes, where one of them is read anew for each of its parts.
        assert!(started.elapsed() < std::time::Duration::from_secs(60), "{:?}", started.elapsed());
    }

    #[test]
    fn the_number_of_facts_is_bounded_and_none_comes_twice() {
        let text: String = (0..2_000).map(|n| format!("Term x{n} means thing {n}.\n\n")).collect();
        assert_eq!(extract(&text).len(), MAX_FACTS);
        assert_eq!(extract("Churn means loss. Churn means loss.").len(), 1);
    }
}
