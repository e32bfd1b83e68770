//! The flags, as types.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use prospector_agent::Mode;
use prospector_core::Kind;
use prospector_discovery::{Profile, PromptForm};
use prospector_search::Ranker;

/// A question in, a verified JSON plan out.
#[derive(Debug, Parser)]
#[command(
    name = "planner",
    version,
    about = "Discovers databases, APIs, documents, facts and skills, and plans how they answer a question",
    long_about = "planner lets a language model discover what a catalog of databases, APIs, documents, facts and skills \
                  holds, instead of putting all of it into the prompt, and prints a plan in which every name is verified \
                  to exist.\n\nWithout a key for a provider it plans by itself (model `offline`): no network, nothing to \
                  download.",
    after_long_help = "EXAMPLES\n  \
        planner init                                    write a small catalog.yaml here\n  \
        planner plan \"Revenue per country by quarter\"    plan a question\n  \
        planner search \"refund\" --kind document          look for something\n  \
        planner call get_table_schema '{\"database\": \"store\", \"table\": \"invoices\"}'\n  \
        planner plan \"...\" --model claude-sonnet-4-5     with ANTHROPIC_API_KEY set\n  \
        OPENAI_BASE_URL=http://localhost:11434/v1/ planner plan \"...\" --model qwen3\n\n\
        OUTPUT\n  JSON on standard output and nothing else; progress and problems on standard error.\n\n\
        EXIT STATUS\n  \
        0  done; a plan is verified\n  \
        1  the plan is not verified, or the tool answered an error\n  \
        2  wrong usage, or the catalog cannot be read (refresh: or any part of it)\n  \
        3  the provider of the model failed\n\n\
        ENVIRONMENT\n  \
        PROSPECTOR_CATALOG, PROSPECTOR_STATE, PROSPECTOR_MODEL   as --catalog, --state, --model\n  \
        PROSPECTOR_EMBEDDER                                      as --embedder\n  \
        PROSPECTOR_LOG                                           what is logged to standard error (default: warn)\n  \
        ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL                    for Anthropic's models\n  \
        OPENAI_API_KEY, OPENAI_BASE_URL                          for OpenAI's, or any compatible server\n  \
        ORT_DYLIB_PATH                                           the onnxruntime library that --embedder opens\n  \
        HF_ENDPOINT, HF_TOKEN                                    where --embedder model:NAME downloads from"
)]
pub(crate) struct Cli {
    /// The catalog file [default: catalog.yaml or catalog/catalog.yaml here]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,
    /// Where the index and the fact store live [default: .prospector beside the catalog]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) state: Option<PathBuf>,
    /// What makes vectors for the search: static, none, model:NAME, or the folder of a model such as ./minilm
    /// [default: static]
    #[arg(long, global = true, value_name = "NAME", value_parser = EmbedderName::parse)]
    pub(crate) embedder: Option<EmbedderName>,
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plan how the catalog answers a question
    Plan(PlanArgs),
    /// Call one discovery tool
    Call(CallArgs),
    /// Run one read-only SQL query over the databases of the catalog
    Sql(SqlArgs),
    /// List the discovery tools with their schemas
    Tools(ToolsArgs),
    /// Search tables, operations, documents, facts and skills
    Search(SearchArgs),
    /// Print the prompt that a model gets, with its token counts
    Prompt(PromptArgs),
    /// Bring the index up to date, and list everything that is wrong
    Refresh(RefreshArgs),
    /// Check that every name in a plan exists and its steps hold together
    Check(CheckArgs),
    /// Write a small catalog to begin with
    Init(InitArgs),
    /// Measure search, plans and tokens on questions whose answers are known
    Bench(BenchArgs),
}

/// `planner plan`
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The question
    pub(crate) question: String,
    /// The model [default: offline, or a provider's whose key is set]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// How to answer [default: by the words of the question]
    #[arg(long, value_parser = mode)]
    pub(crate) mode: Option<Mode>,
    /// At most this many rounds with the model
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) max_rounds: u32,
    /// At most this many tool calls
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) max_calls: u32,
    /// The form of the prompt, for experiments [default: by model and size]
    #[arg(long, value_enum)]
    pub(crate) prompt: Option<PromptName>,
    /// The set of tools: one for each thing to do, or six that take ids of any kind
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    /// Say nothing on standard error but problems
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// `planner call`
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool, as `planner tools` lists it
    pub(crate) tool: String,
    /// Its arguments as a JSON object
    #[arg(default_value = "{}")]
    pub(crate) arguments: String,
    /// As JSON, or as the text that a model is shown
    #[arg(long, value_enum, default_value_t = FormatName::Json, value_name = "FORMAT")]
    pub(crate) format: FormatName,
    /// The set of tools: one for each thing to do, or six that take ids of any kind [default: the one that has it]
    #[arg(long, value_enum)]
    pub(crate) profile: Option<ProfileName>,
}

