//! Conversations as clients see them. The agent keeps them in the state folder, by owner and name.

use std::path::Path;

use prospector_agent::session::{self, KeptSession, Session, SessionError};
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

    /// All of an owner, the latest first.
    pub(crate) async fn session_names(&self, owner: &Owner) -> Result<Value, Refusal> {
        Ok(json!({"items": self.kept_sessions(owner).await?}))
    }

    /// The same as they are kept.
    pub(crate) async fn kept_sessions(&self, owner: &Owner) -> Result<Vec<KeptSession>, Refusal> {
        Session::list(self.state()?, owner).await.map_err(unreadable)
    }

    /// Forgets one.
    pub(crate) async fn remove_session(&self, owner: &Owner, name: &str) -> Result<(), Refusal> {
        check_name(name)?;
        let _turn = self.sessions.take(owner, name)?;
        match Session::remove(self.state()?, owner, name).await.map_err(unreadable)? {
            true => Ok(()),
            false => Err(no_session(name)),
        }
    }

    /// Gives one another name.
    pub(crate) async fn rename_session(&self, owner: &Owner, name: &str, to: &str) -> Result<(), Refusal> {
        check_name(name)?;
        check_name(to)?;
        let _turn = self.sessions.take(owner, name)?;
        match Session::rename(self.state()?, owner, name, to).await.map_err(unreadable)? {
            true => Ok(()),
            false => Err(Refusal::not_found(format!("there is no session `{name}`, or one called `{to}` already"))
                .advise("see /v1/sessions")),
        }
    }

    /// The questions and answers of one.
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

/// What is wrong with the file is for the log.
fn unreadable(error: SessionError) -> Refusal {
    tracing::error!(%error, "the sessions cannot be read");
    Refusal::unavailable("the sessions cannot be read").advise("the log of the server says why")
}
