//! Recipients that were throttled on a link and have not been accepted since. Is it them, or the link? One of them that
//! passes later shows that it was the link. One that is throttled again and again steps aside; once another recipient
//! passes, the limit is known to be its own.

use crate::clock::Moment;
use crate::edges::carrier::throttled_recipients::aside_wait;
use hermod_domain::phone::Msisdn;
use std::time::Duration;

/// A part steps aside when it was throttled this often after a pause, tried again each time.
const RETRIES_MAX: u32 = 3;
/// Recipients that one link suspects at once. Beyond that the first is forgotten.
const SUSPECTS_MAX: usize = 64;
/// Those that stepped aside come back no sooner than others can be tried between them: this many pauses for each.
const PAUSES_ASIDE: u32 = 4;
/// Suspicion ends when nothing was throttled for this long: a suspect may have expired or gone to another carrier.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug)]
pub(super) struct Suspect {
    pub(super) to: Msisdn,
    retries: u32,
    /// How often its parts have stepped aside, and until when.
    pub(super) times_aside: u32,
    pub(super) until: Moment,
}

/// What the acceptance of a part says about those that were throttled.
#[derive(Debug)]
pub(super) enum Cleared {
    /// The link was throttled: a recipient that was throttled before passes now.
    LinkWasThrottled,
    /// These recipients are limited: another one passes and they did not. Whether no other suspects are left.
    Recipients {
        limited: Vec<Suspect>,
        all: bool,
    },
    Nothing,
}

#[derive(Debug)]
pub(super) struct Suspects {
    list: Vec<Suspect>,
    throttled_at: Moment,
}

impl Suspects {
    pub(super) fn none(now: Moment) -> Suspects {
        Suspects { list: Vec::new(), throttled_at: now }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn contains(&self, to: Msisdn) -> bool {
        self.list.iter().any(|suspect| suspect.to == to)
    }

    /// Was throttled together with others, or for the first time.
    pub(super) fn add(&mut self, to: Msisdn, now: Moment) {
        self.throttled_at = now;
        if self.contains(to) {
            return;
        }
        if self.list.len() >= SUSPECTS_MAX {
            self.list.remove(0);
        }
        self.list.push(Suspect { to, retries: 0, times_aside: 0, until: now });
    }

    /// Was throttled when it was tried again: how long its part steps aside, if it does.
    pub(super) fn retried(&mut self, to: Msisdn, pause: Duration, now: Moment) -> Option<Duration> {
        self.add(to, now);
        let aside = self.list.iter().filter(|suspect| suspect.times_aside > 0 && suspect.to != to).count();
        let suspect = self.list.iter_mut().find(|suspect| suspect.to == to)?;
        suspect.retries += 1;
        if suspect.retries < RETRIES_MAX {
            return None;
        }
        suspect.times_aside += 1;
        let others = u32::try_from(aside).unwrap_or(u32::MAX).saturating_mul(PAUSES_ASIDE);
        let wait = aside_wait(suspect.times_aside).max(pause.saturating_mul(others));
        suspect.until = now.plus(wait);
        Some(wait)
    }

    /// A part for this recipient was answered, and not with "slow down".
    pub(super) fn passed(&mut self, to: Msisdn, now: Moment) -> Cleared {
        if self.contains(to) || self.throttled_at.plus(FORGOTTEN_AFTER) <= now {
            self.list.clear();
            return Cleared::LinkWasThrottled;
        }
        if !self.list.iter().any(|suspect| suspect.times_aside > 0) {
            return Cleared::Nothing;
        }
        let suspects = std::mem::take(&mut self.list);
        let (limited, left) = suspects.into_iter().partition(|suspect| suspect.times_aside > 0);
        self.list = left;
        Cleared::Recipients { limited, all: self.list.is_empty() }
    }
}
