//! Stores MO messages for their accounts. Each account numbers its messages from 1. The writer assigns the numbers and
//! commits them in order, so a reader that has seen a number has seen all lower ones.

use crate::batch::Batch;
use crate::entry_uses;
use crate::ops::{Inbound, InboundRecord, NumberedEntry, Usage};
use crate::tables::{InboundCounter, InboundRow, RowChange, TableError};
use crate::webhooks;

/// Stores an MO message that no carrier delivered.
pub fn receive(batch: &mut Batch<'_>, inbound: &Inbound) -> Result<InboundRecord, TableError> {
    let Inbound { account, from, to, text, received_at } = inbound;
    entry_uses::check_present(batch, NumberedEntry::Account(*account))?;
    batch.advance_to(*received_at);
    let message = batch.state.mint.mint(*received_at);
    let (account, received_at) = (*account, *received_at);
    add(
        batch,
        InboundRow {
            account,
            id: 0,
            message,
            from: from.clone(),
            to: to.clone(),
            text: text.clone(),
            wire: None,
            missing: 0,
            received_at,
        },
    )
}

/// Stores an MO message of an account that was not removed, under the account's next number, with its webhook event.
pub fn add(batch: &mut Batch<'_>, row: InboundRow) -> Result<InboundRecord, TableError> {
    let InboundRow { account, message, received_at, .. } = row;
    entry_uses::note(batch, NumberedEntry::Account(account), Usage::InboundMessage);
    let before = batch.tables.read()?.inbound_counter(account)?;
    let id = before.map_or(0, |before| before.last) + 1;
    let newest = before.map_or(message, |before| before.newest.max(message));
    batch.tables.write(RowChange::Put(InboundCounter { account, last: id, newest }));
    let record = InboundRecord {
        id,
        message,
        from: row.from.clone(),
        to: row.to.clone(),
        text: row.text.clone(),
        received_at,
    };
    batch.tables.write(RowChange::Add(InboundRow { id, ..row }));
    webhooks::add_inbound(batch, account, id, message, received_at)?;
    Ok(record)
}
