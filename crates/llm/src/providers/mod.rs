//! Anthropic, and OpenAI, Google, Ollama and any other server that speaks OpenAI's chat completions, through `genai`.
//!
//! [`connect`] finds the provider of a model by its name:
//!
//! | name | goes to |
//! |---|---|
//! | `anthropic/NAME` | Anthropic, whatever NAME is |
//! | `gemini/NAME` | Google, by its endpoint for OpenAI's API, whatever NAME is |
//! | `ollama/NAME` | Ollama's server on this machine, or where its address says, by the same API; no key is needed |
//! | `openai/NAME` | the OpenAI-compatible server, or OpenAI where no address is set, whatever NAME is |
//! | a name of [`crate::models::MODELS`] | the provider that the table says |
//! | anything else | the OpenAI-compatible server, where its address is set |
//!
//! What a provider refuses with 429, 500, 502, 503, 504 or 529 is sent again, and so is what a broken connection lost, up
//! to [`Settings::retries`] times and only before the first piece of the answer was handed on. The pause is what
//! `retry-after` says, at most [`LONGEST_PAUSE`], and else grows from half a second, with jitter.
//!
//! This module reads no environment variables; errors name those that the `planner` binary reads.

mod answer;
mod convert;
mod count;
mod failure;
mod remote;
mod secret;
mod thinking;

use std::{net::IpAddr, sync::Arc, time::Duration};

use reqwest::Url;

pub use failure::LONGEST_PAUSE;
pub use secret::Secret;

use crate::{
    ChatModel, LlmError,
    models::{self, Provider, model_info},
};

/// How the providers are reached.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The key for Anthropic.
    pub anthropic_api_key: Option<Secret>,
    /// Another address for Anthropic's API, with or without `/v1` at its end.
    pub anthropic_base_url: Option<String>,
    /// The key for OpenAI or the OpenAI-compatible server; a local server may need none.
    pub openai_api_key: Option<Secret>,
    /// The address of an OpenAI-compatible server, what comes before `/chat/completions`: `http://localhost:11434/v1`.
    pub openai_base_url: Option<String>,
    /// The key for Google's models.
    pub gemini_api_key: Option<Secret>,
    /// Another address for Google's endpoint that speaks OpenAI's API, what comes before `/chat/completions`.
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

/// The API that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    Anthropic,
    OpenAi,
}

/// Where the requests for a model go.
#[derive(Debug)]
struct Route {
    wire: Wire,
    /// The name that the provider knows.
    name: String,
    /// The address, ending in `/`.
    base: Url,
    key: Option<Secret>,
}

/// The model of that name. Nothing is sent yet.
///
/// # Errors
/// [`LlmError::UnknownModel`] with the nearest known ones, [`LlmError::NotConfigured`] with the missing setting.
pub fn connect(model: &str, settings: &Settings) -> Result<Arc<dyn ChatModel>, LlmError> {
    let route = route(model, settings)?;
    Ok(Arc::new(remote::Remote::new(model, route, settings)?))
}

fn route(model: &str, settings: &Settings) -> Result<Route, LlmError> {
    let name = model.trim();
    if let Some(name) = name.strip_prefix("anthropic/").filter(|name| !name.is_empty()) {
        return anthropic(model, name, settings);
    }
    if let Some(name) = name.strip_prefix("openai/").filter(|name| !name.is_empty()) {
        return openai(model, name, settings, true);
    }
    if let Some(name) = name.strip_prefix("gemini/").filter(|name| !name.is_empty()) {
        return gemini(model, name, settings);
    }
    if let Some(name) = name.strip_prefix("ollama/").filter(|name| !name.is_empty()) {
        return ollama(model, name, settings);
    }
    let has_server = settings.openai_base_url.as_deref().is_some_and(|address| !address.trim().is_empty());
    // A name with an owner (`meta-llama/…`) is one that neither Anthropic nor OpenAI uses.
    match model_info(name).map(|info| info.provider) {
        Some(Provider::Anthropic) if !name.contains('/') => anthropic(model, name, settings),
        Some(Provider::OpenAi) if !name.contains('/') => openai(model, name, settings, true),
        Some(Provider::Gemini) if !name.contains('/') => gemini(model, name, settings),
        Some(Provider::Compatible) => openai(model, name, settings, false),
        Some(Provider::Offline) => Err(LlmError::UnknownModel {
            model: model.to_owned(),
            advice: "it is the built-in planner, which no provider serves".into(),
        }),
        _ if has_server && !name.is_empty() => openai(model, name, settings, false),
        _ => Err(models::unknown(model)),
    }
}

