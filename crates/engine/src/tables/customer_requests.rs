//! The table of customers' requests to the operator.

use crate::ops::CustomerRequest;
use crate::tables::TableError;
use hermod_domain::ids::AccountId;
use serde::{Deserialize, Serialize};

/// A change of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum CustomerRequestChange {
    /// A new request, or another state of one.
    Put(CustomerRequest),
    Delete(u64),
}

/// Reads and writes customers' requests.
pub trait CustomerRequestRows {
    /// Returns the highest id; 0 if there is none. The newest request is never deleted, so ids are not used twice.
    fn last_customer_request(&self) -> Result<u64, TableError>;

    fn customer_request(&self, id: u64) -> Result<Option<CustomerRequest>, TableError>;

    /// Returns the requests of an account, the newest first, at most `limit`.
    fn customer_requests(&self, account: AccountId, limit: usize)
    -> Result<Vec<CustomerRequest>, TableError>;

    /// Applies a change.
    fn change_customer_request(&self, change: &CustomerRequestChange) -> Result<(), TableError>;
}
