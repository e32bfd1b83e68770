//! The state that every request handler receives.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use prospector_core::Owner;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::server::Server;

#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) server: Arc<Server>,
    pub(crate) sessions: Arc<LocalSessionManager>,
    /// The owners of those sessions.
    pub(crate) owners: SessionOwners,
}

/// The owner of each session.
#[derive(Clone, Default)]
pub(crate) struct SessionOwners(Arc<Mutex<HashMap<String, Owner>>>);

impl SessionOwners {
    /// Whether a session belongs to this owner.
    pub(crate) fn is_of(&self, session: &str, owner: &Owner) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(session) == Some(owner)
    }

    /// Records the owner of a new session, and removes closed sessions.
    pub(crate) fn begin(&self, session: &str, owner: Owner, is_open: impl Fn(&str) -> bool) {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|session, _| is_open(session));
        owners.insert(session.to_owned(), owner);
    }

    /// Returns the number of an owner's open sessions.
    pub(crate) fn count(&self, owner: &Owner, is_open: impl Fn(&str) -> bool) -> usize {
        let owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owners.iter().filter(|(session, whose)| *whose == owner && is_open(session)).count()
    }
}
