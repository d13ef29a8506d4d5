//! The last ids of rows that are numbered by the engine.

use crate::steps::StepId;
use crate::tables::{StepChange, TableError, Tables};

/// Step ids that one write reserves. A start or rollback continues behind the reserved ids, so that no id is used twice
/// although most steps have no row.
const STEP_IDS_RESERVED: u64 = 100_000;

/// The highest ids of ledger entries, review cases, customers' requests and steps.
pub struct LastIds {
    posting: i64,
    review: u64,
    customer_request: u64,
    step: StepId,
    /// The last step id that needs no further reservation.
    reserved_step: StepId,
}

impl LastIds {
    pub fn load(tables: &Tables<'_>) -> Result<LastIds, TableError> {
        let stored = tables.read()?;
        let reserved_step = stored.reserved_step()?;
        Ok(LastIds {
            posting: stored.last_posting()?,
            review: stored.last_review()?,
            customer_request: stored.last_customer_request()?,
            step: reserved_step,
            reserved_step,
        })
    }

    pub fn next_posting(&mut self) -> i64 {
        self.posting += 1;
        self.posting
    }

    pub fn next_review(&mut self) -> u64 {
        self.review += 1;
        self.review
    }

    pub fn next_customer_request(&mut self) -> u64 {
        self.customer_request += 1;
        self.customer_request
    }

    #[inline]
    pub fn next_step(&mut self, tables: &Tables<'_>) -> StepId {
        if self.step == self.reserved_step {
            self.reserved_step = StepId(self.step.0 + STEP_IDS_RESERVED);
            tables.write(StepChange::Reserved(self.reserved_step));
        }
        self.step = StepId(self.step.0 + 1);
        self.step
    }
}
