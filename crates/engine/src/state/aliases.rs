//! Aliases: short message ids for binds whose ids have at most eight characters. Each account has its own, assigned in
//! order. After a whole round an alias is reused only if its message ended so long ago that no report about it is left.

use crate::ops::REPORT_KEPT;
use crate::state::overlay::Overlay;
use crate::tables::{AliasRow, LastAlias, RowChange, TableError, Tables};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::origin::{Alias, MessageName};
use hermod_domain::time::Timestamp;

/// Aliases that are tried before a message is refused because none is free.
const ALIASES_TRIED_MAX: u32 = 64;

/// The alias that was last assigned in each account.
pub struct Aliases {
    last: Overlay<Alias>,
}

impl Aliases {
    pub fn load(tables: &Tables<'_>) -> Result<Aliases, TableError> {
        Ok(Aliases { last: Overlay::over(tables.read()?.last_aliases()?.into_iter().collect()) })
    }

    /// Returns the first free alias behind the last one; none if too many in a row are in use. Writes nothing.
    pub fn find(
        &self,
        tables: &Tables<'_>,
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

    /// Assigns an alias to a message.
    pub fn give(&mut self, tables: &Tables<'_>, account: AccountId, alias: Alias, message: MessageId) {
        tables.write(RowChange::Put(AliasRow { account, alias, message }));
        self.last.set(account, alias);
    }

    /// Writes the last alias of each account that got one.
    pub fn write(&self, tables: &Tables<'_>) {
        let changed = self.last.changed();
        changed.for_each(|(account, last)| tables.write(RowChange::Put(LastAlias { account, last })));
    }

    /// Returns the last alias of each account, in order.
    pub fn rows(&self) -> Vec<(AccountId, Alias)> {
        self.last.rows()
    }

    pub fn committed(&mut self) {
        self.last.committed();
    }

    pub fn rolled_back(&mut self) {
        self.last.rolled_back();
    }
}

/// Whether an alias has no message, or one that ended more than [`REPORT_KEPT`] ago.
fn is_free(
    tables: &Tables<'_>,
    account: AccountId,
    alias: Alias,
    now: Timestamp,
) -> Result<bool, TableError> {
    let Some(message) = tables.read()?.aliased_message(account, alias)? else { return Ok(true) };
    let settled_at = tables.read()?.message_settled_at(message)?;
    Ok(settled_at.is_some_and(|at| at.plus(REPORT_KEPT) < now))
}

/// Returns the account's message with this id or alias.
pub fn named(
    tables: &Tables<'_>,
    account: AccountId,
    name: MessageName,
) -> Result<Option<MessageId>, TableError> {
    match name {
        MessageName::Alias(alias) => tables.read()?.aliased_message(account, alias),
        MessageName::Id(id) => Ok(tables.read()?.has_message(account, id)?.then_some(id)),
    }
}
