//! `resolve_fact` and `add_fact`: definitions of terms.

use std::sync::Arc;

use prospector_core::tool::{Answer, Effect, ToolError, ToolSpec};
use prospector_facts::Resolution;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::CompactTool;
use crate::target::TargetResolver;

pub(crate) const RESOLVE: &str = "resolve_fact";
pub(crate) const ADD: &str = "add_fact";

/// How to get the rest of a truncated resolution.
const MORE: &str = "call again with a larger max_tokens";

/// `resolve_fact`
pub(super) struct ResolveFact(pub(super) Arc<TargetResolver>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ResolveArgs {
    #[serde(alias = "term", alias = "query", alias = "q")]
    question: Option<String>,
    /// Instead of `question`: returns the definitions in this text.
    text: Option<String>,
}

impl CompactTool for ResolveFact {
    const NAME: &'static str = RESOLVE;
    type Args = ResolveArgs;

    fn describe(&self) -> ToolSpec {
        let description = "Returns what a business term or abbreviation means: its definition in the glossary and documents. \
                           Ask the user if needs_clarification.";
        ToolSpec::new::<ResolveArgs>(RESOLVE, description)
    }

    /// Extracted definitions are not stored, since that requires a source.
    async fn answer(&self, args: ResolveArgs, max_tokens: usize) -> Result<Answer, ToolError> {
        match args {
            ResolveArgs { question: None, text: Some(text) } => {
                self.0.call("extract_facts_from_text", json!({"text": text}), max_tokens).await
            }
            ResolveArgs { question, text: None } => {
                let question = question.unwrap_or_default();
                let answer = self.0.call("resolve_fact", json!({"question": question}), max_tokens).await?;
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
    }
}

/// `add_fact`
pub(super) struct AddFact(pub(super) Arc<TargetResolver>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddArgs {
    term: String,
    definition: String,
    source: Option<String>,
    confidence: Option<f64>,
    reasoning: Option<String>,
    scope: Option<String>,
}

impl CompactTool for AddFact {
    const NAME: &'static str = ADD;
    type Args = AddArgs;

    fn describe(&self) -> ToolSpec {
        ToolSpec::new::<AddArgs>(ADD, "Saves the definition of a business term supplied by the user.")
    }

    fn effect(&self) -> Effect {
        self.0.effect("add_fact")
    }

    async fn answer(&self, args: AddArgs, max_tokens: usize) -> Result<Answer, ToolError> {
        let AddArgs { term, definition, source, confidence, reasoning, scope } = args;
        let fields = json!({"term": term, "definition": definition, "source": source, "confidence": confidence,
                            "reasoning": reasoning, "scope": scope});
        self.0.call("add_fact", fields, max_tokens).await
    }
}
