//! The model of webhook events: each waits, has ended, or was deleted after its end, and its number is never reused.

use super::model::Model;
use super::report_channels::Telling;
use super::setup::ACCOUNTS;
use crate::memory::{EventRow, EventStanding, MemoryTables};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use hermod_engine::commands::{
    ForgetWebhooks, LimitWebhookWaits, ReplayFailedWebhooks, ReplayWebhook, RetryWaitingWebhooks,
};
use hermod_engine::ops::{
    AfterAttempt, Endpoint, EventId, ReplayProgress, SettledAttempt, WEBHOOK_ATTEMPTS_KEPT, WebhookReplay,
};
use hermod_engine::tables::{EventContent, EventEnd};
use std::collections::BTreeMap;
use std::time::Duration;

/// The tolerance of due times of new events.
const TOLERANCE: Duration = Duration::from_secs(5);

/// The key of an event.
pub(super) type Key = (Endpoint, EventId);

/// An event: its expected row.
#[derive(Clone, Copy)]
pub(super) struct EventModel {
    pub(super) row: EventRow,
}

impl EventModel {
    /// Returns the failure count of a waiting event.
    pub(super) fn failures(&self) -> Option<u32> {
        match self.row.standing {
            EventStanding::Waiting { failures, .. } => Some(failures),
            EventStanding::Ended { .. } => None,
        }
    }

    /// Returns the end time.
    pub(super) fn ended_at(&self) -> Option<Timestamp> {
        match self.row.standing {
            EventStanding::Waiting { .. } => None,
            EventStanding::Ended { at, .. } => Some(at),
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(self.row.standing, EventStanding::Ended { end: EventEnd::GivenUp(_), .. })
    }

    fn is_due_now(&mut self, now: Timestamp) {
        self.row.standing = EventStanding::Waiting { due_at: now, failures: 0 };
    }

    fn is_tried(&mut self, attempts: u32) {
        self.row.attempts += attempts;
        let kept = self.row.attempts.min(WEBHOOK_ATTEMPTS_KEPT);
        self.row.attempts_kept = usize::try_from(kept).expect("a few");
    }
}

#[derive(Default)]
pub(super) struct WebhookModel {
    pub(super) events: BTreeMap<Key, EventModel>,
    /// The highest number ever assigned.
    last: u64,
    expected: Vec<(Endpoint, Telling)>,
}

impl WebhookModel {
    pub(super) fn expect(&mut self, endpoint: Endpoint, telling: Telling) {
        self.expected.push((endpoint, telling));
    }

    /// Checks that the new events of a batch are exactly the expected ones, with unused numbers.
    pub(super) fn find_new(&mut self, tables: &MemoryTables, now: Timestamp) {
        let before = EventId(self.last);
        for (account, kind) in
            ACCOUNTS.iter().flat_map(|account| WebhookKind::ALL.map(|kind| (*account, kind)))
        {
            let endpoint = Endpoint { account, kind };
            for new in tables.new_events(endpoint, before) {
                let telling = match new.about {
                    EventContent::Dlr { status: told, .. } => Telling::Became(new.message, told),
                    EventContent::Inbound(number) => Telling::Mo(account, number),
                };
                let place = self.expected.iter().position(|expected| *expected == (endpoint, telling));
                let place = place.unwrap_or_else(|| panic!("an unexpected event: {new:?}"));
                self.expected.remove(place);
                self.last = self.last.max(new.event.0);
                let standing = EventStanding::Waiting { due_at: now, failures: 0 };
                let row = EventRow { standing, attempts: 0, attempts_kept: 0 };
                self.events.insert((endpoint, new.event), EventModel { row });
            }
        }
        assert!(self.expected.is_empty(), "no event for {:?}", self.expected);
    }
}

impl Model {
    /// Applies the result of an attempt.
    pub(super) fn settle_webhook(&mut self, settled: &SettledAttempt) {
        let now = self.now;
        let Some(event) = self.webhooks.events.get_mut(&(settled.endpoint, settled.event)) else { return };
        let made = u32::from(settled.attempt.is_some());
        event.is_tried(made);
        let Some(failures) = event.failures() else { return };
        let was_replayed = failures < settled.failures;
        let end = |end| EventStanding::Ended { end, at: now };
        event.row.standing = match settled.next {
            AfterAttempt::Delivered => end(EventEnd::Delivered),
            AfterAttempt::GiveUp(_) | AfterAttempt::RetryAt(_) if was_replayed => return,
            AfterAttempt::GiveUp(why) => end(EventEnd::GivenUp(why)),
            AfterAttempt::RetryAt(due_at) => EventStanding::Waiting { due_at, failures: failures + made },
        };
    }

