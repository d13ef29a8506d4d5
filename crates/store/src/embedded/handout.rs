//! Giving free slots to waiting parts. The claim is written in the same transaction as everything else, so before a
//! single byte leaves it is durable that it may have.

use crate::embedded::batch::Batch;
use crate::embedded::jobs;
use crate::embedded::progress::{Applied, Place};
use crate::fault::StoreFault;
use crate::lanes::Next;
use crate::ops::{Job, LinkId};
use hermod_domain::ids::PartNo;
use hermod_domain::lifecycle::{self, Event, Progress, Step};
use hermod_domain::time::Timestamp;

/// Parts that come due in one batch; the rest follow in the next.
const DUE_PER_BATCH_MAX: usize = 1_000;

/// A part whose time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lapsed {
    pub place: Place,
    pub part: PartNo,
    pub event: Event,
}

impl Batch<'_> {
    pub(crate) fn hand_out(&mut self) -> Result<(), StoreFault> {
        for carrier in self.books.lanes.sendable() {
            if self.books.deferred.is_full(carrier) {
                continue;
            }
            while let Some(link) = self.books.lanes.roomiest(carrier) {
                match self.books.lanes.next(carrier) {
                    Next::Job(job) => self.claim(link, *job)?,
                    Next::Refill(refill) => {
                        let jobs = jobs::read_waiting(self.connection, refill)?;
                        self.books.lanes.refill(refill, jobs);
                    }
                    Next::Nothing => break,
                }
            }
        }
        Ok(())
    }

    fn claim(&mut self, link: LinkId, job: Job) -> Result<(), StoreFault> {
        if let Some(fresh) = self.fresh_part(&job) {
            let Step::Moved(moved) = lifecycle::apply(&Progress::queued(job.parts), job.part, Event::Claimed)
            else {
                return Err(StoreFault::damaged("a fresh part could not be claimed"));
            };
            fresh.now = *moved.after.parts.get(job.part.index()).expect("the part that was claimed");
            return self.give(link, job);
        }
        let place = Place { carrier: job.carrier, account: job.account, message: job.message };
        if job.expires_at <= self.now {
            return self.apply(place, job.part, Event::ValidityEnded, 0, None).map(|_| ());
        }
        match self.apply(place, job.part, Event::Claimed, 0, None)? {
            Applied::Moved { part, .. } => {
                if part.doubts > 0 {
                    self.tally.resent += 1;
                    self.note(job.message, job.part, "resent", "sent once more after no answer came")?;
                }
                self.give(link, job)
            }
            Applied::Ignored | Applied::Over => Ok(()),
        }
    }

    fn give(&mut self, link: LinkId, job: Job) -> Result<(), StoreFault> {
        self.books.lanes.use_slot(job.carrier, link);
        self.tally.claimed += 1;
        self.handouts.entry(link).or_default().jobs.push(job);
        Ok(())
    }

    /// Puts parts whose waiting time is over in front of their lanes, the longest waiting first.
    pub(crate) fn release_due(&mut self, now: Timestamp) -> Result<(), StoreFault> {
        self.at(now);
        let mut due = Vec::new();
        while due.len() < DUE_PER_BATCH_MAX
            && let Some(next) = self.books.deferred.pop_due(now)
        {
            due.push(next);
        }
        for next in due.into_iter().rev() {
            let place = Place { carrier: next.carrier, account: next.account, message: next.message };
            if let Some(job) = jobs::load(self.connection, place, next.part)? {
                self.books.lanes.put_back(job);
            }
        }
        Ok(())
    }

    pub(crate) fn lapse(&mut self, lapsed: &[Lapsed], now: Timestamp) -> Result<(), StoreFault> {
        self.at(now);
        for Lapsed { place, part, event } in lapsed {
            self.apply(*place, *part, *event, 0, None)?;
            if *event == Event::ValidityEnded {
                self.books.lanes.drop_message(place.carrier, place.account, place.message);
            }
        }
        Ok(())
    }
}
