//! The context size that Ollama loads a model with.

use std::sync::atomic::{AtomicU32, Ordering};

/// Minimum context size.
const MIN_CONTEXT: u32 = 8_192;

/// The context size of a model: the largest needed so far, since each change makes the server reload the model.
#[derive(Debug)]
pub(in super::super) struct Context {
    size: AtomicU32,
    most: u32,
}

impl Context {
    /// Creates the context of a model that supports at most `most` tokens.
    pub(in super::super) fn new(most: u32) -> Self {
        Context { size: AtomicU32::new(MIN_CONTEXT.min(most)), most }
    }

    /// Returns the size for a prompt of an estimated number of tokens and its longest response. Other vocabularies need up to a quarter
    /// more tokens than the estimate, and chat templates a few.
    pub(super) fn fit(&self, prompt: usize, answer: u32) -> u32 {
        let prompt = u32::try_from(prompt).unwrap_or(u32::MAX);
        let need = prompt.saturating_add(prompt / 4).saturating_add(256).saturating_add(answer);
        self.raise(need)
    }

    /// Returns the next larger size, after the server reported that this one is too small; `None` if the model supports no larger one.
    pub(in super::super) fn grow(&self) -> Option<u32> {
        let now = self.size.load(Ordering::Relaxed);
        (now < self.most).then(|| self.raise(now.saturating_add(1)))
    }

    fn raise(&self, need: u32) -> u32 {
        let size = need.checked_next_power_of_two().unwrap_or(u32::MAX).clamp(MIN_CONTEXT.min(self.most), self.most);
        self.size.fetch_max(size, Ordering::Relaxed).max(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_grows_with_the_need_and_never_shrinks() {
        let context = Context::new(100_000);
        let check = |prompt: usize, answer: u32, expected: u32| assert_eq!(context.fit(prompt, answer), expected);
        check(10, 100, 8_192);
        check(10_000, 4_000, 32_768);
        check(10, 100, 32_768);
        check(60_000, 4_000, 100_000);
        check(usize::MAX, u32::MAX, 100_000);
        assert_eq!(Context::new(4_096).fit(9_000, 9_000), 4_096);
    }

    #[test]
    fn a_refusal_makes_it_grow_up_to_what_the_model_takes() {
        let context = Context::new(30_000);
        assert_eq!([context.grow(), context.grow(), context.grow()], [Some(16_384), Some(30_000), None]);
    }
}
