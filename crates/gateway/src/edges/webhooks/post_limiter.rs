//! The bound on posts under way, in two halves: one for endpoints that answer, one for those that do not. A post that
//! takes longer than it should moves from the first half to the second, so that an endpoint which falls silent holds
//! nothing that those who answer would need, for longer than a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub(super) struct Turnstile {
    quick: Arc<Semaphore>,
    lingering: Arc<Semaphore>,
    /// Posts that moved over although the other half was full.
    overdrawn: Arc<AtomicU32>,
    /// So many may.
    overdrawn_max: u32,
}

/// A post's place among those under way, until it is dropped.
pub(super) struct Pass {
    held: Held,
}

enum Held {
    Quick { _permit: OwnedSemaphorePermit },
    Lingering { _permit: OwnedSemaphorePermit },
    Overdrawn(Arc<AtomicU32>),
    Nothing,
}

impl Turnstile {
    pub(super) fn new(posts_max: u32) -> Turnstile {
        let half = (posts_max / 2).max(1);
        let places = usize::try_from(half).unwrap_or(1);
        Turnstile {
            quick: Arc::new(Semaphore::new(places)),
            lingering: Arc::new(Semaphore::new(places)),
            overdrawn: Arc::default(),
            overdrawn_max: half,
        }
    }

    /// A place now, if there is one.
    pub(super) fn try_enter(&self, doubtful: bool) -> Option<Pass> {
        self.half(doubtful).try_acquire_owned().ok().map(|permit| Pass::with(permit, doubtful))
    }

    /// A place as soon as there is one, in the order of asking.
    pub(super) fn enter(&self, doubtful: bool) -> impl Future<Output = Pass> + Send + 'static {
        let half = self.half(doubtful);
        async move {
            let permit = half.acquire_owned().await.expect("a turnstile is never closed");
            Pass::with(permit, doubtful)
        }
    }

    /// The post takes long: it gives its place among the quick ones up. One that has none keeps what it has: moving it
    /// would let another of those who fail in behind it.
    pub(super) fn linger(&self, pass: &mut Pass) {
        match pass.held {
            Held::Quick { .. } => {}
            Held::Lingering { .. } | Held::Overdrawn(_) | Held::Nothing => return,
        }
        if let Ok(permit) = self.lingering.clone().try_acquire_owned() {
            *pass = Pass::with(permit, true);
            return;
        }
        if self.overdrawn.fetch_add(1, Ordering::Relaxed) < self.overdrawn_max {
            *pass = Pass { held: Held::Overdrawn(self.overdrawn.clone()) };
        } else {
            self.overdrawn.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn half(&self, doubtful: bool) -> Arc<Semaphore> {
        if doubtful { self.lingering.clone() } else { self.quick.clone() }
    }
}

impl Pass {
    fn with(permit: OwnedSemaphorePermit, doubtful: bool) -> Pass {
        let held =
            if doubtful { Held::Lingering { _permit: permit } } else { Held::Quick { _permit: permit } };
        Pass { held }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Held::Overdrawn(overdrawn) = std::mem::replace(&mut self.held, Held::Nothing) {
            overdrawn.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many as get in now.
    fn all(turnstile: &Turnstile, doubtful: bool) -> Vec<Pass> {
        std::iter::from_fn(|| turnstile.try_enter(doubtful)).collect()
    }

    #[test]
    fn those_who_fail_cannot_hold_what_the_others_need() {
        let turnstile = Turnstile::new(10);
        assert_eq!(all(&turnstile, true).len(), 5);
        let failing = all(&turnstile, true);
        assert_eq!((failing.len(), all(&turnstile, false).len()), (5, 5));
        drop(failing);
        assert_eq!(all(&turnstile, true).len(), 5, "places come back");
    }

    #[test]
    fn one_that_lingers_makes_room_for_quick_ones_up_to_a_bound() {
        let turnstile = Turnstile::new(4);
        let mut slow = all(&turnstile, false);
        slow.iter_mut().for_each(|pass| turnstile.linger(pass));
        assert!(turnstile.try_enter(true).is_none(), "the lingering fill their half");
        let mut more = all(&turnstile, false);
        assert_eq!(more.len(), 2);
        more.iter_mut().for_each(|pass| turnstile.linger(pass));
        let mut last = all(&turnstile, false);
        assert_eq!(last.len(), 2, "beyond their half, up to a bound");
        last.iter_mut().for_each(|pass| turnstile.linger(pass));
        assert!(turnstile.try_enter(false).is_none(), "and no further");
        drop((slow, more, last));
        assert_eq!((all(&turnstile, false).len(), all(&turnstile, true).len()), (2, 2));
    }

    #[tokio::test]
    async fn one_that_fails_makes_no_room_for_another_by_lingering() {
        let turnstile = Turnstile::new(4);
        let mut failing = all(&turnstile, true);
        failing.iter_mut().for_each(|pass| turnstile.linger(pass));
        assert!(turnstile.try_enter(true).is_none(), "they are where they belong");
        assert_eq!(turnstile.overdrawn.load(Ordering::Relaxed), 0);
        failing.pop();
        failing.push(turnstile.enter(true).await);
        failing.iter_mut().for_each(|pass| turnstile.linger(pass));
        assert!(turnstile.try_enter(true).is_none(), "those that waited for their place as well");
        drop(failing);
        assert_eq!((all(&turnstile, false).len(), all(&turnstile, true).len()), (2, 2));
    }

    #[tokio::test]
    async fn whoever_waits_gets_in_when_somebody_leaves() {
        let turnstile = Turnstile::new(2);
        let inside = turnstile.try_enter(false).unwrap();
        let waiting = turnstile.enter(false);
        let (_, pass) = tokio::join!(async { drop(inside) }, waiting);
        assert!(turnstile.try_enter(false).is_none());
        drop(pass);
        assert!(turnstile.try_enter(false).is_some());
    }
}
