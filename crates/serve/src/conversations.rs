//! Conversations as clients see them. The agent keeps them in the state folder, by owner and name.

use std::path::Path;

use prospector_agent::session::{self, Session, SessionError};
use prospector_core::Owner;
use serde_json::{Value, json};

use crate::{error::Refusal, server::Server, sessions::check_name};

impl Server {
    fn state(&self) -> Result<&Path, Refusal> {
        let missing = || Refusal::unavailable("this server keeps no sessions").advise("leave session out");
        self.options.state.as_deref().ok_or_else(missing)
    }

    /// The conversation of that name and owner, or one that is not kept.
    pub(crate) async fn session(&self, owner: &Owner, name: Option<&str>) -> Result<Session, Refusal> {
        match name {
            None => Ok(Session::unkept()),
            Some(name) => Session::open(self.state()?, owner, name).await.map_err(unreadable),
        }
    }

    /// The names of all of an owner, the latest first.
    pub(crate) async fn session_names(&self, owner: &Owner) -> Result<Value, Refusal> {
        let names = Session::list(self.state()?, owner).await.map_err(unreadable)?;
        let items: Vec<Value> =
            names.into_iter().map(|(name, turns)| json!({"session": name, "turns": turns})).collect();
        Ok(json!({"items": items}))
    }

    /// The questions and answers of one.
    pub(crate) async fn turns(&self, owner: &Owner, name: &str) -> Result<Value, Refusal> {
        check_name(name)?;
        let session = self.session(owner, Some(name)).await?;
        if session.turns().is_empty() {
            return Err(Refusal::not_found(format!("there is no session `{name}`")).advise("see /v1/sessions"));
        }
        let turn = |turn: &session::Turn| json!({"number": turn.number, "answered": turn.answered});
        Ok(json!({"session": name, "turns": session.turns().iter().map(turn).collect::<Vec<_>>()}))
    }
}

/// What is wrong with the file is for the log.
fn unreadable(error: SessionError) -> Refusal {
    tracing::error!(%error, "the sessions cannot be read");
    Refusal::unavailable("the sessions cannot be read").advise("the log of the server says why")
}
