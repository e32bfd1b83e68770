//! The tracing spans of a run: `run` contains its rounds, a round contains its model and tool calls.
//!
//! Names and attributes are those of the OpenTelemetry conventions for generative AI
//! (<https://opentelemetry.io/docs/specs/semconv/gen-ai/>), where they exist. Spans contain names, counts and stable codes; questions, tool
//! arguments and results are never recorded.

use std::borrow::Cow;

use prospector_llm::{
    ChatModel, ChatRequest, ChatResponse, LlmError,
    models::{Provider, model_info},
};
use tracing::{Instrument, Span, field::Empty, info_span};

use crate::metrics::Ended;

/// Returns the span of a run.
pub(crate) fn run(goal: &str, model: &str) -> Span {
    info_span!(
        "run",
        otel.name = format!("invoke_agent {goal}"),
        otel.kind = "internal",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = goal,
        gen_ai.request.model = model,
        prospector.ended = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// Records how a run ended.
pub(crate) fn record_end(span: &Span, ended: Ended) {
    if span.is_disabled() {
        return;
    }
    let word = serde_json::to_value(ended).unwrap_or_default();
    let word = word.as_str().unwrap_or_default();
    span.record("prospector.ended", word);
    if ended != Ended::Completed {
        record_failure(span, word);
    }
}

/// Returns the span of a round.
pub(crate) fn round(number: u32) -> Span {
    info_span!("round", prospector.round = i64::from(number))
}

/// Returns the span of a tool call. Unknown tools are not named, since the model may have written anything.
pub(crate) fn tool(name: Option<&str>) -> Span {
    let name = name.unwrap_or("unknown");
    info_span!(
        "tool",
        otel.name = format!("execute_tool {name}"),
        otel.kind = "internal",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
        "error.type" = Empty,
        otel.status_code = Empty,
    )
}

/// Marks a span as failed with a stable code.
pub(crate) fn record_failure(span: &Span, word: &str) {
    span.record("error.type", word);
    span.record("otel.status_code", "ERROR");
}

/// Sends a request and waits for the complete response, in its own span.
///
/// # Errors
/// As [`ChatModel::complete`].
pub(crate) async fn complete(model: &dyn ChatModel, request: &ChatRequest) -> Result<ChatResponse, LlmError> {
    complete_aloud(model, request, &mut |_| ()).await
}

/// Sends a request in its own span; `send` receives each piece of text as it arrives.
///
/// # Errors
/// As [`ChatModel::complete_aloud`].
pub(crate) async fn complete_aloud(
    model: &dyn ChatModel,
    request: &ChatRequest,
    send: &mut (dyn for<'a> FnMut(&'a str) + Send),
) -> Result<ChatResponse, LlmError> {
    let name = model.name();
    let (provider, kind) = provider(name);
    let span = info_span!(
        "chat",
        otel.name = format!("chat {name}"),
        otel.kind = kind,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider,
        gen_ai.request.model = name,
        gen_ai.request.max_tokens = i64::from(request.max_output_tokens),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        "error.type" = Empty,
        otel.status_code = Empty,
    );
    let answered = model.complete_aloud(request, send).instrument(span.clone()).await;
    match &answered {
        Ok(response) => {
            let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
            span.record("gen_ai.usage.input_tokens", count(response.usage.input_tokens));
            span.record("gen_ai.usage.output_tokens", count(response.usage.output_tokens));
            span.record("gen_ai.usage.cache_read.input_tokens", count(response.usage.cached_tokens));
        }
        Err(error) => record_failure(&span, &name_error(error)),
    }
    answered
}

/// Returns the provider name and the span kind of the conventions.
fn provider(model: &str) -> (&'static str, &'static str) {
    match model_info(model).map(|info| info.provider) {
        Some(Provider::Anthropic) => ("anthropic", "client"),
        Some(Provider::OpenAi) => ("openai", "client"),
        Some(Provider::Gemini) => ("gcp.gemini", "client"),
        Some(Provider::Offline) => ("prospector", "internal"),
        // The provider is unknown, but its protocol is.
        Some(Provider::Compatible) | None => ("openai_compatible", "client"),
    }
}

/// Returns the error type of the conventions: the HTTP status, if there is one.
fn name_error(error: &LlmError) -> Cow<'static, str> {
    match error {
        LlmError::Status { status, .. } => status.to_string().into(),
        LlmError::Transport { .. } => "transport".into(),
        LlmError::Nonsense { .. } => "no_usable_answer".into(),
        LlmError::UnknownModel { .. } | LlmError::NotConfigured { .. } => "_OTHER".into(),
    }
}