fn anthropic(model: &str, name: &str, settings: &Settings) -> Result<Route, LlmError> {
    const VARIABLE: &str = "ANTHROPIC_BASE_URL";
    let address = settings.anthropic_base_url.as_deref().map(str::trim).filter(|address| !address.is_empty());
    let mut base = base_url(model, VARIABLE, address.unwrap_or("https://api.anthropic.com"))?;
    // This variable is customarily set without the version.
    if !base.path().ends_with("/v1/") {
        base.set_path(&format!("{}v1/", base.path()));
    }
    let key = key(model, "ANTHROPIC_API_KEY", settings.anthropic_api_key.as_ref())?;
    let key = key.ok_or_else(|| missing(model, "ANTHROPIC_API_KEY"))?;
    Ok(Route { wire: Wire::Anthropic, name: name.to_owned(), base, key: Some(key) })
}

fn openai(model: &str, name: &str, settings: &Settings, at_openai: bool) -> Result<Route, LlmError> {
    const VARIABLE: &str = "OPENAI_BASE_URL";
    let address = settings.openai_base_url.as_deref().map(str::trim).filter(|address| !address.is_empty());
    let key = key(model, "OPENAI_API_KEY", settings.openai_api_key.as_ref())?;
    let address = match address {
        Some(address) => address,
        None if !at_openai => return Err(missing(model, VARIABLE)),
        None if key.is_none() => return Err(missing(model, "OPENAI_API_KEY")),
        None => "https://api.openai.com/v1",
    };
    Ok(Route { wire: Wire::OpenAi, name: name.to_owned(), base: base_url(model, VARIABLE, address)?, key })
}

fn gemini(model: &str, name: &str, settings: &Settings) -> Result<Route, LlmError> {
    let address = settings.gemini_base_url.as_deref().map(str::trim).filter(|address| !address.is_empty());
    let address = address.unwrap_or("https://generativelanguage.googleapis.com/v1beta/openai");
    let base = base_url(model, "GEMINI_BASE_URL", address)?;
    let key = key(model, "GEMINI_API_KEY", settings.gemini_api_key.as_ref())?;
    let key = key.ok_or_else(|| missing(model, "GEMINI_API_KEY"))?;
    Ok(Route { wire: Wire::OpenAi, name: name.to_owned(), base, key: Some(key) })
}

fn ollama(model: &str, name: &str, settings: &Settings) -> Result<Route, LlmError> {
    let address = settings.ollama_base_url.as_deref().map(str::trim).filter(|address| !address.is_empty());
    let mut base = base_url(model, "OLLAMA_BASE_URL", address.unwrap_or("http://localhost:11434"))?;
    if !base.path().ends_with("/v1/") {
        base.set_path(&format!("{}v1/", base.path()));
    }
    Ok(Route { wire: Wire::OpenAi, name: name.to_owned(), base, key: None })
}

fn missing(model: &str, what: &str) -> LlmError {
    LlmError::NotConfigured { model: model.to_owned(), what: what.to_owned() }
}

fn key(model: &str, variable: &str, key: Option<&Secret>) -> Result<Option<Secret>, LlmError> {
    match key.filter(|key| !key.expose().is_empty()) {
        Some(key) if !key.is_sendable() => Err(missing(model, &format!("{variable} to be printable ASCII"))),
        key => Ok(key.cloned()),
    }
}

