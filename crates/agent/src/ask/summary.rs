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

/// Rewrites the answer `draft` from the results of the successful queries.
pub(crate) async fn summarize(
    model: &dyn ChatModel,
    question: &str,
    queries: &[DataQuestion],
    draft: &str,
    format: &str,
    output_tokens: u32,
) -> Result<(String, Usage), LlmError> {
    let result = |query: &DataQuestion| {
        let rows: Vec<&Vec<Value>> = query.rows.iter().take(MAX_ROWS).collect();
        json!({"id": query.id, "question": query.question, "sql": query.sql, "columns": query.columns, "rows": rows,
               "has_more": query.has_more})
    };
    let results: Vec<Value> = queries.iter().filter(|query| query.error.is_none()).map(result).collect();
    let short: String = draft.chars().take(MAX_DRAFT_CHARS).collect();
    let data = json!({"results": results, "draft": short}).to_string();
    let text = format!("Question: {question}\n\n{}", as_data(&data));
    let block = |text: &str, cache| SystemBlock { text: text.to_owned(), cache };
    let system = vec![block(SUMMARIZE, false), block(form(), false), block(format, true)];
    ask_model(model, Purpose::Summarize { draft: draft.to_owned() }, system, text, output_tokens).await
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
