//! `resolve_fact` and `add_fact`: what a term means.

use std::sync::Arc;

use prospector_core::{Answer, BoxFuture, Callable, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::things::Things;

pub(super) const RESOLVE: &str = "resolve_fact";
pub(super) const ADD: &str = "add_fact";

/// `resolve_fact`
pub(super) struct ResolveFact {
    things: Arc<Things>,
    spec: ToolSpec,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResolveArgs {
    /// A term or a question.
    question: Option<String>,
    /// Instead: a text; shows what it defines.
    text: Option<String>,
}

impl ResolveFact {
    pub(super) fn new(things: &Arc<Things>) -> Self {
        let description = "What a business term means. Call it for each one; ask the user when needs_clarification.";
        ResolveFact { things: things.clone(), spec: ToolSpec::new::<ResolveArgs>(RESOLVE, description) }
    }
}

impl Callable for ResolveFact {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, args: Value, max_tokens: usize) -> BoxFuture<'_, Result<Answer, ToolError>> {
        Box::pin(async move {
            match self.spec.arguments(args)? {
                ResolveArgs { question: None, text: Some(text) } => {
                    self.things.call("extract_facts_from_text", json!({"text": text}), max_tokens).await
                }
                ResolveArgs { question, text: None } => {
                    let question = question.unwrap_or_default();
                    let answer = self.things.call("resolve_fact", json!({"question": question}), max_tokens).await?;
                    Ok(unasked(answer, &question))
                }
                ResolveArgs { question: Some(_), text: Some(_) } => {
                    Err(ToolError::invalid("question and text are two calls", Some("pass one of them".into())))
                }
            }
        })
    }
}

/// The answer without the question, which stands in the call already.
fn unasked(mut answer: Answer, question: &str) -> Answer {
    match answer.value.as_object_mut() {
        Some(fields) if fields.get("question").and_then(Value::as_str) == Some(question) && fields.len() > 1 => {
            fields.shift_remove("question");
            Answer::new(answer.value, answer.reveals)
        }
        _ => answer,
    }
}

/// `add_fact`
pub(super) struct AddFact {
    things: Arc<Things>,
    spec: ToolSpec,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddArgs {
    term: String,
    definition: String,
    source: Option<String>,
    /// 0 to 1.
    confidence: Option<f64>,
    reasoning: Option<String>,
    /// Where it holds.
    scope: Option<String>,
}

impl AddFact {
    pub(super) fn new(things: &Arc<Things>) -> Self {
        let description = "Keeps what the user said a term means. Not for guesses.";
        AddFact { things: things.clone(), spec: ToolSpec::new::<AddArgs>(ADD, description) }
    }
}

impl Callable for AddFact {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, args: Value, max_tokens: usize) -> BoxFuture<'_, Result<Answer, ToolError>> {
        Box::pin(async move {
            let AddArgs { term, definition, source, confidence, reasoning, scope } = self.spec.arguments(args)?;
            let fields = json!({"term": term, "definition": definition, "source": source, "confidence": confidence,
                                "reasoning": reasoning, "scope": scope});
            self.things.call("add_fact", fields, max_tokens).await
        })
    }
}
