//! Where a word of a question stands: where it says what the question is about, as `tenants` in `which tenants`, or where something is
//! only done, as `wrote` in `who wrote`.

use prospector_text::stem;

/// What a verb follows, and no noun.
const BEFORE_VERBS: [&str; 15] =
    ["i", "we", "you", "they", "he", "she", "it", "who", "that", "to", "not", "never", "also", "ever", "often"];

/// What stands before a question's subject where its verb follows that: `did people spend`.
const AUXILIARIES: [&str; 10] = ["do", "does", "did", "will", "would", "can", "could", "should", "may", "might"];

/// What only a noun or a quality follows, also one that looks like a verb: `the included tax`, `were disputed`.
const BEFORE_SUBJECTS: [&str; 32] = [
    "a", "an", "the", "our", "my", "your", "their", "its", "these", "those", "all", "any", "each", "every", "which",
    "what", "whose", "many", "much", "of", "in", "by", "per", "for", "from", "with", "without", "is", "are", "was",
    "were", "be",
];

const TIMES: [&str; 10] = ["day", "days", "week", "weeks", "month", "months", "quarter", "quarters", "year", "years"];

/// Words for anybody and anything, which name nothing that a source would be called by.
const ANYBODY: [&str; 8] = ["people", "person", "persons", "folks", "guys", "thing", "things", "stuff"];

/// Whether a word in its place among others, all in lower case, says what a question is about.
pub(super) fn is_subject(lower: &[String], at: usize) -> bool {
    let word = |back: usize| at.checked_sub(back).map_or("", |place| lower[place].as_str());
    let before = word(1);
    if ANYBODY.contains(&word(0)) || is_supposed(lower, at) || is_of_time(lower, at) {
        return false;
    }
    let follows_time = TIMES.contains(&before) && !BEFORE_SUBJECTS.contains(&word(0));
    let follows_subject = AUXILIARIES.contains(&word(2)) && !BEFORE_SUBJECTS.contains(&before)
        || AUXILIARIES.contains(&word(3)) && BEFORE_SUBJECTS.contains(&word(2));
    let is_done = (stem::is_past(word(0)) || word(0).ends_with("ly")) && !BEFORE_SUBJECTS.contains(&before);
    !(BEFORE_VERBS.contains(&before) || follows_time || follows_subject || is_done)
}

/// What an answer is to do if there is something, which there need not be: `if there's a tie`, `in case of ties`.
fn is_supposed(lower: &[String], at: usize) -> bool {
    // `Tell me if there are ..` asks whether there are.
    const ASKING: [&str; 9] = ["me", "us", "know", "check", "see", "out", "tell", "find", "say"];
    (at.saturating_sub(4)..at).any(|place| {
        let next = lower[place + 1].as_str();
        let is_asked = place > 0 && ASKING.contains(&lower[place - 1].as_str());
        lower[place] == "if" && next.starts_with("there") && !is_asked || lower[place] == "case" && next == "of"
    })
}

/// Whether a word is a place in a time: the `end` of the year.
fn is_of_time(lower: &[String], at: usize) -> bool {
    const PLACES: [&str; 7] = ["begin", "beginning", "start", "middle", "end", "close", "turn"];
    let word = |on: usize| lower.get(at + on).map(String::as_str).unwrap_or_default();
    let is_time = |word: &str| TIMES.contains(&word) || prospector_text::periods::find(word).len() == 1;
    PLACES.contains(&word(0)) && word(1) == "of" && (is_time(word(2)) || word(2) == "the" && is_time(word(3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(question: &str) -> Vec<String> {
        let lower: Vec<String> = prospector_text::periods::words(question).into_iter().map(str::to_lowercase).collect();
        (0..lower.len()).filter(|at| is_subject(&lower, *at)).map(|at| lower[at].clone()).collect()
    }

    #[test]
    fn what_a_question_is_about_is_told_from_what_is_only_done() {
        let has = |question: &str, word: &str| list(question).iter().any(|subject| subject == word);
        for (question, word) in [
            ("How many days pass between sign-up and order?", "pass"),
            ("On which day did customers spend the most?", "spend"),
            ("On which day did people spend the most?", "people"),
            ("Who wrote the most reviews?", "wrote"),
            ("Where do our agents sit?", "sit"),
            ("Which album has the most reviews? If there's a tie, name all", "tie"),
            ("The best albums, in case of ties all", "ties"),
            ("Orders at the end of 2025", "end"),
            ("Who ordered again a year later?", "later"),
            ("Orders with what customers wrote, tax included", "included"),
        ] {
            assert!(!has(question, word), "{question}");
        }
        for (question, word) in [
            ("Which tenants pay the rent?", "tenants"),
            ("Average temperature by month", "temperature"),
            ("How many competitors do we have?", "competitors"),
            ("Which invoices were disputed?", "disputed"),
            ("What did competitors charge?", "competitors"),
            ("Tell me if there are flights", "flights"),
            ("The end of each contract", "end"),
            ("The tenants of 2025", "tenants"),
        ] {
            assert!(has(question, word), "{question}");
        }
    }
}
