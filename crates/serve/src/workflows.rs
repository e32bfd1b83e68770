//! Workflows over HTTP: started, continued message by message, and restored after a restart. A client's message is stored before its turn
//! runs, and the result of the turn before its end is announced.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
    sync::Arc,
};

use prospector_agent::{agent_loop::AgentLoop, event::Event, plan::Metrics};
use prospector_core::{Owner, work::compute};
use prospector_discovery::prompt::{Instructions, PromptBuilder};
use prospector_workflow::{
    Conversation, UserWords, Workflow,
    record::{RecordingModel, ReplayError, TurnRecord, is_taken},
    store::{StoreError, WorkflowRecord, WorkflowStore},
};
use serde_json::{Value, json};

use crate::{
    error::{Refusal, RefusalCode},
    handles::{is_handle, new_handle},
    live_workflows::LiveWorkflow,
    offered::OfferedWorkflow,
    run::{End, Run, RunCost, Task, refuse_provider},
    server::Server,
    sessions::Turn,
};

/// Subfolder of the state folder.
const FOLDER: &str = "workflows";

/// Prefix of the handles.
const PREFIX: &str = "workflow";

/// Limit on a message of the user, in bytes.
const MAX_MESSAGE_BYTES: usize = 10_000;

/// Limit on the rows of a file per request.
pub(crate) const MAX_ROWS: usize = 1_000;

/// Recorded for a turn that was interrupted.
const STOPPED: &str = "the turn was interrupted and discarded";

impl Server {
    fn workflow_store(&self, owner: &Owner) -> Result<WorkflowStore, Refusal> {
        let state = self.options.state.as_deref();
        let missing = || Refusal::unavailable("workflows need stored conversations, which this server does not keep");
        Ok(WorkflowStore::new(&state.ok_or_else(missing)?.join(FOLDER), owner))
    }

    /// Starts a workflow for this owner, with the first turn.
    pub(crate) async fn begin_workflow(
        self: &Arc<Self>,
        owner: &Owner,
        name: &str,
        message: Option<String>,
    ) -> Result<Arc<Run>, Refusal> {
        let offered = self.find_offered(name)?;
        let handle = new_handle(PREFIX);
        let store = self.workflow_store(owner)?;
        let record = WorkflowRecord { workflow: offered.name.to_owned(), ..WorkflowRecord::default() };
        let room = store.clone();
        on_disk(move || room.make_room()).await?;
        let turn = self.sessions.take(owner, &handle)?;
        self.take_turn(owner, &handle, turn, record, message).await
    }

    /// Continues a workflow with a new message, or with that of an interrupted turn.
    pub(crate) async fn continue_workflow(
        self: &Arc<Self>,
        owner: &Owner,
        handle: &str,
        message: Option<String>,
    ) -> Result<Arc<Run>, Refusal> {
        // Locked before reading, so that the result of another turn is not lost.
        let turn = self.sessions.take(owner, handle)?;
        let record = self.read_workflow(owner, handle).await?;
        if record.is_over {
            return Err(Refusal::new(RefusalCode::Conflict, "the workflow has ended").advise("start another one"));
        }
        let message = message.or_else(|| record.pending.clone());
        if message.is_none() && !record.turns.is_empty() {
            return Err(Refusal::invalid("message is missing").advise("send the user's message"));
        }
        self.take_turn(owner, handle, turn, record, message).await
    }

    async fn take_turn(
        self: &Arc<Self>,
        owner: &Owner,
        handle: &str,
        turn: Turn,
        mut record: WorkflowRecord,
        message: Option<String>,
    ) -> Result<Arc<Run>, Refusal> {
        let said = message.map(|message| message.trim().to_owned()).filter(|message| !message.is_empty());
        if said.as_ref().is_some_and(|said| said.len() > MAX_MESSAGE_BYTES) {
            let message = format!("the message has more than {MAX_MESSAGE_BYTES} bytes");
            return Err(Refusal::invalid(message).advise("shorten it"));
        }
        let admission = self.admit(owner)?;
        let store = self.workflow_store(owner)?;
        record.pending.clone_from(&said);
        let (kept, at) = (record.clone(), handle.to_owned());
        on_disk(move || store.write(&at, &kept)).await?;
        let question = said.clone().unwrap_or_else(|| record.workflow.clone());
        let run = Run::new(self.runs.handle(), owner.clone(), Task::Workflow, question).of_workflow(handle);
        let (run, server) = (Arc::new(run), self.clone());
        let inner = run.clone();
        let work = Box::pin(async move { server.turn(&inner, record, said).await });
        self.launch(run.clone(), admission.with_turn(Some(turn)), self.options.limits.turn_time, work);
        Ok(run)
    }

