//! The questions of a report, read from YAML.

use prospector_core::Problem;
use serde::Deserialize;
use serde_json::Value;

use crate::ReportError;

/// More are not asked.
const MAX_QUESTIONS: usize = 100;

/// What is asked for a report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Questions {
    /// The title of the report.
    pub title: String,
    /// The questions in their order.
    pub asked: Vec<ReportQuestion>,
}

/// A question of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportQuestion {
    /// The question.
    pub question: String,
    /// What stands above its answer; the question itself where it is left out.
    #[serde(default)]
    pub title: Option<String>,
}

/// Reads questions: `title`, and `questions`, each a text or a `question` with a `title`. A wrong entry costs no other.
///
/// # Errors
/// [`ReportError`] where the text is no YAML, or holds no question.
pub fn read_questions(text: &str, place: &str) -> Result<(Questions, Vec<Problem>), ReportError> {
    let unreadable = |reason: String| ReportError::Questions { place: place.to_owned(), reason };
    let file: Value = serde_saphyr::from_str(text).map_err(|error| unreadable(error.to_string()))?;
    let fields = file.as_object().ok_or_else(|| unreadable("it is no list of keys".into()))?;
    let mut problems = Vec::new();
    for key in fields.keys().filter(|key| !["title", "questions"].contains(&key.as_str())) {
        problems.push(Problem::error(format!("{place}: {key}"), "there is no such key; it has title and questions"));
    }
    let title = fields.get("title").and_then(Value::as_str).unwrap_or("Report").to_owned();
    let mut asked = Vec::new();
    for (at, entry) in fields.get("questions").and_then(Value::as_array).into_iter().flatten().enumerate() {
        match read_entry(entry) {
            Ok(one) if asked.len() < MAX_QUESTIONS => asked.push(one),
            Ok(_) => problems.push(Problem::error(
                format!("{place}: question {}", at + 1),
                format!("a report has at most {MAX_QUESTIONS} questions"),
            )),
            Err(reason) => problems.push(Problem::error(format!("{place}: question {}", at + 1), reason.to_string())),
        }
    }
    if asked.is_empty() {
        return Err(ReportError::NoQuestions { place: place.to_owned() });
    }
    Ok((Questions { title, asked }, problems))
}

/// A question that cannot be read.
#[derive(Debug, thiserror::Error)]
enum EntryError {
    #[error("the question is empty")]
    Empty,
    #[error("{0}; an entry is a text, or a `question` with a `title`")]
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
                let told: Vec<String> = problems.iter().map(|one| format!("{} {}", one.place, one.reason)).collect();
                assert!(told.join("\n").contains(problem), "{told:?}");
                assert_eq!(problems.is_empty(), problem.is_empty(), "{told:?}");
            }
            Err(error) => assert!(asked == 0 && error.to_string().contains(problem), "{error}"),
        }
    }

    #[test]
    fn one_wrong_question_costs_no_other() {
        check("questions:\n- How many?\n- {question: By month?, title: Months}\n", 2, "");
        check("questions:\n- How many?\n- {qestion: By month?}\n- \" \"\n", 1, "question 2 unknown field");
        check("questions:\n- How many?\ncolour: red\n", 1, "weekly.yaml: colour");
        check("questions: []\n", 0, "holds no question");
        check("questions: [\n", 0, "cannot read the questions in weekly.yaml");
        check("- How many?\n", 0, "no list of keys");
    }
}
