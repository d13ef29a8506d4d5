//! Parts that a carrier took without giving them a usable id. They are never resent; a receipt that no id matches is
//! matched to one of them by the recipient's number and the time, where exactly one part qualifies.

use crate::embedded::batch::Batch;
use crate::embedded::progress::Applied;
use crate::embedded::receipts::is_final;
use crate::embedded::remote_days::DAYS_KEPT;
use crate::embedded::remotes::{PartKey, Tie};
use crate::fault::StoreFault;
use crate::sqlite::columns::{message_and_part, stored_number};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, CarrierId, PartNo};
use hermod_domain::lifecycle::Event;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::ReceiptRecord;
use hermod_engine::tables::Place;
use rusqlite::{Connection, params};
use std::time::Duration;

/// By how much a receipt may overtake its answer: as long as answers are waited for.
const OVERTAKES_BY_MAX: Duration = Duration::from_secs(60);
/// Parts to one number that are looked at. Beyond that no receipt could be told apart anyway.
const SAME_NUMBER_MAX: usize = 64;

/// A part that a receipt may be about.
struct Candidate {
    tie: Tie,
    from: Sender,
}

impl Batch<'_> {
    /// The carrier took a part and gave it no usable id.
    pub(crate) fn accepted_without_id(
        &mut self,
        place: Place,
        part: PartNo,
        to: Msisdn,
    ) -> Result<(), StoreFault> {
        match self.apply(place, part, Event::Accepted, 0, None)? {
            Applied::Moved { .. } => {}
            Applied::Over => return Ok(self.latecomer(place, part, "taken without an id")?),
            Applied::Ignored => return Ok(()),
        }
        let Place { carrier, account, message } = place;
        self.books.delivery.sent(carrier, to, self.now.day());
        self.note(message, part, "no_carrier_id", "taken without a usable message id")?;
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO unnamed (carrier, dest, message, part, account, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                carrier.get(),
                to.number().cast_signed(),
                message.as_i64(),
                part.get(),
                account.get(),
                self.now.as_millis()
            ])?;
        self.match_overtaking(carrier, to)
    }

    /// A receipt may overtake the answer that gives no id. It waits under its own id then.
    fn match_overtaking(&mut self, carrier: CarrierId, to: Msisdn) -> Result<(), StoreFault> {
        if self.books.parked.count(carrier) == 0 {
            return Ok(());
        }
        let since = self.now.minus(OVERTAKES_BY_MAX);
        let waiting = self.books.parked.lately_about(self.connection, carrier, to, since)?;
        let [receipt] = &waiting[..] else { return Ok(()) };
        let record = ReceiptRecord {
            sequence: 0,
            remote: Some(receipt.remote.clone()),
            verdict: receipt.verdict,
            err: receipt.err,
            word: receipt.word.clone(),
            source: receipt.source,
            sender: None,
        };
        if self.match_by_number(carrier, &record)?.is_some() {
            // Its id is tied to the part now.
            self.try_again(carrier, IdConversion::None, receipt)?;
        }
        Ok(())
    }

    /// Returns the one part without an id that a receipt can be about. Ties the receipt's id to it, so that whatever the
    /// carrier says about it next, a repetition above all, is found by that id.
    pub(crate) fn match_by_number(
        &mut self,
        carrier: CarrierId,
        record: &ReceiptRecord,
    ) -> Result<Option<Tie>, StoreFault> {
        let Some(to) = record.source else { return Ok(None) };
        let Some(tie) = only_one(candidates(self.connection, carrier, to)?, record.sender.as_ref()) else {
            return Ok(None);
        };
        if let Some(remote) = &record.remote {
            self.books.remotes.tie(self.connection, carrier, remote, tie)?;
        }
        if record.remote.is_some() || is_final(record.verdict) {
            let PartKey { message, part, .. } = tie.part;
            self.connection
                .prepare_cached(
                    "DELETE FROM unnamed WHERE carrier = ?1 AND dest = ?2 AND message = ?3 AND part = ?4",
                )?
                .execute(params![carrier.get(), to.number().cast_signed(), message.as_i64(), part.get()])?;
        }
        self.tally.receipts_by_number += 1;
        Ok(Some(tie))
    }
}

fn candidates(connection: &Connection, carrier: CarrierId, to: Msisdn) -> Result<Vec<Candidate>, StoreFault> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT u.message, u.part, u.account, u.dest, u.at, m.source FROM unnamed u JOIN message m ON m.id = u.message
         WHERE u.carrier = ?1 AND u.dest = ?2 ORDER BY u.message LIMIT {SAME_NUMBER_MAX}"
    ))?;
    let mut rows = statement.query(params![carrier.get(), to.number().cast_signed()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (message, part) = message_and_part(row, 0, 1)?;
        let at = Timestamp::from_millis(row.get(4)?);
        let tie = Tie {
            part: PartKey { account: AccountId::new(row.get(2)?), message, part },
            to: Some(stored_number(row.get(3)?)?),
            at: Some(at),
            day: at.day(),
        };
        let from: String = row.get(5)?;
        found.push(Candidate { tie, from: Sender::parse(&from).map_err(StoreFault::damaged)? });
    }
    Ok(found)
}

/// The sender narrows the choice where a receipt names one that was written as the customer had it. Carriers may have
/// been given another one, so a sender that fits none excludes none.
fn only_one(candidates: Vec<Candidate>, sender: Option<&Sender>) -> Option<Tie> {
    if candidates.len() == SAME_NUMBER_MAX {
        return None;
    }
    let same = |candidate: &&Candidate| {
        sender.is_some_and(|sender| sender.address().eq_ignore_ascii_case(candidate.from.address()))
    };
    let narrowed: Vec<&Candidate> = candidates.iter().filter(same).collect();
    let left = if narrowed.is_empty() { candidates.iter().collect() } else { narrowed };
    match left[..] {
        [one] => Some(one.tie),
        _ => None,
    }
}

/// Forgets parts whose receipts are not waited for any more.
pub(crate) fn drop_before(connection: &Connection, today: Day) -> Result<(), StoreFault> {
    let oldest_ms = (today.get() - DAYS_KEPT).saturating_mul(86_400_000);
    connection.prepare_cached("DELETE FROM unnamed WHERE at < ?1")?.execute([oldest_ms])?;
    Ok(())
}
