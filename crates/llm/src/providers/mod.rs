//! Anthropic, OpenAI and any server that speaks its chat completions, Google's Gemini, and Ollama, each in its own format.
//!
//! [`connect`] finds the provider of a model by its name:
//!
//! | name | goes to |
//! |---|---|
//! | `anthropic/NAME` | Anthropic, whatever NAME is |
//! | `gemini/NAME` | Google's Gemini API, whatever NAME is |
//! | `ollama/NAME` | Ollama's server on this machine, or where its address says; no key is needed |
//! | `openai/NAME` | the OpenAI-compatible server, or OpenAI where no address is set, whatever NAME is |
//! | a name of [`crate::models::MODELS`] | the provider that the table says |
//! | anything else | the OpenAI-compatible server, where its address is set |
//!
//! What a provider refuses with 429, 500, 502, 503, 504 or 529 is sent again, and so is what a broken connection lost, up
//! to [`Settings::retries`] times and only before the first piece of the answer was handed on. The pause is what
//! `retry-after` or Google's `RetryInfo` says, at most [`MAX_PAUSE`], and else grows from half a second, with jitter.
//!
//! Anthropic and OpenAI are spoken to through `genai`, Gemini and Ollama over the same HTTP client without it (`native`
//! says why).
//!
//! Ollama loads a model with a context of a few thousand tokens unless it is told otherwise, and cuts a longer prompt
//! without a word. So every request says how large a context it needs (`options.num_ctx`): what the prompt takes by an
//! estimate with a margin, plus the answer, rounded up to a power of two, at least 8,192 and at most what
//! [`crate::models::MODELS`] says of the model. It never shrinks while the model is in use, since a change makes the server
//! load the model anew. A server of version 0.12.6 or later is also told to refuse what does not fit instead of cutting it.
//!
//! This module reads no environment variables; errors name those that the `planner` binary reads.

mod accumulator;
mod answer;
mod attempts;
mod convert;
mod count;
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
    /// Another address for Anthropic's API, with or without `/v1` at its end.
    pub anthropic_base_url: Option<String>,
    /// The key for OpenAI or the OpenAI-compatible server; a local server may need none.
    pub openai_api_key: Option<Secret>,
    /// The address of an OpenAI-compatible server, what comes before `/chat/completions`: `http://localhost:8000/v1`.
    pub openai_base_url: Option<String>,
    /// The key for Google's models.
    pub gemini_api_key: Option<Secret>,
    /// Another address for the Gemini API, what comes before `/models/NAME`; an `/openai` at its end is left out.
    pub gemini_base_url: Option<String>,
    /// Another address for Ollama's server, with or without `/v1` at its end.
    pub ollama_base_url: Option<String>,
    /// The longest silence: until an answer begins, and between two pieces of it.
    pub timeout: Duration,
    /// How often a request that failed in passing is sent again; 2 makes three attempts in all.
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

/// The model of that name. Nothing is sent yet.
///
/// # Errors
/// [`LlmError::UnknownModel`] with the nearest known ones, [`LlmError::NotConfigured`] with the missing setting.
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
