//! Building the books from the tables: at start, and after a batch that had to be rolled back.

use crate::embedded::aliases::Aliases;
use crate::embedded::balances::Balances;
use crate::embedded::batch::{Batch, Books};
use crate::embedded::day_totals::Today;
use crate::embedded::deferred::{Deferred, Due};
use crate::embedded::delivery_stats::DeliveryStats;
use crate::embedded::hooks::Numbering;
use crate::embedded::jobs::WAITING_FOR_A_SLOT;
use crate::embedded::joining::Joining;
use crate::embedded::keys::KeyDays;
use crate::embedded::opt_outs::OptOuts;
use crate::embedded::outbox::Receivers;
use crate::embedded::parked::Parked;
use crate::embedded::queues::Queues;
use crate::embedded::recent::Recent;
use crate::embedded::references::References;
use crate::embedded::remotes::Remotes;
use crate::embedded::reports;
use crate::fault::StoreFault;
use crate::sqlite::SqliteTables;
use crate::sqlite::columns::{message_and_part, stored_number};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{AccountId, CarrierId, IdMint, MessageId};
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use hermod_engine::lanes::Lanes;
use hermod_engine::ops::{Answer, AnswerRecord};
use rusqlite::{Connection, params};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// This node's number in message ids. One node until several share a store.
const NODE: u8 = 0;

impl Books {
    pub(crate) fn load(
        tables: &SqliteTables<'_>,
        in_doubt_wait: Duration,
        now: Timestamp,
    ) -> Result<Books, StoreFault> {
        let connection = tables.connection;
        let last = newest_id(connection)?;
        let newest_day = last.map_or(Timestamp::EPOCH, MessageId::accepted_at).day();
        let mut books = Books {
            mint: IdMint::new(NODE, last),
            lanes: Lanes::default(),
            balances: Balances::load(tables)?,
            today: Today::load(connection, newest_day)?,
            opt_outs: OptOuts::load(tables)?,
            aliases: Aliases::load(connection)?,
            keys: KeyDays::load(connection)?,
            remotes: Remotes::load(connection)?,
            parked: Parked::load(connection)?,
            delivery: DeliveryStats::default(),
            deferred: Deferred::default(),
            queues: Queues::default(),
            references: References::new(),
            joining: Joining::load(tables)?,
            standing: Recent::new(),
            last_report: reports::last_id(connection)?,
            hooks: Numbering::load(connection)?,
            receivers: Arc::new(Receivers::new(now)),
            in_doubt_wait,
            mailboxes: HashMap::new(),
            told: Timestamp::EPOCH,
            goes_on_at: None,
        };
        books.load_waiting(connection)?;
        Ok(books)
    }

    /// The batch under way is durable.
    pub(crate) fn committed(&mut self, now: Timestamp) {
        self.balances.committed();
        self.today.committed();
        self.aliases.committed();
        self.parked.committed();
        self.delivery.committed(now);
        if now > Timestamp::EPOCH {
            self.told = now;
        }
    }

    /// The batch under way came to nothing: back to what the tables say.
    pub(crate) fn rolled_back(&mut self, tables: &SqliteTables<'_>) -> Result<(), StoreFault> {
        let connection = tables.connection;
        self.balances.rolled_back();
        self.today.rolled_back();
        self.aliases.rolled_back();
        self.parked.rolled_back();
        self.delivery.rolled_back();
        self.goes_on_at = None;
        self.standing.clear();
        self.keys = KeyDays::load(connection)?;
        self.remotes = Remotes::load(connection)?;
        self.joining = Joining::load(tables)?;
        self.load_waiting(connection)
    }

