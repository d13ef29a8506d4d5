//! What customers are status over HTTP, the store's half. An event's row is written in the transaction of the fact it tells.
//! It says when it is due, so that a schedule outlives the process; whoever posts takes what is due, and says what came of
//! it. Then the row stands among the past ones, to be listed and replayed, until it is forgotten.

mod moved_reports;
mod replay;
mod attempts;

pub use attempts::WebhookResults;

use crate::batch::Batch;
use crate::ops::Endpoint;
use crate::tables::{EventContent, EventKey, NewEvent, TableError, WebhookEventChange};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::receipt::ReportStatus;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;

/// What change of a message, to be status.
#[derive(Clone, Copy, Debug)]
pub struct StatusChange {
    pub account: AccountId,
    pub message: MessageId,
    pub connection: ConnectionId,
    pub status: ReportStatus,
    pub err: u16,
    pub at: Timestamp,
}

/// Is the account status such things over HTTP?
pub fn has_webhook(catalogue: &Catalogue, account: AccountId, kind: WebhookKind) -> bool {
    let webhooks = catalogue.account(account).and_then(|view| view.account.webhooks.as_ref());
    webhooks.is_some_and(|webhooks| webhooks.url(kind).is_some())
}

/// Returns whether what happens on a connection is status over HTTP.
pub fn tells_by_webhook(catalogue: &Catalogue, connection: ConnectionId) -> bool {
    catalogue
        .connection(connection)
        .is_some_and(|connection| has_webhook(catalogue, connection.account, WebhookKind::Dlr))
}

impl Batch<'_> {
    /// A delivery report, in the form its connection wants now.
    pub fn add_dlr_event(&mut self, change: StatusChange) -> Result<(), TableError> {
        let StatusChange { account, message, connection, status, err, at } = change;
        let form = self.catalogue.connection(connection).map(|found| found.dlr_form).unwrap_or_default();
        let endpoint = Endpoint { account, kind: WebhookKind::Dlr };
        self.write_event(endpoint, message, at, EventContent::Dlr { connection, status, err, form })
    }

    /// The account's inbound message of this number, if it is status of those over HTTP.
    pub fn add_inbound_event(
        &mut self,
        account: AccountId,
        inbound: u64,
        message: MessageId,
        at: Timestamp,
    ) -> Result<(), TableError> {
        if !has_webhook(&self.catalogue, account, WebhookKind::Inbound) {
            return Ok(());
        }
        let endpoint = Endpoint { account, kind: WebhookKind::Inbound };
        self.write_event(endpoint, message, at, EventContent::Inbound(inbound))
    }

    fn write_event(
        &mut self,
        endpoint: Endpoint,
        message: MessageId,
        at: Timestamp,
        content: EventContent,
    ) -> Result<(), TableError> {
        let (event, due_at) = self.state.event_numbers.next(self.now);
        let key = EventKey { endpoint, event };
        self.tables.write(WebhookEventChange::Add(NewEvent { key, due_at, message, at, content }));
        self.tally.webhooks += 1;
        self.woken.insert(endpoint);
        Ok(())
    }

    /// Before the commit: the numbers given so far are never given again.
    pub fn write_last_event_number(&self) {
        if self.tally.webhooks > 0 {
            self.tables.write(WebhookEventChange::Last(self.state.event_numbers.last()));
        }
    }
}
