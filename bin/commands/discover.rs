//! The read-only commands `call`, `tools`, `search`, `prompt` and `refresh`.

use std::sync::Arc;

use prospector_agent::session::Session;
use prospector_core::Problem;
use prospector_core::tool::{Answer, ToolError, ToolErrorCode};
use prospector_discovery::{
    DiscoveryTools, Profile,
    prompt::{PromptBuilder, PromptForm, PromptTokens},
    state::{check, discard_damaged},
};
use prospector_engine::Engine;
use prospector_search::RefreshReport;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Opening, capabilities, open, open_index, rows, with_advice};
use crate::{
    Exit,
    cli::{CallArgs, PromptArgs, RefreshArgs, ReportFormat, SearchArgs, ToolsArgs},
    output,
    report::Report,
    settings::Settings,
    table::Table,
};

/// `planner call`
pub(crate) async fn call(args: CallArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let arguments: Value = serde_json::from_str(&args.arguments)
        .map_err(|error| anyhow::anyhow!("the arguments of {} are not JSON: {error}", args.tool))?;
    anyhow::ensure!(
        arguments.is_object(),
        "the arguments of {} are not a JSON object such as {{\"name\": \"x\"}}",
        args.tool
    );
    answer(&args.tool, arguments, args.profile.map(Into::into), args.format, settings).await
}

/// `planner search`
pub(crate) async fn search(args: SearchArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let mut arguments = json!({"query": args.query, "limit": args.limit});
    if !args.kinds.is_empty() {
        arguments["kinds"] = json!(args.kinds);
    }
    if let Some(index) = open_index(settings)? {
        let called = DiscoveryTools::of_index(&index).call("search", arguments.clone()).await;
        // Damage is detected when the index is read; opening the catalog rebuilds it.
        if called.is_ok() || index.check().is_ok() {
            return show(called, args.format);
        }
    }
    answer("search", arguments, Some(Profile::Full), args.format, settings).await
}

/// Returns the answer of a tool.
pub(super) async fn answer(
    tool: &str,
    arguments: Value,
    profile: Option<Profile>,
    format: Option<ReportFormat>,
    settings: &Settings,
) -> anyhow::Result<Exit> {
    let (catalog, _) = open(settings, Opening::Use).await?;
    let tools = DiscoveryTools::new(&catalog, profile.unwrap_or(Profile::Full));
    // Tools that run queries start an engine, so they are created only if one of them is called.
    let tools = if tools.effect(tool).is_some() { tools } else { tools.with_engine(&catalog.engine()) };
    let called = tools.call(tool, arguments).await.map_err(|error| match error {
        ToolError::Respond { code: code @ ToolErrorCode::UnknownTool, message, suggestion: None } => {
            ToolError::Respond { code, message, suggestion: Some("`planner tools` lists the tools".to_owned()) }
        }
        other => other,
    });
    show_all(called, &catalog.engine(), format).await
}

/// Prints the answer of a tool, with all rows if it runs a query.
pub(super) async fn show_all(
    called: Result<Answer, ToolError>,
    engine: &Arc<Engine>,
    format: Option<ReportFormat>,
) -> anyhow::Result<Exit> {
    if let Ok(answer) = &called
        && let Some(reason) = find_reason(answer.json())
    {
        return match format {
            None | Some(ReportFormat::Json | ReportFormat::Text) => show(called, format).map(|_| Exit::NotVerified),
            // There are no rows.
            Some(_) => {
                output::say(&format!("not answered: {reason}"));
                Ok(Exit::NotVerified)
            }
        };
    }
    if let Ok(answer) = &called
        && format != Some(ReportFormat::Text)
        && rows::print(answer.json(), engine, format).await?
    {
        answer.notes().iter().for_each(|note| output::say(&format!("note: {note}")));
        return Ok(Exit::Good);
    }
    show(called, format)
}

/// Returns why a question to the semantic layer was not computed, with what it may mean; `None` for other answers.
fn find_reason(answer: &Value) -> Option<String> {
    let choices: Vec<&str> = answer["choices"].as_array()?.iter().filter_map(Value::as_str).collect();
    let reason = answer["reason"].as_str()?;
    Some(if choices.is_empty() { reason.to_owned() } else { format!("{reason} (it may mean: {})", choices.join("; ")) })
}

pub(super) fn show(called: Result<Answer, ToolError>, format: Option<ReportFormat>) -> anyhow::Result<Exit> {
    match called {
        Ok(answer) => {
            match format {
                Some(ReportFormat::Text) => output::text(&answer.text())?,
                format => Report::of_value(answer.json()).print(format)?,
            }
            answer.notes().iter().for_each(|note| output::say(&format!("note: {note}")));
            let has_more = answer.map_queries(|query| query.rows.as_ref().is_ok_and(|rows| rows.has_more));
            if has_more.contains(&true) {
                output::say("note: the tool returns the first rows only; `planner sql` prints all rows of a query");
            }
            Ok(Exit::Good)
        }
        Err(error) => {
            output::json(&error.to_json())?;
            output::say(&format!("error: {error}"));
            Ok(Exit::NotVerified)
        }
    }
}

