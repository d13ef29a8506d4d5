//! The MO messages of an account as threads: those between one handset and one number of ours. MO messages are stored in the
//! order in which they came, so threads are looked for in the newest few thousand, then in older ones.

use crate::refusal::{OperatorRefusal, Result};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::webhook::WebhookKind;
use hermod_gateway::gateway::Gateway;
use hermod_store::{INBOUND_LOOKED_AT_MAX, InboundParties, InboundRecord, PAGE_ROWS_MAX, WebhookFilter};
use std::collections::{HashMap, HashSet};

pub use hermod_store::WebhookStatus;

/// Connections of an account whose waiting reports are looked at.
const CONNECTIONS_MAX: usize = 20;

/// The position at which the next page of a list of threads begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboxCursor {
    /// Looks at MO messages below this number; `None` for the newest.
    pub slice: Option<u64>,
    /// Threads of the slice whose newest MO message is below this number.
    pub before: Option<u64>,
}

/// The newest MO message of a thread.
#[derive(Clone, Debug)]
pub struct InboxThread {
    pub last: InboxMessage,
    /// MO messages of the thread among those that were looked at.
    pub count: usize,
}

/// An MO message and how it was delivered to the customer.
#[derive(Clone, Debug)]
pub struct InboxMessage {
    pub record: InboundRecord,
    pub delivery: InboundDelivery,
}

/// How an MO message was delivered. The ways do not depend on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboundDelivery {
    /// `GET /inbound` has returned it since the gateway was started, or was called for newer ones.
    pub is_polled: bool,
    /// The state of its webhook event; `None` if there was no URL.
    pub webhook: Option<WebhookStatus>,
    /// `None` if no connection of the account can receive MO messages.
    pub bind: Option<BindDelivery>,
}

/// Whether a bind has an MO message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindDelivery {
    Waiting,
    Delivered,
    GivenUp,
}

/// A page of threads.
#[derive(Clone, Debug)]
pub struct InboxThreads {
    /// The newest first.
    pub threads: Vec<InboxThread>,
    pub next: Option<InboxCursor>,
}

/// Lists the threads of an account, at most `rows`.
pub async fn list_threads(
    gateway: &Gateway,
    account: AccountId,
    cursor: InboxCursor,
    rows: usize,
) -> Result<InboxThreads> {
    let looked_at = gateway.store.inbound().parties(account, cursor.slice, INBOUND_LOOKED_AT_MAX).await?;
    let (shown, next) = page_of_threads(&looked_at, cursor, rows);
    let counts: HashMap<u64, usize> = shown.iter().copied().collect();
    let ids = shown.iter().map(|(newest, _)| *newest).collect();
    let messages = read_messages(gateway, account, ids).await?;
    let threads = messages.into_iter().map(|last| {
        let count = counts.get(&last.record.id).copied().unwrap_or(1);
        InboxThread { last, count }
    });
    Ok(InboxThreads { threads: threads.collect(), next })
}

/// Returns the threads of a page, and where the next page begins.
fn page_of_threads(
    looked_at: &[InboundParties],
    cursor: InboxCursor,
    rows: usize,
) -> (Vec<(u64, usize)>, Option<InboxCursor>) {
    let mut left = threads_in(looked_at);
    left.retain(|(newest, _)| cursor.before.is_none_or(|before| *newest < before));
    if left.len() > rows {
        left.truncate(rows);
        let before = left.last().map(|(newest, _)| *newest);
        return (left, Some(InboxCursor { before, ..cursor }));
    }
    (left, next_slice(looked_at).map(|slice| InboxCursor { slice: Some(slice), before: None }))
}

/// Returns the number of the newest MO message of each thread and how many it has, the newest thread first.
fn threads_in(looked_at: &[InboundParties]) -> Vec<(u64, usize)> {
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    let mut threads: Vec<(u64, usize)> = Vec::new();
    for InboundParties { id, from, to } in looked_at {
        let place = *places.entry((from, to)).or_insert_with(|| {
            threads.push((*id, 0));
            threads.len() - 1
        });
        threads[place].1 += 1;
    }
    threads
}

/// Returns where the MO messages begin that were not looked at; `None` if there are none.
fn next_slice(looked_at: &[InboundParties]) -> Option<u64> {
    let is_full = u32::try_from(looked_at.len()).is_ok_and(|count| count >= INBOUND_LOOKED_AT_MAX);
    looked_at.last().filter(|_| is_full).map(|oldest| oldest.id)
}

