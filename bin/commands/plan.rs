//! `planner plan`

use std::{borrow::Cow, sync::Arc};

use prospector_agent::{
    Planner, Request,
    event::Event,
    plan::{Action, Ended, Plan, Step},
};
use prospector_core::mark::one_line;
use prospector_executor::{Executor, RunOptions};
use tokio_util::sync::CancellationToken;

use super::{Opening, interrupts, models, open, run};
use crate::{
    Exit,
    cli::{FormatName, PlanArgs, ProgressArgs},
    output,
    progress::Progress,
    report::usual_form,
    settings::Settings,
};

/// Plans a question.
pub(crate) async fn plan(args: PlanArgs, settings: &Settings) -> anyhow::Result<Exit> {
    plan_until(args, settings, &interrupts()).await
}

/// Plans a question until it is cancelled.
pub(super) async fn plan_until(
    args: PlanArgs,
    settings: &Settings,
    cancel: &CancellationToken,
) -> anyhow::Result<Exit> {
    let question = args.question.trim().to_owned();
    if question.is_empty() {
        anyhow::bail!("the question is empty");
    }
    let models = models(settings, args.model.as_deref(), None)?;
    let limits = settings.limits(&args.limits, models.limits())?;
    let (catalog, _) = tokio::select! {
        opened = open(settings, Opening::Use) => opened?,
        () = cancel.cancelled() => anyhow::bail!("interrupted while opening the catalog; the index is unchanged"),
    };
    let observer = Observer::new(args.progress);
    let observe = |event: Event| observer.observe(&event);
    let catalog = Arc::new(catalog);
    let planner = Planner::new(catalog.clone(), models).with_profile(args.profile.into());
    let request = Request {
        mode: args.mode,
        limits: Some(limits),
        form: args.prompt.map(Into::into),
        cancel: cancel.clone(),
        observe: &observe,
        ..Request::new(question)
    };
    let outcome = planner.plan(request).await;
    drop(observer);
    let format = args.format.unwrap_or_else(usual_form);
    if args.run && exit(&outcome.plan) == Exit::Good {
        let cancel = cancel.clone();
        let mut run = Executor::new(catalog).run(outcome.plan, RunOptions { cancel, ..RunOptions::default() }).await;
        run::keep(&mut run, settings)?;
        return run::print(&run, format);
    }
    match format {
        FormatName::Json => output::json(&outcome.plan)?,
        FormatName::Text => output::text(&describe(&outcome.plan))?,
    }
    if let Some(failure) = &outcome.failure {
        output::say(&format!("error: {failure}"));
    }
    Ok(exit(&outcome.plan))
}

/// A plan as human-readable text.
fn describe(plan: &Plan) -> String {
    let mut lines = Vec::new();
    for fact in &plan.discovered_context.facts {
        lines.push(format!("{}: {} ({})", fact.term, fact.definition, fact.source));
    }
    for step in &plan.plan.steps {
        lines.push(format!("{}. {}", step.number, step.goal));
        lines.extend(describe_step(step).into_iter().map(|line| format!("   {line}")));
    }
    lines.extend(plan.clarifications.iter().map(|question| format!("? {question}")));
    lines.extend(plan.choices.iter().map(|choice| format!("? or: {choice}")));
    let verification = &plan.verification;
    lines.extend(verification.failed.iter().map(|failure| format!("failed: {failure}")));
    lines.extend(verification.warnings.iter().map(|warning| format!("warning: {warning}")));
    let outcome = match (verification.ok, plan.plan.steps.is_empty()) {
        (true, true) => "No plan",
        (true, false) if verification.executable => "Verified",
        (true, false) => "Verified, not executable",
        (false, _) => "Not verified",
    };
    lines.push(format!("{outcome}: {} names and steps checked (model {}).", verification.checked, plan.model));
    let lines = lines.iter().map(|line| one_line(line));
    let whole = std::iter::once(Cow::Borrowed(plan.reasoning.as_str())).chain(lines);
    whole.filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n")
}

