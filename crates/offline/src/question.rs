//! Limits the length of questions, and finds possible terms and requests for the previous result in them.

use prospector_llm::purpose::strip_redo;
use prospector_search::Query;
use prospector_text::{periods, stop_words};

/// Returns whether a question exceeds the length limit of search. A truncated question is not answered, since its meaning may change; it is
/// planned, and the plan reports it.
pub(crate) fn is_too_long(question: &str) -> bool {
    Query::fitting(question).len() < question.len()
}

/// Words for parts of a catalog, in English, German, Spanish and French.
const CATALOG: &str = "data|information|database|databases|table|tables|column|columns|field|fields|query|\
    daten|datenbank|datenbanken|tabellen|spalten|felder|datos|tablas|columnas|campos|données|tables|colonnes|champs";

/// Returns the other words of a question about parts of a catalog: none for `which tables are there?`, `invoices` for `which columns do the
/// invoices have?`. `None` if the question names no such part.
pub(crate) fn find_subject(question: &str) -> Option<Vec<String>> {
    let lower = periods::words(question).into_iter().map(str::to_lowercase);
    let is_stop = |word: &str| stop_words::OF_QUERIES.contains(&word) || stop_words::OF_TERMS.contains(&word);
    let relevant = lower.filter(|word| !is_stop(word));
    let (parts, others): (Vec<String>, Vec<String>) = relevant.partition(|word| is_in(CATALOG, word));
    (!parts.is_empty()).then_some(others)
}

/// Words of a repetition that change nothing.
const UNCHANGED: &str = "analysis|question|query|mode|exploratory|auditable|compare|compared|previous|result|results";

/// Forms in which every result is shown, and other words of a request for one.
const FORMS: &str = "table|chart|graph|plot|diagram";
const FORM_WORDS: &str = "put|draw|display|visualize|visualise|turn|result|results|rows|data|now|same|instead";

/// Returns the rest of a request to repeat the previous question: `for 2024` of `redo, for 2024`, nothing of `again, please`.
pub(crate) fn strip_repeat(question: &str) -> Option<&str> {
    strip_redo(question).map(|rest| if has_only(rest, &[UNCHANGED]) { "" } else { rest })
}

/// Returns whether a question only asks for the previous result in another form: `put that in a table`, `as a chart`.
pub(crate) fn is_new_form(question: &str) -> bool {
    let lower = question.to_lowercase();
    !lower.ends_with('?')
        && periods::words(&lower).into_iter().any(|word| is_in(FORMS, word))
        && has_only(question, &[FORMS, FORM_WORDS])
}

/// Returns whether all words of a text are stop words or in one of these lists.
fn has_only(text: &str, lists: &[&str]) -> bool {
    let is_known = |word: &str| lists.iter().any(|list| is_in(list, word));
    periods::words(&text.to_lowercase())
        .into_iter()
        .all(|word| stop_words::OF_QUERIES.contains(&word) || is_known(word))
}

fn is_in(list: &str, word: &str) -> bool {
    list.split('|').any(|known| known == word)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_has_the_rest_as_its_change() {
        for (question, change) in [
            ("redo", Some("")),
            ("Again, please.", Some("")),
            ("redo in exploratory mode", Some("")),
            ("rerun and compare to previous", Some("")),
            ("redo, only for 2024", Some("only for 2024")),
            ("Repeat customers by month", Some("customers by month")),
            ("Against whom?", None),
            ("How many again?", None),
        ] {
            assert_eq!(strip_repeat(question), change, "{question}");
        }
    }

    #[test]
    fn a_new_form_names_nothing_else() {
        for question in ["put the results in a table", "as a chart", "Show that as a graph, please", "plot it"] {
            assert!(is_new_form(question), "{question}");
        }
        for question in
            ["which tables are there?", "what is in this table?", "show revenue in a table", "as a pie chart"]
        {
            assert!(!is_new_form(question), "{question}");
        }
    }
}
