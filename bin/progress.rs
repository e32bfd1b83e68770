//! Progress of work that takes over a second: a bar, or a line with the current activity.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// Shorter work shows nothing.
const REPORT_AFTER: Duration = Duration::from_secs(1);

/// Shows the progress of each phase, one bar at a time.
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
        if !output::is_watched() || self.started.elapsed() < REPORT_AFTER {
            return;
        }
        let Ok(mut bar) = self.bar.lock() else { return };
        if bar.as_ref().is_none_or(|(known, _)| *known != phase) {
            if let Some((_, old)) = bar.take() {
                old.finish_and_clear();
            }
            let style = ProgressStyle::with_template("{msg:>10} {bar:40} {pos}/{len} {elapsed}");
            let new = ProgressBar::new(total as u64).with_message(phase);
            if let Ok(style) = style {
                new.set_style(style);
            }
            *bar = Some((phase, new));
        }
        if let Some((_, bar)) = bar.as_ref() {
            bar.set_position(done as u64);
        }
    }
}

/// Shows the current activity on one line, until dropped.
pub(crate) struct Activity {
    started: Instant,
    line: Mutex<Option<ProgressBar>>,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Activity { started: Instant::now(), line: Mutex::new(None) }
    }

    /// Sets the current activity.
    pub(crate) fn show(&self, what: &str) {
        if !output::is_watched() || self.started.elapsed() < REPORT_AFTER {
            return;
        }
        let Ok(mut line) = self.line.lock() else { return };
        line.get_or_insert_with(ProgressBar::new_spinner).set_message(crate::visible::visible(what).into_owned());
        if let Some(line) = line.as_ref() {
            line.tick();
        }
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        if let Ok(mut line) = self.line.lock()
            && let Some(line) = line.take()
        {
            line.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Ok(mut bar) = self.bar.lock()
            && let Some((_, bar)) = bar.take()
        {
            bar.finish_and_clear();
        }
    }
}
