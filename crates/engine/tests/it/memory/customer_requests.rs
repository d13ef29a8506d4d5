//! Requests of customers to the operator.

use super::MemoryTables;
use hermod_domain::ids::AccountId;
use hermod_engine::ops::CustomerRequest;
use hermod_engine::tables::{CustomerRequestRows, TableError};

impl CustomerRequestRows for MemoryTables {
    fn last_customer_request(&self) -> Result<u64, TableError> {
        Ok(self.read().customer_request.last_key_value().map_or(0, |((id,), _)| *id))
    }

    fn customer_request(&self, id: u64) -> Result<Option<CustomerRequest>, TableError> {
        Ok(self.read().customer_request.get(&(id,)).map(|row| (**row).clone()))
    }

    fn customer_requests(
        &self,
        account: AccountId,
        limit: usize,
    ) -> Result<Vec<CustomerRequest>, TableError> {
        let rows = self.read();
        let own = rows.customer_request.values().rev().filter(|row| row.request.account == account);
        Ok(own.take(limit).map(|row| (**row).clone()).collect())
    }
}
