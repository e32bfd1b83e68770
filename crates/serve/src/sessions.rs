//! Locks of conversations: each is continued in one place at a time.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use prospector_core::Owner;

use crate::error::{Refusal, RefusalCode};

/// Limit on the length of a name, in bytes.
const MAX_NAME_BYTES: usize = 100;

/// The conversations that are being continued.
#[derive(Default)]
pub(crate) struct Sessions {
    busy: Arc<Mutex<HashSet<(Owner, String)>>>,
}

/// The exclusive right to continue a conversation, released on drop.
pub(crate) struct Turn {
    session: (Owner, String),
    busy: Arc<Mutex<HashSet<(Owner, String)>>>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.session);
    }
}

/// Refuses invalid names of conversations.
pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    if name.trim().is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
        let message = format!("the name of a session must be one line of 1 to {MAX_NAME_BYTES} bytes");
        return Err(Refusal::invalid(message).advise("POST /v1/sessions returns a new name"));
    }
    Ok(())
}

impl Sessions {
    /// Locks a conversation. Names are per owner: two owners may use the same name for different conversations.
    pub(crate) fn take(&self, owner: &Owner, name: &str) -> Result<Turn, Refusal> {
        let session = (owner.clone(), name.to_owned());
        let taken = self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(session.clone());
        if !taken {
            return Err(Refusal::new(
                RefusalCode::Conflict,
                format!("the session `{name}` is busy answering another question"),
            )
            .advise("retry when it is done, or use another session"));
        }
        Ok(Turn { session, busy: self.busy.clone() })
    }
}
