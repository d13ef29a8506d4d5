//! Unit tests of `progress.rs`.

use super::*;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

type Waiting<'a> = Pin<Box<dyn Future<Output = Result<(), StoreError>> + 'a>>;

/// Polls a wait once; `None` if it still waits.
fn poll(waiting: &mut Waiting<'_>) -> Option<Result<(), StoreError>> {
    match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(seen) => Some(seen),
        Poll::Pending => None,
    }
}

fn wait(progress: &BatchNumbers) -> Waiting<'_> {
    Box::pin(progress.wait_until_visible())
}

#[test]
fn read_waits_for_batches_committed_before_it_and_for_no_others() {
    let progress = Arc::new(BatchNumbers::default());
    let woken = Arc::new(AtomicU64::new(0));
    let count = woken.clone();
    progress.set_wake_writer(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    progress.start(5);
    assert!(poll(&mut wait(&progress)).is_some(), "everything is visible");

    progress.set_committed(6);
    let mut first = wait(&progress);
    let mut second = wait(&progress);
    assert!(poll(&mut first).is_none());
    assert!(poll(&mut second).is_none());
    assert_eq!(woken.load(Ordering::Relaxed), 1, "the first reader wakes the writer");
    assert!(progress.is_flush_wanted());
    progress.set_committed(7);
    progress.set_visible(6);
    assert!(poll(&mut first).is_some_and(|seen| seen.is_ok()));
    assert!(poll(&mut second).is_some_and(|seen| seen.is_ok()));
    assert!(!progress.is_flush_wanted());
}

#[test]
fn read_fails_if_the_flush_it_asked_for_finds_the_disk_full() {
    let progress = BatchNumbers::default();
    progress.start(5);
    progress.set_committed(6);
    let mut read = wait(&progress);
    assert!(poll(&mut read).is_none());
    progress.set_full();
    assert!(matches!(poll(&mut read), Some(Err(StoreError::DiskLow))));
    let mut next = wait(&progress);
    assert!(poll(&mut next).is_none(), "the next read asks again");
    progress.set_visible(6);
    assert!(poll(&mut next).is_some_and(|seen| seen.is_ok()));
}
