//! What the user's own words say: of pairs that they were shown, and of whether to go on.
//!
//! Only plain words count: the ids of pairs (`p3`, `p2 to p5`), `all` and `none`, words of agreement and of refusal. What can
//! be read in two ways confirms nothing.

/// Words that agree.
const YES: [&str; 18] = [
    "yes",
    "y",
    "yep",
    "yeah",
    "ok",
    "okay",
    "right",
    "correct",
    "true",
    "same",
    "good",
    "confirm",
    "confirmed",
    "match",
    "matches",
    "ja",
    "oui",
    "si",
];

/// Words that let something run.
const RUN: [&str; 9] = ["run", "go", "proceed", "approve", "approved", "sure", "start", "continue", "execute"];

/// Words that refuse, beside everything that ends in `n't`.
const NO: [&str; 26] = [
    "no",
    "n",
    "nope",
    "not",
    "never",
    "none",
    "neither",
    "nor",
    "wrong",
    "false",
    "incorrect",
    "different",
    "reject",
    "rejected",
    "unsure",
    "doubt",
    "stop",
    "cancel",
    "abort",
    "quit",
    "wait",
    "later",
    "hold",
    "nein",
    "non",
    "mismatch",
];

/// Words that stand for every pair.
const ALL: [&str; 5] = ["all", "every", "everything", "both", "each"];

/// Words that take what follows out of what was said before.
const EXCEPT: [&str; 5] = ["but", "except", "excepting", "without", "excluding"];

/// What the user said of the pairs that they were shown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// The ids of the pairs that are right.
    pub(crate) confirmed: Vec<String>,
    /// The ids of those that are not.
    pub(crate) rejected: Vec<String>,
}

/// What the user said of going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approval {
    /// They agree.
    Given,
    /// They do not.
    Refused,
    /// Neither can be read.
    Unclear,
}

/// Which of the pairs `ids` the user confirmed and rejected; what was said later counts.
pub(crate) fn read_judgement(said: &[String], ids: &[&str]) -> Judgement {
    let mut judgement = Judgement::default();
    for text in said {
        for sentence in text.split(['.', ';', '!', '?', '\n']) {
            for (id, is_right) in read_sentence(&words(sentence), ids) {
                judgement.confirmed.retain(|known| known != id);
                judgement.rejected.retain(|known| known != id);
                match is_right {
                    true => judgement.confirmed.push(id.to_owned()),
                    false => judgement.rejected.push(id.to_owned()),
                }
            }
        }
    }
    judgement
}

/// Whether the user lets it run. A word of refusal outweighs every other.
pub(crate) fn read_approval(text: &str) -> Approval {
    let words = words(text);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    if words.iter().any(|word| is_refusal(word)) {
        Approval::Refused
    } else if has(&YES) || has(&RUN) {
        Approval::Given
    } else {
        Approval::Unclear
    }
}

/// Lower-case words, and commas.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('’', "'").replace(',', " , ").replace(['-', '–'], " - ");
    let trim = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != ',' && c != '-').to_owned();
    text.split_whitespace().map(trim).filter(|word| !word.is_empty()).collect()
}

fn is_refusal(word: &str) -> bool {
    NO.contains(&word) || word.ends_with("n't")
}

/// What one sentence says of each pair that it names.
fn read_sentence<'a>(words: &[String], ids: &[&'a str]) -> Vec<(&'a str, bool)> {
    let is_id = |word: &String| ids.contains(&word.as_str());
    // `all but p3`, `p1, not p2`: from there on the opposite is said.
    let turns = |at: usize| match words[at].as_str() {
        "not" | "no" => words.get(at + 1).is_some_and(is_id),
        word => EXCEPT.contains(&word),
    };
    let turn = (0..words.len()).find(|at| turns(*at)).unwrap_or(words.len());
    let (first, rest) = words.split_at(turn);
    let mut read = read_clause(first, ids);
    let excepted = find_pairs(rest, ids);
    if excepted.is_empty() && rest.iter().any(|word| ALL.contains(&word.as_str())) {
        // `but not all`: which ones is not said.
        return Vec::new();
    }
    read.retain(|(id, _)| !excepted.contains(id));
    let says = read.first().is_none_or(|(_, is_right)| *is_right);
    read.extend(excepted.into_iter().map(|id| (id, !says)));
    read
}

