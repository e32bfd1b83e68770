//! What is kept for a while under an opaque handle: a bounded number of things, each for a bounded time.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::error::Refusal;

/// Things by handle. The oldest go first.
pub(crate) struct Kept<T> {
    /// How the handles begin: `plan`.
    prefix: &'static str,
    most: usize,
    life: Duration,
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    things: HashMap<String, Arc<T>>,
    /// In the order in which they came.
    order: VecDeque<(Instant, String)>,
}

impl<T> Kept<T> {
    pub(crate) fn new(prefix: &'static str, most: usize, life: Duration) -> Self {
        let inner = Inner { things: HashMap::new(), order: VecDeque::new() };
        Kept { prefix, most: most.max(1), life, inner: Mutex::new(inner) }
    }

    /// A handle that nobody can guess.
    pub(crate) fn handle(&self) -> String {
        format!("{}_{}", self.prefix, uuid::Uuid::new_v4().simple())
    }

    /// Keeps a thing under a handle of [`Kept::handle`].
    pub(crate) fn keep(&self, handle: &str, thing: Arc<T>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.expire(self.life, self.most - 1);
        inner.things.insert(handle.to_owned(), thing);
        inner.order.push_back((Instant::now(), handle.to_owned()));
    }

    /// The thing of a handle.
    pub(crate) fn get(&self, handle: &str) -> Result<Arc<T>, Refusal> {
        let known = {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.expire(self.life, self.most);
            inner.things.get(handle).cloned()
        };
        known.ok_or_else(|| match self.is_mine(handle) {
            true => Refusal::new(
                "expired",
                format!("nothing is kept under `{handle}` any more: handles live {} minutes", self.life.as_secs() / 60),
            )
            .advise("ask again, and use the new handle"),
            false => Refusal::new("not_found", format!("`{handle}` is no handle that was given out here"))
                .advise(format!("pass a handle as it was given: it begins with `{}_`", self.prefix)),
        })
    }

    /// Whether it looks like a handle of this shelf.
    pub(crate) fn is_mine(&self, handle: &str) -> bool {
        let rest = handle.strip_prefix(self.prefix).and_then(|rest| rest.strip_prefix('_'));
        rest.is_some_and(|rest| rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }

    /// Everything that is kept now.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).things.values().cloned().collect()
    }
}

impl<T> Inner<T> {
    fn expire(&mut self, life: Duration, most: usize) {
        while let Some((since, handle)) = self.order.front() {
            if since.elapsed() < life && self.order.len() <= most {
                break;
            }
            self.things.remove(handle);
            self.order.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kept: &Kept<u32>, handle: &str, expected: Result<u32, &str>) {
        assert_eq!(kept.get(handle).map(|thing| *thing).map_err(|refusal| refusal.code), expected);
    }

    #[test]
    fn the_oldest_go_first_and_a_refusal_says_which_it_is() {
        let kept = Kept::new("plan", 2, Duration::from_secs(60));
        let handles: Vec<String> = (0..3)
            .map(|n| {
                let handle = kept.handle();
                kept.keep(&handle, Arc::new(n));
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
        let kept = Kept::new("plan", 2, Duration::ZERO);
        let handle = kept.handle();
        kept.keep(&handle, Arc::new(1));
        check(&kept, &handle, Err("expired"));
    }
}
