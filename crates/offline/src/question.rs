//! Limits the length of questions, and finds possible terms in them.

use prospector_search::Query;
use prospector_text::{periods, stop_words};

/// Returns whether a question exceeds the length limit of search. A truncated question is not answered, since its meaning may change; it is
/// planned, and the plan reports it.
pub(crate) fn is_too_long(question: &str) -> bool {
    Query::fitting(question).len() < question.len()
}

/// Words for parts of a catalog, in English, German, Spanish and French.
const CATALOG: &str = "data|database|databases|table|tables|column|columns|field|fields|query|\
    daten|datenbank|datenbanken|tabellen|spalten|felder|datos|tablas|columnas|campos|données|tables|colonnes|champs";

/// Returns the other words of a question about parts of a catalog: none for `which tables are there?`, `invoices` for `which columns do the
/// invoices have?`. `None` if the question names no such part.
pub(crate) fn find_subject(question: &str) -> Option<Vec<String>> {
    let lower = periods::words(question).into_iter().map(str::to_lowercase);
    let relevant = lower.filter(|word| !stop_words::OF_QUERIES.contains(&word.as_str()));
    let (parts, others): (Vec<String>, Vec<String>) =
        relevant.partition(|word| CATALOG.split('|').any(|known| known == word));
    (!parts.is_empty()).then_some(others)
}

/// Returns the reason for declining a question that is too long.
pub(crate) fn decline_too_long(question: &str) -> String {
    format!(
        "the question has {} characters, and the built-in planner accepts at most {max}. Shorten the question, or \
         use a language model.",
        question.chars().count(),
        max = Query::MAX_CHARS,
    )
}

/// Finds adjacent words that may be a term: `refund rate` of "What was the refund rate in 2025?"
pub(crate) fn find_phrases(question: &str) -> Vec<String> {
    let mut phrases: Vec<Vec<&str>> = vec![Vec::new()];
    for word in periods::words(question) {
        let lower = word.to_lowercase();
        // `average order value` is a term, `how many` is not.
        let ends = stop_words::OF_QUERIES.contains(&lower.as_str()) || lower.chars().any(|c| c.is_ascii_digit());
        match phrases.last_mut() {
            Some(last) if !ends => last.push(word),
            _ if ends => phrases.push(Vec::new()),
            _ => {}
        }
    }
    let is_term = |phrase: &Vec<&str>| {
        let is_short = |word: &&str| word.chars().filter(|c| c.is_uppercase()).count() > 1;
        phrase.len() > 1 || phrase.iter().any(|word| is_short(word) || word.ends_with("ed"))
    };
    // `gross and net revenue`: both terms with their common noun.
    let shared: Vec<String> = (phrases.windows(2))
        .filter(|pair| {
            pair[0].len() == 1 && pair[1].len() == 2 && question.contains(&format!("{} and {}", pair[0][0], pair[1][0]))
        })
        .map(|pair| format!("{} {}", pair[0][0], pair[1][1]))
        .collect();
    let whole = phrases.iter().filter(|phrase| is_term(phrase)).map(|phrase| phrase.join(" "));
    shared.into_iter().chain(whole).filter(|phrase| phrase.len() < question.len()).collect()
}
