//! Webhook events: DLRs and MO messages that are posted to customers over HTTP. An event's row is written in the
//! transaction of the change that it reports, with the time when it is due, so a retry schedule survives a restart. The
//! gateway posts due events and reports the attempts (`attempts.rs`). An event that has ended is kept for lists and
//! replays until it is deleted.

pub mod attempts;
pub mod moved_reports;
pub mod replay;

pub use attempts::WebhookResults;

use crate::batch::Batch;
use crate::ops::Endpoint;
use crate::tables::{EventContent, EventKey, NewEvent, TableError, WebhookEventChange};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::receipt::ReportStatus;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;

/// A change of a message's status that a webhook event reports.
#[derive(Clone, Copy, Debug)]
pub struct StatusChange {
    pub account: AccountId,
    pub message: MessageId,
    pub connection: ConnectionId,
    pub status: ReportStatus,
    pub err: u16,
    pub at: Timestamp,
}

/// Whether an account has a webhook for this kind of event.
pub fn has_webhook(catalogue: &Catalogue, account: AccountId, kind: WebhookKind) -> bool {
    let webhooks = catalogue.account(account).and_then(|view| view.account.webhooks.as_ref());
    webhooks.is_some_and(|webhooks| webhooks.url(kind).is_some())
}

/// Whether the status of messages from a connection can be reported by webhook.
pub fn tells_by_webhook(catalogue: &Catalogue, connection: ConnectionId) -> bool {
    catalogue
        .connection(connection)
        .is_some_and(|connection| has_webhook(catalogue, connection.account, WebhookKind::Dlr))
}

/// Adds a DLR event, in the form that the connection is configured for now.
pub fn add_dlr(batch: &mut Batch<'_>, change: StatusChange) -> Result<(), TableError> {
    let StatusChange { account, message, connection, status, err, at } = change;
    let form = batch.catalogue.connection(connection).map(|found| found.dlr_form).unwrap_or_default();
    let endpoint = Endpoint { account, kind: WebhookKind::Dlr };
    write(batch, endpoint, message, at, EventContent::Dlr { connection, status, err, form })
}

/// Adds an event about an account's MO message, if the account has a webhook for them.
pub fn add_inbound(
    batch: &mut Batch<'_>,
    account: AccountId,
    inbound: u64,
    message: MessageId,
    at: Timestamp,
) -> Result<(), TableError> {
    if !has_webhook(&batch.catalogue, account, WebhookKind::Inbound) {
        return Ok(());
    }
    let endpoint = Endpoint { account, kind: WebhookKind::Inbound };
    write(batch, endpoint, message, at, EventContent::Inbound(inbound))
}

fn write(
    batch: &mut Batch<'_>,
    endpoint: Endpoint,
    message: MessageId,
    at: Timestamp,
    content: EventContent,
) -> Result<(), TableError> {
    let (event, due_at) = batch.state.event_numbers.next(batch.now);
    let key = EventKey { endpoint, event };
    batch.tables.write(WebhookEventChange::Add(NewEvent { key, due_at, message, at, content }));
    batch.results.tally.webhooks += 1;
    batch.results.woken.insert(endpoint);
    Ok(())
}

/// Writes the last event number before the commit, so that no number is ever reused.
pub fn write_last_number(batch: &Batch<'_>) {
    if batch.results.tally.webhooks > 0 {
        batch.tables.write(WebhookEventChange::Last(batch.state.event_numbers.last()));
    }
}
