//! Decides whether throttling concerns the link or single recipients. Suspects are recipients that were throttled and
//! have not been accepted since. A suspect that is accepted later shows that the link was throttled. The part of a
//! suspect that is throttled repeatedly is deferred; once another recipient is accepted, the suspect has a limit of
//! its own.

use crate::clock::Moment;
use crate::edges::carrier::throttled_recipients::deferral_wait;
use hermod_domain::phone::Msisdn;
use std::time::Duration;

/// A part is deferred after this many throttled retries.
const RETRIES_MAX: u32 = 3;
/// Suspects of one link. When the list is full, the oldest is dropped.
const SUSPECTS_MAX: usize = 64;
/// Deferred parts wait this many pauses for each other deferred recipient, so that others can be tried in between.
const PAUSES_PER_DEFERRED: u32 = 4;
/// Suspects are dropped when nothing was throttled for this long: they may have expired or moved to another carrier.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug)]
pub(super) struct Suspect {
    pub(super) to: Msisdn,
    retries: u32,
    /// How often its parts were deferred, and until when.
    pub(super) times_deferred: u32,
    pub(super) until: Moment,
}

/// What an accepted part shows about the suspects.
#[derive(Debug)]
pub(super) enum Cleared {
    /// The link was throttled: a suspect is accepted now.
    LinkWasThrottled,
    /// These recipients have a limit of their own: another recipient was accepted. `all`: no other suspects are left.
    Recipients {
        limited: Vec<Suspect>,
        all: bool,
    },
    Nothing,
}

#[derive(Debug)]
pub(super) struct ThrottleSuspects {
    list: Vec<Suspect>,
    throttled_at: Moment,
}

impl ThrottleSuspects {
    pub(super) fn none(now: Moment) -> ThrottleSuspects {
        ThrottleSuspects { list: Vec::new(), throttled_at: now }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn contains(&self, to: Msisdn) -> bool {
        self.list.iter().any(|suspect| suspect.to == to)
    }

    /// Adds a recipient that was throttled for the first time, or together with others.
    pub(super) fn add(&mut self, to: Msisdn, now: Moment) {
        self.throttled_at = now;
        if self.contains(to) {
            return;
        }
        if self.list.len() >= SUSPECTS_MAX {
            self.list.remove(0);
        }
        self.list.push(Suspect { to, retries: 0, times_deferred: 0, until: now });
    }

    /// Records a throttled retry. Returns how long the part is deferred, if it is.
    pub(super) fn retried(&mut self, to: Msisdn, pause: Duration, now: Moment) -> Option<Duration> {
        self.add(to, now);
        let aside = self.list.iter().filter(|suspect| suspect.times_deferred > 0 && suspect.to != to).count();
        let suspect = self.list.iter_mut().find(|suspect| suspect.to == to)?;
        suspect.retries += 1;
        if suspect.retries < RETRIES_MAX {
            return None;
        }
        suspect.times_deferred += 1;
        let others = u32::try_from(aside).unwrap_or(u32::MAX).saturating_mul(PAUSES_PER_DEFERRED);
        let wait = deferral_wait(suspect.times_deferred).max(pause.saturating_mul(others));
        suspect.until = now.plus(wait);
        Some(wait)
    }

    /// Records a response other than "throttled" for this recipient.
    pub(super) fn passed(&mut self, to: Msisdn, now: Moment) -> Cleared {
        if self.contains(to) || self.throttled_at.plus(FORGOTTEN_AFTER) <= now {
            self.list.clear();
            return Cleared::LinkWasThrottled;
        }
        if !self.list.iter().any(|suspect| suspect.times_deferred > 0) {
            return Cleared::Nothing;
        }
        let suspects = std::mem::take(&mut self.list);
        let (limited, left) = suspects.into_iter().partition(|suspect| suspect.times_deferred > 0);
        self.list = left;
        Cleared::Recipients { limited, all: self.list.is_empty() }
    }
}
