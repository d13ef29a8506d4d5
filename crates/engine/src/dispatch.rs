//! Claims waiting parts for links with free slots. The claim of a part is committed before its bytes are written to the
//! socket. So after a crash every part that may have been sent is known.

use crate::batch::{Batch, RecentMessage};
use crate::maps::HashMap;
use crate::ops::{Job, LinkId};
use crate::progress::{self, Applied};
use crate::read_ahead;
use crate::set_aside;
use crate::state::deferred::{DuePart, NextDue};
use crate::state::lanes::{Next, REFILL_MIN};
use crate::state::queues::QueueOwner;
use crate::state::report_target::ReportTarget;
use crate::steps::StepKind;
use crate::tables::{LaneRead, MessageKey, PartChange, TableError, WaitingJob};
use hermod_domain::ids::PartNo;
use hermod_domain::lifecycle::{self, MessageState, PartEvent, PartState, Parts, Progress, Transition};
use hermod_domain::time::Timestamp;

/// Turns of lanes in one batch: each releases one due part or reads the next ones. The rest follow in the next batch.
const DUE_PER_BATCH_MAX: usize = 1_000;
/// Expired parts of one carrier that one batch ends when a link has slots. A queue may have waited for days, and other
/// commands must not wait until all of it has ended.
const EXPIRED_PER_BATCH_MAX: usize = 500;

/// Waiting parts whose messages are read together when the first of them has its turn.
const CLAIMS_READ_AHEAD: usize = 100;

/// The result of a part's turn.
#[derive(PartialEq, Eq)]
enum Claimed {
    /// It was accepted in this batch.
    Fresh,
    Stored,
    /// Its validity had ended: the message is expired.
    Expired,
}

/// Claims parts for every carrier that has a link with free slots, and adds them to the handouts of their links.
/// Ends parts whose validity is over instead of sending them.
pub fn claim_parts(batch: &mut Batch<'_>) -> Result<(), TableError> {
    if batch.now == Timestamp::EPOCH {
        // No command of this batch brought a time, and an expired part must not be sent.
        batch.now = batch.state.last_time;
    }
    batch.state.continue_at = None;
    batch.state.claims_left = false;
    let unreadable = std::mem::take(&mut batch.state.unreadable);
    set_aside::messages(batch, unreadable)?;
    let stored_max = batch.state.stored_claims_max.max(2 * batch.accepted_parts);
    for carrier in batch.state.lanes.sendable() {
        let (mut stored, mut expired) = (0, 0);
        loop {
            if expired >= EXPIRED_PER_BATCH_MAX {
                batch.state.continue_at = Some(batch.now);
                break;
            }
            if stored >= stored_max {
                batch.state.claims_left = true;
                break;
            }
            match batch.state.lanes.next(carrier) {
                Next::Job(link, job) => match claim(batch, link, *job)? {
                    Claimed::Fresh => {}
                    Claimed::Stored => stored += 1,
                    Claimed::Expired => expired += 1,
                },
                Next::Refill(refill) => {
                    let claims_left = usize::try_from(stored_max - stored).unwrap_or(usize::MAX);
                    let refill = LaneRead { limit: refill.limit.min(claims_left.max(REFILL_MIN)), ..refill };
                    // Part of a long message may be in memory only: its rows must be in the table before the lane
                    // is read.
                    batch.write_fresh();
                    let jobs = batch.tables.read()?.waiting_jobs(refill)?;
                    if jobs.unreadable.is_empty() {
                        let jobs = jobs.rows.into_iter().map(|waiting| remember(batch, waiting)).collect();
                        batch.state.lanes.refill(refill, jobs);
                    } else {
                        // The lane is read again without the unreadable parts.
                        expired += jobs.unreadable.len();
                        set_aside::messages(batch, jobs.unreadable)?;
                    }
                }
                Next::Nothing => break,
            }
        }
    }
    Ok(())
}

/// Adds the message of a part that was read to the recent ones, if it has no other part. Returns the part.
fn remember(batch: &mut Batch<'_>, WaitingJob { job, now, origin }: WaitingJob) -> Job {
    if job.submits() == 1 && !batch.state.recent_messages.contains(&job.message) {
        let progress = Progress::of(MessageState::Queued, Parts::from_slice(&[now]));
        let report_target = origin.map_or(ReportTarget::Unread, |origin| ReportTarget::of_row(Some(origin)));
        let known = RecentMessage { account: job.account, carrier: job.carrier, progress, report_target };
        batch.state.recent_messages.insert(job.message, known);
    }
    job
}