    pub(super) fn replay_webhook(&mut self, command: &ReplayWebhook) -> WebhookReplay {
        for kind in WebhookKind::ALL {
            let key = (Endpoint { account: command.account, kind }, command.event);
            if let Some(event) = self.webhooks.events.get_mut(&key) {
                event.is_due_now(command.now);
                return WebhookReplay::Again;
            }
        }
        WebhookReplay::Unknown
    }

    pub(super) fn replay_failed(&mut self, command: &ReplayFailedWebhooks) -> ReplayProgress {
        let ReplayFailedWebhooks { endpoint, since, after, limit, now } = *command;
        let behind = |key: &Key| key.0 == endpoint && after.is_none_or(|after| key.1 > after);
        let events = &mut self.webhooks.events;
        let failed = events.iter_mut().filter(|(key, event)| behind(key) && event.has_failed());
        let limit = usize::try_from(limit).expect("a few");
        let (mut looked_at, mut last, mut replayed) = (0, None, 0);
        for ((_, id), event) in failed.take(limit) {
            (looked_at, last) = (looked_at + 1, Some(*id));
            if event.ended_at().is_some_and(|at| at >= since) {
                event.is_due_now(now);
                replayed += 1;
            }
        }
        ReplayProgress { replayed, next: last.filter(|_| looked_at >= limit) }
    }

    /// Makes events that wait due now. Returns the count.
    pub(super) fn retry_waiting(&mut self, command: &RetryWaitingWebhooks) -> u64 {
        let mut retried = 0;
        for id in &command.events {
            let event = self.webhooks.events.get_mut(&(command.endpoint, *id));
            if let Some(event) = event.filter(|event| event.failures().is_some()) {
                event.is_due_now(command.now);
                retried += 1;
            }
        }
        retried
    }

    /// Deletes events that ended long ago. Returns the count.
    pub(super) fn forget_webhooks(&mut self, command: &ForgetWebhooks) -> u64 {
        let before = self.webhooks.events.len();
        for some in command.events.chunk_by(|one, next| one.endpoint == next.endpoint) {
            let range = (some[0].endpoint, some[0].event)..=(some[0].endpoint, some[some.len() - 1].event);
            let is_old = |event: &EventModel| event.ended_at().is_some_and(|at| at <= command.before);
            self.webhooks.events.retain(|key, event| !range.contains(key) || !is_old(event));
        }
        u64::try_from(before - self.webhooks.events.len()).expect("a few")
    }

    /// Limits the due times of events to their schedule. Returns the count.
    pub(super) fn limit_webhook_waits(&mut self, command: &LimitWebhookWaits) -> usize {
        let mut changed = 0;
        for event in self.webhooks.events.values_mut() {
            let EventStanding::Waiting { due_at, failures } = &mut event.row.standing else { continue };
            let place = usize::try_from(*failures).expect("a few");
            let wait = if place == 0 { Some(&TOLERANCE) } else { command.waits.get(place - 1) };
            let latest = wait.map(|wait| command.now.plus(*wait));
            if let Some(latest) = latest.filter(|latest| *due_at > *latest) {
                *due_at = latest;
                changed += 1;
            }
        }
        changed
    }
}
