//! The tools: those of the profile, `plan`, and `fetch` for truncated answers and earlier plans.

use std::sync::Arc;

use prospector_core::Owner;
use prospector_core::mark::{as_data, as_error, clean};
use prospector_core::tool::{Effect, ToolError, ToolErrorCode};
use prospector_discovery::DiscoveryTools;
use prospector_llm::purpose::Mode;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, ProgressNotificationParam,
        Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{
    apps::{self, AppView},
    calls::{Call, Outcome, WaitingCalls},
    forms::{failure, object, result, tool},
    invalid_params, queries, resources,
};
use crate::{
    error::{Refusal, RefusalCode},
    query_sessions::QuerySession,
    question::Question,
    run::{StopOnDrop, Task},
    server::Server,
    view::CatalogView,
};

const PLAN: &str = "plan";
const ASK: &str = "ask";
const FETCH: &str = "fetch";

/// Limit on a progress message, in characters.
const MAX_LINE_CHARS: usize = 200;

/// The client that tools are listed for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Audience {
    /// Whether the client has no session and names query sessions by an argument.
    pub(super) is_sessionless: bool,
    /// Whether the client supports pages that show answers of tools.
    pub(super) shows_pages: bool,
}

/// Lists every tool in a fixed order: those of the catalog by name, then those of the server.
pub(super) fn all(view: &CatalogView, audience: Audience) -> Vec<Tool> {
    let mut tools: Vec<Tool> = (view.specs().into_iter())
        .map(|spec| {
            let effect = view.effect(&spec.name).unwrap_or(Effect::CallsOut);
            let mut input = spec.input_schema;
            if audience.is_sessionless && view.runs_queries(&spec.name) {
                queries::add_session(&mut input);
            }
            tool(spec.name, spec.description, object(input), effect)
        })
        .collect();
    if !view.catalog.is_empty() {
        let description = "Plans the steps (SQL queries, API calls, documents) that answer a question. Every name in the plan is verified \
                           to exist. Takes longer than the other tools, and reports its progress.";
        tools.push(tool(PLAN.into(), description.into(), asked_schema(Task::Plan), Effect::Reads));
        let description = "Answers a question in natural language from the databases and documents: analyzes data with read-only queries, \
                           and cites the source of each claim. Takes longer than the other tools, and reports its progress.";
        tools.push(tool(ASK.into(), description.into(), asked_schema(Task::Ask), Effect::Reads));
    }
    if audience.shows_pages {
        tools = tools.into_iter().map(in_page).collect();
        tools.extend(apps::tools(view));
    }
    let description = "Returns an earlier plan, or a page of a truncated answer, by its handle.";
    tools.push(tool(FETCH.into(), description.into(), fetch_schema(), Effect::Reads));
    tools
}

/// Adds the page that shows a tool's answers, for tools whose answers the user reads, not for discovery tools.
fn in_page(tool: Tool) -> Tool {
    match tool.name.as_ref() {
        PLAN => AppView::Plan.of_tool(tool),
        ASK | DiscoveryTools::QUERY_TOOL | DiscoveryTools::METRICS_TOOL | DiscoveryTools::RUN_VERIFIED_TOOL => {
            AppView::Answer.of_tool(tool)
        }
        _ => tool,
    }
}

fn asked_schema(task: Task) -> JsonObject {
    let mut schema = json!({
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "mode": {"type": "string", "enum": Mode::ALL.map(Mode::as_str),
                     "description": "Chosen from the wording of the question if absent."},
            "max_rounds": {"type": "integer", "minimum": 2},
            "max_calls": {"type": "integer", "minimum": 1},
        },
        "required": ["question"],
    });
    if task == Task::Ask {
        schema["properties"]["session"] = json!({"type": "string",
            "description": "The name of a conversation to continue."});
    }
    object(schema)
}

fn fetch_schema() -> JsonObject {
    object(json!({
        "type": "object",
        "properties": {
            "handle": {"type": "string", "description": "A handle from an earlier answer."},
            "page": {"type": "integer", "minimum": 1, "description": "Page of a long answer; 1 if absent."},
        },
        "required": ["handle"],
    }))
}

/// Calls a tool. Failures that other arguments can fix are results; only invalid calls are errors.
pub(super) async fn call(
    server: &Arc<Server>,
    owner: &Owner,
    (own, waiting): (Option<&Arc<QuerySession>>, &WaitingCalls),
    mut request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let mut arguments = Value::Object(request.arguments.take().unwrap_or_default());
    let name = request.name.clone();
    let result = match name.as_ref() {
        PLAN => run(server, owner, Task::Plan, arguments, context).await?,
        ASK => run(server, owner, Task::Ask, arguments, context).await?,
        FETCH => fetch(server, owner, &arguments),
        name => match apps::call(server, owner, name, &arguments).await {
            Some(shown) => shown,
            None => {
                let begun = match &request.request_state {
                    Some(_) => Call::resume(waiting, owner, &mut request, &context),
                    None => find_session(server, owner, own, name, &mut arguments)
                        .map(|session| Call::begin(server, owner, session, (name, arguments), &context)),
                };
                match begun {
                    Ok(call) => return convert(call.run(waiting, owner, &context).await),
                    Err(refusal) => failure(&refusal),
                }
            }
        },
    };
    Ok(result.into())
}

/// Returns the query session of a call, with its handle if the client names it.
fn find_session(
    server: &Server,
    owner: &Owner,
    own: Option<&Arc<QuerySession>>,
    name: &str,
    arguments: &mut Value,
) -> Result<(Option<Arc<QuerySession>>, Option<String>), Refusal> {
    match own {
        Some(session) => Ok((Some(session.clone()), None)),
        None => Ok(queries::take_session(server, owner, name, arguments)?
            .map_or((None, None), |(handle, session)| (Some(session), Some(handle)))),
    }
}

