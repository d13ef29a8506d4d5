//! What waits for each carrier, seen from outside: counted as parts come and go, so that a million of them cost no scan;
//! and listed page by page for whoever looks for another carrier.

use crate::embedded::Embedded;
use crate::embedded::batch::Books;
use crate::embedded::jobs::WAITING_FOR_A_SLOT;
use crate::embedded::op::Op;
use crate::fault::StoreFault;
use crate::sqlite::columns::stored_state;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::{Part, PartState};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_engine::lanes::{Cursor, Unread};
use hermod_engine::ops::{CarrierQueue, PAGE_ROWS_MAX, WaitingMessage, WaitingPlace};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Rows looked at in one read, so that no snapshot lasts long.
const ROWS_PER_READ: u32 = 5_000;

/// Parts of one carrier that have not been handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    waiting: u64,
    in_flight: u64,
}

impl Counts {
    fn of(&mut self, state: PartState) -> Option<&mut u64> {
        match state {
            PartState::Queued | PartState::InDoubt => Some(&mut self.waiting),
            PartState::Sending => Some(&mut self.in_flight),
            PartState::Sent
            | PartState::Presumed
            | PartState::Enroute
            | PartState::Overdue
            | PartState::Delivered
            | PartState::Undeliverable
            | PartState::Expired
            | PartState::Rejected => None,
        }
    }
}

/// How many parts wait for each carrier. There are few carriers: looking through them is faster than hashing.
#[derive(Default)]
pub(crate) struct Queues {
    carriers: Vec<(CarrierId, Counts)>,
}

impl Queues {
    pub(crate) fn clear(&mut self) {
        self.carriers.clear();
    }

    pub(crate) fn add(&mut self, carrier: CarrierId, state: PartState, parts: u64) {
        if let Some(count) = self.counts(carrier).of(state) {
            *count += parts;
        }
    }

    pub(crate) fn remove(&mut self, carrier: CarrierId, state: PartState) {
        if let Some(count) = self.counts(carrier).of(state) {
            *count = count.checked_sub(1).expect("a part is counted before it is gone");
        }
    }

    pub(crate) fn changed(&mut self, carrier: CarrierId, was: PartState, now: PartState) {
        self.remove(carrier, was);
        self.add(carrier, now, 1);
    }

    /// A message has ended.
    pub(crate) fn ended(&mut self, carrier: CarrierId, parts: &[Part]) {
        parts.iter().for_each(|part| self.remove(carrier, part.state));
    }

    fn counts(&mut self, carrier: CarrierId) -> &mut Counts {
        let place = self.carriers.iter().position(|(known, _)| *known == carrier).unwrap_or_else(|| {
            self.carriers.push((carrier, Counts::default()));
            self.carriers.len() - 1
        });
        &mut self.carriers[place].1
    }
}

/// A queue as the writer knows it, and the lanes of which it knows only where they are to be read on.
pub(crate) struct Glance {
    queue: CarrierQueue,
    unread: Vec<Unread>,
}

impl Books {
    pub(crate) fn glance(&self) -> Vec<Glance> {
        let glance = |(carrier, counts): &(CarrierId, Counts)| {
            let (oldest, unread) = self.lanes.heads(*carrier);
            let queue = CarrierQueue {
                carrier: *carrier,
                waiting: counts.waiting,
                in_flight: counts.in_flight,
                deferred: self.deferred.count(*carrier),
                oldest: oldest.map(MessageId::accepted_at),
            };
            Glance { queue, unread }
        };
        self.queues.carriers.iter().map(glance).collect()
    }
}

impl Embedded {
    /// What waits for every carrier that ever had something. Counts are kept by the writer and exact; the oldest is looked
    /// for where a lane is read on next, so that neither grows with what waits.
    pub async fn queues(&self) -> Result<Vec<CarrierQueue>, StoreFault> {
        let glances = self.ask(Op::Glance).await?;
        self.inner
            .readers
            .run(move |connection| glances.into_iter().map(|glance| look(connection, glance)).collect())
            .await
    }

    /// Messages that wait for a carrier and have not been given to it, behind a place and in order: of which no part was
    /// taken, is on its way, or is in doubt and has not had its time.
    pub async fn waiting(
        &self,
        carrier: CarrierId,
        after: Option<WaitingPlace>,
        limit: u32,
    ) -> Result<Vec<WaitingMessage>, StoreFault> {
        let limit = usize::try_from(limit.clamp(1, PAGE_ROWS_MAX)).expect("a page");
        let mut place = after;
        let mut found = Vec::new();
        loop {
            let wanted = limit - found.len();
            let read =
                self.inner.readers.run(move |connection| read_page(connection, carrier, place, wanted));
            let Page { waiting, last } = read.await?;
            found.extend(waiting);
            place = last;
            if found.len() >= limit || place.is_none() {
                return Ok(found);
            }
        }
    }
}