/// `planner sql`
#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// One SELECT; tables are named DATABASE.TABLE
    pub(crate) sql: String,
    /// The database, where tables are named without it
    #[arg(long, value_name = "NAME")]
    pub(crate) database: Option<String>,
    /// As JSON, or as the text that a model is shown
    #[arg(long, value_enum, default_value_t = FormatName::Json, value_name = "FORMAT")]
    pub(crate) format: FormatName,
}

/// `planner tools`
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// The set of tools: one for each thing to do, or six that take ids of any kind
    #[arg(long, value_enum, default_value_t = ProfileName::Full)]
    pub(crate) profile: ProfileName,
    /// Those that run queries too
    #[arg(long)]
    pub(crate) queries: bool,
}

/// `planner search`
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// A question, some words or a name
    pub(crate) query: String,
    /// Only this kind; may be repeated [possible values: table, operation, document, fact, skill]
    #[arg(long = "kind", value_parser = kind)]
    pub(crate) kinds: Vec<Kind>,
    /// At most this many
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) limit: u32,
}

/// `planner prompt`
#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// The question, where it decides what fits
    #[arg(default_value = "")]
    pub(crate) question: String,
    /// The model [default: offline, or a provider's whose key is set]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The form of the prompt, for experiments [default: by model and size]
    #[arg(long, value_enum)]
    pub(crate) prompt: Option<PromptName>,
    /// The set of tools: one for each thing to do, or six that take ids of any kind
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
}

/// `planner refresh`
#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// Read sources again that have not changed too
    #[arg(long)]
    pub(crate) all: bool,
}

/// `planner check`
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The plan, as `planner plan` prints it; `-` for standard input
    pub(crate) plan: PathBuf,
}

/// `planner init`
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Where
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
}

/// `planner bench`
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What to measure
    #[command(subcommand)]
    pub(crate) command: BenchCommand,
}

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Recall, MRR and nDCG of the ranking, and its latency
    Retrieval(RetrievalArgs),
    /// Whether relevance is the share of hits that are right, and what the floor keeps back
    Calibration(CalibrationArgs),
    /// Tokens through discovery against everything in the prompt, and against an oracle
    Tokens(TokensArgs),
    /// Precision, recall and F1 of the plans, beside those with everything in the prompt
    Plans(PlansArgs),
}

/// What is planned over, and by whom.
#[derive(Debug, Args)]
pub(crate) struct EstatesArgs {
    /// The questions over the catalog, one a line: {"id", "query", "gold": [...], "kind"?, "dataset"?}
    #[arg(long, value_name = "FILE", required_unless_present_any = ["estates", "replay"])]
    pub(crate) queries: Option<PathBuf>,
    /// A folder with catalog.yaml and queries.jsonl, instead of the catalog; may be repeated
    #[arg(long = "estate", value_name = "FOLDER", conflicts_with_all = ["queries", "records"])]
    pub(crate) estates: Vec<PathBuf>,
    /// Tables and operations from this file, one JSON object a line, instead of the catalog
    #[arg(long, value_name = "FILE")]
    pub(crate) records: Option<PathBuf>,
    /// The set of tools; may be repeated
    #[arg(long = "profile", value_enum, value_name = "NAME")]
    pub(crate) profiles: Vec<ProfileName>,
    /// The model [default: offline]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Only N questions of each catalog, evenly spread
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// The form of the prompt [default: by model and size]
    #[arg(long, value_enum)]
    pub(crate) prompt: Option<PromptName>,
    /// Count the runs of this file, as --record wrote it, instead of asking a model
    #[arg(long, value_name = "FILE", conflicts_with_all = ["estates", "queries", "profiles", "model", "prompt", "limit"])]
    pub(crate) replay: Option<PathBuf>,
    /// Write the runs to this file, one JSON object a line
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Write the table to this file too
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// No table on standard error
    #[arg(long)]
    pub(crate) json: bool,
}

/// `planner bench tokens`
#[derive(Debug, Args)]
pub(crate) struct TokensArgs {
    #[command(flatten)]
    pub(crate) over: EstatesArgs,
    /// The model whose cache prices count [default: the model, or claude-sonnet-4-5 where it has none]
    #[arg(long, value_name = "NAME")]
    pub(crate) prices: Option<String>,
    /// Let the provider of this model count too, as Anthropic does without charge
    #[arg(long, value_name = "MODEL")]
    pub(crate) count: Option<String>,
    /// Write a chart to this file, as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) chart: Option<PathBuf>,
}

