//! The conversations that are being gone on with: each in one place at a time.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use prospector_core::Owner;

use crate::error::{Refusal, RefusalCode};

/// A longer name is none.
const MAX_NAME_BYTES: usize = 100;

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
pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    if name.trim().is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
        let message = format!("the name of a session has 1 to {MAX_NAME_BYTES} bytes, on one line");
        return Err(Refusal::invalid(message).advise("POST /v1/sessions gives one"));
    }
    Ok(())
}

impl Sessions {
    /// Nobody else may go on with it meanwhile. Two owners may use one name: each has a conversation of their own.
    pub(crate) fn take(&self, owner: &Owner, name: &str) -> Result<Turn, Refusal> {
        let session = (owner.clone(), name.to_owned());
        let taken = self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(session.clone());
        if !taken {
            return Err(Refusal::new(
                RefusalCode::Conflict,
                format!("a question of the session `{name}` is being answered"),
            )
            .advise("ask again when it is, or in another session"));
        }
        Ok(Turn { session, busy: self.busy.clone() })
    }
}