/// Returns the response to a call of a catalog tool.
fn convert((session, outcome): (Option<String>, Outcome)) -> Result<CallToolResponse, ErrorData> {
    let (called, attached) = match outcome {
        Outcome::Ended(called, attached) => (*called, attached),
        Outcome::Asks(required) => return Ok(required.into()),
        Outcome::Cancelled => {
            return Ok(failure(&Refusal::new(RefusalCode::Cancelled, "cancelled by the client")).into());
        }
        Outcome::Panicked => return Err(ErrorData::internal_error("the request failed", None)),
    };
    let called = match called {
        Ok(called) => called,
        Err(error @ ToolError::Respond { code: ToolErrorCode::UnknownTool, .. }) => {
            return Err(invalid_params(&error.into()));
        }
        Err(error) => return Ok(failure(&error.into()).into()),
    };
    let mut text = as_data(&called.answer.text());
    let notes = json!(called.answer.notes());
    let has_failed = called.answer.has_failed();
    let mut fields = object(called.answer.into_json());
    if notes != json!([]) {
        fields.insert("notes".into(), notes);
    }
    if let Some(handle) = called.handle {
        text.push_str(&format!("\nFor the whole answer, call {FETCH} with handle {handle}"));
        fields.insert("handle".into(), handle.into());
    }
    let links = resources::link_rows(&fields, session.as_deref());
    if let Some(handle) = session {
        text.push_str(&format!("\nQuery session for the next call: {handle}"));
        fields.insert(queries::SESSION.into(), handle.into());
    }
    let mut result = result(text, fields, has_failed);
    result.content.extend(attached);
    result.content.extend(links.into_iter().map(ContentBlock::resource_link));
    Ok(result.into())
}

fn fetch(server: &Server, owner: &Owner, arguments: &Value) -> CallToolResult {
    let Some(handle) = arguments["handle"].as_str() else {
        return failure(&Refusal::invalid("handle is missing").advise("call it as fetch(handle, page?)"));
    };
    let page = arguments.get("page").map_or(Some(1), |page| page.as_u64().and_then(|page| usize::try_from(page).ok()));
    let Some(page) = page else {
        return failure(&Refusal::invalid("page must be a number, from 1"));
    };
    match server.fetch(owner, handle, page) {
        Ok(found) => {
            let text = match found["text"].as_str() {
                Some(text) => format!("{}\n{}", as_data(text), found["next"].as_str().unwrap_or("(the last page)")),
                None => as_data(&found.to_string()),
            };
            result(text, object(found), false)
        }
        Err(refusal) => failure(&refusal),
    }
}

/// Runs a question to its end, with a notification per event if the caller wants them.
async fn run(
    server: &Arc<Server>,
    owner: &Owner,
    task: Task,
    arguments: Value,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let asked: Question = match serde_json::from_value(arguments) {
        Ok(asked) => asked,
        Err(error) => {
            let usage = format!("call it as {}(question, mode?, max_rounds?, max_calls?)", task.as_str());
            return Ok(failure(&Refusal::invalid(error.to_string()).advise(usage)));
        }
    };
    let run = match server.start(owner, task, asked) {
        Ok(run) => run,
        Err(refusal) => return Ok(failure(&refusal)),
    };
    let _waiting = StopOnDrop(run.clone());
    let mut follower = run.follow(0, server.options.limits.linger);
    let token = context.meta.get_progress_token();
    loop {
        let next = tokio::select! {
            next = follower.next() => next,
            () = context.ct.cancelled(), if !run.cancel.is_cancelled() => {
                run.stop("cancelled by the client");
                continue;
            }
        };
        let Some((number, happened)) = next else { break };
        if let (Some(token), Some(message)) = (&token, progress_line(&happened.name, &happened.data)) {
            let progress = ProgressNotificationParam::new(token.clone(), number as f64).with_message(message);
            // A client that ignores progress still gets its result.
            let _ = context.peer.notify_progress(progress).await;
        }
    }
    let end = run.wait().await;
    let mut fields = object((*end.result).clone());
    let Some(failure) = end.failure else {
        // An answer is returned as text, a plan as JSON. Both also appear in the structured data.
        let text = end.result["answer"].as_str().map_or_else(|| plan_text(&end.result), str::to_owned);
        return Ok(result(as_data(&text), fields, false));
    };
    for (key, value) in object(failure.to_json()) {
        fields.insert(key, value);
    }
    Ok(result(as_error(failure.to_json()).to_string(), fields, true))
}

/// Returns a plan without the record of its rounds, which is for programs.
fn plan_text(plan: &Value) -> String {
    let mut plan = plan.clone();
    if let Some(metrics) = plan.get_mut("metrics").and_then(Value::as_object_mut) {
        metrics.shift_remove("rounds");
    }
    plan.to_string()
}

/// Returns an event as a line of progress; `None` for events that are not reported.
fn progress_line(name: &str, data: &Value) -> Option<String> {
    let text = |field: &str| data[field].as_str().unwrap_or_default();
    let line = match name {
        "round" => format!("round {}", data["number"]),
        "thinking" => text("text").lines().next().unwrap_or_default().to_owned(),
        "tool" => format!("{} {}", text("name"), data["arguments"]),
        "executing" => format!("{}: {}", text("id"), text("question")),
        "result" if data["failed"] == true => format!("{} failed", text("name")),
        "verified" if data["ok"] == true => "every name in the plan is verified".to_owned(),
        "verified" => format!("{} names or steps failed verification", data["failed"]),
        _ => return None,
    };
    Some(clean(&line, MAX_LINE_CHARS))
}
