//! Numbers in sentences: thresholds, and whether two sentences contradict each other.

use prospector_text::numbers;
use regex::Regex;

use crate::words::{number, regex, stem};

/// How a number bounds what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
    Exactly,
}

/// A number of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantity {
    pub(crate) bound: Bound,
    pub(crate) value: f64,
    pub(crate) unit: String,
    /// Where the comparison begins and ends.
    pub(crate) span: std::ops::Range<usize>,
}

fn pattern() -> &'static Regex {
    regex!(concat!(
        r"(?i)(?:(?P<bound>(?:not|never|cannot) exceed|at least|no less than|not less than|no fewer than|a minimum of|minimum(?: of)?|",
        r"more than|greater than|over|above|exceed(?:s|ing|ed)?|beyond|at most|no more than|not more than|up to|",
        r"a maximum of|maximum(?: of)?|within|less than|fewer than|below|under|>=|≥|>|<=|≤|<)\s*(?:the last |a period of )?)?",
        r"(?P<money>[€$£]|\b(?:USD|EUR|GBP|CHF|JPY)\s?)?\s?",
        r"(?P<number>\b\d[\d,]*(?:\.\d+)?|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred)\b)",
        r"(?:\s?(?P<unit>%|€|\$|£|(?:percent|per cent|USD|EUR|GBP|CHF|JPY|dollars?|euros?|cents?|(?:business |working |calendar |consecutive )?days?|",
        r"weeks?|months?|years?|quarters?|hours?|minutes?|seconds?|orders?|items?|purchases?|points?|units?|times|pieces|",
        r"january|february|march|april|may|june|july|august|september|october|november|december)\b))?",
        r"(?P<after>\s+or (?:more|above|over|less|fewer|below|under)\b)?"
    ))
}

/// The numbers of `text`, in order. Years, and the numbers of sections and the like, are none.
pub(crate) fn quantities(text: &str) -> Vec<Quantity> {
    let mut out = Vec::new();
    for found in pattern().captures_iter(text) {
        let (Some(whole), Some(digits)) = (found.get(0), found.name("number")) else { continue };
        let group = |name| found.name(name).map(|m| m.as_str().trim().to_lowercase()).unwrap_or_default();
        let before = text[..digits.start()].trim_end();
        let bound = group("bound");
        let raw = if group("unit").is_empty() { group("money") } else { group("unit") };
        if raw.is_empty() && is_reference(before, digits.as_str(), &text[digits.end()..]) {
            continue;
        }
        let word = digits.as_str().to_lowercase();
        if word == "one" && bound.is_empty() && group("unit").is_empty() {
            continue;
        }
        let spelled = numbers::parse_word(&word).map(f64::from);
        let Some(value) = spelled.or_else(|| number(&word).parse().ok()) else { continue };
        let (factor, unit) = unit(&raw);
        out.push(Quantity {
            bound: bound_of(&bound, &group("after")),
            value: value * factor,
            unit,
            span: whole.start()..whole.end(),
        });
    }
    out
}

fn is_reference(before: &str, digits: &str, after: &str) -> bool {
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    let glued = before.ends_with(['-', '_', '#', '§', '/', '.']) || after.starts_with(['-', '_', '/', ':']);
    let numbered = [
        "section", "chapter", "page", "rule", "version", "figure", "table", "step", "article", "appendix", "level",
        "tier", "no", "nr", "iso", "rfc", "since", "until", "year",
    ];
    let year = digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    let dated = ["in", "of", "from", "to", "before", "after", "january", "july", "april", "october"];
    glued || numbered.contains(&word.as_str()) || (year && dated.contains(&word.as_str()))
}

fn bound_of(before: &str, after: &str) -> Bound {
    let text = if before.is_empty() { after } else { before };
    match text {
        "" => Bound::Exactly,
        "over" | "above" | "beyond" | "more than" | "greater than" | ">" => Bound::MoreThan,
        "below" | "under" | "less than" | "fewer than" | "<" => Bound::LessThan,
        "or more" | "or above" | "or over" | "at least" | ">=" | "≥" => Bound::AtLeast,
        t if t.starts_with("exceed") => Bound::MoreThan,
        t if t.contains("minimum") || t.ends_with("less than") || t.ends_with("fewer than") => Bound::AtLeast,
        _ => Bound::AtMost,
    }
}

