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
    question: Option<String>,
    /// Or: shows what a text defines.
    text: Option<String>,
}

impl ResolveFact {
    pub(super) fn new(things: &Arc<Things>) -> Self {
        let description = "What a business term means. Ask the user if needs_clarification.";
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

/// The answer without what the call says already, and without the confidence of no answer.
fn unasked(mut answer: Answer, question: &str) -> Answer {
    let Some(fields) = answer.value.as_object_mut() else { return answer };
    let before = fields.len();
    if fields.get("question").and_then(Value::as_str) == Some(question) && before > 1 {
        fields.shift_remove("question");
    }
    if !fields.contains_key("answer") && fields.get("confidence").and_then(Value::as_f64) == Some(0.0) {
        fields.shift_remove("confidence");
    }
    if fields.len() == before { answer } else { Answer::new(answer.value, answer.reveals) }
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
    confidence: Option<f64>,
    reasoning: Option<String>,
    scope: Option<String>,
}

impl AddFact {
    pub(super) fn new(things: &Arc<Things>) -> Self {
        let description = "Keeps what the user said a term means.";
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
