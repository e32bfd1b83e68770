//! The flags, as types.

mod about;
mod begin;
mod bench;
mod limits;
mod metrics;
mod queries;
mod report;
mod serve;
mod test;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use prospector_agent::ask::Platform;
use prospector_core::Kind;
use prospector_engine::options::Cluster;
use prospector_llm::purpose::Mode;

pub(crate) use about::{AboutCommand, Guide};
pub(crate) use begin::{AddArgs, DoctorArgs, InitArgs};
pub(crate) use bench::*;
pub(crate) use limits::LimitArgs;
pub(crate) use metrics::{MetricsArgs, MetricsCommand};
pub(crate) use queries::*;
pub(crate) use report::ReportArgs;
pub(crate) use serve::{McpArgs, ServeArgs};
pub(crate) use test::{TestArgs, TestFormat};
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
        planner serve ./data                            a page over the data of a folder\n  \
        planner init                                    write a catalog.yaml of what is here\n  \
        planner plan \"Revenue per country by quarter\"    plan a question\n  \
        planner run plan.json                           run a plan step by step\n  \
        planner ask \"Revenue per country in 2024\"       answer a question from the data\n  \
        planner chat                                    ask one question after the other\n  \
        planner search \"refund\" --kind document          look for something\n  \
        planner call get_table_schema '{\"database\": \"store\", \"table\": \"invoices\"}'\n  \
        planner plan \"...\" --model claude-sonnet-4-5     with ANTHROPIC_API_KEY set\n  \
        planner plan \"...\" --model ollama/qwen3          with Ollama on this machine\n\n\
        OUTPUT\n  JSON on standard output and nothing else; on a terminal, tables or text (see --format).\n  \
        Progress and problems on standard error.\n\n\
        EXIT STATUS\n  \
        0  done; a plan is verified, a question is answered\n  \
        1  the plan is not verified, the question is not answered (report: or one of them), the tool answered\n     \
              an error, the server is not ready\n  \
        2  wrong usage, or the catalog cannot be read (refresh: or any part of it;\n     \
              refresh --check: or a file of the state is damaged; doctor: or more)\n  \
        3  the provider of the model failed\n  \
        4  the question is partly answered (report: or one of them)\n\n\
        ENVIRONMENT\n  \
        PROSPECTOR_CATALOG, PROSPECTOR_STATE, PROSPECTOR_MODEL   as --catalog, --state, --model\n  \
        PROSPECTOR_EMBEDDER, PROSPECTOR_ENGINE                   as --embedder, --engine\n  \
        PROSPECTOR_MAX_ROUNDS, PROSPECTOR_MAX_CALLS              as --max-rounds, --max-calls\n  \
        PROSPECTOR_MAX_SECONDS, PROSPECTOR_CALLS_AT_ONCE         as --max-seconds, --calls-at-once\n  \
        PROSPECTOR_QUERY_MEMORY                                  what a query over several sources may take, in MB (default: 2048)\n  \
        PROSPECTOR_TOKEN                                         a token that opens `planner serve`\n  \
        XDG_CACHE_HOME                                           where what is made of --on is kept (default: ~/.cache)\n  \
        PROSPECTOR_LOG                                           what is logged to standard error (default: warn)\n  \
        ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL                    for Anthropic's models\n  \
        OPENAI_API_KEY, OPENAI_BASE_URL                          for OpenAI's, or any compatible server\n  \
        GEMINI_API_KEY, GEMINI_BASE_URL                          for Google's models\n  \
        OLLAMA_BASE_URL                                          for `ollama/NAME` (default: http://localhost:11434)\n  \
        ORT_DYLIB_PATH                                           the onnxruntime library that --embedder opens\n  \
        HF_ENDPOINT, HF_TOKEN                                    where --embedder model:NAME downloads from\n  \
        OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, ...               where traces are sent, by OTLP over HTTP (default: nowhere)"
)]
pub(crate) struct Cli {
    /// The catalog file [default: catalog.yaml or catalog/catalog.yaml here]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,
    /// Instead of a catalog a source: a file, a folder, a pattern, or a URL of a database, an API or a document; may be
    /// repeated. NAME=SOURCE names it
    #[arg(long, global = true, value_name = "SOURCE", conflicts_with = "catalog")]
    pub(crate) on: Vec<String>,
    /// Where the index and the fact store live [default: .prospector beside the catalog; of sources, a folder of their own in
    /// the user's cache]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) state: Option<PathBuf>,
    /// What makes vectors for the search: static, none, model:NAME, or the folder of a model such as ./minilm
    /// [default: static]
    #[arg(long, global = true, value_name = "NAME", value_parser = EmbedderName::parse)]
    pub(crate) embedder: Option<EmbedderName>,
    /// The scheduler of a Ballista cluster that joins databases and reads files, such as df://127.0.0.1:50050
    /// [default: this process]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) engine: Option<Cluster>,
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// The sources that stand in the place of a catalog, those of the command too.
    pub(crate) fn sources(&self) -> Vec<String> {
        let own = match &self.command {
            Command::Serve(args) => args.sources.as_slice(),
            Command::Mcp(args) => args.sources.as_slice(),
            _ => &[],
        };
        self.on.iter().chain(own).cloned().collect()
    }
}

