//! `resolve_fact` and `add_fact`: definitions of terms.

use std::sync::Arc;

use prospector_core::tool::{Answer, BoxFuture, Callable, Effect, ToolError, ToolSpec};
use prospector_facts::Resolution;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::target::TargetResolver;

pub(crate) const RESOLVE: &str = "resolve_fact";
pub(crate) const ADD: &str = "add_fact";

/// How to get the rest of a truncated resolution.
const MORE: &str = "call again with a larger max_tokens";

/// `resolve_fact`
pub(super) struct ResolveFact {
    targets: Arc<TargetResolver>,
    spec: ToolSpec,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResolveArgs {
    #[serde(alias = "term", alias = "query", alias = "q")]
    question: Option<String>,
    /// Instead of `question`: returns the definitions in this text.
    text: Option<String>,
}

impl ResolveFact {
    pub(super) fn new(targets: &Arc<TargetResolver>) -> Self {
        let description = "Returns what a business term or abbreviation means: its definition in the glossary and documents. \
                           Ask the user if needs_clarification.";
        ResolveFact { targets: targets.clone(), spec: ToolSpec::new::<ResolveArgs>(RESOLVE, description) }
    }
}

impl Callable for ResolveFact {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Extracted definitions are not stored, since that requires a source.
    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn call(&self, args: Value, max_tokens: usize) -> BoxFuture<'_, Result<Answer, ToolError>> {
        Box::pin(async move {
            match self.spec.arguments(args)? {
                ResolveArgs { question: None, text: Some(text) } => {
                    self.targets.call("extract_facts_from_text", json!({"text": text}), max_tokens).await
                }
                ResolveArgs { question, text: None } => {
                    let question = question.unwrap_or_default();
                    let answer = self.targets.call("resolve_fact", json!({"question": question}), max_tokens).await?;
                    Ok(match answer.whole::<Resolution>() {
                        Some(whole) if whole.question == question => {
                            let brief = Resolution { question: String::new(), ..whole.clone() };
                            Answer::of(brief, MORE).fit(max_tokens)
                        }
                        _ => answer,
                    })
                }
                ResolveArgs { question: Some(_), text: Some(_) } => {
                    Err(ToolError::invalid("question and text cannot be combined", Some("pass one of them".into())))
                }
            }
        })
    }
}

/// `add_fact`
pub(super) struct AddFact {
    targets: Arc<TargetResolver>,
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
    pub(super) fn new(targets: &Arc<TargetResolver>) -> Self {
        let description = "Saves the definition of a business term supplied by the user.";
        AddFact { targets: targets.clone(), spec: ToolSpec::new::<AddArgs>(ADD, description) }
    }
}

impl Callable for AddFact {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        self.targets.effect("add_fact")
    }

    fn call(&self, args: Value, max_tokens: usize) -> BoxFuture<'_, Result<Answer, ToolError>> {
        Box::pin(async move {
            let AddArgs { term, definition, source, confidence, reasoning, scope } = self.spec.arguments(args)?;
            let fields = json!({"term": term, "definition": definition, "source": source, "confidence": confidence,
                                "reasoning": reasoning, "scope": scope});
            self.targets.call("add_fact", fields, max_tokens).await
        })
    }
}