    /// Runs a turn and stores its result.
    async fn turn(&self, run: &Run, mut record: WorkflowRecord, said: Option<String>) -> End {
        let handle = run.workflow.clone().unwrap_or_default();
        let refuse = |refusal: Refusal| {
            run.record("error", refusal.to_json());
            End::without_result(refusal)
        };
        let mut live = match self.live(run, &handle, &record).await {
            Ok(live) => live,
            Err(refusal) => return refuse(refusal),
        };
        let model = RecordingModel::new(self.models.chat.clone());
        let agent = AgentLoop { model: &model, tools: &live.tools, names: live.view.catalog.as_ref() };
        let metrics = std::sync::Mutex::new(Metrics::default());
        let observe = |event: Event| {
            if let Event::Done { metrics: spent, .. } = &event {
                metrics.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone_from(spent);
            }
            run.observe(&event);
        };
        let catalog = live.view.catalog.clone();
        let outcome = live.conversation.turn(said.as_deref(), &agent, &run.cancel, &observe).await;
        let taken = is_taken(&outcome, &live.conversation);
        if taken {
            record.turns.push(TurnRecord { said, replies: model.into_replies(), answer: outcome.text.clone() });
            record.pending = None;
            record.found = live.conversation.findings();
            record.report = serde_json::to_value(live.conversation.report()).unwrap_or_default();
            record.is_over = live.conversation.is_over();
            let kept = match self.workflow_store(&run.owner) {
                Ok(store) => {
                    let (at, kept) = (handle.clone(), record.clone());
                    on_disk(move || store.write(&at, &kept)).await
                }
                Err(refusal) => Err(refusal),
            };
            if let Err(refusal) = kept {
                return refuse(refusal);
            }
            if !record.is_over {
                self.live_workflows.hold(&handle, live, self.options.limits.handle_life);
            }
        }
        let cost = RunCost { classification: None, metrics: metrics.into_inner().unwrap_or_default() };
        let state = describe(&handle, &record, None);
        let failure = outcome.failure.map(|failure| refuse_provider(&catalog, &failure));
        let mut end = run.finish("workflow", &state, (outcome.ended, cost), failure);
        if !taken && end.failure.is_none() {
            let failure = Refusal::unavailable(format!("{STOPPED}: {}", outcome.ended.reason()))
                .advise("repeat the message, or send another one");
            run.record("error", failure.to_json());
            end.failure = Some(failure);
        }
        end
    }

    /// Returns the conversation from memory, or restores it from its record by replaying its turns.
    async fn live(&self, run: &Run, handle: &str, record: &WorkflowRecord) -> Result<LiveWorkflow, Refusal> {
        if let Some(live) = self.live_workflows.take(handle) {
            return Ok(live);
        }
        let mut live = self.open_workflow(&run.owner, handle, record).await?;
        if !record.turns.is_empty() {
            run.record("resumed", json!({"turns": record.turns.len()}));
            let agent =
                AgentLoop { model: self.models.chat.as_ref(), tools: &live.tools, names: live.view.catalog.as_ref() };
            let read = live.conversation.replay(&record.turns, &record.found, &agent, &run.cancel).await;
            read.map_err(|error| match error {
                ReplayError::Changed => Refusal::new(RefusalCode::Expired, error.to_string())
                    .advise("restart the workflow: earlier confirmations applied to different rows"),
                ReplayError::Cancelled => Refusal::new(RefusalCode::Cancelled, error.to_string()),
            })?;
        }
        Ok(live)
    }

