//! Commands about customers' requests to the operator. A request that is accepted ends with `ChangeCatalogue`.

use crate::batch::Batch;
use crate::commands::Command;
use crate::ops::{CustomerRequestEnd, MadeCustomerRequest, NewCustomerRequest};
use crate::tables::TableError;

impl Command for NewCustomerRequest {
    type Outcome = MadeCustomerRequest;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<MadeCustomerRequest, TableError> {
        batch.make_customer_request(self)
    }
}

impl Command for CustomerRequestEnd {
    /// Whether it was open.
    type Outcome = bool;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<bool, TableError> {
        batch.end_customer_request(self)
    }
}
