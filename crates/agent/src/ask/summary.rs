//! Model calls outside of the loop: rewriting the answer, possibly with a smaller model, and summarising earlier turns.

use prospector_core::mark::as_data;
use prospector_llm::{
    ChatModel, ChatRequest, LlmError, Message,
    message::{SystemBlock, Usage},
    purpose::Purpose,
};
use serde_json::{Value, json};

use super::instructions::{CONDENSE, SUMMARIZE, form};
use crate::{answer::DataQuestion, spans};

/// Maximum number of rows of each result.
const MAX_ROWS: usize = 50;
/// Maximum number of characters of the draft.
const MAX_DRAFT_CHARS: usize = 4_000;
/// Maximum number of tokens of a summary of earlier turns.
const MAX_CONDENSED_TOKENS: u32 = 400;

/// The input of the summary.
pub(crate) struct Material<'a> {
    pub(crate) question: &'a str,
    pub(crate) questions: &'a [DataQuestion],
    /// The answer of the loop.
    pub(crate) draft: &'a str,
}

impl Material<'_> {
    /// Returns the successful queries.
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

/// Rewrites the answer from the results.
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

/// Summarises the first turns of a conversation.
pub(crate) async fn condense(model: &dyn ChatModel, turns: &str) -> Result<(String, Usage), LlmError> {
    let system = vec![SystemBlock { text: CONDENSE.to_owned(), cache: true }];
    ask_model(model, Purpose::Unspecified, system, as_data(turns), MAX_CONDENSED_TOKENS).await
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