    /// Creates a new conversation over the current catalog.
    async fn open_workflow(
        &self,
        owner: &Owner,
        handle: &str,
        record: &WorkflowRecord,
    ) -> Result<LiveWorkflow, Refusal> {
        let offered = self.find_offered(&record.workflow)?;
        let view = self.catalog.view(owner);
        let engine = view.queries.engine.session();
        let tools = view.tools.clone().with_engine(&engine);
        let words = UserWords::default();
        let own = (offered.tools)(&engine, self.workflow_store(owner)?.files(handle), words.clone());
        let own = own.with_redactor(view.catalog.redactor());
        let known = Conversation::tool_names(&tools, &own);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let workflow = Workflow::read(offered.name, offered.definition, &known).map_err(|problems| {
            problems.iter().for_each(|problem| tracing::error!(%problem, "a workflow cannot be run"));
            Refusal::unavailable(format!("the workflow `{}` cannot run on this catalog", offered.name))
                .advise("it needs databases or files with rows; see the server log")
        })?;
        let (catalog, set, info) = (view.catalog.clone(), tools.clone(), self.models.info);
        let (role, first) = (workflow.role.clone(), record.turns.first().and_then(|turn| turn.said.clone()));
        let question = first.or_else(|| record.pending.clone()).unwrap_or_default();
        let prompt = compute(move || {
            let instructions = Instructions { with_tools: &role, without_terms: &role, without_tools: &role, form: "" };
            PromptBuilder::new(&catalog, &set, instructions).build(&info, &question)
        })
        .await;
        if !prompt.with_tools {
            let message = format!("the model {} cannot call tools, and a workflow needs them", self.models.chat.name());
            return Err(Refusal::unavailable(message));
        }
        let limits = Conversation::usual_limits(self.models.limits());
        let limits = prospector_agent::Limits { run_time: self.options.limits.turn_time, ..limits };
        let conversation = Conversation::new(Arc::new(workflow), own, words, prompt, limits);
        Ok(LiveWorkflow { conversation, tools, view })
    }

    fn find_offered(&self, name: &str) -> Result<&OfferedWorkflow, Refusal> {
        let offered = &self.options.workflows;
        offered.iter().find(|offered| offered.name == name).ok_or_else(|| {
            let names: Vec<&str> = offered.iter().map(|offered| offered.name).collect();
            let refusal = Refusal::not_found("unknown workflow");
            if names.is_empty() {
                refusal
            } else {
                refusal.advise(format!("available workflows: {}", names.join(", ")))
            }
        })
    }

    async fn read_workflow(&self, owner: &Owner, handle: &str) -> Result<WorkflowRecord, Refusal> {
        if !is_handle(PREFIX, handle) {
            return Err(missing());
        }
        let (store, handle) = (self.workflow_store(owner)?, handle.to_owned());
        on_disk(move || store.read(&handle)).await
    }

    /// Returns the state of a workflow of this owner, and its messages.
    pub(crate) async fn workflow(&self, owner: &Owner, handle: &str) -> Result<Value, Refusal> {
        let record = self.read_workflow(owner, handle).await?;
        Ok(describe(handle, &record, self.turn_of(owner, handle).as_deref()))
    }

    /// Returns the run of the current turn.
    fn turn_of(&self, owner: &Owner, handle: &str) -> Option<Arc<Run>> {
        let is_it =
            |run: &Arc<Run>| run.workflow.as_deref() == Some(handle) && run.owner == *owner && run.end().is_none();
        self.runs.all().into_iter().find(is_it)
    }

    /// Returns the workflows of this owner, most recently continued first.
    pub(crate) async fn workflows(&self, owner: &Owner) -> Result<Value, Refusal> {
        let store = self.workflow_store(owner)?;
        let records = on_disk(move || {
            let handles = store.handles().into_iter();
            // Unreadable records are reported when they are requested.
            Ok(handles.filter_map(|handle| Some((store.read(&handle).ok()?, handle))).collect::<Vec<_>>())
        });
        let items = records.await?.into_iter().map(|(record, handle)| {
            let mut item = describe(&handle, &record, self.turn_of(owner, &handle).as_deref());
            let first = item["turns"][0]["said"].take();
            if let Some(fields) = item.as_object_mut() {
                fields.retain(|name, _| ["handle", "workflow", "state", "phase"].contains(&name.as_str()));
                fields.insert("said".into(), first);
            }
            item
        });
        Ok(json!({"items": items.collect::<Vec<_>>()}))
    }

