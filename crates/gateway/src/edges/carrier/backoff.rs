//! How long to wait before reconnecting to a carrier. Carriers lock accounts that retry wrong passwords quickly, and a
//! carrier that has just come up fails again if all its clients reconnect in the same second.

use super::connect::NotConnected;
use crate::clock::Moment;
use crate::live_status::AlarmKind;
use crate::secrets::sealed::Unopened;
use hermod_domain::retry::Backoff;
use hermod_smpp::session::CloseReason;
use hermod_smpp::{CommandStatus, EncodeError};
use parking_lot::Mutex;
use std::fmt;
use std::time::Duration;

/// 1 s to 60 s, doubling, with random jitter.
const ORDINARY: Backoff = Backoff {
    floor: Duration::from_millis(500),
    first: Duration::from_secs(1),
    max: Duration::from_secs(60),
};
/// After our credentials were rejected: the operator has to correct them first.
const BAD_CREDENTIALS: Duration = Duration::from_secs(5 * 60);
/// After "already bound": longer than the carrier needs to notice that our old bind is dead.
const ALREADY_BOUND: Duration = Duration::from_secs(65);
/// A link that stayed bound this long, or on which the carrier answered a submit_sm, counts as working: after its loss
/// the waits start from the first again.
const PROVEN: Duration = Duration::from_secs(60);

/// The least time between two binds to one carrier.
const BIND_GAP: Duration = Duration::from_secs(1);

/// How a link ended.
#[derive(Debug)]
pub(super) enum Ended {
    NotConnected(NotConnected),
    BadSettings(EncodeError),
    NoPassword(Unopened),
    BindRefused(CommandStatus),
    /// The session ended. `answered`: the carrier answered at least one submit_sm.
    Closed {
        reason: CloseReason,
        bound_for: Duration,
        answered: bool,
    },
    /// The carrier did not read what was written within the limit.
    WriteTimeout {
        bound_for: Duration,
        answered: bool,
    },
    /// The store is closing.
    StoreGone,
    Stopped,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::NotConnected(fault) => fault.fmt(f),
            Ended::BadSettings(error) => {
                write!(f, "invalid carrier settings, no bind can be encoded: {error}")
            }
            Ended::NoPassword(unopened) => unopened.fmt(f),
            Ended::BindRefused(status) => write!(f, "the carrier rejected the bind with {status}"),
            Ended::Closed { reason, .. } => reason.fmt(f),
            Ended::WriteTimeout { .. } => f.write_str("write timed out: the carrier does not read"),
            Ended::StoreGone => f.write_str("the store is closed"),
            Ended::Stopped => f.write_str("stopped"),
        }
    }
}

impl Ended {
    /// Returns the alarm for a cause that the operator has to fix.
    pub(super) fn alarm(&self) -> Option<AlarmKind> {
        match self {
            Ended::BindRefused(
                CommandStatus::INVPASWD | CommandStatus::INVSYSID | CommandStatus::INVSYSTYP,
            ) => Some(AlarmKind::BindRefused),
            Ended::BindRefused(CommandStatus::ALYBND) => Some(AlarmKind::AlreadyBound),
            Ended::BadSettings(_) | Ended::NoPassword(_) => Some(AlarmKind::BadSettings),
            Ended::NotConnected(fault) if fault.needs_operator() => Some(AlarmKind::BadSettings),
            Ended::BindRefused(_)
            | Ended::NotConnected(_)
            | Ended::Closed { .. }
            | Ended::WriteTimeout { .. }
            | Ended::StoreGone
            | Ended::Stopped => None,
        }
    }
}

/// Spaces out the binds of a carrier's links.
#[derive(Debug, Default)]
pub(super) struct BindTurns {
    next_at: Mutex<Option<Moment>>,
}

impl BindTurns {
    /// Returns when the calling link may begin to bind.
    pub(super) fn take(&self, now: Moment) -> Moment {
        let mut next_at = self.next_at.lock();
        let turn = next_at.map_or(now, |next| next.max(now));
        *next_at = Some(turn.plus(BIND_GAP));
        turn
    }
}

/// Counts failures in a row.
#[derive(Debug, Default)]
pub(super) struct ReconnectBackoff {
    failures: u32,
}

impl ReconnectBackoff {
    pub(super) fn wait_after(&mut self, ended: &Ended, random: u32) -> Duration {
        let proven = match ended {
            Ended::Closed { bound_for, answered, .. } | Ended::WriteTimeout { bound_for, answered } => {
                *answered || *bound_for >= PROVEN
            }
            Ended::NotConnected(_)
            | Ended::BadSettings(_)
            | Ended::NoPassword(_)
            | Ended::BindRefused(_)
            | Ended::StoreGone
            | Ended::Stopped => false,
        };
        self.failures = if proven { 1 } else { self.failures.saturating_add(1) };
        match ended {
            Ended::BindRefused(
                CommandStatus::INVPASWD | CommandStatus::INVSYSID | CommandStatus::INVSYSTYP,
            )
            | Ended::BadSettings(_)
            | Ended::NoPassword(_) => BAD_CREDENTIALS,
            Ended::BindRefused(CommandStatus::ALYBND) => ALREADY_BOUND,
            Ended::BindRefused(_)
            | Ended::NotConnected(_)
            | Ended::Closed { .. }
            | Ended::WriteTimeout { .. }
            | Ended::StoreGone
            | Ended::Stopped => ORDINARY.wait(self.failures, random),
        }
    }
}

#[cfg(test)]
#[path = "backoff_tests.rs"]
mod tests;