fn claim(batch: &mut Batch<'_>, link: LinkId, job: Job) -> Result<Claimed, TableError> {
    if let Some(fresh) = batch.fresh_part(&job) {
        let Transition::Changed(moved) =
            lifecycle::apply(&Progress::queued(job.submits()), job.part, PartEvent::Claimed)
        else {
            return Err(TableError::unreadable("a fresh part could not be claimed"));
        };
        fresh.now = *moved.after.parts.get(job.part.index()).expect("the part that was claimed");
        if fresh.is_only {
            let known = fresh.known();
            batch.state.recent_messages.insert(job.message, known);
        }
        let owner = QueueOwner { carrier: job.carrier, account: job.account };
        batch.state.queues.changed(owner, PartState::Queued, PartState::Sending);
        hand_to_link(batch, link, job, 0);
        return Ok(Claimed::Fresh);
    }
    let key = MessageKey { carrier: job.carrier, account: job.account, message: job.message };
    if !batch.state.recent_messages.contains(&job.message) {
        let mut keys = batch.state.lanes.upcoming(job.carrier, CLAIMS_READ_AHEAD, batch.number);
        keys.retain(|key| !batch.state.recent_messages.contains(&key.message));
        keys.push(key);
        read_ahead::messages(batch, keys)?;
    }
    if job.expires_at <= batch.now {
        progress::apply(batch, key, job.part, PartEvent::ValidityEnded, 0, None, Some(StepKind::Expired))?;
        return Ok(Claimed::Expired);
    }
    if let Applied::Moved { part, .. } =
        progress::apply(batch, key, job.part, PartEvent::Claimed, 0, None, None)?
    {
        if part.doubts > 0 {
            batch.results.tally.resent += 1;
        }
        hand_to_link(batch, link, job, part.doubts);
    }
    batch.stored_claims += 1;
    Ok(Claimed::Stored)
}

/// Adds a claimed part to the handout of a link. `resend`: how often it was sent before without a response.
fn hand_to_link(batch: &mut Batch<'_>, link: LinkId, job: Job, resend: u8) {
    let carrier = job.carrier;
    let number = batch.state.lanes.use_slot(carrier, link);
    let step = if resend == 0 {
        StepKind::Sent { carrier, link: number }
    } else {
        StepKind::Resent { carrier, link: number, resend }
    };
    batch.add_step(job.message, job.part, step);
    batch.results.tally.claimed += 1;
    batch.results.handouts.entry(link).or_default().jobs.push(job);
}

/// Puts deferred parts whose time has come back into their lanes, lanes taking turns. From then on they wait for a
/// slot.
pub fn release_due(batch: &mut Batch<'_>, now: Timestamp) -> Result<(), TableError> {
    batch.advance_to(now);
    let mut turns = batch.state.deferred.due_lanes(now);
    let mut due = Vec::new();
    for _ in 0..DUE_PER_BATCH_MAX {
        let Some(lane) = turns.pop_front() else { break };
        match batch.state.deferred.next(lane, now) {
            NextDue::Part(part) => due.push(part),
            NextDue::Read(read) => {
                let found = batch.tables.read()?.due_keys(read)?;
                batch.state.deferred.refill(read, found);
            }
            NextDue::Nothing => continue,
        }
        turns.push_back(lane);
    }
    release(batch, due)
}

/// Puts these parts back into their lanes, except those that do not wait for that time any more.
fn release(batch: &mut Batch<'_>, due: Vec<DuePart>) -> Result<(), TableError> {
    if due.is_empty() {
        return Ok(());
    }
    let key_of = |due: &DuePart| {
        let DuePart { message, carrier, account, .. } = *due;
        MessageKey { carrier, account, message }
    };
    read_ahead::messages(batch, due.iter().map(key_of).collect())?;
    let parts: Vec<_> = due.iter().map(|due| (key_of(due), due.part)).collect();
    let found = batch.tables.read()?.waiting_jobs_at(&parts)?;
    let jobs = found.rows.into_iter().map(|job| ((job.carrier, job.message, job.part), job));
    let mut jobs: HashMap<_, Job> = jobs.collect();
    set_aside::messages(batch, found.unreadable)?;
    for due in due {
        if clear_due_time(batch, key_of(&due), due.part, due.at)?
            && let Some(job) = jobs.remove(&(due.carrier, due.message, due.part))
        {
            batch.state.lanes.requeue(job);
        }
    }
    Ok(())
}

/// Clears the due time of a part. Returns false, and changes nothing, if the part does not wait for that time: its
/// message has ended, or moved to another carrier and perhaps back.
fn clear_due_time(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
    due_at: Timestamp,
) -> Result<bool, TableError> {
    let row = set_aside::read_part(batch, key, part)?;
    if row.and_then(|row| row.due_at) != Some(due_at) {
        return Ok(false);
    }
    batch.tables.write(PartChange::DueTime { key, part, due_at: None });
    Ok(true)
}