    /// Stops a workflow, and removes it with its files.
    pub(crate) async fn remove_workflow(&self, owner: &Owner, handle: &str) -> Result<(), Refusal> {
        self.read_workflow(owner, handle).await?;
        if let Some(run) = self.turn_of(owner, handle) {
            run.stop("removed by the client");
            run.wait().await;
        }
        let _turn = self.sessions.take(owner, handle)?;
        self.live_workflows.take(handle);
        let (store, handle) = (self.workflow_store(owner)?, handle.to_owned());
        on_disk(move || store.remove(&handle)).await
    }

    /// Returns `limit` rows from `offset` of a file that a workflow has written.
    pub(crate) async fn workflow_rows(
        &self,
        owner: &Owner,
        handle: &str,
        name: &str,
        (offset, limit): (usize, usize),
    ) -> Result<Value, Refusal> {
        let record = self.read_workflow(owner, handle).await?;
        let result = &record.report["products"]["result"];
        let is_there = result["files"].as_array().is_some_and(|files| files.iter().any(|file| file == name));
        let folder = result["folder"].as_str().filter(|_| is_there);
        let none = || Refusal::not_found("the workflow has not written this file");
        let path = Path::new(folder.ok_or_else(none)?).join(name);
        let read = tokio::task::spawn_blocking(move || rows(&path, offset, limit.clamp(1, MAX_ROWS))).await;
        let rows = read.ok().and_then(Result::ok).ok_or_else(none)?;
        Ok(rows)
    }
}

/// Returns rows of a JSON Lines file, and the offset of the next ones.
fn rows(path: &Path, offset: usize, limit: usize) -> std::io::Result<Value> {
    let mut lines = BufReader::new(File::open(path)?).lines().skip(offset);
    let mut items = Vec::new();
    for line in lines.by_ref().take(limit) {
        items.push(serde_json::from_str::<Value>(&line?)?);
    }
    let next = lines.next().is_some().then_some(offset + items.len());
    Ok(match next {
        Some(next) => json!({"items": items, "next": next}),
        None => json!({"items": items}),
    })
}

/// Describes the state of a workflow for its client.
fn describe(handle: &str, record: &WorkflowRecord, running: Option<&Run>) -> Value {
    let state = match (running, record.is_over, &record.pending) {
        (Some(_), ..) => "running",
        (None, true, _) => "over",
        (None, false, Some(_)) => "interrupted",
        (None, false, None) => "waiting",
    };
    let turns = record.turns.iter().map(|turn| json!({"said": turn.said, "answer": turn.answer}));
    let mut said = json!({
        "handle": handle,
        "workflow": record.workflow,
        "state": state,
        "turns": turns.collect::<Vec<_>>(),
    });
    for name in ["phase", "completed", "stopped", "phases", "products", "metrics"] {
        if !record.report[name].is_null() {
            said[name] = record.report[name].clone();
        }
    }
    if let Some(pending) = &record.pending {
        said["pending"] = pending.as_str().into();
    }
    if let Some(run) = running {
        said["run"] = run.handle.as_str().into();
    }
    said
}

fn missing() -> Refusal {
    Refusal::not_found("unknown workflow").advise("see /v1/workflows")
}

/// Runs file operations on a blocking thread.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|_| Refusal::new(RefusalCode::Internal, "cannot read the conversations"))?;
    done.map_err(|error| match error {
        StoreError::Missing { .. } => missing(),
        StoreError::TooLarge => Refusal::invalid(error.to_string()).advise("start another one"),
        StoreError::TooMany => Refusal::new(RefusalCode::TooManyRequests, error.to_string()).advise("remove one first"),
        StoreError::File { .. } | StoreError::Damaged { .. } => {
            tracing::error!(%error, "cannot store or read a conversation");
            Refusal::unavailable("the conversation cannot be stored or read").advise("see the server log")
        }
    })
}
