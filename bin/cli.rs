//! Command-line flags as types.

mod about;
mod bench;
mod catalog;
mod limits;
mod metrics;
mod queries;
mod report;
mod serve;
mod sources;
mod test;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use prospector_agent::ask::Platform;
use prospector_core::Kind;
use prospector_llm::purpose::Mode;

pub(crate) use about::{AboutCommand, Guide};
pub(crate) use bench::*;
pub(crate) use catalog::{AddArgs, DoctorArgs, InitArgs};
pub(crate) use limits::LimitArgs;
pub(crate) use metrics::{MetricsArgs, MetricsCommand};
pub(crate) use queries::*;
pub(crate) use report::ReportArgs;
pub(crate) use serve::{McpArgs, ServeArgs};
pub(crate) use sources::{SourcesArgs, SourcesCommand};
pub(crate) use test::{TestArgs, TestFormat};
pub(crate) use values::reword;
pub(crate) use values::{EmbedderName, FormatName, ProfileName, PromptName, ReportFormat, TransformerName};
use values::{kind, mode, platform};

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
        planner ask \"...\" --on sales.csv                 answer from files, without a catalog\n  \
        planner serve ./data --open                     a web page over the data of a folder\n  \
        planner sql --on sales.csv                      an SQL shell\n  \
        planner init                                    create a catalog.yaml from the data here\n  \
        planner plan \"Revenue per country by quarter\"    plan a question\n  \
        planner run plan.json                           run a plan step by step\n  \
        planner ask \"Revenue per country in 2024\"       answer a question from the data\n  \
        planner chat                                    start a conversation\n  \
        planner search \"refund\" --kind document          search the catalog\n  \
        planner call get_table_schema '{\"database\": \"store\", \"table\": \"invoices\"}'\n  \
        planner plan \"...\" --model claude-sonnet-4-5     with ANTHROPIC_API_KEY set\n  \
        planner plan \"...\" --model ollama/qwen3          with Ollama on this machine\n\n\
        OUTPUT\n  JSON on standard output, nothing else; on a terminal, tables or text (see --format).\n  \
        Progress and problems on standard error.\n\n\
        EXIT STATUS\n  \
        0  done; a plan is verified, a question is answered\n  \
        1  the plan is not verified or has no steps, the question is not answered (report: or one\n     \
              of them), the tool answered an error, the server is not ready\n  \
        2  wrong usage, or the catalog cannot be read (refresh: or any part of it;\n     \
              refresh --check: or a file of the state is damaged; doctor: or more)\n  \
        3  the provider of the model failed\n  \
        4  the question is partly answered (report: or one of them)\n\n\
        ENVIRONMENT\n  \
        PROSPECTOR_CATALOG, PROSPECTOR_STATE, PROSPECTOR_MODEL   as --catalog, --state, --model\n  \
        PROSPECTOR_EMBEDDER                                      as --embedder\n  \
        PROSPECTOR_MAX_ROUNDS, PROSPECTOR_MAX_CALLS              as --max-rounds, --max-calls\n  \
        PROSPECTOR_MAX_SECONDS, PROSPECTOR_CALLS_AT_ONCE         as --max-seconds, --calls-at-once\n  \
        PROSPECTOR_QUERY_MEMORY                                  memory limit of a query over several sources or files, in MB (default: 2048)\n  \
        PROSPECTOR_TOKEN                                         a token for `planner serve`\n  \
        XDG_CACHE_HOME                                           the folder of the indexes for --on (default: ~/.cache)\n  \
        PROSPECTOR_LOG                                           the log level on standard error (default: warn)\n  \
        ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL                    for Anthropic's models\n  \
        OPENAI_API_KEY, OPENAI_BASE_URL                          for OpenAI's, or any compatible server\n  \
        GEMINI_API_KEY, GEMINI_BASE_URL                          for Google's models\n  \
        OLLAMA_BASE_URL                                          for `ollama/NAME` (default: http://localhost:11434)\n  \
        ORT_DYLIB_PATH                                           the onnxruntime library for --embedder\n  \
        HF_ENDPOINT, HF_TOKEN                                    the download server for --embedder model:NAME\n  \
        OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, ...               the collector of traces, OTLP over HTTP (default: none)"
)]
pub(crate) struct Cli {
    /// The catalog file [default: catalog.yaml or catalog/catalog.yaml here]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,
    /// A source in place of a catalog: a file, a folder, a pattern, or the URL of a database, an API or a document; may be
    /// repeated. NAME=SOURCE sets its name
    #[arg(long, global = true, value_name = "SOURCE", conflicts_with = "catalog")]
    pub(crate) on: Vec<String>,
    /// The folder of the index and the fact store [default: .prospector next to the catalog; for --on, a folder in the user
    /// cache]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) state: Option<PathBuf>,
    /// The embedder of the search: static, none, model:NAME, or the folder of a model such as ./minilm
    /// [default: static]
    #[arg(long, global = true, value_name = "NAME", value_parser = EmbedderName::parse)]
    pub(crate) embedder: Option<EmbedderName>,
    /// The command
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Returns the sources used in place of a catalog, including those of the command.
    pub(crate) fn sources(&self) -> Vec<String> {
        let own = match &self.command {
            Command::Serve(args) => args.sources.as_slice(),
            Command::Mcp(args) => args.sources.as_slice(),
            _ => &[],
        };
        self.on.iter().chain(own).cloned().collect()
    }
}

