//! `planner queries`: verified queries, and pending ones.

use anyhow::Context as _;
use prospector_agent::ask::Answered;
use prospector_core::Owner;
use prospector_discovery::{
    Catalog, DiscoveryTools, Profile,
    review::{Objection, Objections, Proposals, QueryError, QueryState, VerifiedQueries, VerifiedQuery},
};
use serde_json::{Map, Value, json};

use super::{Opening, discover::show_all, open};
use crate::{
    Exit,
    cli::{QueriesArgs, QueriesCommand, ReportFormat},
    output,
    settings::Settings,
};

/// `planner queries`
pub(crate) async fn queries(args: QueriesArgs, settings: &Settings) -> anyhow::Result<Exit> {
    let state = settings.state_folder()?;
    let (proposals, objections) = (Proposals::of_state(&state), Objections::of_state(&state));
    // Without a catalog there is no state, even if a state folder is given.
    let (catalog, _) = open(settings, Opening::Use).await?;
    match args.command {
        QueriesCommand::List { waiting } => list(&catalog, &proposals, &objections, waiting),
        QueriesCommand::Show { name } => show(&catalog, &proposals, &objections, &name).await,
        QueriesCommand::Run { name, values, format } => run(&catalog, &name, values, format).await,
        QueriesCommand::Check { names } => check(&catalog, &names).await,
        QueriesCommand::Approve { name, by } => approve(&catalog, &proposals, &name, &by, settings).await,
        QueriesCommand::Dismiss { name } => dismiss(&proposals, &objections, &name),
    }
}

fn list(catalog: &Catalog, proposals: &Proposals, objections: &Objections, only_waiting: bool) -> anyhow::Result<Exit> {
    let objections = objections.list();
    let row = |query: &VerifiedQuery, waits: bool| {
        let mut row = json!({"name": query.name, "question": query.question});
        match (&query.verified, waits) {
            (_, true) => row["waiting"] = true.into(),
            (Some(verified), false) => row["verified"] = json!(verified),
            (None, false) => {}
        }
        if let Some(reason) = query.stale() {
            row["stale"] = reason.into();
        }
        let about: Vec<Value> =
            objections.iter().filter(|one| !waits && one.is_about(&query.name)).map(describe_objection).collect();
        if !about.is_empty() {
            row["objections"] = about.into();
        }
        row["file"] = query.path.display().to_string().into();
        row
    };
    let verified = catalog.verified.queries().iter().filter(|_| !only_waiting).map(|query| row(query, false));
    let waiting = proposals.list();
    let mut rows: Vec<Value> = verified.chain(waiting.iter().map(|query| row(query, true))).collect();
    rows.extend(objections.iter().map(|objection| {
        let mut row = json!({"name": objection.name, "question": objection.question});
        row["objection"] = describe_objection(objection);
        row
    }));
    output::json(&rows)?;
    Ok(Exit::Good)
}

/// Describes a reported answer and its author.
fn describe_objection(objection: &Objection) -> Value {
    json!({"why": objection.why, "by": objection.by, "on": objection.on, "name": objection.name})
}

/// Removes a pending entry.
fn dismiss(proposals: &Proposals, objections: &Objections, name: &str) -> anyhow::Result<Exit> {
    let is_gone = proposals.remove(name).map_err(with_advice)? | objections.remove(name).map_err(with_advice)?;
    anyhow::ensure!(is_gone, "no pending entry is named `{name}` (see `planner queries list --waiting`)");
    output::json(&json!({"name": name, "dismissed": true}))?;
    Ok(Exit::Good)
}

async fn show(catalog: &Catalog, proposals: &Proposals, objections: &Objections, name: &str) -> anyhow::Result<Exit> {
    if let Some(objection) = objections.find(name) {
        output::json(&objection)?;
        return Ok(Exit::Good);
    }
    if catalog.verified.resolve(name).is_none()
        && let Ok(query) = proposals.find(name)
    {
        output::text(&std::fs::read_to_string(&query.path)?)?;
        return Ok(Exit::Good);
    }
    let tools = DiscoveryTools::new(catalog, Profile::Full);
    super::discover::show(tools.call(VerifiedQueries::GET_TOOL, json!({"name": name})).await, Some(ReportFormat::Json))
}