/// The address with a `/` at the end of its path. An address that cannot be used is not quoted: it may hold a password.
fn base_url(model: &str, variable: &str, address: &str) -> Result<Url, LlmError> {
    let usable = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.host_str().is_some()
            && url.username().is_empty()
            && url.password().is_none()
    };
    let mut url = Url::parse(address)
        .ok()
        .filter(usable)
        .ok_or_else(|| missing(model, &format!("{variable} to be an http(s) address without a user or a password")))?;
    url.set_fragment(None);
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            anthropic_api_key: Some("key-a".into()),
            openai_api_key: Some("key-o".into()),
            ..Settings::default()
        }
    }

    fn with_server(address: &str) -> Settings {
        Settings { openai_base_url: Some(address.into()), ..Settings::default() }
    }

    /// `expected` is `wire name base`, or the error.
    fn check(model: &str, settings: &Settings, expected: &str) {
        let found = match route(model, settings) {
            Ok(route) => format!("{:?} {} {}", route.wire, route.name, route.base),
            Err(error) => error.to_string(),
        };
        assert!(found.starts_with(expected), "{model}: {found}");
    }

    #[test]
    fn the_table_decides_who_serves_a_model() {
        check("claude-sonnet-4-5", &settings(), "Anthropic claude-sonnet-4-5 https://api.anthropic.com/v1/");
        check("gpt-4o", &settings(), "OpenAi gpt-4o https://api.openai.com/v1/");
        check("gpt-4o", &with_server("http://[::1]:1/v1"), "OpenAi gpt-4o http://[::1]:1/v1/");
        check(
            "llama3.1:8b",
            &with_server("http://localhost:11434/v1"),
            "OpenAi llama3.1:8b http://localhost:11434/v1/",
        );
    }

    #[test]
    fn a_prefix_forces_the_provider() {
        check("openai/claude-3-opus", &with_server("http://h/v1/"), "OpenAi claude-3-opus http://h/v1/");
        check("anthropic/gpt-4o", &settings(), "Anthropic gpt-4o https://api.anthropic.com/v1/");
        check("openai/brand-new", &settings(), "OpenAi brand-new https://api.openai.com/v1/");
        check("openai/", &settings(), "unknown model `openai/`");
    }

    #[test]
    fn an_unknown_name_goes_to_the_server_where_there_is_one() {
        check("my-model", &with_server("http://h:1/v1?api-version=2"), "OpenAi my-model http://h:1/v1/?api-version=2");
        check("acme/claude-3-opus", &with_server("http://h/v1"), "OpenAi acme/claude-3-opus http://h/v1/");
        check("my-model", &settings(), "unknown model `my-model`: the nearest known ones are");
        check("", &with_server("http://h/v1"), "unknown model ``");
        check("offline", &with_server("http://h/v1"), "unknown model `offline`: it is the built-in planner");
    }

    #[test]
    fn google_and_ollama_are_reached_by_the_same_api() {
        let google = Settings { gemini_api_key: Some("key-g".into()), ..Settings::default() };
        let address = "https://generativelanguage.googleapis.com/v1beta/openai/";
        check("gemini-2.5-pro", &google, &format!("OpenAi gemini-2.5-pro {address}"));
        check("gemini/any", &google, &format!("OpenAi any {address}"));
        check("gemini-2.5-pro", &Settings::default(), "model `gemini-2.5-pro` needs GEMINI_API_KEY");
        check("ollama/qwen3:8b", &Settings::default(), "OpenAi qwen3:8b http://localhost:11434/v1/");
        let there = Settings { ollama_base_url: Some("http://h:1/v1".into()), ..Settings::default() };
        check("ollama/qwen3", &there, "OpenAi qwen3 http://h:1/v1/");
    }

    #[test]
    fn what_is_missing_is_named() {
        let none = Settings::default();
        check("claude-sonnet-4-5", &none, "model `claude-sonnet-4-5` needs ANTHROPIC_API_KEY");
        check("gpt-4o", &none, "model `gpt-4o` needs OPENAI_API_KEY");
        check("llama3.1", &settings(), "model `llama3.1` needs OPENAI_BASE_URL");
        let empty = Settings { anthropic_api_key: Some("  ".into()), ..Settings::default() };
        check("claude-sonnet-4-5", &empty, "model `claude-sonnet-4-5` needs ANTHROPIC_API_KEY");
        let broken = Settings { anthropic_api_key: Some("a b".into()), ..Settings::default() };
        check("claude-3-opus", &broken, "model `claude-3-opus` needs ANTHROPIC_API_KEY to be printable ASCII");
    }

    #[test]
    fn an_address_is_http_and_holds_no_password() {
        for address in ["localhost:11434", "file:///v1", "http://me:pass@h/v1", "nonsense"] {
            check("m", &with_server(address), "model `m` needs OPENAI_BASE_URL to be an http(s) address");
        }
        for address in ["http://h/x", "http://h/x/v1", "http://h/x/v1/"] {
            let settings = Settings { anthropic_base_url: Some(address.into()), ..settings() };
            check("claude-3-opus", &settings, "Anthropic claude-3-opus http://h/x/v1/");
        }
    }

    #[test]
    fn settings_do_not_show_the_keys() {
        assert!(!format!("{:?}", settings()).contains("key-"));
    }
}