/// The hidden command of worker processes, see `prospector_engine::worker`.
pub(crate) const QUERY_WORKER: &str = "query-worker";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plan how the catalog answers a question
    Plan(PlanArgs),
    /// Run a plan step by step and print the result of each step
    Run(RunArgs),
    /// Answer a question from the data and the documents of the catalog
    Ask(AskArgs),
    /// Start an interactive conversation
    Chat(ChatArgs),
    /// Answer a list of questions as an HTML report, with charts and changes since the last run
    Report(ReportArgs),
    /// Match the records of two sources, step by step with the user
    Reconcile(ReconcileArgs),
    /// Call one discovery tool
    Call(CallArgs),
    /// Run read-only SQL over the databases of the catalog, or open an SQL shell
    Sql(SqlArgs),
    /// List, show and query the metrics of the catalog
    Metrics(MetricsArgs),
    /// List the discovery tools with their schemas
    Tools(ToolsArgs),
    /// Search tables, operations, documents, facts and skills
    Search(SearchArgs),
    /// Print the prompt that a model gets, with its token counts
    Prompt(PromptArgs),
    /// List, approve and remove user-supplied definitions (facts)
    Facts(FactsArgs),
    /// Manage verified queries: list, run, check for staleness, approve pending ones
    Queries(QueriesArgs),
    /// List MCP servers, review changed definitions of their tools
    Sources(SourcesArgs),
    /// Run test cases: questions with expected answers
    Test(TestArgs),
    /// Update the index and list all problems of the catalog
    Refresh(RefreshArgs),
    /// Serve the tools to an MCP client over standard input and output
    Mcp(McpArgs),
    /// Serve the web page, the HTTP API, and MCP over HTTP
    Serve(ServeArgs),
    /// Verify a plan: its names, steps and queries
    Check(CheckArgs),
    /// Create a catalog from the data found here
    Init(InitArgs),
    /// Add a source to the catalog, after opening it
    Add(AddArgs),
    /// Diagnose the catalog, its sources and the model configuration
    Doctor(DoctorArgs),
    /// Measure search, plans and tokens on questions whose answers are known
    Bench(BenchArgs),
    #[command(flatten)]
    About(AboutCommand),
    /// Compute queries for the process that started this one
    #[command(name = QUERY_WORKER, hide = true)]
    QueryWorker,
}

