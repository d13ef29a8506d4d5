//! Requests of customers to the operator: made, and ended once. An accepted request ends in the batch that makes its change.

use crate::batch::Batch;
use crate::entry_uses;
use crate::ops::{
    CUSTOMER_REQUESTS_KEPT_MAX, CustomerRequest, CustomerRequestEnd, MadeCustomerRequest, NewCustomerRequest,
    NumberedEntry, OPEN_CUSTOMER_REQUESTS_MAX, Usage,
};
use crate::tables::{RowChange, TableError};
use hermod_domain::customer_request::CustomerRequestState;

/// Stores a request, unless the account has an open one for the same or too many open ones. Deletes the oldest that has
/// ended if the account has the most that are kept.
pub fn make(batch: &mut Batch<'_>, new: &NewCustomerRequest) -> Result<MadeCustomerRequest, TableError> {
    batch.advance_to(new.now);
    let kept = batch.tables.read()?.customer_requests(new.account, CUSTOMER_REQUESTS_KEPT_MAX + 1)?;
    let open = || kept.iter().filter(|request| request.is_open());
    if let Some(same) = open().find(|open| is_same(&open.request, new)) {
        return Ok(MadeCustomerRequest::Same(same.id));
    }
    if open().count() >= OPEN_CUSTOMER_REQUESTS_MAX {
        return Ok(MadeCustomerRequest::TooMany);
    }
    let mut used = vec![NumberedEntry::Account(new.account)];
    used.extend(new.connection.map(NumberedEntry::Connection));
    entry_uses::note_or_refuse(batch, &used, Usage::CustomerRequest)?;
    // The newest come first.
    let mut ended = kept.iter().rev().filter(|request| !request.is_open());
    if kept.len() >= CUSTOMER_REQUESTS_KEPT_MAX
        && let Some(oldest) = ended.next()
    {
        batch.tables.write(RowChange::<CustomerRequest>::Delete((oldest.id,)));
    }
    let id = batch.state.last_ids.next_customer_request();
    batch.tables.write(RowChange::Put(CustomerRequest {
        id,
        request: new.clone(),
        state: CustomerRequestState::Open,
        ended_at: None,
        ended_by: String::new(),
        reason: String::new(),
    }));
    Ok(MadeCustomerRequest::New(id))
}

/// Ends an open request. Returns whether it was open.
pub fn end(batch: &mut Batch<'_>, end: &CustomerRequestEnd) -> Result<bool, TableError> {
    let CustomerRequestEnd { id, state, by, reason, now } = end;
    batch.advance_to(*now);
    let found = batch.tables.read()?.customer_request(*id)?;
    let Some(request) = found.filter(CustomerRequest::is_open) else { return Ok(false) };
    batch.tables.write(RowChange::Put(CustomerRequest {
        state: *state,
        ended_at: Some(*now),
        ended_by: by.clone(),
        reason: reason.clone(),
        ..request
    }));
    Ok(true)
}

/// Whether a request is open.
pub(crate) fn is_open(batch: &Batch<'_>, id: u64) -> Result<bool, TableError> {
    Ok(batch.tables.read()?.customer_request(id)?.is_some_and(|request| request.is_open()))
}

fn is_same(open: &NewCustomerRequest, new: &NewCustomerRequest) -> bool {
    (open.kind, &open.subject, open.connection) == (new.kind, &new.subject, new.connection)
}
