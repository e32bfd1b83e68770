//! Parses the questions of a report from YAML.

use prospector_core::Problem;
use serde::Deserialize;
use serde_json::Value;

use crate::ReportError;

/// Maximum number of questions.
const MAX_QUESTIONS: usize = 100;

/// The questions of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Questions {
    /// The title of the report.
    pub title: String,
    /// The questions, in order.
    pub asked: Vec<ReportQuestion>,
}

/// A question of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportQuestion {
    /// The question.
    pub question: String,
    /// The heading of its answer; defaults to the question.
    #[serde(default)]
    pub title: Option<String>,
}

/// Parses `title` and `questions`, each of which is a text or a `question` with a `title`. An invalid entry does not
/// affect others.
///
/// # Errors
/// [`ReportError`] if the text is not valid YAML, has an unknown key, or contains no questions.
pub fn read_questions(text: &str, place: &str) -> Result<(Questions, Vec<Problem>), ReportError> {
    let unreadable = |reason: String| ReportError::Questions { place: place.to_owned(), reason };
    let file: Value = serde_saphyr::from_str(text).map_err(|error| unreadable(error.to_string()))?;
    let fields = file.as_object().ok_or_else(|| unreadable("it is not a mapping with a list of `questions`".into()))?;
    if let Some(key) = fields.keys().find(|key| !["title", "questions"].contains(&key.as_str())) {
        return Err(unreadable(format!("unknown key `{key}`; expected `title` or `questions`")));
    }
    let mut problems = Vec::new();
    let title = fields.get("title").and_then(Value::as_str).unwrap_or("Report").to_owned();
    let mut asked = Vec::new();
    for (at, entry) in fields.get("questions").and_then(Value::as_array).into_iter().flatten().enumerate() {
        match read_entry(entry) {
            Ok(one) if asked.len() < MAX_QUESTIONS => asked.push(one),
            Ok(_) => problems.push(Problem::error(
                format!("{place}: question {}", at + 1),
                format!("a report is limited to {MAX_QUESTIONS} questions"),
            )),
            Err(reason) => problems.push(Problem::error(format!("{place}: question {}", at + 1), reason.to_string())),
        }
    }
    if asked.is_empty() {
        return Err(ReportError::NoQuestions { place: place.to_owned() });
    }
    Ok((Questions { title, asked }, problems))
}

/// An invalid entry.
#[derive(Debug, thiserror::Error)]
enum EntryError {
    #[error("the question is empty")]
    Empty,
    #[error("{0}; expected a text, or a `question` with a `title`")]
    Fields(serde_json::Error),
}

fn read_entry(entry: &Value) -> Result<ReportQuestion, EntryError> {
    let one = match entry {
        Value::String(question) => ReportQuestion { question: question.clone(), title: None },
        other => serde_json::from_value(other.clone()).map_err(EntryError::Fields)?,
    };
    if one.question.trim().is_empty() { Err(EntryError::Empty) } else { Ok(one) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, asked: usize, problem: &str) {
        match read_questions(text, "weekly.yaml") {
            Ok((questions, problems)) => {
                assert_eq!(questions.asked.len(), asked, "{text}");
                let messages: Vec<String> =
                    problems.iter().map(|one| format!("{} {}", one.place, one.reason)).collect();
                assert!(messages.join("\n").contains(problem), "{messages:?}");
                assert_eq!(problems.is_empty(), problem.is_empty(), "{messages:?}");
            }
            Err(error) => assert!(asked == 0 && error.to_string().contains(problem), "{error}"),
        }
    }

    #[test]
    fn isolates_invalid_questions() {
        check("questions:\n- How many?\n- {question: By month?, title: Months}\n", 2, "");
        check("questions:\n- How many?\n- {qestion: By month?}\n- \" \"\n", 1, "question 2 unknown field");
        check("questions:\n- How many?\ntitel: Week\n", 0, "weekly.yaml: unknown key `titel`");
        check("questions: []\n", 0, "contains no questions");
        check("questions: [\n", 0, "cannot read the questions in weekly.yaml");
        check("- How many?\n", 0, "not a mapping");
    }
}
