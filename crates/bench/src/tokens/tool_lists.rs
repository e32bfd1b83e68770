//! `planner bench tokens --tools`: the tokens that many tool definitions cost a model, next to the share of questions
//! whose tool it can still find.
//!
//! - *all*: every definition is in the prompt.
//! - *low*, *medium*, *high*, *max*: the prompt contains a list of tools in the format of [`compressed`]; the definition
//!   of a chosen tool is requested.
//! - *search*: the prompt contains the compact tools and the map; a question needs a `search`, and a `describe` of the
//!   chosen tools.
//!
//! No language model is called. With *all*, every definition is there, so recall is 1 by construction. The other methods
//! find a tool if it is among the first [`MAX_HITS`] hits: for *search* those of the tool itself, for a compressed list
//! those of the same ranking over the texts that the list shows, as a stand-in for a model that reads it. The chosen
//! tools are the needed ones among the hits, otherwise the first hit. Calls of the chosen tools are not counted, nor is
//! the question, since they are the same for all methods; therefore the lists have no wrapper that calls a tool.

mod compressed;
mod searched;
mod selection;

use std::path::PathBuf;

use prospector_core::{Problem, tokens, tool::ToolSpec};
use serde::Serialize;
use serde_json::json;

use crate::{
    averages::{Average, mean},
    error::BenchError,
    estate::OptionsFn,
    records::ToolRecord,
    table::Table,
};
use compressed::{CompressedList, Level};
use searched::SearchedTools;
use selection::{NeededTools, Selection};

/// Number of hits among which a needed tool counts as found.
const MAX_HITS: usize = 5;

/// The tools to compare, and how to open a catalog of them.
pub struct Setup<'a> {
    /// Folders with `catalog.jsonl`, tools or operations in a format of [`crate::records`], and `queries.jsonl`. The
    /// questions are those of the first; the tools of the others are distractors.
    pub folders: Vec<PathBuf>,
    /// The numbers of tools.
    pub sizes: Vec<usize>,
    /// Maximum number of questions, sampled evenly.
    pub limit: Option<usize>,
    /// The options to open a catalog with.
    pub options: &'a OptionsFn<'a>,
    /// Receives the problems of a catalog.
    pub notify: &'a dyn Fn(&[Problem]),
}

/// The output of `planner bench tokens --tools`.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The questions whose tools are in the smallest list; the same for all sizes.
    questions: usize,
    /// The questions that need more tools, or unknown ones.
    questions_skipped: usize,
    embedder: String,
    max_hits: usize,
    methods: Vec<Method>,
}

/// The results of one method for one number of tools.
#[derive(Debug, Serialize)]
struct Method {
    tools: usize,
    method: &'static str,
    /// Tokens in the context before the first question.
    prompt: usize,
    /// Tokens that a question adds to the context.
    question: Average,
    /// The share of needed tools among the first hits.
    recall: f64,
    /// The share of questions for which all needed tools are among the first hits.
    strict_recall: f64,
    /// Whether recall was measured; otherwise it is 1 by construction.
    is_measured: bool,
}

/// The result of one method for one question.
struct Outcome {
    tokens: usize,
    /// The share of needed tools among the hits.
    recall: f64,
}

/// Compares the methods for every number of tools.
///
/// # Errors
/// If a file cannot be read, the folders contain too few tools, no question fits into the smallest list, the catalog
/// cannot be opened, or a search fails.
pub async fn measure(setup: &Setup<'_>) -> Result<Report, BenchError> {
    let selection = Selection::read(setup)?;
    let embedder = (setup.options)().map_err(BenchError::Options)?.embedder;
    let mut methods = Vec::new();
    for size in setup.sizes.iter().copied() {
        let tools = &selection.tools[..size];
        methods.push(Method::of_all(tools));
        for level in Level::ALL {
            let list = CompressedList::new(tools, level, embedder.clone())?;
            let outcomes: Result<Vec<Outcome>, BenchError> =
                selection.questions.iter().map(|question| list.ask(question)).collect();
            methods.push(Method::of(size, level.as_str(), list.prompt, &outcomes?));
        }
        let searched = SearchedTools::open(tools, setup).await?;
        let mut outcomes = Vec::with_capacity(selection.questions.len());
        for question in &selection.questions {
            outcomes.push(searched.ask(question).await?);
        }
        methods.push(Method::of(size, "search", searched.prompt, &outcomes));
    }
    Ok(Report {
        questions: selection.questions.len(),
        questions_skipped: selection.skipped,
        embedder: embedder.map_or_else(|| "none".into(), |embedder| embedder.model().0.clone()),
        max_hits: MAX_HITS,
        methods,
    })
}

