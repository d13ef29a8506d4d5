//! Due times that a clock which was ahead has left behind. A gateway that ran with its clock two days ahead and is started
//! again with the right time finds retries due in two days. At the start each is brought back to the longest wait that its
//! own schedule has. A clock that is set while the gateway runs does not matter: see `domain::steady_time`.

use crate::embedded::Embedded;
use crate::fault::StoreFault;
use hermod_domain::lifecycle::{PartState, resend_wait};
use hermod_domain::retry::Schedule;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::PART_REPEATS_KNOWN;
use rusqlite::{Connection, params};
use std::time::Duration;

/// Longest validity that a message can be given.
const VALIDITY_MAX: Duration = Duration::from_secs(72 * 3_600);
/// Times of one batch may be this far apart.
const TOLERANCE: Duration = Duration::from_secs(5);

/// Brings back what the store itself knows the schedule of. To be called before anything is read into memory.
pub(crate) fn bring_back(
    connection: &Connection,
    in_doubt_wait: Duration,
    now: Timestamp,
) -> Result<(), StoreFault> {
    let retry_max = Schedule::after_temporary_error().longest();
    let at = |wait: Duration| now.plus(wait).as_millis();
    let all = connection.unchecked_transaction()?;
    let latest = |statement: &str, wait: Duration| all.execute(statement, [at(wait)]);
    let part = "UPDATE part SET due_at = ?1 WHERE due_at > ?1 AND state = ?2 AND doubts <= ?3";
    let mut parts = all.execute(part, params![at(retry_max), PartState::Queued.to_stored(), u8::MAX])?;
    // The wait for a resend grows with each doubt: the longest first, then those of the parts with fewer doubts.
    for doubts in [u8::MAX, 2, 1] {
        let wait = resend_wait(in_doubt_wait, doubts);
        parts += all.execute(part, params![at(wait), PartState::InDoubt.to_stored(), doubts])?;
    }
    let validity = latest(
        "UPDATE message SET expires_at = ?1 WHERE id IN (SELECT message FROM part WHERE expires_at > ?1)",
        VALIDITY_MAX,
    )? + latest("UPDATE part SET expires_at = ?1 WHERE expires_at > ?1", VALIDITY_MAX)?;
    let inbound = latest("UPDATE inbound_group SET since = ?1 WHERE since > ?1", Duration::ZERO)?
        + latest("UPDATE inbound_seen SET until = ?1 WHERE until > ?1", PART_REPEATS_KNOWN)?;
    let receipts = latest("UPDATE parked SET at = ?1 WHERE at > ?1", Duration::ZERO)?;
    all.commit()?;
    if parts + validity + inbound + receipts > 0 {
        tracing::warn!(
            parts,
            validity,
            inbound,
            receipts,
            "Due times were further away than their schedules allow and are brought back: the clock was ahead before"
        );
    }
    Ok(())
}

impl Embedded {
    /// Brings back webhook events that are due later than their schedule allows. `waits` are the longest wait after each
    /// failure, from the first. Returns how many there were.
    pub async fn limit_webhook_waits(
        &self,
        waits: Vec<Duration>,
        now: Timestamp,
    ) -> Result<usize, StoreFault> {
        let changed = self
            .request(move |batch| {
                let mut changed = 0;
                let waits = std::iter::once(TOLERANCE).chain(waits.iter().copied());
                for (failures, wait) in waits.enumerate() {
                    let due_at = now.plus(wait).as_millis();
                    changed += batch.connection.execute(
                        "UPDATE webhook SET due_at = ?2 WHERE failures = ?1 AND due_at > ?2",
                        params![i64::try_from(failures).unwrap_or(i64::MAX), due_at],
                    )?;
                }
                Ok(changed)
            })
            .await?;
        if changed > 0 {
            tracing::warn!(
                events = changed,
                "Webhook events were due later than their schedule allows and are brought back: the clock was ahead before"
            );
        }
        Ok(changed)
    }
}
