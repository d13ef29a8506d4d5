//! Commands about customers' requests to the operator. A request that is accepted ends with `ChangeCatalogue`.

use crate::batch::Batch;
use crate::commands::Command;
use crate::customer_requests;
use crate::ops::{CustomerRequestEnd, MadeCustomerRequest, NewCustomerRequest};
use crate::tables::TableError;

impl Command for NewCustomerRequest {
    type Outcome = MadeCustomerRequest;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<MadeCustomerRequest, TableError> {
        customer_requests::make(batch, self)
    }
}

impl Command for CustomerRequestEnd {
    /// Whether it was open.
    type Outcome = bool;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<bool, TableError> {
        customer_requests::end(batch, self)
    }
}
