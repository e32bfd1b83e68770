//! Flags of `planner bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use prospector_core::Kind;

use super::values::{ProfileName, PromptName, Rankers, kind, ranker};

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
    /// Check whether relevance matches the share of correct hits, and what the threshold rejects
    Calibration(CalibrationArgs),
    /// Write the ranking features of each candidate, from which the weights are learned
    Features(FeaturesArgs),
    /// Compare tokens with discovery to a prompt with the whole catalog, and verify the plans
    Tokens(TokensArgs),
    /// Verify plans that are known to be correct or wrong, and count failures and warnings
    Wordings(WordingsArgs),
    /// Run queries with known results, and write the results for comparison
    Sql(SqlBenchArgs),
    /// Ask questions with known result rows, and count the correct answers
    Answers(AnswersBenchArgs),
}

/// `planner bench wordings`
#[derive(Debug, Args)]
pub(crate) struct WordingsArgs {
    /// The folder with a folder per catalog, each with a queries.yaml
    #[arg(long, value_name = "FOLDER", default_value = "benches/wordings")]
    pub(crate) data: PathBuf,
    /// Only the catalog in this folder; may be repeated
    #[arg(long = "only", value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// No tables on standard error
    #[arg(long)]
    pub(crate) json: bool,
}

/// `planner bench sql`
#[derive(Debug, Args)]
pub(crate) struct SqlBenchArgs {
    /// The queries over the catalog, one per line: {"id", "database", "sql"}
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    /// Write the answers to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// `planner bench answers`
#[derive(Debug, Args)]
pub(crate) struct AnswersBenchArgs {
    /// The questions over the catalog, one per line: {"id", "question", "sql", "database"?}
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    /// The model [default: offline]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Write the answers to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON instead of a sentence
    #[arg(long)]
    pub(crate) json: bool,
}

/// `planner bench tokens`
#[derive(Debug, Args)]
pub(crate) struct TokensArgs {
    /// The questions over the catalog, one per line: {"id", "query", "gold": [...], "kind"?, "dataset"?}
    #[arg(long, value_name = "FILE", required_unless_present_any = ["estates", "tools"])]
    pub(crate) queries: Option<PathBuf>,
    /// A folder with catalog.yaml and queries.jsonl, instead of the catalog; may be repeated
    #[arg(long = "estate", value_name = "FOLDER", conflicts_with = "queries")]
    pub(crate) estates: Vec<PathBuf>,
    /// The tool set: compact has six tools that take ids of any kind, full has one tool per task
    #[arg(long, value_enum, default_value_t)]
    pub(crate) profile: ProfileName,
    /// The model [default: offline]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Only N questions of each catalog, evenly spread
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// The form of the prompt [default: by model and size]
    #[arg(long, value_enum)]
    pub(crate) prompt: Option<PromptName>,
    /// No table on standard error
    #[arg(long)]
    pub(crate) json: bool,
    /// Instead of planning, compare all definitions of tools, compressed lists and search, with their recall: a folder
    /// with catalog.jsonl (tools or operations) and queries.jsonl; repeat it to add distractors
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["queries", "estates", "profile", "model", "prompt"])]
    pub(crate) tools: Vec<PathBuf>,
    /// The numbers of tools
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_values_t = [50, 500, 5_000],
        conflicts_with_all = ["queries", "estates"],
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) sizes: Vec<u32>,
}

/// The searched records, and the format of the report.
#[derive(Debug, Args)]
pub(crate) struct CorpusArgs {
    /// Records from this file, one JSON object per line, instead of the catalog
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
    /// The questions, one per line: {"id", "query", "gold": [...], "kind"?, "dataset"?, "grades"?}
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

/// `planner bench features`
#[derive(Debug, Args)]
pub(crate) struct FeaturesArgs {
    /// The questions, as for `bench retrieval`; unanswerable ones need no `gold`
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: PathBuf,
    /// Records from this file, one JSON object per line, instead of the catalog
    #[arg(long, value_name = "FILE")]
    pub(crate) records: Option<PathBuf>,
    /// The kind to search
    #[arg(long, value_parser = kind)]
    pub(crate) kind: Kind,
    /// The file to write: a line of JSON, then rows of little-endian float32
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Write the features of the relevance calibration instead, as JSON Lines
    #[arg(long)]
    pub(crate) evidence: bool,
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
    /// Questions that nothing in the catalog answers; they need no `gold`
    #[arg(long, value_name = "FILE")]
    pub(crate) negatives: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,
    /// Learn a correction of relevance from these questions, for future searches of the catalog
    #[arg(long, conflicts_with = "records")]
    pub(crate) learn: bool,
    /// Number of hits to judge per question
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) hits: u32,
    /// Only the first N questions of each file
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}
