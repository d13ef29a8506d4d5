//! Short names of messages, for binds whose ids have at most eight characters. Each account has its own, given in order;
//! one that is in use again after a whole round must have been free for as long as its customer may still ask for it.

use crate::embedded::Embedded;
use crate::embedded::overlay::Overlay;
use crate::embedded::records;
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::{Alias, MessageName};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{MessageRecord, REPORT_KEPT};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;

/// Names looked at before a message is refused for want of one.
const ALIASES_TRIED_MAX: u32 = 64;

/// The name each account was given last.
pub(crate) struct Aliases {
    last: Overlay<Alias>,
}

impl Aliases {
    pub(crate) fn load(connection: &Connection) -> Result<Aliases, StoreFault> {
        let mut statement = connection.prepare("SELECT account, last FROM alias_counter")?;
        let mut rows = statement.query([])?;
        let mut last = HashMap::new();
        while let Some(row) = rows.next()? {
            last.insert(AccountId::new(row.get(0)?), stored_alias(row.get(1)?)?);
        }
        Ok(Aliases { last: Overlay::over(last) })
    }

    /// The first free one behind the one that was given last. Writes nothing.
    pub(crate) fn find(
        &self,
        connection: &Connection,
        account: AccountId,
        now: Timestamp,
    ) -> Result<Option<Alias>, StoreFault> {
        let mut alias = self.last.get(account).map_or(Alias::FIRST, Alias::next);
        for _ in 0..ALIASES_TRIED_MAX {
            if is_free(connection, account, alias, now)? {
                return Ok(Some(alias));
            }
            alias = alias.next();
        }
        Ok(None)
    }

    pub(crate) fn give(
        &mut self,
        connection: &Connection,
        account: AccountId,
        alias: Alias,
        message: MessageId,
    ) -> Result<(), StoreFault> {
        connection
            .prepare_cached("INSERT OR REPLACE INTO alias (account, alias, message) VALUES (?1, ?2, ?3)")?
            .execute(params![account.get(), alias.get(), message.as_i64()])?;
        self.last.set(account, alias);
        Ok(())
    }

    pub(crate) fn write(&self, connection: &Connection) -> Result<(), StoreFault> {
        for (account, last) in self.last.changed() {
            connection
                .prepare_cached("INSERT OR REPLACE INTO alias_counter (account, last) VALUES (?1, ?2)")?
                .execute(params![account.get(), last.get()])?;
        }
        Ok(())
    }

    pub(crate) fn committed(&mut self) {
        self.last.committed();
    }

    pub(crate) fn rolled_back(&mut self) {
        self.last.rolled_back();
    }
}

fn is_free(
    connection: &Connection,
    account: AccountId,
    alias: Alias,
    now: Timestamp,
) -> Result<bool, StoreFault> {
    let Some(message) = named_by(connection, account, alias)? else { return Ok(true) };
    let settled_at: Option<Option<i64>> = connection
        .prepare_cached("SELECT settled_at FROM message WHERE id = ?1")?
        .query_row([message.as_i64()], |row| row.get(0))
        .optional()?;
    let settled_at = settled_at.flatten().map(Timestamp::from_millis);
    Ok(settled_at.is_some_and(|at| at.plus(REPORT_KEPT) < now))
}

fn named_by(
    connection: &Connection,
    account: AccountId,
    alias: Alias,
) -> Result<Option<MessageId>, StoreFault> {
    let message: Option<i64> = connection
        .prepare_cached("SELECT message FROM alias WHERE account = ?1 AND alias = ?2")?
        .query_row(params![account.get(), alias.get()], |row| row.get(0))
        .optional()?;
    message
        .map(|stored| MessageId::from_i64(stored).ok_or_else(|| StoreFault::damaged("an alias's message")))
        .transpose()
}

fn stored_alias(number: u32) -> Result<Alias, StoreFault> {
    Alias::new(number).ok_or_else(|| StoreFault::damaged(format!("{number} is no alias")))
}

/// The account's message of that name.
pub(crate) fn named(
    connection: &Connection,
    account: AccountId,
    name: MessageName,
) -> Result<Option<MessageId>, StoreFault> {
    match name {
        MessageName::Alias(alias) => named_by(connection, account, alias),
        MessageName::Id(id) => {
            let found = connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM message WHERE id = ?1 AND account = ?2)")?
                .query_row(params![id.as_i64(), account.get()], |row| row.get::<_, bool>(0))?;
            Ok(found.then_some(id))
        }
    }
}

impl Embedded {
    /// The id of the account's message of that name.
    pub async fn named(
        &self,
        account: AccountId,
        name: MessageName,
    ) -> Result<Option<MessageId>, StoreFault> {
        self.inner.readers.run(move |connection| named(connection, account, name)).await
    }

    /// The account's message of that name.
    pub async fn message_named(
        &self,
        account: AccountId,
        name: MessageName,
    ) -> Result<Option<MessageRecord>, StoreFault> {
        let read = self.inner.readers.run(move |connection| match named(connection, account, name)? {
            Some(id) => records::message(connection, account, id),
            None => Ok(None),
        });
        read.await
    }
}
