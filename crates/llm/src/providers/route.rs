//! Finds the provider of a model, and its address.

use reqwest::Url;

use super::{Secret, Settings};
use crate::{
    LlmError,
    models::{self, Provider, model_info},
};

/// The API of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    Anthropic,
    OpenAi,
    Gemini,
    Ollama,
}

/// The destination of requests for a model.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) wire: Wire,
    /// The provider's name of the model.
    pub(super) name: String,
    /// The address, ending in `/`.
    pub(super) base: Url,
    pub(super) key: Option<Secret>,
}

/// Returns the route for a model name.
pub(super) fn find(model: &str, settings: &Settings) -> Result<Route, LlmError> {
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
    // Neither Anthropic nor OpenAI uses names with an owner (`meta-llama/…`).
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
    // This variable is usually set without the version.
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
        None if !at_openai => {
            return Err(missing(model, &format!("{VARIABLE}, or the name `ollama/{name}` for Ollama")));
        }
        None if key.is_none() => return Err(missing(model, "OPENAI_API_KEY")),
        None => "https://api.openai.com/v1",
    };
    Ok(Route { wire: Wire::OpenAi, name: name.to_owned(), base: base_url(model, VARIABLE, address)?, key })
}

/// Returns the route for Gemini. The address is usually set with the version, sometimes without it, or as Google's endpoint for OpenAI's
/// API below it.
fn gemini(model: &str, name: &str, settings: &Settings) -> Result<Route, LlmError> {
    let address = settings.gemini_base_url.as_deref().map(str::trim).filter(|address| !address.is_empty());
    let mut base = base_url(model, "GEMINI_BASE_URL", address.unwrap_or("https://generativelanguage.googleapis.com"))?;
    without_end(&mut base, "openai/");
    if base.path() == "/" {
        base.set_path("/v1beta/");
    }
    let key = key(model, "GEMINI_API_KEY", settings.gemini_api_key.as_ref())?;
    let key = key.ok_or_else(|| missing(model, "GEMINI_API_KEY"))?;
    let name = name.strip_prefix("models/").filter(|name| !name.is_empty()).unwrap_or(name);
    Ok(Route { wire: Wire::Gemini, name: name.to_owned(), base, key: Some(key) })
}

fn ollama(model: &str, name: &str, settings: &Settings) -> Result<Route, LlmError> {
    let address = settings.ollama_base_url.as_deref().map(str::trim).filter(|address| !address.is_empty());
    let mut base = base_url(model, "OLLAMA_BASE_URL", address.unwrap_or("http://localhost:11434"))?;
    // The suffix is that of OpenAI's API, or of other endpoints of the server.
    without_end(&mut base, "v1/");
    without_end(&mut base, "api/");
    Ok(Route { wire: Wire::Ollama, name: name.to_owned(), base, key: None })
}

fn without_end(base: &mut Url, end: &str) {
    let path = base.path().to_owned();
    if let Some(path) = path.strip_suffix(end).filter(|path| path.ends_with('/')) {
        base.set_path(path);
    }
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

/// Parses an address, and adds a `/` to the end of its path. Errors do not quote the address: it may contain a password.
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
        let found = match find(model, settings) {
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
        check("my-model", &settings(), "unknown model `my-model`: for a model of an");
        check("claud-sonnet-4-5", &settings(), "unknown model `claud-sonnet-4-5`: similar known models are");
        check("", &with_server("http://h/v1"), "unknown model ``");
        check("offline", &with_server("http://h/v1"), "unknown model `offline`: it is the built-in planner");
    }

    #[test]
    fn google_and_ollama_are_reached_by_their_own_apis() {
        let google = |address: Option<&str>| Settings {
            gemini_api_key: Some("key-g".into()),
            gemini_base_url: address.map(Into::into),
            ..Settings::default()
        };
        let base = "https://generativelanguage.googleapis.com/v1beta/";
        check("gemini-2.5-pro", &google(None), &format!("Gemini gemini-2.5-pro {base}"));
        check("gemini/any", &google(None), &format!("Gemini any {base}"));
        check("gemini/models/any", &google(None), &format!("Gemini any {base}"));
        check("gemini/any", &google(Some("http://h")), "Gemini any http://h/v1beta/");
        check("gemini/any", &google(Some("http://h/v1beta/openai")), "Gemini any http://h/v1beta/");
        check("gemini/any", &google(Some("http://h/x/v1alpha")), "Gemini any http://h/x/v1alpha/");
        check("gemini-2.5-pro", &Settings::default(), "model `gemini-2.5-pro` needs GEMINI_API_KEY");

        let ollama = |address: &str| Settings { ollama_base_url: Some(address.into()), ..Settings::default() };
        check("ollama/qwen3:8b", &Settings::default(), "Ollama qwen3:8b http://localhost:11434/");
        check("ollama/hf.co/me/model:q4", &Settings::default(), "Ollama hf.co/me/model:q4 http://localhost:11434/");
        for address in ["http://h:1", "http://h:1/v1", "http://h:1/api/"] {
            check("ollama/qwen3", &ollama(address), "Ollama qwen3 http://h:1/");
        }
        check("ollama/qwen3", &ollama("http://h/x-v1/v1"), "Ollama qwen3 http://h/x-v1/");
    }

    #[test]
    fn what_is_missing_is_named() {
        let none = Settings::default();
        check("claude-sonnet-4-5", &none, "model `claude-sonnet-4-5` needs ANTHROPIC_API_KEY");
        check("gpt-4o", &none, "model `gpt-4o` needs OPENAI_API_KEY");
        check("llama3.1", &settings(), "model `llama3.1` needs OPENAI_BASE_URL, or the name `ollama/llama3.1`");
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
}