/// Describes what a step does, one line per part.
fn describe_step(step: &Step) -> Vec<String> {
    let mut lines = Vec::new();
    if !step.explanation.is_empty() {
        lines.push(step.explanation.clone());
    }
    match &step.action {
        Action::Sql(_) => {}
        Action::Metrics(query) => lines.push(format!("metrics: {}", query.describe())),
        Action::VerifiedQuery(query) => {
            let given: Vec<String> = query.parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            lines.push(format!("verified query: {} {}", query.name, given.join(", ")).trim_end().to_owned());
        }
        Action::Call(call) => {
            lines.push(format!("call: {} {}", call.operation, serde_json::Value::from(call.arguments.clone())));
        }
        Action::Read(names) => lines.push(format!("read: {}", names.join(", "))),
        _ => {
            let used = [&step.resources.tables, &step.resources.operations, &step.resources.documents, &step.inputs];
            lines.push(format!("uses: {}", used.into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")));
        }
    }
    if let Some(statement) = step.statement() {
        lines.extend(statement.sql.lines().map(|line| format!("sql: {line}")));
    }
    lines
}

fn exit(plan: &Plan) -> Exit {
    match plan.ended {
        Ended::ProviderFailed => Exit::Provider,
        Ended::Completed if plan.verification.ok && !plan.plan.steps.is_empty() => Exit::Good,
        _ => Exit::NotVerified,
    }
}

/// Shows the events of a run: the latest on one line, or with `--verbose` every call and query.
pub(super) struct Observer {
    is_verbose: bool,
    /// `None` if nothing is shown.
    activity: Option<Progress>,
}

impl Observer {
    pub(super) fn new(args: ProgressArgs) -> Self {
        let is_shown = !args.quiet && output::is_watched();
        Observer { is_verbose: args.verbose && !args.quiet, activity: is_shown.then(Progress::new) }
    }

    pub(super) fn observe(&self, event: &Event) {
        match (&self.activity, event) {
            _ if self.is_verbose => report_event(event),
            (Some(activity), Event::Tool { name, .. }) => activity.show(&name.replace('_', " ")),
            (Some(activity), Event::Executing { id, question, .. }) => activity.show(&format!("{id}: {question}")),
            _ => {}
        }
    }
}

/// Writes one line per event.
pub(super) fn report_event(event: &Event) {
    match event {
        Event::Round { .. } | Event::Text { .. } | Event::Answer { .. } | Event::Done { .. } => {}
        Event::Phase { name, reason: None } => output::say(&format!("  phase {name}")),
        Event::Phase { name, reason: Some(reason) } => output::say(&format!("  phase {name}: {reason}")),
        Event::Thinking { text } => output::say(&format!("  {}", text.lines().next().unwrap_or_default())),
        Event::Tool { name, .. } if name == "think" || name == "execute_sql" => {}
        Event::Tool { name, arguments } => output::say(&format!("  {name} {arguments}")),
        Event::Result { name, failed: true, reason: Some(reason), .. } => {
            output::say(&format!("  {name} failed: {reason}"));
        }
        Event::Result { name, failed: true, .. } => output::say(&format!("  {name} failed")),
        Event::Executing { id, sql, .. } => output::say(&format!("  {id}: {sql}")),
        Event::Result { queries, .. } => {
            for query in queries {
                match (&query.error, query.rows) {
                    (Some(error), _) => output::say(&format!("  {} failed: {error}", query.id)),
                    (None, Some(1)) => output::say(&format!("  {}: 1 row", query.id)),
                    (None, rows) => output::say(&format!("  {}: {} rows", query.id, rows.unwrap_or(0))),
                }
            }
        }
        Event::Followups { .. } => {}
        Event::Error { message, .. } => output::say(&format!("  {message}")),
        Event::Verified { ok: true, .. } => {}
        Event::Verified { failed, .. } => {
            output::say(&format!("  {failed} names, steps or sentences failed verification"))
        }
    }
}
