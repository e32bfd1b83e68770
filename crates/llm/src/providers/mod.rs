//! Providers: Anthropic, OpenAI and compatible servers, Google's Gemini, and Ollama, each with its own API.
//!
//! [`connect`] finds the provider of a model by its name:
//!
//! | name | provider |
//! |---|---|
//! | `anthropic/NAME` | Anthropic, for any NAME |
//! | `gemini/NAME` | Google's Gemini API, for any NAME |
//! | `ollama/NAME` | Ollama on this machine, or at its configured address; no key is needed |
//! | `openai/NAME` | the OpenAI-compatible server, or OpenAI if no address is set, for any NAME |
//! | a name of [`crate::models::MODELS`] | the provider in the table |
//! | anything else | the OpenAI-compatible server, if its address is set |
//!
//! Requests refused with 429, 500, 502, 503, 504 or 529 are retried, and so are broken connections, up to [`Settings::retries`] times and
//! only before the first piece of the response was passed on. The pause is that of `retry-after` or Google's `RetryInfo`, at most
//! [`MAX_PAUSE`], and otherwise grows from half a second, with jitter.
//!
//! Anthropic and OpenAI are accessed through `genai`, Gemini and Ollama directly over HTTP (`native` gives the reasons).
//!
//! Ollama loads a model with a context of a few thousand tokens by default, and silently truncates a longer prompt. So every request sets
//! the context size it needs (`options.num_ctx`): the estimated prompt with a margin, plus the response, rounded up to a power of two, at
//! least 8,192 and at most the context in [`crate::models::MODELS`]. It never shrinks while the model is in use, since a change makes the
//! server reload the model. A server of version 0.12.6 or later is also asked to refuse longer prompts instead of truncating them.
//!
//! This module reads no environment variables; errors name those that the `planner` binary reads.

mod accumulator;
mod answer;
mod attempts;
mod convert;
mod failure;
mod frames;
mod gemini;
mod http;
mod native;
mod ollama;
mod remote;
mod route;
mod schema;
mod secret;
mod thinking;

use std::{sync::Arc, time::Duration};

pub use failure::MAX_PAUSE;
pub use secret::Secret;

use self::{
    convert::Dialect,
    native::{Api, Native},
    remote::Remote,
    route::Wire,
};
use crate::{ChatModel, LlmError};

/// Keys and addresses of the providers.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The key for Anthropic.
    pub anthropic_api_key: Option<Secret>,
    /// Alternative address of Anthropic's API, with or without a final `/v1`.
    pub anthropic_base_url: Option<String>,
    /// The key for OpenAI or the OpenAI-compatible server; a local server may need none.
    pub openai_api_key: Option<Secret>,
    /// The address of an OpenAI-compatible server, without `/chat/completions`: `http://localhost:8000/v1`.
    pub openai_base_url: Option<String>,
    /// The key for Google's models.
    pub gemini_api_key: Option<Secret>,
    /// Alternative address of the Gemini API, without `/models/NAME`; a final `/openai` is removed.
    pub gemini_base_url: Option<String>,
    /// Alternative address of Ollama's server, with or without a final `/v1`.
    pub ollama_base_url: Option<String>,
    /// Timeout: until a response starts, and between two pieces of it.
    pub timeout: Duration,
    /// Number of retries of a transient failure; 2 means three attempts in total.
    pub retries: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            anthropic_api_key: None,
            anthropic_base_url: None,
            openai_api_key: None,
            openai_base_url: None,
            gemini_api_key: None,
            gemini_base_url: None,
            ollama_base_url: None,
            timeout: Duration::from_secs(300),
            retries: 2,
        }
    }
}

/// Returns the model of that name, without sending a request.
///
/// # Errors
/// - [`LlmError::UnknownModel`] with similar known models.
/// - [`LlmError::NotConfigured`] with the missing setting.
pub fn connect(model: &str, settings: &Settings) -> Result<Arc<dyn ChatModel>, LlmError> {
    let route = route::find(model, settings)?;
    Ok(match route.wire {
        Wire::Anthropic => Arc::new(Remote::new(model, Dialect::Anthropic, route, settings)?),
        Wire::OpenAi => Arc::new(Remote::new(model, Dialect::OpenAi, route, settings)?),
        Wire::Gemini => Arc::new(Native::new(model, Api::Gemini, route, settings)?),
        Wire::Ollama => Arc::new(Native::new(model, Api::Ollama, route, settings)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_do_not_show_the_keys() {
        let key = || Some(Secret::from("key-0"));
        let settings =
            Settings { anthropic_api_key: key(), openai_api_key: key(), gemini_api_key: key(), ..Settings::default() };
        assert!(!format!("{settings:?}").contains("key-"));
    }
}
