//! Queued parts as jobs.

use super::Rows;
use super::columns::{NO_MESSAGE, stored_number, stored_sender};
use super::messages::open_row;
use super::parts::{lane, waits_for_a_slot};
use hermod_domain::text::MessageText;
use hermod_engine::ops::{CustomerTlvs, Job};
use hermod_engine::tables::{LaneRead, PartRow, Readings, TableError, UnreadablePart, WaitingJob};

/// Returns the next parts of a lane that wait for a slot, in order.
pub(super) fn read_waiting(rows: &Rows, refill: LaneRead) -> Result<Readings<WaitingJob>, TableError> {
    let LaneRead { carrier, account, after, limit } = refill;
    let mut jobs = Readings::default();
    let waiting = lane(rows, carrier, account).filter(|row| waits_for_a_slot(row));
    let waiting = waiting.filter(|row| after.is_none_or(|after| (row.key.message, row.part) > after));
    waiting.take(limit).for_each(|row| sort_in(&mut jobs, row, read_with_progress(rows, row)));
    Ok(jobs)
}

fn read_with_progress(rows: &Rows, row: &PartRow) -> Result<WaitingJob, TableError> {
    let job = read(rows, row)?;
    let origin = rows.message.get(&row.key.message.as_i64()).map(|message| open_row(message).origin);
    Ok(WaitingJob { job, now: row.now, origin })
}

/// Returns a part as a job.
pub(super) fn read(rows: &Rows, row: &PartRow) -> Result<Job, TableError> {
    let message = rows.message.get(&row.key.message.as_i64());
    let message = message.ok_or_else(|| TableError::unreadable(NO_MESSAGE))?;
    let text = message.text.as_deref().unwrap_or_default();
    Ok(Job {
        message: row.key.message,
        part: row.part,
        parts: message.parts,
        account: row.key.account,
        carrier: row.key.carrier,
        from: stored_sender(&message.from)?,
        to: stored_number(message.to)?,
        text: MessageText::parse(text).map_err(TableError::unreadable)?,
        encoding: message.encoding,
        reference: message.reference,
        expires_at: message.expires_at,
        whole: message.whole,
        tlvs: message.tlvs.clone().map(CustomerTlvs),
        options: message.options.clone(),
        price: message.cost,
        fresh: None,
    })
}

/// Adds a read part to the readings; an invalid one to the unreadable parts.
pub(super) fn sort_in<T>(readings: &mut Readings<T>, row: &PartRow, read: Result<T, TableError>) {
    match read {
        Ok(read) => readings.rows.push(read),
        Err(error) => {
            let reason = format!("part {}: {}", row.part.get(), error.into_inner());
            readings.unreadable.push(UnreadablePart { key: row.key.into(), reason });
        }
    }
}
