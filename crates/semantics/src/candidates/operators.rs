//! Operators: what the words of a question do with rows, defined by a table of example phrases.

/// What a phrase does with the rows or groups that a question names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operator {
    Count,
    Distinct,
    Sum,
    Average,
    Most,
    Least,
    Latest,
    Earliest,
    /// When something happened: a date instead of rows.
    When,
    By,
    Which,
    Without,
    Share,
    Trend,
    Compare,
    List,
    More,
    AtLeast,
    Less,
    AtMost,
    Between,
    Or,
    /// A follow-up question.
    Again,
}

impl Operator {
    /// Returns whether it compares values with a number.
    pub(super) fn compares(self) -> bool {
        matches!(self, Operator::More | Operator::AtLeast | Operator::Less | Operator::AtMost | Operator::Between)
    }

    /// Returns whether it is an aggregate.
    pub(super) fn computes(self) -> bool {
        matches!(
            self,
            Operator::Count
                | Operator::Distinct
                | Operator::Sum
                | Operator::Average
                | Operator::Most
                | Operator::Least
                | Operator::By
                | Operator::Share
                | Operator::Trend
                | Operator::Compare
                | Operator::More
                | Operator::AtLeast
                | Operator::Less
                | Operator::AtMost
        )
    }
}

/// Example phrases in English, German, Spanish and French, separated by `|`. The longest match is used.
const EXAMPLES: &[(Operator, &str)] = &[
    (
        Operator::Count,
        "how many|number of|count|count of|counts|the number|wie viele|anzahl|anzahl der|zahl der|\
         cuántos|cuántas|cuantos|cuantas|número de|numero de|combien de|combien d|nombre de|nombre d",
    ),
    (Operator::Distinct, "different|distinct|unique|verschiedene|distintos|distintas|différents"),
    (
        Operator::Sum,
        "total|sum|sum of|overall|altogether|in total|how much|summe|gesamt|insgesamt|wie viel|suma|cuánto|\
         cuanto|somme|combien",
    ),
    (
        Operator::Average,
        "average|mean|on average|avg|typical|typically|durchschnittlich|durchschnitt|im durchschnitt|\
         promedio|media|moyenne|moyen|en moyenne",
    ),
    (
        Operator::Most,
        "most|top|highest|largest|biggest|greatest|maximum|max|best|most often|most common|most frequent|most popular|meisten|höchste|höchsten|\
         größte|más|mayor|plus|plus grand|meilleurs",
    ),
    (
        Operator::Least,
        "least|fewest|lowest|smallest|minimum|min|bottom|worst|wenigsten|niedrigste|kleinste|menos|menor|\
         moins",
    ),
    (Operator::Latest, "latest|last|newest|most recent|recent|letzte|neueste|último|dernier"),
    (Operator::Earliest, "earliest|first|oldest|erste|älteste|primer|primero|premier"),
    (Operator::When, "when|what day|which day|wann|cuándo|quand"),
    (
        Operator::By,
        "by|per|each|every|for each|for every|in each|in every|split by|broken down by|grouped by|pro|nach|\
         je|por|por cada|par|pour chaque",
    ),
    (Operator::Which, "which|what|who|whose|welche|welcher|welches|wer|qué|cuál|quién|quel|quels|qui"),
    (
        Operator::Without,
        "without|never|no|not|not in|have no|has no|with no|who never|haven't|hasn't|didn't|did not|do not|\
         don't|does not|have not|has not|have never|has never|not a single|except|excluding|ohne|nie|nicht|\
         kein|keine|sin|nunca|sans|jamais|ne pas",
    ),
    (
        Operator::Share,
        "share|share of|rate|percentage|percentage of|percent|percent of|proportion of|fraction of|what part of|\
         anteil|prozent|porcentaje|pourcentage",
    ),
    (Operator::Trend, "trend|trends|over time|develop|developed|evolve|evolution|development|entwicklung"),
    (Operator::Compare, "compare|compared|compared with|compared to|versus|vs|comparison"),
    (Operator::List, "list|show|display|names of|liste|zeige|lista|muestra|montre|affiche"),
    (Operator::More, "more than|greater than|higher than|over|above|longer than|mehr als|más de|plus de"),
    (Operator::AtLeast, "at least|or more|minimum of|mindestens|al menos|au moins"),
    (Operator::Less, "less than|fewer than|lower than|under|below|shorter than|weniger als|menos de|moins de"),
    (Operator::AtMost, "at most|or less|or fewer|up to|höchstens|como máximo|au plus"),
    (Operator::Between, "between|zwischen|entre"),
    (Operator::Or, "or|oder|o|ou"),
    (
        Operator::Again,
        "only|same|the same|what about|how about|and what about|and only|instead|nur|dasselbe|solo|lo mismo|seulement|le même",
    ),
];

