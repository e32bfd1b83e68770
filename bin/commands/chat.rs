//! `planner chat`: a conversation at a terminal or from a pipe. Answers are printed as text on standard output.

use std::{collections::BTreeSet, path::Path};

use anyhow::Context as _;
use prospector_agent::{Models, Planner, ask::Answered, session::Session};
use prospector_core::name::nearest;
use prospector_discovery::{DiscoveryTools, sources::write_file};
use prospector_llm::purpose::Mode;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    ask::{Asker, answering_models, open_planner, session, state, write},
    line::{Lines, Prompt},
    plan::plan_until,
};
use crate::{Exit, cli::ChatArgs, output, settings::Settings, visible::visible};

/// The commands with their descriptions.
pub(super) const COMMANDS: [(&str, &str); 7] = [
    ("/facts", "list the known facts"),
    ("/help", "list the commands"),
    ("/mode", "show the mode; /mode NAME sets it, /mode auto chooses it by question"),
    ("/plan", "/plan QUESTION shows a plan instead of an answer"),
    ("/quit", "end"),
    ("/refresh", "reload the catalog"),
    ("/save", "/save FILE writes the conversation: as Markdown if the name ends in .md, else as JSON"),
];

/// Answers questions until the input ends.
pub(crate) async fn chat(args: ChatArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let models = answering_models(&args.answering, settings)?;
    let limits = settings.limits(&args.answering.limits, models.limits_of_answers())?;
    let mut planner = open_planner(&args.answering, &models, settings).await?;
    let mut session = session(args.session.as_deref(), settings).await?;
    let mut lines = Lines::open(Prompt::CHAT, &settings.state_folder()?, names(&planner))?;
    let mut mode = args.answering.mode;
    if !session.turns().is_empty() {
        output::say(&format!("continuing {1} with {0} earlier turns", session.turns().len(), session.name()));
    }
    if lines.is_edited() {
        output::say("ask a question; /help lists the commands, Ctrl-D exits");
    }
    while let Some(line) = lines.next()? {
        let line = line.trim();
        let (command, rest) =
            line.split_once(char::is_whitespace).map_or((line, ""), |(head, rest)| (head, rest.trim()));
        let done = match command {
            "" => Ok(()),
            "/quit" | "/exit" => break,
            "/help" => help(),
            "/facts" => facts(&planner).await,
            "/mode" => set_mode(&mut mode, rest),
            "/save" => save(&session, rest),
            "/plan" if rest.is_empty() => Err(anyhow::anyhow!("the question is missing: /plan QUESTION")),
            "/plan" => {
                let plan = crate::cli::PlanArgs::of(rest.to_owned(), &args.answering, mode);
                interruptible(async |cancel| plan_until(plan, settings, &cancel).await).await.map(|_| ())
            }
            "/refresh" => match interruptible(async |cancel| reopen(&args, &models, settings, &cancel).await).await {
                Ok(opened) => {
                    planner = opened;
                    lines.complete(names(&planner));
                    let (all, documents) = (&planner.catalog().refreshed, &planner.catalog().documents_refreshed);
                    output::reply(&format!(
                        "The catalog was reloaded. Entries: {} added, {} updated, {} removed, {} unchanged; documents: {} \
                         added, {} updated, {} removed, {} unchanged.",
                        all.added,
                        all.updated,
                        all.removed,
                        all.unchanged,
                        documents.added,
                        documents.updated,
                        documents.removed,
                        documents.unchanged,
                    ))
                }
                Err(error) => Err(error),
            },
            _ if command.starts_with('/') => {
                let near = nearest(command, COMMANDS.iter().map(|(name, _)| *name), 1);
                let advice = near.first().map(|near| format!("did you mean {near}?"));
                let advice = advice.as_deref().unwrap_or("/help lists the commands");
                Err(anyhow::anyhow!("unknown command {command}; {advice}"))
            }
            _ => {
                let asked = Asker { args: &args.answering, limits, planner: &planner };
                turn(&asked, line, mode, &mut session).await
            }
        };
        // A failed turn does not end the conversation.
        if let Err(error) = done {
            output::error(&error);
        }
    }
    Ok(Exit::Good)
}

