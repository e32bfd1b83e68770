//! Combines flags and environment. No other module reads the environment.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use prospector_agent::Limits;
use prospector_discovery::sources::{CatalogSource, name_folder};
use prospector_discovery::state;
use prospector_engine::options::{Worker, Workers};
use prospector_llm::providers::{Secret, Settings as ProviderSettings};

use crate::cli::{Cli, EmbedderName, LimitArgs, QUERY_WORKER};
use crate::pager::{Pager, USUAL};

/// Default places of a catalog.
pub(crate) const DEFAULT_CATALOGS: [&str; 2] = ["catalog.yaml", "catalog/catalog.yaml"];

/// Minimum query memory, in MB: thread stacks use part of it.
const MIN_QUERY_MEMORY: u64 = 512;

/// Settings from outside the program.
pub(crate) struct Settings {
    pub(crate) catalog_file: Option<PathBuf>,
    /// The value of `--catalog`, where a new catalog is written.
    pub(crate) catalog_flag: Option<PathBuf>,
    /// Sources that replace a catalog file.
    sources: Vec<String>,
    pub(crate) state: Option<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) log: String,
    pub(crate) providers: ProviderSettings,
    /// The token for `planner serve`.
    pub(crate) token: Option<String>,
    pub(crate) export: Export,
    model: Option<String>,
    embedder: Option<EmbedderName>,
    workers: OnceLock<Workers>,
}

impl Settings {
    /// Reads the settings; flags take precedence over the environment.
    pub(crate) fn from_environment(cli: &Cli) -> Settings {
        let providers = ProviderSettings {
            anthropic_api_key: variable("ANTHROPIC_API_KEY").map(Secret::from),
            anthropic_base_url: variable("ANTHROPIC_BASE_URL"),
            openai_api_key: variable("OPENAI_API_KEY").map(Secret::from),
            openai_base_url: variable("OPENAI_BASE_URL"),
            gemini_api_key: variable("GEMINI_API_KEY").map(Secret::from),
            gemini_base_url: variable("GEMINI_BASE_URL"),
            ollama_base_url: variable("OLLAMA_BASE_URL"),
            ..ProviderSettings::default()
        };
        let found = || DEFAULT_CATALOGS.iter().map(PathBuf::from).find(|path| path.is_file());
        Settings {
            catalog_flag: cli.catalog.clone(),
            catalog_file: cli
                .catalog
                .clone()
                .or_else(|| variable("PROSPECTOR_CATALOG").map(PathBuf::from))
                .or_else(found),
            sources: cli.sources(),
            state: cli.state.clone().or_else(|| variable("PROSPECTOR_STATE").map(PathBuf::from)),
            home: variable("HOME").map(PathBuf::from),
            log: variable("PROSPECTOR_LOG").unwrap_or_else(|| "warn".into()),
            providers,
            token: variable("PROSPECTOR_TOKEN"),
            export: Export::from_environment(),
            model: variable("PROSPECTOR_MODEL"),
            embedder: cli.embedder.clone(),
            workers: OnceLock::new(),
        }
    }

    /// Returns the limits of a question: from the flags, the environment, or the defaults.
    pub(crate) fn limits(&self, flags: &LimitArgs, usual: Limits) -> anyhow::Result<Limits> {
        let given = self.limit_args(flags)?;
        Ok(Limits {
            rounds: given.max_rounds.unwrap_or(usual.rounds),
            calls: given.max_calls.unwrap_or(usual.calls),
            calls_at_once: given.calls_at_once.unwrap_or(usual.calls_at_once),
            run_time: given.run_time().unwrap_or(usual.run_time),
            ..usual
        })
    }

    /// Returns the flags, completed from environment variables.
    pub(crate) fn limit_args(&self, flags: &LimitArgs) -> anyhow::Result<LimitArgs> {
        let or = |flag: Option<u32>, name, least, most| match flag {
            Some(given) => Ok(Some(given)),
            None => number(name, least..=most),
        };
        Ok(LimitArgs {
            max_rounds: or(flags.max_rounds, "PROSPECTOR_MAX_ROUNDS", 2, 100)?,
            max_calls: or(flags.max_calls, "PROSPECTOR_MAX_CALLS", 1, 1_000)?,
            max_seconds: or(flags.max_seconds, "PROSPECTOR_MAX_SECONDS", 1, 86_400)?,
            calls_at_once: or(flags.calls_at_once, "PROSPECTOR_CALLS_AT_ONCE", 1, 1_000)?,
        })
    }