/// `planner plan`
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The question
    pub(crate) question: String,
    /// The model [default: that of a provider whose key is set, else the built-in planner `offline`]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The mode [default: automatic]
    #[arg(long, value_parser = mode)]
    pub(crate) mode: Option<Mode>,
    /// The form of the prompt, for experiments [default: by model and size]
    #[arg(long, value_enum)]
    pub(crate) prompt: Option<PromptName>,
    /// The tool set: compact has six tools that take ids of any kind, full has one tool per task
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    /// Run the plan if it is verified, and print the result of each step
    #[arg(long)]
    pub(crate) run: bool,
    /// As JSON, or as human-readable text [default: text on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// What is written to standard error while a question is being answered.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct ProgressArgs {
    /// Show each tool call and query on standard error
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Write only problems to standard error
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
}

impl PlanArgs {
    /// Returns the arguments of a plan with the options of `answering`.
    pub(crate) fn of(question: String, answering: &AnsweringArgs, mode: Option<Mode>) -> PlanArgs {
        PlanArgs {
            question,
            model: answering.model.clone(),
            mode,
            limits: answering.limits,
            prompt: None,
            profile: answering.profile,
            run: false,
            format: None,
            progress: answering.progress,
        }
    }
}

/// `planner run`
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The plan as `planner plan` prints it; `-` reads standard input [default: that of --resume]
    pub(crate) plan: Option<PathBuf>,
    /// Resume an earlier run: unchanged steps are reused; `last` is the latest run
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    /// Stop after this step
    #[arg(long, value_name = "N")]
    pub(crate) until: Option<u32>,
    /// Report the differences from an earlier run; `last` is the latest run
    #[arg(long, value_name = "RUN")]
    pub(crate) compare: Option<String>,
    /// As JSON with queries, rows and the sources of each step, or as a text [default: text on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// Write only problems to standard error
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Options for answering questions.
#[derive(Debug, Clone, Args)]
pub(crate) struct AnsweringArgs {
    /// The model that does the research [default: that of a provider whose key is set, else the built-in planner `offline`]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The model that writes the answer and the follow-up questions; a smaller one suffices [default: the same]
    #[arg(long, value_name = "NAME")]
    pub(crate) summary_model: Option<String>,
    /// The mode [default: automatic]
    #[arg(long, value_parser = mode)]
    pub(crate) mode: Option<Mode>,
    /// The platform that shows the answer: plain, markdown or slack
    #[arg(long, default_value = "markdown", value_name = "NAME", value_parser = platform)]
    pub(crate) platform: Platform,
    /// Formatting instructions for the answer [default: those of the platform]
    #[arg(long, value_name = "TEXT", conflicts_with = "platform")]
    pub(crate) formatting: Option<String>,
    /// The tool set: compact has six tools that take ids of any kind, full has one tool per task
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    /// No follow-up questions
    #[arg(long)]
    pub(crate) no_follow_ups: bool,
    /// Write each event as one line of JSON on standard error
    #[arg(long, conflicts_with_all = ["quiet", "verbose"])]
    pub(crate) events: bool,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// `planner ask`
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The question
    pub(crate) question: String,
    /// The text of the answer, JSON with queries, rows and checks, or in the other formats all rows of its last query [default: text on a
    /// terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
    /// Continue or start the conversation with this name
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Keep the query of the answer under this name, pending approval with `planner queries approve`
    #[arg(long, value_name = "NAME")]
    pub(crate) save: Option<String>,
    /// Write the chart of the answer, if it has one: `svg` for an image, `vega` for a Vega-Lite specification
    #[arg(long, num_args = 2, value_names = ["FORM", "FILE"])]
    pub(crate) chart: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) answering: AnsweringArgs,
}

/// `planner chat`
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Continue or start the conversation with this name [default: one that is not stored]
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) answering: AnsweringArgs,
}

