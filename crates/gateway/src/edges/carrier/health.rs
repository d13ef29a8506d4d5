//! Decides a carrier's health from its bound links and its recent traffic. Pure functions; the callers act on the
//! result.

use crate::clock::Moment;
use crate::live_status::{Recent, Traffic};
use hermod_domain::carrier::{ErrorClass, Health};
use std::time::Duration;

/// Shares are computed from this many responses in a minute on.
const ANSWERS_MIN: u64 = 20;
/// A carrier is poor above this share of failures in a minute, in per mille.
const FAILED_PER_MILLE_MAX: u64 = 500;
/// A carrier that accepted nothing for a minute while messages wait is poor from this many responses since its last
/// accepted part on, if more than that share of them were failures. Retries are minutes apart: a minute has too few.
const REFUSED_MIN: u64 = 5;
/// The share of receipts is computed from this many accepted parts in ten minutes on.
const RECEIPTED_MIN: u64 = 100;
/// A carrier is poor below this share of receipts, in per mille of the accepted parts, if it usually sends twice as
/// many.
const RECEIPTED_PER_MILLE_MIN: u64 = 300;
const USUALLY_PER_MILLE_MIN: u64 = 600;
/// A carrier is stopped above this share of protocol errors in a minute's responses, in per mille.
const WRONG_PER_MILLE_MAX: u64 = 50;
/// The share of unmatched receipts in five minutes that raises an alarm, in per mille, from this many receipts on, ...
const UNMATCHED_PER_MILLE_MAX: u64 = 10;
const RECEIPTS_MIN: u64 = 100;
/// ... or from this many unmatched receipts on, for carriers with little traffic.
const UNMATCHED_MIN: u64 = 5;

/// What a carrier's health is decided from.
#[derive(Clone, Copy, Debug)]
pub(super) struct HealthInputs {
    pub(super) stopped: bool,
    pub(super) stalled: bool,
    pub(super) sending_links_bound: usize,
    /// It throttles all links, and messages have waited long for it.
    pub(super) slow: bool,
    /// Messages wait for a slot or a retry.
    pub(super) messages_wait: bool,
    pub(super) recent: Recent,
}

/// Returns the health of a carrier that is not disabled.
pub(super) fn health_of(inputs: &HealthInputs) -> Health {
    if inputs.stopped {
        Health::Stopped
    } else if inputs.sending_links_bound == 0 {
        Health::Down
    } else if inputs.stalled {
        Health::Stalled
    } else if inputs.slow
        || fails_often(&inputs.recent.minute)
        || inputs.messages_wait && accepts_nothing(&inputs.recent)
        || loses_receipts(&inputs.recent)
    {
        Health::Poor
    } else {
        Health::Up
    }
}

/// Whether more than half of the last minute's parts timed out or got a temporary or unknown error.
fn fails_often(minute: &Traffic) -> bool {
    minute.answered() + minute.timed_out >= ANSWERS_MIN
        && minute.failed_per_mille().is_some_and(|failed| failed > FAILED_PER_MILLE_MAX)
}

/// Whether the carrier fails all parts, however slowly they are retried.
fn accepts_nothing(recent: &Recent) -> bool {
    let Recent { minute, since_accepted, .. } = recent;
    minute.accepted == 0
        && since_accepted.answered() + since_accepted.timed_out >= REFUSED_MIN
        && since_accepted.failed_per_mille().is_some_and(|failed| failed > FAILED_PER_MILLE_MAX)
}

/// Whether a carrier that usually sends receipts has stopped to. A carrier that never sent them is not poor.
fn loses_receipts(recent: &Recent) -> bool {
    let Recent { ten_minutes, before, .. } = recent;
    ten_minutes.accepted >= RECEIPTED_MIN
        && ten_minutes.receipted_per_mille().is_some_and(|now| now < RECEIPTED_PER_MILLE_MIN)
        && before.accepted >= RECEIPTED_MIN
        && before.receipted_per_mille().is_some_and(|usual| usual >= USUALLY_PER_MILLE_MIN)
}

