//! What customers are told over HTTP, the store's half. An event's row is written in the transaction of the fact it tells.
//! It says when it is due, so that a schedule outlives the process; whoever posts takes what is due, and says what came of
//! it. Then the row stands among the past ones, to be listed and replayed, until it is forgotten.

mod absent;
mod bell;
mod failing;
mod forget;
mod listing;
mod queue;
mod replay;
mod settle;

pub(crate) use absent::Absent;
pub(crate) use bell::Bell;
pub(crate) use queue::GivingUp;
pub(crate) use settle::{HookEnds, nobody};

use crate::embedded::batch::Batch;
use crate::fault::StoreFault;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::origin::Told;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::HookKind;
use hermod_engine::ops::{Endpoint, EventId, HookGivenUp, HookState};
use rusqlite::{Connection, params};
use std::time::Duration;

/// How far apart the times are that operations of neighbouring batches are told. More than that is a clock that was set.
const TIMES_APART_MAX: Duration = Duration::from_secs(5);

/// The numbers of events, and when new ones are due: at once, but never before one that was written earlier. So whoever
/// reads in the order of both has not passed by what comes to be later.
pub(crate) struct Numbering {
    last: u64,
    due: Timestamp,
}

impl Numbering {
    pub(crate) fn load(connection: &Connection) -> Result<Numbering, StoreFault> {
        let last: i64 = connection.query_row("SELECT last FROM webhook_counter", [], |row| row.get(0))?;
        Ok(Numbering { last: last.cast_unsigned(), due: Timestamp::EPOCH })
    }

    fn next(&mut self, now: Timestamp) -> (EventId, Timestamp) {
        self.last += 1;
        let set_back = self.due.since(now) > TIMES_APART_MAX;
        self.due = if set_back { now } else { self.due.max(now) };
        (EventId(self.last), self.due)
    }
}

/// What became of a message, to be told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Became {
    pub account: AccountId,
    pub message: MessageId,
    pub connection: ConnectionId,
    pub told: Told,
    pub err: u16,
    pub at: Timestamp,
}

/// Is the account told such things over HTTP?
pub(crate) fn has_hook(catalogue: &Catalogue, account: AccountId, kind: HookKind) -> bool {
    let webhooks = catalogue.account(account).and_then(|view| view.account.webhooks.as_ref());
    webhooks.is_some_and(|webhooks| webhooks.url(kind).is_some())
}

pub(crate) fn count_waiting(connection: &Connection) -> Result<u64, StoreFault> {
    let waiting: i64 = connection.query_row("SELECT count(*) FROM webhook", [], |row| row.get(0))?;
    Ok(waiting.cast_unsigned())
}

impl Batch<'_> {
    /// A delivery report, in the form its connection wants now.
    pub(crate) fn hook_dlr(&mut self, became: Became) -> Result<(), StoreFault> {
        let Became { account, message, connection, told, err, at } = became;
        let form = self.catalogue.connection(connection).map(|found| found.dlr_form).unwrap_or_default();
        let (id, due_at) = self.books.hooks.next(self.now);
        self.connection
            .prepare_cached(
                "INSERT INTO webhook (account, kind, id, due_at, failures, attempts, message, at, connection, told, err, form)
                 VALUES (?1, ?2, ?3, ?4, 0, 0, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                account.get(),
                HookKind::Dlr.as_u8(),
                id.0.cast_signed(),
                due_at.as_millis(),
                message.as_i64(),
                at.as_millis(),
                connection.get(),
                told.as_u8(),
                err,
                form.as_u8()
            ])?;
        self.hook_written(Endpoint { account, kind: HookKind::Dlr });
        Ok(())
    }

    /// The account's inbound message of this number, if it is told of those over HTTP.
    pub(crate) fn hook_inbound(
        &mut self,
        account: AccountId,
        inbound: u64,
        message: MessageId,
        at: Timestamp,
    ) -> Result<(), StoreFault> {
        if !has_hook(&self.catalogue, account, HookKind::Inbound) {
            return Ok(());
        }
        let (id, due_at) = self.books.hooks.next(self.now);
        self.connection
            .prepare_cached(
                "INSERT INTO webhook (account, kind, id, due_at, failures, attempts, message, at, inbound)
                 VALUES (?1, ?2, ?3, ?4, 0, 0, ?5, ?6, ?7)",
            )?
            .execute(params![
                account.get(),
                HookKind::Inbound.as_u8(),
                id.0.cast_signed(),
                due_at.as_millis(),
                message.as_i64(),
                at.as_millis(),
                inbound.cast_signed()
            ])?;
        self.hook_written(Endpoint { account, kind: HookKind::Inbound });
        Ok(())
    }

    fn hook_written(&mut self, endpoint: Endpoint) {
        self.tally.hooks += 1;
        self.rung.insert(endpoint);
    }

    /// Before the commit: the numbers given so far are never given again.
    pub(crate) fn write_hook_number(&self) -> Result<(), StoreFault> {
        if self.tally.hooks > 0 {
            self.connection.prepare_cached("UPDATE webhook_counter SET last = ?1")?.execute([self
                .books
                .hooks
                .last
                .cast_signed()])?;
        }
        Ok(())
    }
}

/// On disk for ever: add, never renumber.
const DELIVERED: u8 = 1;

const fn given_up_to_stored(why: HookGivenUp) -> u8 {
    match why {
        HookGivenUp::AttemptsUsedUp => 2,
        HookGivenUp::NoAddress => 3,
        HookGivenUp::NothingToTell => 4,
    }
}

fn stored_end(number: u8) -> Result<HookState, StoreFault> {
    Ok(match number {
        DELIVERED => HookState::Delivered,
        2 => HookState::Failed(HookGivenUp::AttemptsUsedUp),
        3 => HookState::Failed(HookGivenUp::NoAddress),
        4 => HookState::Failed(HookGivenUp::NothingToTell),
        other => return Err(StoreFault::damaged(format!("{other} is no end of a webhook event"))),
    })
}

fn stored_kind(number: u8) -> Result<HookKind, StoreFault> {
    HookKind::from_u8(number).ok_or_else(|| StoreFault::damaged(format!("{number} is no kind of webhook")))
}

fn stored_message(number: i64) -> Result<MessageId, StoreFault> {
    MessageId::from_i64(number).ok_or_else(|| StoreFault::damaged("a webhook event's message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_ends_never_change() {
        let ends = [HookGivenUp::AttemptsUsedUp, HookGivenUp::NoAddress, HookGivenUp::NothingToTell];
        assert_eq!(ends.map(given_up_to_stored), [2, 3, 4]);
        for why in ends {
            assert_eq!(stored_end(given_up_to_stored(why)).unwrap(), HookState::Failed(why));
        }
        assert_eq!(stored_end(DELIVERED).unwrap(), HookState::Delivered);
        assert!(stored_end(0).is_err() && stored_end(5).is_err());
    }

    #[test]
    fn what_comes_later_stands_behind_unless_the_clock_was_set() {
        let at = Timestamp::from_millis;
        let mut numbering = Numbering { last: 0, due: Timestamp::EPOCH };
        for (number, (now, due)) in
            [(100_000, 100_000), (99_990, 100_000), (95_000, 100_000), (94_999, 94_999), (95_100, 95_100)]
                .into_iter()
                .enumerate()
        {
            let expect = (EventId(u64::try_from(number).unwrap() + 1), at(due));
            assert_eq!(numbering.next(at(now)), expect, "told {now}");
        }
    }
}