/// `planner bench plans`
#[derive(Debug, Args)]
pub(crate) struct PlansArgs {
    #[command(flatten)]
    pub(crate) over: EstatesArgs,
}

/// What is searched, and how the report is printed.
#[derive(Debug, Args)]
pub(crate) struct CorpusArgs {
    /// Records from this file, one JSON object a line, instead of the catalog
    #[arg(long, value_name = "FILE")]
    pub(crate) records: Option<PathBuf>,
    /// Search only this kind [default: the kind of each question, or all]
    #[arg(long, value_parser = kind)]
    pub(crate) kind: Option<Kind>,
    /// No table on standard error
    #[arg(long)]
    pub(crate) json: bool,
}

/// `planner bench retrieval`
#[derive(Debug, Args)]
pub(crate) struct RetrievalArgs {
    /// The questions, one a line: {"id", "query", "gold": [...], "kind"?, "dataset"?, "grades"?}
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,
    /// How to rank: lexical, dense, rrf, full or all of them
    #[arg(long, value_name = "NAME", default_value = "all", value_parser = ranker)]
    pub(crate) ranker: Rankers,
    /// Only the first N questions
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

/// `planner bench calibration`
#[derive(Debug, Args)]
pub(crate) struct CalibrationArgs {
    /// The questions, as for `bench retrieval`
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    /// Questions that nothing here answers; they need no `gold`
    #[arg(long, value_name = "FILE")]
    pub(crate) negatives: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,
    /// Judge this many hits of each question
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) hits: u32,
    /// Only the first N questions of each file
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

/// What makes vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EmbedderName {
    /// The table that ships with the program.
    Static,
    /// None: words must match.
    None,
    /// A transformer by its name on a hub.
    Model(String),
    /// A transformer in a folder.
    Folder(PathBuf),
}

impl EmbedderName {
    /// `static`, `none`, `model:NAME`, or a path: whatever holds a separator or begins with a dot.
    pub(crate) fn parse(name: &str) -> Result<EmbedderName, String> {
        match name {
            "static" => Ok(EmbedderName::Static),
            "none" => Ok(EmbedderName::None),
            _ if name.strip_prefix("model:").is_some_and(|model| !model.is_empty()) => {
                Ok(EmbedderName::Model(name["model:".len()..].to_owned()))
            }
            _ if name.starts_with('.') || name.contains(['/', std::path::MAIN_SEPARATOR]) => {
                Ok(EmbedderName::Folder(name.into()))
            }
            _ => Err("the embedders are static, none, model:NAME (such as model:all-MiniLM-L6-v2), and the path of a \
                      folder that holds a model (such as ./minilm)"
                .into()),
        }
    }
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// For programs
    Json,
    /// For models: less than half the tokens
    Text,
}

/// The sets of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// Six tools that take ids of any kind
    Compact,
    /// A tool for each thing to do with each kind
    Full,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Profile {
        match name {
            ProfileName::Compact => Profile::Compact,
            ProfileName::Full => Profile::Full,
        }
    }
}

impl Default for ProfileName {
    fn default() -> Self {
        match Profile::DEFAULT {
            Profile::Compact => ProfileName::Compact,
            Profile::Full => ProfileName::Full,
        }
    }
}

/// The forms of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PromptName {
    /// Instructions, map and tools
    Minimal,
    /// All metadata, and tools
    FullWithTools,
    /// All metadata, no tools
    Full,
}

impl From<PromptName> for PromptForm {
    fn from(name: PromptName) -> PromptForm {
        match name {
            PromptName::Minimal => PromptForm::Minimal,
            PromptName::FullWithTools => PromptForm::FullWithTools,
            PromptName::Full => PromptForm::Full,
        }
    }
}

fn mode(name: &str) -> Result<Mode, String> {
    let wanted = name.to_lowercase();
    Mode::ALL
        .into_iter()
        .find(|mode| mode.as_str() == wanted)
        .ok_or_else(|| format!("the modes are {}", Mode::ALL.map(Mode::as_str).join(", ")))
}

/// One ranker, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rankers(pub(crate) Option<Ranker>);

fn ranker(name: &str) -> Result<Rankers, String> {
    let wanted = name.to_lowercase();
    if wanted == "all" {
        return Ok(Rankers(None));
    }
    let found = Ranker::ALL.into_iter().find(|ranker| ranker.as_str() == wanted);
    found
        .map(|ranker| Rankers(Some(ranker)))
        .ok_or_else(|| format!("the rankers are {}, all", Ranker::ALL.map(Ranker::as_str).join(", ")))
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::from_name(&name.to_lowercase())
        .ok_or_else(|| format!("the kinds are {}", Kind::ALL.map(Kind::as_str).join(", ")))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_flags_are_consistent() {
        Cli::command().debug_assert();
    }
}