/// Units of one dimension are made one, so that `12 months` is `1 year`.
fn unit(raw: &str) -> (f64, String) {
    let word = raw.trim_start_matches("calendar ").trim_start_matches("consecutive ");
    match word {
        "" => (1.0, String::new()),
        "percent" | "per cent" => (1.0, "%".into()),
        "$" | "dollar" | "dollars" => (1.0, "usd".into()),
        "€" | "euro" | "euros" => (1.0, "eur".into()),
        "£" => (1.0, "gbp".into()),
        "week" | "weeks" => (7.0, "day".into()),
        "year" | "years" => (12.0, "month".into()),
        "quarter" | "quarters" => (3.0, "month".into()),
        "working day" | "working days" | "business day" | "business days" => (1.0, "working day".into()),
        other => (1.0, stem(other)),
    }
}

/// Whether two sentences about one term cannot both hold: their numbers or thresholds differ, or one includes what the
/// other excludes. A sentence that only says more than the other does not contradict it.
pub(crate) fn disagree(a: &str, b: &str) -> bool {
    let (left, right) = (quantities(a), quantities(b));
    let covered =
        |part: &[Quantity], whole: &[Quantity]| part.iter().all(|q| whole.iter().any(|other| agrees(q, other)));
    if !left.is_empty() && !right.is_empty() && !covered(&left, &right) && !covered(&right, &left) {
        return true;
    }
    let (left, right) = (inclusions(a), inclusions(b));
    left.iter().any(|(what, included)| right.iter().any(|(other, i)| what == other && included != i))
}

fn agrees(a: &Quantity, b: &Quantity) -> bool {
    let near = (a.value - b.value).abs() <= 1e-9 * a.value.abs().max(1.0);
    let bound = a.bound == b.bound || a.bound == Bound::Exactly || b.bound == Bound::Exactly;
    near && bound && (a.unit == b.unit || a.unit.is_empty() || b.unit.is_empty())
}

/// What a sentence says is in (`true`) and out (`false`).
fn inclusions(text: &str) -> Vec<(String, bool)> {
    regex!(r"(?i)\b(not )?(includ|exclud)(?:e|es|ed|ing)\s+(?:the |any |all )?([\p{L}-]+)")
        .captures_iter(text)
        .map(|found| {
            let includes = found[2].eq_ignore_ascii_case("includ") != found.get(1).is_some();
            (stem(&found[3].to_lowercase()), includes)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_with_their_bound_and_unit() {
        fn check(text: &str, bound: Bound, value: f64, unit: &str) {
            let found = quantities(text);
            let got: Vec<_> = found.iter().map(|q| (q.bound, q.value, q.unit.as_str())).collect();
            assert_eq!(got, [(bound, value, unit)], "{text}");
        }
        check("at least 45.00", Bound::AtLeast, 45.0, "");
        check("45.00 or more", Bound::AtLeast, 45.0, "");
        check("more than 5 %", Bound::MoreThan, 5.0, "%");
        check("may not exceed 1,000 EUR", Bound::AtMost, 1000.0, "eur");
        check("within thirty days", Bound::AtMost, 30.0, "day");
        check("no fewer than 2 weeks", Bound::AtLeast, 14.0, "day");
        check("see section 4: below $20", Bound::LessThan, 20.0, "usd");
        check("since 2019 it is 3", Bound::Exactly, 3.0, "");
        check("ends on 31 January", Bound::Exactly, 31.0, "januari");
    }

    #[test]
    fn sentences_disagree_when_their_numbers_cannot_both_hold() {
        fn check(a: &str, b: &str, expected: bool) {
            assert_eq!(disagree(a, b), expected, "{a} | {b}");
            assert_eq!(disagree(b, a), expected, "{b} | {a}");
        }
        check("spends at least 45.00", "spends 45 or more", false);
        check("spends at least 45.00", "spends at least 100", true);
        check("spends at least 45", "spends more than 45", true);
        check("no order for 12 months", "no order for a year", false);
        check("no order for 12 months", "no order for 1 year", false);
        check("45 in total", "45 in total or 10 orders", false);
        check("who spends a lot", "who spends 45", false);
        check("revenue including shipping", "revenue, excluding shipping", true);
        check("10 days", "10 working days", true);
    }
}
