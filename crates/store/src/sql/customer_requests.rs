//! SQL for customers' requests to the operator.

use crate::sql::SqlTables;
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::customer_request::{CustomerRequestKind, CustomerRequestState};
use hermod_domain::ids::{AccountId, ConnectionId};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{CustomerRequest, NewCustomerRequest};
use hermod_engine::tables::{CustomerRequestChange, CustomerRequestRows, TableError};

/// The columns in the order that [`read`] expects.
const COLUMNS: &str =
    "id, account, kind, subject, connection, details, author, made_at, state, ended_at, ended_by, reason";

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

    fn change_customer_request(&self, change: &CustomerRequestChange) -> Result<(), TableError> {
        match change {
            CustomerRequestChange::Put(request) => self.put_customer_request(request),
            CustomerRequestChange::Delete(id) => {
                self.connection
                    .prepare_cached("DELETE FROM customer_request WHERE id = ?1")?
                    .execute([stored_id(*id)])?;
                Ok(())
            }
        }
    }
}

impl SqlTables<'_> {
    fn put_customer_request(&self, row: &CustomerRequest) -> Result<(), TableError> {
        let CustomerRequest { id, request, state, ended_at, ended_by, reason } = row;
        let NewCustomerRequest { account, kind, subject, connection, details, by, now } = request;
        self.connection
            .prepare_cached(&format!(
                "INSERT INTO customer_request ({COLUMNS})
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
                 ON CONFLICT (id) DO UPDATE SET state = excluded.state, ended_at = excluded.ended_at,
                     ended_by = excluded.ended_by, reason = excluded.reason"
            ))?
            .execute(params![
                stored_id(*id),
                account.get(),
                kind.to_stored(),
                subject,
                connection.map(ConnectionId::get),
                details,
                by,
                now.as_millis(),
                state.to_stored(),
                ended_at.map(Timestamp::as_millis),
                ended_by,
                reason
            ])?;
        Ok(())
    }
}

/// Returns the request with this id.
pub(crate) fn find(connection: &Connection, id: u64) -> Result<Option<CustomerRequest>, TableError> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM customer_request WHERE id = ?1"))?
        .query_row([stored_id(id)], |row| Ok(read(row)))
        .optional()?
        .transpose()
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
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM customer_request WHERE {of_account} {in_state} id < ?1 ORDER BY id DESC LIMIT ?2"
    ))?;
    let (before, account) = (before.map_or(i64::MAX, stored_id), account.map(AccountId::get));
    let state = state.map(CustomerRequestState::to_stored);
    let rows = statement.query_map(params![before, limit, account, state], |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
}

/// Returns the stored form of an id. A number too large for the column matches no request.
fn stored_id(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}

fn read(row: &Row<'_>) -> Result<CustomerRequest, TableError> {
    let (kind, state): (i64, i64) = (row.get(2)?, row.get(8)?);
    let unknown = |number: i64, what: &str| {
        TableError::unreadable(format!("{number} is not a {what} of a customer's request"))
    };
    Ok(CustomerRequest {
        id: row.get::<i64>(0)?.cast_unsigned(),
        request: NewCustomerRequest {
            account: AccountId::new(row.get(1)?),
            kind: CustomerRequestKind::from_stored(kind).ok_or_else(|| unknown(kind, "kind"))?,
            subject: row.get(3)?,
            connection: row.get::<Option<u32>>(4)?.map(ConnectionId::new),
            details: row.get(5)?,
            by: row.get(6)?,
            now: Timestamp::from_millis(row.get(7)?),
        },
        state: CustomerRequestState::from_stored(state).ok_or_else(|| unknown(state, "state"))?,
        ended_at: row.get::<Option<i64>>(9)?.map(Timestamp::from_millis),
        ended_by: row.get(10)?,
        reason: row.get(11)?,
    })
}
