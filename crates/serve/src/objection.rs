//! Reports of wrong answers, stored for the catalog maintainer. Clients see their own reports; models never see them.

use prospector_agent::ask::{Answered, DataQuestion};
use prospector_core::{Owner, work::compute};
use prospector_discovery::review::{AnswerQuery, Objection, Objections, QueryError};
use serde::{Deserialize, Serialize};

use crate::{
    error::Refusal,
    proposal::{name_of, refuse_keeping},
    server::Server,
};

/// A report of a wrong answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// What is wrong, in one or two sentences.
    #[serde(default)]
    pub(crate) why: String,
}

/// A report, as its author sees it.
#[derive(Debug, Serialize)]
pub(crate) struct OwnObjection {
    name: String,
    question: String,
    why: String,
    on: String,
    /// The verified queries that produced the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    verified: Vec<String>,
}

impl From<Objection> for OwnObjection {
    fn from(objection: Objection) -> Self {
        let Objection { name, question, why, on, queries, .. } = objection;
        OwnObjection {
            name,
            question,
            why,
            on,
            verified: queries.into_iter().filter_map(|query| query.verified).collect(),
        }
    }
}

impl Server {
    /// Stores a report that the answer of a run is wrong.
    pub(crate) async fn object(&self, owner: &Owner, handle: &str, reason: Reason) -> Result<OwnObjection, Refusal> {
        let objections = self.objections()?;
        let run = self.runs.get(handle, owner)?;
        let end = run.require_end()?;
        let none = || {
            Refusal::invalid("the run has no answer to report").advise("ask a question first, then report its answer")
        };
        let answered = Answered::deserialize(&*end.result).map_err(|_| none())?;
        if answered.answer.is_empty() {
            return Err(none());
        }
        let objection = Objection {
            name: name_of(&answered.question),
            queries: answered.questions.iter().filter(|query| query.error.is_none()).map(describe).collect(),
            question: answered.question,
            why: reason.why,
            owner: owner.id().to_owned(),
            by: owner.label().to_owned(),
            on: String::new(),
        };
        compute(move || objections.keep(objection)).await.map(OwnObjection::from).map_err(|error| refuse(&error))
    }

    /// Returns the reports of this owner.
    pub(crate) async fn own_objections(&self, owner: &Owner) -> Result<Vec<OwnObjection>, Refusal> {
        let objections = self.objections()?;
        let all = compute(move || objections.list()).await;
        Ok(all.into_iter().filter(|one| one.owner == owner.id()).map(OwnObjection::from).collect())
    }

    /// Withdraws a report of this owner.
    pub(crate) async fn withdraw(&self, owner: &Owner, name: &str) -> Result<(), Refusal> {
        let objections = self.objections()?;
        let (owner, wanted) = (owner.id().to_owned(), name.to_owned());
        let removed = compute(move || match objections.find(&wanted).is_some_and(|one| one.owner == owner) {
            true => objections.remove(&wanted),
            false => Ok(false),
        });
        match removed.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Refusal::not_found(format!("unknown report `{}`", name.escape_debug()))),
            Err(error) => Err(refuse(&error)),
        }
    }

    fn objections(&self) -> Result<Objections, Refusal> {
        Ok(Objections::of_state(self.state_folder()?))
    }
}

fn describe(query: &DataQuestion) -> AnswerQuery {
    AnswerQuery {
        sql: query.sql.clone(),
        database: query.database.clone(),
        verified: query.verified.as_ref().map(|verified| verified.query.clone()),
    }
}

fn refuse(error: &QueryError) -> Refusal {
    refuse_keeping(error, "the report cannot be stored")
}
