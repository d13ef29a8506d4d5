//! Stores MO messages for their accounts. Each account numbers its messages from 1. The writer assigns the numbers and
//! commits them in order, so a reader that has seen a number has seen all lower ones.

use crate::batch::Batch;
use crate::ops::{Inbound, InboundRecord};
use crate::tables::{InboundChange, InboundCounter, InboundRow, TableError};
use crate::webhooks;

/// Stores an MO message that no carrier delivered.
pub fn receive(batch: &mut Batch<'_>, inbound: &Inbound) -> Result<InboundRecord, TableError> {
    let Inbound { account, from, to, text, received_at } = inbound;
    batch.advance_to(*received_at);
    let message = batch.state.mint.mint(*received_at);
    let (account, received_at) = (*account, *received_at);
    add(
        batch,
        InboundRow {
            account,
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

/// Stores an MO message under the account's next number, with its webhook event.
pub fn add(batch: &mut Batch<'_>, row: InboundRow) -> Result<InboundRecord, TableError> {
    let InboundRow { account, message, received_at, .. } = row;
    let counter = match batch.tables.read()?.inbound_counter(account)? {
        Some(InboundCounter { last, newest }) => {
            InboundCounter { last: last + 1, newest: newest.max(message) }
        }
        None => InboundCounter { last: 1, newest: message },
    };
    let id = counter.last;
    batch.tables.write(InboundChange::Counter { account, counter });
    let record = InboundRecord {
        id,
        message,
        from: row.from.clone(),
        to: row.to.clone(),
        text: row.text.clone(),
        received_at,
    };
    batch.tables.write(InboundChange::Add { id, row: Box::new(row) });
    webhooks::add_inbound(batch, account, id, message, received_at)?;
    Ok(record)
}
