//! Proposes queries of answers as verified queries to the catalog maintainer.

use std::path::Path;

use prospector_agent::ask::Answered;
use prospector_core::{Owner, work::compute};
use prospector_discovery::review::{Proposals, QueryError};
use prospector_text::identifiers;
use serde::{Deserialize, Serialize};

use crate::{
    error::{Refusal, RefusalCode},
    server::Server,
};

/// Number of words of the question in the name of its query.
const MAX_WORDS: usize = 6;

/// A pending query.
#[derive(Debug, Serialize)]
pub(crate) struct Proposal {
    name: String,
    question: String,
    /// The next step of the catalog maintainer.
    next: String,
}

impl Server {
    /// Returns the folder with what clients leave for the catalog maintainer.
    pub(crate) fn state_folder(&self) -> Result<&Path, Refusal> {
        let missing =
            || Refusal::unavailable("this server has no state folder").advise("serve a catalog with a state folder");
        self.options.state.as_deref().ok_or_else(missing)
    }

    /// Proposes the query of a run's answer. The name is generated, so that nobody learns or replaces what others have proposed.
    pub(crate) async fn propose(&self, owner: &Owner, handle: &str) -> Result<Proposal, Refusal> {
        let state = self.state_folder()?;
        let run = self.runs.get(handle, owner)?;
        let end = run.require_end()?;
        let none = || Refusal::invalid("the answer has no query of its own");
        let answered = Answered::deserialize(&*end.result).map_err(|_| none())?;
        let query = answered.last_own_query().ok_or_else(none)?;
        let name = name_of(&answered.question);
        let (proposals, owner) = (Proposals::of_state(state), owner.clone());
        let (question, units) = (answered.question.clone(), query.units.clone());
        let (database, sql) = (query.database.clone(), query.sql.clone());
        let kept = {
            let name = name.clone();
            compute(move || proposals.propose(&name, &question, database.as_deref(), &sql, &units, &owner)).await
        };
        kept.map_err(|error| refuse_keeping(&error, "the proposal cannot be stored"))?;
        let next = format!("planner queries approve {name} --by WHO");
        Ok(Proposal { name, question: answered.question, next })
    }
}

/// Why something for the catalog maintainer is not stored: too many are pending, or the reason that is logged.
pub(crate) fn refuse_keeping(error: &QueryError, message: &'static str) -> Refusal {
    if let QueryError::TooMany { .. } = error {
        let refusal = Refusal::new(RefusalCode::TooManyRequests, error.to_string());
        return refusal.advise(error.advice().unwrap_or_default());
    }
    tracing::error!(%error, "{message}");
    Refusal::unavailable(message).advise("see the server log")
}

/// Builds a unique name from the first words of a question.
pub(crate) fn name_of(question: &str) -> String {
    let words = identifiers::words(question).into_iter().filter(|word| word.is_ascii()).take(MAX_WORDS);
    let id = uuid::Uuid::new_v4().simple().to_string();
    words.chain([id[..6].to_owned()]).collect::<Vec<_>>().join("-")
}
