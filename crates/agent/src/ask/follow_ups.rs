//! Follow-up questions: the last lines of an answer, which are removed from its text.

use super::instructions::NEXT;

/// Maximum number of follow-up questions, and of characters of each.
const MAX_FOLLOW_UPS: usize = 3;
const MAX_FOLLOW_UP_CHARS: usize = 160;

/// Returns the text without its last lines `Next: ...?`, and their questions.
pub(crate) fn split_follow_ups(text: &str) -> (&str, Vec<String>) {
    let mut rest = text.trim_end();
    let mut questions = Vec::new();
    loop {
        let (before, line) = rest.rsplit_once('\n').unwrap_or(("", rest));
        let Some(question) = read_labelled(line, NEXT) else { break };
        questions.push(question);
        rest = before.trim_end();
    }
    let usable = |question: &String| !question.is_empty() && question.chars().count() <= MAX_FOLLOW_UP_CHARS;
    let questions = questions.into_iter().rev().filter(usable).take(MAX_FOLLOW_UPS).collect();
    (rest, questions)
}

/// Parses a line `Label: text`, with or without list markers and emphasis.
pub(super) fn read_labelled(line: &str, label: &str) -> Option<String> {
    let (head, text) = line.trim().trim_start_matches(['-', '*', '>', '_', ' ']).split_once(':')?;
    let is_label = head.trim_matches(['*', '_', ' ']).eq_ignore_ascii_case(label);
    is_label.then(|| text.trim_matches(['*', '_', ' ']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, answer: &str, questions: &[&str]) {
        let (rest, found) = split_follow_ups(text);
        assert_eq!(
            (rest, found.iter().map(String::as_str).collect::<Vec<_>>().as_slice()),
            (answer, questions),
            "{text}"
        );
    }

    #[test]
    fn splits_follow_ups_from_last_lines() {
        check(
            "There are 3 [Q1].\n\nNext: By year?\nNext: By country?\n",
            "There are 3 [Q1].",
            &["By year?", "By country?"],
        );
        check("There are 3 [Q1].\n- **Next:** By year?", "There are 3 [Q1].", &["By year?"]);
        check("Next: the rest [Q1].\nThere are 3 [Q1].", "Next: the rest [Q1].\nThere are 3 [Q1].", &[]);
        check("3 [Q1].\nNext: A?\nNext: B?\nNext: C?\nNext: D?\nNext:", "3 [Q1].", &["A?", "B?", "C?"]);
        check("nothing", "nothing", &[]);
        check("", "", &[]);
    }
}
