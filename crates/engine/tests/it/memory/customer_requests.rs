//! Requests of customers to the operator.

use super::MemoryTables;
use hermod_domain::ids::AccountId;
use hermod_engine::ops::CustomerRequest;
use hermod_engine::tables::{CustomerRequestChange, CustomerRequestRows, TableError};

impl CustomerRequestRows for MemoryTables {
    fn last_customer_request(&self) -> Result<u64, TableError> {
        Ok(self.read().customer_request.last_key_value().map_or(0, |(id, _)| *id))
    }

    fn customer_request(&self, id: u64) -> Result<Option<CustomerRequest>, TableError> {
        Ok(self.read().customer_request.get(&id).cloned())
    }

    fn customer_requests(
        &self,
        account: AccountId,
        limit: usize,
    ) -> Result<Vec<CustomerRequest>, TableError> {
        let rows = self.read();
        let own = rows.customer_request.values().rev().filter(|row| row.request.account == account);
        Ok(own.take(limit).cloned().collect())
    }

    fn change_customer_request(&self, change: &CustomerRequestChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            CustomerRequestChange::Put(request) => rows.customer_request.put(request.id, request.clone()),
            CustomerRequestChange::Delete(id) => drop(rows.customer_request.delete(id)),
        }
        Ok(())
    }
}