/// Whether `receipts-missing` is to be raised or to stay. It stays until the share has recovered, also if the carrier gets fewer
/// messages because it is poor, and until it has accepted nothing for ten minutes.
pub(super) fn receipts_are_missing(is_raised: bool, recent: &Recent) -> bool {
    let now = recent.ten_minutes.receipted_per_mille();
    loses_receipts(recent) || is_raised && now.is_some_and(|now| now < RECEIPTED_PER_MILLE_MIN)
}

/// Whether to stop the carrier because of protocol errors: each further part would fail for good.
pub(super) fn must_stop(minute: &Traffic) -> bool {
    let wrong = minute.refused_as(ErrorClass::ProtocolError);
    minute.answered() >= ANSWERS_MIN && wrong * 1000 > minute.answered() * WRONG_PER_MILLE_MAX
}

/// Whether too many receipts match no part: the id conversion is probably set wrongly.
pub(super) fn ids_do_not_match(receipts: u64, unmatched: u64) -> bool {
    let enough = receipts >= RECEIPTS_MIN || unmatched >= UNMATCHED_MIN;
    enough && unmatched * 1000 > receipts * UNMATCHED_PER_MILLE_MAX
}

/// A carrier that has parts and answers none for this long while others wait is stalled.
pub(super) const STALLED_AFTER: Duration = Duration::from_secs(5);
/// A stalled carrier that has no parts any more gets some again after this time.
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// Watches whether a carrier answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StallWatch {
    /// Responses at the last check.
    answered: u64,
    /// Since when it has parts and answers none.
    silent_since: Option<Moment>,
    /// When it last had parts while it was stalled.
    stalled_at: Option<Moment>,
}

/// What a stall is decided from.
#[derive(Clone, Copy, Debug)]
pub(super) struct StallInputs {
    /// Responses since the start.
    pub(super) answered: u64,
    /// Parts that the carrier has and did not answer.
    pub(super) out: u32,
    /// Messages wait for a slot.
    pub(super) messages_wait: bool,
}

impl StallWatch {
    pub(super) fn starting_at(answered: u64) -> StallWatch {
        StallWatch { answered, ..StallWatch::default() }
    }

    /// Returns whether the carrier is stalled now. It stays so until it answers, or until it has had no parts for a while.
    pub(super) fn check(&mut self, inputs: StallInputs, now: Moment) -> bool {
        let StallInputs { answered, out, messages_wait } = inputs;
        if answered > std::mem::replace(&mut self.answered, answered) {
            (self.silent_since, self.stalled_at) = (None, None);
        } else if out == 0 {
            self.silent_since = None;
            self.stalled_at = self.stalled_at.filter(|at| now < at.plus(TRIED_AGAIN_AFTER));
        } else {
            let silent_since = *self.silent_since.get_or_insert(now);
            let is_silent = messages_wait && silent_since.plus(STALLED_AFTER) <= now;
            if is_silent || self.stalled_at.is_some() {
                self.stalled_at = Some(now);
            }
        }
        self.stalled_at.is_some()
    }
}

/// A carrier's state at one check.
#[derive(Clone, Copy, Debug)]
pub(super) struct CarrierCheck {
    pub(super) stopped: bool,
    /// A link that sends is bound.
    pub(super) bound: bool,
    /// Messages wait for a slot.
    pub(super) messages_wait: bool,
    /// A part was answered since the last check.
    pub(super) answers: bool,
}

/// Whether a carrier works: it is bound, and it answers while messages wait for it. A carrier that binds and drops the
/// link at once does not. A stopped carrier has an alarm of its own.
pub(super) fn works(check: CarrierCheck) -> bool {
    check.stopped || check.bound && (check.answers || !check.messages_wait)
}

#[cfg(test)]
#[path = "health_tests.rs"]
mod tests;
