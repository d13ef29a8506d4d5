//! What has to be done from time to time: release parts whose waiting time is over, end what has outlived its validity,
//! look at the disk, build key filters, drop old days and cases. The caller owns the clock and says when.

use crate::embedded::Embedded;
use crate::embedded::handout::Lapsed;
use crate::embedded::keys;
use crate::embedded::op::{Change, Op};
use crate::embedded::shared::LogSize;
use crate::fault::StoreFault;
use crate::sqlite::columns::{message_and_part, stored_state};
use hermod_domain::ids::{AccountId, CarrierId};
use hermod_domain::lifecycle::{Event, PartState};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::DiskSpace;
use hermod_engine::tables::Place;
use rusqlite::{Connection, params};
use std::sync::Arc;
use std::time::Duration;

/// Rows looked at in one read, so that no snapshot lasts long.
const SWEEP_ROWS: usize = 5_000;
/// Parts ended in one transaction.
const LAPSE_PARTS: usize = 500;

type Position = (u32, u32, i64, u8);

impl Embedded {
    /// To be called often (several times a second). Cheap when there is nothing to do.
    pub async fn tick(&self, now: Timestamp) -> Result<(), StoreFault> {
        let outboxes = &self.inner.shared.outboxes;
        self.inner.shared.ticks(now);
        outboxes.tick(now);
        while outboxes.has_left_over() {
            let place = self.inner.queue.reserve().await.map_err(|_| StoreFault::Closed)?;
            if let Some(ends) = outboxes.left_over() {
                place.send(Op::Reports(ends));
            }
        }
        if self.inner.shared.is_due(now) {
            self.inner.queue.send(Op::Due(now)).await.map_err(|_| StoreFault::Closed)?;
        }
        self.tell_absent_by_webhook(now).await;
        Ok(())
    }

    /// Measures the free disk space, and closes or opens the door accordingly.
    pub fn look_at_disk(&self) {
        self.inner.shared.look_at_disk();
    }

    /// The size of the write-ahead log, as of the last second.
    pub fn log_size(&self) -> LogSize {
        self.inner.shared.log_size()
    }

    /// What the last measurement found.
    pub fn disk_space(&self) -> DiskSpace {
        self.inner.shared.disk_space()
    }

    /// Ends what has outlived its validity, marks what got no receipt in time, and gives up reports that nobody took. Walks over every part that has not
    /// ended: no index is kept for it, because that would cost every message a write and this costs a scan a minute.
    ///
    /// `waits`: how long after its validity a carrier's receipt is still waited for before the message is reported
    /// UNKNOWN.
    pub async fn sweep(
        &self,
        now: Timestamp,
        waits: impl Fn(CarrierId) -> Duration + Send + Sync + 'static,
    ) -> Result<usize, StoreFault> {
        let waits = Arc::new(waits);
        let mut position: Option<Position> = None;
        let mut ended = 0;
        loop {
            let waits = waits.clone();
            let page = self
                .inner
                .readers
                .run(move |connection| read_page(connection, position, now, waits.as_ref()))
                .await?;
            ended += page.lapsed.len();
            for chunk in page.lapsed.chunks(LAPSE_PARTS) {
                self.change(Change::Lapse(chunk.to_vec(), now)).await?;
            }
            match page.last {
                Some(last) => position = Some(last),
                None => break,
            }
        }
        self.give_up_old_reports(now).await?;
        self.forget_repeats(now).await?;
        Ok(ended)
    }

    /// Once a day, and at start.
    pub async fn daily(&self, now: Timestamp) -> Result<(), StoreFault> {
        let today = now.day();
        let days = self.inner.readers.run(move |connection| keys::days_to_seal(connection, today)).await?;
        for day in days {
            let filter = keys::build_filter(self.keys_of(day).await?)?;
            self.change(Change::KeepFilter { day, filter }).await?;
        }
        self.change(Change::DropOldDays(today)).await?;
        self.give_up_parked(now).await?;
        self.forget_given_up(now).await?;
        self.forget_hooks(now).await?;
        self.forget_unowned(now).await?;
        self.forget_conversations(now).await?;
        self.forget_reviews(now).await
    }
}

impl Embedded {
    /// The filter keys of a past day, read in pages: a day may have millions.
    async fn keys_of(&self, day: i64) -> Result<Vec<u64>, StoreFault> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let read = move |connection: &Connection| keys::filter_keys(connection, day, after.as_ref());
            let (page, last) = self.inner.readers.run(read).await?;
            all.extend(page);
            match last {
                Some(digest) => after = Some(digest),
                None => return Ok(all),
            }
        }
    }
}

struct Page {
    lapsed: Vec<Lapsed>,
    /// Where to read on; nothing at the end.
    last: Option<Position>,
}

fn read_page(
    connection: &Connection,
    after: Option<Position>,
    now: Timestamp,
    waits: &dyn Fn(CarrierId) -> Duration,
) -> Result<Page, StoreFault> {
    let (carrier, account, message, no) = after.unwrap_or((0, 0, 0, 0));
    let mut statement = connection.prepare_cached(
        "SELECT carrier, account, message, no, state, expires_at FROM part
         WHERE (carrier, account, message, no) > (?1, ?2, ?3, ?4) ORDER BY carrier, account, message, no LIMIT ?5",
    )?;
    let limit = i64::try_from(SWEEP_ROWS).expect("a few thousand");
    let mut rows = statement.query(params![carrier, account, message, no, limit])?;
    let mut page = Page { lapsed: Vec::new(), last: None };
    let mut read = 0;
    while let Some(row) = rows.next()? {
        read += 1;
        let (message, part) = message_and_part(row, 2, 3)?;
        let place =
            Place { carrier: CarrierId::new(row.get(0)?), account: AccountId::new(row.get(1)?), message };
        let expires_at = Timestamp::from_millis(row.get(5)?);
        if let Some(event) = lapse_of(stored_state(row.get(4)?)?, expires_at, now, || waits(place.carrier)) {
            page.lapsed.push(Lapsed { place, part, event });
        }
        page.last = Some((place.carrier.get(), place.account.get(), message.as_i64(), part.get()));
    }
    if read < SWEEP_ROWS {
        page.last = None;
    }
    Ok(page)
}

fn lapse_of(
    state: PartState,
    expires_at: Timestamp,
    now: Timestamp,
    wait: impl FnOnce() -> Duration,
) -> Option<Event> {
    match state {
        PartState::Queued | PartState::InDoubt => (expires_at <= now).then_some(Event::ValidityEnded),
        PartState::Sent | PartState::Presumed | PartState::Enroute => {
            (expires_at <= now && expires_at.plus(wait()) <= now).then_some(Event::ReceiptOverdue)
        }
        PartState::Sending
        | PartState::Overdue
        | PartState::Delivered
        | PartState::Undeliverable
        | PartState::Expired
        | PartState::Rejected => None,
    }
}
