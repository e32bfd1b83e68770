//! Detects changes of the lists that clients cache: catalog entries and tools.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, PoisonError},
};

use tokio::sync::watch;

use crate::view::CatalogView;

/// Fingerprints of the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lists {
    resources: u64,
    tools: u64,
}

impl Lists {
    /// Computes the fingerprints of what a client of this view lists.
    pub(crate) fn of(view: &CatalogView) -> Self {
        let mut resources = DefaultHasher::new();
        view.entries.hash(&mut resources);
        view.facts().hash(&mut resources);
        let mut tools = DefaultHasher::new();
        for spec in view.specs() {
            (spec.name, spec.description, spec.input_schema.to_string()).hash(&mut tools);
        }
        // Without catalog entries, `plan` is not listed.
        view.catalog.is_empty().hash(&mut tools);
        Lists { resources: resources.finish(), tools: tools.finish() }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    resources: u64,
    tools: u64,
}

/// The lists as last seen, and the subscribers to changes.
pub(crate) struct Changes {
    last: Mutex<Lists>,
    counts: watch::Sender<Counts>,
}

impl Changes {
    pub(crate) fn new(lists: Lists) -> Self {
        Changes { last: Mutex::new(lists), counts: watch::Sender::default() }
    }

    /// Compares the lists with the last known ones, and notifies subscribers of differences.
    pub(crate) fn look(&self, lists: impl FnOnce() -> Lists) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = lists();
        let changed = Changed { resources: now.resources != last.resources, tools: now.tools != last.tools };
        *last = now;
        if changed.resources || changed.tools {
            self.counts.send_modify(|counts| {
                counts.resources += u64::from(changed.resources);
                counts.tools += u64::from(changed.tools);
            });
        }
    }

    /// Subscribes to changes from now on.
    pub(crate) fn follow(&self) -> Follower {
        let counts = self.counts.subscribe();
        let seen = *counts.borrow();
        Follower { counts, seen }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) resources: bool,
    pub(crate) tools: bool,
}

/// A subscriber. Several changes between two calls count as one.
pub(crate) struct Follower {
    counts: watch::Receiver<Counts>,
    seen: Counts,
}

impl Follower {
    /// Returns the next change; `None` after the last one.
    pub(crate) async fn next(&mut self) -> Option<Changed> {
        self.counts.changed().await.ok()?;
        let now = *self.counts.borrow_and_update();
        let changed = Changed { resources: now.resources != self.seen.resources, tools: now.tools != self.seen.tools };
        self.seen = now;
        Some(changed)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    const FIRST: Lists = Lists { resources: 1, tools: 1 };

    fn check(looks: &[Lists], expected: Option<Changed>) {
        let changes = Changes::new(FIRST);
        let mut follower = changes.follow();
        looks.iter().for_each(|lists| changes.look(|| *lists));
        assert_eq!(follower.next().now_or_never().flatten(), expected, "{looks:?}");
        assert_eq!(follower.next().now_or_never(), None, "notified once");
    }

    #[test]
    fn only_what_has_changed_is_told_and_once() {
        check(&[FIRST, FIRST], None);
        check(&[Lists { resources: 2, ..FIRST }], Some(Changed { resources: true, tools: false }));
        let both = Lists { resources: 2, tools: 2 };
        check(&[Lists { tools: 2, ..FIRST }, both, both], Some(Changed { resources: true, tools: true }));
        // A list that changed and changed back counts as changed: it may have been listed in between.
        check(&[both, FIRST], Some(Changed { resources: true, tools: true }));
    }
}