/// MO messages of one thread.
#[derive(Clone, Debug)]
pub struct ThreadMessages {
    pub from: String,
    pub to: String,
    /// The newest first.
    pub messages: Vec<InboxMessage>,
    /// Older ones have numbers below this.
    pub next: Option<u64>,
}

/// Returns the thread of an MO message: those with numbers below `before`, or the newest, at most `rows`.
pub async fn show_thread(
    gateway: &Gateway,
    account: AccountId,
    id: u64,
    before: Option<u64>,
    rows: usize,
) -> Result<ThreadMessages> {
    let found = find_inbound(gateway, account, id).await?;
    let looked_at = gateway.store.inbound().parties(account, before, INBOUND_LOOKED_AT_MAX).await?;
    let (shown, next) = thread_in(&looked_at, &found, rows);
    let messages = read_messages(gateway, account, shown).await?;
    Ok(ThreadMessages { from: found.from, to: found.to, messages, next })
}

/// Returns the numbers of the newest MO messages of the same thread, at most `rows`, and where older ones begin.
fn thread_in(looked_at: &[InboundParties], of: &InboundRecord, rows: usize) -> (Vec<u64>, Option<u64>) {
    let own = looked_at.iter().filter(|one| one.from == of.from && one.to == of.to);
    let mut ids: Vec<u64> = own.map(|one| one.id).collect();
    if ids.len() > rows {
        ids.truncate(rows);
        let last = ids.last().copied();
        return (ids, last);
    }
    (ids, next_slice(looked_at))
}

/// Returns an MO message of an account.
pub async fn find_inbound(gateway: &Gateway, account: AccountId, id: u64) -> Result<InboundRecord> {
    let found = gateway.store.inbound().records(account, vec![id]).await?;
    let missing = || OperatorRefusal::NotFound(format!("there is no MO message {id}"));
    found.into_iter().next().ok_or_else(missing)
}

/// Reads MO messages and how they were delivered.
async fn read_messages(gateway: &Gateway, account: AccountId, ids: Vec<u64>) -> Result<Vec<InboxMessage>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let records = gateway.store.inbound().records(account, ids).await?;
    let events = webhook_states(gateway, account).await?;
    let binds = BindStates::read(gateway, account).await?;
    let polled = gateway.inbound_polls.up_to(account);
    let messages = records.into_iter().map(|record| {
        let delivery = InboundDelivery {
            is_polled: record.id <= polled,
            webhook: events.get(&record.message).copied(),
            bind: binds.as_ref().map(|binds| binds.of(&record)),
        };
        InboxMessage { record, delivery }
    });
    Ok(messages.collect())
}

/// Returns the states of the newest webhook events about MO messages.
async fn webhook_states(gateway: &Gateway, account: AccountId) -> Result<HashMap<MessageId, WebhookStatus>> {
    let filter = WebhookFilter { kind: Some(WebhookKind::Inbound), status: None };
    let events = gateway.store.webhooks().list(account, filter, None, PAGE_ROWS_MAX).await?;
    Ok(events.into_iter().map(|event| (event.message, event.state.status())).collect())
}

/// Which MO messages wait for binds, and which were given up. The others were delivered.
struct BindStates {
    waiting: HashSet<u64>,
    given_up: HashSet<MessageId>,
}

impl BindStates {
    /// Returns none if no connection of the account can receive MO messages.
    async fn read(gateway: &Gateway, account: AccountId) -> Result<Option<BindStates>> {
        let catalogue = gateway.catalogue();
        let own = catalogue.connections_of(account).into_iter().map(|(id, ..)| id);
        let receiving: Vec<_> =
            own.filter(|id| catalogue.can_receive_mo(*id)).take(CONNECTIONS_MAX).collect();
        if receiving.is_empty() {
            return Ok(None);
        }
        let mut waiting = HashSet::new();
        for connection in receiving {
            waiting.extend(gateway.store.inbound().waiting(connection, account).await?);
        }
        let given_up = gateway.store.reports().given_up(Some(account), None, PAGE_ROWS_MAX).await?;
        let given_up = given_up.into_iter().filter(|report| report.status.is_none());
        Ok(Some(BindStates { waiting, given_up: given_up.map(|report| report.message).collect() }))
    }

    fn of(&self, record: &InboundRecord) -> BindDelivery {
        if self.waiting.contains(&record.id) {
            BindDelivery::Waiting
        } else if self.given_up.contains(&record.message) {
            BindDelivery::GivenUp
        } else {
            BindDelivery::Delivered
        }
    }
}

#[cfg(test)]
#[path = "inbox_tests.rs"]
mod tests;