/// What a clause says of the pairs that it names: that they are right, unless it refuses. Where it does both, each part
/// between commas and `and` speaks for itself, and a list for what follows it.
fn read_clause<'a>(words: &[String], ids: &[&'a str]) -> Vec<(&'a str, bool)> {
    let refuses = |words: &[String]| words.iter().any(|word| is_refusal(word));
    let agrees = |words: &[String]| words.iter().any(|word| YES.contains(&word.as_str()));
    if !(refuses(words) && agrees(words)) {
        return find_pairs(words, ids).into_iter().map(|id| (id, !refuses(words))).collect();
    }
    let parts: Vec<&[String]> = words.split(|word| word == "," || word == "and").collect();
    // `not right` and `right`, not both at once.
    let says = |part: &[String]| match (refuses(part), agrees(part)) {
        (true, _) => Some(false),
        (false, true) => Some(true),
        (false, false) => None,
    };
    let mut read = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        if let Some(is_right) = parts[at..].iter().find_map(|part| says(part)) {
            read.extend(find_pairs(part, ids).into_iter().map(|id| (id, is_right)));
        }
    }
    read
}

/// The pairs that these words name.
fn find_pairs<'a>(words: &[String], ids: &[&'a str]) -> Vec<&'a str> {
    let place = |word: &String| ids.iter().position(|id| id == word);
    let mut places: Vec<usize> = words.iter().filter_map(place).collect();
    for three in words.windows(3) {
        if let (Some(from), "-" | "to" | "through", Some(to)) = (place(&three[0]), three[1].as_str(), place(&three[2]))
        {
            places.extend(from..=to);
        }
    }
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    // `not all` says nothing of any; `none` says it of each.
    if places.is_empty() && (has(&["none", "neither"]) || has(&ALL) && !has(&["not"])) {
        places = (0..ids.len()).collect();
    }
    places.sort_unstable();
    places.dedup();
    places.into_iter().map(|at| ids[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_confirmed_by_the_users_own_words() {
        let ids = ["p1", "p2", "p3", "p4"];
        for (said, confirmed, rejected) in [
            ("all", "p1 p2 p3 p4", ""),
            ("All of them are right.", "p1 p2 p3 p4", ""),
            ("p1, P3", "p1 p3", ""),
            ("p1 to p3 please", "p1 p2 p3", ""),
            ("p2-p4", "p2 p3 p4", ""),
            ("all, not p3", "p1 p2 p4", "p3"),
            ("all but p3 and p4", "p1 p2", "p3 p4"),
            ("everything except p1", "p2 p3 p4", "p1"),
            ("p1, p2 and p3 are wrong", "", "p1 p2 p3"),
            ("p1 and p2 are right, p3 is wrong", "p1 p2", "p3"),
            ("p1 is right, p2 and p3 aren't", "p1", "p2 p3"),
            ("none of them", "", "p1 p2 p3 p4"),
            ("p1 yes. p2 no. p3 yes", "p1 p3", "p2"),
            ("not all", "", ""),
            ("no, none", "", "p1 p2 p3 p4"),
            ("What is p?", "", ""),
            ("yes", "", ""),
            ("p9", "", ""),
            ("p10", "", ""),
            ("p1. No, p1 is wrong", "", "p1"),
        ] {
            let judgement = read_judgement(&[said.to_owned()], &ids);
            assert_eq!(judgement.confirmed.join(" "), confirmed, "{said}");
            assert_eq!(judgement.rejected.join(" "), rejected, "{said}");
        }
        let later = read_judgement(&["all".into(), "p2 is wrong".into()], &ids);
        assert_eq!((later.confirmed.join(" "), later.rejected.join(" ")), ("p1 p3 p4".into(), "p2".into()));
    }

    #[test]
    fn nothing_runs_without_a_word_of_agreement() {
        for (said, expected) in [
            ("yes", Approval::Given),
            ("Yes, run it.", Approval::Given),
            ("go ahead", Approval::Given),
            ("NO, do not run it, stop", Approval::Refused),
            ("don't run it", Approval::Refused),
            ("don’t run it yet", Approval::Refused),
            ("wait", Approval::Refused),
            ("what would it cost?", Approval::Unclear),
            ("", Approval::Unclear),
            ("yesterday", Approval::Unclear),
        ] {
            assert_eq!(read_approval(said), expected, "{said}");
        }
    }
}
