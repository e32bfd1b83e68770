//! The prompt `plan`: the planner's own instructions, for the model of the client.

use prospector_agent::plan::INSTRUCTIONS;
use prospector_discovery::prompt::{PromptBuilder, PromptForm};
use prospector_llm::{models::UNLISTED, purpose::Mode};
use rmcp::{
    ErrorData,
    model::{GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::Value;

use super::invalid_params;
use crate::{error::Refusal, view::CatalogView};

const PLAN: &str = "plan";

/// Lists the prompts.
pub(super) fn all() -> ListPromptsResult {
    let question = PromptArgument::new("question").with_description("The question to plan.").with_required(true);
    let mode = PromptArgument::new("mode")
        .with_description(format!("How to answer: {}.", Mode::ALL.map(Mode::as_str).join(", ")))
        .with_required(false);
    let about = "Plan how the catalog answers a question, with the tools of this server.";
    let plan = Prompt::new(PLAN, Some(about), Some(vec![question, mode])).with_title("Plan a question");
    ListPromptsResult::with_all_items(vec![plan])
}

/// Returns a prompt with its arguments filled in.
pub(super) fn get(view: &CatalogView, request: GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    if request.name != PLAN {
        let refusal = Refusal::not_found(format!("unknown prompt `{}`", request.name));
        return Err(invalid_params(&refusal.advise(format!("use `{PLAN}`"))));
    }
    let arguments = request.arguments.unwrap_or_default();
    let argument =
        |name: &str| arguments.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let Some(question) = argument("question") else {
        return Err(invalid_params(&Refusal::invalid("the prompt `plan` needs a question")));
    };
    let mode = match argument("mode") {
        None => Mode::of(question),
        Some(name) => Mode::ALL.into_iter().find(|mode| mode.as_str() == name).ok_or_else(|| {
            let modes = Mode::ALL.map(Mode::as_str).join(", ");
            invalid_params(&Refusal::invalid(format!("unknown mode `{name}`")).advise(modes))
        })?,
    };
    let prompt = PromptBuilder::new(&view.catalog, &view.tools, INSTRUCTIONS)
        .form(Some(PromptForm::Minimal))
        .build(&UNLISTED, question);
    let mut text: String = prompt.system.iter().map(|block| format!("{}\n\n", block.text)).collect();
    text.push_str(&format!("Mode: {}.\n\nQuestion: {question}", mode.as_str()));
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
        .with_description("Plan how the catalog answers a question"))
}
