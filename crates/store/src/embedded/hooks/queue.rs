//! Finding what is due.

use crate::embedded::Embedded;
use crate::embedded::hooks::settle::HookEnds;
use crate::embedded::hooks::{stored_kind, stored_message};
use crate::embedded::inbound;
use crate::embedded::jobs::stored_number;
use crate::embedded::reports::stored_told;
use crate::fault::StoreFault;
use crate::ops::{
    DlrEvent, Endpoint, EventId, HOOKS_TAKEN_MAX, HookEvent, HookGivenUp, HookNext, HookPage, HookSettled,
    HookWhat,
};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::lifecycle::MessageState;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::{DlrForm, HookKind};
use rusqlite::{Connection, OptionalExtension, Row, params};

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
            let next = HookNext::GiveUp(HookGivenUp::NothingToTell);
            let settled =
                untellable.into_iter().map(|event| HookSettled { endpoint, event, attempt: None, next });
            // Nobody waits for it: on a full disk that could be long.
            self.end_hooks(HookEnds { settled: settled.collect(), now }).await?;
        }
        Ok(page)
    }
}

/// One look for each endpoint, not one for each event.
fn waiting(connection: &Connection) -> Result<Vec<(Endpoint, Timestamp)>, StoreFault> {
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
    untellable: Vec<EventId>,
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
    let rows_max = i64::try_from(limit + 1).expect("a few hundred");
    let mut rows = statement.query(params![account.get(), kind.as_u8(), due_at, id, rows_max])?;
    let mut found = Due { page: HookPage::default(), untellable: Vec::new() };
    while let Some(row) = rows.next()? {
        let due_at = Timestamp::from_millis(row.get(1)?);
        if due_at > now || found.page.events.len() + found.untellable.len() == limit {
            found.page.next_due = Some(due_at);
            break;
        }
        let id = EventId(row.get::<_, i64>(0)?.cast_unsigned());
        let what = match kind {
            HookKind::Dlr => dlr(row).map(|dlr| dlr.map(HookWhat::Dlr)),
            HookKind::Inbound => {
                received(connection, account, row).map(|inbound| inbound.map(HookWhat::Inbound))
            }
        };
        let (failures, attempts) = (row.get(2)?, row.get(3)?);
        match what {
            Ok(Some(what)) => {
                found.page.events.push(HookEvent { id, account, what, failures, attempts, due_at })
            }
            Ok(None) => found.untellable.push(id),
            // It must not keep the others from being told.
            Err(fault) => {
                tracing::error!(%fault, event.id = id.0, account.id = %account, "A webhook event cannot be read");
                found.untellable.push(id);
            }
        }
    }
    Ok(found)
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
) -> Result<Option<crate::ops::InboundRecord>, StoreFault> {
    inbound::find(connection, account, row.get::<_, i64>(10)?.cast_unsigned())
}
