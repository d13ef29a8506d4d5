//! Finding what is due.

use crate::embedded::Embedded;
use crate::embedded::hooks::settle::HookEnds;
use crate::embedded::hooks::{stored_kind, stored_message};
use crate::embedded::op::{Op, Reply};
use crate::embedded::reports::stored_told;
use crate::fault::StoreFault;
use crate::sqlite::columns::stored_number;
use crate::sqlite::inbound::find_inbound;
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::{DlrForm, HookKind};
use hermod_engine::ops::{
    DlrEvent, Endpoint, EventId, HOOKS_TAKEN_MAX, HookEvent, HookGivenUp, HookNext, HookPage, HookSettled,
    HookWhat,
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

/// Events that have nothing to tell which one read passes over, and which are given up in one transaction.
const UNTELLABLE_PER_TAKE_MAX: usize = 500;
/// When to read again behind so many: they should be out of the way by then.
const UNTELLABLE_PAUSE: Duration = Duration::from_secs(1);

impl Embedded {
    /// Every endpoint at which events wait, and when the first of them is due, or was.
    pub async fn hooks_waiting(&self) -> Result<Vec<(Endpoint, Timestamp)>, StoreFault> {
        self.inner.readers.run(waiting).await
    }

    /// What is due at an endpoint behind a place, in order of when it became due. Nothing is marked: what was taken comes
    /// again until it is settled. What has nothing to tell any more is given up here.
    pub async fn take_hooks(
        &self,
        endpoint: Endpoint,
        after: Option<(Timestamp, EventId)>,
        now: Timestamp,
        limit: u32,
    ) -> Result<HookPage, StoreFault> {
        let limit = usize::try_from(limit.clamp(1, HOOKS_TAKEN_MAX)).expect("a few hundred");
        let due =
            self.inner.readers.run(move |connection| due(connection, endpoint, after, now, limit)).await?;
        let Due { page, untellable } = due;
        if !untellable.is_empty() {
            self.give_up(endpoint, &untellable, now).await?;
        }
        Ok(page)
    }

    /// Nobody waits for it: on a full disk that could be long.
    async fn give_up(
        &self,
        endpoint: Endpoint,
        untellable: &[Untellable],
        now: Timestamp,
    ) -> Result<(), StoreFault> {
        let Some(reply) = self.inner.shared.giving_up.begin(endpoint) else { return Ok(()) };
        let next = HookNext::GiveUp(HookGivenUp::NothingToTell);
        let settled = untellable.iter().map(|Untellable { event, failures }| HookSettled {
            endpoint,
            event: *event,
            failures: *failures,
            attempt: None,
            next,
        });
        let ends = HookEnds { settled: settled.collect(), now };
        self.inner.queue.send(Op::Hooks(ends, reply)).await.map_err(|_| StoreFault::Closed)
    }
}

/// Events that have nothing to tell and are being given up: one step at a time for each endpoint. They are read again until
/// that is written, and need not be given up again.
#[derive(Default)]
pub(crate) struct GivingUp(Mutex<HashMap<Endpoint, oneshot::Receiver<Result<(), StoreFault>>>>);

impl GivingUp {
    /// Where to say that a step has come to its end. Nothing: the one before has not.
    fn begin(&self, endpoint: Endpoint) -> Option<Reply<()>> {
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.retain(|_, end| matches!(end.try_recv(), Err(TryRecvError::Empty)));
        let Entry::Vacant(free) = under_way.entry(endpoint) else { return None };
        let (reply, end) = oneshot::channel();
        free.insert(end);
        Some(reply)
    }
}

/// One look for each endpoint, not one for each event.
pub(super) fn waiting(connection: &Connection) -> Result<Vec<(Endpoint, Timestamp)>, StoreFault> {
    let snapshot = connection.unchecked_transaction()?;
    let mut statement = snapshot.prepare_cached(
        "SELECT account, kind, due_at FROM webhook INDEXED BY webhook_due
         WHERE (account, kind) > (?1, ?2) ORDER BY account, kind, due_at LIMIT 1",
    )?;
    let (mut found, mut place) = (Vec::new(), (0, 0));
    while let Some((account, kind, due_at)) =
        statement.query_row(params![place.0, place.1], |row| <(u32, u8, i64)>::try_from(row)).optional()?
    {
        place = (account, kind);
        let endpoint = Endpoint { account: AccountId::new(account), kind: stored_kind(kind)? };
        found.push((endpoint, Timestamp::from_millis(due_at)));
    }
    Ok(found)
}

struct Due {
    page: HookPage,
    untellable: Vec<Untellable>,
}

/// An event that says nothing, or nothing that makes sense.
struct Untellable {
    event: EventId,
    failures: u32,
}

fn due(
    connection: &Connection,
    endpoint: Endpoint,
    after: Option<(Timestamp, EventId)>,
    now: Timestamp,
    limit: usize,
) -> Result<Due, StoreFault> {
    let Endpoint { account, kind } = endpoint;
    let mut statement = connection.prepare_cached(
        "SELECT w.id, w.due_at, w.failures, w.attempts, w.message, w.at, w.connection, w.told, w.err, w.form, w.inbound,
             m.source, m.dest, m.state
         FROM webhook w INDEXED BY webhook_due LEFT JOIN message m ON m.id = w.message
         WHERE w.account = ?1 AND w.kind = ?2 AND (w.due_at, w.id) > (?3, ?4) ORDER BY w.due_at, w.id LIMIT ?5",
    )?;
    let (due_at, id) = after.map_or((i64::MIN, 0), |(due_at, id)| (due_at.as_millis(), id.0.cast_signed()));
    let rows_max = i64::try_from(limit + UNTELLABLE_PER_TAKE_MAX + 1).expect("a few hundred");
    let mut rows = statement.query(params![account.get(), kind.as_u8(), due_at, id, rows_max])?;
    let mut found = Due { page: HookPage::default(), untellable: Vec::new() };
    while let Some(row) = rows.next()? {
        let due_at = Timestamp::from_millis(row.get(1)?);
        if due_at > now || found.page.events.len() == limit {
            found.page.next_due = Some(due_at);
            break;
        }
        if found.untellable.len() == UNTELLABLE_PER_TAKE_MAX {
            found.page.next_due = Some(now.plus(UNTELLABLE_PAUSE));
            break;
        }
        let event = EventId(row.get::<_, i64>(0)?.cast_unsigned());
        match read(connection, endpoint, event, row) {
            Ok(Some(event)) => {
                found.page.events.push(event);
                continue;
            }
            Ok(None) => {}
            // It must not keep the others from being told.
            Err(fault) if fault.is_damage() => {
                tracing::error!(%fault, event.id = event.0, account.id = %account, "A webhook event cannot be read");
            }
            Err(fault) => return Err(fault),
        }
        found.untellable.push(Untellable { event, failures: row.get(2).unwrap_or(0) });
    }
    Ok(found)
}

/// Nothing if what it tells of is not kept any more.
fn read(
    connection: &Connection,
    endpoint: Endpoint,
    id: EventId,
    row: &Row<'_>,
) -> Result<Option<HookEvent>, StoreFault> {
    let Endpoint { account, kind } = endpoint;
    let what = match kind {
        HookKind::Dlr => dlr(row)?.map(HookWhat::Dlr),
        HookKind::Inbound => received(connection, account, row)?.map(HookWhat::Inbound),
    };
    let Some(what) = what else { return Ok(None) };
    let due_at = Timestamp::from_millis(row.get(1)?);
    Ok(Some(HookEvent { id, account, what, failures: row.get(2)?, attempts: row.get(3)?, due_at }))
}

/// Nothing if its message is not kept any more.
fn dlr(row: &Row<'_>) -> Result<Option<DlrEvent>, StoreFault> {
    let Some(source) = row.get::<_, Option<String>>(11)? else { return Ok(None) };
    let message = stored_message(row.get(4)?)?;
    Ok(Some(DlrEvent {
        message,
        connection: ConnectionId::new(row.get(6)?),
        from: Sender::parse(&source).map_err(StoreFault::damaged)?,
        to: stored_number(row.get(12)?)?,
        told: stored_told(row.get(7)?)?,
        state: MessageState::from_stored(row.get(13)?).map_err(StoreFault::damaged)?,
        err: row.get(8)?,
        submitted_at: message.accepted_at(),
        at: Timestamp::from_millis(row.get(5)?),
        form: DlrForm::from_u8(row.get(9)?)
            .ok_or_else(|| StoreFault::damaged("the form of a delivery report"))?,
    }))
}

fn received(
    connection: &Connection,
    account: AccountId,
    row: &Row<'_>,
) -> Result<Option<hermod_engine::ops::InboundRecord>, StoreFault> {
    Ok(find_inbound(connection, account, row.get::<_, i64>(10)?.cast_unsigned())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_gives_up_one_step_at_a_time() {
        let giving_up = GivingUp::default();
        let [first, second] =
            [1, 2].map(|account| Endpoint { account: AccountId::new(account), kind: HookKind::Dlr });
        let reply = giving_up.begin(first).expect("nothing is under way");
        assert!(giving_up.begin(first).is_none());
        let other = giving_up.begin(second).expect("nobody else's matter");
        drop(reply.send(Ok(())));
        assert!(giving_up.begin(first).is_some(), "it has come to its end");
        drop(other);
        assert!(giving_up.begin(second).is_some(), "so has one that was never asked for");
    }
}
