//! Flags and environment, put together. Nothing else reads the environment.

use std::path::{Path, PathBuf};

use prospector_llm::providers::{Secret, Settings as ProviderSettings};

use crate::cli::{Cli, EmbedderName};

/// Where a catalog is looked for when none is named.
const DEFAULT_CATALOGS: [&str; 2] = ["catalog.yaml", "catalog/catalog.yaml"];

/// Everything that was decided outside.
pub(crate) struct Settings {
    pub(crate) catalog: Option<PathBuf>,
    pub(crate) state: Option<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) embedder: EmbedderName,
    pub(crate) log: String,
    pub(crate) providers: ProviderSettings,
    model: Option<String>,
}

impl Settings {
    /// Flags go before the environment.
    pub(crate) fn from_environment(cli: &Cli) -> Settings {
        let providers = ProviderSettings {
            anthropic_api_key: variable("ANTHROPIC_API_KEY").map(Secret::from),
            anthropic_base_url: variable("ANTHROPIC_BASE_URL"),
            openai_api_key: variable("OPENAI_API_KEY").map(Secret::from),
            openai_base_url: variable("OPENAI_BASE_URL"),
            ..ProviderSettings::default()
        };
        let found = || DEFAULT_CATALOGS.iter().map(PathBuf::from).find(|path| path.is_file());
        Settings {
            catalog: cli.catalog.clone().or_else(|| variable("PROSPECTOR_CATALOG").map(PathBuf::from)).or_else(found),
            state: cli.state.clone().or_else(|| variable("PROSPECTOR_STATE").map(PathBuf::from)),
            home: variable("HOME").map(PathBuf::from),
            embedder: cli.embedder,
            log: variable("PROSPECTOR_LOG").unwrap_or_else(|| "warn".into()),
            providers,
            model: variable("PROSPECTOR_MODEL"),
        }
    }

    /// The model to use: the flag, the environment, the provider whose key is set, or none at all.
    pub(crate) fn model(&self, flag: Option<&str>) -> String {
        if let Some(name) = flag.or(self.model.as_deref()) {
            return name.to_owned();
        }
        if self.providers.anthropic_api_key.is_some() {
            "claude-sonnet-4-5".into()
        } else if self.providers.openai_api_key.is_some() && self.providers.openai_base_url.is_none() {
            "gpt-4.1".into()
        } else {
            prospector_agent::Offline::NAME.into()
        }
    }

    /// The catalog file.
    pub(crate) fn catalog(&self) -> anyhow::Result<&Path> {
        self.catalog.as_deref().ok_or_else(|| {
            anyhow::anyhow!(
                "there is no catalog: {} is not here; write one with `planner init`, or name one with --catalog FILE",
                DEFAULT_CATALOGS[0]
            )
        })
    }
}

/// A variable that is set and not empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
