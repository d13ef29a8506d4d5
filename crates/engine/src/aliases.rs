//! Short names of messages, for binds whose ids have at most eight characters. Each account has its own, given in order;
//! one that is in use again after a whole round must have been free for as long as its customer may still ask for it.

use crate::ops::REPORT_KEPT;
use crate::overlay::Overlay;
use crate::tables::{TableError, Tables};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::{Alias, MessageName};
use hermod_domain::time::Timestamp;

/// Names looked at before a message is refused for want of one.
const ALIASES_TRIED_MAX: u32 = 64;

/// The name each account was given last.
pub struct Aliases {
    last: Overlay<Alias>,
}

impl Aliases {
    pub fn load(tables: &dyn Tables) -> Result<Aliases, TableError> {
        Ok(Aliases { last: Overlay::over(tables.last_aliases()?.into_iter().collect()) })
    }

    /// The first free one behind the one that was given last. Writes nothing.
    pub fn find(
        &self,
        tables: &dyn Tables,
        account: AccountId,
        now: Timestamp,
    ) -> Result<Option<Alias>, TableError> {
        let mut alias = self.last.get(account).map_or(Alias::FIRST, Alias::next);
        for _ in 0..ALIASES_TRIED_MAX {
            if is_free(tables, account, alias, now)? {
                return Ok(Some(alias));
            }
            alias = alias.next();
        }
        Ok(None)
    }

    pub fn give(
        &mut self,
        tables: &dyn Tables,
        account: AccountId,
        alias: Alias,
        message: MessageId,
    ) -> Result<(), TableError> {
        tables.put_alias(account, alias, message)?;
        self.last.set(account, alias);
        Ok(())
    }

    pub fn write(&self, tables: &dyn Tables) -> Result<(), TableError> {
        self.last.changed().try_for_each(|(account, last)| tables.put_last_alias(account, last))
    }

    pub fn committed(&mut self) {
        self.last.committed();
    }

    pub fn rolled_back(&mut self) {
        self.last.rolled_back();
    }
}

fn is_free(
    tables: &dyn Tables,
    account: AccountId,
    alias: Alias,
    now: Timestamp,
) -> Result<bool, TableError> {
    let Some(message) = tables.aliased_message(account, alias)? else { return Ok(true) };
    let settled_at = tables.message_settled_at(message)?;
    Ok(settled_at.is_some_and(|at| at.plus(REPORT_KEPT) < now))
}

/// The account's message of that name.
pub fn named(
    tables: &dyn Tables,
    account: AccountId,
    name: MessageName,
) -> Result<Option<MessageId>, TableError> {
    match name {
        MessageName::Alias(alias) => tables.aliased_message(account, alias),
        MessageName::Id(id) => Ok(tables.has_message(account, id)?.then_some(id)),
    }
}
