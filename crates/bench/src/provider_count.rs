//! Token counts of discovery, everything and the oracle by the provider of a model.

use prospector_agent::plan::INSTRUCTIONS;
use prospector_core::tool::ToolSpec;
use prospector_discovery::{DiscoveryTools, prompt::PromptBuilder};
use prospector_llm::{ChatModel, ChatRequest, Message, message::SystemBlock};
use serde::Serialize;

use crate::{
    averages::{Average, mean, round},
    conversation::Conversation,
    error::BenchError,
    estate::Notice,
    session::Session,
    table::Table,
};

/// The counts for one catalog, means over the questions.
#[derive(Debug, Serialize)]
pub(crate) struct ProviderCount {
    /// The model used for counting.
    model: String,
    /// `None` if the provider rejects a prompt with everything, which may exceed its limit.
    everything: Option<f64>,
    context: Average,
    oracle: Average,
    /// Computed from the means.
    saved: Option<f64>,
    times_oracle: f64,
}

/// Counts these runs with the provider: for each, its last request, which contains every distinct token, the prompt
/// with everything, and that of the oracle.
///
/// # Errors
/// If the provider fails or does not support counting; a failure to count a prompt with everything is only a warning.
pub(crate) async fn count_with_provider(
    session: &Session<'_>,
    counter: &dyn ChatModel,
    runs: &[Conversation],
    notify: &dyn Fn(Notice<'_>),
) -> Result<ProviderCount, BenchError> {
    let tools = DiscoveryTools::new(session.catalog, session.profile).without_user();
    let builder = PromptBuilder::new(session.catalog, &tools, INSTRUCTIONS);
    let (mut context, mut oracle, mut everything) = (Vec::new(), Vec::new(), Vec::new());
    let whole = builder.everything();
    let mut takes_everything = true;
    for run in runs {
        let Some(messages) = run.requests().pop() else { continue };
        let asked: Vec<Message> = messages.first().map(|message| (*message).clone()).into_iter().collect();
        let specs = run.tools.iter().filter_map(tool_spec).collect();
        let messages = messages.into_iter().cloned().collect();
        context.push(count(counter, &run.system, messages, specs).await?);
        let least = builder.only(&session.least(&run.question));
        oracle.push(count(counter, &[least], asked.clone(), Vec::new()).await?);
        if takes_everything {
            match count(counter, std::slice::from_ref(&whole), asked, Vec::new()).await {
                Ok(tokens) => everything.push(tokens),
                Err(error) => {
                    notify(Notice::EverythingNotCounted(&error));
                    takes_everything = false;
                }
            }
        }
    }
    let (context, oracle) = (Average::of(context), Average::of(oracle));
    let everything = takes_everything.then(|| mean(everything));
    Ok(ProviderCount {
        model: counter.name().to_owned(),
        everything,
        saved: everything.map(|everything| round(1.0 - context.mean / everything.max(1.0))),
        times_oracle: round(context.mean / oracle.mean.max(1.0)),
        context,
        oracle,
    })
}

fn tool_spec(tool: &serde_json::Value) -> Option<ToolSpec> {
    Some(ToolSpec {
        name: tool["name"].as_str()?.to_owned(),
        description: tool["description"].as_str()?.to_owned(),
        input_schema: tool["input_schema"].clone(),
    })
}

async fn count(
    counter: &dyn ChatModel,
    system: &[String],
    messages: Vec<Message>,
    tools: Vec<ToolSpec>,
) -> Result<f64, BenchError> {
    let system = system.iter().map(|text| SystemBlock { text: text.clone(), cache: false }).collect();
    let request = ChatRequest { purpose: Default::default(), system, messages, tools, max_output_tokens: 1 };
    let tokens = counter.count_tokens(&request).await?;
    let tokens = tokens.ok_or_else(|| BenchError::CountsNothing { model: counter.name().to_owned() })?;
    Ok(tokens as f64)
}

/// Renders the counts as a table, each with the name of its catalog and tool profile; empty without counts.
pub(crate) fn table<'a>(counts: impl Iterator<Item = (&'a str, &'a str, &'a ProviderCount)>) -> String {
    let mut table = Table::new(["estate", "tools", "everything", "context", "saved %", "oracle", "x oracle"]);
    let mut model = None;
    for (estate, profile, counted) in counts {
        model = Some(counted.model.as_str());
        let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        table.row(vec![
            estate.to_owned(),
            profile.to_owned(),
            or_none(counted.everything.map(|tokens| format!("{tokens:.0}"))),
            format!("{:.0}", counted.context.mean),
            or_none(counted.saved.map(|share| format!("{:.1}", share * 100.0))),
            format!("{:.0}", counted.oracle.mean),
            format!("{:.2}", counted.times_oracle),
        ]);
    }
    model.map_or_else(String::new, |model| format!("\nAs {model} counts:\n\n{table}"))
}
