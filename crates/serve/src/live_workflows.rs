//! Workflow conversations in memory between their turns. Evicted ones are restored from their records.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use prospector_discovery::DiscoveryTools;
use prospector_workflow::Conversation;

use crate::view::CatalogView;

/// Limit on conversations in memory, over all owners.
const MAX_HELD: usize = 16;

/// A conversation with what its next turn needs.
pub(crate) struct LiveWorkflow {
    pub(crate) conversation: Conversation,
    pub(crate) tools: DiscoveryTools,
    pub(crate) view: Arc<CatalogView>,
}

#[derive(Default)]
pub(crate) struct LiveWorkflows(Arc<Mutex<HashMap<String, (Instant, LiveWorkflow)>>>);

impl LiveWorkflows {
    /// Removes a conversation, for a turn or for good.
    pub(crate) fn take(&self, handle: &str) -> Option<LiveWorkflow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(handle).map(|(_, live)| live)
    }

    /// Keeps a conversation until its next turn, for at most `life`. At the limit, the one that waits longest is evicted.
    pub(crate) fn hold(&self, handle: &str, live: LiveWorkflow, life: Duration) {
        let since = Instant::now();
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= MAX_HELD {
            let oldest = held.iter().min_by_key(|(_, (since, _))| *since).map(|(handle, _)| handle.clone());
            oldest.map(|handle| held.remove(&handle));
        }
        held.insert(handle.to_owned(), (since, live));
        drop(held);
        let (all, handle) = (Arc::downgrade(&self.0), handle.to_owned());
        tokio::spawn(async move {
            tokio::time::sleep(life).await;
            let Some(all) = all.upgrade() else { return };
            let mut held = all.lock().unwrap_or_else(PoisonError::into_inner);
            if held.get(&handle).is_some_and(|(held_since, _)| *held_since == since) {
                held.remove(&handle);
            }
        });
    }
}
