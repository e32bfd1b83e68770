//! Chooses the candidate for a question: one that covers it with a clear margin, or a choice of several.

use std::collections::HashSet;

use prospector_core::tool::{ToolError, ToolErrorCode};
use prospector_engine::Engine;

use crate::candidates::{
    ACCEPT, Candidate, CandidateQuery, Conversation, Glossary, MAX_QUESTION_CHARS, asks_for_figures, is_operator,
    list_candidates,
};
use crate::{SemanticModel, Tables};

/// The minimum score of a possible meaning, and of the closest candidates that are offered with a rejection.
const OFFER: f64 = 0.74;
const OFFER_NEAREST: f64 = 0.4;
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
        /// Whether the question asks for numbers.
        asks_for_figures: bool,
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
    let (mut found, mut texts): (Vec<Candidate>, HashSet<String>) = Default::default();
    if let Some(asked) = Conversation::read(question, model.today(), glossary) {
        let vocabulary = asked.look_up(question, &tables, glossary).await;
        for candidate in list_candidates(model, &asked, &vocabulary, &tables, glossary) {
            if to_sql(&candidate, engine, glossary).await.is_some() && texts.insert(name_with_database(&candidate)) {
                found.push(candidate);
            }
        }
    }
    prefer_verified(&mut found);
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
    let open = match &first.apart {
        Some((one, other)) => format!("no declared key or join connects {one} to {other}; declare one under `joins`."),
        None if first.unused.is_empty() => String::new(),
        None => {
            let unused: Vec<String> = first.unused.iter().map(|word| format!("`{word}`")).collect();
            format!("what does {} mean?", unused.join(", "))
        }
    };
    if first.score < OFFER_NEAREST {
        return Err(refuse(if open.is_empty() { "no query matches well enough".to_owned() } else { open }));
    }
    // The approval of a verified query decides between it and other candidates.
    let is_near =
        |other: &&Candidate| first.score - other.score < MARGIN && (other.is_verified() || !first.is_verified());
    let near: Vec<&Candidate> = found[1..].iter().filter(is_near).take(MAX_OFFERED).collect();
    let is_sure = first.score >= ACCEPT && are_same(first, &near, engine, glossary).await;
    if is_sure {
        return Ok(Decision::Accepted(Box::new(found.swap_remove(0))));
    }
    // If the candidates leave only words such as `without`, the question asks for rows, not for an explanation.
    let is_left = |word: &&String| found.iter().all(|candidate| candidate.unused.contains(word));
    let is_data = found[0].unused.iter().filter(is_left).all(|word| is_operator(word));
    let least = OFFER_NEAREST.max(found[0].score - OFFERED_MARGIN);
    found.retain(|candidate| candidate.score >= least);
    found.truncate(MAX_OFFERED);
    if found.iter().any(|candidate| candidate.is_verified() || candidate.database != found[0].database) {
        found.iter_mut().for_each(|candidate| candidate.text = name_with_database(candidate));
    }
    let reason = match (open.is_empty(), found.len()) {
        (true, 1) => "confirm that this is the intended query".to_owned(),
        (true, _) => "the question is ambiguous".to_owned(),
        (false, _) => open,
    };
    let asks_for_figures = asks_for_figures || is_data;
    Ok(Decision::Choices { nearest: found[0].score < OFFER, found, reason, asks_for_figures })
}

/// Moves the best verified query to the front if no candidate is better by the margin.
fn prefer_verified(found: &mut [Candidate]) {
    let best = found.first().map_or(0.0, |first| first.score);
    let is_preferred = |one: &Candidate| one.is_verified() && one.score >= ACCEPT && best - one.score < MARGIN;
    if let Some(at) = found.iter().position(is_preferred) {
        found[..=at].rotate_right(1);
    }
}

/// Returns what a candidate computes, with its database, for a choice between several.
fn name_with_database(candidate: &Candidate) -> String {
    match candidate.is_verified() {
        true => format!("{} (verified query)", candidate.text),
        false => format!("{} in {}", candidate.text, candidate.database),
    }
}

/// Returns the SQL of a candidate, and the database that it runs in if it is one; `None` if it cannot be computed.
async fn to_sql(candidate: &Candidate, engine: &Engine, glossary: &dyn Glossary) -> Option<(String, Option<String>)> {
    match &candidate.query {
        CandidateQuery::Metrics { query, model } => match model.compile(engine, query) {
            Ok((compiled, _)) => Some((compiled.sql, compiled.database)),
            Err(failure) => {
                tracing::debug!("dropped: {}: {failure}", name_with_database(candidate));
                None
            }
        },
        CandidateQuery::Sql { sql, .. } => Some((sql.clone(), Some(candidate.database.clone()))),
        CandidateQuery::Verified { name, parameters, .. } => glossary.bind(name, parameters, engine).await,
    }
}

/// Returns whether other candidates return the same values as the first, ignoring the names of groups.
async fn are_same(first: &Candidate, others: &[&Candidate], engine: &Engine, glossary: &dyn Glossary) -> bool {
    if others.is_empty() {
        return true;
    }
    let Some(own) = list_measured(first, engine, glossary).await else { return false };
    for other in others {
        if list_measured(other, engine, glossary).await.is_none_or(|values| values != own) {
            return false;
        }
    }
    true
}

/// Returns the values of the last column, which is the computed one, in order.
async fn list_measured(candidate: &Candidate, engine: &Engine, glossary: &dyn Glossary) -> Option<Vec<String>> {
    let rows = run(candidate, COMPARED_ROWS, engine, glossary).await?;
    let mut values: Vec<String> = rows.iter().filter_map(|row| Some(row.last()?.to_string())).collect();
    values.sort_unstable();
    Some(values)
}

/// Returns rows of a candidate, up to a limit.
pub(super) async fn run(
    candidate: &Candidate,
    cap: usize,
    engine: &Engine,
    glossary: &dyn Glossary,
) -> Option<Vec<Vec<serde_json::Value>>> {
    let (sql, database) = to_sql(candidate, engine, glossary).await?;
    Some(engine.run(&sql, database.as_deref(), cap).await.ok()?.rows.rows)
}
