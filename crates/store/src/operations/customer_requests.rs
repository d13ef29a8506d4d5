//! Operations on customers' requests to the operator. A request is accepted with [`SetupStore::change`](crate::operations::SetupStore::change).

use crate::error::StoreError;
use crate::operations::CustomerRequestStore;
use crate::sql::customer_requests;
use hermod_domain::customer_request::CustomerRequestState;
use hermod_domain::ids::AccountId;
use hermod_engine::ops::{
    CustomerRequest, CustomerRequestEnd, MadeCustomerRequest, NewCustomerRequest, PAGE_ROWS_MAX,
};

impl CustomerRequestStore<'_> {
    /// Stores a request, unless the account has an open one for the same or too many open ones.
    pub async fn make(self, request: NewCustomerRequest) -> Result<MadeCustomerRequest, StoreError> {
        self.0.request(Box::new(request)).await
    }

    /// Ends an open request. Returns whether it was open.
    pub async fn end(self, end: CustomerRequestEnd) -> Result<bool, StoreError> {
        self.0.request(end).await
    }

    /// Returns a request.
    pub async fn find(self, id: u64) -> Result<Option<CustomerRequest>, StoreError> {
        self.0.read(move |database| customer_requests::find(database, id)).await
    }

    /// Returns requests before number `before`, or all, the newest first; of one account or of all, in one state or in any.
    pub async fn list(
        self,
        account: Option<AccountId>,
        state: Option<CustomerRequestState>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<CustomerRequest>, StoreError> {
        self.0
            .read(move |database| {
                customer_requests::page(database, account, state, before, limit.min(PAGE_ROWS_MAX))
            })
            .await
    }
}
