//! `planner facts`: user-supplied definitions, their authors, and their approval.

use prospector_discovery::review::{FactError, Review, ReviewedFact};

use super::{Opening, open};
use crate::{
    Exit,
    cli::{FactsArgs, FactsCommand},
    output,
    settings::Settings,
};

/// `planner facts`
pub(crate) async fn facts(args: FactsArgs, settings: &Settings) -> anyhow::Result<Exit> {
    // Without a catalog there is no state, even if a state folder is given.
    settings.catalog()?;
    let review = Review::new(settings.state_folder()?.join("facts.sqlite"));
    match args.command {
        FactsCommand::List { pending } => {
            let mut facts = review.facts().await.map_err(with_advice)?;
            facts.retain(|fact| fact.pending || !pending);
            output::json(&facts)?;
            Ok(Exit::Good)
        }
        FactsCommand::Approve { ids } => {
            let mut approved = Vec::new();
            for id in &ids {
                approved.push((id, review.approve(id).await.map_err(with_advice)?));
            }
            done(approved, "no pending fact has this id", settings).await
        }
        FactsCommand::Remove { ids } => {
            let mut removed = Vec::new();
            for id in &ids {
                removed.push((id, review.remove(id).await.map_err(with_advice)?));
            }
            done(removed, "no fact has this id", settings).await
        }
    }
}

/// Prints what was changed, reports what was not, and updates the index, which servers notice.
async fn done(
    changed: Vec<(&String, Option<ReviewedFact>)>,
    otherwise: &str,
    settings: &Settings,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Good;
    for (id, _) in changed.iter().filter(|(_, fact)| fact.is_none()) {
        output::say(&format!("error: {id}: {otherwise} (see `planner facts list`)"));
        exit = Exit::NotVerified;
    }
    let facts: Vec<ReviewedFact> = changed.into_iter().filter_map(|(_, fact)| fact).collect();
    output::json(&facts)?;
    if !facts.is_empty() {
        open(settings, Opening::Use).await?;
    }
    Ok(exit)
}

/// Adds advice to the error.
fn with_advice(error: FactError) -> anyhow::Error {
    match error.advice() {
        Some(advice) => anyhow::anyhow!("{error} ({advice})"),
        None => error.into(),
    }
}