    /// Returns the model: from the flag, the environment, the provider whose key is set, or the built-in planner.
    pub(crate) fn model(&self, flag: Option<&str>) -> String {
        if let Some(name) = flag.or(self.model.as_deref()) {
            return name.to_owned();
        }
        if self.providers.anthropic_api_key.is_some() {
            "claude-sonnet-4-5".into()
        } else if self.providers.openai_api_key.is_some() && self.providers.openai_base_url.is_none() {
            "gpt-4.1".into()
        } else if self.providers.gemini_api_key.is_some() {
            "gemini-2.5-pro".into()
        } else {
            prospector_offline::Offline::NAME.into()
        }
    }

    /// Returns the embedder: from the flag, the environment, or the built-in table.
    pub(crate) fn embedder(&self) -> anyhow::Result<EmbedderName> {
        if let Some(name) = &self.embedder {
            return Ok(name.clone());
        }
        let Some(name) = variable("PROSPECTOR_EMBEDDER") else { return Ok(EmbedderName::Static) };
        EmbedderName::parse(&name).map_err(|error| anyhow::anyhow!("PROSPECTOR_EMBEDDER is `{name}`, but {error}"))
    }

    /// Returns the worker processes that run queries over several databases or over files: this program again. They are shared within this
    /// process.
    pub(crate) fn workers(&self) -> anyhow::Result<Workers> {
        if let Some(workers) = self.workers.get() {
            return Ok(workers.clone());
        }
        let mut worker = Worker::new(this_program()?, [QUERY_WORKER]);
        worker.name = Some("planner".into());
        if let Some(megabytes) = variable("PROSPECTOR_QUERY_MEMORY") {
            let megabytes: u64 =
                megabytes.parse().ok().filter(|mb| (MIN_QUERY_MEMORY..=1 << 30).contains(mb)).ok_or_else(|| {
                    anyhow::anyhow!("PROSPECTOR_QUERY_MEMORY is `{megabytes}`; set it to a number of MB, at least {MIN_QUERY_MEMORY}")
                })?;
            worker.memory = megabytes << 20;
        }
        Ok(self.workers.get_or_init(|| Workers::new(worker)).clone())
    }

    /// Whether sources replace a catalog.
    pub(crate) fn has_sources(&self) -> bool {
        !self.sources.is_empty()
    }

    /// Returns the sources that replace a catalog, as given.
    pub(crate) fn named_sources(&self) -> &[String] {
        &self.sources
    }

    /// Returns the catalog: the given sources, or a file.
    pub(crate) fn catalog(&self) -> anyhow::Result<CatalogSource> {
        match self.sources.as_slice() {
            [] => Ok(CatalogSource::File(self.catalog_file()?.to_owned())),
            sources => Ok(CatalogSource::Sources(sources.to_vec())),
        }
    }

    /// Returns the catalog file.
    pub(crate) fn catalog_file(&self) -> anyhow::Result<&Path> {
        anyhow::ensure!(self.sources.is_empty(), "this command needs a catalog file (create one with `planner init`)");
        self.catalog_file.as_deref().ok_or_else(|| {
            anyhow::anyhow!(
                "no catalog found: {} does not exist; name your data with --on SOURCE, create a catalog with `planner init`, or \
                 name one with --catalog FILE",
                DEFAULT_CATALOGS[0]
            )
        })
    }

    /// Returns the state folder; for sources, one in the user cache.
    pub(crate) fn state_folder(&self) -> anyhow::Result<PathBuf> {
        match (&self.state, self.sources.as_slice()) {
            (Some(state), _) => check_state_folder(Some(state), Path::new("")),
            (None, []) => check_state_folder(None, self.catalog_file()?.parent().unwrap_or(Path::new(""))),
            (None, sources) => {
                let cache = cache_folder().ok_or_else(|| {
                    anyhow::anyhow!("no folder for the index: HOME is not set; set one with --state FOLDER")
                })?;
                check_state_folder(Some(&cache.join("prospector").join(name_folder(sources))), Path::new(""))
            }
        }
    }
}

/// Returns the given state folder, or the one next to a catalog in `base`, unless links in it lead elsewhere.
fn check_state_folder(given: Option<&Path>, base: &Path) -> anyhow::Result<PathBuf> {
    state::folder(given, base)
        .map_err(|error| anyhow::anyhow!("{error} (or set another state folder with --state FOLDER)"))
}

