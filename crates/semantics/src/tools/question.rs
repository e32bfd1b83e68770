//! Which candidate a question asks for: one that covers it and that no other comes near, or a choice of several.

use std::collections::HashSet;

use prospector_core::tool::{ToolError, ToolErrorCode};
use prospector_engine::Engine;

use crate::candidates::{
    Candidate, CandidateQuery, Glossary, MAX_QUESTION_CHARS, asks_for_figures, list_candidates, look_up,
};
use crate::{SemanticModel, Tables};

/// A candidate below this score is not computed without being chosen; one below the other is no meaning of the question.
const ACCEPT: f64 = 0.88;
const OFFER: f64 = 0.74;
/// Where figures are asked for, and no passage of a document, what comes nearest is offered with the refusal from this score on.
const OFFER_FIGURES: f64 = 0.5;
/// Another candidate that is nearer than this makes it doubtful which is meant, unless it gives the same rows.
const MARGIN: f64 = 0.035;
/// What is offered beside the best is at most this much worse.
const OFFERED_MARGIN: f64 = 0.2;
/// Candidates that are offered.
const MAX_OFFERED: usize = 3;
/// Rows that are compared.
const COMPARED_ROWS: usize = 200;

/// What becomes of a question.
pub(super) enum Decision {
    Accepted(Box<Candidate>),
    Choices {
        /// What it may mean, the likeliest first.
        found: Vec<Candidate>,
        /// Why none was taken.
        reason: String,
        /// Whether each leaves out something that the question says.
        nearest: bool,
    },
}

/// The candidate that a question asks for. `choice` is the text of one that was offered before.
///
/// # Errors
/// Nothing in the catalog comes near the question: `not_found` where it asks for no figures.
pub(super) async fn decide(
    model: &SemanticModel,
    engine: &Engine,
    glossary: &dyn Glossary,
    question: &str,
    choice: Option<&str>,
) -> Result<Decision, ToolError> {
    if question.chars().count() > MAX_QUESTION_CHARS {
        let message = format!("the question is longer than {MAX_QUESTION_CHARS} characters");
        return Err(ToolError::invalid(message, Some("ask in fewer words".to_owned())));
    }
    let tables: Vec<Tables<'_>> = engine
        .sources()
        .iter()
        .map(|source| Tables { database: &source.name, dialect: source.dialect(), tables: &source.tables })
        .collect();
    let vocabulary = look_up(question, &tables, glossary).await;
    let mut found = list_candidates(model, question, &vocabulary, &tables, glossary);
    found.retain(|candidate| compiles(candidate, engine));
    let mut texts: HashSet<String> = HashSet::new();
    found.retain(|candidate| texts.insert(name_with_database(candidate)));
    for candidate in &found {
        tracing::debug!(score = candidate.score, unused = ?candidate.unused, "{}", name_with_database(candidate));
    }
    if let Some(choice) = choice {
        let is_chosen = |candidate: &Candidate| candidate.text == choice || name_with_database(candidate) == choice;
        let chosen = found.into_iter().find(is_chosen);
        return chosen
            .map(|candidate| Decision::Accepted(Box::new(candidate)))
            .ok_or_else(|| ToolError::invalid(format!("`{choice}` is none of the choices for this question"), None));
    }
    let asks_for_figures = asks_for_figures(question);
    let refuse = |message: String| match asks_for_figures {
        true => ToolError::invalid(message, None),
        false => ToolError::Respond { code: ToolErrorCode::NotFound, message, suggestion: None },
    };
    let Some(first) = found.first() else {
        return Err(refuse("no metric, table or value of the catalog is named in it".to_owned()));
    };
    let open = first.unused.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let offer = if asks_for_figures { OFFER_FIGURES } else { OFFER };
    if first.score < offer {
        let why = if open.is_empty() {
            "no query comes near enough.".to_owned()
        } else {
            format!("what is meant by {open}?")
        };
        return Err(refuse(format!("{why} The nearest is: {}", first.text)));
    }
    let near: Vec<&Candidate> =
        found[1..].iter().filter(|other| first.score - other.score < MARGIN).take(MAX_OFFERED).collect();
    let is_sure = first.score >= ACCEPT && are_same(first, &near, engine).await;
    if is_sure {
        return Ok(Decision::Accepted(Box::new(found.swap_remove(0))));
    }
    let least = offer.max(found[0].score - OFFERED_MARGIN);
    found.retain(|candidate| candidate.score >= least);
    found.truncate(MAX_OFFERED);
    if found.iter().any(|candidate| candidate.database != found[0].database) {
        found.iter_mut().for_each(|candidate| candidate.text = name_with_database(candidate));
    }
    let reason = match (open.is_empty(), found.len()) {
        (true, 1) => "it is not certain that this is meant".to_owned(),
        (true, _) => "it may mean several things".to_owned(),
        (false, _) => format!("what is meant by {open}?"),
    };
    Ok(Decision::Choices { nearest: found[0].score < OFFER, found, reason })
}

/// What a candidate computes, and of which database: for choices between several.
fn name_with_database(candidate: &Candidate) -> String {
    format!("{} in {}", candidate.text, candidate.database)
}

fn compiles(candidate: &Candidate, engine: &Engine) -> bool {
    match &candidate.query {
        CandidateQuery::Metrics { query, model } => model.compile(engine, query).is_ok(),
        CandidateQuery::Sql { .. } => true,
    }
}

/// Whether other candidates give the same values as the first, whatever the groups are called.
async fn are_same(first: &Candidate, others: &[&Candidate], engine: &Engine) -> bool {
    if others.is_empty() {
        return true;
    }
    let Some(own) = list_measured(first, engine).await else { return false };
    for other in others {
        if list_measured(other, engine).await.is_none_or(|values| values != own) {
            return false;
        }
    }
    true
}

/// The values of the last column, which is what was computed, in their order.
async fn list_measured(candidate: &Candidate, engine: &Engine) -> Option<Vec<String>> {
    let rows = run(candidate, engine).await?;
    let mut values: Vec<String> = rows.iter().filter_map(|row| Some(row.last()?.to_string())).collect();
    values.sort_unstable();
    Some(values)
}

async fn run(candidate: &Candidate, engine: &Engine) -> Option<Vec<Vec<serde_json::Value>>> {
    let (sql, database) = match &candidate.query {
        CandidateQuery::Metrics { query, model } => {
            let (compiled, _) = model.compile(engine, query).ok()?;
            (compiled.sql, compiled.database)
        }
        CandidateQuery::Sql { sql, .. } => (sql.clone(), Some(candidate.database.clone())),
    };
    let outcome = engine.run(&sql, database.as_deref(), COMPARED_ROWS).await.ok()?;
    Some(outcome.rows.rows)
}
