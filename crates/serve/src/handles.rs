//! Objects stored under an opaque handle, limited in number and time.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use prospector_core::Owner;

use crate::error::{Refusal, RefusalCode};

/// Returns a new handle with this prefix that cannot be guessed: `run_` and a random id for `run`.
pub(crate) fn new_handle(prefix: &str) -> String {
    format!("{prefix}_{}", uuid::Uuid::new_v4().simple())
}

/// Whether the handle has the form of [`new_handle`] with this prefix.
pub(crate) fn is_handle(prefix: &str, handle: &str) -> bool {
    let id = handle.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    id.is_some_and(|id| id.len() == 32 && id.bytes().all(is_digit))
}

/// Objects by handle, each with its owner. At the limit, the oldest object of the owner with the most objects is removed.
pub(crate) struct HandleStore<T> {
    /// Prefix of the handles, such as `plan`.
    prefix: &'static str,
    most: usize,
    life: Duration,
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    things: HashMap<String, (Owner, Arc<T>)>,
    /// Handles in order of insertion.
    order: VecDeque<(Instant, String)>,
}

impl<T> HandleStore<T> {
    pub(crate) fn new(prefix: &'static str, most: usize, life: Duration) -> Self {
        let inner = Inner { things: HashMap::new(), order: VecDeque::new() };
        HandleStore { prefix, most: most.max(1), life, inner: Mutex::new(inner) }
    }

    /// Returns a new handle that cannot be guessed.
    pub(crate) fn handle(&self) -> String {
        new_handle(self.prefix)
    }

    /// Stores an object of this owner under a handle of [`HandleStore::handle`].
    pub(crate) fn keep(&self, handle: &str, owner: &Owner, thing: Arc<T>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.expire(self.life);
        while inner.things.len() >= self.most {
            inner.make_room();
        }
        inner.things.insert(handle.to_owned(), (owner.clone(), thing));
        inner.order.push_back((Instant::now(), handle.to_owned()));
    }

    /// Returns the object of a handle to its owner; to everyone else it is unknown.
    pub(crate) fn get(&self, handle: &str, owner: &Owner) -> Result<Arc<T>, Refusal> {
        let known = {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.expire(self.life);
            inner.things.get(handle).filter(|(whose, _)| whose == owner).map(|(_, thing)| thing.clone())
        };
        known.ok_or_else(|| match self.is_mine(handle) {
            true => Refusal::new(
                RefusalCode::Expired,
                format!("the handle `{handle}` has expired: handles live {} minutes", self.life.as_secs() / 60),
            )
            .advise("repeat the request and use the new handle"),
            false => Refusal::not_found(format!("unknown handle `{handle}`"))
                .advise(format!("pass a handle returned by this server: it begins with `{}_`", self.prefix)),
        })
    }

    /// Whether the handle has the form of this store's handles.
    pub(crate) fn is_mine(&self, handle: &str) -> bool {
        is_handle(self.prefix, handle)
    }

    /// Returns every stored object, regardless of owner.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.things.values().map(|(_, thing)| thing.clone()).collect()
    }
}

impl<T> Inner<T> {
    fn expire(&mut self, life: Duration) {
        while let Some((since, handle)) = self.order.front() {
            if since.elapsed() < life {
                break;
            }
            self.things.remove(handle);
            self.order.pop_front();
        }
    }

    /// Removes the oldest object of the owner with the most objects.
    fn make_room(&mut self) {
        let mut counts: HashMap<&Owner, usize> = HashMap::new();
        for (owner, _) in self.things.values() {
            *counts.entry(owner).or_default() += 1;
        }
        let most = counts.values().max().copied().unwrap_or_default();
        let of_most = |handle: &str| self.things.get(handle).is_none_or(|(owner, _)| counts.get(owner) == Some(&most));
        // `order` and the objects have the same handles.
        let Some(at) = self.order.iter().position(|(_, handle)| of_most(handle)) else {
            self.things.clear();
            return;
        };
        if let Some((_, handle)) = self.order.remove(at) {
            self.things.remove(&handle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kept: &HandleStore<u32>, handle: &str, expected: Result<u32, &str>) {
        assert_eq!(
            kept.get(handle, &Owner::local()).map(|thing| *thing).map_err(|refusal| refusal.code.as_str()),
            expected
        );
    }

    #[test]
    fn the_oldest_go_first_and_a_refusal_says_which_it_is() {
        let kept = HandleStore::new("plan", 2, Duration::from_secs(60));
        let handles: Vec<String> = (0..3)
            .map(|n| {
                let handle = kept.handle();
                kept.keep(&handle, &Owner::local(), Arc::new(n));
                handle
            })
            .collect();
        check(&kept, &handles[0], Err("expired"));
        check(&kept, &handles[1], Ok(1));
        check(&kept, &handles[2], Ok(2));
        check(&kept, "plan_1", Err("not_found"));
        check(&kept, "", Err("not_found"));
    }

    #[test]
    fn nothing_outlives_its_time() {
        let kept = HandleStore::new("plan", 2, Duration::ZERO);
        let handle = kept.handle();
        kept.keep(&handle, &Owner::local(), Arc::new(1));
        check(&kept, &handle, Err("expired"));
    }

    #[test]
    fn a_thing_is_its_owners_and_who_has_the_most_loses_the_oldest() {
        let kept = HandleStore::new("plan", 3, Duration::from_secs(60));
        let (ann, ben) = (Owner::new("a", "ann"), Owner::new("b", "ben"));
        let keep = |owner: &Owner, n: u32| {
            let handle = kept.handle();
            kept.keep(&handle, owner, Arc::new(n));
            handle
        };
        let of_ben = keep(&ben, 1);
        let of_ann: Vec<String> = (2..6).map(|n| keep(&ann, n)).collect();
        let get = |handle: &str, owner: &Owner| kept.get(handle, owner).map(|thing| *thing);
        assert_eq!(get(&of_ben, &ben), Ok(1), "ann's entries do not evict it");
        assert!(get(&of_ann[0], &ann).is_err() && get(&of_ann[3], &ann) == Ok(5));
        // Another owner's handle is answered like an expired one.
        let said = |handle: &str, owner: &Owner| {
            get(handle, owner).map_err(|refusal| refusal.to_json().to_string().replace(handle, "HANDLE"))
        };
        assert_eq!(said(&of_ben, &ann), said(&kept.handle(), &ann));
    }
}
