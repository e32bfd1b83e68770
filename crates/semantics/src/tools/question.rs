//! Chooses the candidate for a question: one that covers it with a clear margin, or a choice of several.

use std::collections::HashSet;

use prospector_core::tool::{ToolError, ToolErrorCode};
use prospector_engine::Engine;

use crate::candidates::{
    Candidate, CandidateQuery, Glossary, MAX_QUESTION_CHARS, asks_for_figures, list_candidates, look_up,
};
use crate::{SemanticModel, Tables};

/// The minimum score to compute a candidate without confirmation, and the minimum score of a possible meaning.
const ACCEPT: f64 = 0.88;
const OFFER: f64 = 0.74;
/// The minimum score to offer the closest candidates with a rejection, if the question asks for numbers.
const OFFER_FIGURES: f64 = 0.5;
/// Candidates within this margin are ambiguous, unless they return the same rows.
const MARGIN: f64 = 0.035;
/// The maximum difference in score between the best and other offered candidates.
const OFFERED_MARGIN: f64 = 0.2;
/// The maximum number of offered candidates.
const MAX_OFFERED: usize = 3;
/// The maximum number of rows that are compared.
const COMPARED_ROWS: usize = 200;

/// The result for a question.
pub(super) enum Decision {
    Accepted(Box<Candidate>),
    Choices {
        /// What it may mean, the most likely first.
        found: Vec<Candidate>,
        /// Why none was chosen.
        reason: String,
        /// Whether none covers the whole question.
        nearest: bool,
    },
}

/// Chooses the candidate for a question. `choice` is the text of one that was offered before.
///
/// # Errors
/// If nothing in the catalog matches the question: `not_found` if it does not ask for numbers.
pub(super) async fn decide(
    model: &SemanticModel,
    engine: &Engine,
    glossary: &dyn Glossary,
    question: &str,
    choice: Option<&str>,
) -> Result<Decision, ToolError> {
    if question.chars().count() > MAX_QUESTION_CHARS {
        let message = format!("the question is longer than {MAX_QUESTION_CHARS} characters");
        return Err(ToolError::invalid(message, Some("shorten the question".to_owned())));
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
        return chosen.map(|candidate| Decision::Accepted(Box::new(candidate))).ok_or_else(|| {
            ToolError::invalid(format!("`{choice}` is not one of the choices for this question"), None)
        });
    }
    let asks_for_figures = asks_for_figures(question);
    let refuse = |message: String| match asks_for_figures {
        true => ToolError::invalid(message, None),
        false => ToolError::Respond { code: ToolErrorCode::NotFound, message, suggestion: None },
    };
    let Some(first) = found.first() else {
        return Err(refuse("the question names no metric, table or value of the catalog".to_owned()));
    };
    let open = first.unused.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let offer = if asks_for_figures { OFFER_FIGURES } else { OFFER };
    if first.score < offer {
        let why = if open.is_empty() {
            "no query matches well enough.".to_owned()
        } else {
            format!("what does {open} mean?")
        };
        return Err(refuse(format!("{why} The closest match is: {}", first.text)));
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
        (true, 1) => "confirm that this is the intended query".to_owned(),
        (true, _) => "the question is ambiguous".to_owned(),
        (false, _) => format!("what does {open} mean?"),
    };
    Ok(Decision::Choices { nearest: found[0].score < OFFER, found, reason })
}

/// Returns what a candidate computes, with its database, for a choice between several.
fn name_with_database(candidate: &Candidate) -> String {
    format!("{} in {}", candidate.text, candidate.database)
}

fn compiles(candidate: &Candidate, engine: &Engine) -> bool {
    match &candidate.query {
        CandidateQuery::Metrics { query, model } => {
            let compiled = model.compile(engine, query);
            if let Err(failure) = &compiled {
                tracing::debug!("dropped: {}: {failure}", name_with_database(candidate));
            }
            compiled.is_ok()
        }
        CandidateQuery::Sql { .. } => true,
    }
}

/// Returns whether other candidates return the same values as the first, ignoring the names of groups.
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

/// Returns the values of the last column, which is the computed one, in order.
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
