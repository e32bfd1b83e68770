//! The two steps after the data: a summary by a model that may be smaller, and follow-up questions.

use prospector_core::mark::as_data;
use prospector_llm::{
    ChatModel, ChatRequest, LlmError, Message,
    message::{SystemBlock, Usage},
    purpose::Purpose,
};
use serde_json::{Value, json};

use super::instructions::{CONDENSE, FOLLOW_UPS, SUMMARIZE, form};
use crate::{answer::DataQuestion, spans};

/// Rows of each result that are summarized.
const MAX_ROWS: usize = 50;
/// Characters of the draft that are shown.
const MAX_DRAFT_CHARS: usize = 4_000;
/// The tokens of a summary of earlier turns.
const MAX_CONDENSED_TOKENS: u32 = 400;
/// Follow-up questions, and characters of each.
const MAX_FOLLOW_UPS: usize = 3;
const MAX_FOLLOW_UP_CHARS: usize = 160;

/// What is summarized.
pub(crate) struct Material<'a> {
    pub(crate) question: &'a str,
    pub(crate) questions: &'a [DataQuestion],
    /// What the first step said.
    pub(crate) draft: &'a str,
}

impl Material<'_> {
    /// The queries that gave rows.
    fn results(&self) -> impl Iterator<Item = &DataQuestion> {
        self.questions.iter().filter(|question| question.error.is_none())
    }

    fn text(&self) -> String {
        let results: Vec<Value> = self
            .results()
            .map(|question| {
                let rows: Vec<&Vec<Value>> = question.rows.iter().take(MAX_ROWS).collect();
                json!({"id": question.id, "question": question.question, "sql": question.sql,
                       "columns": question.columns, "rows": rows, "has_more": question.has_more})
            })
            .collect();
        let draft: String = self.draft.chars().take(MAX_DRAFT_CHARS).collect();
        let data = json!({"results": results, "draft": draft}).to_string();
        format!("Question: {}\n\n{}", self.question, as_data(&data))
    }
}

/// The answer, written anew from the results.
pub(crate) async fn summarize(
    model: &dyn ChatModel,
    material: &Material<'_>,
    format: &str,
    output_tokens: u32,
) -> Result<(String, Usage), LlmError> {
    let block = |text: &str, cache| SystemBlock { text: text.to_owned(), cache };
    let system = vec![block(SUMMARIZE, false), block(form(), false), block(format, true)];
    let purpose = Purpose::Summarize { draft: material.draft.to_owned() };
    ask_model(model, purpose, system, material.text(), output_tokens).await
}

/// The first turns of a conversation in a few words.
pub(crate) async fn condense(model: &dyn ChatModel, turns: &str) -> Result<(String, Usage), LlmError> {
    let system = vec![SystemBlock { text: CONDENSE.to_owned(), cache: true }];
    ask_model(model, Purpose::Unspecified, system, as_data(turns), MAX_CONDENSED_TOKENS).await
}

/// Two or three questions that could be asked next.
pub(crate) async fn suggest_follow_ups(
    model: &dyn ChatModel,
    material: &Material<'_>,
) -> Result<(Vec<String>, Usage), LlmError> {
    let system = vec![SystemBlock { text: FOLLOW_UPS.to_owned(), cache: true }];
    let purpose = Purpose::FollowUps {
        question: material.question.to_owned(),
        answer: material.draft.to_owned(),
        statements: material.results().map(|result| result.sql.clone()).collect(),
    };
    let (text, usage) = ask_model(model, purpose, system, material.text(), 300).await?;
    Ok((parse_questions(&text), usage))
}

async fn ask_model(
    model: &dyn ChatModel,
    purpose: Purpose,
    system: Vec<SystemBlock>,
    text: String,
    max_output_tokens: u32,
) -> Result<(String, Usage), LlmError> {
    let messages = vec![Message::User { text }];
    let request = ChatRequest { purpose, system, messages, tools: Vec::new(), max_output_tokens };
    let response = spans::complete(model, &request).await?;
    Ok((response.text, response.usage))
}

/// The questions of a JSON array among whatever else, or of the lines.
fn parse_questions(text: &str) -> Vec<String> {
    let array = text.find('[').zip(text.rfind(']')).filter(|(begin, end)| begin < end);
    let parsed = array.and_then(|(begin, end)| serde_json::from_str::<Vec<String>>(&text[begin..=end]).ok());
    let found = parsed.unwrap_or_else(|| {
        let lines = text.lines().map(|line| line.trim_start_matches(|c: char| !c.is_alphabetic()).trim());
        lines.filter(|line| line.ends_with('?')).map(str::to_owned).collect()
    });
    let usable = |question: &String| !question.trim().is_empty() && question.chars().count() <= MAX_FOLLOW_UP_CHARS;
    found.into_iter().map(|question| question.trim().to_owned()).filter(usable).take(MAX_FOLLOW_UPS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(parse_questions(text), expected, "{text}");
    }

    #[test]
    fn questions_are_found_in_an_array_or_in_lines() {
        check("[\"By year?\", \"By country?\"]", &["By year?", "By country?"]);
        check("Here:\n```json\n[\"A?\",\"B?\",\"C?\",\"D?\"]\n```", &["A?", "B?", "C?"]);
        check("1. By year?\n2. By country?\nThat is all.", &["By year?", "By country?"]);
        check("nothing", &[]);
    }
}
