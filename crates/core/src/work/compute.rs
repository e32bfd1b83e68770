//! CPU-intensive work, on threads other than those of the asynchronous runtime.

use std::sync::{Arc, LazyLock};

use tokio::{runtime::Handle, sync::Semaphore, task::spawn_blocking};

/// The number of concurrent pieces of work in this process: the number of processors, but at least two, so that one long piece does not
/// block all others.
static PLACES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(places())));

const MIN_PLACES: usize = 2;

fn places() -> usize {
    std::thread::available_parallelism().map_or(MIN_PLACES, usize::from).max(MIN_PLACES)
}

/// Runs `work` on a blocking thread and returns its result. Searching, embedding, parsing texts and rendering prompts go through here, so
/// that the threads of the asynchronous runtime stay responsive.
///
/// At most one piece of work per processor runs concurrently, but at least two; others wait in FIFO order. Work whose caller is dropped
/// before it starts is never run. Work that has started cannot be cancelled: it must be bounded, and must not wait for other work of this
/// kind.
///
/// A panic of `work` is resumed in the caller. Without a tokio runtime the work runs inline.
pub async fn compute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if Handle::try_current().is_err() {
        return work();
    }
    // The semaphore is never closed; without a permit the work would run anyway.
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
            // The runtime is shutting down, and this task with it.
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
    async fn keeps_the_runtime_responsive_and_queues_excess_work() {
        // If the work ran on this thread, the barriers would never open.
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
    async fn resumes_a_panic_in_the_caller_and_releases_its_permit() {
        for _ in 0..places() * 2 {
            let error = tokio::spawn(compute::<()>(|| panic!("over damaged data"))).await.unwrap_err();
            assert!(error.is_panic());
        }
        assert_eq!(compute(|| 2).await, 2);
    }

    #[test]
    fn runs_inline_without_a_runtime() {
        let mut done = std::pin::pin!(compute(|| 2));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert_eq!(std::future::Future::poll(done.as_mut(), &mut context), std::task::Poll::Ready(2));
    }
}