fn look(connection: &Connection, glance: Glance) -> Result<CarrierQueue, StoreFault> {
    let Glance { mut queue, unread } = glance;
    for Unread { account, after } in unread {
        if let Some(first) = first_unread(connection, queue.carrier, account, after)? {
            let accepted_at = first.accepted_at();
            queue.oldest = Some(queue.oldest.map_or(accepted_at, |oldest| oldest.min(accepted_at)));
        }
    }
    Ok(queue)
}

/// Behind the place a lane was read to there is nearly always a waiting part next. Where a carrier's answered parts lie in
/// between, no more than so many of them are looked at.
fn first_unread(
    connection: &Connection,
    carrier: CarrierId,
    account: AccountId,
    after: Option<Cursor>,
) -> Result<Option<MessageId>, StoreFault> {
    let (message, part) = after.map_or((0, 0), |(message, part)| (message.as_i64(), part.get()));
    let found: Option<i64> = connection
        .prepare_cached(&format!(
            "SELECT message FROM (SELECT message, state, due_at FROM part
                 WHERE carrier = ?1 AND account = ?2 AND (message, no) > (?3, ?4) ORDER BY message, no LIMIT ?5) p
             WHERE {WAITING_FOR_A_SLOT} LIMIT 1"
        ))?
        .query_row(params![carrier.get(), account.get(), message, part, ROWS_PER_READ], |row| row.get(0))
        .optional()?;
    Ok(found.and_then(MessageId::from_i64))
}

struct Page {
    waiting: Vec<WaitingMessage>,
    /// Where to read on; nothing at the end.
    last: Option<WaitingPlace>,
}

/// The parts of one message, as far as they were read.
struct Group {
    place: WaitingPlace,
    /// None of them is with the carrier, or may be.
    ours: bool,
}

fn read_page(
    connection: &Connection,
    carrier: CarrierId,
    after: Option<WaitingPlace>,
    limit: usize,
) -> Result<Page, StoreFault> {
    // One snapshot for the parts and their messages.
    let snapshot = connection.unchecked_transaction()?;
    let (mut groups, more) = read_groups(&snapshot, carrier, after, limit)?;
    if more {
        // Some parts of the last one may not have been read.
        groups.pop();
    }
    let mut page = Page { waiting: Vec::new(), last: None };
    for Group { place, ours } in groups {
        if ours {
            page.waiting.push(read_message(&snapshot, place)?);
        }
        page.last = Some(place);
    }
    if !more {
        page.last = None;
    }
    Ok(page)
}

/// The next messages of a carrier, and whether there are more: enough for so many that can be moved and one behind them.
fn read_groups(
    connection: &Connection,
    carrier: CarrierId,
    after: Option<WaitingPlace>,
    limit: usize,
) -> Result<(Vec<Group>, bool), StoreFault> {
    let (account, message) = after.map_or((0, 0), |place| (place.account.get(), place.message.as_i64()));
    let mut statement = connection.prepare_cached(
        "SELECT account, message, state, due_at FROM part WHERE carrier = ?1 AND (account, message) > (?2, ?3)
         ORDER BY account, message, no LIMIT ?4",
    )?;
    let mut rows = statement.query(params![carrier.get(), account, message, ROWS_PER_READ])?;
    let mut groups: Vec<Group> = Vec::new();
    let (mut read, mut complete) = (0, 0);
    while let Some(row) = rows.next()? {
        read += 1;
        let message =
            MessageId::from_i64(row.get(1)?).ok_or_else(|| StoreFault::damaged("a part's message id"))?;
        let place = WaitingPlace { account: AccountId::new(row.get(0)?), message };
        let ours = match stored_state(row.get(2)?)? {
            PartState::Queued => true,
            // Those whose time is over wait for a slot.
            PartState::InDoubt => row.get::<_, i64>(3)? == 0,
            _ => false,
        };
        match groups.last_mut().filter(|group| group.place == place) {
            Some(group) => group.ours &= ours,
            None => {
                complete += usize::from(groups.last().is_some_and(|group| group.ours));
                groups.push(Group { place, ours });
                if complete >= limit {
                    return Ok((groups, true));
                }
            }
        }
    }
    Ok((groups, read == ROWS_PER_READ))
}

fn read_message(connection: &Connection, place: WaitingPlace) -> Result<WaitingMessage, StoreFault> {
    connection
        .prepare_cached("SELECT connection, source, dest, parts, expires_at FROM message WHERE id = ?1")?
        .query_row([place.message.as_i64()], |row| Ok(waiting_message(row, place)))?
}

fn waiting_message(row: &Row<'_>, place: WaitingPlace) -> Result<WaitingMessage, StoreFault> {
    let WaitingPlace { account, message } = place;
    let (source, dest): (String, i64) = (row.get(1)?, row.get(2)?);
    Ok(WaitingMessage {
        message,
        account,
        connection: ConnectionId::new(row.get(0)?),
        from: Sender::parse(&source).map_err(StoreFault::damaged)?,
        to: Msisdn::from_number(dest.cast_unsigned()).ok_or_else(|| StoreFault::damaged("a recipient"))?,
        parts: row.get(3)?,
        expires_at: Timestamp::from_millis(row.get(4)?),
    })
}
