//! Views of rows that the simulation compares with its model.

use super::columns::StoredOrigin;
use super::{MemoryTables, webhook_events};
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::Billable;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{EarlierCost, Endpoint, EventId, ReportId};
use hermod_engine::tables::{EventContent, EventEnd, EventKey, InboundRow, UnassignedRow};
use std::collections::BTreeMap;

/// A new webhook event: its number, its message and its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewEventRow {
    pub(crate) event: EventId,
    pub(crate) message: MessageId,
    pub(crate) about: EventContent,
}

/// The state of a webhook event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventStanding {
    Waiting { due_at: Timestamp, failures: u32 },
    Ended { end: EventEnd, at: Timestamp },
}

/// A webhook event: its state, the number of its attempts, and how many of them are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventRow {
    pub(crate) standing: EventStanding,
    pub(crate) attempts: u32,
    pub(crate) attempts_kept: usize,
}

/// The MO message as an account or the operator reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MoRow {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) text: String,
    pub(crate) missing: u8,
    pub(crate) received_at: Timestamp,
}

/// The fields of a message's row beside its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageFacts {
    pub(crate) carrier: CarrierId,
    pub(crate) to: u64,
    pub(crate) has_text: bool,
    pub(crate) settled_at: Option<Timestamp>,
    pub(crate) carrier_cost: Option<BelievedCost>,
    pub(crate) billable: Option<Billable>,
    /// Its origin has the recipient as the customer wrote it.
    pub(crate) names_recipient: bool,
    /// Its origin has the beginning of the text.
    pub(crate) has_quote: bool,
}

impl MemoryTables {
    /// Returns the events of an endpoint that wait and are behind this number.
    pub(crate) fn new_events(&self, endpoint: Endpoint, after: EventId) -> Vec<NewEventRow> {
        let (account, kind) = (endpoint.account.get(), endpoint.kind.as_u8());
        let rows = self.read();
        let behind = rows.webhook.range((account, kind, after.0 + 1)..=(account, kind, u64::MAX));
        let new = behind.map(|((.., id), row)| NewEventRow {
            event: EventId(*id),
            message: row.told.message,
            about: row.told.about,
        });
        new.collect()
    }

    /// Returns all webhook events, waiting or ended. Panics if one is both.
    pub(crate) fn events(&self) -> BTreeMap<(Endpoint, EventId), EventRow> {
        let rows = self.read();
        let mut kept: BTreeMap<EventKey, usize> = BTreeMap::new();
        for (event, _) in rows.webhook_attempt.keys() {
            *kept.entry(*event).or_default() += 1;
        }
        let mut events = BTreeMap::new();
        let mut add = |key: &webhook_events::Key, standing: EventStanding, attempts: u32| {
            let key = webhook_events::event_key(*key).expect("a kind of webhook");
            let attempts_kept = kept.remove(&key).unwrap_or(0);
            let EventKey { endpoint, event } = key;
            let there = events.insert((endpoint, event), EventRow { standing, attempts, attempts_kept });
            assert!(there.is_none(), "event {event:?} waits and has ended");
        };
        for (key, row) in rows.webhook.iter() {
            let standing = EventStanding::Waiting { due_at: row.due_at, failures: row.failures };
            add(key, standing, row.attempts);
        }
        for (key, row) in rows.webhook_past.iter() {
            add(key, EventStanding::Ended { end: row.end, at: row.ended_at }, row.attempts);
        }
        assert!(kept.is_empty(), "attempts without an event: {kept:?}");
        events
    }

    /// Returns the reports that wait, with the messages they are about.
    pub(crate) fn reports(&self) -> BTreeMap<(ConnectionId, ReportId), MessageId> {
        let rows = self.read();
        let reports = rows.report.iter();
        reports.map(|((to, id), row)| ((ConnectionId::new(*to), ReportId(*id)), row.message)).collect()
    }

    /// Returns the reports that were given up.
    pub(crate) fn given_up_reports(&self) -> Vec<(ConnectionId, ReportId)> {
        self.read().given_up.values().map(|row| (row.connection, row.id)).collect()
    }