/// `planner reconcile`
#[derive(Debug, Args)]
pub(crate) struct ReconcileArgs {
    /// What to match with what, such as "the bank's payments with our invoices of 2025" [default: the model asks]
    pub(crate) what: Option<String>,
    /// The user's input, one turn per line, from this file [default: standard input]
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// A custom workflow from this file (YAML), with the same tools [default: the built-in one]
    #[arg(long, value_name = "FILE")]
    pub(crate) workflow: Option<PathBuf>,
    /// The model [default: that of a provider whose key is set, else the built-in planner `offline`]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Write each event as one line of JSON on standard error
    #[arg(long)]
    pub(crate) events: bool,
    /// Write only problems to standard error
    #[arg(long, short, conflicts_with = "events")]
    pub(crate) quiet: bool,
    /// Limits of one turn
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// `planner call`
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool, as `planner tools` lists it
    pub(crate) tool: String,
    /// Its arguments as a JSON object
    #[arg(default_value = "{}")]
    pub(crate) arguments: String,
    /// Output format [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
    /// The tool set: compact has six tools that take ids of any kind, full has one tool per task [default: the one that has it]
    #[arg(long, value_enum)]
    pub(crate) profile: Option<ProfileName>,
}

/// `planner sql`
#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// One statement: a SELECT over tables named DATABASE.TABLE, SHOW TABLES, SHOW DATABASES or DESCRIBE TABLE; `-` reads
    /// statements that end with `;` from standard input [default: standard input, a shell on a terminal]
    pub(crate) sql: Option<String>,
    /// The default database for tables named without one
    #[arg(long, value_name = "NAME")]
    pub(crate) database: Option<String>,
    /// Maximum number of rows per statement [default: all; 1000 for a table on a terminal]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Output format [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

/// `planner tools`
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// The tool set: compact has six tools that take ids of any kind, full has one tool per task
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    /// Include the tools that run queries
    #[arg(long)]
    pub(crate) queries: bool,
    /// Output format [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

/// `planner search`
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// A question, keywords or a name
    pub(crate) query: String,
    /// Only this kind; may be repeated [possible values: table, operation, document, fact, skill, query]
    #[arg(long = "kind", value_parser = kind)]
    pub(crate) kinds: Vec<Kind>,
    /// Maximum number of hits
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) limit: u32,
    /// Output format [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

/// `planner prompt`
#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// The question, which decides what is included if not all of the catalog fits
    #[arg(default_value = "")]
    pub(crate) question: String,
    /// The model [default: that of a provider whose key is set, else the built-in planner `offline`]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The form of the prompt, for experiments [default: by model and size]
    #[arg(long, value_enum)]
    pub(crate) prompt: Option<PromptName>,
    /// The tool set: compact has six tools that take ids of any kind, full has one tool per task
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
}

/// `planner facts`
#[derive(Debug, Args)]
pub(crate) struct FactsArgs {
    /// The command
    #[command(subcommand)]
    pub(crate) command: FactsCommand,
}

/// Commands for facts.
#[derive(Debug, Subcommand)]
pub(crate) enum FactsCommand {
    /// List user-supplied and extracted facts with their authors, pending ones first
    List {
        /// Only pending facts
        #[arg(long)]
        pending: bool,
    },
    /// Approve pending facts: they replace earlier definitions of their terms, for all users
    Approve {
        /// Their ids, as the list shows them
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Remove facts
    Remove {
        /// Their ids, as the list shows them
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}

/// `planner refresh`
#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// Also re-read unchanged sources, and rebuild the index
    #[arg(long, conflicts_with = "check")]
    pub(crate) all: bool,
    /// Only check every file of the state folder for damage; change nothing
    #[arg(long)]
    pub(crate) check: bool,
    /// Output format [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

/// `planner check`
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The plan, as `planner plan` prints it; `-` reads standard input
    pub(crate) plan: PathBuf,
    /// Output format [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
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
