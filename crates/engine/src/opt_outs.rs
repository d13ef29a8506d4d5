//! Opts recipients out of an account's messages, and in again.

use crate::batch::Batch;
use crate::entry_uses;
use crate::ops::{NumberedEntry, Usage};
use crate::tables::{OptOut, RowChange, TableError};
use hermod_domain::ids::AccountId;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;

/// Opts a recipient out. Returns whether that is new; an earlier opt-out stays as it is.
pub fn add(batch: &mut Batch<'_>, entry: &OptOut) -> Result<bool, TableError> {
    batch.advance_to(entry.now);
    let is_new = batch.tables.read()?.opted_out_at(entry.account, entry.number)?.is_none();
    if is_new {
        entry_uses::note_or_refuse(batch, &[NumberedEntry::Account(entry.account)], Usage::OptOut)?;
        batch.tables.write(RowChange::Add(entry.clone()));
    }
    batch.state.opt_outs.add(entry.account);
    Ok(is_new)
}

/// Opts a recipient in again. Returns whether the recipient had opted out.
pub fn remove(batch: &mut Batch<'_>, account: AccountId, number: Msisdn) -> Result<bool, TableError> {
    let was_out = batch.tables.read()?.opted_out_at(account, number)?.is_some();
    if was_out {
        batch.tables.write(RowChange::<OptOut>::Delete((account, number)));
    }
    Ok(was_out)
}

/// Opts a recipient in again, unless the recipient opted out after `at`. Returns whether it did.
pub fn remove_older(
    batch: &mut Batch<'_>,
    account: AccountId,
    number: Msisdn,
    at: Timestamp,
) -> Result<bool, TableError> {
    let was_out = batch.tables.read()?.opted_out_at(account, number)?.is_some_and(|out_at| out_at <= at);
    if was_out {
        batch.tables.write(RowChange::<OptOut>::Delete((account, number)));
    }
    Ok(was_out)
}
