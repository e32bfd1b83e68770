//! What every handler of a request is given.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use prospector_core::Owner;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use crate::server::Server;

/// What every handler is given.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) server: Arc<Server>,
    pub(crate) sessions: Arc<LocalSessionManager>,
    /// Whose each of those sessions is.
    pub(crate) owners: SessionOwners,
}

/// Whose each session is.
#[derive(Clone, Default)]
pub(crate) struct SessionOwners(Arc<Mutex<HashMap<String, Owner>>>);

impl SessionOwners {
    /// Whether a session is this owner's.
    pub(crate) fn is_of(&self, session: &str, owner: &Owner) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(session) == Some(owner)
    }

    /// Notes whose a new session is, and forgets those that are over.
    pub(crate) fn begin(&self, session: &str, owner: Owner, is_open: impl Fn(&str) -> bool) {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|session, _| is_open(session));
        owners.insert(session.to_owned(), owner);
    }

    /// How many sessions of an owner are open.
    pub(crate) fn count(&self, owner: &Owner, is_open: impl Fn(&str) -> bool) -> usize {
        let owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owners.iter().filter(|(session, whose)| *whose == owner && is_open(session)).count()
    }
}