async fn run(
    catalog: &Catalog,
    name: &str,
    values: Vec<(String, String)>,
    format: Option<ReportFormat>,
) -> anyhow::Result<Exit> {
    let parameters: Map<String, Value> = values.into_iter().map(|(name, value)| (name, value.into())).collect();
    let engine = catalog.engine();
    let tools = DiscoveryTools::new(catalog, Profile::Full).with_engine(&engine);
    let called = tools.call(VerifiedQueries::RUN_TOOL, json!({"name": name, "parameters": parameters})).await;
    show_all(called, &engine, format).await
}

async fn check(catalog: &Catalog, names: &[String]) -> anyhow::Result<Exit> {
    let engine = catalog.engine();
    for name in names {
        anyhow::ensure!(catalog.verified.resolve(name).is_some(), "unknown verified query `{name}`");
    }
    let is_wanted = |query: &&VerifiedQuery| {
        let same = |name: &String| catalog.verified.resolve(name).is_some_and(|one| one.name == query.name);
        names.is_empty() || names.iter().any(same)
    };
    let (mut rows, mut exit) = (Vec::new(), Exit::Good);
    for query in catalog.verified.queries().iter().filter(is_wanted) {
        let mut row = json!({"name": query.name, "ok": true});
        if let Err(error) = catalog.verified.validate(query, &engine).await {
            row = json!({"name": query.name, "ok": false, "problem": error.to_string()});
            exit = Exit::NotVerified;
        } else if let QueryState::Current { tables, .. } = &query.state {
            row["tables"] = json!(tables);
        }
        rows.push(row);
    }
    output::json(&rows)?;
    Ok(exit)
}

async fn approve(
    catalog: &Catalog,
    proposals: &Proposals,
    name: &str,
    by: &str,
    settings: &Settings,
) -> anyhow::Result<Exit> {
    anyhow::ensure!(!by.trim().is_empty(), "--by is empty: name the person who verified the query");
    let folder = catalog.verified_folder.as_deref().context(
        "the catalog has no folder for verified queries (add `verified_queries: [{path: queries}]` to it, and create the folder)",
    )?;
    let approved = proposals.approve(name, by.trim(), folder, &catalog.engine()).await.map_err(with_advice)?;
    output::json(&json!({
        "name": approved.name,
        "question": approved.question,
        "verified": approved.verified,
        "file": approved.path.display().to_string(),
    }))?;
    open(settings, Opening::Use).await?;
    Ok(Exit::Good)
}

/// Checks that a query can be stored under a name, before the question is asked.
pub(super) fn check_name(name: &str, settings: &Settings) -> anyhow::Result<()> {
    Proposals::of_state(&settings.state_folder()?).check_name(name).map_err(with_advice)
}

/// Stores the last query of an answer, pending approval.
pub(super) fn propose(answered: &Answered, name: &str, settings: &Settings) -> anyhow::Result<()> {
    let Some(query) = answered.last_own_query() else {
        anyhow::bail!("the answer has no query of its own to store as `{name}`");
    };
    let proposals = Proposals::of_state(&settings.state_folder()?);
    let path = proposals
        .propose(name, &answered.question, query.database.as_deref(), &query.sql, &query.units, &Owner::local())
        .map_err(with_advice)?;
    output::say(&format!(
        "stored as {}, pending approval with: planner queries approve {name} --by WHO",
        path.display()
    ));
    Ok(())
}

/// Adds advice to the error.
fn with_advice(error: QueryError) -> anyhow::Error {
    match error.advice() {
        Some(advice) => anyhow::anyhow!("{error} ({advice})"),
        None => error.into(),
    }
}