/// The command that a process of this program starts itself with, see `prospector_engine::worker`.
pub(crate) const QUERY_WORKER: &str = "query-worker";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plan how the catalog answers a question
    Plan(PlanArgs),
    /// Run a plan step by step, and print what each step found
    Run(RunArgs),
    /// Answer a question from the data and the documents of the catalog
    Ask(AskArgs),
    /// Ask one question after the other
    Chat(ChatArgs),
    /// Answer a list of questions on one page, with charts and what changed since the last time
    Report(ReportArgs),
    /// Match the records of two sources, step by step with the user
    Reconcile(ReconcileArgs),
    /// Call one discovery tool
    Call(CallArgs),
    /// Run one read-only SQL query over the databases of the catalog
    Sql(SqlArgs),
    /// Look at the metrics of the catalog, and compute them
    Metrics(MetricsArgs),
    /// List the discovery tools with their schemas
    Tools(ToolsArgs),
    /// Search tables, operations, documents, facts and skills
    Search(SearchArgs),
    /// Print the prompt that a model gets, with its token counts
    Prompt(PromptArgs),
    /// Look at the facts that were said, approve those that wait, remove any
    Facts(FactsArgs),
    /// List the queries that somebody has checked, run and compare them, approve those that wait
    Queries(QueriesArgs),
    /// Ask questions of your own, and compare the answers with what you expect
    Test(TestArgs),
    /// Bring the index up to date, and list everything that is wrong
    Refresh(RefreshArgs),
    /// Serve the tools to an MCP client over standard input and output
    Mcp(McpArgs),
    /// Serve the tools over HTTP, MCP over HTTP, and a page to ask on
    Serve(ServeArgs),
    /// Check that every name in a plan exists and its steps hold together
    Check(CheckArgs),
    /// Look around, and write a catalog of what is there
    Init(InitArgs),
    /// Add a source to the catalog, where it can be opened
    Add(AddArgs),
    /// Say what is wrong, and what to do about it
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
    /// The model [default: offline, or a provider's whose key is set]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// How to answer [default: by the words of the question]
    #[arg(long, value_parser = mode)]
    pub(crate) mode: Option<Mode>,
    /// The form of the prompt, for experiments [default: by model and size]
    #[arg(long, value_enum)]
    pub(crate) prompt: Option<PromptName>,
    /// The set of tools: one for each thing to do, or six that take ids of any kind
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    /// Run the plan too, where it is verified, and print what each step found
    #[arg(long)]
    pub(crate) run: bool,
    /// As JSON, or as a text for people
    #[arg(long, value_enum, default_value_t = FormatName::Json, value_name = "FORMAT")]
    pub(crate) format: FormatName,
    /// Say nothing on standard error but problems
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl PlanArgs {
    /// A plan for a question, as questions are answered.
    pub(crate) fn of(question: String, answering: &AnsweringArgs, mode: Option<Mode>) -> PlanArgs {
        PlanArgs {
            question,
            model: answering.model.clone(),
            mode,
            limits: answering.limits,
            prompt: None,
            profile: answering.profile,
            run: false,
            format: FormatName::Json,
            quiet: answering.quiet,
        }
    }
}