/// Runs work that an interrupt cancels without ending the conversation.
pub(super) async fn interruptible<T>(work: impl AsyncFnOnce(CancellationToken) -> T) -> T {
    let cancel = CancellationToken::new();
    let interrupted = cancel.clone();
    let watching = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            // Starts a new line after the terminal's ^C.
            output::say("");
            interrupted.cancel();
        }
    });
    let done = work(cancel).await;
    watching.abort();
    done
}

/// Reopens the catalog.
async fn reopen(
    args: &ChatArgs,
    models: &Models,
    settings: &Settings,
    cancel: &CancellationToken,
) -> anyhow::Result<Planner> {
    tokio::select! {
        opened = open_planner(&args.answering, models, settings) => opened,
        () = cancel.cancelled() => anyhow::bail!("interrupted; the previously loaded catalog is used"),
    }
}

/// Answers one question.
async fn turn(asked: &Asker<'_>, question: &str, mode: Option<Mode>, session: &mut Session) -> anyhow::Result<()> {
    let outcome = interruptible(async |cancel| asked.answer(question, mode, session, &cancel).await).await;
    let mut text = write(&outcome.answered);
    if !outcome.answered.follow_ups.is_empty() {
        text.push_str("\n\nYou could ask:");
        for question in &outcome.answered.follow_ups {
            text.push_str(&format!("\n- {question}"));
        }
    }
    output::reply(&text)?;
    output::reply_status(outcome.answered.status, &state(&outcome.answered))?;
    match outcome.failure {
        Some(failure) => Err(failure.into()),
        None => Ok(()),
    }
}

fn help() -> anyhow::Result<()> {
    let lines: Vec<String> = COMMANDS.iter().map(|(name, what)| format!("{name:10} {what}")).collect();
    output::reply(&lines.join("\n"))
}

async fn facts(planner: &Planner) -> anyhow::Result<()> {
    let tools = DiscoveryTools::new(planner.catalog(), prospector_discovery::Profile::Full);
    let answer = tools.call("list_known_facts", json!({})).await?;
    output::reply(&answer.text())
}

fn set_mode(mode: &mut Option<Mode>, name: &str) -> anyhow::Result<()> {
    match name.to_lowercase().as_str() {
        "" => {}
        "auto" => *mode = None,
        name => {
            let found = Mode::ALL.into_iter().find(|mode| mode.as_str() == name);
            let names = || Mode::ALL.map(Mode::as_str).join(", ");
            *mode = Some(found.with_context(|| format!("unknown mode; use {} or auto", names()))?);
        }
    }
    output::reply(&format!("The mode is {}.", mode.map_or("chosen by the question", Mode::as_str)))
}

fn save(session: &Session, file: &str) -> anyhow::Result<()> {
    anyhow::ensure!(!file.is_empty(), "the file is missing: /save FILE");
    let answers: Vec<&Answered> = session.turns().iter().map(|turn| &turn.answered).collect();
    let text = if Path::new(file).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md")) {
        answers.iter().map(|answered| markdown(answered)).collect::<Vec<_>>().join("\n")
    } else {
        serde_json::to_string_pretty(&answers)?
    };
    write_file(Path::new(file), &(text + "\n")).with_context(|| format!("cannot write {file}"))?;
    output::reply(&format!("Saved {} turns to {file}.", answers.len()))
}

fn markdown(answered: &Answered) -> String {
    let mut text = format!("## {}\n\n{}\n", answered.question, answered.answer);
    for question in answered.questions.iter().filter(|question| question.error.is_none()) {
        text.push_str(&format!("\n{}: {}\n\n```sql\n{}\n```\n", question.id, question.question, question.sql));
    }
    text
}

/// Returns the words for completion: commands, databases and tables.
fn names(planner: &Planner) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect();
    for database in planner.catalog().schema.databases() {
        names.insert(database.name.clone());
        names.extend(database.tables.iter().map(|table| table.name.clone()));
        names.extend(database.tables.iter().map(|table| format!("{}.{}", database.name, table.name)));
    }
    // The terminal echoes completed names verbatim.
    names.retain(|name| visible(name) == name.as_str());
    names
}
