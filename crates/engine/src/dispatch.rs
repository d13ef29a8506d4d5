//! Claims waiting parts for links with free slots. The claim of a part is committed before its bytes are written to the
//! socket. So after a crash every part that may have been sent is known.

use crate::batch::{Batch, RecentMessage};
use crate::maps::HashMap;
use crate::ops::{Job, LinkId};
use crate::progress::Applied;
use crate::state::deferred::{DuePart, NextDue};
use crate::state::lanes::Next;
use crate::steps::StepKind;
use crate::tables::{MessageKey, PartChange, TableError};
use hermod_domain::ids::PartNo;
use hermod_domain::lifecycle::{self, PartEvent, PartState, Progress, Transition};
use hermod_domain::time::Timestamp;

/// Turns of lanes in one batch: each releases one due part or reads the next ones. The rest follow in the next batch.
const DUE_PER_BATCH_MAX: usize = 1_000;
/// Expired parts of one carrier that one batch ends when a link has slots. A queue may have waited for days, and other
/// commands must not wait until all of it has ended.
const EXPIRED_PER_BATCH_MAX: usize = 500;

/// Waiting parts whose messages are read together when the first of them has its turn.
const CLAIMS_READ_AHEAD: usize = 250;

/// The result of a part's turn.
#[derive(PartialEq, Eq)]
enum Claimed {
    /// Its validity had ended: the message is expired.
    Expired,
    Otherwise,
}

