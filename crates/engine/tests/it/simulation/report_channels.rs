//! The model of report channels: which status changes are reported on a bind, by webhook, or both.

use super::model::{Model, ReportTarget};
use super::random::Random;
use super::setup::{ACCOUNTS, connection_of};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{MessageState, PartEvent, Progress, StateChange};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use hermod_engine::batch::BoundReceivers;
use hermod_engine::ops::Endpoint;
use std::collections::BTreeMap;

/// The content of a report or a webhook event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    Became(MessageId, ReportStatus),
    /// An MO message, by its account and its number there.
    Mo(AccountId, u64),
}

/// Whether a receiver is bound to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiver {
    Bound,
    /// Absent for less than the limit.
    Unbound,
    Away,
}

/// The receivers of all connections; bound by default.
#[derive(Clone, Default)]
pub(super) struct Receivers(BTreeMap<ConnectionId, Receiver>);

impl Receivers {
    /// Binds or unbinds a receiver.
    pub(super) fn change(&mut self, random: &mut Random) {
        let connection = connection_of(random.one_of(&ACCOUNTS));
        let receiver = random.one_of(&[Receiver::Bound, Receiver::Bound, Receiver::Unbound, Receiver::Away]);
        self.0.insert(connection, receiver);
    }

    fn of(&self, connection: ConnectionId) -> Receiver {
        self.0.get(&connection).copied().unwrap_or(Receiver::Bound)
    }

    pub(super) fn is_away(&self, connection: ConnectionId) -> bool {
        self.of(connection) == Receiver::Away
    }
}

impl BoundReceivers for Receivers {
    fn away_since(&self, connection: ConnectionId, now: Timestamp) -> Option<Timestamp> {
        self.is_away(connection).then_some(now)
    }

    fn is_bound(&self, connection: ConnectionId) -> bool {
        self.of(connection) == Receiver::Bound
    }
}

impl Model {
    /// Expects the report of an event. A final status is reported once, and UNKNOWN once before it.
    pub(super) fn expect_status_report(
        &mut self,
        message: MessageId,
        event: PartEvent,
        before: &Progress,
        moved: &StateChange,
    ) {
        let now = self.now;
        let entry = self.messages.get_mut(&message).expect("a message that was accepted");
        let told = if entry.has_ended() {
            ReportStatus::Final(moved.dlr.expect("an end has a code"))
        } else if event == PartEvent::ReceiptOverdue {
            if entry.unknown_at.is_some() {
                return;
            }
            entry.unknown_at = Some(now);
            ReportStatus::Final(DlrCode::Unknown)
        } else if before.state != MessageState::Enroute && moved.after.state == MessageState::Enroute {
            match event {
                PartEvent::Receipt(verdict) => verdict.notice(),
                _ => ReportStatus::Enroute,
            }
        } else {
            return;
        };
        self.expect_report(message, told);
    }

    fn expect_report(&mut self, message: MessageId, told: ReportStatus) {
        let entry = &self.messages[&message];
        let (account, connection) = (entry.account, entry.connection());
        let has_webhook = self.setup().has_webhook(account, WebhookKind::Dlr);
        let (by_webhook, by_bind, on_transmitter) = match entry.report_target {
            ReportTarget::Web => (has_webhook, false, false),
            ReportTarget::Customer { registered_delivery, on_transmitter } => {
                let wants = registered_delivery.asks_for(told);
                let is_absent =
                    self.receivers.is_away(connection) || (!wants && !self.receivers.is_bound(connection));
                let only_webhook = has_webhook && on_transmitter && is_absent;
                let both = has_webhook && self.setup().has_webhooks_too(connection);
                (only_webhook || both, wants && !only_webhook, on_transmitter)
            }
        };
        let telling = Telling::Became(message, told);
        if by_webhook {
            self.webhooks.expect(Endpoint { account, kind: WebhookKind::Dlr }, telling);
        }
        if by_bind {
            self.reports.expect(connection, telling, on_transmitter && !by_webhook);
        }
    }
}