    /// Returns the MO messages of all accounts.
    pub(crate) fn mo_messages(&self) -> BTreeMap<(AccountId, u64), MoRow> {
        let rows = self.read();
        let row = |row: &InboundRow| MoRow {
            from: row.from.clone(),
            to: row.to.clone(),
            text: row.text.clone(),
            missing: row.missing,
            received_at: row.received_at,
        };
        rows.inbound.iter().map(|(key, mo)| (*key, row(mo))).collect()
    }

    /// Returns the MO messages that belong to no account.
    pub(crate) fn unassigned_messages(&self) -> BTreeMap<MessageId, MoRow> {
        let rows = self.read();
        let row = |row: &UnassignedRow| MoRow {
            from: row.from.clone(),
            to: row.to.clone(),
            text: row.text.clone(),
            missing: row.missing,
            received_at: row.received_at,
        };
        rows.unassigned_inbound.values().map(|mo| (mo.message, row(mo))).collect()
    }

    /// Returns the fields of all message rows beside their progress.
    pub(crate) fn message_facts(&self) -> BTreeMap<MessageId, MessageFacts> {
        let rows = self.read();
        let origin =
            |row: &super::messages::Row| row.origin.as_ref().map(|StoredOrigin(row)| row.origin.clone());
        let facts = |row: &super::messages::Row| MessageFacts {
            carrier: row.carrier,
            to: row.to,
            has_text: row.text.is_some(),
            settled_at: row.settled_at,
            carrier_cost: row.carrier_cost,
            billable: row.billable,
            names_recipient: origin(row).is_some_and(|origin| !origin.destination.digits.is_empty()),
            has_quote: origin(row).is_some_and(|origin| !origin.quote.is_empty()),
        };
        let messages = rows.message.iter();
        messages.map(|(id, row)| (MessageId::from_i64(*id).expect("an id"), facts(row))).collect()
    }

    /// Returns the messages that failed over or were reported UNKNOWN, and when.
    pub(crate) fn exceptions(&self) -> BTreeMap<MessageId, (bool, Option<Timestamp>)> {
        let rows = self.read();
        let exceptions = rows
            .message_exception
            .values()
            .map(|row| (row.message, (row.exceptions.has_failed_over, row.exceptions.unknown_at)));
        exceptions.filter(|(_, row)| *row != (false, None)).collect()
    }

    /// Returns what earlier carriers can bill: the carrier, its submissions, and what it asks.
    pub(crate) fn earlier_carriers(
        &self,
    ) -> BTreeMap<(MessageId, u16), (CarrierId, u16, Option<BelievedCost>)> {
        let rows = self.read();
        let row = |row: &EarlierCost| ((row.message, row.no), (row.carrier, row.submitted, row.cost));
        rows.earlier_cost.values().map(|earlier| row(earlier)).collect()
    }

    /// Returns the messages that carriers refused, with each carrier.
    pub(crate) fn refusals(&self) -> Vec<(MessageId, CarrierId)> {
        let rows = self.read();
        rows.carrier_refusal.keys().copied().collect()
    }

    /// Returns the messages that have rows of parts.
    pub(crate) fn messages_with_parts(&self) -> Vec<MessageId> {
        let rows = self.read();
        let parts = rows.part.values().chain(rows.late_part.values());
        let mut messages: Vec<MessageId> = parts.map(|row| row.key.message).collect();
        messages.sort_unstable();
        messages.dedup();
        messages
    }

    /// Returns the sum of all postings of an account.
    pub(crate) fn posted(&self, account: AccountId) -> i64 {
        let rows = self.read();
        rows.ledger
            .values()
            .filter(|row| row.account == account)
            .map(|row| row.change.balance.as_micros())
            .sum()
    }

    /// Returns the sum of what the messages of an account cost.
    pub(crate) fn costs(&self, account: AccountId) -> i64 {
        let rows = self.read();
        rows.message.values().filter(|row| row.account == account).map(|row| row.cost.as_micros()).sum()
    }
}
