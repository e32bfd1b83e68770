//! Capabilities and prices of the known models: one table, [`MODELS`].
//!
//! Prices are US dollars per million tokens, as published by Anthropic and OpenAI on 2026-11-21. Rates for long prompts, batches and cache
//! writes are not included. Models that only third parties serve have no price, because it depends on the provider; neither have Google's
//! models, whose prices were not looked up.

use prospector_core::name::nearest;

use crate::{LlmError, message::Usage};

/// The company or program that serves a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Anthropic, by the Messages API.
    Anthropic,
    /// OpenAI, by the chat completions API; another address may be set, as for [`Provider::Compatible`].
    OpenAi,
    /// Google, by the Gemini API.
    Gemini,
    /// Any server with OpenAI's chat completions API; its address must be set. Under the name `ollama/NAME`, Ollama.
    Compatible,
    /// The built-in planner, which needs no provider.
    Offline,
}

/// Dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Uncached input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the provider's cache.
    pub cached_input: f64,
}

/// Capabilities and price of the models whose names start with a pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelInfo {
    /// Prefix of the names, in lower case.
    pub pattern: &'static str,
    /// The provider that serves it.
    pub provider: Provider,
    /// Whether it supports tool calls over the API used here.
    pub tools: bool,
    /// Context size: tokens of prompt and response together.
    pub context: u32,
    /// The price at its own provider.
    pub price: Option<Price>,
}

impl ModelInfo {
    /// Returns the cost of `usage` in dollars if the price is known. Cache writes count as plain input.
    pub fn cost(&self, usage: Usage) -> Option<f64> {
        let price = self.price?;
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let dollars =
            fresh as f64 * price.input + cached as f64 * price.cached_input + usage.output_tokens as f64 * price.output;
        Some(dollars / 1e6)
    }
}

use Provider::{Anthropic, Compatible, Gemini, Offline, OpenAi};