/// Adjectives of a measure, their superlatives, whether those ask for the maximum, and the stems of column names with that measure.
const DEGREES: &[(&str, &str, bool, &str)] = &[
    ("long", "longest", true, "length durat runtim minut distanc"),
    ("short", "shortest", false, "length durat runtim minut distanc"),
    ("tall", "tallest", true, "height"),
    ("heavy", "heaviest", true, "weight mass"),
    ("light", "lightest", false, "weight mass"),
    ("expensive", "priciest", true, "price cost"),
    ("cheap", "cheapest", false, "price cost"),
    ("fast", "fastest", true, "speed"),
    ("slow", "slowest", false, "speed"),
    ("far", "farthest", true, "distanc"),
    ("near", "nearest", false, "distanc"),
    ("hot", "hottest", true, "temperatur temp"),
    ("warm", "warmest", true, "temperatur temp"),
    ("cold", "coldest", false, "temperatur temp"),
    ("wet", "wettest", true, "precipit rainfal rain"),
    ("dry", "driest", false, "precipit rainfal rain"),
    ("windy", "windiest", true, "wind"),
    ("deep", "deepest", true, "depth"),
    ("populous", "", true, "popul"),
    ("old", "", true, "age"),
    ("young", "youngest", false, "age"),
    ("paid", "", true, "salari wage"),
    ("money", "", true, "amount payment revenu"),
    ("spend", "", true, "amount payment"),
    ("spent", "", true, "amount payment"),
];

/// Expands superlatives of measures to two words, `highest long` for `longest`, and puts comparisons behind their measure: `heavy more than`
/// for `heavier than`, `expensive less than` for `less expensive than`. Each word is followed by its spelling in the question.
pub(super) fn expand(question: &str) -> Vec<(String, &str)> {
    let mut words: Vec<(String, &str)> = question.split(' ').map(|word| (word.to_owned(), word)).collect();
    for (word, _) in &mut words {
        let letters = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let known = DEGREES.iter().find(|(_, superlative, ..)| letters.eq_ignore_ascii_case(superlative));
        if let Some((adjective, _, is_most, _)) = known.filter(|_| !letters.is_empty()) {
            let end = &word[letters.len()..];
            *word = format!("{} {adjective}{end}", if *is_most { "highest" } else { "lowest" });
        }
    }
    for at in 1..words.len() {
        if !words[at].0.eq_ignore_ascii_case("than") {
            continue;
        }
        let said = words[at - 1].0.to_lowercase();
        let is_comparative = |adjective: &str, superlative: &str| {
            let stem = said.strip_suffix("er");
            stem.is_some() && (stem == Some(adjective) || stem == superlative.strip_suffix("est"))
        };
        let known = DEGREES.iter().find(|(adjective, superlative, ..)| is_comparative(adjective, superlative));
        let is_graded = |word: &str| word.eq_ignore_ascii_case("more") || word.eq_ignore_ascii_case("less");
        if let Some((adjective, _, is_most, _)) = known.filter(|_| find(&[said.as_str(), "than"]).is_none()) {
            words[at - 1].0 = format!("{adjective} {}", if *is_most { "more" } else { "less" });
        } else if at > 1 && is_graded(&words[at - 2].0) && !measured_by(&said).is_empty() {
            words.swap(at - 2, at - 1);
        }
    }
    words
}

/// Returns the stems of column names that an adjective refers to.
pub(super) fn measured_by(adjective: &str) -> Vec<&'static str> {
    let known = DEGREES.iter().filter(|(own, ..)| *own == adjective);
    known.flat_map(|(.., nouns)| nouns.split(' ')).collect()
}