/// `planner tools`
pub(crate) async fn tools(args: ToolsArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let (catalog, _) = open(settings, Opening::Use).await?;
    let tools = DiscoveryTools::new(&catalog, args.profile.into());
    let tools = if args.queries { tools.with_queries(&catalog.engine()) } else { tools };
    let specs = tools.specs();
    let mut table = Table::new(["tool", "arguments", "description"]);
    for spec in &specs {
        let arguments = spec.input_schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys());
        let first = spec.description.split_inclusive(". ").next().unwrap_or_default().trim();
        table.push([json!(spec.name), json!(arguments.collect::<Vec<_>>()), json!(first)]);
    }
    Report::new(&specs, table)?.print(args.format)?;
    Ok(Exit::Good)
}

/// Output of `planner prompt`.
#[derive(Serialize)]
struct PrintedPrompt {
    model: String,
    form: PromptForm,
    tokens: PromptTokens,
    system: String,
    tools: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// `planner prompt`
pub(crate) async fn prompt(args: PromptArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let model = settings.model(args.model.as_deref());
    let info = capabilities(settings, &model)?;
    let (catalog, _) = open(settings, Opening::Use).await?;
    let tools = DiscoveryTools::new(&catalog, args.profile.into());
    let prompt = PromptBuilder::new(&catalog, &tools, prospector_agent::plan::INSTRUCTIONS)
        .form(args.prompt.map(Into::into))
        .build(&info, &args.question);
    let system: Vec<&str> = prompt.system.iter().map(|block| block.text.as_str()).collect();
    let names = tools.specs().into_iter().map(|spec| spec.name);
    output::json(&PrintedPrompt {
        model,
        form: prompt.form,
        tokens: prompt.tokens,
        system: system.join("\n\n"),
        tools: if prompt.with_tools { names.collect() } else { Vec::new() },
        left_out: prompt.left_out,
    })?;
    Ok(Exit::Good)
}

/// Output of `planner refresh`.
#[derive(Serialize)]
struct Refreshed<D> {
    /// Counts of records.
    #[serde(flatten)]
    report: RefreshReport,
    /// Counts of documents.
    documents: D,
    problems: Vec<Problem>,
}

/// `planner refresh`
pub(crate) async fn refresh(args: RefreshArgs, settings: &Settings) -> anyhow::Result<Exit> {
    if args.check {
        return check_files(args.format, settings).await;
    }
    let opening = if args.all { Opening::Reread } else { Opening::Refresh };
    let discarded = discard_damaged(&settings.state_folder()?);
    output::problems(&discarded, true);
    let (catalog, mut problems) = open(settings, opening).await?;
    problems.extend(discarded);
    let exit = if output::has_errors(&problems) { Exit::Usage } else { Exit::Good };
    let (records, documents) = (catalog.refreshed, catalog.documents_refreshed);
    let mut table = Table::new(["of", "added", "updated", "removed", "unchanged"]);
    let row = |of: &str, counts: [usize; 4]| {
        let [added, updated, removed, unchanged] = counts.map(Value::from);
        [json!(of), added, updated, removed, unchanged]
    };
    table.push(row("records", [records.added, records.updated, records.removed, records.unchanged]));
    table.push(row("documents", [documents.added, documents.updated, documents.removed, documents.unchanged]));
    Report::new(&Refreshed { report: records, documents, problems }, table)?.print(args.format)?;
    Ok(exit)
}

/// `planner refresh --check`
async fn check_files(format: Option<ReportFormat>, settings: &Settings) -> anyhow::Result<Exit> {
    let state = settings.state_folder()?;
    let mut report = check(&state).await.map_err(with_advice)?;
    let sessions = state.join("sessions.sqlite");
    if sessions.exists() {
        let fault = Session::check_store(&state).await.err().map(|error| error.reason());
        report.add(&sessions, fault, "restore the file from a backup, or move it away; nothing was deleted");
    }
    output::problems(&report.damage, true);
    let mut table = Table::new(["files", "bytes", "damaged"]);
    table.push([json!(report.files), json!(report.bytes), json!(report.damage.len())]);
    Report::new(&report, table)?.print(format)?;
    Ok(if report.damage.is_empty() { Exit::Good } else { Exit::Usage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_is_not_computed_has_a_reason() {
        let check = |answer: Value, expected: Option<&str>| assert_eq!(find_reason(&answer).as_deref(), expected);
        check(json!({"choices": ["a", "b"], "reason": "ambiguous"}), Some("ambiguous (it may mean: a; b)"));
        check(json!({"choices": [], "reason": "no metric"}), Some("no metric"));
        check(json!({"columns": ["choices"], "rows": [[1]]}), None);
    }
}
