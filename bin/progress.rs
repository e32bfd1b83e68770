//! Progress of work that takes over a second: a bar, or a line with the current activity.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use prospector_core::mark::one_line;

use crate::output;

/// Shorter work shows nothing.
const REPORT_AFTER: Duration = Duration::from_secs(1);

/// Shows a bar per phase, or the current activity on one line, until dropped.
pub(crate) struct Progress {
    started: Instant,
    bar: Mutex<Option<(&'static str, ProgressBar)>>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Progress { started: Instant::now(), bar: Mutex::new(None) }
    }

    /// Reports `done` of `total` in a phase.
    pub(crate) fn report(&self, phase: &'static str, done: usize, total: usize) {
        let create = || {
            let bar = ProgressBar::new(total as u64).with_message(phase);
            match ProgressStyle::with_template("{msg:>10} {bar:40} {pos}/{len} {elapsed}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        };
        self.update(phase, create, |bar| bar.set_position(done as u64));
    }

    /// Sets the current activity.
    pub(crate) fn show(&self, what: &str) {
        self.update("", ProgressBar::new_spinner, |bar| {
            bar.set_message(one_line(what).into_owned());
            bar.tick();
        });
    }

    /// Updates the bar of a phase, which replaces that of another one.
    fn update(&self, phase: &'static str, create: impl FnOnce() -> ProgressBar, update: impl FnOnce(&ProgressBar)) {
        if !output::is_watched() || self.started.elapsed() < REPORT_AFTER {
            return;
        }
        let Ok(mut shown) = self.bar.lock() else { return };
        if shown.as_ref().is_none_or(|(known, _)| *known != phase)
            && let Some((_, old)) = shown.replace((phase, create()))
        {
            old.finish_and_clear();
        }
        if let Some((_, bar)) = shown.as_ref() {
            update(bar);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Ok(shown) = self.bar.get_mut()
            && let Some((_, bar)) = shown.take()
        {
            bar.finish_and_clear();
        }
    }
}