/// The known models. The longest matching prefix is used.
#[rustfmt::skip]
pub const MODELS: &[ModelInfo] = &[
    //   pattern                 provider   tools    context    input  output  cached
    paid("claude-2",             Anthropic, false,   100_000,   8.00,  24.00,  8.00),
    paid("claude-2.1",           Anthropic, false,   200_000,   8.00,  24.00,  8.00),
    paid("claude-instant",       Anthropic, false,   100_000,   0.80,   2.40,  0.80),
    paid("claude-3-haiku",       Anthropic, true,    200_000,   0.25,   1.25,  0.03),
    paid("claude-3-sonnet",      Anthropic, true,    200_000,   3.00,  15.00,  3.00),
    paid("claude-3-opus",        Anthropic, true,    200_000,  15.00,  75.00,  1.50),
    paid("claude-3-5-haiku",     Anthropic, true,    200_000,   0.80,   4.00,  0.08),
    paid("claude-3-5-sonnet",    Anthropic, true,    200_000,   3.00,  15.00,  0.30),
    paid("claude-3-7-sonnet",    Anthropic, true,    200_000,   3.00,  15.00,  0.30),
    paid("claude-sonnet-4",      Anthropic, true,    200_000,   3.00,  15.00,  0.30),
    paid("claude-sonnet-4-5",    Anthropic, true,    200_000,   3.00,  15.00,  0.30),
    paid("claude-sonnet-4-6",    Anthropic, true,  1_000_000,   3.00,  15.00,  0.30),
    paid("claude-sonnet-5",      Anthropic, true,  1_000_000,   2.00,  10.00,  0.20),
    paid("claude-sonnet-5-5",    Anthropic, true,  1_000_000,   2.00,  10.00,  0.10),
    paid("claude-opus-4",        Anthropic, true,    200_000,  15.00,  75.00,  1.50),
    paid("claude-opus-4-1",      Anthropic, true,    200_000,  15.00,  75.00,  1.50),
    paid("claude-opus-4-5",      Anthropic, true,    200_000,   5.00,  25.00,  0.50),
    paid("claude-opus-4-6",      Anthropic, true,  1_000_000,   5.00,  25.00,  0.50),
    paid("claude-opus-4-7",      Anthropic, true,  1_000_000,   5.00,  25.00,  0.50),
    paid("claude-opus-4-8",      Anthropic, true,  1_000_000,   5.00,  25.00,  0.50),
    paid("claude-opus-5",        Anthropic, true,  1_000_000,   5.00,  25.00,  0.50),
    paid("claude-opus-5-5",      Anthropic, true,  1_000_000,   4.00,  20.00,  0.20),
    paid("claude-haiku-4-5",     Anthropic, true,    200_000,   1.00,   5.00,  0.10),
    paid("claude-haiku-5-5",     Anthropic, true,  1_000_000,   0.10,   0.50,  0.01),
    paid("claude-fable-5",       Anthropic, true,  1_000_000,  10.00,  50.00,  1.00),
    paid("claude-mythos-5",      Anthropic, true,  1_000_000,  10.00,  50.00,  1.00),

    paid("gpt-3.5-turbo",        OpenAi,    true,     16_385,   0.50,   1.50,  0.50),
    paid("gpt-3.5-turbo-instruct", OpenAi,  false,     4_096,   1.50,   2.00,  1.50),
    free("text-davinci",         OpenAi,    false,     4_097),
    free("text-curie",           OpenAi,    false,     2_049),
    paid("gpt-4",                OpenAi,    true,      8_192,  30.00,  60.00, 30.00),
    paid("gpt-4-turbo",          OpenAi,    true,    128_000,  10.00,  30.00, 10.00),
    paid("gpt-4o",               OpenAi,    true,    128_000,   2.50,  10.00,  1.25),
    paid("gpt-4o-mini",          OpenAi,    true,    128_000,   0.15,   0.60,  0.075),
    paid("gpt-4.1",              OpenAi,    true,  1_047_576,   2.00,   8.00,  0.50),
    paid("gpt-4.1-mini",         OpenAi,    true,  1_047_576,   0.40,   1.60,  0.10),
    paid("gpt-4.1-nano",         OpenAi,    true,  1_047_576,   0.10,   0.40,  0.025),
    paid("gpt-5",                OpenAi,    true,    400_000,   1.25,  10.00,  0.125),
    paid("gpt-5-mini",           OpenAi,    true,    400_000,   0.25,   2.00,  0.025),
    paid("gpt-5-nano",           OpenAi,    true,    400_000,   0.05,   0.40,  0.005),
    paid("gpt-5.2",              OpenAi,    true,    400_000,   1.75,  14.00,  0.175),
    paid("gpt-5.4",              OpenAi,    true,  1_050_000,   2.50,  15.00,  0.25),
    paid("gpt-5.4-mini",         OpenAi,    true,    400_000,   0.75,   4.50,  0.075),
    paid("gpt-5.4-nano",         OpenAi,    true,    400_000,   0.20,   1.25,  0.02),
    paid("gpt-5.5",              OpenAi,    true,  1_050_000,   5.00,  30.00,  0.50),
    paid("gpt-5.6",              OpenAi,    true,  1_050_000,   4.00,  20.00,  0.40),
    paid("gpt-5.6-terra",        OpenAi,    true,  1_050_000,   2.00,  12.00,  0.20),
    paid("gpt-5.6-luna",         OpenAi,    true,  1_050_000,   0.20,   1.20,  0.02),
    // Models of the sixth generation that cannot disable reasoning do not support tools over chat completions.
    free("gpt-6",                OpenAi,    false, 1_050_000),
    paid("gpt-6-astra",          OpenAi,    false, 1_050_000,  10.00,  50.00,  1.00),
    paid("gpt-6-sol",            OpenAi,    true,  1_050_000,   2.00,  10.00,  0.20),
    paid("gpt-6-luna",           OpenAi,    true,  1_050_000,   0.10,   0.50,  0.01),
    paid("o1",                   OpenAi,    true,    200_000,  15.00,  60.00,  7.50),
    paid("o1-mini",              OpenAi,    false,   128_000,   1.10,   4.40,  0.55),
    paid("o1-preview",           OpenAi,    false,   128_000,  15.00,  60.00,  7.50),
    paid("o3",                   OpenAi,    true,    200_000,   2.00,   8.00,  0.50),
    paid("o3-mini",              OpenAi,    true,    200_000,   1.10,   4.40,  0.55),
    paid("o4-mini",              OpenAi,    true,    200_000,   1.10,   4.40,  0.275),

    free("gemini",               Gemini,    true,  1_048_576),

    free("gpt-oss",              Compatible, true,   131_072),
    free("llama2",               Compatible, false,    4_096),
    free("llama-2",              Compatible, false,    4_096),
    free("llama3",               Compatible, false,    8_192),
    free("llama-3",              Compatible, false,    8_192),
    free("llama3.1",             Compatible, true,   131_072),
    free("llama-3.1",            Compatible, true,   131_072),
    free("llama3.2",             Compatible, true,   131_072),
    free("llama-3.2",            Compatible, true,   131_072),
    free("llama3.3",             Compatible, true,   131_072),
    free("llama-3.3",            Compatible, true,   131_072),
    free("llama4",               Compatible, true,   131_072),
    free("llama-4",              Compatible, true,   131_072),
    free("mistral",              Compatible, true,    32_768),
    free("mistral-large",        Compatible, true,   131_072),
    free("mixtral",              Compatible, true,    32_768),
    free("ministral",            Compatible, true,   131_072),
    free("qwen2.5",              Compatible, true,    32_768),
    free("qwen3",                Compatible, true,    32_768),
    free("gemma",                Compatible, false,    8_192),
    free("gemma3",               Compatible, false,  131_072),
    free("gemma-3",              Compatible, false,  131_072),
    free("phi",                  Compatible, false,   16_384),
    free("deepseek",             Compatible, true,    65_536),
    free("deepseek-r1",          Compatible, false,   65_536),
    free("command-r",            Compatible, true,   131_072),

    free("offline",              Offline,   true,    200_000),
];

/// Capabilities assumed for an unknown model of an OpenAI-compatible server.
pub const UNLISTED: ModelInfo = free("", Compatible, true, 32_768);

