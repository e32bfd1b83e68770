//! The user's choices: which proposed pairs match, and whether a recipe may run over all rows.
//!
//! A choice is exactly `yes` or `no`, for pairs followed by their ids. No other wording, in any language, confirms anything.

use std::collections::BTreeMap;

/// The user's choices for the proposed pairs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// Ids of the matching pairs.
    pub(crate) confirmed: Vec<String>,
    /// Ids of the other pairs.
    pub(crate) rejected: Vec<String>,
}

/// The user's choice for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approval {
    /// `yes`.
    Given,
    /// `no`.
    Refused,
    /// Anything else.
    Unclear,
}

/// Returns which of the pairs `ids` the user confirmed and rejected in these messages, oldest first; a later choice for a pair replaces an
/// earlier one. `None` if the last message is not a choice. A message that is not a choice withdraws earlier choices, since it may
/// contradict them.
pub(crate) fn read_judgement(said: &[String], ids: &[&str]) -> Option<Judgement> {
    let read: Vec<Option<Choice<'_>>> = said.iter().map(|text| read_choice(text, ids)).collect();
    let begin = read.iter().rposition(Option::is_none).map_or(0, |at| at + 1);
    let choices: Vec<Choice<'_>> = read.into_iter().skip(begin).flatten().collect();
    if choices.is_empty() {
        return None;
    }
    let mut state: BTreeMap<&str, bool> = BTreeMap::new();
    for choice in choices {
        if let Some(is_right) = choice.rest {
            state.extend(ids.iter().map(|id| (*id, is_right)));
        }
        state.extend(choice.pairs);
    }
    let select = |wanted: bool| -> Vec<String> {
        ids.iter().filter(|id| state.get(*id) == Some(&wanted)).map(|id| (*id).to_owned()).collect()
    };
    Some(Judgement { confirmed: select(true), rejected: select(false) })
}

/// Returns whether the user approves the run; only a message that is exactly `yes` does.
pub(crate) fn read_approval(text: &str) -> Approval {
    match read_answer(text.trim()) {
        Some(true) => Approval::Given,
        Some(false) => Approval::Refused,
        None => Approval::Unclear,
    }
}

/// A message that is a choice of pairs.
struct Choice<'a> {
    /// The pairs named, and whether they match.
    pairs: BTreeMap<&'a str, bool>,
    /// The choice for all other pairs: a line with only `yes` or `no`.
    rest: Option<bool>,
}

/// Parses `yes` or `no`, ignoring case.
fn read_answer(word: &str) -> Option<bool> {
    match word {
        word if word.eq_ignore_ascii_case("yes") => Some(true),
        word if word.eq_ignore_ascii_case("no") => Some(false),
        _ => None,
    }
}

/// Parses a message of lines such as `yes p1 p2` and `no p3`. `None` if a line is anything else, names a pair that was not shown, or
/// contradicts another one.
fn read_choice<'a>(text: &str, ids: &[&'a str]) -> Option<Choice<'a>> {
    let mut choice = Choice { pairs: BTreeMap::new(), rest: None };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (word, names) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let is_right = read_answer(word)?;
        let mut names = names.split(|c: char| c.is_whitespace() || c == ',').filter(|name| !name.is_empty()).peekable();
        if names.peek().is_none() && choice.rest.replace(is_right).is_some_and(|before| before != is_right) {
            return None;
        }
        for name in names {
            let id = ids.iter().find(|id| id.eq_ignore_ascii_case(name))?;
            if choice.pairs.insert(*id, is_right).is_some_and(|before| before != is_right) {
                return None;
            }
        }
    }
    (choice.rest.is_some() || !choice.pairs.is_empty()).then_some(choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 4] = ["p1", "p2", "p3", "p4"];

    /// Confirmed and rejected pairs; `-` if the last message is not a choice.
    fn read(said: &[&str]) -> String {
        let said: Vec<String> = said.iter().map(|text| (*text).to_owned()).collect();
        read_judgement(&said, &IDS).map_or_else(
            || "-".to_owned(),
            |judgement| format!("{} | {}", judgement.confirmed.join(" "), judgement.rejected.join(" ")),
        )
    }

    #[test]
    fn pairs_are_chosen_by_yes_or_no_and_their_ids() {
        for (said, expected) in [
            ("yes", "p1 p2 p3 p4 | "),
            ("  YES\n", "p1 p2 p3 p4 | "),
            ("no", " | p1 p2 p3 p4"),
            ("yes p1 p2", "p1 p2 | "),
            ("Yes p1, P3", "p1 p3 | "),
            ("no p3", " | p3"),
            ("yes p1 p2\nno p3", "p1 p2 | p3"),
            ("yes p1\r\n\r\n  no p3 p4 ", "p1 | p3 p4"),
            // A line without ids applies to the pairs that no other line names.
            ("yes\nno p3", "p1 p2 p4 | p3"),
            ("no p3\nyes", "p1 p2 p4 | p3"),
        ] {
            assert_eq!(read(&[said]), expected, "{said}");
        }
    }

    #[test]
    fn any_other_message_is_not_a_choice_of_pairs() {
        for said in [
            "",
            "all",
            "all of them are right",
            "p1, p2 and p3",
            "yes to all",
            "yes, p1",
            "yes!",
            "yes p9",
            "yes p1 to p3",
            "yes p1 and p2",
            "yes p1\nno p1",
            "yes\nno",
            "yes p1\nI am not sure of p2",
            "not p1",
            "y",
            "ok",
            "ja",
            "oui p1",
            "none",
            "yesterday",
            "What is p?",
        ] {
            assert_eq!(read(&[said]), "-", "{said}");
        }
    }

    #[test]
    fn a_later_choice_replaces_an_earlier_one_and_other_messages_withdraw_it() {
        let cases: [(&[&str], &str); 7] = [
            (&["yes p1 p2", "yes p3"], "p1 p2 p3 | "),
            (&["yes", "no p2"], "p1 p3 p4 | p2"),
            (&["no p2", "yes"], "p1 p2 p3 p4 | "),
            (&["yes", "wait, p2 is wrong"], "-"),
            (&["yes", "wait, p2 is wrong", "yes p1"], "p1 | "),
            (&["which are these?", "yes p1"], "p1 | "),
            (&[], "-"),
        ];
        for (said, expected) in cases {
            assert_eq!(read(said), expected, "{said:?}");
        }
    }

    #[test]
    fn only_yes_alone_lets_a_recipe_run() {
        for (said, expected) in [
            ("yes", Approval::Given),
            (" Yes \n", Approval::Given),
            ("YES", Approval::Given),
            ("no", Approval::Refused),
            ("NO\n", Approval::Refused),
            ("Yes, run it.", Approval::Unclear),
            ("yes please", Approval::Unclear),
            ("yes p1", Approval::Unclear),
            ("yes\nno", Approval::Unclear),
            ("yes\nyes", Approval::Unclear),
            ("yes.", Approval::Unclear),
            ("go ahead", Approval::Unclear),
            ("ok", Approval::Unclear),
            ("ja", Approval::Unclear),
            ("si", Approval::Unclear),
            ("NO, do not run it, stop", Approval::Unclear),
            ("don’t run it yet", Approval::Unclear),
            ("what would it cost?", Approval::Unclear),
            ("", Approval::Unclear),
            ("yesterday", Approval::Unclear),
        ] {
            assert_eq!(read_approval(said), expected, "{said}");
        }
    }
}