impl Batch<'_> {
    /// Claims parts for every carrier that has a link with free slots, and adds them to the handouts of their links.
    /// Ends parts whose validity is over instead of sending them.
    pub fn dispatch_parts(&mut self) -> Result<(), TableError> {
        if self.now == Timestamp::EPOCH {
            // No command of this batch brought a time, and an expired part must not be sent.
            self.now = self.state.last_time;
        }
        self.state.continue_at = None;
        let unreadable = std::mem::take(&mut self.state.unreadable);
        self.set_aside_all(unreadable)?;
        for carrier in self.state.lanes.sendable() {
            let mut expired = 0;
            loop {
                if expired >= EXPIRED_PER_BATCH_MAX {
                    self.state.continue_at = Some(self.now);
                    break;
                }
                match self.state.lanes.next(carrier) {
                    Next::Job(link, job) => {
                        expired += usize::from(self.claim(link, *job)? == Claimed::Expired)
                    }
                    Next::Refill(refill) => {
                        // Part of a long message may be in memory only: its rows must be in the table before the lane
                        // is read.
                        self.write_fresh();
                        let jobs = self.tables.read()?.waiting_jobs(refill)?;
                        if jobs.unreadable.is_empty() {
                            self.state.lanes.refill(refill, jobs.rows);
                        } else {
                            // The lane is read again without the unreadable parts.
                            expired += jobs.unreadable.len();
                            self.set_aside_all(jobs.unreadable)?;
                        }
                    }
                    Next::Nothing => break,
                }
            }
        }
        Ok(())
    }

    fn claim(&mut self, link: LinkId, job: Job) -> Result<Claimed, TableError> {
        if let Some(fresh) = self.fresh_part(&job) {
            let Transition::Changed(moved) =
                lifecycle::apply(&Progress::queued(job.submits()), job.part, PartEvent::Claimed)
            else {
                return Err(TableError::unreadable("a fresh part could not be claimed"));
            };
            fresh.now = *moved.after.parts.get(job.part.index()).expect("the part that was claimed");
            if job.submits() == 1 {
                let report_target = fresh.report_target.clone();
                let known = RecentMessage {
                    account: job.account,
                    carrier: job.carrier,
                    progress: moved.after,
                    report_target,
                };
                self.state.recent_messages.insert(job.message, known);
            }
            self.state.queues.changed(job.carrier, PartState::Queued, PartState::Sending);
            return self.hand_to_link(link, job, 0);
        }
        let key = MessageKey { carrier: job.carrier, account: job.account, message: job.message };
        if !self.state.recent_messages.contains(&job.message) {
            let mut keys = self.state.lanes.upcoming(job.carrier, CLAIMS_READ_AHEAD, self.number);
            keys.retain(|key| !self.state.recent_messages.contains(&key.message));
            keys.push(key);
            self.read_messages_ahead(keys)?;
        }
        if job.expires_at <= self.now {
            self.apply(key, job.part, PartEvent::ValidityEnded, 0, None, Some(StepKind::Expired))?;
            return Ok(Claimed::Expired);
        }
        match self.apply(key, job.part, PartEvent::Claimed, 0, None, None)? {
            Applied::Moved { part, .. } => {
                if part.doubts > 0 {
                    self.tally.doubts.resent += 1;
                }
                self.hand_to_link(link, job, part.doubts)
            }
            Applied::Ignored | Applied::Inactive => Ok(Claimed::Otherwise),
        }
    }

    /// Adds a claimed part to the handout of a link. `resend`: how often it was sent before without a response.
    fn hand_to_link(&mut self, link: LinkId, job: Job, resend: u8) -> Result<Claimed, TableError> {
        let carrier = job.carrier;
        let step = if resend == 0 {
            StepKind::Sent { carrier, link }
        } else {
            StepKind::Resent { carrier, link, resend }
        };
        self.add_step(job.message, job.part, step);
        self.state.lanes.use_slot(job.carrier, link);
        self.tally.claimed += 1;
        self.handouts.entry(link).or_default().jobs.push(job);
        Ok(Claimed::Otherwise)
    }

    /// Puts deferred parts whose time has come back into their lanes, lanes taking turns. From then on they wait for a
    /// slot.
    pub fn release_due(&mut self, now: Timestamp) -> Result<(), TableError> {
        self.advance_to(now);
        let mut turns = self.state.deferred.due_lanes(now);
        let mut due = Vec::new();
        for _ in 0..DUE_PER_BATCH_MAX {
            let Some(lane) = turns.pop_front() else { break };
            match self.state.deferred.next(lane, now) {
                NextDue::Part(part) => due.push(part),
                NextDue::Read(read) => {
                    let found = self.tables.read()?.due_keys(read)?;
                    self.state.deferred.refill(read, found);
                }
                NextDue::Nothing => continue,
            }
            turns.push_back(lane);
        }
        self.release(due)
    }

    /// Puts these parts back into their lanes, except those that do not wait for that time any more.
    fn release(&mut self, due: Vec<DuePart>) -> Result<(), TableError> {
        if due.is_empty() {
            return Ok(());
        }
        let key_of = |due: &DuePart| {
            let DuePart { message, carrier, account, .. } = *due;
            MessageKey { carrier, account, message }
        };
        self.read_messages_ahead(due.iter().map(key_of).collect())?;
        let parts: Vec<_> = due.iter().map(|due| (key_of(due), due.part)).collect();
        let found = self.tables.read()?.waiting_jobs_at(&parts)?;
        let jobs = found.rows.into_iter().map(|job| ((job.carrier, job.message, job.part), job));
        let mut jobs: HashMap<_, Job> = jobs.collect();
        self.set_aside_all(found.unreadable)?;
        for due in due {
            if self.clear_due_time(key_of(&due), due.part, due.at)?
                && let Some(job) = jobs.remove(&(due.carrier, due.message, due.part))
            {
                self.state.lanes.requeue(job);
            }
        }
        Ok(())
    }

    /// Clears the due time of a part. Returns false, and changes nothing, if the part does not wait for that time: its
    /// message has ended, or moved to another carrier and perhaps back.
    fn clear_due_time(
        &mut self,
        key: MessageKey,
        part: PartNo,
        due_at: Timestamp,
    ) -> Result<bool, TableError> {
        let row = self.read_part(key, part)?;
        if row.and_then(|row| row.due_at) != Some(due_at) {
            return Ok(false);
        }
        self.tables.write(PartChange::DueTime { key, part, due_at: None });
        Ok(true)
    }
}
