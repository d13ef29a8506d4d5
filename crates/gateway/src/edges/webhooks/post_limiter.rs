//! Limits concurrent posts in two halves: one for endpoints that answer, one for failing ones. A slow post moves from
//! the first half to the second, so that an endpoint that stops answering blocks the first half for at most a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(super) struct PostLimiter {
    quick: Arc<Semaphore>,
    lingering: Arc<Semaphore>,
    /// Slow posts that moved although the second half was full.
    overflow: Arc<AtomicU32>,
    /// The limit of these.
    overflow_max: u32,
}

/// The permit of one post, released when dropped.
pub(super) struct PostPermit {
    held: Held,
}

enum Held {
    Quick { _permit: OwnedSemaphorePermit },
    Lingering { _permit: OwnedSemaphorePermit },
    Overflow(Arc<AtomicU32>),
    Nothing,
}

impl PostLimiter {
    pub(super) fn new(posts_max: u32) -> PostLimiter {
        let half = (posts_max / 2).max(1);
        let places = usize::try_from(half).unwrap_or(1);
        PostLimiter {
            quick: Arc::new(Semaphore::new(places)),
            lingering: Arc::new(Semaphore::new(places)),
            overflow: Arc::default(),
            overflow_max: half,
        }
    }

    /// Returns a permit if one is free.
    pub(super) fn try_acquire(&self, doubtful: bool) -> Option<PostPermit> {
        self.half(doubtful).try_acquire_owned().ok().map(|permit| PostPermit::with(permit, doubtful))
    }

    /// Waits for a permit, first come first served.
    pub(super) fn acquire(&self, doubtful: bool) -> impl Future<Output = PostPermit> + Send + 'static {
        let half = self.half(doubtful);
        async move {
            let permit = half.acquire_owned().await.expect("the semaphore is never closed");
            PostPermit::with(permit, doubtful)
        }
    }

    /// Moves a slow post out of the first half. A post of the second half keeps its permit: otherwise another failing
    /// post would take it.
    pub(super) fn move_slow(&self, permit: &mut PostPermit) {
        match permit.held {
            Held::Quick { .. } => {}
            Held::Lingering { .. } | Held::Overflow(_) | Held::Nothing => return,
        }
        if let Ok(moved) = self.lingering.clone().try_acquire_owned() {
            *permit = PostPermit::with(moved, true);
            return;
        }
        if self.overflow.fetch_add(1, Ordering::Relaxed) < self.overflow_max {
            *permit = PostPermit { held: Held::Overflow(self.overflow.clone()) };
        } else {
            self.overflow.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn half(&self, doubtful: bool) -> Arc<Semaphore> {
        if doubtful { self.lingering.clone() } else { self.quick.clone() }
    }
}

impl PostPermit {
    fn with(permit: OwnedSemaphorePermit, doubtful: bool) -> PostPermit {
        let held =
            if doubtful { Held::Lingering { _permit: permit } } else { Held::Quick { _permit: permit } };
        PostPermit { held }
    }
}

impl Drop for PostPermit {
    fn drop(&mut self) {
        if let Held::Overflow(overflow) = std::mem::replace(&mut self.held, Held::Nothing) {
            overflow.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
#[path = "post_limiter_tests.rs"]
mod tests;