const fn paid(
    pattern: &'static str,
    provider: Provider,
    tools: bool,
    context: u32,
    input: f64,
    output: f64,
    cached_input: f64,
) -> ModelInfo {
    ModelInfo { pattern, provider, tools, context, price: Some(Price { input, output, cached_input }) }
}

const fn free(pattern: &'static str, provider: Provider, tools: bool, context: u32) -> ModelInfo {
    ModelInfo { pattern, provider, tools, context, price: None }
}

/// Returns the entry of a model, ignoring case and any prefix before a `/`, such as in `openai/gpt-4o` and
/// `meta-llama/Llama-3.1-8B-Instruct`.
pub fn model_info(name: &str) -> Option<&'static ModelInfo> {
    let name = name.trim().rsplit('/').next().unwrap_or_default().to_lowercase();
    MODELS.iter().filter(|model| name.starts_with(model.pattern)).max_by_key(|model| model.pattern.len())
}

/// [`model_info`], or [`UNLISTED`] for a model that is not in the table.
pub fn capability(name: &str) -> &'static ModelInfo {
    model_info(name).unwrap_or(&UNLISTED)
}

/// Returns the error for a name that is not in the table, with similar names and how to use other models.
pub(crate) fn unknown(name: &str) -> LlmError {
    let near = nearest(name, MODELS.iter().map(|model| model.pattern), 3);
    let near: Vec<String> = near.iter().map(|pattern| format!("`{pattern}`")).collect();
    let similar =
        if near.is_empty() { String::new() } else { format!("similar known models are {}; ", near.join(", ")) };
    LlmError::UnknownModel {
        model: name.to_owned(),
        advice: format!(
            "{similar}for a model of an OpenAI-compatible server set OPENAI_BASE_URL to its \
             address (such as http://localhost:8000/v1); `anthropic/NAME`, `openai/NAME`, `gemini/NAME` and \
             `ollama/NAME` select any model of that provider"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, pattern: &str, tools: bool) {
        let info = model_info(name).unwrap_or_else(|| panic!("{name} is unknown"));
        assert_eq!((info.pattern, info.tools), (pattern, tools), "{name}");
    }

    #[test]
    fn every_pattern_is_lower_case_unique_and_finds_itself() {
        for (at, model) in MODELS.iter().enumerate() {
            check(model.pattern, model.pattern, model.tools);
            assert!(!MODELS[..at].iter().any(|other| other.pattern == model.pattern), "{} twice", model.pattern);
            assert!(model.context >= 2_048, "{}", model.pattern);
            if let Some(price) = model.price {
                assert!(price.cached_input <= price.input && price.input <= price.output, "{}", model.pattern);
            }
        }
    }

    #[test]
    fn the_longest_pattern_wins() {
        check("claude-2.1", "claude-2.1", false);
        check("claude-instant-1.2", "claude-instant", false);
        check("claude-3-5-sonnet-20241022", "claude-3-5-sonnet", true);
        check("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", true);
        check("claude-opus-4-20250514", "claude-opus-4", true);
        check("gpt-3.5-turbo-0125", "gpt-3.5-turbo", true);
        check("gpt-3.5-turbo-instruct-0914", "gpt-3.5-turbo-instruct", false);
        check("text-davinci-003", "text-davinci", false);
        check("text-curie-001", "text-curie", false);
        check("gpt-4-0613", "gpt-4", true);
        check("gpt-4o-mini-2024-07-18", "gpt-4o-mini", true);
        check("gpt-5.1", "gpt-5", true);
        check("llama3:8b", "llama3", false);
        check("llama3.1:70b", "llama3.1", true);
    }

    #[test]
    fn case_and_owner_do_not_count() {
        check("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1", true);
        check("Qwen/Qwen2.5-7B-Instruct", "qwen2.5", true);
        check("openai/gpt-4o", "gpt-4o", true);
        check(" google/gemma-2-9b-it ", "gemma", false);
    }

    #[test]
    fn an_unlisted_model_is_taken_to_call_tools_in_a_small_context() {
        assert_eq!(model_info("my-own-model"), None);
        let unlisted = capability("my-own-model");
        assert!(unlisted.tools && unlisted.context == 32_768 && unlisted.price.is_none());
    }

    #[test]
    fn an_unknown_name_is_told_the_nearest_and_the_way_to_a_server() {
        let error = unknown("claude-sonet-4.5").to_string();
        assert!(error.contains("`claude-sonnet-4-5`") && error.contains("OPENAI_BASE_URL"), "{error}");
    }

    #[test]
    fn cost_counts_cached_input_at_its_own_price() {
        let usage = Usage { input_tokens: 1_000_000, output_tokens: 100_000, cached_tokens: 800_000 };
        let cost = capability("claude-sonnet-4-5").cost(usage).unwrap();
        assert!((cost - (0.2 * 3.0 + 0.8 * 0.3 + 0.1 * 15.0)).abs() < 1e-9, "{cost}");
        assert_eq!(capability("llama3").cost(usage), None);
    }
}
