//! Commands about balances, the setup, texts that are held for review, and customers' requests to the operator. A request
//! that is accepted ends with `ChangeCatalogue`.

use crate::batch::Batch;
use crate::catalogue;
use crate::commands::Command;
use crate::customer_requests;
use crate::ledger;
use crate::ops::{
    CatalogueChange, CatalogueRefusal, CustomerRequestEnd, LedgerEntry, MadeCustomerRequest,
    NewCustomerRequest, PostOutcome, Screened, Screening,
};
use crate::reviews::{self, OldReviews};
use crate::tables::{ReviewCase, TableError};
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

impl Command for LedgerEntry {
    type Outcome = PostOutcome;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<PostOutcome, TableError> {
        ledger::post(batch, self)
    }
}

impl Command for CatalogueChange {
    /// The refusal of the first ledger entry that cannot be posted.
    type Outcome = Result<(), CatalogueRefusal>;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Result<(), CatalogueRefusal>, TableError> {
        catalogue::change(batch, self)
    }
}

impl Command for Screened {
    type Outcome = Screening;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Screening, TableError> {
        reviews::screen(batch, self)
    }
}

/// Approves or rejects a case. Returns the case; none if there is no such case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecideReview {
    pub id: u64,
    pub approve: bool,
    /// Who decided.
    pub by: String,
    /// The reason that the customer reads; may be empty.
    pub reason: String,
    pub now: Timestamp,
}

impl Command for DecideReview {
    /// Boxed, because a case is larger than all other outcomes.
    type Outcome = Option<Box<ReviewCase>>;

    fn execute(&self, batch: &mut Batch<'_>) -> Result<Option<Box<ReviewCase>>, TableError> {
        let DecideReview { id, approve, by, reason, now } = self;
        Ok(reviews::decide(batch, *id, *approve, (by, reason), *now)?.map(Box::new))
    }
}

/// Deletes those of these cases that are still old.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetReviews {
    pub cases: Vec<u64>,
    pub old: OldReviews,
}

impl Command for ForgetReviews {
    type Outcome = ();

    fn execute(&self, batch: &mut Batch<'_>) -> Result<(), TableError> {
        reviews::forget(batch, &self.cases, self.old)
    }
}

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
