//! Work that keeps a processor busy, away from the threads that answer everybody else.

use std::sync::{Arc, LazyLock};

use tokio::{runtime::Handle, sync::Semaphore, task::spawn_blocking};

/// So much work is done at once in this process: as many pieces as there are processors, and never fewer than two, so
/// that one long piece does not hold up all others.
static PLACES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(places())));

const MIN_PLACES: usize = 2;

fn places() -> usize {
    std::thread::available_parallelism().map_or(MIN_PLACES, usize::from).max(MIN_PLACES)
}

/// Does `work` on a thread that may be kept busy, and returns what it returned. Searching, embedding, reading texts and
/// rendering prompts go through here, so that the threads of the asynchronous runtime stay free to answer.
///
/// No more than one piece of work for each processor is done at once, two at the least; others wait in the order in which
/// they came. One whose caller stops waiting before it began is never begun. One that has begun cannot be stopped: it
/// must be bounded by itself. It must not wait for anything, least of all for other work of this kind.
///
/// A panic of `work` goes on in the caller. Without a runtime of tokio the work is done where it is called.
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if Handle::try_current().is_err() {
        return work();
    }
    // Nobody closes the semaphore; without a place the work would be done all the same.
    let place = PLACES.clone().acquire_owned().await.ok();
    let done = spawn_blocking(move || {
        let done = work();
        drop(place);
        done
    });
    match done.await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends, and with it whoever waits here.
            Err(_) => std::future::pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Barrier,
            atomic::{AtomicUsize, Ordering},
        },
        time::Duration,
    };

    use super::*;

    #[tokio::test]
    async fn the_runtime_goes_on_meanwhile_and_the_rest_waits_its_turn() {
        // On one thread: were the work done there, the barriers would never open.
        let places = places();
        let (open, running) = (Arc::new(Barrier::new(places + 1)), Arc::new(AtomicUsize::new(0)));
        let all: Vec<_> = (0..places * 3)
            .map(|at| {
                let (open, running) = (open.clone(), running.clone());
                tokio::spawn(compute(move || {
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    if at < places {
                        open.wait();
                    }
                    running.fetch_sub(1, Ordering::SeqCst);
                    now
                }))
            })
            .collect();
        let all_run = async {
            while running.load(Ordering::SeqCst) < places {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), all_run).await.unwrap();
        spawn_blocking(move || open.wait()).await.unwrap();
        for one in all {
            assert!(one.await.unwrap() <= places);
        }
    }

    #[tokio::test]
    async fn a_panic_goes_on_in_the_caller_and_frees_its_place() {
        for _ in 0..places() * 2 {
            let error = tokio::spawn(compute::<()>(|| panic!("over damaged data"))).await.unwrap_err();
            assert!(error.is_panic());
        }
        assert_eq!(compute(|| 2).await, 2);
    }

    #[test]
    fn without_a_runtime_it_is_done_at_once() {
        let mut done = std::pin::pin!(compute(|| 2));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert_eq!(std::future::Future::poll(done.as_mut(), &mut context), std::task::Poll::Ready(2));
    }
}