/// `planner run`
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The plan, as `planner plan` prints it or somebody wrote it; `-` for standard input [default: that of --resume]
    pub(crate) plan: Option<PathBuf>,
    /// Go on with an earlier run: steps that are the same are taken from it; `last` is the latest
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    /// Stop after this step
    #[arg(long, value_name = "N")]
    pub(crate) until: Option<u32>,
    /// Tell what differs from an earlier run; `last` is the latest
    #[arg(long, value_name = "RUN")]
    pub(crate) compare: Option<String>,
    /// As JSON with queries, rows and what each step rests on, or as a text
    #[arg(long, value_enum, default_value_t = FormatName::Json, value_name = "FORMAT")]
    pub(crate) format: FormatName,
    /// Say nothing on standard error but problems
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// How questions are answered.
#[derive(Debug, Clone, Args)]
pub(crate) struct AnsweringArgs {
    /// The model that finds out [default: offline, or a provider's whose key is set]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The model that writes the answer and the follow-up questions; a smaller one will do [default: the same]
    #[arg(long, value_name = "NAME")]
    pub(crate) summary_model: Option<String>,
    /// How to answer [default: by the words of the question]
    #[arg(long, value_parser = mode)]
    pub(crate) mode: Option<Mode>,
    /// Where the answer is read: plain, markdown or slack
    #[arg(long, default_value = "markdown", value_name = "NAME", value_parser = platform)]
    pub(crate) platform: Platform,
    /// How the answer is to be formatted, in your words [default: as the platform wants it]
    #[arg(long, value_name = "TEXT", conflicts_with = "platform")]
    pub(crate) formatting: Option<String>,
    /// The set of discovery tools: one for each thing to do, or six that take ids of any kind
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    /// No follow-up questions
    #[arg(long)]
    pub(crate) no_follow_ups: bool,
    /// Write each event as one line of JSON on standard error
    #[arg(long)]
    pub(crate) events: bool,
    /// Say nothing on standard error but problems
    #[arg(long, short, conflicts_with = "events")]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// `planner ask`
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The question
    pub(crate) question: String,
    /// As JSON with queries, rows and what was checked, or the answer's text alone [default: text on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// Go on with the conversation of that name, or begin it
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Keep the query behind the answer under this name, until `planner queries approve`
    #[arg(long, value_name = "NAME")]
    pub(crate) save: Option<String>,
    /// Write the chart of the answer, where there is one: `svg` for an image, `vega` for a specification of Vega-Lite
    #[arg(long, num_args = 2, value_names = ["FORM", "FILE"])]
    pub(crate) chart: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) answering: AnsweringArgs,
}

/// `planner chat`
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Go on with the conversation of that name, or begin it [default: one that is not kept]
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
    /// What the user says, one turn a line, from this file [default: standard input]
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// Phases of your own from this file (YAML), over the same tools [default: the built-in ones]
    #[arg(long, value_name = "FILE")]
    pub(crate) workflow: Option<PathBuf>,
    /// The model [default: offline, or a provider's whose key is set]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Write each event as one line of JSON on standard error
    #[arg(long)]
    pub(crate) events: bool,
    /// Say nothing on standard error but problems
    #[arg(long, short, conflicts_with = "events")]
    pub(crate) quiet: bool,
    /// Each of them for one turn
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
    /// How it is printed [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
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
    /// How it is printed [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
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
    /// How it is printed [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

/// `planner search`
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// A question, some words or a name
    pub(crate) query: String,
    /// Only this kind; may be repeated [possible values: table, operation, document, fact, skill, query]
    #[arg(long = "kind", value_parser = kind)]
    pub(crate) kinds: Vec<Kind>,
    /// At most this many
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) limit: u32,
    /// How it is printed [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
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

/// `planner facts`
#[derive(Debug, Args)]
pub(crate) struct FactsArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: FactsCommand,
}

/// What to do with facts.
#[derive(Debug, Subcommand)]
pub(crate) enum FactsCommand {
    /// List every fact that was said or extracted, with who said it; those that wait for approval come first
    List {
        /// Only those that wait
        #[arg(long)]
        pending: bool,
    },
    /// Let facts that wait hold for everyone, in the place of what was said of their terms before
    Approve {
        /// Their ids, as the list shows them
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Forget facts
    Remove {
        /// Their ids, as the list shows them
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}

/// `planner refresh`
#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// Read sources again that have not changed too, and build the index anew
    #[arg(long, conflicts_with = "check")]
    pub(crate) all: bool,
    /// Only read every file of the state folder and say which are damaged; change nothing
    #[arg(long)]
    pub(crate) check: bool,
    /// How it is printed [default: table on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
}

/// `planner check`
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The plan, as `planner plan` prints it; `-` for standard input
    pub(crate) plan: PathBuf,
    /// How it is printed [default: table on a terminal, else json]
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
