//! Conversations as clients see them. The agent stores them in the state folder, by owner and name.

use std::path::Path;

use prospector_agent::session::{self, KeptSession, Session, SessionError};
use prospector_core::Owner;
use serde_json::{Value, json};

use crate::{error::Refusal, server::Server, sessions::check_name};

impl Server {
    fn state(&self) -> Result<&Path, Refusal> {
        let missing = || Refusal::unavailable("this server keeps no sessions").advise("omit session");
        self.options.state.as_deref().ok_or_else(missing)
    }

    /// Returns the conversation of that owner and name, or an unstored one if there is no name.
    pub(crate) async fn session(&self, owner: &Owner, name: Option<&str>) -> Result<Session, Refusal> {
        match name {
            None => Ok(Session::unkept()),
            Some(name) => Session::open(self.state()?, owner, name).await.map_err(unreadable),
        }
    }

    /// Returns the names of an owner's conversations, latest first.
    pub(crate) async fn session_names(&self, owner: &Owner) -> Result<Value, Refusal> {
        Ok(json!({"items": self.kept_sessions(owner).await?}))
    }

    /// Returns an owner's stored conversations, latest first.
    pub(crate) async fn kept_sessions(&self, owner: &Owner) -> Result<Vec<KeptSession>, Refusal> {
        Session::list(self.state()?, owner).await.map_err(unreadable)
    }

    pub(crate) async fn remove_session(&self, owner: &Owner, name: &str) -> Result<(), Refusal> {
        check_name(name)?;
        let _turn = self.sessions.take(owner, name)?;
        match Session::remove(self.state()?, owner, name).await.map_err(unreadable)? {
            true => Ok(()),
            false => Err(no_session(name)),
        }
    }

    pub(crate) async fn rename_session(&self, owner: &Owner, name: &str, to: &str) -> Result<(), Refusal> {
        check_name(name)?;
        check_name(to)?;
        let _turn = self.sessions.take(owner, name)?;
        match Session::rename(self.state()?, owner, name, to).await.map_err(unreadable)? {
            true => Ok(()),
            false => Err(Refusal::not_found(format!("there is no session `{name}`, or `{to}` already exists"))
                .advise("see /v1/sessions")),
        }
    }

    /// Returns the questions and answers of a conversation.
    pub(crate) async fn turns(&self, owner: &Owner, name: &str) -> Result<Value, Refusal> {
        check_name(name)?;
        let session = self.session(owner, Some(name)).await?;
        if session.turns().is_empty() {
            return Err(no_session(name));
        }
        let turn = |turn: &session::Turn| json!({"number": turn.number, "answered": turn.answered});
        Ok(json!({"session": name, "turns": session.turns().iter().map(turn).collect::<Vec<_>>()}))
    }
}

fn no_session(name: &str) -> Refusal {
    Refusal::not_found(format!("there is no session `{name}`")).advise("see /v1/sessions")
}

/// Logs the details, which clients do not see.
fn unreadable(error: SessionError) -> Refusal {
    tracing::error!(%error, "the sessions cannot be read");
    Refusal::unavailable("the sessions cannot be read").advise("see the server log")
}