    /// When something is to be done without anyone asking for it.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let times =
            [self.deferred.next_at(), self.delivery.due_at(), self.joining.next_at(), self.goes_on_at];
        times.into_iter().flatten().min()
    }

    /// Every lane starts out spilled: it is read from the store when a link has room.
    pub(crate) fn load_waiting(&mut self, connection: &Connection) -> Result<(), StoreFault> {
        self.lanes.forget_waiting();
        self.deferred.clear();
        self.queues.clear();
        // One pass in the order of the rows: there may be millions.
        let mut lanes = connection.prepare_cached(&format!(
            "SELECT carrier, account, sum(state IN (?1, ?2)), sum(state = ?3), sum({WAITING_FOR_A_SLOT})
             FROM part p GROUP BY carrier, account"
        ))?;
        let [queued, in_doubt, sending] =
            [PartState::Queued, PartState::InDoubt, PartState::Sending].map(PartState::to_stored);
        let mut rows = lanes.query(params![queued, in_doubt, sending])?;
        while let Some(row) = rows.next()? {
            let (carrier, account) = (CarrierId::new(row.get(0)?), AccountId::new(row.get(1)?));
            let [waiting, in_flight, for_a_slot] =
                [row.get::<_, i64>(2)?, row.get(3)?, row.get(4)?].map(i64::cast_unsigned);
            self.queues.add(carrier, PartState::Queued, waiting);
            self.queues.add(carrier, PartState::Sending, in_flight);
            if for_a_slot > 0 {
                self.lanes.spill(carrier, account);
            }
        }
        let mut timed = connection.prepare_cached(
            "SELECT due_at, message, no, carrier, account FROM part WHERE due_at > 0 AND state IN (?1, ?2)",
        )?;
        let mut rows = timed.query(params![PartState::Queued.to_stored(), PartState::InDoubt.to_stored()])?;
        while let Some(row) = rows.next()? {
            let (message, part) = message_and_part(row, 1, 2)?;
            self.deferred.push(Due {
                at: Timestamp::from_millis(row.get(0)?),
                message,
                part,
                carrier: CarrierId::new(row.get(3)?),
                account: AccountId::new(row.get(4)?),
            });
        }
        Ok(())
    }
}

impl Batch<'_> {
    /// At start: every part that was being sent when the process ended is in doubt.
    pub(crate) fn doubt_what_was_being_sent(&mut self, now: Timestamp) -> Result<(), StoreFault> {
        self.at(now);
        let mut sending = Vec::new();
        {
            let mut statement =
                self.connection.prepare("SELECT p.carrier, p.account, p.message, p.no, m.dest FROM part p JOIN message m ON m.id = p.message WHERE p.state = ?1")?;
            let mut rows = statement.query([PartState::Sending.to_stored()])?;
            while let Some(row) = rows.next()? {
                let (message, part) = message_and_part(row, 2, 3)?;
                let record = AnswerRecord {
                    message,
                    part,
                    account: AccountId::new(row.get(1)?),
                    to: stored_number(row.get(4)?)?,
                    answer: Answer::NoAnswer,
                    otherwise: None,
                };
                sending.push((CarrierId::new(row.get(0)?), record));
            }
        }
        for (carrier, record) in &sending {
            self.answer(*carrier, IdConversion::None, None, record)?;
        }
        Ok(())
    }
}

/// The highest id ever given, to a message sent or received.
fn newest_id(connection: &Connection) -> Result<Option<MessageId>, StoreFault> {
    let last: Option<i64> = connection.query_row(
        "SELECT max(id) FROM (SELECT max(id) AS id FROM message UNION ALL SELECT max(message) FROM inbound_counter
             UNION ALL SELECT max(message) FROM unowned_inbound UNION ALL SELECT max(upto) FROM retention)",
        [],
        |row| row.get(0),
    )?;
    Ok(last.and_then(MessageId::from_i64))
}

/// When the newest message was accepted that is still kept.
pub(crate) fn newest_message(connection: &Connection) -> Result<Option<Timestamp>, StoreFault> {
    let newest: Option<i64> = connection.query_row("SELECT max(id) FROM message", [], |row| row.get(0))?;
    Ok(newest.and_then(MessageId::from_i64).map(MessageId::accepted_at))
}