impl Method {
    /// Every definition in the prompt.
    fn of_all(tools: &[ToolRecord]) -> Method {
        let definitions = tools.iter().map(|tool| ToolSpec {
            name: tool.definition.name(),
            description: tool.definition.description.clone(),
            input_schema: tool.definition.input_schema.clone(),
        });
        Method {
            tools: tools.len(),
            method: "all",
            prompt: count_definitions(&definitions.collect::<Vec<_>>()),
            question: Average::default(),
            recall: 1.0,
            strict_recall: 1.0,
            is_measured: false,
        }
    }

    fn of(tools: usize, method: &'static str, prompt: usize, outcomes: &[Outcome]) -> Method {
        Method {
            tools,
            method,
            prompt,
            question: Average::of(outcomes.iter().map(|outcome| outcome.tokens as f64)),
            recall: mean(outcomes.iter().map(|outcome| outcome.recall)),
            strict_recall: mean(outcomes.iter().map(|outcome| f64::from(u8::from(outcome.recall >= 1.0)))),
            is_measured: true,
        }
    }
}

/// Counts definitions as a provider receives them.
fn count_definitions(definitions: &[ToolSpec]) -> usize {
    tokens::count(&json!(definitions).to_string())
}

/// Returns the share of needed tools among the hits, and the chosen hits: the needed ones, otherwise the first. A needed
/// tool without an id is not found.
fn choose<'a>(needed: &[Option<&String>], hits: &'a [String]) -> (f64, Vec<&'a str>) {
    let mut chosen: Vec<&str> = hits.iter().filter(|hit| needed.contains(&Some(hit))).map(String::as_str).collect();
    let recall = chosen.len() as f64 / needed.len().max(1) as f64;
    if chosen.is_empty() {
        chosen.extend(hits.first().map(String::as_str));
    }
    (recall, chosen)
}

impl Report {
    /// Renders the report as a Markdown table, with the limits of the measurement.
    pub fn table(&self) -> String {
        let mut table = Table::new(["tools", "method", "prompt", "per question", "recall@5", "strict recall@5"]);
        for method in &self.methods {
            table.row(vec![
                method.tools.to_string(),
                method.method.to_owned(),
                method.prompt.to_string(),
                format!("{:.0}", method.question.mean),
                format!("{:.3}", method.recall),
                format!("{:.3}", method.strict_recall),
            ]);
        }
        let Report { questions, questions_skipped, embedder, max_hits, .. } = self;
        format!(
            "{table}\n{questions} questions ({questions_skipped} skipped: the smallest list lacks their tools), embedder \
             {embedder}; tokens by o200k.\nNo language model chose a tool. `all`: 1 by construction. Other methods: the \
             needed tools among the first {max_hits} hits, for a compressed list of the same ranking over the texts that \
             it shows.\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chooses_the_needed_hits_or_the_first() {
        let hits = ["a", "b", "c"].map(str::to_owned);
        let (known, unknown) = ("c".to_owned(), "x".to_owned());
        assert_eq!(choose(&[Some(&known), Some(&unknown)], &hits), (0.5, vec!["c"]));
        assert_eq!(choose(&[Some(&unknown), None], &hits), (0.0, vec!["a"]));
        assert_eq!(choose(&[Some(&unknown)], &[]), (0.0, vec![]));
    }
}
