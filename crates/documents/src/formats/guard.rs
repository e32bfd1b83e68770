//! Runs third-party parsers in a separate thread with a large stack and a time limit.

use std::{
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread,
    time::Duration,
};

use prospector_core::work::catch_panic;

use super::limits::{MAX_ABANDONED_THREADS, MAX_TIME, STACK_BYTES};
use super::{Refused, SAVE_AGAIN};

/// Number of threads that exceeded the time limit and are still running.
static ABANDONED: AtomicUsize = AtomicUsize::new(0);

/// Runs work that may panic, recurse deeply or not terminate.
pub(super) fn run<T: Send + 'static>(work: impl FnOnce() -> Result<T, Refused> + Send + 'static) -> Result<T, Refused> {
    run_for(MAX_TIME, work)
}

fn run_for<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce() -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    if ABANDONED.load(Ordering::Relaxed) >= MAX_ABANDONED_THREADS {
        let reason = "too many files before this one took too long and are still being read";
        return Err(Refused::new(reason, "remove those files and reload"));
    }
    let (send, receive) = sync_channel(1);
    let (over, late) = sync_channel::<()>(1);
    let thread = move || {
        let done = catch_panic(work);
        // The receiver is gone after a timeout.
        let _ = send.send(done);
        if late.recv().is_ok() {
            ABANDONED.fetch_sub(1, Ordering::Relaxed);
        }
    };
    let spawned = thread::Builder::new().name("document parser".into()).stack_size(STACK_BYTES).spawn(thread);
    if let Err(error) = spawned {
        return Err(Refused::new(format!("cannot start a thread: {error}"), "load fewer files at once"));
    }
    match receive.recv_timeout(time) {
        Ok(Ok(done)) => done,
        Ok(Err(reason)) => Err(Refused::new(reason, SAVE_AGAIN)),
        Err(RecvTimeoutError::Timeout) => {
            ABANDONED.fetch_add(1, Ordering::Relaxed);
            let _ = over.send(());
            Err(Refused::new(format!("reading the file takes over {} s", time.as_secs()), SAVE_AGAIN))
        }
        Err(RecvTimeoutError::Disconnected) => Err(Refused::new("the parser failed", SAVE_AGAIN)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(50);

    fn check(time: Duration, work: impl FnOnce() -> Result<u8, Refused> + Send + 'static, expected: Result<u8, &str>) {
        let done = run_for(time, work);
        match (done, expected) {
            (Ok(done), Ok(expected)) => assert_eq!(done, expected),
            (Err(refused), Err(part)) => assert!(refused.reason.contains(part), "{refused:?}"),
            (done, expected) => panic!("{done:?} is not {expected:?}"),
        }
    }

    #[test]
    fn rejects_work_that_panics_or_hangs() {
        fn depth(n: usize) -> usize {
            let frame = std::hint::black_box([n; 512]);
            if n == 0 { 0 } else { depth(n - 1) + frame[0] - n + 1 }
        }
        check(LONG, || Ok(1), Ok(1));
        // 1,500 frames of 4 KB or more: a common stack has 2 MB.
        check(LONG, || Ok(u8::from(depth(1_500) == 1_500)), Ok(1));
        check(LONG, || panic!("no such {}", "glyph"), Err("no such glyph"));
        let (stop, wait) = sync_channel::<()>(1);
        check(SHORT, move || wait.recv().map(|()| 1).map_err(|_| Refused::new("", "")), Err("takes over"));
        assert_eq!(ABANDONED.load(Ordering::Relaxed), 1);
        drop(stop);
        while ABANDONED.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
    }
}
