//! Conversations: kept by the agent in the state folder, by name; here it is seen to that each is in one place at a time.

use std::{
    collections::HashSet,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use prospector_agent::session::{self, Session, SessionError};
use prospector_core::Owner;
use serde_json::{Value, json};

use crate::{error::Refusal, server::Server};

/// A longer name is none.
const LONGEST_NAME: usize = 100;

/// The conversations that are being gone on with.
#[derive(Default)]
pub(crate) struct Sessions {
    busy: Arc<Mutex<HashSet<(Owner, String)>>>,
}

/// The right to go on with a conversation, until it is dropped.
pub(crate) struct Turn {
    session: (Owner, String),
    busy: Arc<Mutex<HashSet<(Owner, String)>>>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.session);
    }
}

/// Refuses what cannot be the name of a conversation.
pub(crate) fn named(name: &str) -> Result<(), Refusal> {
    if name.trim().is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
        let message = format!("the name of a session has 1 to {LONGEST_NAME} bytes, on one line");
        return Err(Refusal::new("invalid_arguments", message).advise("POST /v1/sessions gives one"));
    }
    Ok(())
}

impl Sessions {
    /// Nobody else may go on with it meanwhile. Two owners may use one name: each has a conversation of their own.
    pub(crate) fn take(&self, owner: &Owner, name: &str) -> Result<Turn, Refusal> {
        let session = (owner.clone(), name.to_owned());
        let taken = self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(session.clone());
        if !taken {
            return Err(Refusal::new("conflict", format!("a question of the session `{name}` is being answered"))
                .advise("ask again when it is, or in another session"));
        }
        Ok(Turn { session, busy: self.busy.clone() })
    }
}

impl Server {
    fn state(&self) -> Result<&Path, Refusal> {
        let missing = || Refusal::new("unavailable", "this server keeps no sessions").advise("leave session out");
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
        named(name)?;
        let session = self.session(owner, Some(name)).await?;
        if session.turns().is_empty() {
            return Err(Refusal::new("not_found", format!("there is no session `{name}`")).advise("see /v1/sessions"));
        }
        let turn = |turn: &session::Turn| json!({"number": turn.number, "answered": turn.answered});
        Ok(json!({"session": name, "turns": session.turns().iter().map(turn).collect::<Vec<_>>()}))
    }
}

/// What is wrong with the file is for the log.
fn unreadable(error: SessionError) -> Refusal {
    tracing::error!(%error, "the sessions cannot be read");
    Refusal::new("unavailable", "the sessions cannot be read").advise("the log of the server says why")
}
