//! SQL for customers' requests to the operator.

use crate::sql::{Connection, SqlTables, described, params};
use hermod_domain::customer_request::CustomerRequestState;
use hermod_domain::ids::AccountId;
use hermod_engine::ops::CustomerRequest;
use hermod_engine::tables::{CustomerRequestRows, TableError};

impl CustomerRequestRows for SqlTables<'_> {
    fn last_customer_request(&self) -> Result<u64, TableError> {
        let mut last = self.connection.prepare_cached("SELECT coalesce(max(id), 0) FROM customer_request")?;
        Ok(last.query_row([], |row| row.get::<i64>(0))?.cast_unsigned())
    }

    fn customer_request(&self, id: u64) -> Result<Option<CustomerRequest>, TableError> {
        find(self.connection, id)
    }

    fn customer_requests(
        &self,
        account: AccountId,
        limit: usize,
    ) -> Result<Vec<CustomerRequest>, TableError> {
        page(self.connection, Some(account), None, None, u32::try_from(limit).unwrap_or(u32::MAX))
    }
}

/// Returns the request with this id.
pub(crate) fn find(connection: &Connection, id: u64) -> Result<Option<CustomerRequest>, TableError> {
    described::row(connection, "WHERE id = ?1", [stored_id(id)])
}

/// Returns requests before an id, the newest first; of one account or of all, in one state or in any.
pub(crate) fn page(
    connection: &Connection,
    account: Option<AccountId>,
    state: Option<CustomerRequestState>,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<CustomerRequest>, TableError> {
    let of_account = if account.is_some() { "account = ?3 AND" } else { "?3 IS NULL AND" };
    let in_state = if state.is_some() { "state = ?4 AND" } else { "?4 IS NULL AND" };
    let (before, account) = (before.map_or(i64::MAX, stored_id), account.map(AccountId::get));
    let state = state.map(CustomerRequestState::to_stored);
    let rest = format!("WHERE {of_account} {in_state} id < ?1 ORDER BY id DESC LIMIT ?2");
    described::rows(connection, &rest, params![before, limit, account, state])
}

/// Returns the stored form of an id. A number too large for the column matches no request.
fn stored_id(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}
