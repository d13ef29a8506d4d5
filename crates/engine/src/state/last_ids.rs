//! The ids that were given last, for rows that have no key of their own.

use crate::tables::{TableError, Tables};

/// The highest ids of postings, cases of review, and lines of timelines.
pub struct LastIds {
    posting: i64,
    review: u64,
    timeline: i64,
}

impl LastIds {
    pub fn load(tables: &Tables<'_>) -> Result<LastIds, TableError> {
        let stored = tables.read()?;
        Ok(LastIds {
            posting: stored.last_posting()?,
            review: stored.last_review()?,
            timeline: stored.last_timeline_id()?,
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

    pub fn next_timeline(&mut self) -> i64 {
        self.timeline += 1;
        self.timeline
    }
}
