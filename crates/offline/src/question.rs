//! Limits the length of questions, and finds possible terms, claims and requests for the previous result in them.

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

/// Words that repeat the previous question, at the start of a question; words that start a change; and words that change nothing.
const REPEATS: &str = "redo|re-do|re-run|rerun|again|repeat|retry";
const CHANGES: &str = "with|without|for|in|by|per|since|before|after|from|but|only|it|that|this";
const UNCHANGED: &str =
    "analysis|question|query|mode|exploratory|auditable|compare|compared|previous|result|results|once";

/// Forms in which every result is shown, and other words of a request for one.
const FORMS: &str = "table|chart|graph|plot|diagram";
const FORM_WORDS: &str = "put|draw|display|visualize|visualise|turn|result|results|rows|data|now|same|instead";

/// Words that refer to a result, and starts of questions about it.
const REFERENCES: &str = "that|those|these|this|them|it|result|results|as|in";
const QUESTIONS: &str = "how|what|which|who|where|when|why|is|are|was|were|do|does|has|have";

fn is_in(list: &str, word: &str) -> bool {
    list.split('|').any(|known| known == word)
}

fn is_stop_word(word: &str) -> bool {
    stop_words::OF_QUERIES.contains(&word)
}

/// Returns the change in a request to repeat the previous question: `for 2024` of `redo for 2024`, nothing of `again, please`. `None` for
/// another question.
pub(crate) fn strip_repeat(question: &str) -> Option<&str> {
    let question = question.trim();
    let starts = |word: &str| question.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let ends = |word: &str| !question[word.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '\'' || c == '’');
    let word = REPEATS.split('|').find(|word| starts(word) && ends(word))?;
    let change = question[word.len()..].trim_matches([' ', ',', ';', ':', '.', '!', '?']);
    let lower = change.to_lowercase();
    let words = periods::words(&lower);
    if words.iter().all(|word| is_stop_word(word) || is_in(UNCHANGED, word)) {
        return Some("");
    }
    // `Repeat customers by month` is another question.
    words.first().is_some_and(|first| is_in(CHANGES, first)).then_some(change)
}

/// Starts of questions for a proof, the longest first; verbs before a claimed number.
const PROOFS: &str = "what is the derivation of |show me the derivation of |show the derivation of |is it true that |\
    it is true that |prove that |verify that |prove |verify ";
const EQUALS: &str = "is|was|are|were|equals|equaled|equalled";

/// Returns the question that a claim answers, without the claimed number: `gross revenue in 2025` of `prove that gross revenue was 9,657.77 in
/// 2025`. `None` for another question.
pub(crate) fn strip_claim(question: &str) -> Option<String> {
    let question = question.trim().trim_end_matches(['?', '.', '!', ' ']);
    let starts = |lead: &&str| question.get(..lead.len()).is_some_and(|start| start.eq_ignore_ascii_case(lead));
    let lead = PROOFS.split('|').find(starts)?;
    let claim = question[lead.len()..].trim();
    let words: Vec<&str> = claim.split_whitespace().collect();
    let equals = |pair: &[&str]| is_in(EQUALS, &pair[0].to_lowercase()) && is_amount(pair[1]);
    let Some(at) = words.windows(2).position(equals) else {
        return lead.contains("derivation").then(|| claim.to_owned());
    };
    let (before, after) = (words[..at].join(" "), words[at + 2..].join(" "));
    match before.to_lowercase().as_str() {
        "" => None,
        "there" => Some(format!("how many {after}")),
        _ => Some(format!("{before} {after}").trim().to_owned()),
    }
}

/// Returns whether a word is a number, perhaps with a currency or percent sign.
fn is_amount(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || ",.$€£%".contains(c))
}

/// Returns whether a question only asks for the previous result in another form: `put that in a table`, `as a chart`.
pub(crate) fn is_new_form(question: &str) -> bool {
    let lower = question.to_lowercase();
    let words = periods::words(&lower);
    words.first().is_some_and(|first| !is_in(QUESTIONS, first))
        && words.iter().any(|word| is_in(FORMS, word))
        && words.iter().any(|word| is_in(REFERENCES, word))
        && words.iter().all(|word| is_stop_word(word) || is_in(FORMS, word) || is_in(FORM_WORDS, word))
}

/// Properties of the user that no catalog contains.
const PERSONAL: &str = "age|birthday|weight|height|budget|income|taste|preference|preferences";

/// Returns whether a question refers to a property of the user: `my age`.
pub(crate) fn names_personal_value(question: &str) -> bool {
    let lower = question.to_lowercase();
    periods::words(&lower).windows(2).any(|pair| pair[0] == "my" && is_in(PERSONAL, pair[1]))
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
            ("redo, but only for 2024", Some("but only for 2024")),
            ("Repeat customers by month", None),
            ("Against whom?", None),
            ("How many again?", None),
        ] {
            assert_eq!(strip_repeat(question), change, "{question}");
        }
    }

    #[test]
    fn a_claim_becomes_a_question() {
        for (claim, question) in [
            ("Prove that gross revenue in 2025 was 9657.77", Some("gross revenue in 2025")),
            ("Is it true that gross revenue was $9,657.77 in 2025?", Some("gross revenue in 2025")),
            ("verify that there are 720 customers in Germany.", Some("how many customers in Germany")),
            ("What is the derivation of net revenue?", Some("net revenue")),
            ("Is it true that refunds rose in 2024?", None),
            ("Prove that VIP customers spend more", None),
        ] {
            assert_eq!(strip_claim(claim).as_deref(), question, "{claim}");
        }
    }

    #[test]
    fn only_properties_of_the_user_are_personal() {
        assert!(names_personal_value("What will my pension be at my age?"));
        assert!(names_personal_value("Which records suit My Taste?"));
        assert!(!names_personal_value("What is my balance?"));
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
