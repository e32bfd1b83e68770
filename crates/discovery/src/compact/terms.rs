//! `resolve_fact` and `add_fact`: definitions of terms.

use std::sync::Arc;

use prospector_core::record::Resource;
use prospector_core::tool::finding::Definition;
use prospector_core::tool::{Answer, BoxFuture, Callable, Cut, Effect, Part, Text, ToolError, ToolOutput, ToolSpec};
use prospector_facts::{
    Resolution,
    model::{Related, Source},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
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
                            Answer::of(Brief(whole.clone()), MORE).fit(max_tokens)
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

/// A [`Resolution`] without the question, and without a confidence if there is no answer.
#[derive(Clone)]
struct Brief(Resolution);

/// Its JSON fields.
#[derive(Serialize)]
struct Fields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    term: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "<[Source]>::is_empty")]
    sources: &'a [Source],
    #[serde(skip_serializing_if = "<[Source]>::is_empty")]
    otherwise: &'a [Source],
    needs_clarification: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    clarification: &'a Option<String>,
    #[serde(skip_serializing_if = "<[Related]>::is_empty")]
    related: &'a [Related],
    #[serde(skip_serializing_if = "Option::is_none")]
    note: &'a Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_whole: bool,
}

impl Serialize for Brief {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Resolution {
            question: _, term, answer, definition, sources, otherwise, clarification, related, note, ..
        } = &self.0;
        let confidence = (self.0.confidence * 100.0).round() / 100.0;
        let fields = Fields {
            term,
            answer,
            definition,
            confidence: (answer.is_some() || confidence != 0.0).then_some(confidence),
            sources,
            otherwise,
            needs_clarification: self.0.needs_clarification,
            clarification,
            related,
            note,
            is_whole: self.0.is_whole,
        };
        fields.serialize(serializer)
    }
}

impl ToolOutput for Brief {
    fn reveals(&self) -> Vec<Resource> {
        self.0.reveals()
    }

    fn definition(&self) -> Option<Definition> {
        self.0.definition()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        self.0.parts()
    }

    fn render(&self, cut: &Cut) -> Text {
        Text::from(self.0.render_text(cut))
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