#[cfg(any(feature = "fastembed", feature = "fastembed-dynamic"))]
impl Settings {
    /// Returns the path of the onnxruntime library.
    pub(crate) fn onnxruntime(&self) -> Option<PathBuf> {
        variable("ORT_DYLIB_PATH").map(PathBuf::from)
    }

    /// Returns the hub of models, which are cached in the state folder.
    pub(crate) fn hub(&self) -> anyhow::Result<prospector_search::transformer::Hub> {
        let is_named = self.state.is_some() || self.has_sources() || self.catalog_file.is_some();
        let state = if is_named { self.state_folder()? } else { check_state_folder(None, Path::new(""))? };
        Ok(prospector_search::transformer::Hub {
            cache: state.join("models"),
            endpoint: variable("HF_ENDPOINT"),
            token: variable("HF_TOKEN"),
            progress: std::io::IsTerminal::is_terminal(&std::io::stderr()),
        })
    }
}

/// OpenTelemetry variables that select whether and where spans are sent. The SDK reads the other variables of the specification (headers,
/// timeouts, samplers, resource attributes).
#[cfg_attr(not(feature = "otlp"), allow(dead_code, reason = "only whether traces are wanted is asked"))]
pub(crate) struct Export {
    pub(crate) disabled: bool,
    /// Name of the trace exporter.
    pub(crate) exporter: Option<String>,
    /// Variable that names the collector, and its value.
    pub(crate) endpoint: Option<(&'static str, String)>,
    /// Variable that names the protocol, and its value.
    pub(crate) protocol: Option<(&'static str, String)>,
    pub(crate) service: Option<String>,
}

impl Export {
    fn from_environment() -> Export {
        let either = |names: [&'static str; 2]| names.into_iter().find_map(|name| Some((name, variable(name)?)));
        Export {
            disabled: variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")),
            exporter: variable("OTEL_TRACES_EXPORTER"),
            endpoint: either(["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"]),
            protocol: either(["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"]),
            service: variable("OTEL_SERVICE_NAME"),
        }
    }

    /// Whether traces are to be sent.
    #[cfg(not(feature = "otlp"))]
    pub(crate) fn is_wanted(&self) -> bool {
        let named = self.exporter.as_deref().map(str::trim);
        !self.disabled && named != Some("none") && (named.is_some() || self.endpoint.is_some())
    }
}

/// Returns a variable with a number if it is set.
fn number(name: &str, range: RangeInclusive<u32>) -> anyhow::Result<Option<u32>> {
    let Some(text) = variable(name) else { return Ok(None) };
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.map(Some).ok_or_else(|| {
        anyhow::anyhow!("{name} is `{text}`; set it to a number from {} to {}", range.start(), range.end())
    })
}

/// Returns the path of this program, on Linux even if its file was replaced meanwhile.
fn this_program() -> anyhow::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() {
        return Ok(running);
    }
    Ok(std::env::current_exe()?)
}

/// Returns the user cache folder by the base directory specification or the system's convention.
fn cache_folder() -> Option<PathBuf> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || absolute("HOME");
    let usual = match std::env::consts::OS {
        "macos" => home().map(|home| home.join("Library/Caches")),
        "windows" => absolute("LOCALAPPDATA"),
        _ => home().map(|home| home.join(".cache")),
    };
    absolute("XDG_CACHE_HOME").or(usual)
}

/// Returns the terminal width if a shell exports it.
pub(crate) fn columns() -> Option<usize> {
    variable("COLUMNS")?.parse().ok()
}

/// Whether colours are wanted on a terminal, see <https://no-color.org>.
pub(crate) fn wants_colours() -> bool {
    variable("NO_COLOR").is_none() && variable("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// Returns the pager; `None` if it is disabled or the terminal does not support one.
pub(crate) fn pager() -> Option<Pager> {
    let can_move = std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb");
    let command = std::env::var("PAGER").unwrap_or_else(|_| "less".into());
    let is_wanted = can_move && !command.trim().is_empty() && command != "cat";
    let environment = USUAL.into_iter().filter(|(name, _)| variable(name).is_none()).collect();
    is_wanted.then_some(Pager { command, environment })
}

/// Returns a variable that is set and not empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