/// Prefixes of opposites, and opposites without one. Values stored in a table precede them.
const NEGATING_PREFIXES: [&str; 3] = ["un", "in", "non"];
const OPPOSITES: &[(&str, &str)] =
    &[("closed", "open"), ("closed", "offen"), ("closed", "abierto"), ("closed", "ouvert")];

/// Returns the opposites of a participle: `unpaid` of `paid`, `open` of `closed`.
pub(super) fn list_opposites(word: &str) -> Vec<String> {
    let prefixed = NEGATING_PREFIXES.iter().map(|prefix| format!("{prefix}{word}"));
    let others = OPPOSITES.iter().filter(|(own, _)| *own == word).map(|(_, opposite)| (*opposite).to_owned());
    prefixed.chain(others).collect()
}

/// Returns whether a superlative is one of number: `the most bills` are not the largest.
pub(super) fn is_quantifier(word: &str) -> bool {
    QUANTIFIERS.split('|').any(|known| known == word)
}

const QUANTIFIERS: &str = "most|least|fewest|meisten|wenigsten|más|menos|plus|moins";

/// Words that join parts of one role.
pub(super) const AND: [&str; 5] = ["and", "und", "y", "et", "&"];

/// Returns the operator that starts here, and its number of words.
pub(super) fn find(words: &[&str]) -> Option<(Operator, usize)> {
    let mut best: Option<(Operator, usize)> = None;
    for (operator, examples) in EXAMPLES {
        for example in examples.split('|') {
            let length = example.split(' ').count();
            let is_here = length <= words.len() && example.split(' ').eq(words[..length].iter().copied());
            if is_here && best.is_none_or(|(_, known)| known < length) {
                best = Some((*operator, length));
            }
        }
    }
    best
}

/// Returns whether a word names an aggregate, as the last one of `temp_max` does.
pub(super) fn names_aggregate(word: &str) -> bool {
    matches!(find(&[word]), Some((Operator::Sum | Operator::Average | Operator::Most | Operator::Least, _)))
}

/// Returns the inclusive bound that `or` and a comparison start, and its number of words: `or higher`, `or above`.
pub(super) fn find_bound(words: &[&str]) -> Option<(Operator, usize)> {
    let (first, second) = (words.get(..1)?, words.get(1)?);
    let begins = |wanted: Operator| {
        let mut examples =
            EXAMPLES.iter().filter(|(operator, _)| *operator == wanted).flat_map(|(_, all)| all.split('|'));
        examples.any(|example| example.split(' ').next() == Some(*second))
    };
    match find(first) {
        Some((Operator::Or, _)) if begins(Operator::More) => Some((Operator::AtLeast, 2)),
        Some((Operator::Or, _)) if begins(Operator::Less) => Some((Operator::AtMost, 2)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expands_superlatives_of_measures() {
        let expand = |question| expand(question).into_iter().map(|(word, _)| word).collect::<Vec<_>>().join(" ");
        assert_eq!(expand("Which are the 5 longest films?"), "Which are the 5 highest long films?");
        assert_eq!(expand("the cheapest, please"), "the lowest cheap, please");
        assert_eq!(expand("cars heavier than 5000"), "cars heavy more than 5000");
        assert_eq!(expand("wines less expensive than 50"), "wines expensive less than 50");
        assert_eq!(expand("films longer than 90 minutes"), "films longer than 90 minutes");
        assert_eq!(measured_by("cheap"), ["price", "cost"]);
    }

    #[test]
    fn prefers_the_longest_phrase() {
        assert_eq!(find(&["most", "recent", "orders"]), Some((Operator::Latest, 2)));
        assert_eq!(find(&["most", "orders"]), Some((Operator::Most, 1)));
        assert_eq!(find(&["wie", "viele", "kunden"]), Some((Operator::Count, 2)));
        assert_eq!(find(&["customers"]), None);
        assert_eq!(find_bound(&["or", "higher"]), Some((Operator::AtLeast, 2)));
        assert_eq!(find_bound(&["or", "below", "it"]), Some((Operator::AtMost, 2)));
        assert_eq!(find_bound(&["or", "customers"]), None);
    }
}
